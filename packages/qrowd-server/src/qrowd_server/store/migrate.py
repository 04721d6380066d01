"""Making the tables of a new store, and bringing those of an older one up to date step by step, with Alembic."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from qrowd_server.store.base import StoreError
from qrowd_server.store.schema import metadata

HEAD = "0001"  # the newest step in migrations/versions


def version(connection: Connection) -> str | None:
    """The last step this database has gone through; None where it holds no tables of ours."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    number = connection.scalar(text("select version_num from alembic_version"))
    return None if number is None else str(number)


def check_version(connection: Connection, name: str, *, allow_older: bool = False) -> None:
    """Refuse what this qrowd cannot read. allow_older : it is brought up to date afterwards.

    Raises
    ------
    StoreError
        No store, an older or a newer one.
    """
    current = version(connection)
    if current is None:
        raise StoreError(f"{name}: holds no store of qrowd; open it with create=True to make one")
    if current > HEAD:
        raise StoreError(f"{name}: made by a newer qrowd (version {current} of its tables, not {HEAD}); update qrowd")
    if current < HEAD and not allow_older:
        raise StoreError(f"{name}: made by an older qrowd; open it once without read_only to bring it up to date")


def bring_up_to_date(connection: Connection, name: str) -> None:
    """Make the tables of an empty database, or run the steps an older one lacks, in the transaction of `connection`.

    A new store is made from the schema and stamped with the newest step, so no step repeats the schema.

    Raises
    ------
    StoreError
        Tables made by a newer qrowd, or by another program.
    """
    current = version(connection)
    if current == HEAD:
        return
    if current is not None and current > HEAD:
        check_version(connection, name)
    if current is None and (others := sorted(inspect(connection).get_table_names())):
        raise StoreError(f"{name}: holds tables of another program ({', '.join(others[:5])}); name an empty database")
    # Only now: importing Alembic takes a while, and most starts need none of it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    if current is None:
        metadata.create_all(connection)
        command.stamp(config, HEAD)
    else:
        command.upgrade(config, HEAD)
