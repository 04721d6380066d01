"""The log: what happened, in order, never changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select

from qrowd.collect.store.base import to_json
from qrowd.collect.store.schema import event

CHUNK = 1000  # rows fetched at a time


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event of the log.

    time : seconds since 1970. actor : assessor, owner or server. late : kept, and never counted.
    idem_key : of the form that caused it, stored once for ever; digest : of what the form held.
    id : its number in the log, which rises with every event of an assignment; 0 before it is stored.
    """

    time: float
    campaign_id: int
    assessor_id: int | None
    assignment_id: int | None
    unit_id: int | None
    actor: str
    kind: str
    data: Mapping[str, Any]
    late: bool = False
    idem_key: str | None = None
    digest: str | None = None
    id: int = 0


_COLUMNS = [column.name for column in event.columns if column.name != "id"]
_ONE = f"insert into event ({', '.join(_COLUMNS)}) values ({', '.join(['%s'] * len(_COLUMNS))}) returning id"
_ONE_OF = {"sqlite": _ONE.replace("%s", "?"), "postgresql": _ONE}
_MANY = insert(event).returning(event.c.id, sort_by_parameter_order=True)
_ALL = select(*(event.c[name] for name in LogEntry.__slots__))
_BY_KEY = _ALL.where(event.c.idem_key == bindparam("key"))
_OF_ASSIGNMENT = _ALL.where(event.c.assignment_id == bindparam("of"), event.c.id > bindparam("after"))
_OF_UNIT = _ALL.where(event.c.unit_id == bindparam("of"), event.c.id > bindparam("after"))
_OF_CAMPAIGN = _ALL.where(event.c.campaign_id == bindparam("of"), event.c.id > bindparam("after"))


def append(connection: Connection, events: Sequence[LogEntry]) -> list[int]:
    """Write events into the log, in this order; their numbers.

    Raises
    ------
    sqlalchemy.exc.IntegrityError
        An `idem_key` that is there already.
    """
    if len(events) == 1:  # nearly always; a third of the time that the general way takes
        values = tuple(to_json(events[0].data) if n == "data" else getattr(events[0], n) for n in _COLUMNS)
        return [connection.exec_driver_sql(_ONE_OF[connection.dialect.name], values).scalar_one()]
    if not events:
        return []
    return list(connection.scalars(_MANY, [{name: getattr(one, name) for name in _COLUMNS} for one in events]))


def by_key(connection: Connection, idem_key: str) -> LogEntry | None:
    """The event that a form with this key caused, if it was ever stored."""
    row = connection.execute(_BY_KEY, {"key": idem_key}).one_or_none()
    return None if row is None else LogEntry(*row)


def of_assignment(connection: Connection, assignment_id: int, *, after: int = 0) -> Iterator[LogEntry]:
    """What happened to one assignment, oldest first."""
    return _streamed(connection, _OF_ASSIGNMENT, {"of": assignment_id, "after": after})


def of_unit(connection: Connection, unit_id: int, *, after: int = 0) -> Iterator[LogEntry]:
    """What happened in all assignments of one unit, oldest first. after : only events with a higher number."""
    return _streamed(connection, _OF_UNIT, {"of": unit_id, "after": after})


def of_campaign(
    connection: Connection, campaign_id: int, *, after: int = 0, limit: int | None = None
) -> Iterator[LogEntry]:
    """Everything that happened in a campaign, oldest first. after : only events with a higher number."""
    return _streamed(connection, _OF_CAMPAIGN.limit(limit), {"of": campaign_id, "after": after})


def _streamed(connection: Connection, query: Select[Any], values: dict[str, int]) -> Iterator[LogEntry]:
    rows = connection.execute(query.order_by(event.c.id), values, execution_options={"yield_per": CHUNK})
    return (LogEntry(*row) for row in rows)
