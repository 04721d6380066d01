"""What the server must remember about itself."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from qrowd.collect.store.schema import setting


def _insert(connection: Connection, name: str, value: str) -> sqlite.Insert | postgresql.Insert:
    make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    return make(setting).values(name=name, value=value)


def secret(connection: Connection) -> bytes:
    """The 32 random bytes that the server signs with, made the first time (needs a writing connection then)."""
    if (found := get_setting(connection, "secret")) is None:
        made = secrets.token_hex(32)
        connection.execute(_insert(connection, "secret", made).on_conflict_do_nothing())
        found = get_setting(connection, "secret") or made
    return bytes.fromhex(found)


def get_setting(connection: Connection, name: str) -> str | None:
    """What was set under a name."""
    value = connection.scalar(select(setting.c.value).where(setting.c.name == name))
    return None if value is None else str(value)


def put_setting(connection: Connection, name: str, value: str) -> None:
    """Set it, whatever it was."""
    insert = _insert(connection, name, value)
    connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_={"value": value}))
