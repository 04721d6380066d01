"""What was done under which taking of a task."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.desk import Desk, NobodyError
from qrowd.collect.campaigns.plan import DocumentPlan, Plan, TopicPlan
from qrowd.collect.campaigns.visits import Visit
from qrowd.collect.protocols.events import Consent, GoOn, Judge
from qrowd.collect.protocols.settings import GradesSettings, JourneySettings
from qrowd.collect.protocols.views import DocumentView, EndView, RatingView
from qrowd.collect.store.engine import open_store

N = 6


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A campaign of six topics with one document each."""
    names = [str(i) for i in range(N)]
    plan = Plan(
        "few", "Few", "grades", GradesSettings(k=1, redundancy=500, rating=False),
        tuple(TopicPlan(f"t{name}", name, (f"d{name}",)) for name in names),
        tuple(DocumentPlan(f"d{name}", name) for name in names), 1, JourneySettings(consent=True, another=True),
    )  # fmt: skip
    folder: Path = tmp_path_factory.mktemp("visits")
    with open_store(folder / "judgments.db") as store:
        store.write(lambda c: create_campaign(c, plan, 0.0))
        yield Desk(store, clock=lambda: 1.0)


async def finish_one(desk: Desk, who: int) -> bool:
    """Judge until one more unit is complete; False where there is none."""
    for _ in range(4):
        page = await desk.page(who)
        action: Any = GoOn()
        match page.view:
            case DocumentView(position=position):
                action = Judge(position, "1")
            case RatingView():
                raise AssertionError("nobody asks for that here")
            case EndView(another=False):
                return False
            case EndView():
                pass
            case _:
                action = Consent(True)
        receipt = await desk.act(who, action, shown=page.shown)
        if isinstance(action, Judge):
            assert receipt.page is not None
            return isinstance(receipt.page.view, EndView)
    raise AssertionError("no unit")


people = iter(range(10**9))
STEPS = st.lists(st.one_of(st.sampled_from("ABC"), st.just("work")), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_every_unit_belongs_to_the_taking_it_was_finished_under_and_to_no_other(desk: Desk, steps: list[str]) -> None:
    async def run() -> None:
        name, now, done = f"W{next(people)}", "first", {"first": 0}
        who = await desk.arrive("few", "mturk", name, visit=now)
        for step in steps:
            if step == "work":
                done[now] += await finish_one(desk, who)
            else:
                now = step
                done = {**{k: v for k, v in done.items() if k != now}, now: done.get(now, 0)}
                assert await desk.arrive("few", "mturk", name, visit=now) == who
        wanted = tuple(Visit(visit, "completed" if n else None) for visit, n in done.items())
        assert await desk.visits(who) == wanted

    asyncio.run(run())


def test_who_comes_by_a_door_without_takings_has_none(desk: Desk) -> None:
    who = asyncio.run(desk.arrive("few", "link", "ann"))
    assert asyncio.run(desk.visits(who)) == ()
    with pytest.raises(NobodyError):
        asyncio.run(desk.visits(1))
