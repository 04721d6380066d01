"""What the server keeps for itself: its secret, its address, links that were printed."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, delete, select

from qrowd_server.store.base import upsert
from qrowd_server.store.schema import setting

BASE_URL = "base_url"  # the setting with the address of the last server


def secret(connection: Connection) -> bytes:
    """The 32 random bytes that the server signs with, made the first time (needs a writing connection then)."""
    if (text := get_setting(connection, "secret")) is None:
        new = secrets.token_hex(32)
        upsert(connection, setting, [{"name": "secret", "value": new}], keep=True)
        text = get_setting(connection, "secret") or new
    return bytes.fromhex(text)


def get_setting(connection: Connection, name: str) -> str | None:
    """The value of a setting, None where there is none."""
    value = connection.scalar(select(setting.c.value).where(setting.c.name == name))
    return None if value is None else str(value)


def take_setting(connection: Connection, name: str) -> str | None:
    """The value of a setting, which is removed; None where there is none. Only one caller gets it."""
    return connection.scalar(delete(setting).where(setting.c.name == name).returning(setting.c.value))


def put_setting(connection: Connection, name: str, value: str) -> None:
    """Set a value, also in place of another."""
    upsert(connection, setting, [{"name": name, "value": value}])
