"""Whoever writes is killed, again and again: what was acknowledged is there, once."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, event, func, select, update
from sqlalchemy.exc import OperationalError

from qrowd_server.store import schema
from qrowd_server.store.base import Store, StoreBusyError, StoreUnknownError
from qrowd_server.store.engine import open_store
from server.soak import store as soak
from servers import PostgresServer

THREADS = 8

ROUNDS = 2  # `make soak` kills a hundred times, through the whole application


def acknowledged(url: str, prefix: str, n: int, disturb: Callable[[int], None] | None = None) -> set[str]:
    """The keys a writing process prints until at least n were read; then it is killed.

    disturb : called after each key, with how many there were.
    """
    command = [sys.executable, soak.__file__, url, str(THREADS), prefix]
    keys: set[str] = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            keys.add(line.strip())
            if disturb is not None:
                disturb(len(keys))
            if len(keys) == n:
                process.kill()
            if len(keys) >= n and not line.endswith("\n"):
                break
    return keys


def is_whole(store: Store, keys: set[str]) -> None:
    """Every acknowledged key is there once, and what the events add up to agrees with them."""
    found = store.read(lambda c: list(c.scalars(select(schema.event.c.idem_key))))
    assert len(found) == len(set(found))
    assert keys <= set(found)
    versions = store.read(lambda c: c.scalar(select(func.sum(schema.assignment.c.version))))
    assert versions == len(found)
    if store.dialect == "sqlite":
        assert store.read(lambda c: c.exec_driver_sql("pragma integrity_check").scalar()) == "ok"


@pytest.mark.nightly
@pytest.mark.parametrize("address", ["sqlite", "postgresql"], indirect=True)
def test_killed_writers_lose_nothing_and_double_nothing(address: str) -> None:
    with open_store(address) as store:
        store.write(lambda connection: soak.prepare(connection, THREADS))
    keys: set[str] = set()
    for round_ in range(ROUNDS):
        keys |= acknowledged(address, f"r{round_}", 20 + 17 * round_)
    assert len(keys) >= sum(20 + 17 * round_ for round_ in range(ROUNDS))
    with open_store(address) as store:
        is_whole(store, keys)


@pytest.mark.nightly
def test_killed_backends_are_not_noticed_by_who_writes(postgres: PostgresServer) -> None:
    url = postgres.database()
    with open_store(url) as store:
        store.write(lambda connection: soak.prepare(connection, THREADS))
    others = "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> "

    with psycopg.connect(url, autocommit=True) as connection:

        def kill(n: int) -> None:
            if n % 25 == 0:
                connection.execute(others + "pg_backend_pid()")

        keys = acknowledged(url, "k", 100, kill)
    with open_store(url) as store:
        is_whole(store, keys)


@pytest.mark.nightly
def test_a_server_that_is_killed_and_started_again_has_all_that_was_acknowledged(postgres: PostgresServer) -> None:
    url = postgres.database()
    with open_store(url) as store:
        store.write(lambda connection: soak.prepare(connection, THREADS))

    def restart(n: int) -> None:
        if n == 30:
            postgres.stop("immediate")
            postgres.start()

    keys = acknowledged(url, "k", 80, restart)
    with open_store(url) as store:
        is_whole(store, keys)


# ---- one by one, what PostgreSQL may do to a work


@pytest.fixture
def store(postgres: PostgresServer, opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr("qrowd_server.store.base.PAUSE", 0.001)
    store = opened(postgres.database())
    store.write(lambda connection: soak.prepare(connection, 1))
    return store


def end(connection: object) -> None:
    """Kill this connection's own backend; the next statement finds it gone."""
    pid = connection.exec_driver_sql("select pg_backend_pid()").scalar()  # type: ignore[attr-defined]
    url = connection.engine.url.set(drivername="postgresql").render_as_string(False)  # type: ignore[attr-defined]
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", (pid,))


def test_a_connection_lost_before_the_commit_is_replaced_and_the_work_run_again(store: Store) -> None:
    tries = []

    def work(connection: object) -> int:
        tries.append(1)
        event_id = soak.answer(1, "key", 0)(connection)  # type: ignore[arg-type]
        if len(tries) == 1:
            end(connection)
            connection.exec_driver_sql("select 1")  # type: ignore[attr-defined]
        return event_id

    store.write(work)
    assert len(tries) == 2
    is_whole(store, {"key"})


def test_a_connection_lost_in_the_commit_is_reported_as_unknown_and_sending_again_is_safe(store: Store) -> None:
    assert store._writer is not None
    event.listen(store._writer._engine, "commit", end, once=True)
    with pytest.raises(StoreUnknownError, match="look the key up"):
        store.write(soak.answer(1, "key", 0))
    store.write(soak.answer(1, "key", 0))
    is_whole(store, {"key"})


class Conflict(Exception):
    """As psycopg says it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.sqlstate = code


@pytest.mark.parametrize("code", ["40001", "40P01", "55P03"])
def test_a_conflict_with_another_program_is_called_busy(store: Store, code: str) -> None:
    def work(_: object) -> None:
        raise OperationalError("update", {}, Conflict(code))

    with pytest.raises(StoreBusyError, match="try again later"):
        store.write(work)
    store.write(soak.answer(1, "key", 0))
    is_whole(store, {"key"})


def test_two_programs_that_write_to_one_database_wait_for_each_other(store: Store) -> None:
    row = schema.judgment.c.position == 0
    with open_store(store.url) as other:

        def work(connection: Connection) -> None:
            n = connection.execute(select(schema.judgment.c.revisions).where(row)).scalar_one()
            connection.execute(update(schema.judgment).where(row).values(revisions=n + 1))

        threads = [
            threading.Thread(target=lambda one=one: [one.write(work) for _ in range(20)]) for one in (store, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert store.read(lambda c: c.scalar(select(schema.judgment.c.revisions).where(row))) == 40


def test_a_server_that_is_not_there_is_called_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qrowd_server.store.base.PAUSE", 0.001)
    with pytest.raises(StoreBusyError, match="PostgreSQL"):
        open_store(f"postgresql://me@/x?host={tmp_path}")
