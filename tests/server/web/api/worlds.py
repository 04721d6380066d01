"""A server over a real store and service, with one small campaign per protocol and keys of three kinds."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from judging import NOW, seeded
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.store.engine import open_store
from qrowd_server.store.sessions import find_api_key, make_api_key, revoke_api_key
from server.web.api.client import Client, Json
from webserver import BASE, Place, serving

T = TypeVar("T")
DOCUMENTS = [{"label": f"d{i}", "title": f"Title {i}", "text": f"What document {i} says."} for i in range(6)]
QUESTION = {"text": "What is asked?", "options": ["this", "that", "these", "those"], "correct": 1}


def plan(name: str, protocol: str, n: int = 6, topics: int = 2, **settings: Any) -> Json:
    """A small plan of `topics` topics with `n` documents each."""
    documents = DOCUMENTS if n <= 6 else [{"label": f"d{i}", "text": f"Document {i}."} for i in range(n)]
    pool = [one["label"] for one in documents[:n]]
    checks = {"checks": [pool[0], pool[-1]]} if protocol == "magnitude" else {}
    return {
        "campaign": {"name": name, "title": f"Judging by {protocol}", "protocol": protocol, "seed": 3},
        protocol: settings,
        "topics": [
            {"label": f"t{i}", "title": f"Topic {i}", "pool": pool, "context": ["a stored snippet"], **checks,
             "question": QUESTION}
            for i in range(topics)
        ],
        "documents": documents,
    }  # fmt: skip


SMALL = {
    "sizes": plan("sizes", "magnitude", k=6, redundancy=2),
    "stars": plan("stars", "grades", k=3, redundancy=2),
    "pairs": plan("pairs", "preference", redundancy=3, duplicates=True),
}


class Clock:
    """Half a minute passes whenever somebody looks."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        self.now += 30.0
        return self.now


@dataclass
class World(Place):
    """keys : "all", one per campaign, "revoked"."""

    keys: dict[str, str] = field(default_factory=dict)
    runner: asyncio.Runner = field(repr=False, default_factory=asyncio.Runner)

    def client(self, key: str = "all") -> Client:
        return Client(self.keys.get(key, key), BASE, self.app)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)


@cache
def template() -> tuple[bytes, dict[str, str]]:
    """The store as bytes; making it takes longer than a test."""
    with TemporaryDirectory() as folder:
        with open_store(Path(folder) / "judgments.db") as store:
            keys = store.write(fill)
        return (Path(folder) / "judgments.db").read_bytes(), keys


def fill(connection: Any) -> dict[str, str]:
    keys = {}
    for name, table in SMALL.items():
        number = create_campaign(connection, plan_from_table(table), NOW)
        keys[name] = make_api_key(connection, name, NOW, campaign_id=number)
    keys |= {name: make_api_key(connection, name, NOW) for name in ("all", "revoked")}
    revoked = find_api_key(connection, keys["revoked"])
    assert revoked is not None
    assert revoke_api_key(connection, revoked.id)
    return keys


@contextmanager
def world(folder: Path) -> Iterator[World]:
    content, keys = template()
    with serving(folder, content, Clock(), partial(seeded, seed=5)) as place, asyncio.Runner() as runner:
        yield World(**vars(place), keys=keys, runner=runner)


def sensible(page: Json, rng: Random) -> tuple[str, Json] | None:
    """What a diligent assessor does on a page; None at the end."""
    view = page["view"]
    match view["kind"]:
        case "ConsentView":
            return "consent", {"agreed": True}
        case "LineView":
            return "line", {"line": view["line"], "text": str(round(view["length"] * 100, 3))}
        case "LinesView" | "RevisionView":
            return "go_on", {}
        case "QuestionView":
            return "reply", {"option": view["options"].index("that")}
        case "DocumentView":
            title = page["documents"][str(view["document"])]["title"]
            number = int(title.split()[-1]) if title else view["position"]  # the first is the best, the last the worst
            text = str(number % len(view["grades"])) if view["grades"] else str(100 - 10 * number + rng.random())
            return "judge", {"position": view["position"], "text": text, "reason": f"It is number {number}."}
        case "PairView":
            if view["may_mark_bad"] and rng.random() < 0.1:
                return "bad", {"pair": view["pair"], "side": rng.choice(["left", "right"])}
            choice = "duplicates" if rng.random() < 0.05 else rng.choice(["left", "right"])
            return "prefer", {"pair": view["pair"], "choice": choice}
        case "RatingView":
            return "rate", {"confidence": 4, "understanding": 5, "comment": "Clear."}
        case "EndView" if view["another"]:
            return "go_on", {}
    return None
