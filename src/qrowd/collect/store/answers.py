"""What has been said, row by row: written as differences, since most of a unit stays as it was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Table, and_, bindparam, delete
from sqlalchemy.dialects import postgresql, sqlite

from qrowd.collect.store.schema import bad_mark, judgment, preference

ANSWERS = (judgment, preference, bad_mark)


def _upsert(table: Table, dialect: str) -> Any:
    insert = (sqlite if dialect == "sqlite" else postgresql).insert(table)
    keys = {column.name for column in table.primary_key}
    return insert.on_conflict_do_update(
        index_elements=list(table.primary_key),
        set_={column.name: insert.excluded[column.name] for column in table.c if column.name not in keys},
    )


_UPSERT = {(table.name, dialect): _upsert(table, dialect) for table in ANSWERS for dialect in ("sqlite", "postgresql")}
_DELETE = {
    table.name: delete(table).where(and_(*(column == bindparam("old_" + column.name) for column in table.primary_key)))
    for table in ANSWERS
}


def save_answers(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add these rows, or change those that have their key."""
    if listed := list(rows):
        connection.execute(_UPSERT[table.name, connection.dialect.name], listed)


def remove_answers(connection: Connection, table: Table, keys: Iterable[Mapping[str, Any]]) -> None:
    """Take the rows with these keys away; the events that made them stay."""
    if listed := [{"old_" + name: value for name, value in key.items()} for key in keys]:
        connection.execute(_DELETE[table.name], listed)
