"""`preset = "maddalena2017"` walked through in a real browser: each rule of section 3.2, in the order it is met."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from judging import Clock
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.plan_notes import plan_notes
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.store import schema
from qrowd_server.store.engine import open_store
from qrowd_server.store.invitation_links import invite
from server.web.journeys import click, fill, is_at, line_length, no_faults, title_of
from webserver import Place, listening, serving

TOPICS = {"t1": "tea", "t2": "salt", "t3": "rain"}
BEST, WORST = "Document 0", "Document 7"  # H and N


def campaign_folder(folder: Path) -> Path:
    """Three topics of eight documents, and nothing but the preset in the settings."""
    folder.mkdir()
    (folder / "campaign.toml").write_text('[campaign]\nname = "paper"\nseed = 3\npreset = "maddalena2017"\n')
    rows = [f"{topic}\t{title}\tWhat is {title}?\tThe narrative of {title}.\n" for topic, title in TOPICS.items()]
    (folder / "topics.tsv").write_text("topic\ttitle\tdescription\tnarrative\n" + "".join(rows))
    documents = ({"docid": f"d{i}", "title": f"Document {i}", "text": f"Words number {i}."} for i in range(8))
    (folder / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (folder / "pool.txt").write_text("".join(f"{topic} d{i}\n" for topic in TOPICS for i in range(8)))
    (folder / "checks.txt").write_text("".join(f"{topic} d0 d7\n" for topic in TOPICS))
    questions = ({"topic": t, "text": "What is it about?", "options": [title, "soup", "bees", "wood"], "correct": 0}
                 for t, title in TOPICS.items())  # fmt: skip
    (folder / "questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
    return folder


class Study:
    """The campaign on a server whose clock the test moves."""

    def __init__(self, place: Place, plan: Plan) -> None:
        self.clock, self.store, self.plan, self.base = place.clock, place.store, plan, place.base
        self.app = place.app
        self.id = self.store.write(lambda connection: create_campaign(connection, plan, self.clock.now))
        self.link = f"{place.base}/join/{self.store.write(lambda c: invite(c, self.id, 'ann', self.clock.now))}"

    def rows(self, table: Any) -> list[Any]:
        statement = select(table).order_by(table.c.id) if "id" in table.c else select(table)
        return list(self.store.read(lambda connection: connection.execute(statement).all()))

    def kinds(self) -> list[str]:
        return [event.kind for event in self.rows(schema.event)]

    def statuses(self) -> list[str]:
        """The status of each unit, in the order in which they were begun."""
        by_id = {row.id: row.status for row in self.rows(schema.assignment)}
        return [by_id[event.assignment_id] for event in self.rows(schema.event) if event.kind == "assigned"]

    def judgments(self) -> int:
        """How many judgments count."""
        content = self.store.read(lambda c: b"".join(export_rows(c, "paper", "judgments", "jsonl", everything=False)))
        return len(content.splitlines())


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    plan = read_folder(campaign_folder(tmp_path / "paper"))
    with open_store(tmp_path / "empty.db"):
        pass

    @contextmanager
    def make(base: str) -> Iterator[Study]:
        with serving(tmp_path, (tmp_path / "empty.db").read_bytes(), Clock(), base_url=base) as place:
            yield Study(place, plan)

    with listening(make) as made:
        yield made


def practise(tab: Page, *, right: bool) -> list[str]:
    """Numbers for the three lines; the lengths."""
    lengths = []
    for line in range(3):
        is_at(tab, "line")
        prose = tab.locator(".prose").inner_text()
        assert ("magnitude estimation" in prose) == (line == 0)  # the instructions come before the first line
        lengths.append(line_length(tab))
        tab.locator("#text").fill(lengths[-1] if right else f"{200 - float(lengths[-1]):.1f}")
        click(tab, "Continue")
    return lengths


def begin_unit(tab: Page) -> str:
    """From the practice that was passed to the question; the topic's title."""
    is_at(tab, "lines")
    expect(tab.locator("main")).to_contain_text("imagine three documents")
    no_faults(tab)
    click(tab, "Start judging")
    is_at(tab, "question")
    topic = tab.locator("main h1").inner_text()
    expect(tab.locator("main")).to_contain_text(f"What is {topic}? The narrative of {topic}.", use_inner_text=True)
    return topic


def judge(tab: Page, study: Study, numbers: dict[str, str], seconds: float) -> None:
    """All eight documents from the first to the last."""
    for position in range(8):
        expect(tab.locator(".progress")).to_contain_text(f"Document {position + 1} of 8")
        study.clock.now += seconds
        fill(tab, numbers.get(title_of(tab), "10"), "because")
        click(tab, "Save and continue")


@pytest.mark.nightly
def test_the_protocol_of_maddalena_et_al_from_the_first_page_to_the_second_unit(tab: Page, study: Study) -> None:
    assert plan_notes(study.plan) == ("Preset maddalena2017: all 20 settings are in force.",)
    # 3.2.1 consent and practice, with instructions
    tab.goto(study.link)
    click(tab, "Begin")
    is_at(tab, "consent")
    click(tab, "I agree, let us begin")
    no_faults(tab)
    first = practise(tab, right=False)
    # 3.2.5 (a) a failed practice ends the attempt; who is willing begins again from the start
    is_at(tab, "end")
    expect(tab.locator("main")).to_contain_text("You may begin again from the start, with other lines.")
    assert study.statuses() == []  # no unit was begun, so that any may follow
    click(tab, "Begin again")
    assert practise(tab, right=True) != first
    screened = begin_unit(tab)
    # 3.2.5 (b) one wrong answer ends the unit
    tab.get_by_label("soup").check()
    click(tab, "Answer")
    is_at(tab, "end")
    assert study.statuses() == ["screened_out"]
    # ... and after it another topic, with the same checks again
    click(tab, "Judge another topic")
    practise(tab, right=True)
    topic = begin_unit(tab)
    assert topic != screened
    tab.get_by_label(topic).check()
    click(tab, "Answer")
    # 3.2.2 the whole topic in view, one document at a time, a number and a reason
    expect(tab.locator(".statement")).to_have_text(f"What is {topic}?The narrative of {topic}.")
    expect(tab.locator("label[for=text]")).to_have_text("How relevant is this document to the topic?")
    tab.locator("#text").fill("-3")
    tab.locator("#reason").fill("because")
    tab.get_by_role("button", name="Save and continue").click()
    expect(tab.locator("#text-problem")).to_contain_text("Enter a number greater than 0")
    tab.locator("#text").fill("0.5")
    tab.locator("#reason").fill("")
    tab.get_by_role("button", name="Save and continue").click()
    expect(tab.locator("#reason-problem")).to_contain_text("Give a reason")
    # 3.2.5 (d) fewer than 20 seconds on each document; H is above N
    judge(tab, study, {BEST: "50", WORST: "0.5"}, seconds=2.5)
    revision(tab)
    # 3.2.5 (c) equal numbers of H and N fail, too; the time of both visits counts together
    judge(tab, study, {BEST: "10", WORST: "10"}, seconds=18)
    revision(tab)
    # ... for the third time; revision has no end
    judge(tab, study, {BEST: "1", WORST: "90"}, seconds=1)
    revision(tab)
    assert study.judgments() == 0  # 3.2.5 nothing of it counts
    # 3.2.2 the back button
    judge_one(tab, study, {BEST: "90", WORST: "1"})
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 8")
    click(tab, "Back")
    expect(tab.locator(".progress")).to_contain_text("Document 1 of 8")
    judge(tab, study, {BEST: "90", WORST: "1"}, seconds=1)
    # 3.2.2 the unit is complete; failed attempts have left no judgment that counts
    is_at(tab, "end")
    expect(tab.locator("h1")).to_have_text("Thank you")
    assert study.statuses() == ["screened_out", "completed"]
    assert study.judgments() == 8
    assert [e.data["passed"] for e in study.rows(schema.event) if e.kind == "checked"] == [False] * 3 + [True]
    assert study.kinds().count("stepped_back") == 1
    # 3.2.2 a further unit, of the topic that is left, with the same checks
    click(tab, "Judge another topic")
    practise(tab, right=True)
    assert {begin_unit(tab), screened, topic} == set(TOPICS.values())


def judge_one(tab: Page, study: Study, numbers: dict[str, str]) -> None:
    study.clock.now += 1
    fill(tab, numbers.get(title_of(tab), "10"), "because")
    click(tab, "Save and continue")


def revision(tab: Page) -> None:
    """The page after a failed check: it names no document, and there is no limit."""
    is_at(tab, "revision")
    text = tab.locator("main").inner_text()
    assert "You can submit as often as you like." in text
    assert not any(f"Document {i}" in text for i in range(8))
    click(tab, "Look at my 8 documents again")


@pytest.mark.nightly
def test_the_back_button_comes_with_the_advice_what_it_is_for(tab: Page, study: Study) -> None:
    tab.goto(study.link)
    click(tab, "Begin")
    click(tab, "I agree, let us begin")
    practise(tab, right=True)
    topic = begin_unit(tab)
    tab.get_by_label(topic).check()
    click(tab, "Answer")
    assert tab.get_by_role("button", name="Back").count() == 0
    judge_one(tab, study, {})
    expect(tab.get_by_role("button", name="Back")).to_be_visible()
    expect(tab.locator(".actions")).to_contain_text("Back only to fix a mistake")
    no_faults(tab)
