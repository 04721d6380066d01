"""The current state, which the log adds up to: assessors, assignments and their slots, answers, pairs; and drafts.

A unit has as many slots as judgments are wanted of it; an assignment holds one. That nobody gets a topic twice, that
nobody holds two units, and that no slot is held twice are constraints of the tables, not counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from qrowd_server.store.schema import MODEL, STATE, assessor, assignment, campaign, pair_lease, slot, unit

# ---- assessors


@dataclass(frozen=True)
class AssessorRow:
    """One assessor, as the table has it; `state` is the journey's, as JSON."""

    id: int
    campaign_id: int
    name: str
    provider: str
    external_id: str
    seed: int
    created: float
    updated: float
    status: str = ""
    excluded: str | None = None
    current_id: int | None = None
    state: dict[str, Any] = field(default_factory=dict)
    pseudonym: str | None = None

    @property
    def is_model(self) -> bool:
        """Whether it is a language model, not a person."""
        return self.provider == MODEL

    @property
    def label(self) -> str:
        """As exports have it: the pseudonym of a person, the name of a model."""
        return self.pseudonym or self.name


def _values(row: AssessorRow | AssignmentRow, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


_ASSESSOR = tuple(AssessorRow.__dataclass_fields__)
_ASSESSORS = select(*(assessor.c[name] for name in _ASSESSOR))
_CHANGING_ASSESSOR = ("status", "excluded", "current_id", "state", "updated")
# What every action runs is built once: that takes as long as running it.
_THIS_ASSESSOR = assessor.c.id == bindparam("this")
_FIND_ASSESSOR = _ASSESSORS.join(campaign).add_columns(campaign.c.status, campaign.c.stamp).where(_THIS_ASSESSOR)
_SAVE_ASSESSOR = update(assessor).where(_THIS_ASSESSOR)


def find_assessor(connection: Connection, id: int) -> tuple[AssessorRow, str, int] | None:
    """An assessor, and status and stamp of the campaign."""
    row = connection.execute(_FIND_ASSESSOR, {"this": id}).first()
    return None if row is None else (AssessorRow(*row[:-2]), row[-2], row[-1])


def is_model(connection: Connection, id: int) -> bool:
    """Whether an assessor is a language model, not a person."""
    return connection.scalar(select(assessor.c.provider).where(assessor.c.id == id)) == MODEL


def _assessors(connection: Connection, *conditions: ColumnElement[bool]) -> list[AssessorRow]:
    rows = connection.execute(_ASSESSORS.where(*conditions).order_by(assessor.c.created))
    return [AssessorRow(*row) for row in rows]


def find_identity(connection: Connection, campaign_id: int, provider: str, external_id: str) -> AssessorRow | None:
    """Whoever came to this campaign by this provider under this id."""
    identity = assessor.c.provider == provider, assessor.c.external_id == external_id
    return next(iter(_assessors(connection, assessor.c.campaign_id == campaign_id, *identity)), None)


def find_named(connection: Connection, campaign_id: int, name: str) -> AssessorRow | None:
    """Whoever is called that in this campaign."""
    return next(iter(_assessors(connection, assessor.c.campaign_id == campaign_id, assessor.c.name == name)), None)


def assessors_of(connection: Connection, campaign_id: int) -> list[AssessorRow]:
    """Everybody who takes part, in the order they came."""
    return _assessors(connection, assessor.c.campaign_id == campaign_id)


def next_pseudonym(connection: Connection, campaign_id: int) -> str:
    """The pseudonym of the next person who comes."""
    named = assessor.c.campaign_id == campaign_id, assessor.c.pseudonym.is_not(None)
    n: int = connection.execute(select(func.count()).select_from(assessor).where(*named)).scalar_one()
    return f"a{n + 1}"


def add_assessors(connection: Connection, *rows: AssessorRow) -> None:
    """New ones."""
    if rows:
        connection.execute(insert(assessor), [_values(row, _ASSESSOR) for row in rows])


def save_assessor(connection: Connection, row: AssessorRow) -> None:
    """What may change about one."""
    connection.execute(_SAVE_ASSESSOR, {"this": row.id, **_values(row, _CHANGING_ASSESSOR)})


# ---- assignments and slots


@dataclass(frozen=True)
class AssignmentRow:
    """One assignment, as the table has it; `state` is the protocol's, as JSON."""

    id: int
    campaign_id: int
    topic_id: int
    unit_id: int
    slot: int
    assessor_id: int
    counts: bool
    seed: int
    lease_until: float
    created: float
    updated: float
    arm: str = ""
    status: str = "open"
    version: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)
    drawn_id: int = 0

    @property
    def holds_slot(self) -> bool:
        """Whether nobody else can have its slot."""
        return self.status in ("open", "completed")


class Slot(NamedTuple):
    """A place for one assignment."""

    unit_id: int
    number: int
    topic_id: int


_ASSIGNMENT = tuple(AssignmentRow.__dataclass_fields__)
_ASSIGNMENTS = select(*(assignment.c[name] for name in _ASSIGNMENT))
_CHANGING_ASSIGNMENT = ("status", "counts", "lease_until", "version", "state", "updated")
_THIS_ASSIGNMENT = assignment.c.id == bindparam("this")
_FIND_ASSIGNMENT, _SAVE_ASSIGNMENT = _ASSIGNMENTS.where(_THIS_ASSIGNMENT), update(assignment).where(_THIS_ASSIGNMENT)
_THIS_PLACE = and_(slot.c.unit_id == assignment.c.unit_id, slot.c.number == assignment.c.slot)
_IN_ORDER = assignment.c.created, assignment.c.id


def find_assignment(connection: Connection, id: int) -> AssignmentRow | None:
    """One assignment."""
    row = connection.execute(_FIND_ASSIGNMENT, {"this": id}).first()
    return None if row is None else AssignmentRow(*row)


def assignments_of(connection: Connection, assessor_id: int) -> list[AssignmentRow]:
    """All units an assessor ever had, the first first."""
    query = _ASSIGNMENTS.where(assignment.c.assessor_id == assessor_id).order_by(assignment.c.created)
    return [AssignmentRow(*row) for row in connection.execute(query)]


def places_of(connection: Connection, assessor_id: int) -> list[tuple[int, str]]:
    """(row of the Latin square, arm) of all units that an assessor ever had, the first first."""
    query = select(slot.c.latin_row, slot.c.arm).join(assignment, _THIS_PLACE).order_by(*_IN_ORDER)
    return [(row, arm) for row, arm in connection.execute(query.where(assignment.c.assessor_id == assessor_id))]


def places(connection: Connection, campaign_id: int) -> Iterator[tuple[int, int, str, str, float]]:
    """(assessor, row of the Latin square, arm, status, end of the lease) of all units, the first first."""
    columns = assignment.c.assessor_id, slot.c.latin_row, slot.c.arm, assignment.c.status, assignment.c.lease_until
    query = select(*columns).join(slot, _THIS_PLACE).where(assignment.c.campaign_id == campaign_id)
    yield from (tuple(row) for row in connection.execute(query.order_by(*_IN_ORDER)))


def _not_had(assessor_id: int, table: Table) -> ColumnElement[bool]:
    """Whether an assessor never had the topic; where a question draws documents, whether they never had the unit.

    table : slots or assignments.
    """
    had = assignment.alias("had")
    same_unit = or_(had.c.drawn_id == 0, had.c.drawn_id == table.c.unit_id)
    return ~exists().where(had.c.assessor_id == assessor_id, had.c.topic_id == table.c.topic_id, same_unit)


def free_slot(
    connection: Connection,
    campaign_id: int,
    assessor_id: int,
    pivot: float = 0.0,
    *,
    arm: str | None = None,
    latin_row: int | None = None,
) -> Slot | None:
    """The first free slot from `pivot` on, in the order of the lottery, of a topic the assessor never had.

    arm, latin_row : only slots of this arm, and in this row of the Latin square; None for any. A row needs an arm.
    """
    free = slot.c.campaign_id == campaign_id, slot.c.assignment_id.is_(None), _not_had(assessor_id, slot)
    query = select(slot.c.unit_id, slot.c.number, slot.c.topic_id).where(*free).order_by(slot.c.lottery).limit(1)
    if arm is not None:
        query = query.where(slot.c.arm == arm, slot.c.arm != literal_column("''"))  # as the index has it
    if latin_row is not None:
        query = query.where(slot.c.latin_row == latin_row)
    for part in (slot.c.lottery >= pivot, slot.c.lottery < pivot):
        if (row := connection.execute(query.where(part)).first()) is not None:
            return Slot(*row)
    return None


def place_beside(connection: Connection, campaign_id: int, assessor_id: int) -> Slot | None:
    """A place for a model beside people: a slot below 0 of a unit of a topic that it never had.

    It comes from the arm in which the model has had the fewest units.
    """
    others, own = assignment.alias("others"), assignment.alias("own")
    of_unit = others.c.campaign_id == campaign_id, others.c.topic_id == unit.c.topic_id, others.c.unit_id == unit.c.id
    number = select(-1 - func.count()).where(*of_unit).scalar_subquery()  # which no earlier assignment has
    is_new = ~exists().where(assignment.c.assessor_id == assessor_id, assignment.c.topic_id == unit.c.topic_id)
    had = (
        select(own.c.arm, func.count().label("n"))
        .where(own.c.assessor_id == assessor_id)
        .group_by(own.c.arm)
        .subquery()
    )
    query = (
        select(unit.c.id, number, unit.c.topic_id)
        .select_from(unit.outerjoin(had, had.c.arm == unit.c.arm))
        .where(unit.c.campaign_id == campaign_id, is_new)
        .order_by(func.coalesce(had.c.n, 0), unit.c.id)
    )
    row = connection.execute(query.limit(1)).first()
    return None if row is None else Slot(*row)


def given_back(connection: Connection, assessor_id: int, before: float) -> list[AssignmentRow]:
    """Units that an assessor gave back before this time and that nobody else has, the first first."""
    is_free = exists().where(_THIS_PLACE, slot.c.assignment_id.is_(None))
    ended = assignment.c.assessor_id == assessor_id, assignment.c.status == "expired", assignment.c.updated < before
    query = _ASSIGNMENTS.where(*ended, or_(assignment.c.slot < 0, is_free)).order_by(assignment.c.updated)
    return [AssignmentRow(*row) for row in connection.execute(query)]


def _open_of_others(campaign_id: int, assessor_id: int) -> tuple[ColumnElement[bool], ...]:
    is_open = assignment.c.campaign_id == campaign_id, assignment.c.status == "open", assignment.c.slot >= 0
    return *is_open, _not_had(assessor_id, assignment)


def lapsed(
    connection: Connection,
    campaign_id: int,
    assessor_id: int,
    at: float,
    *,
    arm: str | None = None,
    latin_row: int | None = None,
) -> AssignmentRow | None:
    """The unit that has been left alone longest, beyond its lease, of a topic the assessor never had.

    arm, latin_row : both, as for `free_slot`, or neither.
    """
    query = _ASSIGNMENTS.where(*_open_of_others(campaign_id, assessor_id), assignment.c.lease_until < at)
    if latin_row is not None:
        query = query.join(slot, _THIS_PLACE).where(slot.c.arm == arm, slot.c.latin_row == latin_row)
    row = connection.execute(query.order_by(assignment.c.lease_until).limit(1)).first()
    return None if row is None else AssignmentRow(*row)


def next_lapse(connection: Connection, campaign_id: int, assessor_id: int) -> float | None:
    """When the next unit might come back that this assessor could have."""
    first: float | None = connection.scalar(
        select(func.min(assignment.c.lease_until)).where(*_open_of_others(campaign_id, assessor_id))
    )
    return first


def add_assignments(connection: Connection, rows: Sequence[AssignmentRow]) -> None:
    """New ones, and their slots are held."""
    if rows:
        connection.execute(insert(assignment), [_values(row, _ASSIGNMENT) for row in rows])
    for row in rows:
        if row.holds_slot:
            hold_slot(connection, row)


def save_assignment(connection: Connection, row: AssignmentRow) -> None:
    """What may change about one."""
    connection.execute(_SAVE_ASSIGNMENT, {"this": row.id, **_values(row, _CHANGING_ASSIGNMENT)})


def _slot(unit_id: int, number: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return slot.c.unit_id == unit_id, slot.c.number == number


def hold_slot(connection: Connection, row: AssignmentRow) -> bool:
    """Take its slot, if that is free; a place beside people is nobody else's."""
    if row.slot < 0:
        return True
    free = *_slot(row.unit_id, row.slot), slot.c.assignment_id.is_(None)
    return connection.execute(update(slot).where(*free).values(assignment_id=row.id)).rowcount == 1


def release_slot(connection: Connection, row: AssignmentRow) -> None:
    """Somebody else may have its slot, and those that were closed when it ended."""
    held = slot.c.unit_id == row.unit_id, slot.c.assignment_id.in_((row.id, -row.id))
    connection.execute(update(slot).where(*held).values(assignment_id=None))


def free_slots(connection: Connection, unit_id: int) -> list[int]:
    """The numbers of a unit's slots that nobody has."""
    free = slot.c.unit_id == unit_id, slot.c.assignment_id.is_(None)
    return list(connection.scalars(select(slot.c.number).where(*free).order_by(slot.c.number)))


def close_slots(connection: Connection, row: AssignmentRow, numbers: Sequence[int]) -> None:
    """Nobody gets these slots of its unit until it releases its own."""
    for number in numbers:
        connection.execute(update(slot).where(*_slot(row.unit_id, number)).values(assignment_id=-row.id))


def clear_state(connection: Connection, campaign_id: int) -> None:
    """Remove all that the events of a campaign add up to; its slots stay, and are free."""
    own = select(assignment.c.id).where(assignment.c.campaign_id == campaign_id)
    connection.execute(delete(pair_lease).where(pair_lease.c.assignment_id.in_(own)))
    connection.execute(update(slot).where(slot.c.campaign_id == campaign_id).values(assignment_id=None))
    for table in STATE:
        if table not in (pair_lease, slot):
            connection.execute(delete(table).where(table.c.campaign_id == campaign_id))
