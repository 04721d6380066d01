"""What every store does, whatever database holds it: run a piece of work in one transaction.

A work is a function of a connection. It may be run again, so it does nothing but talk to that connection, never
commits, and does not go on after a database error unless it opened `connection.begin_nested()` before.

Making a commit safe costs a wait for the disk, whether it holds one work or 256. So works queue up; one thread takes
all that wait, runs each in a savepoint of its own, commits once, and only then says so to everybody in the group.

StoreError               nothing of this work is in the store
|-- StoreFullError       the disk is full or does not answer; works again once it does
|-- StoreBusyError       too much at once, or no connection; try again later
|-- StoreUnknownError    the connection was lost during the commit: look the form's key up, or send it again
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache
from math import inf
from queue import Empty, SimpleQueue
from traceback import clear_frames
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from qrowd.errors import QrowdError

T = TypeVar("T")
Work = Callable[[Connection], T]

GROUP = 256  # works per commit, at most
PAUSE = 0.02  # seconds before a group is run again for the first time; twice as long before each further time
ERASE = "erase"  # in the `info` of a connection: its work deleted what no file may keep
ERASE_SOON, ERASE_AGAIN = 0.2, 10.0  # seconds until the files are erased, and until it is tried again


def _as_dict(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


# The same text for the same value in both databases; what is no JSON (nan) is refused.
to_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_as_dict).encode


class StoreError(QrowdError):
    """The store cannot do it."""


class StoreFullError(StoreError):
    """The disk is full or failed: nothing was acknowledged. The store goes on once there is space."""


class StoreBusyError(StoreError):
    """Somebody else was in the way, several times in a row; nothing was stored, and later it may be."""


class StoreUnknownError(StoreError):
    """The connection was lost while committing: either all of it is stored or nothing.

    Whoever wrote an event with an `idem_key` looks that key up; or does it again, since a key is stored only once.
    """


class Database(ABC):
    """What differs between databases.

    dialect : which one it is. url : where; its text hides the password. name : of it in messages. attempts : how often
    a group of works is run where the connection is lost before the commit. begin : the statement with which a
    transaction that writes begins, so that those of several programs come one after the other.
    """

    dialect: Literal["sqlite", "postgresql"]
    url: URL
    name: str
    begin: str
    attempts: int = 1

    @abstractmethod
    def check_place(self, *, create: bool) -> None:
        """Refuse a place where no tables can be. create : make the place where there is none."""

    @abstractmethod
    def engine(self, *, read_only: bool) -> Engine:
        """read_only : its transactions see the store as it was at their first statement."""

    @abstractmethod
    def explain(self, error: BaseException) -> BaseException:
        """The store's word for what the database says; an error in the work itself stays what it is."""

    def is_lost(self, error: BaseException) -> bool:
        """Whether the connection is gone."""
        return False

    def erase(self, engine: Engine) -> bool:
        """Take what was deleted out of the files; False where somebody reads what was there before, or the disk fails.

        engine : for writing. Where a database has no way of its own to do so, its operator does (docs/privacy.md).
        """
        return True

    def hold(self) -> BinaryIO | None:
        """Keep other servers away from it until what is returned is closed, where the database has such a lock."""
        return None


# ---- one thread writes


class _Job:
    """A work, and the future for which somebody waits."""

    __slots__ = ("error", "future", "result", "work")

    def __init__(self, work: Work[Any]) -> None:
        self.work, self.future = work, Future[Any]()
        self.future.set_running_or_notify_cancel()  # whoever asked may go away; the work is done nevertheless
        self.result: Any = None
        self.error: BaseException | None = None


class GroupWriter:
    """The thread that writes to a database. engine : for writing."""

    def __init__(self, database: Database, engine: Engine) -> None:
        self._database, self._engine = database, engine
        self._queue, self._gate, self._closed = SimpleQueue[_Job | None](), threading.Lock(), False
        self._connection: Connection | None = None
        self._thread = threading.Thread(target=self._write_all, name=f"writer of {database.name}", daemon=True)
        self._thread.start()

    # ---- from outside

    def hand_in(self, work: Work[T]) -> Future[T]:
        """Run a work when its turn comes; the future gets what it returns, once that is on disk, or its error."""
        if threading.current_thread() is self._thread:
            raise StoreError("a work cannot hand in another one; use the connection it was given")
        with self._gate:
            if self._closed:
                raise StoreError(f"{self._database.name} is closed")
            job = _Job(work)
            self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Finish what was handed in, and end. A second time does nothing."""
        with self._gate:
            first, self._closed = not self._closed, True
        if first:
            self._queue.put(None)
            self._thread.join()
            self._engine.dispose()

    # ---- in the writer's thread

    def _write_all(self) -> None:
        last, erase_at = False, inf
        while not last:
            jobs: list[_Job] = []
            wait = min(max(erase_at - time.monotonic(), 0.0), threading.TIMEOUT_MAX)
            with suppress(Empty):
                while len(jobs) < GROUP and not last:
                    job, wait = self._queue.get(timeout=wait), 0.0
                    if job is None:
                        last = True
                    else:
                        jobs.append(job)
            if jobs:
                self._commit(jobs)
            for job in jobs:
                if job.error is None:
                    job.future.set_result(job.result)
                else:
                    job.future.set_exception(job.error)
            if self._connection is not None and self._connection.info.pop(ERASE, False):
                erase_at = min(erase_at, time.monotonic() + ERASE_SOON)
            if erase_at <= time.monotonic():
                erase_at = inf if self._database.erase(self._engine) else time.monotonic() + ERASE_AGAIN
        if erase_at < inf:
            self._database.erase(self._engine)
        self._disconnect()

    def _commit(self, jobs: list[_Job]) -> None:
        """Run a group of works and commit them together; afterwards each job has its result or its error."""
        for attempt in range(self._database.attempts):
            try:
                self._try(jobs)
                return
            except BaseException as error:  # nothing of the group is stored
                self._disconnect()
                reason = self._database.explain(error)
                if self._database.is_lost(error) and attempt + 1 < self._database.attempts:
                    time.sleep(PAUSE * 2**attempt)
                    continue
                if not isinstance(reason, StoreError):  # a work's own error is not the others'
                    name = self._database.name
                    reason = StoreBusyError(f"{name}: another work broke the transaction; send this one again")
                    reason.__cause__ = error
                for job in jobs:
                    if job.error is None:
                        job.error = reason
                return

    def _try(self, jobs: list[_Job]) -> None:
        for job in jobs:
            job.result = job.error = None
        if self._connection is None:
            self._connection = self._engine.connect()
        transaction = self._connection.begin()
        self._connection.exec_driver_sql(self._database.begin)
        for job in jobs:
            self._run(job, self._connection)
        if all(job.error is not None for job in jobs):
            transaction.rollback()
            return
        try:
            transaction.commit()
        except DBAPIError as error:
            if not self._database.is_lost(error):
                raise
            problem = "the connection was lost while committing; look the key up, or send it again"
            raise StoreUnknownError(f"{self._database.name}: {problem}") from error

    def _run(self, job: _Job, connection: Connection) -> None:
        """Run a work in a savepoint. Raises what ends the transaction of the whole group."""
        transaction, savepoint = connection.get_transaction(), connection.begin_nested()
        try:
            job.result = job.work(connection)
        except BaseException as error:
            if isinstance(error, DBAPIError) and isinstance(self._database.explain(error), StoreError):
                raise  # a full disk, a lost connection
            job.error = error
            _let_go(error)
        if connection.get_transaction() is not transaction or connection.get_nested_transaction() is not savepoint:
            job.error = StoreError("a work must not commit or roll back; raise an error to undo it")
            raise job.error
        if job.error is None:
            savepoint.commit()
        else:
            savepoint.rollback()

    def _disconnect(self) -> None:
        """The next group, if any, gets a connection that knows nothing of what went wrong."""
        if self._connection is not None:
            with suppress(Exception):
                self._connection.invalidate()
            with suppress(Exception):
                self._connection.close()
        self._connection = None


# ---- from outside


class Store:
    """Where everything is kept. Made by `open_store`; closed by `close` or at the end of `with`.

    dialect : which database it is. url : where; its text hides the password. read_only : nothing can be written.
    """

    def __init__(
        self, database: Database, readers: Engine, writer: GroupWriter | None, lock: BinaryIO | None = None
    ) -> None:
        self.database, self.dialect, self.url, self.read_only = database, database.dialect, database.url, writer is None
        self._readers, self._writer, self._lock = readers, writer, lock

    def write(self, work: Work[T]) -> T:
        """What `work(connection)` returns, once it is safe on disk; if it raises, nothing of it is stored."""
        return self._writing().hand_in(work).result()

    async def write_async(self, work: Work[T]) -> T:
        """Like `write`, for a caller on an event loop; `work` runs in another thread."""
        return await asyncio.wrap_future(self._writing().hand_in(work))

    def _writing(self) -> GroupWriter:
        if self._writer is None:
            raise StoreError(f"{self.database.name} was opened to read only")
        return self._writer

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees the store as it was at its first statement, whatever is written meanwhile."""
        try:
            with self._readers.connect() as connection:
                yield connection
        except (DBAPIError, PoolTimeout) as error:
            raise self.database.explain(error) from error
        except BaseException as error:
            _let_go(error)
            raise

    def read(self, work: Work[T]) -> T:
        """What `work(connection)` returns, all of it seen at one moment; it cannot write."""
        with self.reading() as connection:
            return work(connection)

    async def read_async(self, work: Work[T]) -> T:
        """Like `read`, for a caller on an event loop; `work` runs in another thread."""
        return await asyncio.to_thread(self.read, work)

    def stream(self, work: Work[Iterable[T]]) -> Iterator[T]:
        """What `work(connection)` yields, one at a time, all of it seen at one moment."""
        with self.reading() as connection:
            yield from work(connection)

    def close(self) -> None:
        """Finish what was handed in, and let go of the database. A second time does nothing."""
        self._readers.dispose()  # first: whoever closes a SQLite file last brings its log into it; readers cannot
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.url.render_as_string(hide_password=True)!r}, read_only={self.read_only})"


def _let_go(error: BaseException | None) -> None:
    """Drop what the frames of an error hold: a half-read result would keep what is deleted later in a SQLite log."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__context__


def upsert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]], *, keep: bool = False) -> None:
    """Add rows to a table, or change those that have their key; with `keep`, leave those as they are."""
    if batch := list(rows):
        connection.execute(_upsert_into(table, connection.dialect.name, keep), batch)


# ---- statements


@cache
def _upsert_into(table: Table, dialect: str, keep: bool = False) -> Any:
    """The statement of `upsert`."""
    insert = (sqlite if dialect == "sqlite" else postgresql).insert(table)
    if keep:
        return insert.on_conflict_do_nothing()
    values = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=values)
