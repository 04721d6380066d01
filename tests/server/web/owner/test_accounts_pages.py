"""Accounts in the browser: administrators change them, everybody their own."""

import html
import re
from pathlib import Path

import pytest

from qrowd_server.store.accounts import accounts
from server.web.owner.estate import PASSWORD, Estate, estate
from webserver import BASE, Answer, Browser

NEW = "a new password"


@pytest.fixture
def made(tmp_path: Path):  # type: ignore[no-untyped-def]
    with estate(tmp_path) as place:
        yield place


def log_in(made: Estate, name: str, password: str = PASSWORD) -> tuple[Browser, Answer]:
    browser = Browser(made.app)
    form = {"csrf": browser.get("/owner/login").field("csrf"), "name": name, "password": password}
    return browser, browser.post("/owner/login", form)


def send(browser: Browser, path: str, **fields: str) -> Answer:
    return browser.post(path, {"csrf": browser.get(path).field("csrf"), **fields})


def new_account(made: Estate, name: str, role: str = "member") -> Browser:
    """An account that an administrator made, whose password was set by the link."""
    page = send(made.owner(), "/owner/accounts", do="add", name=name, role=role)
    link = re.search(rf'value="{BASE}(/owner/password/[\w-]+)"', page.text)
    assert link, page.text
    browser = Browser(made.app)
    csrf = browser.get(link[1]).field("csrf")
    assert browser.post(link[1], {"csrf": csrf, "new": NEW, "again": "another one"}).status == 422
    assert browser.post(link[1], {"csrf": csrf, "new": "short", "again": "short"}).status == 422
    assert browser.post(link[1], {"csrf": csrf, "new": NEW, "again": NEW}).status == 303
    assert browser.get(link[1]).status == 404  # once
    browser, answer = log_in(made, name, NEW)
    assert answer.status == 303
    return browser


# ---- all accounts


def test_an_administrator_adds_an_account_and_the_person_sets_the_password(made: Estate) -> None:
    zoe = new_account(made, "zoe", "member")
    assert zoe.get("/owner/new").status == 200
    assert zoe.get("/owner/accounts").status == 403


def test_a_link_to_set_a_password_ends_after_a_day_and_with_the_account(made: Estate) -> None:
    new_account(made, "zoe")
    owner = made.owner()
    links = [
        re.search(
            rf'value="{BASE}(/owner/password/[\w-]+)"', send(owner, "/owner/accounts", do="link", name="zoe").text
        )
        for _ in range(2)
    ]
    assert all(Browser(made.app).get(link[1]).status == 200 for link in links if link)
    made.clock.now += 86400
    assert all(Browser(made.app).get(link[1]).status == 404 for link in links if link)


@pytest.mark.parametrize("do", ["disable", "remove"])
def test_disabling_and_removing_end_sessions_at_once(made: Estate, do: str) -> None:
    zoe, owner = new_account(made, "zoe"), made.owner()
    assert zoe.get("/owner").status == 200
    assert send(owner, "/owner/accounts", do=do, name="zoe").status == 303
    assert zoe.get("/owner").status == 303
    assert log_in(made, "zoe", NEW)[1].status == 422
    if do == "disable":
        assert send(owner, "/owner/accounts", do="enable", name="zoe").status == 303
        assert log_in(made, "zoe", NEW)[1].status == 303
    else:
        assert [one.name for one in made.store.read(accounts)] == ["olga"]


def test_a_new_role_holds_from_the_next_page_on(made: Estate) -> None:
    zoe, owner = new_account(made, "zoe"), made.owner()
    assert zoe.get("/owner/c/small").status == 404
    assert send(owner, "/owner/accounts", do="role", name="zoe", role="administrator").status == 303
    assert zoe.get("/owner/c/small").status == 200
    for do in ("role", "disable", "remove"):  # nobody shuts themselves out
        answer = send(zoe, "/owner/accounts", do=do, name="zoe", role="member")
        assert (answer.status, "your own account" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"do": "add", "name": "olga"}, "there is one of this name already"),
        ({"do": "add", "name": "two words"}, "without blanks"),
        ({"do": "add", "name": "x", "role": "emperor"}, "choose one of administrator, member"),
        ({"do": "remove", "name": "nobody"}, "there is none of this name"),
        ({"do": "else", "name": "olga"}, "choose one of add"),
    ],
)
def test_what_cannot_be_done_is_said_on_the_page(made: Estate, fields: dict[str, str], line: str) -> None:
    answer = send(made.owner(), "/owner/accounts", **fields)
    assert (answer.status, line in html.unescape(answer.text)) == (422, True)


# ---- one's own password


def test_a_new_password_needs_the_present_one_and_ends_the_other_sessions(made: Estate) -> None:
    (here, _), (there, _) = log_in(made, "olga"), log_in(made, "olga")
    for fields in ({"password": "wrong password"}, {"password": PASSWORD, "again": "different one"}):
        answer = send(here, "/owner/account", **{"new": NEW, "again": NEW, **fields})
        assert answer.status == 422
    old = dict(here.cookies)
    answer = send(here, "/owner/account", password=PASSWORD, new=NEW, again=NEW)
    assert answer.status == 303
    assert here.get("/owner").status == 200
    assert here.cookies != old
    assert there.get("/owner").status == 303
    assert Browser(made.app, cookies=old).get("/owner").status == 303
    assert log_in(made, "olga")[1].status == 422
    assert log_in(made, "olga", NEW)[1].status == 303


def test_guessing_the_present_password_is_limited(made: Estate) -> None:
    olga, _ = log_in(made, "olga")
    tries = [send(olga, "/owner/account", password="wrong password").status for _ in range(11)]
    assert tries == [422] * 10 + [429]


def test_the_printed_link_has_no_account_to_change(made: Estate) -> None:
    owner = made.owner()
    assert "belongs to no account" in owner.get("/owner/account").text
    csrf = owner.get("/owner").field("csrf")
    assert owner.post("/owner/account", {"csrf": csrf, "password": ""}).status == 422
