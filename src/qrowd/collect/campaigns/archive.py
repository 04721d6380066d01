"""A whole campaign as one file, to keep it or to take it into another database.

JSON Lines: the first line holds the plan and the units as they were assembled, every further line an event. Numbers of
documents, topics and units belong to one database, so they leave it as labels and places.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.admin import find
from qrowd.collect.campaigns.creation import create_campaign, plan_of
from qrowd.collect.campaigns.plan_tables import plan_from_table, table_from_plan
from qrowd.collect.campaigns.rebuild import rebuild
from qrowd.collect.protocols.schema import SchemaError, read
from qrowd.collect.store import assessors, events, materials
from qrowd.collect.store.base import to_json
from qrowd.collect.store.events import LogEntry
from qrowd.errors import ArgumentError, RowError

FORMAT = "qrowd campaign"
VERSION = 1
DOCUMENTS = ("document", "left", "right")  # keys of event data whose values are numbers of documents
AT_ONCE = 1000


def write_archive(connection: Connection, name: str) -> Iterator[bytes]:
    """The lines of a campaign's archive.

    Raises
    ------
    ArgumentError
        There is no such campaign.
    """
    row = find(connection, name)
    documents = {one.id: one.label for one in materials.documents_of(connection, row.id)}
    topics = {one.id: one.label for one in materials.topics_of(connection, row.id)}
    units = {one.id: (one.topic_id, one.number, one.documents) for one in materials.units_of(connection, row.id)}
    assembled: dict[str, list[list[str]]] = {label: [] for label in topics.values()}
    for topic_id, _, held in units.values():
        assembled[topics[topic_id]].append([documents[id] for id in held])
    head = {
        "format": FORMAT,
        "version": VERSION,
        "created": row.created,
        "plan": table_from_plan(plan_of(connection, row.id)),
        "units": assembled,
    }
    yield _line(head)
    for one in events.of_campaign(connection, row.id):
        if one.kind == "created":
            continue
        data: dict[str, Any] = dict(one.data)
        data |= {key: documents[value] for key, value in data.items() if key in DOCUMENTS}
        if one.kind == "assigned":
            data["topic"] = topics[data["topic"]]
        place = None if one.unit_id is None else [topics[units[one.unit_id][0]], units[one.unit_id][1]]
        rest = {key: getattr(one, key) for key in _KEPT}
        yield _line({**rest, "unit": place, "data": data})


def read_archive(connection: Connection, lines: Iterable[str | bytes]) -> str:
    """Create the campaign of an archive, with all that happened in it; its name.

    Raises
    ------
    RowError
        A line that is not an archive's.
    ArgumentError
        A name that is taken, or a campaign that is here already under another one.
    """
    numbered = enumerate(lines, start=1)
    head = _head(_read(1, next(numbered, (1, "{}"))[1]))
    plan = plan_from_table(head.plan)
    campaign_id = create_campaign(connection, plan, head.created, units=head.units)
    documents = {one.label: one.id for one in materials.documents_of(connection, campaign_id)}
    topics = {one.label: one.id for one in materials.topics_of(connection, campaign_id)}
    units = {(one.topic_id, one.number): one.id for one in materials.units_of(connection, campaign_id)}
    waiting: list[LogEntry] = []
    for number, line in numbered:
        try:
            row = read(_Event, _read(number, line))
        except SchemaError as error:
            raise RowError(number, str(error)) from None
        try:
            event = _event(campaign_id, row, documents, topics, units)
        except (KeyError, TypeError):
            raise RowError(number, "an event that does not fit the campaign of line 1") from None
        if event.kind == "arrived" and assessors.find_assessor(connection, event.assessor_id or 0) is not None:
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
    units: dict[str, tuple[tuple[str, ...], ...]]


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


_KEPT = tuple(name for name in _Event.__dataclass_fields__ if name not in ("unit", "data"))


def _head(table: Mapping[str, Any]) -> _Head:
    if table.get("format") != FORMAT or table.get("version") != VERSION:
        raise RowError(1, "this is not a campaign's archive; qrowd campaign export NAME --what archive writes one")
    try:
        return read(_Head, table)
    except SchemaError as error:
        raise RowError(1, str(error)) from None


def _event(
    campaign_id: int,
    row: _Event,
    documents: Mapping[str, int],
    topics: Mapping[str, int],
    units: Mapping[tuple[int, int], int],
) -> LogEntry:
    data = dict(row.data)
    data |= {key: documents[value] for key, value in data.items() if key in DOCUMENTS}
    if row.kind == "assigned":
        data["topic"] = topics[data["topic"]]
    unit = None if row.unit is None else units[topics[row.unit[0]], row.unit[1]]
    return LogEntry(campaign_id=campaign_id, unit_id=unit, data=data, **{key: getattr(row, key) for key in _KEPT})


def _line(row: Mapping[str, Any]) -> bytes:
    return to_json(row).encode() + b"\n"


def _read(number: int, line: str | bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise RowError(number, "expected a JSON object")
    return row
