"""Backup and point-in-time recovery with PostgreSQL, as docs/operation.md describes."""

import asyncio
import shutil
import time
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import func, select, text

from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.protocols.events import Consent, GoOn, Judge
from qrowd_server.protocols.views import ConsentView, DocumentView
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.schema import event, judgment
from server.soak import checks, made
from servers import PostgresServer, postgres_server


async def judge(store: Store, name: str, n: int, reason: str = "") -> int:
    """So many answers of somebody, whose number this is; with a reason, each has it."""
    service = JudgingService(store)
    who = await service.arrive("grades", "link", name, name=name)
    given = 0
    while given < n:
        page = await service.page(who)
        if isinstance(page.view, DocumentView):
            why = f"{reason} {given}" if reason else ""
            await service.act(who, Judge(page.view.position, "1", why), shown=page.shown)
            given += 1
        else:
            begins = isinstance(page.view, ConsentView)
            await service.act(who, Consent(True) if begins else GoOn(), shown=page.shown)
    return who


def _judge(database: str, name: str, n: int) -> None:
    with open_store(database) as store:
        asyncio.run(judge(store, name, n))


def archiving(server: PostgresServer, *names: str) -> list[Path]:
    """Folders of these names beside the data; the server keeps its write-ahead log in the first of them."""
    folders = [server.folder / name for name in names]
    for folder in folders:
        folder.mkdir(mode=0o700)
        if "user" in server.who:
            shutil.chown(folder, server.who["user"])
    server.stop("fast")
    command = f"test ! -f {folders[0]}/%f && cp %p {folders[0]}/%f"
    server.settings |= {"wal_level": "replica", "archive_mode": "on", "archive_command": command}
    server.start()
    return folders


def _counts(database: str) -> tuple[int, int]:
    with open_store(database) as store:
        queries = [select(func.count()).select_from(table) for table in (event, judgment)]
        assert store.read(checks.violations) == []
        assert checks.rebuilt_differently(store, ["grades"]) == []
        return tuple(store.read(lambda c: [c.scalar(query) for query in queries]))  # type: ignore[return-value]


@pytest.mark.nightly
@pytest.mark.database
@pytest.mark.slow
def test_a_database_is_recovered_as_it_was_at_a_moment_before_an_accident() -> None:
    with postgres_server() as server:
        backup = tool(server, "pg_basebackup")
        archive, base = archiving(server, "archive", "base")
        database = server.database()
        with open_store(database) as store:
            store.write(lambda c: made.create(c, [made.plan("grades", topics=6, documents=5, redundancy=2)]))
        _judge(database, "ann", 7)

        server._run(backup, f"--dbname={server.url()}", f"--pgdata={base}", "--checkpoint=fast", "--wal-method=none")
        _judge(database, "ben", 9)  # after the backup: only in the log
        before = _counts(database)
        with psycopg.connect(database, autocommit=True) as connection:
            (moment,) = connection.execute("select clock_timestamp()::text").fetchone() or ("",)
            time.sleep(0.01)  # so that the accident has another time
            connection.execute("truncate event cascade")
            connection.execute("delete from judgment")
            connection.execute("select pg_switch_wal()")
        server.stop("fast")

        (base / "recovery.signal").touch()
        if "user" in server.who:
            shutil.chown(base / "recovery.signal", server.who["user"])
        server.data = base
        server.settings |= {
            "restore_command": f"cp {archive}/%f %p",
            "recovery_target_time": moment,
            "recovery_target_action": "promote",
        }
        server.start()
        _until_it_writes(server)
        assert _counts(database) == before
        _judge(database, "cleo", 3)  # and it goes on
        assert _counts(database)[1] == before[1] + 3


def tool(server: PostgresServer, name: str) -> str:
    """The path of a program of this PostgreSQL; without it the test is skipped."""
    for folder in (server.binaries, (server.binaries / "initdb").resolve().parent):
        if (folder / name).exists():
            return str(folder / name)
    pytest.skip(f"needs {name}")


def _until_it_writes(server: PostgresServer) -> None:
    deadline = time.monotonic() + 30
    with psycopg.connect(server.url(), autocommit=True) as connection:
        while (connection.execute("select pg_is_in_recovery()").fetchone() or (True,))[0]:
            assert time.monotonic() < deadline, "the recovery does not end"
            connection.execute("select pg_sleep(0.05)")


@pytest.mark.nightly
def test_a_dump_restored_into_an_empty_database_is_the_same(postgres: PostgresServer) -> None:
    database, other = postgres.database(), postgres.database()
    with open_store(database) as store:
        store.write(lambda c: made.create(c, [made.plan("grades", topics=3, documents=4, redundancy=2)]))
    _judge(database, "ann", 6)
    dump = str(postgres.folder / "qrowd.dump")
    postgres._run(tool(postgres, "pg_dump"), "--format=custom", f"--file={dump}", database)
    postgres._run(tool(postgres, "pg_restore"), "--no-owner", "--exit-on-error", f"--dbname={other}", dump)
    with open_store(database) as one, open_store(other) as two:
        assert one.read(checks.tables) == two.read(checks.tables)
        assert two.read(lambda c: c.scalar(text("select count(*) from judgment"))) == 6
