"""The threat table against the real application: nobody is paid twice."""

import asyncio

import pytest
from sqlalchemy import select

from qrowd_server.campaigns.plan.panel import PanelTable
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.settings import GradesSettings, JourneySettings
from qrowd_server.store import events
from qrowd_server.store.schema import STATE, event
from server.web.attacks import told
from server.web.siege import CODES, Fort

# ---- crowd: nobody is paid twice


def further(place: Fort) -> None:
    """A campaign in which one may judge several topics."""
    plan = Plan(
        "more", "More", GradesSettings(k=1, redundancy=5),
        tuple(TopicPlan(f"t{i}", f"Water {i}", (f"d{i}",)) for i in range(3)),
        tuple(DocumentPlan(f"d{i}", "It speaks.", f"Tale {i}") for i in range(3)), 4,
        JourneySettings(another=True, restart=True), panel=PanelTable(codes=CODES, submission="taking"),
    )  # fmt: skip
    place.store.write(lambda c: create_campaign(c, plan, place.clock()))


def test_a_unit_is_paid_under_one_submission_only_however_often_the_page_is_opened(place: Fort) -> None:
    worker = place.walker("stars", "panel", "w1").come().walk()
    assert CODES["completed"] in worker.page.text
    assert worker.get(worker.door).status == 303  # the same submission: straight to the page
    worker.changes = {"taking": "second"}
    assert "Begin" in worker.get(worker.door).text
    assert told(place, "returned") == []
    worker.come()
    assert ("CODE" in worker.page.text, worker.view) == (False, "noneleft")
    assert [one["submission"] for one in told(place, "returned")] == ["second"]
    worker.changes = {}
    assert CODES["completed"] in worker.come().page.text, "the first is still good for what was done under it"


def test_another_submission_gets_other_work_and_pays_for_that(place: Fort) -> None:
    further(place)
    worker = place.walker("more", "panel", "w1").come().walk()
    assert CODES["completed"] in worker.page.text
    for name in ("second", "third"):
        worker.changes = {"taking": name}
        worker.come()
        assert "CODE" not in worker.page.text
        worker.send("go_on")
        worker.walk()
        assert CODES["completed"] in worker.page.text
    worker.changes = {"taking": "fourth"}
    worker.come()
    assert (worker.view, "CODE" in worker.page.text) == ("noneleft", False)
    before = [place.store.read(lambda c, t=table: sorted(map(repr, c.execute(select(t)).all()))) for table in STATE]
    place.store.write(lambda c: rebuild(c, "more"))
    after = [place.store.read(lambda c, t=table: sorted(map(repr, c.execute(select(t)).all()))) for table in STATE]
    assert before == after


def test_work_begun_under_one_submission_goes_on_under_the_next_and_pays_there(place: Fort) -> None:
    worker = place.walker("stars", "panel", "w1").come().walk(until="document")
    worker.send("judge", position="0", text="1", reason="")
    worker.changes = {"taking": "second"}  # the first was returned
    worker.come()
    assert 'name="position" value="1"' in worker.page.text
    worker.walk()
    assert CODES["completed"] in worker.page.text
    worker.changes = {}
    assert "CODE" not in worker.come().page.text


def test_nobody_takes_the_task_without_end(place: Fort) -> None:
    service = place.service

    async def often() -> None:
        for i in range(100):
            await service.arrive("stars", "panel", "W1", identified="url", submission=f"3{i}")
        with pytest.raises(Refusal, match="too often"):
            await service.arrive("stars", "panel", "W1", identified="url", submission="3more")

    asyncio.run(often())
    assert len(told(place, "returned")) == 99


def test_a_key_of_a_form_cannot_be_mistaken_for_a_visit(place: Fort) -> None:
    walker = place.walker("stars", "link", "ann").come()
    number = place.store.read(lambda c: max(c.scalars(select(event.c.assessor_id).where(event.c.kind == "arrived"))))
    from qrowd_server.campaigns.running.submissions import records_of, submission_key

    form = {"do": "consent", "agreed": "1", "csrf": walker.value("csrf"), "key": submission_key(number, 0)}
    assert walker.browser.post("/c/stars/act", form).status == 303
    assert place.store.read(lambda c: records_of(c, number)) == []
    assert place.store.read(lambda c: events.by_key(c, submission_key(number, 0))) is None
