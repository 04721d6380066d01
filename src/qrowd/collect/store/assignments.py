"""Who has which unit: slots, leases, and the current state of assignments.

A unit has as many slots as judgments are wanted of it; an assignment holds one. That nobody gets a topic twice, that
nobody holds two units, and that no slot is held twice are constraints of the tables, not counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, select, update

from qrowd.collect.store.schema import STATE, assignment, pair_lease, slot, unit


@dataclass(frozen=True)
class AssignmentRow:
    """One assignment, as the table has it; `state` is the protocol's, as JSON."""

    id: int
    campaign_id: int
    topic_id: int
    unit_id: int
    slot: int
    assessor_id: int
    status: str
    counts: bool
    seed: int
    lease_until: float
    version: int
    state: dict[str, Any]
    created: float
    updated: float

    @property
    def holds_slot(self) -> bool:
        """Whether nobody else can have its slot."""
        return self.status in ("open", "completed")


@dataclass(frozen=True)
class Slot:
    """A place for one assignment."""

    unit_id: int
    number: int
    topic_id: int


_FIELDS = tuple(AssignmentRow.__dataclass_fields__)
_COLUMNS = [assignment.c[name] for name in _FIELDS]
_BY_ID = select(*_COLUMNS).where(assignment.c.id == bindparam("id"))
_BY_ID_LOCKED = _BY_ID.with_for_update()
_OF_ASSESSOR = select(*_COLUMNS).where(assignment.c.assessor_id == bindparam("assessor")).order_by(assignment.c.created)
_LOCK_UNIT = select(unit.c.id).where(unit.c.id == bindparam("unit")).with_for_update()

_seen_topics = select(assignment.c.topic_id).where(assignment.c.assessor_id == bindparam("assessor"))


def _free(*conditions: Any) -> Select[Any]:
    return (
        select(slot.c.unit_id, slot.c.number, slot.c.topic_id)
        .where(
            slot.c.campaign_id == bindparam("campaign"),
            slot.c.assignment_id.is_(None),
            slot.c.topic_id.not_in(_seen_topics),
            *conditions,
        )
        .order_by(slot.c.lottery)
        .limit(1)
    )


_AFTER, _BEFORE = _free(slot.c.lottery >= bindparam("pivot")), _free(slot.c.lottery < bindparam("pivot"))
_FREE = {False: (_AFTER, _BEFORE), True: tuple(s.with_for_update(of=slot, skip_locked=True) for s in (_AFTER, _BEFORE))}
_LAPSED = (
    select(*_COLUMNS)
    .where(
        assignment.c.campaign_id == bindparam("campaign"),
        assignment.c.status == "open",
        assignment.c.lease_until < bindparam("at"),
        assignment.c.topic_id.not_in(_seen_topics.correlate(None)),
    )
    .order_by(assignment.c.lease_until)
    .limit(1)
)
_LAPSED_LOCKED = _LAPSED.with_for_update(skip_locked=True)
_NEXT_LAPSE = select(func.min(assignment.c.lease_until)).where(
    assignment.c.campaign_id == bindparam("campaign"),
    assignment.c.status == "open",
    assignment.c.topic_id.not_in(_seen_topics.correlate(None)),
)
_HOLD = (
    update(slot)
    .where(slot.c.unit_id == bindparam("unit"), slot.c.number == bindparam("place"), slot.c.assignment_id.is_(None))
    .values(assignment_id=bindparam("holder"))
)
_RELEASE = (
    update(slot)
    .where(
        slot.c.unit_id == bindparam("unit"),
        slot.c.number == bindparam("place"),
        slot.c.assignment_id == bindparam("holder"),
    )
    .values(assignment_id=None)
)
_CHANGING = ("status", "counts", "lease_until", "version", "state", "updated")
_UPDATE = (
    update(assignment)
    .where(assignment.c.id == bindparam("which"))
    .values({name: bindparam(name) for name in _CHANGING})
)


def find_assignment(connection: Connection, id: int, *, lock: bool = False) -> AssignmentRow | None:
    """One assignment; `lock` keeps others from changing it until the end."""
    row = connection.execute(_BY_ID_LOCKED if lock else _BY_ID, {"id": id}).first()
    return None if row is None else AssignmentRow(*row)


def of_assessor(connection: Connection, assessor_id: int) -> list[AssignmentRow]:
    """All units somebody ever had, the first first."""
    return [AssignmentRow(*row) for row in connection.execute(_OF_ASSESSOR, {"assessor": assessor_id})]


def lock_unit(connection: Connection, unit_id: int) -> None:
    """Whoever works on this unit together does so one after another (one writer does that by itself)."""
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCK_UNIT, {"unit": unit_id})


def free_slot(
    connection: Connection, campaign_id: int, assessor_id: int, pivot: float, *, lock: bool = True
) -> Slot | None:
    """The first free slot from `pivot` on, in the order of the lottery, of a topic the assessor never had.

    lock : keep others from taking it until the end of the transaction; False only looks.
    """
    named = {"campaign": campaign_id, "assessor": assessor_id, "pivot": pivot}
    for statement in _FREE[lock]:
        if (row := connection.execute(statement, named).first()) is not None:
            return Slot(*row)
    return None


def lapsed(
    connection: Connection, campaign_id: int, assessor_id: int, at: float, *, lock: bool = True
) -> AssignmentRow | None:
    """The unit that has been left alone longest, beyond its lease, of a topic the assessor never had.

    lock : keep others from changing it until the end of the transaction, and pass over what others keep so.
    """
    statement = _LAPSED_LOCKED if lock else _LAPSED
    row = connection.execute(statement, {"campaign": campaign_id, "assessor": assessor_id, "at": at}).first()
    return None if row is None else AssignmentRow(*row)


def next_lapse(connection: Connection, campaign_id: int, assessor_id: int) -> float | None:
    """When the next unit might come back that this assessor could have."""
    value = connection.execute(_NEXT_LAPSE, {"campaign": campaign_id, "assessor": assessor_id}).scalar()
    return None if value is None else float(value)


def add_assignments(connection: Connection, rows: Sequence[AssignmentRow]) -> None:
    """New ones, and their slots are held."""
    if not rows:
        return
    connection.execute(assignment.insert(), [{name: getattr(row, name) for name in _FIELDS} for row in rows])
    for row in rows:
        if row.holds_slot:
            hold_slot(connection, row)


def save_assignment(connection: Connection, row: AssignmentRow) -> None:
    """What may change about one."""
    connection.execute(_UPDATE, {"which": row.id, **{name: getattr(row, name) for name in _CHANGING}})


def hold_slot(connection: Connection, row: AssignmentRow) -> bool:
    """Take its slot, if that is free."""
    named = {"unit": row.unit_id, "place": row.slot, "holder": row.id}
    return connection.execute(_HOLD, named).rowcount == 1


def release_slot(connection: Connection, row: AssignmentRow) -> None:
    """Somebody else may have its slot."""
    connection.execute(_RELEASE, {"unit": row.unit_id, "place": row.slot, "holder": row.id})


def clear(connection: Connection, campaign_id: int) -> None:
    """Remove all that the events of a campaign add up to; its slots stay, and are free."""
    own = select(assignment.c.id).where(assignment.c.campaign_id == campaign_id)
    connection.execute(delete(pair_lease).where(pair_lease.c.assignment_id.in_(own)))
    connection.execute(update(slot).where(slot.c.campaign_id == campaign_id).values(assignment_id=None))
    for table in STATE:
        if table not in (pair_lease, slot):
            connection.execute(delete(table).where(table.c.campaign_id == campaign_id))
