"""People answer a question over HTTP while servers are killed; afterwards design, log and statement must agree.

python -m soak.questions sqlite|postgresql [KILLS] [CLIENTS] [ANSWERS]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, text

import qrowd
from qrowd.collect.campaigns.collected import judgments
from qrowd.collect.campaigns.drawn import read_drawn
from qrowd.collect.campaigns.looking import design_of, look_at
from qrowd.collect.store import draws
from qrowd.collect.store.base import Store
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.materials import find_campaign
from servers import PostgresServer, postgres_server
from soak import checks, made
from soak.kills import Outcome, answer, kill_something
from webserver import Servers

NAME = "live"


def prepare(url: str, clients: int, answers: int) -> tuple[made.Asked, list[made.Invited]]:
    """A question with more documents than answers, and the people."""
    plain = made.plan("grades", topics=max(10, answers // 20), documents=30, redundancy=1, k=10, seed=3)
    asked = made.with_question(plain, name=NAME, stop=False)
    with open_store(url) as store:
        store.write(lambda connection: made.create(connection, [asked.plan]))
        people = store.write(lambda connection: made.invite(connection, NAME, [f"p{i}" for i in range(clients)]))
    return asked, people


def disagreements(store: Store, asked: made.Asked) -> list[str]:
    """Where design, log, tables and statement do not agree."""
    wrong = []
    number = store.read(_number)
    drawn = store.read(lambda connection: read_drawn(connection, number))
    design = store.read(lambda connection: design_of(connection, number))  # refuses a document that was drawn twice
    if (design.draws.probabilities() <= 0).any():
        wrong.append("a document was drawn with probability 0")
    entries = store.read(lambda connection: draws.events_of_kind(connection, number, draws.DRAWN))
    places = [one.data["place"] for one in entries if one.data["document"] is not None]
    if places != list(range(1, len(drawn) + 1)):
        wrong.append(f"places of the draws: {places[:5]} ...")
    pairs = {(design.topics[i], design.documents[i]) for i in drawn.document}
    handed_out = store.read(_handed_out)
    if handed_out - pairs:
        wrong.append(f"handed out and not drawn: {sorted(handed_out - pairs)[:3]}")
    if len(pairs) > len(handed_out):
        wrong.append(f"drawn and handed out to nobody: {sorted(pairs - handed_out)[:3]}")
    live = store.read(lambda connection: look_at(connection, number))
    people = store.read(lambda connection: judgments(connection, NAME))
    result = qrowd.next_judgments(asked.runs, people, models=asked.models, design=design, **asked.options)
    for name in ("estimate", "low", "high", "n_judged"):
        own, stateless = (getattr(one.statement, name) for one in (live, result))
        if not np.allclose(own, stateless, rtol=1e-9, atol=1e-12):
            wrong.append(f"{name}: {own}, and by next_judgments {stateless}")
    if result.n_others:
        wrong.append(f"{result.n_others} documents were judged that were not drawn")
    return wrong


def _number(connection: Connection) -> int:
    row = find_campaign(connection, NAME)
    assert row is not None
    return int(row.id)


def _handed_out(connection: Connection) -> set[tuple[str, str]]:
    query = (
        "select t.label, d.label from assignment a join topic t on t.id = a.topic_id "
        "join document d on d.id = a.drawn_id"
    )
    return {(topic, document) for topic, document in connection.execute(text(query))}


def run(url: str, folder: Path, *, kills: int, clients: int, answers: int, postgres: PostgresServer | None) -> Outcome:
    """Do it, and look."""
    asked, people = prepare(url, clients, answers)
    done = 0

    def kill(n: int) -> None:
        nonlocal done
        kill_something(n, servers, postgres, url)
        done += 1

    start = time.perf_counter()
    with Servers(url, 1 if postgres is None else 2, log=folder / "log") as servers:
        log = asyncio.run(answer(servers.addresses, people, answers, kills, kill))
    seconds = time.perf_counter() - start
    with open_store(url) as store:
        wrong = store.read(checks.violations) + store.read(lambda c: checks.unsaved(c, log.acknowledged))
        wrong += disagreements(store, asked)
        wrong += checks.rebuilt_differently(store, [NAME])
        if not checks.intact(store):
            wrong.append("the file is damaged")
    return Outcome(log, done, seconds, wrong + log.failed)


def main(which: str, kills: int = 60, clients: int = 40, answers: int = 10_000) -> int:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        postgres = stack.enter_context(postgres_server(fsync=True)) if which == "postgresql" else None
        url = f"sqlite:///{folder}/judgments.db" if postgres is None else postgres.database()
        outcome = run(url, Path(folder), kills=kills, clients=clients, answers=answers, postgres=postgres)
    log = outcome.log
    print(
        f"question, {which}: {outcome.kills} kills, {clients} clients, {len(log.acknowledged)} answers acknowledged in "
        f"{outcome.seconds:.0f} s; {log.broken} connections broke, {log.waited} answers asked to wait, "
        f"refused {log.refused}; wrong: {len(outcome.wrong)}"
    )
    print("\n".join(outcome.wrong[:20]))
    return int(bool(outcome.wrong) or len(log.acknowledged) < answers or outcome.kills < kills)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
