"""The form of a new campaign in a real browser: open to everybody, and from an empty form to the first judgment."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from collect.web.owner.estate import Estate, served
from collect.web.owner.test_owner_in_browser import begin_session
from collect.web.owner.test_review_in_browser import looked_at
from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.folder import plan_from_zip
from zips import zipped

SHOTS = Path(os.environ["QROWD_SHOTS"]) if "QROWD_SHOTS" in os.environ else None  # a folder to look at afterwards
TOPICS = "keeping bees in a city\nbread that stays flat"
DOCUMENTS = "docid,title,text\n" + "".join(f"d{i},Page {i},Bees and bread number {i}.\n" for i in range(1, 4))
TOML = '[campaign]\nname = "{name}"\ntitle = "{title}"\nseed = 1\n[grades]\nk = 2\nredundancy = {n}\n'
FOLDER = {"topics.tsv": "t1\tducks\n", "documents.jsonl": '{"id": "d1", "text": "One."}\n'}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with served(tmp_path_factory.mktemp("guided")) as one:
        yield one


def sent(name: str, content: bytes, kind: str = "text/csv") -> dict[str, object]:
    return {"name": name, "mimeType": kind, "buffer": content}


def test_a_campaign_of_two_topics_and_three_documents_from_the_form_to_its_first_judgment(
    browser: Browser, made: Estate
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(10_000)
    tab, messages, faults = context.new_page(), [], {}
    tab.on("console", lambda message: messages.append(message.text))
    begin_session(made, tab)
    tab.get_by_role("link", name="New campaign").click()
    tab.get_by_role("link", name="Open the form").click()
    faults |= looked_at(tab, "empty", SHOTS)
    tab.get_by_role("button", name="Compare pairs").click()
    expect(tab.get_by_label("Assessors of each pair")).to_be_visible()
    faults |= looked_at(tab, "pairs", SHOTS)
    tab.get_by_role("button", name="Give magnitudes").click()
    expect(tab.get_by_label("Seconds on each document, at least")).to_be_visible()
    tab.get_by_role("button", name="Give grades").click()
    tab.get_by_label("Title", exact=True).fill("Bees and bread")
    tab.get_by_label("Topics", exact=True).fill(TOPICS)
    tab.get_by_label("Documents of a unit").fill("three")
    tab.get_by_role("button", name="Save and check").click()

    expect(tab.get_by_role("heading", name="2 fields need to be changed")).to_be_visible()
    expect(tab.get_by_label("Documents of a unit")).to_have_value("three")
    expect(tab.get_by_label("Topics", exact=True)).to_have_value(TOPICS)
    faults |= looked_at(tab, "problems", SHOTS)
    tab.get_by_label("Documents of a unit").fill("3")
    tab.get_by_label("Assessors of each document").fill("1")
    tab.get_by_label("Documents", exact=True).set_input_files([sent("pages.csv", DOCUMENTS.encode())])  # type: ignore[list-item]
    tab.get_by_role("button", name="Save and check").click()
    expect(tab.get_by_role("heading", name="This campaign can be created")).to_be_visible()
    expect(tab.get_by_label("remove pages.csv")).to_be_visible()
    expect(tab.locator(".numbers")).to_contain_text(re.compile(r"Topics\s*2\s*Documents\s*3"))
    faults |= looked_at(tab, "checked", SHOTS)

    tab.get_by_role("button", name="Preview").first.click()
    expect(tab.get_by_text("nothing can be answered")).to_be_visible()
    expect(tab.get_by_role("heading", name="Topic: keeping bees in a city")).to_be_visible()
    expect(tab.get_by_role("button", name="Save and continue")).to_be_disabled()
    faults |= looked_at(tab, "preview", SHOTS)
    tab.get_by_role("link", name="日本語").click()
    expect(tab.locator("html")).to_have_attribute("lang", "ja")
    tab.get_by_role("link", name="English").click()
    for page in ("First page", "Invitation"):
        tab.get_by_role("link", name=page).click()
        expect(tab.get_by_role("button", name=re.compile("I agree|Begin"))).to_be_disabled()
    faults |= looked_at(tab, "Invitation", SHOTS)
    tab.get_by_role("link", name="Back to the form").click()
    tab.get_by_role("button", name="Create the campaign").first.click()
    expect(tab.get_by_text("The campaign is created and runs.")).to_be_visible()

    tab.get_by_role("link", name="Invite assessors").first.click()
    tab.get_by_label("Names, one a line").fill("ann")
    tab.get_by_role("button", name="Make links").last.click()
    link = tab.get_by_label("Name and link").input_value().split()[-1]
    ann = browser.new_context().new_page()
    ann.goto(link)
    ann.get_by_role("button", name="Begin").click()
    ann.get_by_role("button", name="I agree, let us begin").click()
    ann.locator("label[for=grade-3]").click()
    ann.get_by_role("button", name="Save and continue").click()
    expect(ann.get_by_text("Document 2 of 3")).to_be_visible()
    made.clock.now += 60  # progress is counted again
    tab.goto(f"{made.address}/owner/c/bees-and-bread")
    expect(tab.locator("[data-figure=answers]")).to_have_text("1")
    ann.context.close()
    context.close()
    assert not faults
    assert not messages


def folder(title: str, n: int, name: str = "ducks") -> bytes:
    return zipped({**FOLDER, "campaign.toml": TOML.format(name=name, title=title, n=n)})


def test_a_change_is_shown_before_it_is_made(browser: Browser, made: Estate) -> None:
    made.store.write(lambda c: create_campaign(c, plan_from_zip(folder("Ducks", 2)), made.clock()))
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(10_000)
    tab, faults = context.new_page(), {}
    begin_session(made, tab)
    tab.goto(f"{made.address}/owner/c/ducks/settings")
    tab.get_by_role("link", name="Change this campaign here").click()
    faults |= looked_at(tab, "change", SHOTS)

    def send(content: bytes) -> None:
        file = sent("folder.zip", content, "application/zip")
        tab.get_by_label("A zip of the campaign's folder").set_input_files([file])  # type: ignore[list-item]
        tab.get_by_role("button", name="Check").click()

    send(folder("Ducks", 1))
    expect(tab.get_by_role("alert")).to_contain_text("grades.redundancy is 2 and cannot become 1")
    faults |= looked_at(tab, "refused", SHOTS)
    send(folder("Geese", 3))
    expect(tab.get_by_text("campaign.title: Ducks -> Geese")).to_be_visible()
    expect(tab.get_by_role("heading", name="Ducks")).to_be_visible()
    faults |= looked_at(tab, "confirm", SHOTS)
    tab.get_by_role("button", name="Make this change").click()
    expect(tab.get_by_text("this is its version 2")).to_be_visible()
    expect(tab.get_by_role("heading", name="Geese")).to_be_visible()
    context.close()
    assert not faults
