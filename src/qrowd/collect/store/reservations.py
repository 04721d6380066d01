"""Slots that are kept for a person: until a time, nobody else gets them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, delete, exists, func, insert, select

from qrowd.collect.store.schema import assessor, assignment, reservation, slot, topic, unit
from qrowd.collect.store.sqlite import Direct


class Reservation(NamedTuple):
    """A slot that is kept. until : seconds since 1970; from then on everybody may have it."""

    unit_id: int
    number: int
    campaign_id: int
    topic_id: int
    name: str
    until: float


class ReservedUnit(NamedTuple):
    """A kept slot as a page shows it. topic, title : of its topic. unit : its number. status : of who has it, or ""."""

    unit_id: int
    number: int
    topic: str
    title: str
    unit: int
    name: str
    until: float
    status: str


_own_name = select(assessor.c.name).where(assessor.c.id == bindparam("assessor")).scalar_subquery()


def kept_for_others(unit_id: ColumnElement[Any], number: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a slot is kept for somebody else than `:assessor` at the time `:at`."""
    return exists().where(
        reservation.c.unit_id == unit_id,
        reservation.c.number == number,
        reservation.c.until > bindparam("at"),
        reservation.c.name != _own_name,
    )


_topics_before = select(assignment.c.topic_id).where(assignment.c.assessor_id == bindparam("assessor"))
_this_slot = (slot.c.unit_id == reservation.c.unit_id) & (slot.c.number == reservation.c.number)
_OWN = Direct(
    select(slot.c.unit_id, slot.c.number, slot.c.topic_id)
    .join(reservation, _this_slot)
    .where(
        reservation.c.campaign_id == bindparam("campaign"),
        reservation.c.name == bindparam("name"),
        reservation.c.until > bindparam("at"),
        slot.c.assignment_id.is_(None),
        slot.c.topic_id.not_in(_topics_before),
    )
    .order_by(slot.c.lottery)
    .limit(1)
    .with_for_update(of=slot)
)
_FREE = (
    select(slot.c.number)
    .outerjoin(reservation, _this_slot)
    .where(
        slot.c.unit_id == bindparam("unit"),
        slot.c.assignment_id.is_(None),
        (reservation.c.until.is_(None)) | (reservation.c.until <= bindparam("at")),
    )
    .order_by(slot.c.number)
    .limit(1)
    .with_for_update(of=slot)
)


def own_slot(
    connection: Connection, campaign_id: int, assessor_id: int, name: str, at: float
) -> tuple[int, int, int] | None:
    """(unit, slot, topic) of a free slot that is kept for this assessor."""
    values = {"campaign": campaign_id, "assessor": assessor_id, "name": name, "at": at}
    row = _OWN.first(connection, values)
    return None if row is None else (row[0], row[1], row[2])


def unreserved_slot(connection: Connection, unit_id: int, at: float) -> int | None:
    """The first slot of a unit that nobody holds and that is kept for nobody."""
    number = connection.scalar(_FREE, {"unit": unit_id, "at": at})
    return None if number is None else int(number)


def add_reservations(connection: Connection, rows: Iterable[Reservation]) -> None:
    """Keep slots, in place of what was kept before."""
    for row in rows:
        end_reservation(connection, row.unit_id, row.number)
        connection.execute(insert(reservation), row._asdict())


def end_reservation(connection: Connection, unit_id: int, number: int) -> None:
    """Everybody may have the slot."""
    connection.execute(delete(reservation).where(reservation.c.unit_id == unit_id, reservation.c.number == number))


def reserved_units(connection: Connection, campaign_id: int) -> list[ReservedUnit]:
    """What is kept in a campaign, topic by topic, also what was kept until a time that has passed."""
    holder = slot.outerjoin(assignment, assignment.c.id == func.abs(slot.c.assignment_id))
    query = (
        select(
            reservation.c.unit_id, reservation.c.number, topic.c.label, topic.c.title, unit.c.number,
            reservation.c.name, reservation.c.until, assignment.c.status,
        )
        .select_from(
            reservation.join(holder, _this_slot)
            .join(unit, unit.c.id == reservation.c.unit_id)
            .join(topic, topic.c.id == reservation.c.topic_id)
        )
        .where(reservation.c.campaign_id == campaign_id)
        .order_by(topic.c.id, unit.c.number, reservation.c.number)
    )  # fmt: skip
    return [ReservedUnit(*row[:-1], row[-1] or "") for row in connection.execute(query)]
