"""Assessors who judge at random through a `JudgingService`, and what the tables hold afterwards."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from sqlalchemy import Connection, select

from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols.events import (
    Action,
    Consent,
    GoOn,
    Judge,
    JudgeLine,
    MarkBad,
    Prefer,
    Rate,
    Refusal,
    Reply,
    Undo,
)
from qrowd_server.protocols.settings import GradesSettings, PreferenceSettings, Settings
from qrowd_server.protocols.views import (
    ConsentView,
    DocumentView,
    EndView,
    FeedbackView,
    LinesView,
    LineView,
    LostView,
    NoneLeftView,
    PairView,
    QuestionView,
    RatingView,
    RevisionView,
)
from qrowd_server.store.base import Store
from qrowd_server.store.schema import STATE, campaign

NOW = 1_800_000_000.0
OPTIONS = ("right", "wrong", "worse", "worst")


class Clock:
    """A clock that moves when told to, and `step` seconds whenever somebody looks."""

    def __init__(self, now: float = NOW, step: float = 0.0) -> None:
        self.now, self.step = now, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def small_plan(
    protocol: str, *, name: str = "pilot", topics: int = 3, documents: int = 4, question: bool = False, **further: Any
) -> Plan:
    """A campaign of a few documents; `further`: choices of the protocol, and tables `journey` and `campaign`."""
    journey = {"consent": False, "practice": False, **further.pop("journey", {})}
    head = {"name": name, "title": "A pilot", "protocol": protocol, "seed": 7, **further.pop("campaign", {})}
    labels = [f"t{t}d{d}" for t in range(topics) for d in range(documents)]
    asked = {"text": "What is it about?", "options": list(OPTIONS), "correct": 0}
    return plan_from_table(
        {
            "campaign": head,
            protocol: further,
            "journey": journey,
            "documents": [{"label": label, "text": f"Text of {label}."} for label in labels],
            "topics": [
                {
                    "label": f"t{t}",
                    "title": f"Topic {t}",
                    "pool": [label for label in labels if label.startswith(f"t{t}d")],
                    **({"checks": [f"t{t}d0", f"t{t}d1"]} if protocol == "magnitude" else {}),
                    **({"question": asked} if question else {}),
                    **(
                        {
                            "systems": {
                                "one": [f"t{t}d{d}" for d in range(documents)],
                                "two": [f"t{t}d{d}" for d in reversed(range(documents))],
                            }
                        }
                        if protocol == "preference" or further.get("stop")
                        else {}
                    ),
                }
                for t in range(topics)
            ],
        }
    )


def three_arms(
    *,
    name: str = "study",
    topics: int = 3,
    documents: int = 2,
    redundancy: int = 2,
    rating: bool = False,
    seed: int = 7,
) -> Plan:
    """The design of Carterette et al. (2008), section 3: grades, preferences, and preferences with degrees."""
    plan = small_plan("preference", name=name, topics=topics, documents=documents, campaign={"seed": seed})
    pairs = PreferenceSettings(redundancy=redundancy, stop=False, rating=rating, order="keep-preferred")
    arms: dict[str, Settings] = {
        "absolute": GradesSettings("0-4", k=documents, redundancy=redundancy, rating=rating),
        "preference": replace(pairs, definitely=False),
        "degrees": replace(pairs, definitely=True),
    }
    return replace(plan, settings=arms)


def seeded(store: Store, clock: Callable[[], float], seed: int = 1) -> JudgingService:
    """A service whose numbers, and so whose lots, are the same in every run."""
    return JudgingService(store, clock=clock, number=partial(Random(seed).getrandbits, 62))


def created(store: Store, plan: Plan, at: float = NOW) -> int:
    """The number of the campaign, which is in the store now."""
    return store.write(lambda connection: create_campaign(connection, plan, at))


def next_action(page: Page, rng: Random) -> Action | None:
    """What somebody who does not think would do; None where there is nothing to do."""
    view = page.view
    match view:
        case ConsentView():
            return Consent(True)
        case LineView():
            return JudgeLine(view.line, f"{view.length * (1 + rng.random()):.3f}")
        case LinesView() | RevisionView() | LostView() | FeedbackView():
            return GoOn()
        case QuestionView():
            return Reply(view.options.index(rng.choice(OPTIONS[:2])) if set(view.options) == set(OPTIONS) else 0)
        case DocumentView():
            text = str(rng.choice(view.grades).value) if view.grades else str(rng.randint(1, 99))
            return Judge(view.position, text, "because")
        case PairView():
            if view.may_mark_bad and rng.random() < 0.1:
                return MarkBad(view.pair, rng.choice(("left", "right")))
            if view.may_undo and rng.random() < 0.05:
                return Undo(view.pair)
            return Prefer(view.pair, rng.choice(("left", "right")), definitely=view.definitely and rng.random() < 0.3)
        case RatingView():
            return Rate(rng.randint(1, 5), rng.randint(1, 5))
        case EndView(another=True):
            return GoOn()
        case NoneLeftView(until=until) if until is not None:
            return GoOn()
    return None


async def work(service: JudgingService, assessor: int, rng: Random, steps: int = 1000) -> Page:
    """Go on until there is nothing to do; the last page."""
    return await _going_on(service, assessor, rng, steps, lambda page: False)


async def until(service: JudgingService, assessor: int, wanted: type, rng: Random, steps: int = 1000) -> Page:
    """Go on until a page of this kind comes."""
    page = await _going_on(service, assessor, rng, steps, lambda page: isinstance(page.view, wanted))
    assert isinstance(page.view, wanted), page.view
    return page


async def _going_on(
    service: JudgingService, assessor: int, rng: Random, steps: int, enough: Callable[[Page], bool]
) -> Page:
    page = await service.page(assessor)
    for _ in range(steps):
        action = next_action(page, rng)
        if enough(page) or action is None:
            break
        try:
            await service.act(assessor, action, shown=page.shown, key=page.key)
        except Refusal as refusal:
            if refusal.code not in ("stale", "ended", "excluded"):
                raise
            page = await service.page(assessor)  # somebody else removed a document, or the owner took the unit away
            continue
        waited, page = isinstance(page.view, NoneLeftView), await service.page(assessor)
        if waited and isinstance(page.view, NoneLeftView):
            break  # nothing has come back
    return page


def tables(connection: Connection) -> dict[str, list[str]]:
    """Everything that events add up to, in some order of its own."""
    kept = {table.name: sorted(map(repr, connection.execute(select(table)).all())) for table in STATE}
    columns = [column for column in campaign.c if column.name != "stamp"]  # which is for caches, and says nothing
    return {**kept, "campaign": sorted(map(repr, connection.execute(select(*columns)).all()))}


def count(connection: Connection, statement: Any) -> int:
    """The first column of the first row."""
    return int(connection.execute(statement).scalar_one())


def judged_by_three(store: Store, clock: Clock, **plan: Any) -> tuple[JudgingService, list[int]]:
    """A campaign of `small_plan` with three people who have judged everything; the service and their numbers."""
    created(store, small_plan(**plan))
    service = seeded(store, clock)

    async def come() -> list[int]:
        people = [await service.arrive("pilot", "link", name) for name in ("ann", "bob", "cleo")]
        for i, one in enumerate(people):
            await work(service, one, Random(i))
        return people

    return service, asyncio.run(come())


def judged_by_a_model(store: Store, plan: Plan, steps: int) -> None:
    """A campaign of this plan in which a language model takes so many steps."""
    created(store, plan)
    service = seeded(store, Clock(step=3.0))

    async def one() -> None:
        who = await service.arrive("pilot", "model", "m", name="m")
        await work(service, who, Random(1), steps=steps)

    asyncio.run(one())
