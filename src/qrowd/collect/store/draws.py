"""Documents that a question has drawn: each is a unit of its own, and its slots are made when it is drawn.

The lottery of a slot is the place of its document in the order of drawing, from 1. Slots of models come last, because
models judge every document, whatever is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, insert, literal_column, or_, select

from qrowd.collect.store import events
from qrowd.collect.store.events import LogEntry
from qrowd.collect.store.materials import add_material, find_campaign
from qrowd.collect.store.schema import MODEL, assessor, assignment, campaign, event, question, slot, unit
from qrowd.collect.store.state import ASSIGNMENTS, AssignmentRow, Slot

DRAWN = "drawn"
LAST = 2.0**62  # the lottery of slots of models
FIRST_OF_MODELS = 1_000_000  # number of the first slot of models

_CONTENT = select(question.c.content).where(question.c.campaign_id == bindparam("campaign"))
_UNIT = select(unit.c.id, unit.c.topic_id).where(
    unit.c.campaign_id == bindparam("campaign"), unit.c.number == bindparam("number")
)
_open: ColumnElement[str] = literal_column("'open'")  # literal, so that the indexes of these rows are used
_completed: ColumnElement[str] = literal_column("'completed'")
_holds_slot = _open, _completed
_judged = assignment.alias("judged")


def _wanted(unit_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether fewer people than wanted have judged the document of a unit."""
    n_judged = (
        select(func.count())
        .select_from(_judged)
        .where(
            _judged.c.unit_id == unit_id,
            _judged.c.status.in_(_holds_slot),
            _judged.c.status == _completed,
            _judged.c.slot < FIRST_OF_MODELS,
        )
        .scalar_subquery()
    )
    return n_judged < bindparam("n_slots")


_units_before = select(assignment.c.unit_id).where(assignment.c.assessor_id == bindparam("assessor"))
_FREE = (
    select(slot.c.unit_id, slot.c.number, slot.c.topic_id)
    .where(
        slot.c.campaign_id == bindparam("campaign"),
        slot.c.assignment_id.is_(None),
        slot.c.lottery < LAST,
        slot.c.unit_id.not_in(_units_before),
        _wanted(slot.c.unit_id),
    )
    .order_by(slot.c.lottery, slot.c.number)
    .limit(1)
)
_FREE_LOCKED = _FREE.with_for_update(of=slot, skip_locked=True)
_LAPSED = (
    ASSIGNMENTS.join(slot, and_(slot.c.unit_id == assignment.c.unit_id, slot.c.number == assignment.c.slot))
    .where(
        assignment.c.campaign_id == bindparam("campaign"),
        assignment.c.status == _open,
        assignment.c.lease_until < bindparam("at"),
        slot.c.lottery < LAST,
        assignment.c.unit_id.not_in(_units_before.correlate(None)),
        _wanted(assignment.c.unit_id),
    )
    .order_by(slot.c.lottery)
    .limit(1)
)
_LAPSED_LOCKED = _LAPSED.with_for_update(of=assignment, skip_locked=True)
_NEXT_LAPSE = (
    select(func.min(assignment.c.lease_until))
    .join(slot, and_(slot.c.unit_id == assignment.c.unit_id, slot.c.number == assignment.c.slot))
    .where(
        assignment.c.campaign_id == bindparam("campaign"),
        assignment.c.status == _open,
        slot.c.lottery < LAST,
        assignment.c.unit_id.not_in(_units_before.correlate(None)),
        _wanted(assignment.c.unit_id),
    )
)
_other = assignment.alias("other")
_HELD = (
    select(assignment.c.unit_id, assignment.c.topic_id, slot.c.lottery)
    .join(slot, and_(slot.c.unit_id == assignment.c.unit_id, slot.c.number == assignment.c.slot))
    .where(
        assignment.c.campaign_id == bindparam("campaign"),
        assignment.c.status == _open,
        assignment.c.created < bindparam("before"),
        slot.c.lottery < LAST,
        assignment.c.unit_id.not_in(_units_before.correlate(None)),
        ~select(_other.c.id)
        .where(
            _other.c.unit_id == assignment.c.unit_id,
            _other.c.status.in_(_holds_slot),
            _other.c.slot < FIRST_OF_MODELS,
            or_(_other.c.status == _completed, _other.c.created >= bindparam("before")),
        )
        .exists(),
    )
    .order_by(slot.c.lottery)
    .limit(1)
)
_NUMBERS = select(slot.c.number, slot.c.lottery).where(
    slot.c.unit_id == bindparam("unit"), slot.c.number < FIRST_OF_MODELS
)
_last_unit = select(func.coalesce(func.max(assignment.c.unit_id), 0)).where(
    assignment.c.assessor_id == bindparam("assessor")
)
_NEXT_OF_MODEL = (
    select(unit.c.id, unit.c.topic_id)
    .where(unit.c.campaign_id == bindparam("campaign"), unit.c.id > _last_unit.scalar_subquery())
    .order_by(unit.c.id)
    .limit(1)
)
_MODELS = (
    select(assessor.c.id)
    .where(assessor.c.campaign_id == bindparam("campaign"), assessor.c.provider == MODEL)
    .order_by(assessor.c.created, assessor.c.id)
)
_DRAWN = events.ALL.where(
    event.c.campaign_id == bindparam("campaign"),
    event.c.assessor_id.is_(None),
    event.c.kind == bindparam("kind"),
    event.c.id > bindparam("after"),
).order_by(event.c.id)

_LAST = (
    events.ALL.where(
        event.c.campaign_id == bindparam("campaign"), event.c.assessor_id.is_(None), event.c.kind == bindparam("kind")
    )
    .order_by(event.c.id.desc())
    .limit(1)
)
_NEWEST = (
    select(event.c.id, event.c.time)
    .where(event.c.campaign_id == bindparam("campaign"), event.c.kind.not_in(("looked", "decided")))
    .order_by(event.c.id.desc())
    .limit(1)
)
_QUESTIONS = select(question.c.campaign_id).join(campaign).where(campaign.c.status.in_(("running", "decided")))


def add_question(connection: Connection, campaign_id: int, content: Mapping[str, Any]) -> None:
    """Keep what a question is about."""
    connection.execute(insert(question), {"campaign_id": campaign_id, "content": dict(content)})


def find_question(connection: Connection, campaign_id: int) -> dict[str, Any] | None:
    """What a question is about, where the campaign has one."""
    return connection.scalar(_CONTENT, {"campaign": campaign_id})


def events_of_kind(connection: Connection, campaign_id: int, kind: str, *, after: int = 0) -> list[LogEntry]:
    """The events of the campaign itself of one kind, oldest first. after : only events with a higher number."""
    rows = connection.execute(_DRAWN, {"campaign": campaign_id, "kind": kind, "after": after})
    return [LogEntry._make(row) for row in rows]


def add_slots(connection: Connection, campaign_id: int, places: Iterable[tuple[int, int]], n_slots: int) -> None:
    """Slots of documents that were drawn. places : (number of the unit, place in the order of drawing, from 1)."""
    rows = []
    for number, place in places:
        unit_id, topic_id = connection.execute(_UNIT, {"campaign": campaign_id, "number": number}).one()
        rows += [
            {"unit_id": unit_id, "number": i, "topic_id": topic_id, "arm": "", "latin_row": 0, "lottery": float(place)}
            for i in range(n_slots)
        ]
    add_material(connection, "slot", campaign_id, rows)


def n_drawn(connection: Connection, campaign_id: int) -> int:
    """How many documents were drawn."""
    last = last_of_kind(connection, campaign_id, DRAWN)
    return 0 if last is None else int(last.data["place"])


def last_of_kind(connection: Connection, campaign_id: int, kind: str) -> LogEntry | None:
    """The newest event of the campaign itself of one kind."""
    row = connection.execute(_LAST, {"campaign": campaign_id, "kind": kind}).first()
    return None if row is None else LogEntry._make(row)


def newest_event(connection: Connection, campaign_id: int) -> tuple[int, float]:
    """The number and the time of the newest event that is no look."""
    number, at = connection.execute(_NEWEST, {"campaign": campaign_id}).one()
    return int(number), float(at)


def newest_of_questions(connection: Connection) -> dict[int, int]:
    """{campaign: its newest event that is no look} of campaigns with a question in which somebody may judge."""
    return {number: newest_event(connection, number)[0] for number in connection.scalars(_QUESTIONS).all()}


def n_drawable(connection: Connection, campaign_id: int) -> int:
    """How many documents can be drawn."""
    row = find_campaign(connection, campaign_id)
    return 0 if row is None else int(row.settings["question"]["n_documents"])


def free_slot(
    connection: Connection, campaign_id: int, assessor_id: int, n_slots: int, *, lock: bool = True
) -> Slot | None:
    """The first free slot in the order of drawing, of a document that the assessor never had.

    n_slots : people who judge each document; one that has them needs nobody else.
    """
    names = {"campaign": campaign_id, "assessor": assessor_id, "n_slots": n_slots}
    row = connection.execute(_FREE_LOCKED if lock else _FREE, names).first()
    return None if row is None else Slot(*row)


def lapsed(
    connection: Connection, campaign_id: int, assessor_id: int, n_slots: int, at: float, *, lock: bool = True
) -> AssignmentRow | None:
    """The first document in the order of drawing that was left alone beyond its lease, and that the assessor never had.

    n_slots : as for `free_slot`. lock : as in `state.lapsed`.
    """
    names = {"campaign": campaign_id, "assessor": assessor_id, "n_slots": n_slots, "at": at}
    row = connection.execute(_LAPSED_LOCKED if lock else _LAPSED, names).first()
    return None if row is None else AssignmentRow(*row)


def held_document(connection: Connection, campaign_id: int, assessor_id: int, before: float) -> Slot | None:
    """A further slot of the first document that nobody judged and that others have had since before `before`.

    Of the documents that the assessor never had. The campaign is locked, so that nobody else makes the same slot.
    """
    names = {"campaign": campaign_id, "assessor": assessor_id, "before": before}
    row = connection.execute(_HELD, names).first()
    if row is None:
        return None
    numbers = [number for number, _ in connection.execute(_NUMBERS, {"unit": row.unit_id})]
    place = Slot(row.unit_id, max(numbers) + 1, row.topic_id)
    add_slot(connection, campaign_id, place, row.lottery)
    return place


def next_lapse(connection: Connection, campaign_id: int, assessor_id: int, n_slots: int) -> float | None:
    """When the next document might come back that this assessor could have."""
    names = {"campaign": campaign_id, "assessor": assessor_id, "n_slots": n_slots}
    row = connection.execute(_NEXT_LAPSE, names).one()
    return None if row[0] is None else float(row[0])


def next_of_model(connection: Connection, campaign_id: int, assessor_id: int) -> tuple[int, int] | None:
    """(unit, topic) of the next document that a model has not had."""
    row = connection.execute(_NEXT_OF_MODEL, {"campaign": campaign_id, "assessor": assessor_id}).first()
    return None if row is None else (int(row[0]), int(row[1]))


def place_of_model(connection: Connection, campaign_id: int, assessor_id: int) -> int:
    """Which of the campaign's models an assessor is, from 0."""
    return list(connection.scalars(_MODELS, {"campaign": campaign_id})).index(assessor_id)


def add_slot(connection: Connection, campaign_id: int, place: Slot, lottery: float | None = None) -> None:
    """A further slot of a document.

    lottery : its place in the order of drawing; default: that of its first slot, and for a slot of a model the last.
    """
    if lottery is None:
        drawn = connection.execute(_NUMBERS, {"unit": place.unit_id}).first()
        lottery = LAST if drawn is None or place.number >= FIRST_OF_MODELS else float(drawn.lottery)
    row = {"unit_id": place.unit_id, "number": place.number, "topic_id": place.topic_id, "arm": "", "latin_row": 0}
    add_material(connection, "slot", campaign_id, [{**row, "lottery": lottery}])
