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

from qrowd_server.store.engine import open_store
from server.soak import checks, made
from server.soak.client import Assessor, Log, at_random
from servers import PostgresServer, postgres_server
from webserver import ServerProcess

MIX = (("grades", 0.5), ("magnitude", 0.25), ("preference", 0.25))


@dataclass(frozen=True)
class Outcome:
    """What was done, and what is wrong afterwards."""

    log: Log
    kills: int
    seconds: float
    wrong: list[str]


def prepare(url: str, clients: int, answers: int) -> list[made.Invited]:
    """Campaigns of every protocol, with more to do than will be done, and the assessors."""
    each = 2 * answers // clients + 40
    plans = [
        made.plan("grades", topics=each // 20 + 2, documents=20, redundancy=clients),
        made.plan("magnitude", topics=each // 8 + 2, documents=8, redundancy=clients),
        # As in life, few judge the same topic together: two or three at a time.
        made.plan("preference", topics=max(4, each // 6), documents=9, redundancy=3, sharing="shared"),
    ]
    names = {protocol: [f"{protocol}{i}" for i in range(max(1, round(clients * part)))] for protocol, part in MIX}
    with open_store(url) as store:
        store.write(lambda connection: made.create(connection, plans))
        return [
            one for protocol in names
            for one in store.write(lambda c, p=protocol: made.invite(c, p, names[p]))  # type: ignore[misc]
        ]  # fmt: skip


async def answer(
    addresses: list[tuple[str, int]],
    people: list[made.Invited],
    answers: int,
    kills: int,
    kill: Callable[[int], None],
) -> Log:
    """Everybody answers until so many answers were acknowledged; meanwhile, evenly spread, so many kills.

    addresses : of server, any of which will do.
    """
    log, rng = Log(), random.Random(1)
    clients = []
    for i, one in enumerate(people):
        choose = at_random(random.Random(i), bad=0.05, undo=0.05)
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
    return Outcome(log, done, time.perf_counter() - start, wrong_in(url, log) + log.failed)


def wrong_in(url: str, log: Log) -> list[str]:
    """What is wrong in a store after clients were told so much."""
    with open_store(url) as store:
        wrong = store.read(checks.violations) + store.read(checks.bad_offers)
        wrong += store.read(lambda connection: checks.unsaved(connection, log.acknowledged))
        wrong += checks.rebuilt_differently(store, [protocol for protocol, _ in MIX])
        if not checks.intact(store):
            wrong.append("the file is damaged")
    return wrong


OTHERS = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"


def end_backends(postgres: PostgresServer, url: str) -> None:
    """Every connection of the servers is ended, whatever it was doing."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"select pg_terminate_backend(pid) {OTHERS}")


def kill_backend(postgres: PostgresServer, url: str) -> None:
    """One of PostgreSQL's processes dies; it then throws everybody out and recovers from its log."""
    until = time.monotonic() + 30
    while time.monotonic() < until:  # it may still recover from the last time
        with suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as connection:
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
        f"refused {log.refused}; wrong: {len(found.wrong)}"
    )
    print("\n".join(found.wrong[:20]))
    return int(bool(found.wrong) or len(log.acknowledged) < answers or found.kills < kills)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
