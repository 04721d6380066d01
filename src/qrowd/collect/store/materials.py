"""What campaigns are made of: written once, read for ever after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from qrowd.collect.store.schema import campaign, document, slot, topic, unit

MATERIAL = {table.name: table for table in (topic, document, unit, slot)}
ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class CampaignRow:
    """One campaign, as the table has it."""

    id: int
    name: str
    title: str
    protocol: str
    settings: dict[str, Any]
    status: str
    seed: int
    created: float


@dataclass(frozen=True)
class TopicRow:
    """One topic, as the table has it."""

    id: int
    campaign_id: int
    label: str
    title: str
    description: str
    narrative: str
    question: dict[str, Any] | None
    checks: list[int] | None
    context: list[str] | None
    systems: dict[str, list[int]] | None


@dataclass(frozen=True)
class DocumentRow:
    """One document, as the table has it."""

    id: int
    campaign_id: int
    label: str
    title: str
    text: str
    html: bool
    language: str


@dataclass(frozen=True)
class UnitRow:
    """One unit, as the table has it."""

    id: int
    campaign_id: int
    topic_id: int
    number: int
    documents: list[int]


_CAMPAIGN, _TOPIC = [*CampaignRow.__dataclass_fields__], [*TopicRow.__dataclass_fields__]
_DOCUMENT, _UNIT = [*DocumentRow.__dataclass_fields__], [*UnitRow.__dataclass_fields__]
_CAMPAIGNS = select(*(campaign.c[name] for name in _CAMPAIGN)).order_by(campaign.c.id)
_CAMPAIGN_BY_ID = _CAMPAIGNS.where(campaign.c.id == bindparam("id"))
_CAMPAIGN_BY_NAME = _CAMPAIGNS.where(campaign.c.name == bindparam("name"))
_TOPICS = select(*(topic.c[name] for name in _TOPIC)).order_by(topic.c.id)
_TOPICS_OF = _TOPICS.where(topic.c.campaign_id == bindparam("campaign"))
_TOPIC_BY_ID = _TOPICS.where(topic.c.id == bindparam("id"))
_DOCUMENTS = select(*(document.c[name] for name in _DOCUMENT)).order_by(document.c.id)
_DOCUMENTS_BY_ID = _DOCUMENTS.where(document.c.id.in_(bindparam("ids", expanding=True)))
_DOCUMENTS_OF = _DOCUMENTS.where(document.c.campaign_id == bindparam("campaign"))
_UNITS = select(*(unit.c[name] for name in _UNIT)).order_by(unit.c.id)
_UNIT_BY_ID = _UNITS.where(unit.c.id == bindparam("id"))
_UNITS_OF = _UNITS.where(unit.c.campaign_id == bindparam("campaign"))
_SET_STATUS = update(campaign).where(campaign.c.id == bindparam("which")).values(status=bindparam("status"))


def campaigns(connection: Connection) -> list[CampaignRow]:
    """All of them, the oldest first."""
    return [CampaignRow(*row) for row in connection.execute(_CAMPAIGNS)]


def find_campaign(connection: Connection, which: int | str) -> CampaignRow | None:
    """By number or by name."""
    statement = _CAMPAIGN_BY_NAME if isinstance(which, str) else _CAMPAIGN_BY_ID
    row = connection.execute(statement, {"name" if isinstance(which, str) else "id": which}).first()
    return None if row is None else CampaignRow(*row)


def add_campaign(connection: Connection, row: Mapping[str, Any]) -> int | None:
    """Write a new campaign; its number, None where its name is taken."""
    if find_campaign(connection, row["name"]) is not None:
        return None
    try:
        return int(connection.execute(insert(campaign).values(row).returning(campaign.c.id)).scalar_one())
    except IntegrityError:  # somebody else took it at the same moment
        return None


def add_material(
    connection: Connection,
    table: Literal["topic", "document", "unit", "slot"],
    campaign_id: int,
    rows: Iterable[Mapping[str, Any]],
) -> None:
    """Write rows of a campaign in this order."""
    statement, rest = insert(MATERIAL[table]), iter(rows)
    while part := [{"campaign_id": campaign_id, **row} for row in islice(rest, ROWS_AT_ONCE)]:
        connection.execute(statement, part)


def ids_by_label(connection: Connection, table: Literal["topic", "document"], campaign_id: int) -> dict[str, int]:
    """{label: number} of a campaign's topics or documents."""
    c = MATERIAL[table].c
    return {row.label: row.id for row in connection.execute(select(c.label, c.id).where(c.campaign_id == campaign_id))}


def set_campaign_status(connection: Connection, id: int, status: str) -> None:
    """running, paused or stopped."""
    connection.execute(_SET_STATUS, {"which": id, "status": status})


def find_topic(connection: Connection, id: int) -> TopicRow | None:
    """By number."""
    row = connection.execute(_TOPIC_BY_ID, {"id": id}).first()
    return None if row is None else TopicRow(*row)


def topics_of(connection: Connection, campaign_id: int) -> list[TopicRow]:
    """All topics of a campaign."""
    return [TopicRow(*row) for row in connection.execute(_TOPICS_OF, {"campaign": campaign_id})]


def documents_of(connection: Connection, campaign_id: int) -> Iterator[DocumentRow]:
    """All documents of a campaign."""
    for row in connection.execute(_DOCUMENTS_OF, {"campaign": campaign_id}):
        yield DocumentRow(*row)


def find_unit(connection: Connection, id: int) -> UnitRow | None:
    """By number."""
    row = connection.execute(_UNIT_BY_ID, {"id": id}).first()
    return None if row is None else UnitRow(*row)


def unit_places(connection: Connection, unit_ids: Iterable[int]) -> dict[int, tuple[str, str, int]]:
    """{unit: (label of its topic, title of its topic, number of the unit in it)}."""
    query = select(unit.c.id, topic.c.label, topic.c.title, unit.c.number).join(topic, topic.c.id == unit.c.topic_id)
    rows = connection.execute(query.where(unit.c.id.in_(list(unit_ids))))
    return {id: (label, title, number) for id, label, title, number in rows}


def units_of(connection: Connection, campaign_id: int) -> Iterator[UnitRow]:
    """All units of a campaign."""
    for row in connection.execute(_UNITS_OF, {"campaign": campaign_id}):
        yield UnitRow(*row)


def find_documents(connection: Connection, ids: Iterable[int]) -> list[DocumentRow]:
    """By their numbers."""
    return [DocumentRow(*row) for row in connection.execute(_DOCUMENTS_BY_ID, {"ids": list(ids)})]
