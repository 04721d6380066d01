"""Review in the browser's requests: lists, answers with the text beside, final answers, questions."""

import asyncio
import html
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from judging import work
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.collected import final_answers
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.store.accounts import add_account, hash_password, set_member
from qrowd_server.store.materials import find_campaign
from server.web.owner.estate import HOSTILE, PASSWORD, Estate, estate, text_of
from webserver import Answer, Browser

REVIEW, RESULTS = "/owner/c/small/review", "/owner/c/small/results"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Estate]:
    with estate(tmp_path) as one:
        yield one


def logged_in(made: Estate, name: str = "olga") -> Browser:
    browser = Browser(made.app)
    form = {"csrf": browser.get("/owner/login").field("csrf"), "name": name, "password": PASSWORD}
    assert browser.post("/owner/login", form).status == 303
    return browser


def reviewer(made: Estate) -> Browser:
    hashed = hash_password(PASSWORD, fast=True)

    def work(connection: object) -> None:
        number = add_account(connection, "rita", hashed, 0.0, role="member")  # type: ignore[arg-type]
        set_member(connection, find_campaign(connection, "small").id, number, "owner")  # type: ignore[arg-type,union-attr]

    made.store.write(work)
    return logged_in(made, "rita")


def item(browser: Browser, topic: str, document: str) -> Answer:
    from urllib.parse import urlencode

    return browser.get(f"{REVIEW}/item?{urlencode({'topic': topic, 'document': document})}")


def send(browser: Browser, path: str, **fields: str) -> Answer:
    return browser.post(path, {"csrf": browser.get(RESULTS).field("csrf"), **fields})


def number(made: Estate) -> int:
    return made.store.read(lambda c: find_campaign(c, "small").id)  # type: ignore[union-attr]


def test_the_list_has_every_judged_document_and_filters_narrow_it(made: Estate) -> None:
    rita = reviewer(made)
    page = rita.get(RESULTS)
    assert "of 12 judged documents" in page.text
    assert HOSTILE not in page.text
    assert html.escape(HOSTILE) in page.text or HOSTILE in html.unescape(page.text)
    assert "of 6 judged documents of topic t1" in rita.get(f"{RESULTS}?topic=t1").text
    assert "12 judged documents." in rita.get(f"{RESULTS}?all=1").text
    assert "of 12 judged documents" in rita.get(f"{RESULTS}?topic=t9").text, "there is no such topic"
    assert rita.get(f"{RESULTS}?page=99999999999&all=1").status == 200


def test_one_document_shows_everybodys_answer_with_the_text_and_whether_it_counts(made: Estate) -> None:
    words = text_of(item(logged_in(made), "t1", "d1").text)
    assert "Text number 1." in words
    query = (
        "select assessor.name from judgment join assignment on assignment.id = assignment_id "
        "join assessor on assessor.id = assessor_id join document on document.id = document_id "
        "join topic on topic.id = topic_id where document.label = 'd1' and topic.label = 't1' "
        "and assignment.campaign_id = 1"
    )
    names = {row[0] for row in made.store.read(lambda c: c.exec_driver_sql(query).all())}
    assert len(names) >= 2
    for name in names - {HOSTILE}:
        assert name in words
    assert item(logged_in(made), "t1", "nothing").status == 404
    assert item(logged_in(made), "t9", "d1").status == 404


def test_a_final_answer_is_given_by_an_account_and_can_be_taken_back(made: Estate) -> None:
    rita = reviewer(made)
    fields = {"topic": "t1", "document": "d1", "arm": ""}
    answer = send(rita, f"{REVIEW}/item", do="adjudicate", text="2", reason="It is <b>about</b> ducks.", **fields)
    assert answer.status == 303, answer.text
    page = rita.get(answer.header("location") or "")
    assert "by rita" in text_of(page.text)
    assert "<b>about</b>" not in page.text
    results = text_of(rita.get(RESULTS).text)
    assert "There is 1 final answer." in results
    assert "of 11 judged documents" in results
    assert "12 judged documents." in text_of(rita.get(f"{RESULTS}?all=1").text)
    exported = rita.get("/owner/c/small/export/judgments/csv").text
    assert [",final" in line for line in exported.splitlines() if "It is <b>about</b> ducks." in line] == [True, True]
    assert "1 final answer of owners" in results
    refused = send(rita, f"{REVIEW}/item", do="adjudicate", text="2", reason="", **fields)
    assert refused.status == 422
    assert "reason: say why" in refused.text
    assert send(rita, f"{REVIEW}/item", do="withdraw", **fields).status == 303
    assert made.store.read(lambda c: final_answers(c, number(made))) == {}
    log = text_of(logged_in(made).get("/owner/c/small/log").text)
    assert "gave the final answer" in log


def test_an_answer_is_opened_again_from_its_row(made: Estate) -> None:
    rita = reviewer(made)
    page = item(rita, "t1", "d1")
    assignment, position = (
        re.findall(rf'name="{name}" value="(\w+)"', page.text)[0] for name in ("assignment", "position")
    )
    fields = {"topic": "t1", "document": "d1", "arm": "", "assignment": assignment, "position": position}
    assert send(rita, f"{REVIEW}/item", do="reopen", why="", **fields).status == 422
    assert send(rita, f"{REVIEW}/item", do="reopen", why="See the end.", **fields).status == 303
    assert "See the end." in item(rita, "t1", "d1").text
    for wrong in ("zz", "-1", "f" * 40, "1"):
        answer = send(rita, f"{REVIEW}/item", **{**fields, "do": "reopen", "why": "x", "assignment": wrong})
        assert answer.status in (404, 422), wrong


def test_a_question_is_listed_answered_and_shown_to_who_asked(tmp_path: Path) -> None:
    table = {
        "campaign": {"name": "asking", "protocol": "grades"},
        "grades": {"k": 2, "reason": "none"},
        "journey": {"consent": False, "ask_organisers": True},
        "topics": [{"label": "t", "title": "bread"}],
        "documents": [{"label": f"d{i}", "text": f"text {i}"} for i in range(2)],
    }
    from qrowd_server.store.invitation_links import invite

    with estate(tmp_path) as made:
        campaign = made.store.write(lambda c: create_campaign(c, plan_from_table(table), made.clock()))
        token = made.store.write(lambda c: invite(c, campaign, "ann", 1.0))
        ann, olga = Browser(made.app), logged_in(made)
        page = ann.get(f"/join/{token}")
        assert ann.post(f"/join/{token}", {"csrf": page.field("csrf")}).status == 303

        def act(**fields: str) -> Answer:
            page = ann.get("/c/asking")
            hidden = {name: page.field(name) for name in ("csrf", "key", "shown") if f'name="{name}"' in page.text}
            return ann.post("/c/asking/act", {**hidden, **fields})

        assert act(do="go_on").status == 303
        refused = act(do="ask_organisers", message="  ")
        assert refused.status == 422
        assert "Write your question first." in refused.text
        assert act(do="ask_organisers", message="Is <i>rye</i> bread?").status == 303
        page = ann.get("/c/asking")
        assert "There is no reply yet." in page.text
        assert "<i>rye</i>" not in page.text
        listed = olga.get("/owner/c/asking/questions")
        assert "1 question without a reply" in text_of(listed.text)
        fields = {name: listed.field(name) for name in ("csrf", "assessor", "number")}
        assert olga.post("/owner/c/asking/questions", {**fields, "reply": ""}).status == 422
        assert olga.post("/owner/c/asking/questions", {**fields, "reply": "Yes, it is."}).status == 303
        assert act(do="judge", position="0", text="1").status == 303
        page = ann.get("/c/asking")
        assert "Yes, it is." in page.text
        assert act(do="read_reply", number="0").status == 303
        assert "Yes, it is." not in ann.get("/c/asking").text
        assert "read" in text_of(olga.get("/owner/c/asking/questions?replied=1").text)


def test_the_author_sees_the_reason_and_keeps_or_changes_the_answer(made: Estate) -> None:
    from qrowd_server.store.invitation_links import invite

    rita = reviewer(made)
    token = made.store.write(lambda c: invite(c, number(made), "eve", 1.0))
    eve = Browser(made.app)
    assert eve.post(f"/join/{token}", {"csrf": eve.get(f"/join/{token}").field("csrf")}).status == 303

    def act(**fields: str) -> Answer:
        page = eve.get("/c/small")
        hidden = {name: page.field(name) for name in ("csrf", "key", "shown") if f'name="{name}"' in page.text}
        return eve.post("/c/small/act", {**hidden, **fields})

    assert "small" in eve.get("/c/small").text.lower()
    unit, position = made.store.read(
        lambda c: c.exec_driver_sql(
            "select assignment.id, position from judgment join assignment on assignment.id = assignment_id "
            "join assessor on assessor.id = assessor_id "
            "where assessor.name = 'ann' and assessor.campaign_id = 1 limit 1"
        ).first()
    )
    fields = {"topic": "t1", "document": "d1", "arm": "", "assignment": f"{unit:x}", "position": str(position)}
    assert send(rita, f"{REVIEW}/item", do="reopen", why="<b>Look</b> at the end.", **fields).status == 303
    page = asyncio.run(made.service.page(ann_of(made)))
    assert page.view.reopened == "<b>Look</b> at the end."
    assert asyncio.run(work(made.service, ann_of(made), Random(1), steps=1)).view != page.view
    assert act(do="read_reply", number="0").status == 409


def ann_of(made: Estate) -> int:
    return int(made.assessor("ann").rpartition("/")[2], 16)
