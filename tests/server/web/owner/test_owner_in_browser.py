"""Owners' pages in a real browser: open to everybody, quiet when hidden, and a campaign from its zip to its export."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import Look
from qrowd_server.campaigns.running.campaign_settings import find
from qrowd_server.store.materials import set_campaign_status
from qrowd_server.web.owner.sign_in import owner_link
from server.web.owner.estate import HOSTILE, PASSWORD, Estate, served
from server.web.owner.test_owner_routes import FOLDER
from zips import zipped


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with served(tmp_path_factory.mktemp("owner"), demo=True, steps=25) as one:
        yield one


def begin_session(made: Estate, tab: Page) -> None:
    tab.goto(made.store.write(lambda c: owner_link(c, made.address, made.clock())))
    tab.get_by_role("button", name="Log in").click()
    expect(tab.get_by_role("heading", name="Campaigns", exact=True)).to_be_visible()


def paths(made: Estate) -> list[str]:
    """Every kind of page that an owner sees."""
    own = [f"/owner/c/demo-magnitude{path}" for path in ("", "/log", "/results", "/setup")]
    other = [f"/owner/c/small{path}" for path in ("", "/setup", "/results")]
    people = [made.assessor("ann", "demo-magnitude"), made.assessor(HOSTILE), made.assessor("ann", "demo-preference")]
    return ["/owner", "/owner/new", "/owner/keys", *own, *other, *people, "/owner/c/demo-preference/results"]


def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(browser: Browser, made: Estate, look: Look) -> None:
    made.store.write(lambda connection: set_campaign_status(connection, find(connection, "small").id, "stopped"))
    tab, messages = browser.new_page(), []
    tab.on("console", lambda message: messages.append(message.text))
    for path in ("/owner/login", *paths(made)):
        if path == "/owner":
            begin_session(made, tab)
        assert (answer := tab.goto(made.address + path)) is not None
        assert answer.status == 200, path
        look(tab, path)
    tab.context.close()
    assert not messages, "the page's own policy allows all that it does, and no label became markup"


@pytest.mark.nightly
def test_a_campaign_from_its_zip_to_its_export(browser: Browser, made: Estate) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(8000)
    tab = context.new_page()
    tab.goto(f"{made.address}/owner/login")
    tab.get_by_label("Name").fill("olga")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Log in").click()
    tab.get_by_role("link", name="New campaign").click()
    folder = {"name": "folder.zip", "mimeType": "application/zip", "buffer": zipped(FOLDER)}
    tab.get_by_text("More", exact=True).click()
    tab.get_by_label("A zip of a campaign's folder").set_input_files([folder])  # type: ignore[list-item]
    tab.get_by_role("button", name="Create").last.click()
    expect(tab.get_by_role("heading", name="From a zip")).to_be_visible()
    expect(tab.get_by_role("status").first).to_contain_text("Nobody knows of it yet")

    tab.get_by_label("Names, one a line").fill("zoe")
    tab.get_by_role("button", name="Make links").last.click()
    link = tab.get_by_label("Name and link").input_value().split()[-1]
    tab.get_by_role("link", name="Progress", exact=True).click()
    expect(tab.locator("[data-figure=answers]")).to_have_text("0")
    heights = "bar => [bar.scrollHeight, bar.clientHeight]"
    assert len(set(tab.locator(".tabbar").first.evaluate(heights))) == 1, "nothing to scroll in the tabs"
    expect(tab.get_by_text("Send their links to those who are invited")).to_be_visible()
    topics = tab.get_by_text("1 topic", exact=True)
    topics.click()  # folds it

    guest = browser.new_context().new_page()
    guest.goto(link)
    guest.get_by_role("button", name="Begin").click()
    guest.get_by_role("button").first.click()  # to the first set
    guest.locator(".grade label").nth(2).click()
    guest.locator("main [name=do][value=judge], main [data-default]").last.click()
    expect(guest.get_by_text("Document 2 of 2").first).to_be_visible()
    guest.context.close()

    made.clock.now += 10
    expect(tab.locator("[data-figure=answers]")).to_have_text("1")  # by itself, without being reloaded
    expect(tab.locator("#live-part")).to_contain_text("1 assessor")
    expect(tab.get_by_text("Assessors are judging")).to_be_visible()
    expect(topics).to_be_focused()
    expect(tab.locator("#live-part details")).not_to_have_attribute("open", "")
    tab.get_by_role("link", name="Results").click()
    with tab.expect_download() as waiting:
        tab.get_by_role("link", name="Table", exact=True).click()
    assert waiting.value.suggested_filename == "zipped-judgments.csv"
    lines = waiting.value.path().read_text().splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("t1,d")
    assert ",a1,2.0," in lines[1]  # zoe by her pseudonym
    context.close()


@pytest.mark.nightly
def test_figures_are_not_asked_for_while_nobody_looks(browser: Browser, made: Estate) -> None:
    context = browser.new_context()
    context.set_default_timeout(8000)
    tab, asked = context.new_page(), []
    begin_session(made, tab)
    tab.clock.install()
    tab.goto(f"{made.address}/owner/c/demo-grades")
    tab.on("request", lambda request: asked.append(request.url))
    with tab.expect_response("**/live"):
        tab.clock.run_for(5100)
    tab.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    n = len(asked)
    tab.clock.run_for(60_000)
    assert len(asked) == n
    with tab.expect_response("**/live"):
        tab.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    context.close()
