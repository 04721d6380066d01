"""The pages on personal data in a real browser: open to everybody, in light and dark, on a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from browsers import Look
from qrowd_server.store.invitation_links import invite
from qrowd_server.store.state_rows import find_named
from server.web.owner.estate import Estate, served
from server.web.owner.test_accounts_in_browser import log_in


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with served(tmp_path_factory.mktemp("privacy")) as one:
        yield one


@pytest.mark.nightly
@pytest.mark.parametrize("look", ["every"], indirect=True)
def test_an_assessor_deletes_what_is_kept_and_an_owner_finds_a_pseudonym(
    browser: Browser, made: Estate, look: Look
) -> None:
    token = made.store.write(lambda connection: invite(connection, 1, "Zoltan", made.clock()))
    tab = browser.new_context().new_page()
    tab.set_default_timeout(8000)
    tab.goto(f"{made.address}/join/{token}")
    tab.get_by_role("button", name="Begin").click()
    row = made.store.read(lambda connection: find_named(connection, 1, "Zoltan"))
    assert row is not None
    tab.goto(f"{made.address}/c/small/privacy")
    look(tab, "privacy")
    tab.get_by_label("I want this to be deleted").check()
    tab.get_by_role("button", name="Delete what you have about me").click()
    expect(tab.get_by_role("heading", name="It is deleted")).to_be_visible()
    look(tab, "deleted")
    owner = browser.new_context().new_page()
    owner.set_default_timeout(8000)
    log_in(made, owner)
    for path in (f"/owner/c/small/assessors/{row.id:x}", "/owner/c/small/results", "/owner/c/small/log"):
        assert (answer := owner.goto(made.address + path)) is not None
        assert answer.status == 200, path
        assert "Zoltan" not in owner.content(), path
        look(owner, path)
    with owner.expect_download() as download:
        owner.goto(f"{made.address}/owner/c/small/results")
        owner.get_by_text("Other files", exact=True).click()
        owner.get_by_role("button", name="Export with names").click()
    assert "-names" in download.value.suggested_filename
    owner.goto(f"{made.address}/owner/c/small/log")
    expect(owner.get_by_text("with names")).to_be_visible()
