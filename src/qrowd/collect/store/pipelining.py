"""Statements to PostgreSQL that are not waited for one by one: what they return is read later, all of it at once.

An answer is a dozen statements, and each one that is waited for costs more time in the two processes, which wake each
other, than its work. `Sent.send` hands a statement over and goes on. `settle` waits for all that were sent; any
statement of SQLAlchemy settles first, and so does `commit`, which ends the transaction in the same round trip.

https://www.postgresql.org/docs/current/libpq-pipeline-mode.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, cached_property
from typing import Any

from sqlalchemy import JSON, Connection
from sqlalchemy.exc import DBAPIError

PIPELINE = "pipeline"  # among what a connection of the pool carries with it


class Sent:
    """A statement as the driver takes it. to_json : the text of a value of a column of JSON."""

    def __init__(self, statement: Any, to_json: Callable[[Any], str]) -> None:
        self._statement, self._to_json = statement, to_json

    @cached_property
    def _compiled(self) -> tuple[str, dict[str, Any], tuple[str, ...]]:
        """Its text, its fixed values, and the names of values that are JSON."""
        from sqlalchemy.dialects.postgresql import psycopg

        dialect: Any = psycopg.dialect
        compiled: Any = self._statement.compile(dialect=dialect())
        fixed = {name: bind.value for name, bind in compiled.binds.items() if bind.value is not None}
        return str(compiled), fixed, tuple(name for name, bind in compiled.binds.items() if isinstance(bind.type, JSON))

    def send(self, connection: Connection, values: Mapping[str, Any]) -> Callable[[], tuple[Any, ...] | None]:
        """Send it; what is returned gives the first row, None where there is none, and settles if need be."""
        sql, fixed, texts = self._compiled
        values = {**fixed, **values}
        for name in texts:
            values[name] = self._to_json(values[name])
        cursor = _send(connection, sql, values)

        @cache
        def first() -> tuple[Any, ...] | None:
            if not connection.closed:  # otherwise it was settled with the commit
                settle(connection)
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

        return first


def begin(connection: Connection) -> None:
    """Begin a transaction with the first statement that is sent."""
    _send(connection, "begin isolation level read committed", None)


def settle(connection: Connection) -> None:
    """Wait for what was sent.

    Raises
    ------
    sqlalchemy.exc.DBAPIError
        One of the statements failed.
    """
    pipeline = connection.info.pop(PIPELINE, None)
    if pipeline is not None:
        _guarded(connection, lambda: pipeline.__exit__(None, None, None))


def commit(connection: Connection) -> None:
    """Settle, and end the transaction; SQLAlchemy's own commit finds nothing to do then."""
    if PIPELINE in connection.info:
        _send(connection, "commit", None)
        settle(connection)


def abandon(connection: Connection) -> None:
    """Forget what was sent, before the transaction is undone."""
    lost = connection.closed or connection.invalidated
    pipeline = None if lost else connection.info.pop(PIPELINE, None)
    if pipeline is not None:
        with suppress(Exception):
            pipeline.__exit__(None, None, None)


def _send(connection: Connection, sql: str, values: Mapping[str, Any] | None) -> Any:
    driver: Any = connection.connection.driver_connection

    def send() -> Any:
        if PIPELINE not in connection.info:
            pipeline = driver.pipeline()
            pipeline.__enter__()
            connection.info[PIPELINE] = pipeline
        return driver.execute(sql, values)

    return _guarded(connection, send)


def _guarded(connection: Connection, work: Callable[[], Any]) -> Any:
    """Do it; an error becomes one of SQLAlchemy's, and a lost connection goes back to no pool."""
    from psycopg import Error

    try:
        return work()
    except Error as error:
        driver: Any = connection.connection.driver_connection
        is_lost = driver.closed or driver.broken
        problem = DBAPIError.instance(
            None, None, error, Error, hide_parameters=True, connection_invalidated=is_lost, dialect=connection.dialect
        )
        if is_lost:
            abandon(connection)
            connection.invalidate(error)
        raise problem from error
