"""A store in a PostgreSQL database.

Transactions that write come one at a time, as with SQLite: each takes a lock first, so the next one sees all that was
committed before. They are READ COMMITTED; what is read only is REPEATABLE READ, all of it seen at one moment.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from qrowd_server.store.base import Database, StoreBusyError, StoreFullError, to_json

READERS = 16

# https://www.postgresql.org/docs/current/errcodes-appendix.html
CONFLICTS = {"40001", "40P01", "55P03"}  # serialisation failure, deadlock, waited too long for a lock
FULL = {"53100", "58030"}  # disk full, input or output error
NO_MORE = {"53200", "53300", "57P03"}  # out of memory, too many connections, cannot connect now


class PostgresDatabase(Database):
    """A PostgreSQL database."""

    dialect = "postgresql"
    begin = "select pg_advisory_xact_lock(7202011)"
    attempts = 6

    def __init__(self, url: URL) -> None:
        self.url, self.name = url, repr(url)

    def check_place(self, *, create: bool) -> None:
        pass

    def engine(self, *, read_only: bool) -> Engine:
        # A database in SQL_ASCII, which initdb makes where there is no locale, would give bytes, not texts.
        utf8 = {"connect_args": {"client_encoding": "utf8"}}
        options: dict[str, Any] = {"json_serializer": to_json, "hide_parameters": True, **utf8}
        if not read_only:
            engine = create_engine(self.url, poolclass=NullPool, isolation_level="READ COMMITTED", **options)
        else:
            options |= {"pool_size": 4, "max_overflow": READERS - 4, "pool_timeout": 10, "pool_pre_ping": True}
            engine = create_engine(self.url, isolation_level="REPEATABLE READ", **options)
            engine = engine.execution_options(postgresql_readonly=True)
        event.listen(engine, "connect", _settled)
        return engine

    def explain(self, error: BaseException) -> BaseException:
        words = " ".join(str(getattr(error, "orig", error)).split())
        if _code(error) in FULL:
            return StoreFullError(f"PostgreSQL: {words}; nothing was stored, make space and send it again")
        if isinstance(error, PoolTimeout) or self.is_lost(error) or _code(error) in CONFLICTS | NO_MORE:
            return StoreBusyError(f"PostgreSQL: {words}; try again later")
        return error

    def is_lost(self, error: BaseException) -> bool:
        if not isinstance(error, DBAPIError):
            return False
        no_code = not _code(error) and type(error.orig).__name__ in ("OperationalError", "ConnectionTimeout")
        lost = error.connection_invalidated or no_code or isinstance(error, InterfaceError)
        return lost or _code(error).startswith(("08", "57P"))


def _settled(connection: Any, _: Any) -> None:
    """Nobody waits for ever; and what is acknowledged is on disk, also where the server was told not to wait for it."""
    with connection.cursor() as cursor:
        cursor.execute("set lock_timeout = '10s'; set idle_in_transaction_session_timeout = '10min'")
        if cursor.execute("show synchronous_commit").fetchone()[0] == "off":
            cursor.execute("set synchronous_commit = on")
    connection.commit()


def _code(error: BaseException) -> str:
    return getattr(getattr(error, "orig", None), "sqlstate", None) or ""
