"""A store in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import URL, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.exc import DBAPIError

from qrowd_server.store.base import Database, StoreBusyError, StoreError, StoreFullError, to_json
from qrowd_server.store.holding import hold

WAIT = 5.0  # seconds for another program that has the file locked
READERS = 32
LONGEST_LOG = 64 * 2**20  # bytes to which the write-ahead log is cut back


class SqliteFile(Database):
    """A SQLite file; deleted content is overwritten where it was (`secure_delete`)."""

    dialect = "sqlite"
    begin = "begin immediate"

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.name, self.url = str(self.path), URL.create("sqlite", database=str(self.path))

    def check_place(self, *, create: bool) -> None:
        if not create and not self.path.exists():
            raise StoreError(f"{self.path}: there is no such file; qrowd serve makes one")
        if not self.path.parent.is_dir():
            raise StoreError(f"{self.path}: there is no folder {self.path.parent}; make it first")
        if create:
            with suppress(FileExistsError):  # nobody else's to read; the log beside it gets the same rights
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def hold(self) -> BinaryIO:
        return hold(self.path)

    def engine(self, *, read_only: bool) -> Engine:
        address = self.path.as_uri() + ("?mode=ro" if read_only else "?mode=rw")
        # Without a log, and no right to make one beside it, the file cannot change while it is read.
        log = self.path.with_name(self.path.name + "-wal")
        if read_only and not log.exists() and not os.access(self.path.parent, os.W_OK):
            address += "&immutable=1"

        def connect() -> sqlite3.Connection:
            connection = sqlite3.connect(
                address, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False, cached_statements=512
            )
            connection.execute("pragma foreign_keys = on")
            if read_only:
                connection.execute("pragma query_only = on")
            else:
                connection.execute("pragma journal_mode = wal")
                connection.execute("pragma synchronous = full")
                connection.execute("pragma secure_delete = on")
                connection.execute(f"pragma journal_size_limit = {LONGEST_LOG}")
            return connection

        # Readers have a pool, so that a page does not open the file anew.
        pool = {"poolclass": QueuePool, "pool_size": 8, "max_overflow": READERS - 8} if read_only else {}
        options = {"poolclass": NullPool, "json_serializer": to_json, "hide_parameters": True, **pool}
        engine = create_engine("sqlite://", creator=connect, **options)
        if read_only:
            event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("begin"))
        return engine

    def explain(self, error: BaseException) -> BaseException:
        cause = error.orig if isinstance(error, DBAPIError) else error
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            return StoreFullError(f"{self.path}: {cause}; nothing was stored, make space and send it again")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreBusyError(f"{self.path}: another program holds the file; try again")
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY):
            return StoreError(f"{self.path}: {cause}")
        return error
