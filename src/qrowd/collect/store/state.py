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
    Select,
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

from qrowd.collect.store.schema import (
    MODEL,
    STATE,
    assessor,
    assignment,
    campaign,
    pair_lease,
    slot,
)

# ---- assessors


@dataclass(frozen=True)
class AssessorRow:
    """One assessor, as the table has it; `state` is the journey's, as JSON."""

    id: int
    campaign_id: int
    name: str
    provider: str
    external_id: str
    identified: str
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
_ASSESSOR_BY_ID = (
    _ASSESSORS.add_columns(campaign.c.status, campaign.c.stamp)
    .join_from(assessor, campaign)
    .where(assessor.c.id == bindparam("id"))
)
_PROVIDER = select(assessor.c.provider).where(assessor.c.id == bindparam("id"))
_ASSESSORS_OF = _ASSESSORS.where(assessor.c.campaign_id == bindparam("campaign")).order_by(assessor.c.created)
_BY_IDENTITY = _ASSESSORS_OF.where(
    assessor.c.provider == bindparam("provider"), assessor.c.external_id == bindparam("external")
)
_BY_NAME = _ASSESSORS_OF.where(assessor.c.name == bindparam("name"))
_CHANGING_ASSESSOR = ("identified", "status", "excluded", "current_id", "state", "updated")
_SAVE_ASSESSOR = (
    update(assessor)
    .where(assessor.c.id == bindparam("which"))
    .values({name: bindparam(name) for name in _CHANGING_ASSESSOR})
)


Found = tuple[AssessorRow, str, int]  # an assessor, and status and stamp of the campaign


def find_assessor(connection: Connection, id: int) -> Found | None:
    """An assessor."""
    row = connection.execute(_ASSESSOR_BY_ID, {"id": id}).first()
    return None if row is None else (AssessorRow(*row[:-2]), row[-2], row[-1])


def is_model(connection: Connection, id: int) -> bool:
    """Whether an assessor is a language model, not a person."""
    return connection.scalar(_PROVIDER, {"id": id}) == MODEL


def find_identity(connection: Connection, campaign_id: int, provider: str, external_id: str) -> AssessorRow | None:
    """Whoever came to this campaign by this provider under this id."""
    names = {"campaign": campaign_id, "provider": provider, "external": external_id}
    row = connection.execute(_BY_IDENTITY, names).first()
    return None if row is None else AssessorRow(*row)


def find_named(connection: Connection, campaign_id: int, name: str) -> AssessorRow | None:
    """Whoever is called that in this campaign."""
    row = connection.execute(_BY_NAME, {"campaign": campaign_id, "name": name}).first()
    return None if row is None else AssessorRow(*row)


def assessors_of(connection: Connection, campaign_id: int) -> list[AssessorRow]:
    """Everybody who takes part, in the order they came."""
    return [AssessorRow(*row) for row in connection.execute(_ASSESSORS_OF, {"campaign": campaign_id})]


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
    connection.execute(_SAVE_ASSESSOR, {"which": row.id, **_values(row, _CHANGING_ASSESSOR)})


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
ASSIGNMENTS = select(*(assignment.c[name] for name in _ASSIGNMENT))
_ASSIGNMENT_BY_ID = ASSIGNMENTS.where(assignment.c.id == bindparam("id"))
_ASSIGNMENTS_OF = ASSIGNMENTS.where(assignment.c.assessor_id == bindparam("assessor")).order_by(assignment.c.created)

_had = assignment.alias("had")


def _not_had(topic_id: ColumnElement[int], unit_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether an assessor never had the topic; where a question draws documents, whether they never had the unit."""
    of_assessor = _had.c.assessor_id == bindparam("assessor"), _had.c.topic_id == topic_id
    return ~exists().where(*of_assessor, or_(_had.c.drawn_id == 0, _had.c.drawn_id == unit_id))


_FREE = (
    select(slot.c.unit_id, slot.c.number, slot.c.topic_id)
    .where(
        slot.c.campaign_id == bindparam("campaign"),
        slot.c.assignment_id.is_(None),
        _not_had(slot.c.topic_id, slot.c.unit_id),
    )
    .order_by(slot.c.lottery)
    .limit(1)
)
_FREE_OF_ARM = _FREE.where(slot.c.arm == bindparam("arm"), slot.c.arm != literal_column("''"))
_FREE_OF_ROW = _FREE_OF_ARM.where(slot.c.latin_row == bindparam("latin_row"))


def _from_pivot(free: Select[Any]) -> tuple[Select[Any], Select[Any]]:
    return free.where(slot.c.lottery >= bindparam("pivot")), free.where(slot.c.lottery < bindparam("pivot"))


_FROM_PIVOT = {"": _from_pivot(_FREE), "arm": _from_pivot(_FREE_OF_ARM), "row": _from_pivot(_FREE_OF_ROW)}
_open_of_others = (
    assignment.c.campaign_id == bindparam("campaign"),
    assignment.c.status == "open",
    _not_had(assignment.c.topic_id, assignment.c.unit_id),
)
_LAPSED = (
    ASSIGNMENTS.where(*_open_of_others, assignment.c.lease_until < bindparam("at"))
    .order_by(assignment.c.lease_until)
    .limit(1)
)
_this_place = and_(slot.c.unit_id == assignment.c.unit_id, slot.c.number == assignment.c.slot)
_LAPSED_OF_ROW = _LAPSED.join(slot, _this_place).where(
    slot.c.arm == bindparam("arm"), slot.c.latin_row == bindparam("latin_row")
)
_in_order = assignment.c.created, assignment.c.id
_PLACES_OF = (
    select(slot.c.latin_row, slot.c.arm)
    .join(assignment, _this_place)
    .where(assignment.c.assessor_id == bindparam("assessor"))
    .order_by(*_in_order)
)
_PLACES = (
    select(assignment.c.assessor_id, slot.c.latin_row, slot.c.arm, assignment.c.status, assignment.c.lease_until)
    .join(slot, _this_place)
    .where(assignment.c.campaign_id == bindparam("campaign"))
    .order_by(*_in_order)
)
_NEXT_LAPSE = select(func.min(assignment.c.lease_until)).where(*_open_of_others)
_this_slot = slot.c.unit_id == bindparam("unit"), slot.c.number == bindparam("place")
_HOLD = update(slot).where(*_this_slot, slot.c.assignment_id.is_(None)).values(assignment_id=bindparam("holder"))
_of_unit = slot.c.unit_id == bindparam("unit")
_RELEASE = (
    update(slot)
    .where(_of_unit, slot.c.assignment_id.in_((bindparam("holder"), -bindparam("holder"))))
    .values(assignment_id=None)
)
_FREE_OF_UNIT = select(slot.c.number).where(_of_unit, slot.c.assignment_id.is_(None)).order_by(slot.c.number)
_CLOSE = update(slot).where(*_this_slot).values(assignment_id=-bindparam("holder"))
_CHANGING_ASSIGNMENT = ("status", "counts", "lease_until", "version", "state", "updated")
_SAVE_ASSIGNMENT = (
    update(assignment)
    .where(assignment.c.id == bindparam("which"))
    .values({name: bindparam(name) for name in _CHANGING_ASSIGNMENT})
)


def find_assignment(connection: Connection, id: int) -> AssignmentRow | None:
    """One assignment."""
    row = connection.execute(_ASSIGNMENT_BY_ID, {"id": id}).first()
    return None if row is None else AssignmentRow(*row)


def assignments_of(connection: Connection, assessor_id: int) -> list[AssignmentRow]:
    """All units an assessor ever had, the first first."""
    return [AssignmentRow(*row) for row in connection.execute(_ASSIGNMENTS_OF, {"assessor": assessor_id})]


def places_of(connection: Connection, assessor_id: int) -> list[tuple[int, str]]:
    """(row of the Latin square, arm) of all units that an assessor ever had, the first first."""
    return [(row, arm) for row, arm in connection.execute(_PLACES_OF, {"assessor": assessor_id})]


def places(connection: Connection, campaign_id: int) -> Iterator[tuple[int, int, str, str, float]]:
    """(assessor, row of the Latin square, arm, status, end of the lease) of all units, the first first."""
    yield from (tuple(row) for row in connection.execute(_PLACES, {"campaign": campaign_id}))


def free_slot(
    connection: Connection,
    campaign_id: int,
    assessor_id: int,
    pivot: float,
    at: float,
    *,
    arm: str | None = None,
    latin_row: int | None = None,
) -> Slot | None:
    """The first free slot from `pivot` on, in the order of the lottery, of a topic the assessor never had.

    It is kept for nobody else at the time `at`.

    arm, latin_row : only slots of this arm, and in this row of the Latin square; None for any. A row needs an arm.
    """
    names: dict[str, Any] = {"campaign": campaign_id, "assessor": assessor_id, "pivot": pivot, "at": at}
    kind = ""
    if arm is not None:
        kind, names = ("arm", names | {"arm": arm})
        if latin_row is not None:
            kind, names = ("row", names | {"latin_row": latin_row})
    for statement in _FROM_PIVOT[kind]:
        if (row := connection.execute(statement, names).first()) is not None:
            return Slot(*row)
    return None


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
    names: dict[str, Any] = {"campaign": campaign_id, "assessor": assessor_id, "at": at}
    statement = _LAPSED
    if latin_row is not None:
        statement = _LAPSED_OF_ROW
        names |= {"arm": arm, "latin_row": latin_row}
    row = connection.execute(statement, names).first()
    return None if row is None else AssignmentRow(*row)


def next_lapse(connection: Connection, campaign_id: int, assessor_id: int, at: float) -> float | None:
    """When the next unit might come back that this assessor could have. at : now."""
    names = {"campaign": campaign_id, "assessor": assessor_id, "at": at}
    return connection.execute(_NEXT_LAPSE, names).scalar()


def add_assignments(connection: Connection, rows: Sequence[AssignmentRow]) -> None:
    """New ones, and their slots are held."""
    if rows:
        connection.execute(insert(assignment), [_values(row, _ASSIGNMENT) for row in rows])
    for row in rows:
        if row.holds_slot:
            hold_slot(connection, row)


def save_assignment(connection: Connection, row: AssignmentRow) -> None:
    """What may change about one."""
    connection.execute(_SAVE_ASSIGNMENT, {"which": row.id, **_values(row, _CHANGING_ASSIGNMENT)})


def hold_slot(connection: Connection, row: AssignmentRow) -> bool:
    """Take its slot, if that is free."""
    return connection.execute(_HOLD, _place(row)).rowcount == 1


def _place(row: AssignmentRow) -> dict[str, int]:
    return {"unit": row.unit_id, "place": row.slot, "holder": row.id}


def release_slot(connection: Connection, row: AssignmentRow) -> None:
    """Somebody else may have its slot, and those that were closed when it ended."""
    connection.execute(_RELEASE, {"unit": row.unit_id, "holder": row.id})


def free_slots(connection: Connection, unit_id: int) -> list[int]:
    """The numbers of a unit's slots that nobody has."""
    return list(connection.scalars(_FREE_OF_UNIT, {"unit": unit_id}))


def close_slots(connection: Connection, row: AssignmentRow, numbers: Sequence[int]) -> None:
    """Nobody gets these slots of its unit until it releases its own."""
    for number in numbers:
        connection.execute(_CLOSE, {"unit": row.unit_id, "place": number, "holder": row.id})


def clear_state(connection: Connection, campaign_id: int) -> None:
    """Remove all that the events of a campaign add up to; its slots stay, and are free."""
    own = select(assignment.c.id).where(assignment.c.campaign_id == campaign_id)
    connection.execute(delete(pair_lease).where(pair_lease.c.assignment_id.in_(own)))
    connection.execute(update(slot).where(slot.c.campaign_id == campaign_id).values(assignment_id=None))
    for table in STATE:
        if table not in (pair_lease, slot):
            connection.execute(delete(table).where(table.c.campaign_id == campaign_id))
