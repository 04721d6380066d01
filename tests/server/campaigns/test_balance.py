"""The arms of a study are balanced over topics, assessors and their order, whoever comes when and whoever leaves."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from judging import Clock, created, next_action, seeded, tables, three_arms, work
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.running.creation import plan_of
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.views import EndView, NoneLeftView
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.schema import assessor, assignment, topic

ARMS = ("absolute", "preference", "degrees")
LEASE = 3600.0
Units = list[tuple[str, str, str, str]]  # assessor, topic, arm, status


def units_of(store: Store, campaign_id: int) -> Units:
    """All units, the first first."""
    query = (
        select(assessor.c.name, topic.c.label, assignment.c.arm, assignment.c.status)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .join(topic, topic.c.id == assignment.c.topic_id)
        .where(assignment.c.campaign_id == campaign_id)
        .order_by(assignment.c.created, assignment.c.id)
    )
    return store.read(lambda connection: [tuple(row) for row in connection.execute(query)])


def by_assessor(units: Units) -> dict[str, list[str]]:
    """The arms of each assessor, in their order."""
    arms: defaultdict[str, list[str]] = defaultdict(list)
    for name, _, arm, _ in units:
        arms[name].append(arm)
    return arms


def per_topic_and_arm(units: Units) -> Counter[tuple[str, str]]:
    return Counter((label, arm) for _, label, arm, status in units if status == "completed")


# ---- the design of the study


def test_six_assessors_judge_every_topic_twice_in_each_arm_and_all_arms_equally_often_in_every_order(store):
    campaign_id = created(store, three_arms(topics=6))
    service = seeded(store, Clock(step=0.01))

    async def all_at_once() -> None:
        crowd = [await service.arrive("study", "link", f"person-{i}") for i in range(6)]
        await asyncio.gather(*(work(service, one, Random(i)) for i, one in enumerate(crowd)))

    asyncio.run(all_at_once())
    units = units_of(store, campaign_id)
    assert len({(name, label) for name, label, _, _ in units}) == len(units) == 36
    assert per_topic_and_arm(units) == {(f"t{t}", arm): 2 for t in range(6) for arm in ARMS}
    orders = by_assessor(units)
    assert all(Counter(order) == dict.fromkeys(ARMS, 2) for order in orders.values())
    for place in range(6):
        assert Counter(order[place] for order in orders.values()) == dict.fromkeys(ARMS, 2)


def test_a_campaign_with_arms_is_rebuilt_from_its_log_and_read_from_its_archive_as_it_was(tmp_path):
    with open_store(tmp_path / "first.db") as first, open_store(tmp_path / "second.db") as second:
        created(first, three_arms())
        service = seeded(first, Clock(step=1.0))

        async def some() -> None:
            crowd = [await service.arrive("study", "link", f"person-{i}") for i in range(5)]
            await asyncio.gather(*(work(service, one, Random(i), 6 + i) for i, one in enumerate(crowd)))

        asyncio.run(some())
        before = first.read(tables)
        first.write(lambda connection: rebuild(connection, "study"))
        assert first.read(tables) == before
        archive = first.read(lambda connection: list(write_archive(connection, "study", names=True)))
        second.write(lambda connection: read_archive(connection, archive))
        assert second.read(lambda connection: list(write_archive(connection, "study", names=True))) == archive
        assert units_of(second, 1) == units_of(first, 1)
        assert second.read(lambda c: plan_of(c, 1)) == first.read(lambda c: plan_of(c, 1)) == three_arms()


# ---- any interleaving


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("balance") / "judgments.db") as store:
        yield store


class Crowd:
    """Assessors of one campaign who act one after another, as chance has it."""

    def __init__(self, store: Store, *, seed: int, topics: int, redundancy: int) -> None:
        self.name, self.random, self.clock = f"study-{next(NUMBERS)}", Random(seed), Clock(step=0.01)
        self.store = store
        plan = three_arms(name=self.name, topics=topics, redundancy=redundancy, seed=seed)
        self.campaign_id = created(store, plan, self.clock.now)
        self.service = seeded(store, self.clock, seed + next(NUMBERS) * 1000)
        self.active: list[int] = []

    async def come(self) -> int:
        number = await self.service.arrive(self.name, "link", f"person-{next(NUMBERS)}")
        self.active.append(number)
        return number

    async def act(self, number: int) -> bool:
        """One action; False where there is nothing to do."""
        page = await self.service.page(number)
        action = next_action(page, self.random)
        if action is None or (isinstance(page.view, NoneLeftView) and page.view.until > self.clock.now + 1):
            return False
        await self.service.act(number, action, shown=page.shown, key=page.key)
        after = await self.service.page(number)
        return not (isinstance(page.view, NoneLeftView) and isinstance(after.view, NoneLeftView))

    async def finish_units(self) -> None:
        """Everybody goes on to the end of the unit they have."""
        for number in self.active:
            while not isinstance((await self.service.page(number)).view, EndView | NoneLeftView):
                await self.act(number)

    async def leave(self, number: int) -> None:
        """One leaves a unit open, and is away for longer than the lease."""
        self.active.remove(number)
        await self.finish_units()
        self.clock.now += LEASE + 1

    async def all_done(self) -> None:
        waiting = list(self.active)
        while waiting:
            number = self.random.choice(waiting)
            if not await self.act(number):
                waiting.remove(number)

    @property
    def units(self) -> Units:
        return units_of(self.store, self.campaign_id)


NUMBERS = count()


@pytest.mark.nightly
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32), topics=st.integers(1, 4), redundancy=st.integers(1, 2), data=st.data())
def test_the_balance_is_exact_whatever_the_interleaving_and_whoever_leaves_their_first_unit(
    one_store, seed, topics, redundancy, data
):
    crowd = Crowd(one_store, seed=seed, topics=topics, redundancy=redundancy)
    leavers = data.draw(st.sets(st.integers(0, 3 * redundancy - 1), max_size=2))

    async def study() -> None:
        for place in range(3 * redundancy):
            number = await crowd.come()
            await crowd.act(number)  # begins a unit
            for _ in range(crowd.random.randrange(12)):
                await crowd.act(crowd.random.choice(crowd.active))
            if place in leavers and (await crowd.service.page(number)).view and own_units(crowd, number) == ["open"]:
                await crowd.leave(number)
                await crowd.act(await crowd.come())
        await crowd.all_done()

    asyncio.run(study())
    units = crowd.units
    assert per_topic_and_arm(units) == {(f"t{t}", arm): redundancy for t in range(topics) for arm in ARMS}
    ended = [one for one in units if one[3] == "completed"]
    for arms in by_assessor(ended).values():
        n = Counter(arms)
        assert max(n[arm] for arm in ARMS) - min(n[arm] for arm in ARMS) <= (topics % 3 > 0)
        assert len(set(arms[:3])) == min(topics, 3)


def own_units(crowd: Crowd, number: int) -> list[str]:
    query = select(assignment.c.status).where(assignment.c.assessor_id == number)
    return crowd.store.read(lambda connection: list(connection.scalars(query)))


@pytest.mark.nightly
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32), topics=st.integers(2, 3), data=st.data())
def test_whoever_leaves_no_topic_comes_twice_and_others_fill_every_slot(one_store, seed, topics, data):
    crowd = Crowd(one_store, seed=seed, topics=topics, redundancy=2)
    n_leavers = data.draw(st.integers(1, 4))

    async def study() -> None:
        for _ in range(6):
            await crowd.come()
        for _ in range(n_leavers):
            for _ in range(crowd.random.randrange(1, 40)):
                await crowd.act(crowd.random.choice(crowd.active))
            await crowd.leave(crowd.random.choice(crowd.active))
        await crowd.all_done()
        while len([one for one in crowd.units if one[3] == "completed"]) < 6 * topics:
            await crowd.come()
            await crowd.all_done()

    asyncio.run(study())
    units = crowd.units
    assert len({(name, label) for name, label, _, _ in units}) == len(units)
    assert per_topic_and_arm(units) == {(f"t{t}", arm): 2 for t in range(topics) for arm in ARMS}
