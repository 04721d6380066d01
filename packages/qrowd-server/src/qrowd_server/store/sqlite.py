"""A store in one SQLite file: its lock, which one writer holds, its connections, and a copy while it is in use."""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import URL, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.exc import DBAPIError

from qrowd_server.store.base import Database, Store, StoreBusyError, StoreError, StoreFullError, to_json

if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


log = logging.getLogger("qrowd_server.store")

WAIT = 5.0  # seconds for another program that has the file locked
READERS = 32
LARGEST_VACUUM = 128 * 2**20  # bytes of a file that is written anew while answers wait: a second or two
LONGEST_LOG = 64 * 2**20  # bytes to which the write-ahead log is cut back


class SqliteFile(Database):
    """A SQLite file; deleted content is overwritten where it was (`secure_delete`), and the rest of it by `erase`."""

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
        # On a file of its own, since closing a second descriptor of the database would drop SQLite's own locks on it.
        file = open(self.path.with_name(self.path.name + ".lock"), "a+b")  # noqa: SIM115 - it stays open
        try:
            _lock(file)
        except OSError:
            file.close()
            raise StoreError(
                f"{self.path}: another qrowd serves this file; stop the server with Ctrl-C, run this command again, "
                "then start it again; assessors' answers are kept on their pages meanwhile"
            ) from None
        os.set_inheritable(file.fileno(), False)
        return file

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

    def erase(self, engine: Engine) -> bool:
        # Deleted rows are overwritten where they were, but not the copies of them that SQLite left in moving rows.
        empty_log, is_read = "pragma wal_checkpoint(truncate)", 1
        with suppress(DBAPIError), engine.connect() as connection:
            connection.exec_driver_sql("pragma busy_timeout = 0")
            is_read = connection.exec_driver_sql(empty_log).scalar_one()  # and then VACUUM would be in vain
            if not is_read and self.path.stat().st_size <= LARGEST_VACUUM:
                is_read = 1
                connection.exec_driver_sql("vacuum")
                is_read = connection.exec_driver_sql(empty_log).scalar_one()
        if is_read:
            log.warning("%s: another program has it, so what was deleted is still in its files", self.path)
        return not is_read

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


def backup(store: Store, path: str | Path) -> None:
    """Copy a SQLite store into a new file, with everything acknowledged before; writing goes on meanwhile.

    The file appears whole or not at all, and holds nothing of what was deleted before.
    """
    target = Path(path).absolute()
    if store.dialect != "sqlite":
        raise StoreError(f"{store.url!r}: copy a PostgreSQL store with pg_dump")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(str(store.url.database), isolation_level=None)) as connection:
            connection.execute("vacuum into ?", (str(unfinished),))
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        os.link(unfinished, target)  # unlike a rename, never over another file
    except FileExistsError:
        raise StoreError(f"{target}: is there already; name a new file") from None
    except (OSError, sqlite3.Error) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise StoreFullError(f"{target}: {reason}; no copy was made") from error
    finally:
        unfinished.unlink(missing_ok=True)
