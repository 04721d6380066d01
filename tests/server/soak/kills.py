"""Clients answer while servers are killed and started again; afterwards the store is asked what it has.

python -m soak.kills sqlite|postgresql [KILLS] [CLIENTS] [ANSWERS]
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from sqlalchemy import Connection, text

from qrowd_server.store.engine import open_store
from server.soak import checks, made
from server.soak.client import Assessor, Choose, Form, Log, Screen, at_random
from server.story import Material
from servers import PostgresServer, postgres_server
from webserver import ServerProcess

STORY = "story"  # the campaign of the lead's story: made by the form, with an entry test that excludes
CARELESS = (f"{STORY}0", f"{STORY}1")
MIX = (("grades", 0.3), ("magnitude", 0.2), ("preference", 0.2), (STORY, 0.3))


@dataclass(frozen=True)
class Outcome:
    """What was done, who was excluded, and what is wrong afterwards."""

    log: Log
    kills: int
    seconds: float
    excluded: set[str]
    wrong: list[str]


def prepare(url: str, clients: int, answers: int) -> list[tuple[made.Invited, Choose]]:
    """Campaigns of every protocol and the story's, with more to do than will be done; the assessors, how they judge."""
    each = 2 * answers // clients + 40
    material = Material(each // 20 + 2, 20)
    plans = [
        made.plan("grades", topics=each // 20 + 2, documents=20, redundancy=clients),
        made.plan("magnitude", topics=each // 8 + 2, documents=8, redundancy=clients),
        # As in life, few judge the same topic together: two or three at a time.
        made.plan("preference", topics=max(4, each // 6), documents=9, redundancy=3, sharing="shared"),
        material.plan(STORY, clients, 20),
    ]
    names = {protocol: [f"{protocol}{i}" for i in range(max(1, round(clients * part)))] for protocol, part in MIX}
    names[STORY] = list(dict.fromkeys([*CARELESS, *names[STORY]]))
    choose = {name: at_random(random.Random(name), bad=0.05, undo=0.05) for group in names.values() for name in group}
    choose |= {name: knowing(material) for name in names[STORY] if name not in CARELESS}
    choose[CARELESS[0]] = always
    with open_store(url) as store:
        store.write(lambda connection: made.create(connection, plans))
        return [
            (one, choose[name])
            for protocol in names
            for name, one in zip(
                names[protocol],
                store.write(lambda c, p=protocol: made.invite(c, p, names[p])),  # type: ignore[misc]
                strict=True,
            )
        ]


def knowing(material: Material) -> Choose:
    """Somebody who is always right."""

    def choose(screen: Screen) -> Form:
        return {"do": "judge", "text": str(material.by_title[screen.titles[0]]), "reason": "as it is", "active": "1.5"}

    return choose


def always(screen: Screen) -> Form:
    """Somebody who always presses the same key."""
    return {"do": "judge", "text": "2", "reason": "", "active": "1.5"}


async def answer(
    addresses: list[tuple[str, int]],
    people: list[tuple[made.Invited, Choose]],
    answers: int,
    kills: int,
    kill: Callable[[int], None],
) -> Log:
    """Everybody answers until so many answers were acknowledged; meanwhile, evenly spread, so many kills.

    addresses : of server, any of which will do.
    """
    log, rng = Log(), random.Random(1)
    clients = []
    for i, (one, choose) in enumerate(people):
        clients.append(Assessor(one.campaign, addresses, choose, log, first=i))
        clients[-1].cookie = one.cookie
    done = 0
    progress = asyncio.Condition()

    async def judge(client: Assessor) -> None:
        nonlocal done
        while len(log.acknowledged) < answers and await client.step():
            async with progress:
                done = len(log.acknowledged)
                progress.notify_all()

    async def disturb() -> None:
        for n in range(kills):
            due = answers * (n + rng.random()) / kills
            async with progress:
                await progress.wait_for(lambda due=due: done >= due)  # type: ignore[misc]
            await asyncio.to_thread(kill, n)

    judging = asyncio.gather(*map(judge, clients))
    disturbing = asyncio.create_task(disturb())
    try:
        await judging
    finally:
        disturbing.cancel()
        with suppress(asyncio.CancelledError):
            await disturbing
        for client in clients:
            client.close()
    return log


def kill_something(n: int, server: ServerProcess, postgres: PostgresServer | None, url: str) -> None:
    """The nth kill: the server; with PostgreSQL in turn the server, and connections and processes of the database."""
    if postgres is None or n % 3 == 0:
        server.kill()
        server.start()
    elif n % 3 == 1:
        end_backends(postgres, url)
    else:
        kill_backend(postgres, url)


def run(url: str, folder: Path, *, kills: int, clients: int, answers: int, postgres: PostgresServer | None) -> Outcome:
    """Do it, and look."""
    people = prepare(url, clients, answers)
    done = 0

    def kill(n: int) -> None:
        nonlocal done
        kill_something(n, server, postgres, url)
        done += 1

    start = time.perf_counter()
    with ServerProcess(url, log=folder / "log") as server:
        log = asyncio.run(answer([server.address], people, answers, kills, kill))
    seconds = time.perf_counter() - start
    with open_store(url) as store:
        out = store.read(excluded)
    wrong = [f"{name} is excluded" for name in out if name not in CARELESS]
    return Outcome(log, done, seconds, out, wrong + wrong_in(url, log) + log.failed)


def wrong_in(url: str, log: Log) -> list[str]:
    """What is wrong in a store after clients were told so much."""
    with open_store(url) as store:
        wrong = store.read(checks.violations) + store.read(checks.bad_offers)
        wrong += store.read(lambda connection: checks.unsaved(connection, log.acknowledged))
        wrong += checks.rebuilt_differently(store, [protocol for protocol, _ in MIX])
        if not checks.intact(store):
            wrong.append("the file is damaged")
    return wrong


def excluded(connection: Connection) -> set[str]:
    """The names of everybody who is."""
    return set(connection.execute(text("select name from assessor where excluded is not null")).scalars())


OTHERS = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"


def end_backends(postgres: PostgresServer, url: str) -> None:
    """Every connection of the servers is ended, whatever it was doing."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"select pg_terminate_backend(pid) {OTHERS}")


def kill_backend(postgres: PostgresServer, url: str) -> None:
    """One of PostgreSQL's processes dies; it then throws everybody out and recovers from its log."""
    until = time.monotonic() + 30
    while time.monotonic() < until:  # it may still recover from the last time
        gone = psycopg.OperationalError, ProcessLookupError  # also the process that was found
        with suppress(*gone), psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(f"select pid {OTHERS} order by random() limit 1").fetchone()
            if found is not None:
                os.kill(found[0], signal.SIGKILL)
                return
        time.sleep(0.02)
    raise TimeoutError("no backend to kill")


def main(which: str, kills: int = 100, clients: int = 60, answers: int = 60_000) -> int:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        postgres = stack.enter_context(postgres_server(fsync=True)) if which == "postgresql" else None
        url = f"sqlite:///{folder}/judgments.db" if postgres is None else postgres.database()
        found = run(url, Path(folder), kills=kills, clients=clients, answers=answers, postgres=postgres)
    log = found.log
    print(
        f"{which}: {found.kills} kills, {clients} clients, {len(log.acknowledged)} answers acknowledged in "
        f"{found.seconds:.0f} s; {log.broken} connections broke, {log.waited} answers asked to wait, "
        f"refused {log.refused}; excluded: {sorted(found.excluded)}; wrong: {len(found.wrong)}"
    )
    print("\n".join(found.wrong[:20]))
    too_few = len(log.acknowledged) < answers or found.kills < kills or found.excluded != set(CARELESS)
    return int(bool(found.wrong) or too_few)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
