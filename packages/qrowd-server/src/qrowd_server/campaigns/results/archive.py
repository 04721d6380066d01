"""A whole campaign as one file, to keep it or to take it into another database.

JSON Lines: the first line holds the plan and the units as they were assembled, every further line an event. Numbers of
documents, topics and units belong to one database, so they leave it as labels and places.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from qrowd.errors import ArgumentError, QrowdError, RowError
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.campaigns.running.campaign_settings import find
from qrowd_server.campaigns.running.creation import create_campaign, plan_of
from qrowd_server.campaigns.running.rebuild import STATUS, rebuild
from qrowd_server.campaigns.running.transaction import LATE
from qrowd_server.protocols.events import Event, check_event
from qrowd_server.protocols.setting_fields import SchemaError, Where, read
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store import state_rows as state
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.base import to_json
from qrowd_server.store.event_log import LogEntry
from qrowd_server.store.materials import UnitRow
from qrowd_server.store.persons import pseudonymised

FORMAT = "qrowd campaign"
VERSION = 1
OF_CAMPAIGN = (  # events that are no assessor's
    *STATUS, "member", "names_exported", "sign_up_opened", "sign_up_closed", "invited", "adjudicated", "changed",
    "drawn", "looked", "decided",
)  # fmt: skip
DOCUMENTS = ("document", "left", "right")  # keys of event data whose values are numbers of documents
AT_ONCE = 1000


def write_archive(connection: Connection, name: str, *, names: bool = False) -> Iterator[bytes]:
    """The lines of a campaign's archive.

    names : with the names of people and their ids on platforms, so that their links lead to their work where it is
        imported; if False, pseudonyms take their place.
    """
    row = find(connection, name)
    documents = {one.id: one.label for one in materials.documents_of(connection, row.id)}
    topics = {one.id: one.label for one in materials.topics_of(connection, row.id)}
    units = {one.id: one for one in materials.units_of(connection, row.id)}
    head = {
        "format": FORMAT,
        "version": VERSION,
        "created": row.created,
        "plan": table_from_plan(plan_of(connection, row.id)),
        "units": [
            [topics[unit.topic_id], unit.arm, unit.number, [documents[id] for id in unit.documents]]
            for unit in units.values()
        ],
    }
    yield _line(head)
    labels = {} if names else {one.id: one.label for one in state.assessors_of(connection, row.id) if one.pseudonym}
    for one in events.of_campaign(connection, row.id):
        if one.kind == "created":
            continue
        label = labels.get(one.assessor_id or 0)
        data: dict[str, Any] = dict(one.data) if label is None else pseudonymised(one.kind, one.data, label)
        data |= {key: documents[value] for key, value in data.items() if key in DOCUMENTS}
        if one.kind == "assigned":
            data["topic"] = topics[data["topic"]]
        place = None if one.unit_id is None else [topics[units[one.unit_id].topic_id], units[one.unit_id].number]
        rest = {key: getattr(one, key) for key in _KEPT}
        yield _line({**rest, "unit": place, "data": data})


def read_archive(connection: Connection, lines: Iterable[str | bytes], *, account: str = COMMAND_LINE) -> str:
    """Create the campaign of an archive, with all that happened in it; its name. account : who does, for the log."""
    try:
        return _read_archive(connection, lines, account)
    except (OperationalError, QrowdError):  # of the database itself, or with a message of its own
        raise
    except (SQLAlchemyError, LookupError, TypeError, ValueError, AssertionError, ArithmeticError):
        raise ArgumentError("the archive does not fit together; export it once more") from None


def _read_archive(connection: Connection, lines: Iterable[str | bytes], account: str) -> str:
    numbered = enumerate(lines, start=1)
    head = _head(_read(1, next(numbered, (1, "{}"))[1]))
    plan = plan_from_table(head.plan)
    campaign_id = create_campaign(connection, plan, head.created, units=head.units, account=account)
    numbers = _Numbers(
        campaign_id,
        {one.label: one.id for one in materials.documents_of(connection, campaign_id)},
        {one.label: one.id for one in materials.topics_of(connection, campaign_id)},
        {(one.topic_id, one.number): one for one in materials.units_of(connection, campaign_id)},
    )
    waiting: list[LogEntry] = []
    for number, line in numbered:
        try:
            event = numbers.entry(read(_Event, _read(number, line)))
        except SchemaError as error:
            raise RowError(number, str(error)) from None
        if event.kind == "arrived" and state.find_assessor(connection, event.assessor_id or 0) is not None:
            raise ArgumentError(f"{plan.name}: this campaign is here already, under another name")
        waiting.append(event)
        if len(waiting) == AT_ONCE:
            events.append(connection, waiting)
            waiting = []
    events.append(connection, waiting)
    rebuild(connection, plan.name)
    return plan.name


@dataclass(frozen=True)
class _Head:
    format: str
    version: int
    created: float
    plan: dict[str, Any]
    units: tuple[tuple[str, str, int, tuple[str, ...]], ...]


@dataclass(frozen=True)
class _Event:
    time: float
    assessor_id: int | None
    assignment_id: int | None
    actor: str
    kind: str
    late: bool
    idem_key: str | None
    digest: str | None
    unit: tuple[str, int] | None
    data: dict[str, Any]
    account: str | None = None


_KEPT = tuple(name for name in _Event.__dataclass_fields__ if name not in ("unit", "data"))


def _head(table: Mapping[str, Any]) -> _Head:
    if table.get("format") != FORMAT or table.get("version") != VERSION:
        raise RowError(1, "this is not a campaign's archive; qrowd campaign export NAME --what archive writes one")
    try:
        return read(_Head, table)
    except SchemaError as error:
        raise RowError(1, str(error)) from None


@dataclass(frozen=True)
class _Numbers:
    """The numbers in this database of the documents, topics and units of an archive.

    assessors, assignments : those of the lines so far.
    """

    campaign_id: int
    documents: Mapping[str, int]
    topics: Mapping[str, int]
    units: Mapping[tuple[int, int], UnitRow]
    assessors: set[int] = field(default_factory=set)
    assignments: set[int] = field(default_factory=set)

    def entry(self, row: _Event) -> LogEntry:
        """The entry of the log for a line."""
        data = dict(row.data)
        for key in data.keys() & set(DOCUMENTS):
            data[key] = _number(self.documents, data[key], ("data", key), "document")
        if row.kind == "assigned" and "topic" in data:
            data["topic"] = _number(self.topics, data["topic"], ("data", "topic"), "topic")
        unit = None
        if row.unit is not None:
            topic, place = _number(self.topics, row.unit[0], ("unit", 0), "topic"), row.unit[1]
            if (unit := self.units.get((topic, place))) is None:
                raise SchemaError(("unit", 1), f"the topic {row.unit[0]!r} has no unit {place}")
        if row.late != (row.kind == LATE):
            raise SchemaError(("late",), f"only events of the kind {LATE} are late, and all of these")
        if not row.late:
            check_event(Event(row.kind, data))
        self._check_place(row, unit)
        rest = {key: getattr(row, key) for key in _KEPT}
        return LogEntry(campaign_id=self.campaign_id, unit_id=unit.id if unit else None, data=data, **rest)

    def _check_place(self, row: _Event, unit: UnitRow | None) -> None:
        """Whether the assessor and the assignment began before."""
        if row.assessor_id is None:
            if row.kind not in OF_CAMPAIGN:
                raise SchemaError(("assessor_id",), f"an event {row.kind} needs one")
        elif row.kind == "arrived":
            self.assessors.add(row.assessor_id)
        elif row.assessor_id not in self.assessors:
            raise SchemaError(("assessor_id",), "this assessor has not arrived in any line before")
        elif row.kind == "assigned":
            if row.assignment_id is None or unit is None:
                raise SchemaError(("assignment_id" if unit else "unit",), "is missing")
            self.assignments.add(row.assignment_id)
        elif row.assignment_id is not None and row.assignment_id not in self.assignments:
            raise SchemaError(("assignment_id",), "this assignment has not begun in any line before")


def _number(numbers: Mapping[str, int], label: Any, where: Where, kind: str) -> int:
    if not isinstance(label, str) or label not in numbers:
        raise SchemaError(where, f"the campaign of line 1 has no {kind} {str(label)[:40]!r}")
    return numbers[label]


def _line(row: Mapping[str, Any]) -> bytes:
    return to_json(row).encode() + b"\n"


def _read(number: int, line: str | bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise RowError(number, "expected a JSON object")
    return row
