"""What campaigns are made of: written once, read for ever after."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sqlalchemy import Connection, Row, Select, Table, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from qrowd_server.store.schema import campaign, document, gold, image, metadata, question, slot, topic, unit
from qrowd_server.store.sessions import get_setting, put_setting

if TYPE_CHECKING:
    from numpy.random import Generator

MATERIAL = {table.name: table for table in (topic, document, image, unit, slot, gold)}
ROWS_AT_ONCE = 10_000
_FIND_DOCUMENTS = select(document).where(document.c.id.in_(bindparam("ids", expanding=True)))
DELETED = "last_deleted_campaign"


# The columns of their tables, by name.
CampaignRow: TypeAlias = Row[Any]
TopicRow: TypeAlias = Any
DocumentRow: TypeAlias = Any
UnitRow: TypeAlias = Any
UnitPlan = tuple[int, str, list[int], int]  # topic, arm, documents, row of the Latin square


def campaigns(connection: Connection) -> Sequence[CampaignRow]:
    """All of them, the oldest first."""
    return connection.execute(select(campaign).order_by(campaign.c.id)).all()


def find_campaign(connection: Connection, which: int | str) -> CampaignRow | None:
    """By number or by name."""
    key = campaign.c.name if isinstance(which, str) else campaign.c.id
    return connection.execute(select(campaign).where(key == which)).first()


def add_campaign(connection: Connection, row: Mapping[str, Any]) -> int | None:
    """Write a new campaign; its number, None where its name is taken."""
    if find_campaign(connection, row["name"]) is not None:
        return None
    if connection.dialect.name == "sqlite":  # which would give the number of a deleted campaign again
        newest = connection.scalar(select(func.max(campaign.c.id))) or 0
        row = {**row, "id": max(newest, int(get_setting(connection, DELETED) or 0)) + 1}
    try:
        return int(
            connection.execute(
                insert(campaign).values(stamp=secrets.randbits(62), **row).returning(campaign.c.id)
            ).scalar_one()
        )
    except IntegrityError:  # somebody else took it at the same moment
        return None


def add_material(
    connection: Connection,
    table: Literal["topic", "document", "image", "unit", "slot", "gold"],
    campaign_id: int,
    rows: Iterable[Mapping[str, Any]],
) -> None:
    """Write rows of a campaign in this order."""
    statement, rest = insert(MATERIAL[table]), iter(rows)
    while part := [{"campaign_id": campaign_id, **row} for row in islice(rest, ROWS_AT_ONCE)]:
        connection.execute(statement, part)


def add_units(
    connection: Connection, campaign_id: int, units: Sequence[UnitPlan], n_slots: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Write units after those that there are, in this order; the rows of their slots. n_slots : of a unit, by arm."""
    following = Counter(one.topic_id for one in units_of(connection, campaign_id))
    rows = []
    for topic_id, arm, documents, _ in units:
        row = {"campaign_id": campaign_id, "topic_id": topic_id, "arm": arm, "documents": documents}
        rows.append({**row, "number": following[topic_id]})
        following[topic_id] += 1
    statement = insert(unit).returning(unit.c.id, sort_by_parameter_order=True)
    ids = connection.scalars(statement, rows).all() if rows else ()
    slots = []
    for id, (topic_id, arm, _, latin_row) in zip(ids, units, strict=True):
        slots += slot_rows(id, topic_id, arm, latin_row, range(n_slots[arm]))
    return slots


def slot_rows(unit_id: int, topic_id: int, arm: str, latin_row: int, numbers: range) -> list[dict[str, Any]]:
    """The rows of some slots of a unit."""
    row = {"unit_id": unit_id, "topic_id": topic_id, "arm": arm, "latin_row": latin_row}
    return [{**row, "number": number} for number in numbers]


def add_slots(
    connection: Connection, campaign_id: int, rows: Sequence[Mapping[str, Any]], rng: Generator, after: float = 0.0
) -> None:
    """Write slots, each with its place in the order in which they are handed out, drawn from `after` to one more."""
    places = (after + rng.random(len(rows))).tolist()
    add_material(connection, "slot", campaign_id, map(_with_place, rows, places))


def _with_place(row: Mapping[str, Any], place: float) -> dict[str, Any]:
    return {**row, "lottery": place}


def ids_by_label(connection: Connection, table: Literal["topic", "document"], campaign_id: int) -> dict[str, int]:
    """{label: number} of a campaign's topics or documents."""
    c = MATERIAL[table].c
    return {row.label: row.id for row in connection.execute(select(c.label, c.id).where(c.campaign_id == campaign_id))}


def set_campaign_status(connection: Connection, id: int, status: str, *, before: str | None = None) -> bool:
    """running, paused, stopped or decided; whether it was set.

    before : only where this is the status. Of several who do so at once, one sets it.
    """
    change = update(campaign).where(campaign.c.id == id).values(status=status)
    if before is not None:
        change = change.where(campaign.c.status == before)
    return connection.execute(change).rowcount > 0


def note_deleted(connection: Connection, id: int) -> None:
    """Keep the number of a campaign that is deleted from being given again, since other processes may remember it."""
    put_setting(connection, DELETED, str(max(id, int(get_setting(connection, DELETED) or 0))))


def change_campaign(connection: Connection, id: int, values: Mapping[str, Any]) -> None:
    """Write columns of a campaign; it gets another stamp, so that nobody goes on with what they remember of it."""
    connection.execute(update(campaign).where(campaign.c.id == id).values(**values, stamp=secrets.randbits(62)))


def labelled(
    connection: Connection, table: Literal["topic", "document"], campaign_id: int, label: str
) -> Row[Any] | None:
    """A topic or a document of a campaign by its label."""
    c = MATERIAL[table].c
    query = select(MATERIAL[table]).where(c.campaign_id == campaign_id, c.label == label)
    return connection.execute(query).one_or_none()


def find_question(connection: Connection, campaign_id: int) -> dict[str, Any] | None:
    """What the question of a campaign is about, where it has one."""
    return connection.scalar(select(question.c.content).where(question.c.campaign_id == campaign_id))


def topics_of(connection: Connection, campaign_id: int) -> Sequence[TopicRow]:
    """All topics of a campaign."""
    return connection.execute(_of(topic, campaign_id)).all()


def find_documents(connection: Connection, ids: Iterable[int]) -> Sequence[DocumentRow]:
    """By their numbers."""
    return connection.execute(_FIND_DOCUMENTS, {"ids": list(ids)}).all()


def documents_of(connection: Connection, campaign_id: int) -> Iterable[DocumentRow]:
    """All documents of a campaign."""
    return connection.execute(_of(document, campaign_id))


def find_image(connection: Connection, campaign: int, digest: str) -> tuple[str, bytes] | None:
    """The media type and the content of an image."""
    c = image.c
    row = connection.execute(
        select(c.media_type, c.content).where(c.campaign_id == campaign, c.digest == digest)
    ).first()
    return None if row is None else (row.media_type, row.content)


def by_number(connection: Connection, table: Literal["campaign", "topic", "unit"], id: int) -> Row[Any]:
    """A row by its number, which a foreign key says is there."""
    this = metadata.tables[table]
    return connection.execute(select(this).where(this.c.id == id)).one()


def gold_of_topic(connection: Connection, topic_id: int) -> Sequence[Row[Any]]:
    """The gold questions of a topic."""
    return connection.execute(select(gold).where(gold.c.topic_id == topic_id).order_by(gold.c.id)).all()


def gold_of(connection: Connection, campaign_id: int) -> Sequence[Row[Any]]:
    """All gold questions of a campaign."""
    return connection.execute(_of(gold, campaign_id)).all()


def units_of(connection: Connection, campaign_id: int) -> Iterable[UnitRow]:
    """All units of a campaign."""
    return connection.execute(_of(unit, campaign_id))


def unit_places(connection: Connection, unit_ids: Iterable[int]) -> dict[int, tuple[str, str, int]]:
    """{unit: (label of its topic, title of its topic, number of the unit in it)}."""
    query = select(unit.c.id, topic.c.label, topic.c.title, unit.c.number).join(topic, topic.c.id == unit.c.topic_id)
    rows = connection.execute(query.where(unit.c.id.in_(list(unit_ids))))
    return {id: (label, title, number) for id, label, title, number in rows}


def _of(table: Table, campaign_id: int) -> Select[Any]:
    return select(table).where(table.c.campaign_id == campaign_id).order_by(table.c.id)
