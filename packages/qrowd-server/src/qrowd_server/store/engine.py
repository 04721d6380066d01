"""Opening a store, a SQLite file or a PostgreSQL database, and bringing its tables up to date, with Alembic."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, Connection, inspect, make_url, text
from sqlalchemy.exc import ArgumentError as UrlError
from sqlalchemy.exc import DBAPIError

from qrowd.errors import ArgumentError
from qrowd_server.store.base import Database, GroupWriter, Store, StoreError
from qrowd_server.store.schema import metadata


def open_store(
    url: str | Path | URL, *, create: bool = True, read_only: bool = False, beside_server: bool = False
) -> Store:
    """Open a store, and bring its tables up to date.

    url : "sqlite:///relative/path", "sqlite:////absolute/path", the path of a SQLite file, or
        "postgresql://user:password@host/database".
    create : make the file or the tables where there are none yet.
    read_only : only look; possible also while a server writes.
    beside_server : write, also while a server writes to the same file; only for new rows and for what no server keeps
        in memory, such as invitations and the status of a campaign; never to remove rows, whose numbers are used again.
    >>> store = open_store("judgments.db")  # doctest: +SKIP
    >>> store.read(lambda connection: connection.scalar(select(func.count(event.c.id))))  # doctest: +SKIP
    0
    """
    where = _url(url)
    if where.get_backend_name() == "sqlite":
        if where.database in (None, "", ":memory:"):
            raise ArgumentError(f"{url}: a store needs a file, such as sqlite:///judgments.db")
        from qrowd_server.store.sqlite import SqliteFile

        database: Database = SqliteFile(Path(str(where.database)))
    elif where.get_backend_name() == "postgresql":
        from qrowd_server.store.postgres import PostgresDatabase

        database = PostgresDatabase(where.set(drivername="postgresql+psycopg"))
    else:
        raise ArgumentError(f"{where.drivername}: stores are sqlite or postgresql")
    database.check_place(create=create and not read_only)
    readers, lock = database.engine(read_only=True), None
    try:
        with readers.connect() as connection:
            joins = beside_server and version(connection) is not None
            if read_only or joins or not create:
                check_version(connection, database.name, allow_older=not read_only and not joins)
        if read_only:
            return Store(database, readers, None)
        lock = None if joins else database.hold()
        engine = database.engine(read_only=False)
        if not joins:
            with engine.begin() as connection:
                connection.exec_driver_sql(database.begin)
                bring_up_to_date(connection, database.name)
        return Store(database, readers, GroupWriter(database, engine), lock)
    except BaseException as error:
        readers.dispose()
        if lock is not None:
            lock.close()
        if isinstance(error, DBAPIError):
            raise database.explain(error) from error
        raise


def _url(url: str | Path | URL) -> URL:
    if isinstance(url, URL):
        return url
    if isinstance(url, Path) or ":/" not in url:
        return URL.create("sqlite", database=str(url))
    try:
        return make_url(url.replace("postgres://", "postgresql://", 1))
    except (UrlError, ValueError):  # the text is not repeated: there may be a password in it
        raise ArgumentError("not the address of a store; write a path or postgresql://user:password@host/db") from None


# ---- tables


FIRST, HEAD = "0003", "0003"  # the oldest step that can be brought up to date, and the newest in migrations/versions
MIGRATIONS = Path(__file__).with_name("migrations")


def version(connection: Connection) -> str | None:
    """The last step this database has gone through; None where it holds no tables of ours."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    number = connection.scalar(text("select version_num from alembic_version"))
    return None if number is None else str(number)


def check_version(connection: Connection, name: str, *, allow_older: bool = False) -> None:
    """Refuse what this qrowd cannot read. allow_older : it is brought up to date afterwards."""
    current = version(connection)
    if current is None:
        raise StoreError(f"{name}: holds no tables of qrowd; in an empty database qrowd serve makes them")
    if current > HEAD:
        raise StoreError(f"{name}: made by a newer qrowd (version {current} of its tables, not {HEAD}); update qrowd")
    if current < FIRST:
        raise StoreError(
            f"{name}: made before qrowd 0.3.0, which cannot read it; export it with the version that made it"
        )
    if current < HEAD and not allow_older:
        raise StoreError(f"{name}: made by an older qrowd; start qrowd serve once, which brings it up to date")


def bring_up_to_date(connection: Connection, name: str) -> None:
    """Make the tables of an empty database, or run the steps an older one lacks, in the transaction of `connection`.

    A new store is made from the schema and stamped with the newest step, so no step repeats the schema.
    """
    current = version(connection)
    if current == HEAD:
        return
    if current is not None:
        check_version(connection, name, allow_older=True)
    if current is None and (others := sorted(inspect(connection).get_table_names())):
        raise StoreError(f"{name}: holds tables of another program ({', '.join(others[:5])}); name an empty database")
    # Only now: importing Alembic takes a while, and most starts need none of it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    if current is None:
        metadata.create_all(connection)
        command.stamp(config, HEAD)
    else:
        command.upgrade(config, HEAD)
