"""Accounts, members, the log and sign-up in a real browser: open to everybody, in light and dark, on a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import Look
from qrowd_server.store.accounts import find_account, password_link
from qrowd_server.store.invitation_links import add_sign_up
from server.web.owner.estate import PASSWORD, Estate, served


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with served(tmp_path_factory.mktemp("accounts")) as one:
        yield one


def log_in(made: Estate, tab: Page) -> None:
    tab.goto(f"{made.address}/owner/login")
    tab.get_by_label("Name").fill("olga")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Log in").click()


@pytest.mark.nightly
@pytest.mark.parametrize("look", ["every"], indirect=True)
def test_an_account_and_the_pages_of_administrators(browser: Browser, made: Estate, look: Look) -> None:
    context = browser.new_context()
    context.set_default_timeout(8000)
    tab, messages = context.new_page(), []
    tab.on("console", lambda message: messages.append(message.text))
    log_in(made, tab)
    expect(tab.get_by_role("heading", name="Campaigns", exact=True)).to_be_visible()
    tab.get_by_role("link", name="olga").click()
    look(tab, "account")
    for path in ("/owner/accounts", "/owner/c/small/setup", "/owner/c/small/log"):
        assert (answer := tab.goto(made.address + path)) is not None
        assert answer.status == 200, path
        look(tab, path)
    tab.get_by_role("button", name="Log out").click()
    log_in(made, tab)
    expect(tab.get_by_role("heading", name="Campaigns", exact=True)).to_be_visible()
    number = made.store.read(lambda c: find_account(c, "olga")).id
    tab.goto(made.store.write(lambda c: password_link(c, number, made.address, made.clock())))
    look(tab, "password")
    context.close()
    assert not messages, "the page's own policy allows all that it does"


@pytest.mark.nightly
def test_somebody_signs_up_and_comes_back_by_their_own_link(browser: Browser, made: Estate) -> None:
    look = Look(every=True)
    token = made.store.write(lambda c: add_sign_up(c, 1, 5, made.clock() + 1000, made.clock()))
    context = browser.new_context()
    context.set_default_timeout(8000)
    tab = context.new_page()
    tab.goto(f"{made.address}/sign-up/{token}")
    look(tab, "sign up")
    tab.get_by_label("Your name in this task").fill("Ann")
    tab.get_by_role("button", name="Take part").click()
    expect(tab.get_by_role("alert")).to_contain_text("choose another name")
    look(tab, "refused")
    tab.get_by_label("Your name in this task").fill("Zoe")
    tab.get_by_role("button", name="Take part").click()
    own = tab.get_by_label("Your own link").input_value()
    look(tab, "signed up")
    tab.get_by_role("link", name="Begin").click()
    expect(tab).to_have_url(f"{made.address}/c/small")
    context.close()
    again = browser.new_context().new_page()
    again.goto(own)
    again.get_by_role("button", name="Begin").click()
    expect(again).to_have_url(f"{made.address}/c/small")
    again.context.close()
