"""A store in one SQLite file: one thread writes, many at a time; everybody reads.

Making a commit safe costs a wait for the disk, whether it holds one work or 256. So works queue up; the writer takes
all that wait, runs each in a savepoint of its own, commits once, and only then says so to everybody in the group.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, NullPool, QueuePool, RootTransaction, create_engine, event
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.exc import DBAPIError

from qrowd.collect.store.base import Store, StoreBusyError, StoreError, StoreFullError, Work, to_json
from qrowd.collect.store.erasing import erase
from qrowd.collect.store.holding import hold
from qrowd.collect.store.migrate import bring_up_to_date, check_version
from qrowd.collect.store.pipelining import Sent

T = TypeVar("T")

GROUP = 256  # works per commit, at most
WAIT = 5.0  # seconds for another program that has the file locked
READERS = 32
LONGEST_LOG = 64 * 2**20  # bytes to which the write-ahead log is cut back


class _Job:
    """A work, and who waits for it: a thread, or an event loop."""

    __slots__ = ("alone", "error", "future", "loop", "result", "work")

    def __init__(self, work: Work[Any], loop: asyncio.AbstractEventLoop | None, *, alone: bool = False) -> None:
        self.work, self.loop, self.alone = work, loop, alone  # alone : outside of any transaction
        self.future: Future[Any] | asyncio.Future[Any] = Future() if loop is None else loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None


class SqliteStore(Store):
    """A store in one SQLite file; see `open_store`."""

    dialect = "sqlite"

    def __init__(
        self,
        path: Path,
        *,
        create: bool = True,
        read_only: bool = False,
        beside_server: bool = False,
        group: int = GROUP,
    ) -> None:
        self.path, self.read_only, self.commits = path.absolute(), read_only, 0
        self.url = URL.create("sqlite", database=str(self.path))
        self._group, self._queue = group, SimpleQueue[_Job | None]()
        self._gate, self._closed = threading.Lock(), False
        self._lock: Any = None
        self._writer: threading.Thread | None = None
        if not self.path.exists() and (read_only or not create):
            raise StoreError(f"{self.path}: there is no such file; qrowd serve makes one")
        if not self.path.parent.is_dir():
            raise StoreError(f"{self.path}: there is no folder {self.path.parent}; make it first")
        self._readers = _engine(self.path, read_only=True)
        try:
            if read_only:
                with self.reading() as connection:
                    check_version(connection, str(self.path))
                return
            if beside_server and self.path.exists():
                with self.reading() as connection:
                    check_version(connection, str(self.path))
            else:
                self._lock = hold(self.path)
            self._open_for_writing()
        except BaseException as error:
            self._readers.dispose()
            if self._lock is not None:
                self._lock.close()
            if isinstance(error, DBAPIError):
                raise _reason(error, self.path) from error
            raise

    def _open_for_writing(self) -> None:
        with suppress(FileExistsError):  # nobody else's to read; the log beside it gets the same rights
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self._engine = _engine(self.path, read_only=False)
        if self._lock is not None:
            with self._engine.begin() as connection:
                bring_up_to_date(connection, str(self.path))
        self._connection: Connection | None = self._engine.connect()
        self._writer = threading.Thread(target=self._write_all, name=f"writer of {self.path.name}", daemon=True)
        self._writer.start()

    # ---- from outside

    def write(self, work: Work[T]) -> T:
        future = self._hand_in(_Job(work, None)).future
        assert isinstance(future, Future)
        return future.result()  # type: ignore[no-any-return]

    async def write_async(self, work: Work[T]) -> T:
        future = self._hand_in(_Job(work, asyncio.get_running_loop())).future
        assert isinstance(future, asyncio.Future)
        return await future  # type: ignore[no-any-return]

    def erase_deleted(self) -> bool:
        future = self._hand_in(_Job(partial(erase, path=self.path), None, alone=True)).future
        assert isinstance(future, Future)
        return bool(future.result())

    def _hand_in(self, job: _Job) -> _Job:
        if self.read_only:
            raise StoreError(f"{self.path} was opened to read only")
        if threading.current_thread() is self._writer:
            raise StoreError("a work cannot hand in another one; use the connection it was given")
        with self._gate:
            if self._closed:
                raise StoreError(f"{self.path} is closed")
            self._queue.put(job)
        return job

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        try:
            with self._readers.connect() as connection:
                yield connection
        except DBAPIError as error:
            raise _reason(error, self.path) from error

    async def read_async(self, work: Work[T], *, long: bool = False) -> T:
        # A page's statements take less time than the way to another thread and back; readers never wait for the writer.
        return await asyncio.to_thread(self.read, work) if long else self.read(work)

    def waiting(self) -> int:
        return self._queue.qsize()

    def close(self) -> None:
        with self._gate:
            first, self._closed = not self._closed, True
        if not first:
            return
        self._readers.dispose()  # first: whoever closes the file last brings the log into it, which readers cannot
        if self._writer is not None:
            self._queue.put(None)
            self._writer.join()
            self._engine.dispose()
        if self._lock is not None:
            self._lock.close()

    # ---- in the writer's thread

    def _write_all(self) -> None:
        while (first := self._queue.get()) is not None:
            jobs, last, alone = [first], False, None
            with suppress(Empty):
                while len(jobs) < self._group and not jobs[-1].alone:
                    if (job := self._queue.get_nowait()) is None:
                        last = True
                        break
                    jobs.append(job)
            if jobs[-1].alone:
                alone = jobs.pop()
            if jobs:
                self._commit(jobs)
                _tell(jobs)
            if alone is not None:
                self._run_alone(alone)
                _tell([alone])
            if last:
                break
        if self._connection is not None:
            self._connection.close()

    def _commit(self, jobs: list[_Job]) -> None:
        """Run a group of works and commit them together; afterwards each job has its result or its error."""
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            connection = self._connection
            driver: sqlite3.Connection = connection.connection.driver_connection  # type: ignore[assignment]
            transaction = connection.begin()
            for job in jobs:
                self._run(job, connection, driver)
            if any(job.error is None for job in jobs):
                transaction.commit()
                self.commits += 1
            else:
                transaction.rollback()
        except BaseException as error:  # nothing of the group is stored
            self._start_again()
            reason = _reason(error, self.path)
            if not isinstance(
                reason, DBAPIError | sqlite3.Error | StoreError
            ):  # one work's own error is not the others'
                reason = StoreBusyError(f"{self.path}: another work broke the transaction; send this one again")
            for job in jobs:
                if job.error is None:
                    job.error = reason

    def _run_alone(self, job: _Job) -> None:
        """Run a work on a connection of its own that is in no transaction."""
        try:
            with closing(_connect(self.path.as_uri() + "?mode=rw")) as driver:
                job.result = job.work(driver)  # type: ignore[arg-type]
        except BaseException as error:
            job.error = _reason(error, self.path)

    def _run(self, job: _Job, connection: Connection, driver: sqlite3.Connection) -> None:
        driver.execute("savepoint work")
        outer = connection.get_transaction()
        try:
            job.result = job.work(connection)
        except BaseException as error:
            job.error = error
            if not driver.in_transaction:  # a full disk makes SQLite drop the whole transaction
                if isinstance(error, DBAPIError) and _is_full(error.orig):
                    job.error = _reason(error, self.path)
                raise
            if isinstance(error, DBAPIError) and _is_full(error.orig):
                job.error = _reason(error, self.path)
            driver.execute("rollback to work")
        if connection.get_transaction() is not outer or not driver.in_transaction:
            job.error = StoreError("a work must not commit or roll back; raise an error to undo it")
            raise job.error
        _end_nested(connection, outer)
        driver.execute("release work")

    def _start_again(self) -> None:
        """A connection that knows nothing of what went wrong."""
        if self._connection is not None:
            with suppress(Exception):
                self._connection.invalidate()
            with suppress(Exception):
                self._connection.close()
        self._connection = None


def _connect(address: str) -> sqlite3.Connection:
    return sqlite3.connect(
        address, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False, cached_statements=512
    )


def _end_nested(connection: Connection, outer: RootTransaction | None) -> None:
    """Forget a savepoint that a work opened and left open; ours undoes or keeps it."""
    nested = connection.get_nested_transaction()
    if nested is not None and outer is not None:
        nested.close()


def _tell(jobs: list[_Job]) -> None:
    """Wake who waits: threads one by one, an event loop once for all of its works."""
    for loop, group in groupby(sorted(jobs, key=lambda job: id(job.loop)), key=lambda job: job.loop):
        if loop is None:
            _resolve(list(group))
        else:
            with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
                loop.call_soon_threadsafe(_resolve, list(group))


def _resolve(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.done():  # whoever asked has gone away
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)


def _is_full(error: BaseException | None) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _reason(error: BaseException, path: Path) -> BaseException:
    """The store's word for what SQLite says; an error in the work itself stays what it is."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if _is_full(cause):
        return StoreFullError(f"{path}: {cause}; nothing was stored, make space and send it again")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusyError(f"{path}: another program holds the file; try again")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY):
        return StoreError(f"{path}: {cause}")
    return error


def _engine(path: Path, *, read_only: bool) -> Engine:
    address = path.as_uri()
    if read_only:
        # Without a log, and no right to make one beside it, the file cannot change while it is read.
        log = path.with_name(path.name + "-wal")
        frozen = not log.exists() and not os.access(path.parent, os.W_OK)
        address += "?mode=ro" + ("&immutable=1" if frozen else "")
    else:
        address += "?mode=rw"

    def connect() -> sqlite3.Connection:
        connection = _connect(address)
        connection.execute("pragma foreign_keys = on")
        if read_only:
            connection.execute("pragma query_only = on")
        else:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
            connection.execute(f"pragma journal_size_limit = {LONGEST_LOG}")
        return connection

    # Readers: a pool, so that a page does not open the file anew.
    engine = (
        create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=READERS - 8,
                      json_serializer=to_json, hide_parameters=True)
        if read_only
        else create_engine("sqlite://", creator=connect, poolclass=NullPool, json_serializer=to_json,
                           hide_parameters=True)
    )  # fmt: skip
    begin = "begin" if read_only else "begin immediate"
    event.listen(engine, "begin", lambda connection: connection.connection.driver_connection.execute(begin))
    return engine


# ---- statements of the hot path


class StoredJson(Mapping[str, Any]):
    """A JSON object of a table as text and as values; each is made from the other one when somebody asks for it."""

    __slots__ = ("_text", "_values")

    def __init__(self, text: str | None, values: Mapping[str, Any] | None = None) -> None:
        self._text, self._values = text, values

    @property
    def text(self) -> str:
        """As JSON."""
        if self._text is None:
            self._text = to_json(self._values)
        return self._text

    def _read(self) -> Mapping[str, Any]:
        if self._values is None:
            self._values = json.loads(self.text)
        return self._values

    def __getitem__(self, key: str) -> Any:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return f"StoredJson({self.text!r})"


def _text(value: Any) -> str:
    return value.text if isinstance(value, StoredJson) else to_json(value)


_DIALECT = sqlite_dialect(paramstyle="qmark", json_serializer=_text)
Convert = Callable[[Any], Any]


def namedtuple_of(names: Sequence[str]) -> Any:
    """A type of rows with these columns."""
    return namedtuple("Row", names, rename=True)


class Direct:
    """A statement that every answer runs, without SQLAlchemy's work for each of them.

    It is compiled once; then its values go straight to SQLite, and rows come back as tuples, with JSON and truth values
    read as SQLAlchemy reads them. PostgreSQL gets several of them at once, see `pipelining`. Lists of values have no
    place in it.
    """

    def __init__(self, statement: Any, *, later: str = "", postgresql: Any = None) -> None:
        """`later` : a column of JSON objects that are read as `StoredJson`. `postgresql` : another statement for it."""
        self._statement = statement if postgresql is None else postgresql
        self._sent = Sent(self._statement, _text)
        compiled: Any = statement.compile(dialect=_DIALECT)
        self._sql = str(compiled)
        self._names: tuple[str, ...] = tuple(compiled.positiontup)
        self._get = itemgetter(*self._names) if len(self._names) > 1 else None
        self._binds: list[tuple[int, Convert]] = [
            (i, compiled._bind_processors[name]) for i, name in enumerate(self._names)
            if name in compiled._bind_processors
        ]  # fmt: skip
        self._fixed = {name: bind.value for name, bind in compiled.binds.items() if bind.value is not None}
        self._row: Any = namedtuple_of([column.keyname for column in compiled._result_columns])
        self._results: list[tuple[int, Convert]] = []
        for i, column in enumerate(compiled._result_columns):
            convert = column.type.dialect_impl(_DIALECT).result_processor(_DIALECT, None)
            if later and column.keyname == later:
                convert = StoredJson
            if convert is not None:
                self._results.append((i, convert))

    def _cursor(self, connection: Connection, values: Mapping[str, Any]) -> sqlite3.Cursor:
        if self._fixed:
            values = {**self._fixed, **values}
        row = self._get(values) if self._get is not None else tuple(values[name] for name in self._names)
        if self._binds:
            row = list(row)
            for i, convert in self._binds:
                row[i] = convert(row[i])
        driver: Any = connection.connection.driver_connection
        try:
            cursor: sqlite3.Cursor = driver.execute(self._sql, row)
        except sqlite3.Error as error:
            raise DBAPIError.instance(
                self._sql, None, error, sqlite3.Error, hide_parameters=True, dialect=_DIALECT
            ) from error
        return cursor

    def send(self, connection: Connection, values: Mapping[str, Any]) -> None:
        """Run it; whether it can be done is known later, at the end of the transaction at the latest."""
        if connection.dialect.name == "sqlite":
            self._cursor(connection, values)
        else:
            self._sent.send(connection, values)

    def run(self, connection: Connection, values: Mapping[str, Any]) -> int:
        """Run it; how many rows it changed."""
        if connection.dialect.name != "sqlite":
            return connection.execute(self._statement, values).rowcount
        return self._cursor(connection, values).rowcount

    def ask(
        self, connection: Connection, values: Mapping[str, Any], make: Callable[[Sequence[Any]], T]
    ) -> Callable[[], T | None]:
        """Run it; what is returned gives what `make` makes of the first row, None where there is none.

        It can be called later, also after the transaction.
        """
        if connection.dialect.name != "sqlite":
            asked = self._sent.send(connection, values)
            return lambda: None if (row := asked()) is None else make(row)
        row = self.first(connection, values)
        return lambda: None if row is None else make(row)

    def first(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[Any] | None:
        """The first row, None where there is none."""
        if connection.dialect.name != "sqlite":
            return self._sent.send(connection, values)()
        cursor = self._cursor(connection, values)
        row = cursor.fetchone()
        cursor.close()
        if row is None or not self._results:
            return row  # type: ignore[no-any-return]
        fields = list(row)
        for i, convert in self._results:
            fields[i] = convert(fields[i])
        return fields

    def row(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """The first row with its columns by name, None where there is none."""
        row = self.first(connection, values)
        return None if row is None else self.named(row)

    def named(self, row: Sequence[Any]) -> Any:
        """A row with its columns by name."""
        return self._row._make(row)
