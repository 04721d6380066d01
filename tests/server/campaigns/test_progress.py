"""Progress against counts made the slow way, over exported rows and tables read one by one."""

import asyncio
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from judging import Clock, created, seeded
from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.plan import TopicPlan
from qrowd_server.campaigns.results.campaign_progress import HOUR, progress
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.campaign_settings import find, protocols_of
from qrowd_server.campaigns.running.changes import change_campaign
from qrowd_server.campaigns.running.collected import JUDGMENTS, judgment_rows
from qrowd_server.campaigns.running.privacy import delete_person
from qrowd_server.cli.campaign_tables import one_campaign
from qrowd_server.protocols.events import AskOrganisers
from qrowd_server.protocols.settings import GradesSettings, JourneySettings
from qrowd_server.protocols.views import EndView, ExcludedView, NoneLeftView
from qrowd_server.store import export
from qrowd_server.store.invitation_links import add_sign_up, close_sign_up, invite
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.persons import forget_invited
from qrowd_server.store.schema import assessor, assignment, slot, topic, unit
from server.web.owner.estate import Estate, JudgingService, estate, judge, small_plan, text_of

NAMES = ("small", "demo-magnitude", "demo-grades", "demo-preference")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with estate(tmp_path_factory.mktemp("progress"), demo=True, steps=25) as made:
        yield made


def rows_of(filled: Estate, name: str) -> list[dict[str, Any]]:
    """Every answer, also those that do not count; a Bad mark is an answer."""

    def work(connection: Any) -> list[dict[str, Any]]:
        row = find_campaign(connection, name)
        assert row is not None
        if protocols_of(row) != {"": "preference"}:
            columns = (*JUDGMENTS, *export.STATUS)
            found = judgment_rows(connection, row.id, everything=True)
            return [dict(zip(columns, one, strict=True)) for one in found]
        columns = (*export.PREFERENCES, *export.STATUS)
        return [dict(zip(columns, one, strict=True)) for one in export.preferences(connection, row.id, everything=True)]

    return filled.store.read(work)


def table(filled: Estate, of: Any, name: str) -> list[Any]:
    return filled.store.read(lambda c: c.execute(select(of).where(of.c.campaign_id == find(c, name).id)).all())


def seen_by(filled: Estate, row: Any) -> str:
    """The state of an assessor, by the page that they see and by whether they had a unit."""
    view = asyncio.run(seeded(filled.store, filled.clock).page(row.id)).view
    assignments = filled.store.read(lambda c: c.execute(select(assignment)).all())
    held = [one for one in assignments if one.assessor_id == row.id]
    match view:
        case ExcludedView():
            return "excluded"
        case EndView("declined"):
            return "declined"
        case EndView(another=False) | NoneLeftView(until=None):
            return "finished"
    if not held:
        return "reading"
    is_between = isinstance(view, EndView | NoneLeftView) and all(one.status != "open" for one in held)
    is_late = any(one.status == "open" and one.lease_until < filled.clock() for one in held)
    return "idle" if is_between or is_late else "judging"


@pytest.mark.parametrize("name", NAMES)
def test_progress_is_what_counting_row_by_row_gives(filled: Estate, name: str) -> None:
    at = filled.clock()
    p = filled.store.read(lambda c: progress(c, name, at))
    rows, held = rows_of(filled, name), table(filled, assignment, name)
    by_status = Counter(one.status for one in held)
    assert p.slots == len(table(filled, slot, name))
    assert p.completed + p.open + p.free == p.slots
    for status in ("completed", "open", "failed", "screened_out", "expired", "withdrawn"):
        assert getattr(p, status) == by_status[status], status
    assert p.answers == sum(one["counted"] for one in rows) > 0
    assert p.uncounted == sum(not one["counted"] for one in rows)
    assert p.uncounted > 0 or name == "demo-preference", "there one assessor has done all topics"
    assert p.assessors == Counter(seen_by(filled, one) for one in table(filled, assessor, name))
    assert sum(p.assessors.values()) == 5
    pools: dict[str, set[int]] = defaultdict(set)
    label = {one.id: one.label for one in table(filled, topic, name)}
    for one in table(filled, unit, name):
        pools[label[one.topic_id]] |= set(one.documents)
    for t in p.topics:
        mine = [one for one in rows if one["topic"] == t.label and one["counted"]]
        assert (t.answers, t.documents) == (len(mine), len(pools[t.label]))
        assert t.completed == sum(one.status == "completed" for one in held if label[one.topic_id] == t.label)
        if p.protocol == "preference":
            assert (t.least, t.most) == (None, None)
            continue
        n = Counter(one["document"] for one in mine)
        counts = [*n.values(), *[0] * (t.documents - len(n))]
        assert (t.least, t.most) == (min(counts), max(counts))
    assert p.last is not None
    assert p.last >= max(one["time"] for one in rows)


def test_an_end_is_foretold_from_the_pace_and_only_where_there_is_one(filled: Estate) -> None:
    at = filled.clock()
    told = {name: filled.store.read(lambda c, name=name: progress(c, name, at)) for name in NAMES}
    for p in told.values():
        held = table(filled, assignment, p.campaign)
        done = sum(one.status == "completed" for one in held)
        left = p.slots - done
        if done < 5 or left == 0 or p.waiting:
            assert p.ends is None
            continue
        assert p.ends == pytest.approx(at + left * (at - min(one.created for one in held)) / done)
    assert any(p.ends is not None for p in told.values())
    p = told["demo-grades"]
    assert (max(t.slots - t.completed for t in p.topics), p.assessors["judging"]) == (6, 1)
    assert p.waiting == (
        "Nobody gets a topic twice, so not all units can be judged: invite at least 5 further assessors, or stop."
    )
    later = filled.store.read(lambda c: progress(c, "small", at + 25 * HOUR))
    assert later.ends is None, "nobody has worked for a day, so nobody can tell"


def test_page_and_status_state_the_expected_end_alike_to_the_minute(filled: Estate) -> None:
    p = filled.store.read(lambda c: progress(c, "small", filled.clock()))
    assert p.ends is not None
    assert p.expected_end in text_of(filled.owner().get("/owner/c/small").text)
    assert f"Expected end: {p.expected_end}." in one_campaign(p, ()).notes
    soon = replace(p, ends=p.at + 180)
    assert soon.expected_end == "in 3 minutes at the pace of the last 24 hours"
    assert replace(p, ends=None).expected_end == ""


def test_a_campaign_that_is_paused_or_unknown_has_no_end(tmp_path: Path) -> None:
    with estate(tmp_path) as made:
        asyncio.run(CampaignAdmin(made.store, clock=made.clock).set_status("small", "paused"))
        p = made.store.read(lambda c: progress(c, "small", made.clock()))
        assert (p.status, p.ends) == ("paused", None)
        with pytest.raises(ArgumentError, match="there is no campaign 'smal'; there is small"):
            made.store.read(lambda c: progress(c, "smal", 0.0))


def test_a_new_campaign_has_done_nothing_and_every_answer_moves_it(tmp_path: Path) -> None:
    from qrowd_server.campaigns.running.creation import create_campaign
    from qrowd_server.store.engine import open_store

    clock = Clock()
    with open_store(tmp_path / "judgments.db") as store:
        plan = small_plan()
        store.write(lambda c: create_campaign(c, plan, clock()))
        p = store.read(lambda c: progress(c, plan.name, clock()))
        assert (p.completed, p.open, p.answers, p.last, p.ends, p.share) == (0, 0, 0, None, None, 0.0)
        assert all((t.least, t.most) == (0, 0) for t in p.topics)

        async def some() -> None:
            service = JudgingService(store, clock=clock)
            await judge(service, clock, await service.arrive(plan.name, "link", "ann"), random.Random(2), 3)

        asyncio.run(some())
        p = store.read(lambda c: progress(c, plan.name, clock()))
        assert (p.completed, p.open) == (0, 1)
        assert p.answers > 0


def test_what_nobody_here_may_take_is_said_instead_of_an_end_that_never_comes(tmp_path: Path) -> None:
    say = "Nobody gets a topic twice, so not all units can be judged: invite at least {}, or stop."
    with estate(tmp_path) as made:
        created(made.store, replace(small_plan(), name="plain", panel=None), made.clock())
        admin, service = CampaignAdmin(made.store, clock=made.clock), seeded(made.store, made.clock, 5)

        def now() -> Any:
            return made.store.read(lambda c: progress(c, "plain", made.clock()))

        async def come(name: str, steps: int = 10_000) -> None:
            who = await service.arrive("plain", "link", name)
            await judge(service, made.clock, who, random.Random(name), steps)

        for name in ("ann", "bob", "cleo", "dan", "eve", "fay"):
            asyncio.run(come(name))
            if name == "ann":
                assert now().waiting == say.format("5 further assessors")
        assert (now().waiting, now().free, now().assessors) == ("", 0, {"finished": 6})
        asyncio.run(admin.exclude("plain", "eve", "random"))
        p = now()
        assert p.waiting == say.format("1 further assessor")
        assert (p.free, p.ends, p.assessors) == (2, None, {"finished": 5, "excluded": 1})
        page = text_of(made.owner().get("/owner/c/plain").text)
        assert p.waiting in page
        assert re.search(r"6 assessors\s+finished 5\s+excluded 1\s", page)
        assert re.search(r"Expected end\s+none before others are invited", page)
        made.store.write(lambda c: add_sign_up(c, find(c, "plain").id, 5, made.clock() + 900, made.clock()))
        page = text_of(made.owner().get("/owner/c/plain").text)
        assert "Nobody is judging at this moment, though 2 units are left: invite further assessors." in page
        made.store.write(lambda c: close_sign_up(c, find(c, "plain").id, 1, made.clock()))
        made.store.write(lambda c: invite(c, find(c, "plain").id, "gus", made.clock()))
        assert (now().waiting, now().assessors["invited"]) == ("", 1)
        asyncio.run(admin.exclude("plain", "fay", "random"))
        p = now()
        assert (p.waiting, p.ends) == (say.format("1 further assessor"), None)
        assert (asyncio.run(admin.reinstate("plain", "fay")), now().waiting) == (0, "")
        asyncio.run(come("gus", 1))
        p = now()
        assert (p.assessors["judging"], "invited" in p.assessors, p.waiting) == (1, False, "")
        asyncio.run(come("gus"))
        assert (now().free, now().share, now().waiting) == (0, 1.0, "")


def test_only_who_has_a_unit_in_hand_is_judging(tmp_path: Path) -> None:
    """Not those who were told that nothing is left, before a topic was added; nor who was deleted."""
    way = JourneySettings(consent=False, ask_organisers=True)
    plan = replace(small_plan(), name="plain", panel=None, settings=GradesSettings(k=6, redundancy=2), journey=way)
    with estate(tmp_path) as made:
        created(made.store, plan, made.clock())
        service = seeded(made.store, made.clock, 5)
        people = {name: asyncio.run(service.arrive("plain", "link", name)) for name in ("ann", "bob")}

        def work(name: str, steps: int = 10_000) -> dict[str, int]:
            asyncio.run(judge(service, made.clock, people[name], random.Random(name), steps))
            return made.store.read(lambda c: progress(c, "plain", made.clock())).assessors

        def page() -> str:
            return text_of(made.owner().get("/owner/c/plain").text)

        assert work("ann") == {"finished": 1, "reading": 1}
        assert "Nobody is judging at this moment. Remind 1 assessor who has come and judged nothing yet." in page()
        made.store.write(lambda c: invite(c, find(c, "plain").id, "zoe", made.clock()))
        assert re.search(r"3 assessors\s+invited 1\s+reading 1\s+finished 1\s", page())
        made.store.write(lambda c: forget_invited(c, find(c, "plain").id))
        assert work("bob") == {"finished": 2}
        new = TopicPlan("t3", "Swans", ("d1", "d2"))
        more = replace(plan, topics=(*plan.topics, new))
        made.store.write(lambda c: change_campaign(c, more, made.clock()))
        assert work("ann", 0) == {"idle": 2}
        assert "Nobody is judging at this moment, though more can be judged: ask 2 assessors who are idle" in page()
        assert "Nobody gets a topic twice, so others may have to judge what they cannot." in page()
        assert work("ann", 2) == {"judging": 1, "idle": 1}
        assert "Assessors are judging; there is nothing for you to do." in page()
        asyncio.run(service.act(people["ann"], AskOrganisers("What is a swan?")))
        assert "Assessors are judging. 1 question of assessors waits for a reply" in page()
        made.store.write(lambda c: delete_person(c, "plain", people["ann"], made.clock(), by="assessor"))
        assert work("bob", 0) == {"finished": 1, "idle": 1}
        assert work("bob") == {"finished": 2}
        assert "Assessors are judging" not in page()


def test_who_is_away_for_longer_than_a_unit_is_reserved_is_idle_on_pages_and_in_files(tmp_path: Path) -> None:
    plan = replace(small_plan(), name="plain", panel=None, journey=JourneySettings(consent=False))
    with estate(tmp_path) as made:
        created(made.store, plan, made.clock())
        service = seeded(made.store, made.clock, 5)
        for name in ("ann", "deleted-a2"):  # a name that anybody may choose
            who = asyncio.run(service.arrive("plain", "link", name))
            asyncio.run(judge(service, made.clock, who, random.Random(1), 1))

        def states() -> tuple[str, ...]:
            at = made.clock()
            of = made.store.read(lambda c: progress(c, "plain", at)).assessors
            rows = made.store.read(lambda c: b"".join(export_rows(c, "plain", "payment", "jsonl", at=at))).splitlines()
            told = tuple(json.loads(row)["status"] for row in rows)
            assert Counter(told) == of
            return told

        assert states() == ("judging", "judging")
        made.clock.now += plan.lease_minutes * 60 + 1
        assert states() == ("idle", "idle")
        asyncio.run(judge(service, made.clock, who, random.Random(2), 1))
        assert states() == ("idle", "judging")


def test_a_deleted_person_is_never_waited_for(tmp_path: Path) -> None:
    with estate(tmp_path) as made:
        created(made.store, replace(small_plan(), name="plain", panel=None), made.clock())
        service = seeded(made.store, made.clock, 5)
        for steps, before in ((0, "reading"), (1, "judging")):
            who = asyncio.run(service.arrive("plain", "link", "ann"))
            asyncio.run(judge(service, made.clock, who, random.Random(1), steps))
            assert made.store.read(lambda c: progress(c, "plain", made.clock())).assessors[before] == 1
            made.store.write(lambda c, who=who: delete_person(c, "plain", who, made.clock(), by="assessor"))  # type: ignore[misc]
            p = made.store.read(lambda c: progress(c, "plain", made.clock()))
            assert before not in p.assessors
            assert p.waiting.endswith("invite at least 6 further assessors, or stop.")


def test_who_is_deleted_with_all_answers_is_not_called_excluded(tmp_path: Path) -> None:
    with estate(tmp_path) as made:
        created(made.store, replace(small_plan(), name="plain", panel=None), made.clock())
        who = asyncio.run(seeded(made.store, made.clock, 5).arrive("plain", "link", "ann"))
        made.store.write(lambda c: delete_person(c, "plain", who, made.clock(), answers="withdraw"))
        assert made.store.read(lambda c: progress(c, "plain", made.clock())).assessors == {"deleted": 1}
        assert re.search(r"1 assessor\s+deleted 1\s", text_of(made.owner().get("/owner/c/plain").text))
