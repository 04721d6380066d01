"""A deleted person leaves PostgreSQL by the commands of docs/privacy.md: tables, statistics, log, archive, copies."""

import asyncio
import re
import shutil
from pathlib import Path

import psycopg
import pytest

from qrowd_server.campaigns.running.privacy import delete_person
from qrowd_server.store.engine import open_store
from server.deploy.proxies import until
from server.deploy.test_recovery import archiving, judge, tool
from server.soak import made
from servers import PostgresServer, postgres_server

NAME, REASON = "marked-name-Zoltan", "marked-reason"
MARK = re.compile(rb"marked-(name-Zoltan|reason)")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "privacy.md"


def _files_with_marks(folder: Path) -> list[str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in files if MARK.search(path.read_bytes())]


def _statements(mark: str) -> list[str]:
    """The SQL of the documentation, in order."""
    block = PAGE.read_text().partition(f"<!-- {mark} -->\n```text\n")[2].partition("```")[0]
    return [line.partition("  --")[0].rstrip(" ;") for line in block.splitlines() if line]


@pytest.mark.nightly
@pytest.mark.database
@pytest.mark.slow
def test_after_a_deletion_nothing_is_left_in_tables_statistics_the_log_the_archive_or_new_copies() -> None:
    with postgres_server() as server:
        archive, old, new = archiving(server, "archive", "old", "new")
        with open_store(server.database()) as store:
            store.write(lambda c: made.create(c, [made.plan("grades", topics=6, documents=5, redundancy=2)]))
            asyncio.run(judge(store, "ann", 7))
            person = asyncio.run(judge(store, NAME, 9, REASON))
            _administrator(server, "analyze", database=str(store.url.database))
            _copy(server, old)
            store.write(lambda c: delete_person(c, "grades", person, 1.8e9))
            _administrator(server, *_statements("empties the tables"), database=str(store.url.database))
            _administrator(server, "checkpoint")
            assert _files_with_marks(server.data / "base") == [], "tables, indexes, statistics"
            left = _files_with_marks(server.data)
            assert left, "the write-ahead log still has it"
            assert {name.split("/")[0] for name in left} == {"pg_wal"}

            statements = _statements("empties the log")
            segment = _one(server, "select pg_walfile_name(pg_current_wal_lsn())")
            _administrator(server, *statements[:-1])
            until(lambda: _one(server, "select last_archived_wal from pg_stat_archiver") >= segment, "the archive")
            _administrator(server, statements[-1])
            assert _files_with_marks(server.data) == []
            _copy(server, new)
            first = _first_segment(new)
            server._run(tool(server, "pg_archivecleanup"), str(archive), first)
            shutil.rmtree(old)
            assert _files_with_marks(archive) == []
            assert _files_with_marks(new) == []
            asyncio.run(judge(store, "ann", 3))  # and it goes on


def _administrator(server: PostgresServer, *statements: str, database: str = "postgres") -> None:
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def _one(server: PostgresServer, query: str) -> str:
    with psycopg.connect(server.url()) as connection:
        return str((connection.execute(query.encode()).fetchone() or ("",))[0])


def _copy(server: PostgresServer, folder: Path) -> None:
    options = (f"--pgdata={folder}", "--checkpoint=fast", "--wal-method=none")
    server._run(tool(server, "pg_basebackup"), f"--dbname={server.url()}", *options)


def _first_segment(copy: Path) -> str:
    """The oldest part of the write-ahead log that a base copy needs, as its `backup_label` says."""
    found = re.search(r"\(file ([0-9A-F]{24})\)", (copy / "backup_label").read_text())
    assert found is not None
    return found[1]
