"""Servers of two hosts behind one address, over PostgreSQL; hosts, database and proxy are killed in turn.

python -m soak.hosts [KILLS] [CLIENTS] [ANSWERS]      answers behind the proxy, under kills
python -m soak.hosts rate [SECONDS]                   answers a second, without kills, beside SQLite

A host is two server processes that die together. The proxy is nginx with the directives of deploy/nginx.conf, by plain
HTTP on the loopback.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from deploy.proxies import nginx_configuration, nginx_process, until
from servers import PostgresServer, postgres_server
from soak import kills, made
from soak.client import Assessor, Log, at_random
from soak.kills import Outcome
from webserver import HOST, Servers, free_port

HOSTS = ((0, 1), (2, 3))  # processes of each
ROUNDS = 3  # of the rates, in turn


def without_tls(port: int, servers: list[tuple[str, int]]) -> list[tuple[str, str]]:
    """What deploy/nginx.conf has to have replaced for plain HTTP at the root of this machine, before these servers."""
    upstream = "\n".join(f"    server {host}:{port} max_fails=1 fail_timeout=1s;" for host, port in servers)
    return [
        ("    server 127.0.0.1:8000 max_fails=1 fail_timeout=5s;", upstream),
        ("    server 127.0.0.1:8001 max_fails=1 fail_timeout=5s;  # only with PostgreSQL", ""),
        ("listen 443 ssl;", f"listen {HOST}:{port};"),
        ("listen [::]:443 ssl;", ""),
        ("judge.example.org;", "_;"),
        ("    ssl_certificate /etc/ssl/certs/judge.example.org.pem;", ""),
        ("    ssl_certificate_key /etc/ssl/private/judge.example.org.key;", ""),
        ("    location / { return 404; }", ""),
        ("location ~ ^/judge(/|$)", "location /"),
    ]


@contextmanager
def behind(url: str, folder: Path, n: int) -> Iterator[tuple[Servers, tuple[str, int], int]]:
    """So many servers over a store behind a proxy; the proxy's address and the number of its process."""
    port = free_port()
    with Servers(url, n, log=folder / "log", base=f"http://{HOST}:{port}") as servers:
        changes = without_tls(port, servers.addresses)
        configuration = nginx_configuration(folder, changes, connections=4096, log_level="crit")
        with nginx_process(folder, configuration) as proxy:
            until((folder / "nginx.pid").exists, "nginx")
            yield servers, (HOST, port), proxy.pid


def kill_something(n: int, servers: Servers, postgres: PostgresServer, url: str, proxy: int) -> str:
    """The nth kill, and of what: each host, one process, connections and processes of the database, the proxy."""
    match n % 6:
        case 0 | 1:
            for which in HOSTS[n % 6]:
                servers.kill(which)
            for which in HOSTS[n % 6]:
                servers.start(which)
            return "hosts"
        case 2:
            which = n // 6 % len(servers.addresses)
            servers.kill(which)
            servers.start(which)
            return "server processes"
        case 3:
            kills.end_backends(postgres, url)
            return "all connections of the database"
        case 4:
            kills.kill_backend(postgres, url)
            return "processes of the database"
    children = Path(f"/proc/{proxy}/task/{proxy}/children").read_text().split()
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
    return "workers of the proxy"


def run(
    url: str, folder: Path, *, n_kills: int, clients: int, answers: int, postgres: PostgresServer
) -> tuple[Outcome, dict[str, int]]:
    """Do it, and look; how often each was killed."""
    people = kills.prepare(url, clients, answers)
    killed: dict[str, int] = {}

    def kill(n: int) -> None:
        what = kill_something(n, servers, postgres, url, proxy)
        killed[what] = killed.get(what, 0) + 1

    with behind(url, folder, sum(map(len, HOSTS))) as (servers, address, proxy):
        start = time.perf_counter()
        log = asyncio.run(kills.answer([address], people, answers, n_kills, kill))
        seconds = time.perf_counter() - start
    return Outcome(log, sum(killed.values()), seconds, kills.wrong_in(url, log) + log.failed), killed


# ---- how many answers a second


def rate(url: str, folder: Path, n: int, clients: int, seconds: float) -> tuple[float, Log]:
    """Answers a second of so many servers behind the proxy, and what clients were told."""
    people = kills.prepare(url, clients, int(1000 * seconds))
    with behind(url, folder, n) as (_, address, _proxy):
        log, took = asyncio.run(_for_some_time(address, people, seconds))
    return len(log.acknowledged) / took, log


async def _for_some_time(address: tuple[str, int], people: list[made.Invited], seconds: float) -> tuple[Log, float]:
    log, clients = Log(), []
    for i, one in enumerate(people):
        clients.append(Assessor(one.campaign, [address], at_random(random.Random(i)), log))
        clients[-1].cookie = one.cookie
    await asyncio.gather(*(client.step() for client in clients))
    log.acknowledged.clear()
    start = time.perf_counter()

    async def judge(client: Assessor) -> None:
        while time.perf_counter() < start + seconds and await client.step():
            pass

    await asyncio.gather(*map(judge, clients))
    took = time.perf_counter() - start
    for client in clients:
        client.close()
    return log, took


@dataclass(frozen=True)
class Rates:
    """Answers a second: of one process on each host over PostgreSQL, of two on each, and of one over SQLite."""

    two: float
    four: float
    sqlite: float


def rates(seconds: float, clients: int = 60) -> tuple[list[Rates], list[str]]:
    """The rates of each round, and what was wrong afterwards."""
    rounds, wrong = [], []
    for _ in range(ROUNDS):
        each = []
        for n_servers in (2, 4, 0):
            with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
                url = f"sqlite:///{folder}/judgments.db"
                if n_servers:
                    url = stack.enter_context(postgres_server(fsync=True)).database()
                per_second, log = rate(url, Path(folder), n_servers or 1, clients, seconds)
                wrong += kills.wrong_in(url, log) + log.failed
                each.append(per_second)
        rounds.append(Rates(*each))
        print(f"PostgreSQL {each[0]:.0f} and {each[1]:.0f} answers a second, SQLite {each[2]:.0f}", flush=True)
    return rounds, wrong


def share(rounds: list[Rates], servers: str) -> float:
    """The median of the rounds: so many servers, "two" or "four", beside SQLite."""
    return statistics.median(getattr(one, servers) / one.sqlite for one in rounds)


# ---- from the command line


def soaked(n_kills: int, clients: int, answers: int) -> tuple[Outcome, dict[str, int]]:
    """`run` over a database of its own."""
    with tempfile.TemporaryDirectory() as folder, postgres_server(fsync=True) as postgres:
        return run(
            postgres.database(), Path(folder), n_kills=n_kills, clients=clients, answers=answers, postgres=postgres
        )


def main(n_kills: int = 102, clients: int = 60, answers: int = 100_000) -> int:
    outcome, killed = soaked(n_kills, clients, answers)
    log = outcome.log
    print(
        f"{outcome.kills} kills ({', '.join(f'{n} {what}' for what, n in killed.items())}), {clients} clients, "
        f"{len(log.acknowledged)} answers acknowledged in {outcome.seconds:.0f} s; {log.broken} requests broke, "
        f"{log.waited} asked to wait, refused {log.refused}; wrong: {len(outcome.wrong)}"
    )
    print("\n".join(outcome.wrong[:20]))
    return int(bool(outcome.wrong) or len(log.acknowledged) < answers or outcome.kills < n_kills)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rate"]:
        of_rounds, problems = rates(*map(float, sys.argv[2:] or ["20"]))
        print(f"two servers {share(of_rounds, 'two'):.2f}, four {share(of_rounds, 'four'):.2f} of SQLite's")
        print(f"wrong: {len(problems)}", *problems[:10], sep="\n")
        sys.exit(bool(problems))
    sys.exit(main(*map(int, sys.argv[1:])))
