"""What assessors do in a browser on the real application, step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import Page, expect
from sqlalchemy import Table, select

from browsers import WCAG, axe_faults, by_tags
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.plan.plan_tables import table_from_plan
from qrowd_server.protocols.protocol import Question
from qrowd_server.protocols.settings import (
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
)
from qrowd_server.store import schema
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from webserver import ServerProcess

GRADES = {"reason": "optional", "rating": False}

T = TypeVar("T")
PATIENCE = 20.0  # seconds until something that should happen counts as not happening

expect.set_options(timeout=10_000)


# ---- the application and its campaigns


def until(happened: Callable[[], T], what: str) -> T:
    """What `happened` returns, as soon as it is true; an error where that takes too long."""
    deadline = time.monotonic() + PATIENCE
    while not (found := happened()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not happen within {PATIENCE:g} seconds")
        time.sleep(0.02)
    return found


@dataclass
class Running:
    """A campaign on the server."""

    application: Application
    id: int
    plan: Plan

    @property
    def page(self) -> str:
        """The address of its pages."""
        return f"{self.application.address}/c/{self.plan.name}"

    def link(self, name: str = "ann") -> str:
        """The invitation of whoever is called that."""
        return f"{self.application.address}/join/{self.application.ask('invite', self.id, name)}"

    def rows(self, table: Table) -> list[Any]:
        """A table's rows of this campaign."""
        wanted = select(table).where(table.c.campaign_id == self.id)
        return list(self.application.store.read(lambda connection: connection.execute(wanted).all()))

    def events(self, *kinds: str) -> list[Any]:
        """What happened, in order; of these kinds, where some are named."""
        return sorted((e for e in self.rows(schema.event) if not kinds or e.kind in kinds), key=lambda e: int(e.id))

    def set_status(self, status: str) -> None:
        """Let it run, pause or stop."""
        self.application.ask("set_status", self.plan.name, status)

    def exclude(self, name: str) -> None:
        self.application.ask("exclude", self.plan.name, name)

    def bring(self, name: str) -> None:
        """Somebody else, who takes a unit and leaves it at that. Consent has to be switched off."""
        self.application.ask("bring", self.plan.name, name)

    def take_from(self, name: str) -> None:
        """Let the lease of whoever is called that run out, and somebody else get the unit."""
        self.application.ask("lapse", self.id, name)
        self.bring("somebody else")


@dataclass
class Application:
    """The server over a SQLite file in a folder, as a process. The database is open here too, but only to be read."""

    folder: Path
    server: ServerProcess
    opened: Store | None = None
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def address(self) -> str:
        return self.server.url()

    @property
    def store(self) -> Store:
        if self.opened is None:
            self.opened = open_store(self.folder / "qrowd.db", read_only=True)
        return self.opened

    def start(self) -> None:
        """Start it again, and come back when it answers."""
        self.server.start()
        self.server.wait_ready()

    def kill(self) -> None:
        """SIGKILL: nothing is put in order, nobody is told."""
        self.server.kill()
        self.close()

    def close(self) -> None:
        if self.opened is not None:
            self.opened.close()
            self.opened = None

    def ask(self, what: str, *arguments: Any) -> Any:
        """Something done in the server's process."""
        return self.server.ask(what, *arguments)

    def campaign(self, plan: Plan) -> Running:
        """A campaign by this plan."""
        return Running(self, self.ask("campaign", table_from_plan(plan)), plan)

    def plan(
        self,
        settings: Settings | dict[str, Settings],
        *,
        n_documents: int = 8,
        n_topics: int = 1,
        question: bool = False,
        checks: bool = False,
        systems: bool = False,
        **journey: Any,
    ) -> Plan:
        """A small collection of our own: of each topic's documents the first is the best, the next the second best."""
        names = [f"t{i}" for i in range(n_topics)]
        documents = {name: tuple(f"{name}-{i:02}" for i in range(n_documents)) for name in names}
        return Plan(
            name=f"small-{next(self.numbers)}",
            title="A small campaign",
            settings=settings,
            seed=7,
            journey=JourneySettings(**{"consent": False, "practice": False} | journey),
            checks=checks,
            topics=tuple(
                TopicPlan(
                    name,
                    f"bread that stays flat ({name})",
                    documents[name],
                    "Why does a loaf stay flat?",
                    question=Question("What is it about?", ("Soup", "Bread", "Bees", "Rain"), 1) if question else None,
                    checks=(documents[name][0], documents[name][-1]) if checks else None,
                    systems=runs(documents[name]) if systems else {},
                )
                for name in names
            ),
            documents=tuple(
                DocumentPlan(label, TEXT.format(i), f"Text {i:02} of {name}", language="en")
                for name in names
                for i, label in enumerate(documents[name])
            ),
        )


TEXT = "A loaf of bread stays flat for {0} reasons.\n\n" + "Flour, water, salt, time and warmth all matter here. " * 6


def runs(documents: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Two systems of which the first is the better one, by far."""
    half = len(documents) // 2
    return {"good": documents[:half], "poor": documents[half:]}


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    """The application, running."""
    with ServerProcess(str(folder / "qrowd.db"), log=folder / "log", per_minute=6000, fresh=True) as server:
        made = Application(folder, server)
        try:
            yield made
        finally:
            made.close()


# ---- steps


def after(tab: Page, act: Callable[[], object]) -> None:
    """Do something, and wait for the page that follows it, until its script listens: a key pressed before is lost."""
    tab.evaluate("document.getElementById('main').dataset.old = ''")
    act()
    tab.wait_for_selector("#main:not([data-old])", state="attached")
    tab.wait_for_load_state()


def click(tab: Page, name: str) -> None:
    after(tab, tab.get_by_role("button", name=name).click)


def press(tab: Page, key: str) -> None:
    after(tab, lambda: tab.keyboard.press(key))


def enter(tab: Page, campaign: Running, name: str = "ann") -> None:
    """Through the invitation to the first page of a unit; where no consent is asked for."""
    tab.goto(campaign.link(name))
    click(tab, "Begin")
    if tab.locator("main").get_attribute("data-view") == "noneleft":
        click(tab, "Start")


def is_at(tab: Page, view: str) -> None:
    expect(tab.locator("main")).to_have_attribute("data-view", view)


def title_of(tab: Page) -> str:
    return tab.locator("#start").inner_text()


def no_faults(tab: Page) -> None:
    assert axe_faults(tab, by_tags(*WCAG)) == []


def fits(tab: Page) -> None:
    """Nothing hangs out sideways, and nothing that can be pressed is small."""
    width = tab.viewport_size["width"]  # type: ignore[index]
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    small = (
        "[...document.querySelectorAll('main button, .grade label, input[type=text]')]"
        ".map(e => [e.textContent.trim(), e.getBoundingClientRect()])"
        ".filter(([_, r]) => r.width && (r.height < 43.9 || r.width < 43.9)).map(([text]) => text)"
    )
    assert tab.evaluate(small) == []


def line_length(tab: Page) -> str:
    width = tab.locator(".line rect").get_attribute("width")
    assert width is not None
    return f"{float(width) / 10:.1f}"


def preferences(app: Application, **settings: object) -> Running:
    made = PreferenceSettings(**{"measure": "wpref", "rating": False} | settings)  # type: ignore[arg-type]
    return app.campaign(app.plan(made, n_documents=6, systems=True))


def pair(tab: Page) -> tuple[str, str]:
    return tab.locator("#left-title").inner_text(), tab.locator("#right-title").inner_text()


def better(tab: Page) -> str:
    """Titles rise as documents get worse."""
    left, right = pair(tab)
    return "left" if left < right else "right"


def grades(app: Application, k: int = 4, **settings: object) -> Running:
    made = GradesSettings(**{"k": k, "redundancy": 1} | GRADES | settings)  # type: ignore[arg-type]
    return app.campaign(app.plan(made, n_documents=k))


def magnitudes(app: Application, **journey: object) -> Running:
    made = MagnitudeSettings(k=3, redundancy=1, min_seconds=0, rating=False)
    return app.campaign(app.plan(made, n_documents=3, **journey))


def fill(tab: Page, number: str = "40", reason: str = "because") -> None:
    tab.locator("#text").fill(number)
    tab.locator("#reason").fill(reason)


def open_reason(tab: Page) -> None:
    """Unfold the box for a reason, where nobody has to give one."""
    if tab.locator("details.reason:not([open])").count():
        tab.locator(".reason summary").click()
    expect(tab.locator("#reason")).to_be_visible()


def judged(campaign: Running) -> list[str]:
    return [event.data["text"] for event in campaign.events("judged")]
