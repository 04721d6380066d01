"""Empty stores for tests: in SQLite, or in the databases that a test is parametrised with.

Tests of the store run on both databases (see their conftest), all others on SQLite; with
`pytest --database postgresql` those run on PostgreSQL instead. Stores in the process of the tests do not wait for the
disk, since no test cuts the power; the servers that tests start do. Stores in one process share the SQL that statements
were compiled to, and their files begin as copies of one: both, done anew, took as long as many a test.
"""

import sqlite3
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, Pool, event

from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.schema import metadata
from qrowd_server.store.sqlite import SqliteFile
from servers import PostgresServer, postgres_server


@event.listens_for(Pool, "connect")
def do_not_wait(connection: object, _: object) -> None:
    """Let SQLite not wait for the disk. A test of what a connection promises takes this listener away."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("pragma synchronous = off")


class Compiled(dict[Any, Any]):
    """Compiled statements by the name of the dialect, where an engine has them by its own dialect."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        super().__setitem__((key[0].name, *key[1:]), compiled)


COMPILED = Compiled()
Engine._compiled_cache = property(lambda _: COMPILED, lambda *_: None)  # type: ignore[assignment]


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests of this process."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def emptied(postgres: PostgresServer) -> str:
    """A database with our tables, used again and again: emptying one takes a fifth of the time of making one."""
    url = postgres.database()
    open_store(url).close()
    return url


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store without any rows can be opened."""
    if getattr(request, "param", request.config.getoption("--database")) == "sqlite":
        return f"sqlite:///{tmp_path / 'judgments.db'}"
    url: str = request.getfixturevalue("emptied")
    names = ", ".join(table.name for table in metadata.sorted_tables)
    with psycopg.connect(url) as connection:
        connection.execute(f"truncate {names} restart identity cascade")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where there is nothing yet, not even tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'judgments.db'}"
        return
    server = request.getfixturevalue("postgres")
    url = server.database()
    yield url
    server.drop(url)


_check_place = SqliteFile.check_place


def check_place(file: SqliteFile, *, create: bool) -> None:
    """Let a new file begin with our tables. A test of how they are made uses `without_copies`."""
    if create and file.path.parent.is_dir() and not file.path.exists():
        file.path.touch(0o600)
        file.path.write_bytes(empty_file())
    _check_place(file, create=create)


SqliteFile.check_place = check_place  # type: ignore[method-assign]


@pytest.fixture
def without_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new file is empty."""
    monkeypatch.setattr(SqliteFile, "check_place", _check_place)


@cache
def empty_file() -> bytes:
    """A SQLite file with our tables."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteFile, "check_place", _check_place)
        open_store(Path(folder) / "judgments.db").close()
        return (Path(folder) / "judgments.db").read_bytes()


@pytest.fixture
def opened() -> Iterator[Callable[..., Store]]:
    """open_store, closing what was opened when the test ends."""
    stores: list[Store] = []

    def open_one(url: str | Path, **options: bool) -> Store:
        stores.append(open_store(url, **options))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def store(address: str, opened: Callable[..., Store]) -> Store:
    """A new, empty store."""
    return opened(address)
