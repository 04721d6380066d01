"""The log: what happened, in order, never changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, exists, func, insert, select, text

from qrowd_server.store.schema import assignment, event

CHUNK = 1000  # rows fetched at a time


class LogEntry(NamedTuple):
    """One event of the log, as the table has it.

    time : seconds since 1970. actor : assessor, owner or server. late : kept, and never counted.
    idem_key : of the form that caused it, stored once for ever; digest : of what the form held.
    account : of an owner's event, the account that caused it, "command line" or "key NAME".
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
    account: str | None = None
    id: int = 0


_COLUMNS = LogEntry._fields[:-1]
_ADD = insert(event).returning(event.c.id, sort_by_parameter_order=True)
ALL = select(*(event.c[name] for name in LogEntry._fields))
_BY_KEY = ALL.where(event.c.idem_key == bindparam("key"))
_BY_OWNER = text("actor = 'owner'")  # as the index has it


def append(connection: Connection, events: Sequence[LogEntry]) -> list[int]:
    """Write events into the log, in this order; their numbers."""
    if not events:
        return []
    return list(connection.scalars(_ADD, [dict(zip(_COLUMNS, one, strict=False)) for one in events]))


def note(
    connection: Connection,
    campaign_id: int,
    kind: str,
    data: Mapping[str, Any],
    at: float,
    *,
    account: str | None = None,
    actor: str = "owner",
) -> None:
    """Write an event of a campaign as a whole. account : of an owner."""
    append(connection, [LogEntry(at, campaign_id, None, None, None, actor, kind, data, account=account)])


def by_key(connection: Connection, idem_key: str) -> LogEntry | None:
    """The event that a form with this key caused, if it was ever stored."""
    row = connection.execute(_BY_KEY, {"key": idem_key}).first()
    return None if row is None else LogEntry._make(row)


def of_unit(connection: Connection, unit_id: int, *, after: int = 0) -> list[LogEntry]:
    """What happened in the assignments of one unit, oldest first, but for those of models beside people.

    after : only events with a higher number.
    """
    is_beside = exists().where(assignment.c.id == event.c.assignment_id, assignment.c.slot < 0)
    query = ALL.where(event.c.unit_id == unit_id, event.c.id > after, ~is_beside)
    return [LogEntry._make(row) for row in connection.execute(query.order_by(event.c.id))]


def of_campaign(connection: Connection, campaign_id: int) -> Iterator[LogEntry]:
    """Everything that happened in a campaign, oldest first."""
    rows = connection.execute(
        ALL.where(event.c.campaign_id == campaign_id).order_by(event.c.id), execution_options={"yield_per": CHUNK}
    )
    return map(LogEntry._make, rows)


def of_kind(connection: Connection, campaign_id: int, kind: str) -> list[LogEntry]:
    """The events of one kind of a campaign as a whole, oldest first."""
    query = ALL.where(event.c.campaign_id == campaign_id, event.c.assessor_id.is_(None), event.c.kind == kind)
    return [LogEntry._make(row) for row in connection.execute(query.order_by(event.c.id))]


def of_owners(connection: Connection, campaign_id: int, n: int, skipped: int = 0) -> list[LogEntry]:
    """What owners did in a campaign, the newest first: n events after so many skipped ones."""
    query = ALL.where(event.c.campaign_id == campaign_id, _BY_OWNER).order_by(event.c.id.desc())
    return [LogEntry._make(row) for row in connection.execute(query.limit(n).offset(skipped))]


def count_of_owners(connection: Connection, campaign_id: int) -> int:
    """How many events owners caused in a campaign."""
    query = select(func.count()).select_from(event).where(event.c.campaign_id == campaign_id, _BY_OWNER)
    return int(connection.execute(query).scalar_one())


def last_of_owners(connection: Connection, campaign_id: int, kinds: Sequence[str]) -> int:
    """The number of the last event of these kinds that an owner caused; 0 where there is none."""
    query = select(func.max(event.c.id)).where(event.c.campaign_id == campaign_id, _BY_OWNER, event.c.kind.in_(kinds))
    return connection.execute(query).scalar_one() or 0
