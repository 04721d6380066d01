"""Opening a store: a SQLite file, or a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError as UrlError

from qrowd.collect.store.base import Store
from qrowd.errors import ArgumentError


def open_store(
    url: str | Path | URL, *, create: bool = True, read_only: bool = False, beside_server: bool = False, size: int = 4
) -> Store:
    """Open a store, and bring its tables up to date.

    url : "sqlite:///relative/path", "sqlite:////absolute/path", the path of a SQLite file, or
        "postgresql://user:password@host/database".
    create : make the file or the tables where there are none yet.
    read_only : only look; possible also while a server writes.
    beside_server : write, also while a server writes to the same file; only for new rows and for what no server keeps
        in memory, such as invitations and the status of a campaign; never to remove rows, whose numbers are used again.
    size : how many transactions PostgreSQL runs at once, at most; threads that wait for their turn cost processor time.

    Raises
    ------
    StoreError
        There is no such store, another qrowd writes to this file, or a newer qrowd made it.

    >>> store = open_store("judgments.db")  # doctest: +SKIP
    >>> store.read(lambda connection: connection.scalar(select(func.count(event.c.id))))  # doctest: +SKIP
    0
    """
    where = _url(url)
    if where.get_backend_name() == "sqlite":
        if where.database in (None, "", ":memory:"):
            raise ArgumentError(f"{url}: a store needs a file, such as sqlite:///judgments.db")
        from qrowd.collect.store.sqlite import SqliteStore

        return SqliteStore(Path(str(where.database)), create=create, read_only=read_only, beside_server=beside_server)
    if where.get_backend_name() == "postgresql":
        from qrowd.collect.store.postgres import PostgresStore

        return PostgresStore(where.set(drivername="postgresql+psycopg"), create=create, read_only=read_only, size=size)
    raise ArgumentError(f"{where.drivername}: stores are sqlite or postgresql")


def _url(url: str | Path | URL) -> URL:
    if isinstance(url, URL):
        return url
    if isinstance(url, Path) or ":/" not in url:
        return URL.create("sqlite", database=str(url))
    try:
        return make_url(url.replace("postgres://", "postgresql://", 1))
    except (UrlError, ValueError):  # the text is not repeated: there may be a password in it
        raise ArgumentError("not the address of a store; write a path or postgresql://user:password@host/db") from None
