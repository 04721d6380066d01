"""A server with real campaigns and an owner, asked straight or by a browser, with assessors who judge by themselves."""

import asyncio
import random
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judging import NOW, Clock, seeded
from qrowd_server.campaigns.demo import demo_plans
from qrowd_server.campaigns.plan.panel_links import PanelTable
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.protocols.events import (
    Action,
    CannotTell,
    Consent,
    GoOn,
    GoTo,
    Judge,
    JudgeLine,
    MarkBad,
    Prefer,
    Rate,
    Refusal,
    Reply,
    Undo,
)  # fmt: skip
from qrowd_server.protocols.settings import GradesSettings, JourneySettings
from qrowd_server.protocols.views import (
    ConsentView,
    DocumentView,
    EndView,
    LinesView,
    LineView,
    NoneLeftView,
    PairView,
    QuestionView,
    RatingView,
    RevisionView,
    View,
)  # fmt: skip
from qrowd_server.store.accounts import add_account, hash_password
from qrowd_server.store.engine import open_store
from webserver import BASE, Browser, Place, listening, serving

PANEL = PanelTable(codes={"completed": "P1"}, links={"completed": "https://panel.test/done?code={code}"})
HOSTILE = "<img/src=x/onerror=alert(1)>"
PASSWORD = "correct horse battery"


def small_plan() -> Plan:
    """Two topics of six documents, grades, three assessors each, titles that would be markup; open to all platforms."""
    documents = (*(DocumentPlan(f"d{i}", f"Text number {i}.") for i in range(6)), DocumentPlan(HOSTILE, "Text."))
    labels = tuple(one.label for one in documents)
    topics = (TopicPlan("t1", "Ducks", labels[:6]), TopicPlan("t2", f"Geese {HOSTILE}", labels[1:]))
    settings = GradesSettings(k=3, redundancy=3)
    journey = JourneySettings(consent=False)
    return Plan("small", f"Birds {HOSTILE}", settings, topics, documents, 7, journey, panel=PANEL)


def likely(view: View, rng: random.Random, clock: Clock) -> Action | None:
    """What an assessor without an opinion does; None at the end."""
    clock.now += rng.expovariate(1 / 25)
    match view:
        case ConsentView():
            return Consent(True)
        case LineView():
            return JudgeLine(view.line, str(view.length * 100 if rng.random() < 0.9 else 50))
        case LinesView() | RevisionView():
            return GoOn()
        case QuestionView():
            return Reply(rng.randrange(len(view.options)))
        case DocumentView():
            if view.position and rng.random() < 0.05:
                return GoTo(view.position - 1)
            if view.may_not_tell and rng.random() < 0.1:
                return CannotTell(view.position, "It is about something else.", 3.0)
            n = rng.randrange(len(view.grades)) if view.grades else (view.document * 7) % 90 + rng.randrange(1, 30)
            return Judge(view.position, str(n), "It names what was asked for.", rng.random() * 20)
        case PairView():
            if view.may_undo and rng.random() < 0.1:
                return Undo(view.pair)
            if view.may_mark_bad and rng.random() < 0.1:
                return MarkBad(view.pair, "left", 2.0)
            return Prefer(view.pair, "left" if view.left < view.right else "right", rng.random() < 0.1, 4.0)
        case RatingView():
            return Rate(3, 4, "Fine.")
        case EndView(another=True):
            return GoOn()
        case NoneLeftView(until=until) if until is not None and until <= clock.now:
            return GoOn()
    return None


async def judge(service: JudgingService, clock: Clock, assessor: int, rng: random.Random, steps: int = 10_000) -> None:
    """An assessor works for so many steps, or until there is nothing left."""
    for _ in range(steps):
        page = await service.page(assessor)
        action = likely(page.view, rng, clock)
        if action is None:
            return
        try:
            await service.act(assessor, action, shown=page.shown, key=page.key)
        except Refusal:
            continue


async def fill(store: Any, clock: Clock, *, demo: bool, stranger: str, steps: int) -> None:
    """Campaigns with assessors who have judged; among them somebody excluded, somebody away, somebody half-way."""
    service, rng, admin = seeded(store, clock), random.Random(1), CampaignAdmin(store, clock=clock)
    demos = demo_plans(min_seconds=5.0) if demo else []
    plans = [small_plan(), *(replace(plan, topics=plan.topics[:3]) for plan in demos)]
    for plan in plans:
        store.write(lambda c, plan=plan: create_campaign(c, plan, clock.now))
    for plan in plans:
        people = [await service.arrive(plan.name, "link", name) for name in ("ann", "bob", "cleo", "dora/x")]
        people.append(await service.arrive(plan.name, "panel", stranger))
        for i, one in enumerate(people):
            await judge(service, clock, one, rng, 12 if i == 3 else steps if demo else 10_000)
        await admin.exclude(plan.name, "cleo", f"always the same {stranger}")
        clock.now += 60
    store.write(lambda c: add_account(c, "olga", hash_password(PASSWORD), clock.now, role="administrator"))


@cache
def template(demo: bool, stranger: str, steps: int) -> tuple[bytes, float]:
    """A filled store as bytes, and the time in it; made once."""
    with TemporaryDirectory() as folder:
        clock = Clock()
        with open_store(Path(folder) / "judgments.db") as store:
            # In a thread of its own: where a browser runs, this one has an event loop already.
            filling = threading.Thread(
                target=lambda: asyncio.run(fill(store, clock, demo=demo, stranger=stranger, steps=steps))
            )
            filling.start()
            filling.join()
        with closing(sqlite3.connect(Path(folder) / "judgments.db")) as file:
            file.execute("pragma wal_checkpoint(truncate)")  # all of it in one file
        return (Path(folder) / "judgments.db").read_bytes(), clock.now


class Estate(Place):
    """The server."""

    @property
    def address(self) -> str:
        return self.base

    def assessor(self, name: str, campaign: str = "small") -> str:
        """The address of an assessor's page."""
        from qrowd_server.store.materials import find_campaign
        from qrowd_server.store.state_rows import find_named

        number = self.store.read(lambda c: find_named(c, find_campaign(c, campaign).id, name).id)
        return f"/owner/c/{campaign}/assessors/{number:x}"


@contextmanager
def estate(
    folder: Path, *, demo: bool = False, stranger: str = HOSTILE, steps: int = 60, **changes: Any
) -> Iterator[Estate]:
    """A server over a filled store of its own in that folder. stranger : the name of somebody in it.

    demo : with the campaigns of the demo, in which everybody took so many steps.
    """
    content, now = template(demo, stranger, steps)
    with serving(folder, content, Clock(now + 40), partial(seeded, seed=2), **changes) as place:
        yield Estate(**vars(place))


def served(
    folder: Path, *, demo: bool = False, stranger: str = HOSTILE, steps: int = 60
) -> AbstractContextManager[Estate]:
    """The same on a port of this machine."""
    return listening(lambda base: estate(folder, demo=demo, stranger=stranger, steps=steps, base_url=base))


def text_of(page: str) -> str:
    """The words of a page, markup aside."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


__all__ = ["BASE", "NOW", "Browser", "Clock", "Estate", "estate", "served"]
