"""A store in a PostgreSQL database, for several servers at once.

Transactions are READ COMMITTED, and a work takes the rows it builds on with `select(...).with_for_update()` (which says
nothing to SQLite, where there is one writer anyway). So whoever waited for a row then sees all that was committed
before; under SERIALIZABLE the wait would end in an error, and a topic that fifty assessors judge would be nothing but
repeats. Constraints stand behind it. What is read only is REPEATABLE READ: all of it seen at one moment.

Numbers of events rise in each assignment, since its row is locked; over all of them, a lower number may be committed
after a higher one.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, create_engine, event, text
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from qrowd.collect.store import schema
from qrowd.collect.store.base import Store, StoreBusyError, StoreError, StoreFullError, StoreUnknownError, Work, to_json
from qrowd.collect.store.migrate import bring_up_to_date, check_version
from qrowd.collect.store.pipelining import abandon, begin, commit, settle

T = TypeVar("T")

RETRIES = 5
PAUSE = 0.02  # seconds before the first repeat, on average; twice as long before each further one
#: Tables that say who somebody is, or what they wrote.
WITH_PEOPLE = (
    *(schema.event, *schema.STATE, schema.draft, schema.invitation, schema.invited, schema.login_attempt),
    schema.session,
)
MIGRATION = 7_202_011  # the advisory lock of whoever makes the tables

# https://www.postgresql.org/docs/current/errcodes-appendix.html
CONFLICTS = {"40001", "40P01", "55P03"}  # serialisation failure, deadlock, waited too long for a row
UNIQUE = "23505"  # also what a race of two equal works ends in: the second sees the first when run again
FULL = {"53100", "58030"}  # disk full, input or output error
NO_MORE = {"53200", "53300", "57P03"}  # out of memory, too many connections, cannot connect now


class PostgresStore(Store):
    """A store in a PostgreSQL database; see `open_store`."""

    dialect = "postgresql"

    def __init__(self, url: URL, *, create: bool = True, read_only: bool = False, size: int = 4) -> None:
        self.url, self.read_only, self._closed = url, read_only, False
        self._engine = create_engine(
            url,
            pool_size=size,
            max_overflow=12,  # for streams and long reads, which hold theirs for long
            pool_timeout=10,
            isolation_level="AUTOCOMMIT",  # `_once` begins its transactions
            json_serializer=to_json,
            hide_parameters=True,  # errors are logged, and names and answers are not
        )
        event.listen(self._engine, "do_connect", _connected)
        event.listen(self._engine, "connect", _settled)
        event.listen(self._engine, "before_cursor_execute", lambda connection, *_: settle(connection))
        self._readers = self._engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="store")
        try:
            if read_only or not create:
                self.read(lambda connection: check_version(connection, repr(url)))
            if not read_only:
                self._again(_migrated)
        except BaseException:
            self.close()
            raise

    def write(self, work: Work[T]) -> T:
        if self.read_only:
            raise StoreError(f"{self.url!r} was opened to read only")
        return self._again(work)

    async def write_async(self, work: Work[T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(self.write, work))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        self._check_open()
        try:
            with self._readers.connect() as connection:
                try:
                    yield connection
                except BaseException:
                    abandon(connection)
                    raise
                settle(connection)
                connection.commit()  # after a rollback the driver would prepare every statement anew
        except (DBAPIError, PoolTimeout) as error:
            raise _reason(error) from error

    def read(self, work: Work[T]) -> T:
        """What `work(connection)` returns, all of it seen at one moment; it cannot write."""
        for attempt in range(RETRIES + 1):
            try:
                with self.reading() as connection:
                    return work(connection)
            except StoreBusyError:
                if attempt == RETRIES:
                    raise
            _pause(attempt)
        raise AssertionError

    async def read_async(self, work: Work[T], *, long: bool = False) -> T:
        self._check_open()
        if long:
            return await asyncio.to_thread(self.read, work)
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(self.read, work))

    def erase_deleted(self) -> bool:
        """See `Store`. `vacuum full` writes tables and indexes into new files; only their owner may do it.

        The planner's statistics hold frequent values of columns, so they are gathered anew, and their table is cleared.
        """
        self._check_open()
        try:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                for table in WITH_PEOPLE:
                    connection.execute(text(f"vacuum (full, analyze) {table.name}"))
                connection.execute(text("vacuum full pg_catalog.pg_statistic"))
        except DBAPIError as error:
            raise _reason(error) from error
        return False

    def waiting(self) -> int:
        return self._threads._work_queue.qsize()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._threads.shutdown()
            self._engine.dispose()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.url!r} is closed")

    def _again(self, work: Work[T]) -> T:
        """The result of a work, run up to RETRIES times more where somebody was in its way."""
        races = 0
        for attempt in range(RETRIES + 1):
            self._check_open()
            try:
                return self._once(work)
            except (DBAPIError, PoolTimeout) as error:
                if not _passing(error):
                    raise _reason(error) from error
                # A race for a key is over once it was lost: the second try sees who won, or the key was there before.
                raced = _code(error) == UNIQUE
                races += raced
                if attempt == RETRIES or races == 2:
                    raise _reason(error) from error
            if not raced:
                _pause(attempt)
        raise AssertionError

    def _once(self, work: Work[T]) -> T:
        with self._engine.connect() as connection:
            transaction = connection.begin()
            try:
                begin(connection)
                result = work(connection)
                if connection.get_transaction() is not transaction:
                    raise StoreError("a work must not commit or roll back; raise an error to undo it")
            except BaseException:
                abandon(connection)
                if connection.get_transaction() is transaction:
                    with suppress(DBAPIError):
                        transaction.rollback()
                raise
            try:
                commit(connection)
                transaction.commit()
            except DBAPIError as error:
                with suppress(DBAPIError):
                    transaction.rollback()
                if _lost(error):
                    problem = "the connection was lost while committing; look the key up, or send it again"
                    raise StoreUnknownError(f"{self.url!r}: {problem}") from error
                raise
            return result


def _migrated(connection: Connection) -> None:
    connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": MIGRATION})
    bring_up_to_date(connection, str(connection.engine.url))


def _connected(dialect: Any, record: Any, arguments: Any, options: Any) -> Any:
    from qrowd.collect.store.driver import Driver

    return Driver.connect(*arguments, **options)


def _settled(connection: Any, _: Any) -> None:
    """Nobody waits for ever; and what is acknowledged is on disk, also where the server was told not to wait for it."""
    with connection.cursor() as cursor:
        cursor.execute("set lock_timeout = '10s'; set idle_in_transaction_session_timeout = '10min'")
        if cursor.execute("show synchronous_commit").fetchone()[0] == "off":
            cursor.execute("set synchronous_commit = on")
    connection.commit()


def _pause(attempt: int) -> None:
    time.sleep(PAUSE * 2**attempt * random.uniform(0.5, 1.5))


def _code(error: BaseException) -> str:
    return getattr(getattr(error, "orig", None), "sqlstate", None) or ""


def _lost(error: BaseException) -> bool:
    """The connection is gone, or there never was one."""
    code = _code(error)
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    no_code = code == "" and type(getattr(error, "orig", None)).__name__ in ("OperationalError", "ConnectionTimeout")
    return no_code or isinstance(error, InterfaceError) or code.startswith(("08", "57P"))


def _passing(error: BaseException) -> bool:
    """Whether the same work may well succeed on the next try."""
    code = _code(error)
    return code in CONFLICTS or code in NO_MORE or code == UNIQUE or _lost(error)


def _reason(error: BaseException) -> BaseException:
    """The store's word for what PostgreSQL says; an error in the work itself stays what it is."""
    if isinstance(error, IntegrityError):
        return error
    words = " ".join(str(getattr(error, "orig", error)).split())
    if _code(error) in FULL:
        return StoreFullError(f"PostgreSQL: {words}; nothing was stored, make space and send it again")
    if isinstance(error, PoolTimeout) or _passing(error):
        return StoreBusyError(f"PostgreSQL: {words}; try again later")
    return error
