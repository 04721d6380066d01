"""Campaigns for many assessors at once, and those assessors."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.running.campaign_reader import CampaignReader
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.transaction import Transaction
from qrowd_server.protocols.events import Event
from qrowd_server.protocols.settings import JourneySettings, settings_of
from qrowd_server.store.sessions import open_session

WORDS = (
    "water", "river", "bridge", "stone", "valley", "winter", "summer",
    "light", "garden", "market", "music",
    "paper", "window", "letter", "forest",
)  # fmt: skip
QUICK: dict[str, dict[str, Any]] = {  # nothing asked beside the judgments themselves
    "grades": {"reason": "optional", "rating": False},
    "magnitude": {"min_seconds": 0, "revisions": -1, "rating": False},
    "preference": {"rating": False},
}


@dataclass(frozen=True)
class Invited:
    """An assessor with a session already. cookie : as the browser sends it."""

    id: int
    campaign: str
    cookie: str


def plan(
    protocol: str, *, topics: int, documents: int, name: str = "", letters: int = 400, systems: int = 0,
    lease_minutes: float = 60.0, seed: int = 1, **settings: Any,
) -> Plan:  # fmt: skip
    """A campaign whose texts mean nothing. letters : of a document. systems : that rank each topic's documents."""
    rng = random.Random(seed)

    def text() -> str:
        listed = rng.choices(WORDS, k=letters // 6)
        return "\n\n".join(" ".join(listed[i : i + 60]).capitalize() + "." for i in range(0, len(listed), 60))

    made = [DocumentPlan(f"t{t}-d{d}", text(), f"t{t}-d{d}") for t in range(topics) for d in range(documents)]
    chosen = settings_of(protocol, {**QUICK[protocol], **settings})
    return Plan(
        name=name or protocol,
        title=f"About {protocol}",
        settings=chosen,
        topics=tuple(
            TopicPlan(
                f"t{t}",
                f"{WORDS[t % len(WORDS)]} and {WORDS[(t + 4) % len(WORDS)]}",
                tuple(document.label for document in made[t * documents : (t + 1) * documents]),
                systems={f"s{s}": _ranking(made, t, documents, rng) for s in range(systems)},
            )
            for t in range(topics)
        ),
        documents=tuple(made),
        seed=seed,
        journey=JourneySettings(practice=False),
        lease_minutes=lease_minutes,
        checks=False,
    )


def _ranking(made: list[DocumentPlan], topic: int, n: int, rng: random.Random) -> tuple[str, ...]:
    labels = [document.label for document in made[topic * n : (topic + 1) * n]]
    return tuple(sorted(labels, key=lambda label: int(label.rpartition("d")[2]) + rng.gauss(0, n / 4)))


def create(connection: Connection, plans: list[Plan]) -> None:
    for one in plans:
        create_campaign(connection, one, time.time())


def invite(connection: Connection, campaign: str, names: list[str]) -> list[Invited]:
    """Assessors as if each had pressed the button behind an invitation."""
    from qrowd_server.store.materials import find_campaign

    row = find_campaign(connection, campaign)
    assert row is not None
    rng, at, people = random.SystemRandom(), time.time(), []
    reader = CampaignReader(connection, row.id, row.stamp)
    for name in names:
        number = rng.getrandbits(62)
        data = {"name": name, "provider": "link", "external_id": name}
        transaction = Transaction(reader, at, lambda: rng.getrandbits(62))
        transaction.add_assessor(number, Event("arrived", {**data, "seed": rng.getrandbits(62), "about": {}}))
        transaction.finish()
        token, _ = open_session(connection, "assessor", number, at)
        people.append(Invited(number, campaign, f"qrowd={token}"))
    return people
