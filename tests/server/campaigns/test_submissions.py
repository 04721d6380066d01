"""What was done under which taking of a task."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.lookup import NotFoundError
from qrowd_server.campaigns.running.submissions import Submission
from qrowd_server.protocols.events import Consent, GoOn, Judge, JudgeLine
from qrowd_server.protocols.settings import GradesSettings, JourneySettings, MagnitudeSettings
from qrowd_server.protocols.views import DocumentView, EndView, RatingView
from qrowd_server.store.engine import open_store

N = 6


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JudgingService]:
    """A campaign of six topics with one document each."""
    names = [str(i) for i in range(N)]
    plan = Plan(
        "few", "Few", GradesSettings(k=1, redundancy=500, rating=False),
        tuple(TopicPlan(f"t{name}", name, (f"d{name}",)) for name in names),
        tuple(DocumentPlan(f"d{name}", name) for name in names), 1, JourneySettings(consent=True, another=True),
    )  # fmt: skip
    folder: Path = tmp_path_factory.mktemp("visits")
    with open_store(folder / "judgments.db") as store:
        store.write(lambda c: create_campaign(c, plan, 0.0))
        yield JudgingService(store, clock=lambda: 1.0)


async def finish_one(service: JudgingService, who: int) -> bool:
    """Judge until one more unit is complete; False where there is none."""
    for _ in range(4):
        page = await service.page(who)
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
        receipt = await service.act(who, action, shown=page.shown)
        if isinstance(action, Judge):
            assert receipt.page is not None
            return isinstance(receipt.page.view, EndView)
    raise AssertionError("no unit")


people = iter(range(10**9))
STEPS = st.lists(st.one_of(st.sampled_from("ABC"), st.just("work")), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_every_unit_belongs_to_the_submission_it_was_finished_under(service: JudgingService, steps: list[str]) -> None:
    async def run() -> None:
        name, now, done = f"W{next(people)}", "first", {"first": 0}
        who = await service.arrive("few", "panel", name, submission=now)
        for step in steps:
            if step == "work":
                done[now] += await finish_one(service, who)
            else:
                now = step
                done = {**{k: v for k, v in done.items() if k != now}, now: done.get(now, 0)}
                assert await service.arrive("few", "panel", name, submission=now) == who
        wanted = tuple(Submission(submission, "completed" if n else None) for submission, n in done.items())
        assert await service.submissions(who) == wanted

    asyncio.run(run())


def test_a_practice_that_failed_belongs_to_its_submission_and_a_restarted_one_to_the_next(tmp_path: Path) -> None:
    plan = Plan(
        "lines", "Lines", MagnitudeSettings(k=3, redundancy=2), (TopicPlan("t", "tea", ("a", "b", "c")),),
        tuple(DocumentPlan(label, label) for label in "abc"), 1,
        JourneySettings(consent=False, practice_attempts=1, practice_restart=True), checks=False,
    )  # fmt: skip

    async def fail(service: JudgingService, who: int) -> None:
        for line in range(3):
            await service.act(who, JudgeLine(line, "1"))

    async def run(service: JudgingService) -> tuple[Submission, ...]:
        who = await service.arrive("lines", "panel", "W1", submission="first")
        await fail(service, who)
        await service.arrive("lines", "panel", "W1", submission="second")
        await service.act(who, GoOn())
        await fail(service, who)
        await service.arrive("lines", "panel", "W1", submission="third")
        return await service.submissions(who)

    with open_store(tmp_path / "judgments.db") as store:
        store.write(lambda c: create_campaign(c, plan, 0.0))
        outcomes = asyncio.run(run(JudgingService(store, clock=lambda: 1.0)))
    assert outcomes == (
        Submission("first", "practice_failed"),
        Submission("second", "practice_failed"),
        Submission("third", None),
    )


def test_who_comes_by_a_door_without_takings_has_none(service: JudgingService) -> None:
    who = asyncio.run(service.arrive("few", "link", "ann"))
    assert asyncio.run(service.submissions(who)) == ()
    with pytest.raises(NotFoundError):
        asyncio.run(service.submissions(1))
