"""What every store does, whatever database holds it: run a piece of work in one transaction.

A work is a function of a connection. It may be run again, so it does nothing but talk to that connection, never
commits, and does not go on after a database error unless it opened `connection.begin_nested()` before.

StoreError               nothing of this work is in the store
|-- StoreFullError       the disk is full or does not answer; works again once it does
|-- StoreBusyError       too much at once, or no connection; try again later
|-- StoreUnknownError    the connection was lost during the commit: look the form's key up, or send it again
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from sqlalchemy import URL, Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from qrowd.errors import QrowdError

T = TypeVar("T")
Work = Callable[[Connection], T]


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


class Store(ABC):
    """Where everything is kept. Made by `open_store`; closed by `close` or at the end of `with`.

    dialect : which database it is. url : where; its text hides the password. read_only : nothing can be written.
    """

    dialect: Literal["sqlite", "postgresql"]
    url: URL
    read_only: bool

    @abstractmethod
    def write(self, work: Work[T]) -> T:
        """What `work(connection)` returns, once it is safe on disk; if it raises, nothing of it is stored.

        Raises
        ------
        StoreFullError, StoreBusyError, StoreUnknownError
            It could not be stored; see there what to do.
        """

    @abstractmethod
    async def write_async(self, work: Work[T]) -> T:
        """Like `write`, for a caller on an event loop; `work` runs in another thread."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees the store as it was at its first statement, whatever is written meanwhile."""

    def read(self, work: Work[T]) -> T:
        """What `work(connection)` returns, all of it seen at one moment; it cannot write."""
        with self.reading() as connection:
            return work(connection)

    @abstractmethod
    async def read_async(self, work: Work[T], *, long: bool = False) -> T:
        """Like `read`, for a caller on an event loop. long : it takes more than some milliseconds."""

    def stream(self, work: Work[Iterable[T]]) -> Iterator[T]:
        """What `work(connection)` yields, one at a time, all of it seen at one moment."""
        with self.reading() as connection:
            yield from work(connection)

    @abstractmethod
    def erase_deleted(self) -> bool:
        """Clear the files of the tables, so that nothing of rows that were removed or changed stays in them.

        Others wait meanwhile. Whether the write-ahead log holds nothing of them either: False for PostgreSQL, whose log
        is kept for its own rules, and for SQLite where somebody else reads the file at that moment.
        """

    @abstractmethod
    def waiting(self) -> int:
        """How many works wait for their turn."""

    @abstractmethod
    def close(self) -> None:
        """Finish what was handed in, and let go of the database. A second time does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.url.render_as_string(hide_password=True)!r}{', read_only=True' if self.read_only else ''})"


@cache
def upsert_into(table: Table, dialect: str, keep: bool = False) -> Any:
    """The statement of `upsert`."""
    insert = (sqlite if dialect == "sqlite" else postgresql).insert(table)
    if keep:
        return insert.on_conflict_do_nothing()
    values = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=values)


def upsert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]], *, keep: bool = False) -> None:
    """Add rows to a table, or change those that have their key; with `keep`, leave those as they are."""
    if batch := list(rows):
        connection.execute(upsert_into(table, connection.dialect.name, keep), batch)
