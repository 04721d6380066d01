"""The threat table against the real application: nobody is paid twice."""

import asyncio

import pytest
from sqlalchemy import select

from collect.web.attacks import told
from collect.web.siege import CODES, Fort
from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.plan import DocumentPlan, Plan, TopicPlan
from qrowd.collect.campaigns.rebuild import rebuild
from qrowd.collect.protocols.events import Refusal
from qrowd.collect.protocols.settings import GradesSettings, JourneySettings
from qrowd.collect.store import events
from qrowd.collect.store.schema import STATE, event
from webserver import Answer

# ---- crowd: nobody is paid twice


def submits(page: Answer) -> str | None:
    """The assignment for which the page's form submits."""
    if "/mturk/externalSubmit" not in page.text:
        return None
    return page.field("assignmentId")


def test_a_unit_is_submitted_for_one_assignment_only_however_often_the_page_is_opened(place: Fort) -> None:
    worker = place.walker("stars", "mturk", "w1").come().walk()
    assert submits(worker.page) == "3A"
    for _ in range(2):
        assert submits(worker.browser.get(worker.door)) == "3A"  # MTurk may have lost it
    worker.changes = {"assignmentId": "3B"}
    door = worker.get(worker.door)
    assert submits(door) is None
    assert "Begin" in door.text
    assert told(place, "returned") == []
    worker.come()
    assert (submits(worker.page), worker.view) == (None, "noneleft")
    assert "other assessors have all the sets" in worker.page.text
    assert [one["submission"] for one in told(place, "returned")] == ["3B"]
    worker.changes = {"assignmentId": "3A"}
    assert submits(worker.get(worker.door)) == "3A"  # the first is still good for what was done under it
    worker.changes = {"assignmentId": "3B"}
    assert submits(worker.get(worker.door)) is None


def further(place: Fort) -> None:
    """A campaign in which one may judge several topics."""
    plan = Plan(
        "more", "More", GradesSettings(k=1, redundancy=5),
        tuple(TopicPlan(f"t{i}", f"Water {i}", (f"d{i}",)) for i in range(3)),
        tuple(DocumentPlan(f"d{i}", "It speaks.", f"Tale {i}") for i in range(3)), 4,
        JourneySettings(another=True, restart=True),
        crowd={"mturk": {"sandbox": False}, "prolific": {"codes": CODES}},
    )  # fmt: skip
    place.store.write(lambda c: create_campaign(c, plan, place.clock()))


def test_another_assignment_gets_other_work_and_pays_for_that(place: Fort) -> None:
    further(place)
    worker = place.walker("more", "mturk", "w1").come().walk()
    assert submits(worker.page) == "3A"
    for name in ("3B", "3C"):
        worker.changes = {"assignmentId": name}
        worker.come()
        assert submits(worker.page) is None
        assert "Judge another topic" in worker.page.text
        worker.send("go_on")
        worker.walk()
        assert submits(worker.page) == name
    worker.changes = {"assignmentId": "3D"}
    worker.come()
    assert (worker.view, submits(worker.page)) == ("noneleft", None)
    for name in ("3A", "3B", "3C"):
        worker.changes = {"assignmentId": name}
        assert submits(worker.get(worker.door)) == name
    before = [place.store.read(lambda c, t=table: sorted(map(repr, c.execute(select(t)).all()))) for table in STATE]
    place.store.write(lambda c: rebuild(c, "more"))
    after = [place.store.read(lambda c, t=table: sorted(map(repr, c.execute(select(t)).all()))) for table in STATE]
    assert before == after


def test_work_begun_under_one_assignment_goes_on_under_the_next_and_pays_there(place: Fort) -> None:
    worker = place.walker("stars", "mturk", "w1").come().walk(until="document")
    worker.send("judge", position="0", text="1", reason="")
    worker.changes = {"assignmentId": "3B"}  # the first was returned
    worker.come()
    assert 'name="position" value="1"' in worker.page.text
    worker.walk()
    assert submits(worker.page) == "3B"
    worker.changes = {"assignmentId": "3A"}
    worker.come()
    assert submits(worker.page) is None


def test_a_page_on_mturk_opens_only_for_the_worker_and_the_assignment_that_came_together(place: Fort) -> None:
    worker = place.walker("stars", "mturk", "w1").come().walk(until="document")
    shown = worker.value("shown")
    assert shown in worker.browser.get(worker.door).text
    stranger = place.walker("stars", "mturk", "w1", assignmentId="3GUESS")
    answer = stranger.get(stranger.door)
    assert answer.status == 200
    assert (shown in answer.text, "Tale" in answer.text) == (False, False)
    other = place.walker("stars", "mturk", "w2")  # the assignment of one, the id of another
    answer = other.get(other.door)
    assert (shown in answer.text, "Tale" in answer.text) == (False, False)


def test_nobody_takes_the_task_without_end(place: Fort) -> None:
    service = place.service

    async def often() -> None:
        for i in range(100):
            await service.arrive("stars", "mturk", "W1", identified="url", submission=f"3{i}")
        with pytest.raises(Refusal, match="too often"):
            await service.arrive("stars", "mturk", "W1", identified="url", submission="3more")

    asyncio.run(often())
    assert len(told(place, "returned")) == 99


def test_a_second_submission_on_prolific_needs_work_of_its_own(place: Fort) -> None:
    further(place)
    worker = place.walker("more", "prolific", "p1").come().walk()
    assert CODES["completed"] in worker.page.text
    assert worker.get(worker.door).status == 303  # the same submission: straight to the page
    worker.changes = {"SESSION_ID": "c" * 24}
    worker.come()
    assert "CODE" not in worker.page.text
    worker.send("go_on")
    worker.walk()
    assert CODES["completed"] in worker.page.text
    assert [one["about"]["submission"] for one in told(place, "returned")] == ["c" * 24]


def test_a_key_of_a_form_cannot_be_mistaken_for_a_visit(place: Fort) -> None:
    walker = place.walker("stars", "panel", "x").come()
    number = place.store.read(lambda c: max(c.scalars(select(event.c.assessor_id).where(event.c.kind == "arrived"))))
    from qrowd.collect.campaigns.submissions import records_of, submission_key

    form = {"do": "consent", "agreed": "1", "csrf": walker.value("csrf"), "key": submission_key(number, 0)}
    assert walker.browser.post("/c/stars/act", form).status == 303
    assert place.store.read(lambda c: records_of(c, number)) == []
    assert place.store.read(lambda c: events.by_key(c, submission_key(number, 0))) is None
