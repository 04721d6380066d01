"""Units that are assigned to a named person: until a time, nobody else gets them.

A unit has as many slots as assessors are wanted; one of them is kept. Whoever the unit is for gets it before all
others; where they have begun it, it stays theirs until that time, also after their lease.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from qrowd.collect.campaigns.lookup import find
from qrowd.collect.campaigns.state import protocols_of
from qrowd.collect.protocols.events import Event
from qrowd.collect.store import events, materials, state
from qrowd.collect.store.accounts import COMMAND_LINE
from qrowd.collect.store.events import LogEntry
from qrowd.collect.store.materials import CampaignRow, UnitRow
from qrowd.collect.store.names import skeleton
from qrowd.collect.store.reservations import Reservation, add_reservations, end_reservation, unreserved_slot
from qrowd.collect.store.schema import invited
from qrowd.errors import ArgumentError

DAYS = 7.0
DAY = 86400.0  # seconds
MOST_DAYS = 365.0


class Reservations:
    """The slots that are kept in a campaign, collected from its log."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], Reservation] = {}
        self._units: dict[tuple[int, int], int] = {}

    def add(self, entry: LogEntry) -> None:
        """Take in an event of the campaign."""
        if entry.unit_id is None or entry.kind not in ("reserved", "reservation_ended"):
            return
        place = entry.unit_id, int(entry.data["slot"])
        if entry.kind == "reservation_ended":
            self._rows.pop(place, None)
        else:
            name, until = str(entry.data["name"]), float(entry.data["until"])
            self._rows[place] = Reservation(*place, entry.campaign_id, 0, name, until)

    def save(self, connection: Connection) -> None:
        """Write them."""
        for row in self._rows.values():
            unit = materials.find_unit(connection, row.unit_id)
            if unit is not None:
                add_reservations(connection, [row._replace(topic_id=unit.topic_id)])


def assign_units(
    connection: Connection,
    campaign: str,
    name: str,
    units: Sequence[str],
    at: float,
    *,
    days: float = DAYS,
    account: str = COMMAND_LINE,
) -> list[str]:
    """Keep units for a person; the labels of those that were kept, "topic/unit".

    Parameters
    ----------
    name : of an assessor who came or was invited. units : each "topic/unit", or "topic" for its first unit with a free
        slot. at : now, in seconds since 1970. days : after so many, everybody may have them. account : who does it.

    Raises
    ------
    ArgumentError
        There is no such campaign, person or unit, the person had the topic, or no slot of a unit is free. Then none is
        kept.
    """
    row = find(connection, campaign)
    _check_campaign(row)
    if not 0 < days <= MOST_DAYS:
        raise ArgumentError(f"days={days:g}: expected a number above 0, and at most {MOST_DAYS:g}")
    if not units:
        raise ArgumentError("units: name at least one, as TOPIC or TOPIC/UNIT")
    had = _topics_of_person(connection, row.id, name)
    topics = {one.label: one.id for one in materials.topics_of(connection, row.id)}
    by_topic: dict[int, list[UnitRow]] = {}
    for unit in materials.units_of(connection, row.id):
        by_topic.setdefault(unit.topic_id, []).append(unit)
    kept, until = [], at + days * DAY
    state.lock_campaign(connection, row.id)
    for wanted in dict.fromkeys(units):
        label, number = _topic_and_unit(wanted, topics)
        topic_id = topics[label]
        if topic_id in had:
            raise ArgumentError(f"{wanted}: {name} has this topic already; nobody gets two units of a topic")
        choices = [unit for unit in by_topic.get(topic_id, []) if number is None or unit.number == number]
        if not choices:
            raise ArgumentError(f"{wanted}: the topic {label} has {len(by_topic.get(topic_id, []))} units, from 0")
        slots = ((unit, unreserved_slot(connection, unit.id, at)) for unit in choices)
        free = next(((unit, slot) for unit, slot in slots if slot is not None), None)
        if free is None:
            raise ArgumentError(f"{wanted}: no slot of it is free; somebody has each, or it is kept for them")
        had.add(topic_id)
        unit, slot = free
        data = {"slot": slot, "name": name, "until": until}
        _record(connection, row.id, unit.id, Event("reserved", data), at, account)
        add_reservations(connection, [Reservation(unit.id, slot, row.id, topic_id, name, until)])
        kept.append(f"{label}/{unit.number}")
    return kept


def release_unit(
    connection: Connection, campaign: str, unit_id: int, slot: int, at: float, *, account: str = COMMAND_LINE
) -> None:
    """Let everybody have a slot that was kept; somebody who has begun keeps the unit as any other."""
    row = find(connection, campaign)
    unit = materials.find_unit(connection, unit_id)
    if unit is None or unit_id not in {one.id for one in materials.units_of(connection, row.id)}:
        raise ArgumentError("unit: there is none of this number")
    _record(connection, row.id, unit_id, Event("reservation_ended", {"slot": slot}), at, account)
    end_reservation(connection, unit_id, slot)


def _record(connection: Connection, campaign_id: int, unit_id: int, event: Event, at: float, account: str) -> None:
    entry = LogEntry(at, campaign_id, None, None, unit_id, "owner", event.kind, event.data, account=account)
    events.append(connection, [entry])


def _check_campaign(row: CampaignRow) -> None:
    if row.settings.get("question") is not None:
        raise ArgumentError(f"{row.name}: its question draws documents one by one; there are no units to assign")
    if len(protocols_of(row)) > 1:
        raise ArgumentError(f"{row.name}: units cannot be assigned, since its arms are balanced over assessors")


def _topic_and_unit(text: str, topics: dict[str, int]) -> tuple[str, int | None]:
    if text in topics:
        return text, None
    label, _, number = text.rpartition("/")
    if label not in topics or not (number.isascii() and number.isdigit() and len(number) <= 9):
        raise ArgumentError(f"{text[:80]}: expected TOPIC or TOPIC/UNIT of this campaign")
    return label, int(number)


def _topics_of_person(connection: Connection, campaign_id: int, name: str) -> set[int]:
    """Topics that a person had, or that are kept for them.

    Raises
    ------
    ArgumentError
        Nobody of this name came or was invited; a model; somebody excluded.
    """
    assessor = state.find_named(connection, campaign_id, name)
    if assessor is None:
        query = select(invited.c.name).where(invited.c.campaign_id == campaign_id, invited.c.skeleton == skeleton(name))
        if connection.scalar(query) != name:
            raise ArgumentError(f"{name[:80]}: nobody of this name came or was invited; invite them first")
        return set()
    if assessor.is_model or assessor.excluded is not None:
        raise ArgumentError(
            f"{name}: {'a language model' if assessor.is_model else 'excluded'}; choose a person who judges"
        )
    return {one.topic_id for one in state.assignments_of(connection, assessor.id)}
