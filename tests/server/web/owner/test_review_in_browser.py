"""Review in a real browser: open to everybody, and an answer that goes from its author to a reviewer and back."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsers import Look
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.store.invitation_links import invite
from server.web.journeys import click
from server.web.owner.estate import Estate, served
from server.web.owner.test_owner_in_browser import begin_session

PLAN = {
    "campaign": {"name": "asking", "title": "Bread", "protocol": "grades"},
    "grades": {"k": 3, "reason": "optional", "redundancy": 2},
    "journey": {"consent": False, "ask_organisers": True},
    "topics": [{"label": "t", "title": "bread"}, {"label": "u", "title": "rolls"}],
    "documents": [{"label": f"d{i}", "title": f"Text {i}", "text": f"Text number {i}."} for i in range(3)],
}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Estate]:
    with served(tmp_path) as one:
        yield one


def item_of(made: Estate, campaign: str) -> str:
    query = (
        "select topic.label, document.label from judgment join assignment on assignment.id = judgment.assignment_id "
        "join topic on topic.id = assignment.topic_id join document on document.id = judgment.document_id "
        f"join campaign on campaign.id = assignment.campaign_id where campaign.name = '{campaign}' limit 1"
    )
    topic, document = made.store.read(lambda c: c.exec_driver_sql(query).first())
    return f"/owner/c/{campaign}/review/item?topic={topic}&document={document}"


@pytest.mark.nightly
def test_axe_finds_nothing_on_the_pages_of_review(browser: Browser, tmp_path: Path) -> None:
    tab, messages, look = browser.new_page(), [], Look(every=True)
    tab.on("console", lambda message: messages.append(message.text))
    magnitudes, pairs = "/owner/c/demo-magnitude", "/owner/c/demo-preference"
    with served(tmp_path, demo=True) as made:
        begin_session(made, tab)
        paths = [
            *(f"{magnitudes}/results{query}" for query in ("", "?all=1")),
            f"{pairs}/results",
            item_of(made, "demo-magnitude"),
            f"{magnitudes}/questions",
        ]
        for path in paths:
            answer = tab.goto(made.address + path)
            assert answer is not None
            assert answer.status == 200, path
            look(tab, path)
        tab.context.close()
    assert not messages


@pytest.mark.nightly
@pytest.mark.parametrize("look", ["every"], indirect=True)
def test_a_question_and_an_answer_go_to_a_reviewer_and_come_back(browser: Browser, made: Estate, look: Look) -> None:
    number = made.store.write(lambda c: create_campaign(c, plan_from_table(PLAN), made.clock()))
    token = made.store.write(lambda c: invite(c, number, "ann", 1.0))
    ann, owner = browser.new_context().new_page(), browser.new_context().new_page()
    begin_session(made, owner)
    ann.goto(f"{made.address}/join/{token}")
    ann.get_by_role("button", name="Begin").click()
    ann.get_by_role("button", name=re.compile("Start|Check again")).click()
    expect(ann.get_by_role("heading", name=re.compile("Topic: (bread|rolls)"))).to_be_visible()  # drawn at random
    ann.get_by_text("Ask the organisers", exact=True).first.click()
    look(ann, "asking")
    ann.get_by_label("Your question about this document").fill("Do rolls count?")
    ann.get_by_role("button", name="Send the question").click()
    expect(ann.get_by_text("There is no reply yet.")).to_be_visible()
    owner.goto(f"{made.address}/owner/c/asking/questions")
    look(owner, "questions")
    owner.get_by_label("Reply to ann").fill("Yes, they do.")
    owner.get_by_role("button", name="Send the reply").click()
    for _ in range(2):
        ann.locator("label[for=grade-2]").click()
        click(ann, "Save and continue")
    ann.reload()
    expect(ann.get_by_text("Yes, they do.")).to_be_visible()
    look(ann, "replied")
    ann.get_by_role("button", name="I have read the reply").click()
    expect(ann.get_by_text("Yes, they do.")).to_have_count(0)
    owner.goto(f"{made.address}/owner/c/asking/results?all=1")
    owner.get_by_role("rowheader").get_by_role("link").first.click()
    owner.get_by_text("ann, who answered 1", exact=True).click()
    owner.get_by_label("Why ann should look at this document again").fill("The last line names rolls.")
    owner.get_by_role("button", name="Open the answer again").click()
    expect(owner.get_by_text("The last line names rolls.")).to_be_visible()
    owner.get_by_role("radio").nth(2).check()
    owner.get_by_label("Why", exact=True).fill("It is about rolls only.")
    owner.get_by_role("button", name="Save the final answer").click()
    expect(owner.get_by_text("by Owner, by link")).to_be_visible()
    look(owner, "item")
    ann.reload()
    expect(ann.get_by_text("The last line names rolls.")).to_be_visible()
    look(ann, "reopened")
    ann.locator("label[for=grade-4]").click()
    ann.get_by_role("button", name="Keep my answer").click()  # whatever was chosen meanwhile
    expect(ann.get_by_text("The last line names rolls.")).to_have_count(0)
    values = made.store.read(
        lambda c: c.exec_driver_sql(f"select raw from judgment where campaign_id = {number}").all()
    )
    assert {row[0] for row in values} == {"1"}
    ann.context.close()
    owner.context.close()
