"""Units that are judged together, in which nothing is left to judge: nobody else gets them."""

import asyncio
from random import Random

import pytest
from sqlalchemy import func, select

from judging import Clock, count, created, seeded, small_plan, tables, work
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.views import NoneLeftView, PairView
from qrowd_server.store import event_log as events
from qrowd_server.store.schema import assignment, event, slot

FREE = select(func.count()).select_from(slot).where(slot.c.assignment_id.is_(None))
CLOSED = select(func.count()).select_from(slot).where(slot.c.assignment_id < 0)
TOPICS = 4


@pytest.fixture
def judged(store):
    """Topics with three seats each; ann was alone with them and judged them all."""
    created(store, small_plan("preference", topics=TOPICS, redundancy=3, sharing="shared", stop=False, rating=False))
    service = seeded(store, Clock(step=3.0))

    async def come():
        ann = await service.arrive("pilot", "link", "ann")
        await work(service, ann, Random(1))

    asyncio.run(come())
    return service


def come(service, name):
    """The first page of somebody who comes now, and the last one after all work."""

    async def both():
        who = await service.arrive("pilot", "link", name)
        return (await service.page(who)).view, (await work(service, who, Random(2))).view

    return asyncio.run(both())


def test_slots_in_which_nothing_is_left_are_closed_and_not_counted_as_work(store, judged):
    with store.reading() as connection:
        assert count(connection, FREE) == 0
        assert count(connection, CLOSED) == 2 * TOPICS
        now = progress(connection, "pilot", judged.clock())
    assert (now.slots, now.completed, now.free) == (TOPICS, TOPICS, 0)
    assert now.share == 1.0
    assert all((topic.slots, topic.completed) == (1, 1) for topic in now.topics)


def test_whoever_comes_then_passes_over_nothing(store, judged):
    before = store.read(lambda connection: count(connection, select(func.count()).select_from(event)))
    _, last = come(judged, "bob")
    assert isinstance(last, NoneLeftView)
    with store.reading() as connection:
        log = list(events.of_campaign(connection, 1))[before:]
        assert [one.kind for one in log] == ["arrived"]
        assert count(connection, select(func.count()).select_from(assignment)) == TOPICS


def test_units_that_are_taken_away_are_judged_again_and_closed_again(store, judged):
    admin = CampaignAdmin(store, clock=judged.clock)
    asyncio.run(admin.exclude("pilot", "ann", "too fast"))
    with store.reading() as connection:
        assert count(connection, FREE) == 3 * TOPICS
        assert count(connection, CLOSED) == 0
    come(judged, "bob")
    with store.reading() as connection:
        assert count(connection, CLOSED) == 2 * TOPICS
        now = progress(connection, "pilot", judged.clock())
    assert (now.slots, now.completed) == (TOPICS, TOPICS)
    assert asyncio.run(admin.reinstate("pilot", "ann")) <= TOPICS
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert store.read(tables) == before


def test_with_two_judges_for_each_pair_a_second_one_finds_work_and_a_third_one_none(store):
    plan = small_plan(
        "preference", topics=1, redundancy=4, pair_redundancy=2, sharing="shared", stop=False, rating=False
    )
    created(store, plan)
    service = seeded(store, Clock(step=3.0))
    worked = []
    for name in ("ann", "bob", "cleo", "dora"):
        come(service, name)
        with store.reading() as connection:
            worked.append(count(connection, select(func.count()).where(event.c.kind == "preferred")))
            closed = count(connection, CLOSED)
    assert worked[0] > 0
    assert worked[1] > worked[0]
    assert closed > 0
    assert worked[-1] == worked[-2]
    with store.reading() as connection:
        assert count(connection, FREE) == 0


def test_a_unit_in_which_somebody_holds_the_last_pair_stays_open(store):
    created(
        store, small_plan("preference", topics=1, documents=2, redundancy=3, sharing="shared", stop=False, rating=False)
    )
    service = seeded(store, Clock(step=3.0))

    async def two():
        ann, bob = [await service.arrive("pilot", "link", name) for name in ("ann", "bob")]
        first = await work(service, ann, Random(1), steps=1)
        second = await work(service, bob, Random(2))
        return first.view, second.view

    first, _ = asyncio.run(two())
    assert isinstance(first, PairView)
    with store.reading() as connection:
        assert count(connection, CLOSED) == 0
