"""The form of a new campaign on a phone: what is asked, what is refused, and what the settings then say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import Look
from server.web.owner.estate import PASSWORD, Estate, served

WIDTH = 390
TEXTS = "docid,title,text\n" + "".join(f"d{i},Page {i},Text {i}.\n" for i in range(8))
FILES = {
    "topics-file": {"queries.tsv": "q1\tducks\nq2\tgeese\n"},
    "documents": {"texts.csv": TEXTS},
    "runs": {
        f"{system}.run": "".join(f"q{t} Q0 d{d} {rank} {-rank} x\n" for t in (1, 2) for rank, d in enumerate(documents))
        for system, documents in (("forward", (0, 1, 2)), ("backward", (3, 2, 1)))
    },
    "gold": {"clear.csv": "topic,document,grade\n" + "".join(f"q{t},d{d},{d % 4}\n" for t in (1, 2) for d in (6, 7))},
}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Estate]:
    with served(tmp_path) as one:
        yield one


@pytest.fixture
def tab(browser: Browser, made: Estate) -> Iterator[Page]:
    """A phone on which an owner has logged in."""
    context = browser.new_context(viewport={"width": WIDTH, "height": 844})
    context.set_default_timeout(8000)
    tab = context.new_page()
    tab.goto(f"{made.address}/owner/login")
    tab.get_by_label("Name").fill("olga")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Log in").click()
    yield tab
    context.close()


def choose(tab: Page, field: str) -> None:
    files = [{"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in FILES[field].items()]
    tab.locator(f"#{field}").set_input_files(files)  # type: ignore[arg-type]


def width_of(tab: Page) -> int:
    width: int = tab.evaluate("document.documentElement.scrollWidth")
    return width


def test_a_campaign_with_an_entry_test_and_one_with_a_question_are_made_on_a_phone(
    tab: Page, made: Estate, look: Look
) -> None:
    tab.get_by_role("link", name="New campaign").click()
    create = tab.get_by_role("button", name="Create").first
    create.wait_for()
    assert width_of(tab) == WIDTH

    tab.get_by_label("Title", exact=True).fill("How good?")
    tab.get_by_label("Topics, one title on each line").fill("ducks")
    for field in ("documents", "runs"):
        choose(tab, field)
    create.click()
    expect(tab.get_by_role("alert")).to_contain_text(
        "runs/backward.run: none of its topics (q1, q2) is in topics in the form.jsonl (t1); use the same ids in both"
    )
    expect(tab.get_by_label("Title", exact=True)).to_have_value("How good?")
    for field in FILES:
        choose(tab, field)
    expect(tab.get_by_label("Systems", exact=True)).to_be_hidden()
    tab.get_by_label("Ranks of each run").fill("2")
    expect(tab.get_by_label("Exclude people who fail it")).to_be_checked()
    create.click()
    judged = tab.get_by_role("region", name="What is judged")
    expect(judged).to_contain_text("10 gold questions who fails is excluded")
    expect(judged).to_contain_text("Entry test: 6 of 10 right answers.")
    tab.get_by_text("All settings", exact=True).click()
    gold = tab.get_by_role("region", name="Gold questions")
    expect(gold).to_contain_text("first10")
    expect(gold).to_contain_text("excludeyes")
    assert width_of(tab) == WIDTH

    tab.goto(f"{made.address}/owner/new")
    tab.get_by_label("Title", exact=True).fill("Which one?")
    for field in ("topics-file", "documents", "runs"):
        choose(tab, field)
    tab.get_by_label("Only what decides which of two systems is better").check()
    expect(tab.get_by_label("Ranks of each run")).to_be_hidden()
    tab.get_by_label("Systems", exact=True).fill("forward > sideways")
    look(tab, "a question in the form")
    tab.set_viewport_size({"width": WIDTH, "height": 844})
    create.click()
    expect(tab.get_by_role("alert")).to_contain_text("systems: there is no system 'sideways'")
    expect(tab.get_by_label("Only what decides which of two systems is better")).to_be_checked()
    tab.get_by_label("Systems", exact=True).fill("forward > backward")
    for field in ("topics-file", "documents", "runs"):
        choose(tab, field)
    create.click()
    expect(tab.get_by_role("status").first).to_contain_text("The campaign is created")
    tab.get_by_text("All settings", exact=True).click()
    expect(tab.get_by_role("region", name="Question", exact=True)).to_contain_text("forward > backward")


def test_pages_with_links_and_a_key_are_no_wider_than_a_phone(tab: Page, made: Estate) -> None:
    tab.goto(f"{made.address}/owner/c/small/setup")
    tab.get_by_label("Names, one a line").fill("zoe\nyan")
    tab.get_by_role("button", name="Make links").last.click()
    expect(tab.get_by_label("Names and links")).to_be_visible()
    assert width_of(tab) == WIDTH
    tab.goto(f"{made.address}/owner/keys")
    tab.get_by_label("What it is for").fill("a script")
    tab.get_by_role("button", name="Make a key").click()
    expect(tab.get_by_label("Key", exact=True)).to_be_visible()
    assert width_of(tab) == WIDTH
