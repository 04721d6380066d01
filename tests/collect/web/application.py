"""The real application as a process of its own: started, killed, and started again on the same port.

`python tests/collect/web/application.py DATABASE PORT` is that process. What an owner would do in it (make a campaign,
invite, pause, exclude) it is asked for by lines of JSON on its standard input. The database is open in the test's
process too, to be read only: to see what has become of the answers.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from sqlalchemy import Table, select

from qrowd.collect.campaigns.plan import DocumentPlan, Plan, TopicPlan
from qrowd.collect.campaigns.plan_tables import plan_from_table, table_from_plan
from qrowd.collect.protocols.events import GoOn
from qrowd.collect.protocols.protocol import Question
from qrowd.collect.protocols.settings import JourneySettings, Settings
from qrowd.collect.store import schema
from qrowd.collect.store.base import Store
from qrowd.collect.store.engine import open_store

T = TypeVar("T")
PATIENCE = 20.0  # seconds until something that should happen counts as not happening


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
    """The server process over a SQLite file in a folder."""

    folder: Path
    port: int = 0
    process: subprocess.Popen[str] | None = None
    opened: Store | None = None
    numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and come back when it answers."""
        command = [sys.executable, __file__, str(self.folder / "qrowd.db"), str(self.port)]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1
            )
        until(self.answers, "an answer of the server")
        self.opened = open_store(str(self.folder / "qrowd.db"), read_only=True)

    @property
    def store(self) -> Store:
        """The database, to be read."""
        if self.opened is None:
            raise RuntimeError("the server does not run")
        return self.opened

    def answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            if self.process is not None and self.process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text()) from None
            return False
        finally:
            connection.close()

    def kill(self) -> None:
        """SIGKILL: nothing is put in order, nobody is told."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
            self.process = None
        if self.opened is not None:
            self.opened.close()
            self.opened = None

    def ask(self, what: str, *told: Any) -> Any:
        """Something done in the server's process; see `DEEDS`."""
        process = self.process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the server does not run")
        process.stdin.write(json.dumps([what, *told]) + "\n")
        process.stdin.flush()
        if not (line := process.stdout.readline()):
            raise RuntimeError((self.folder / "log").read_text())
        return json.loads(line)

    def campaign(self, plan: Plan) -> Running:
        """A campaign by this plan."""
        return Running(self, self.ask("campaign", table_from_plan(plan)), plan)

    def plan(
        self,
        settings: Settings,
        protocol: str,
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
            protocol=protocol,
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
    made = Application(folder)
    try:
        made.start()
        yield made
    finally:
        made.kill()


# ---- in the server's process


def deeds(store: Store) -> dict[str, Callable[..., Any]]:
    """What can be asked for, by name."""
    from qrowd.collect.campaigns.admin import CampaignAdmin
    from qrowd.collect.campaigns.creation import create_campaign
    from qrowd.collect.campaigns.judging import JudgingService
    from qrowd.collect.store.accounts import invite

    def campaign(table: dict[str, Any]) -> int:
        plan = plan_from_table(table)
        return store.write(lambda connection: create_campaign(connection, plan, time.time()))

    def link(campaign_id: int, name: str) -> str:
        return store.write(lambda connection: invite(connection, campaign_id, name, time.time()))

    def lapse(campaign_id: int, name: str) -> None:
        who, unit = schema.assessor, schema.assignment
        ids = select(who.c.id).where(who.c.campaign_id == campaign_id, who.c.name == name)
        gone = unit.update().where(unit.c.assessor_id.in_(ids)).values(lease_until=time.time() - 60)
        store.write(lambda connection: connection.execute(gone).rowcount)

    async def come(campaign: str, name: str) -> None:
        service = JudgingService(store)
        await service.act(await service.arrive(campaign, "link", name), GoOn())

    return {
        "campaign": campaign,
        "invite": link,
        "lapse": lapse,
        "bring": lambda campaign, name: asyncio.run(come(campaign, name)),
        "set_status": lambda campaign, status: asyncio.run(CampaignAdmin(store).set_status(campaign, status)),
        "exclude": lambda campaign, name: asyncio.run(CampaignAdmin(store).exclude(campaign, name, "for a test")),
    }


def listen(store: Store) -> None:
    """Do what the lines say, one after another."""
    known = deeds(store)
    for line in sys.stdin:
        what, *told = json.loads(line)
        print(json.dumps(known[what](*told)), flush=True)


if __name__ == "__main__":
    from qrowd.collect.web.serving import Serving, serve

    where = Serving(sys.argv[1], port=int(sys.argv[2]), base_url=f"http://127.0.0.1:{sys.argv[2]}", per_minute=6000)
    opened = where.open()
    Thread(target=listen, args=(opened,), daemon=True).start()
    serve(where, opened)
