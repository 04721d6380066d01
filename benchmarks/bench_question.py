"""From an answer to the next document in a campaign with a question of 10,000 documents, beside one without a question.

python bench_question.py [SECONDS] [DOCUMENTS]       30 seconds and 10,000 documents by default

Twenty people answer over HTTP, each after 1 second on average, while the server looks at the question again after the
answers. The peer is the same campaign without a question, on the same machine in the same run: its units are made
beforehand, so that nothing is drawn and nobody looks. Both are asked in turn, and the clients share the processor with
the server. No other tool judges in this way.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import uvloop
from bench_server import LETTERS, everybody, quantile, slowness, sound
from calibration import loop_seconds
from side_by_side import finish, promise
from sqlalchemy import Connection

from qrowd.collect.campaigns.looking import Looker
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.store import draws
from qrowd.collect.store.base import Store
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.materials import find_campaign
from soak import made
from webserver import Servers

PEOPLE = 20
THINK = 1.0  # seconds on average
IN_A_TOPIC = 100


def plans(n_documents: int) -> tuple[Plan, Plan]:
    """The same documents with a question and without."""
    plain = made.plan(
        "grades",
        name="plain",
        topics=n_documents // IN_A_TOPIC,
        documents=IN_A_TOPIC,
        letters=LETTERS,
        redundancy=1,
        k=IN_A_TOPIC,
    )
    return made.with_question(plain).plan, plain


def looks(store: Store) -> list[tuple[float, int]]:
    """(time, judged documents) of each look."""

    def read(connection: Connection) -> list[tuple[float, int]]:
        row = find_campaign(connection, "live")
        assert row is not None
        entries = draws.events_of_kind(connection, row.id, "looked")
        return [(one.time, int(one.data["n_judged"])) for one in entries]

    return store.read(read)


def behind(store: Store) -> list[float]:
    """Seconds from each answer to the first look that has it."""
    from sqlalchemy import text

    query = (
        "select time from event where kind = 'judged' and campaign_id = (select id from campaign where name = 'live')"
    )
    answers = sorted(row[0] for row in store.read(lambda connection: connection.execute(text(query)).all()))
    seen = looks(store)
    late = []
    for i, at in enumerate(answers, 1):
        after = [time_ for time_, n in seen if n >= i]
        if after:
            late.append(max(min(after) - at, 0.0))
    return late


def live(seconds: float, n_documents: int) -> None:
    slow = slowness(loop_seconds())
    took: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/judgments.db"
        started = time.perf_counter()
        both = plans(n_documents)
        with open_store(url) as store:
            store.write(lambda connection: made.create(connection, list(both)))
            people = {
                plan.name: store.write(
                    lambda c, p=plan: made.invite(c, p.name, [f"{p.name}{i}" for i in range(PEOPLE)])  # type: ignore[misc]
                )
                for plan in both
            }
        n_drawable = len(both[0].question.preparation().pairs) if both[0].question else 0
        print(f"{n_drawable:,} documents can change the answer; prepared in {time.perf_counter() - started:.1f} s")
        with Servers(url, 1, log=Path(folder) / "log") as servers:
            for name in ("plain", "live", "plain", "live"):
                log, _, cpu = uvloop.run(everybody(servers, people[name], seconds / 2, THINK))
                took.setdefault(name, []).extend(log.took)
                wrong = log.broken + log.waited + sum(log.refused.values()) + len(log.failed)
                print(f"{name}: {len(log.took)} answers, processor {cpu / (seconds / 2):.2f}, errors {wrong}")
                promise(f"{name}: errors", wrong, at_most=0, beside=f"{len(log.took)} answers", limit="none expected")
        with open_store(url) as store:
            late, seen = behind(store), looks(store)
            row, looker = store.read(lambda connection: find_campaign(connection, "live")), Looker()
            assert row is not None
            once = []
            for _ in range(3):
                started = time.perf_counter()
                final = store.read(lambda connection: looker.outcome(connection, row.id))
                once.append(time.perf_counter() - started)
        print(f"{len(seen)} looks; one takes {min(once):.2f} s; {final.sentence}")
        sound(url, log)
    figures = {name: [quantile(times, q) for q in (0.5, 0.99, 1.0)] for name, times in took.items()}
    beside = (
        f"without a question: p50 {figures['plain'][0]:.1f}, p99 {figures['plain'][1]:.1f}, most "
        f"{figures['plain'][2]:.1f} ms; with one: p50 {figures['live'][0]:.1f}, most {figures['live'][2]:.1f} ms"
    )
    limit = "instructions of Python: clients, server and looks share the cores"
    promise(
        f"from an answer to the next of {n_drawable:,} documents: p99, ms",
        figures["live"][1],
        at_most=round(100 * slow),
        beside=beside,
        limit=limit,
    )
    promise(
        "from an answer to the look that has it: p90, s",
        sorted(late)[int(0.9 * len(late))],
        at_most=1.0 * slow,
        beside=f"median {sorted(late)[len(late) // 2]:.2f} s, most {max(late):.2f} s; a look takes {min(once):.2f} s",
        limit="one look at a time: predictions, normalisers and the estimate of all batches",
    )


if __name__ == "__main__":
    live(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0, int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
    finish()
