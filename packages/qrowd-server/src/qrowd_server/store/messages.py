"""Questions of assessors to the organisers, and the replies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from qrowd_server.store.base import upsert
from qrowd_server.store.schema import assessor, assignment, message, topic


class Message(NamedTuple):
    """A question of an assessor. documents : labels, two of a pair. reply : None while there is none.

    number : from 0, of the assessor. place : position of the document, or number of the pair. replied, read : when.
    """

    assessor_id: int
    number: int
    campaign_id: int
    assignment_id: int
    place: int
    documents: tuple[str, ...]
    text: str
    time: float
    reply: str | None = None
    replied: float | None = None
    read: float | None = None


class Asked(NamedTuple):
    """A question as owners see it, with the name of the assessor and the topic."""

    message: Message
    name: str
    topic: str
    title: str


_COLUMNS = [message.c[name] for name in Message._fields]


def save_messages(connection: Connection, rows: Iterable[Message]) -> None:
    """Add these, or change those of the same number."""
    upsert(connection, message, [row._asdict() | {"documents": list(row.documents)} for row in rows])


def messages_of(connection: Connection, assessor_id: int) -> list[Message]:
    """What an assessor asked, oldest first."""
    query = select(*_COLUMNS).where(message.c.assessor_id == assessor_id).order_by(message.c.number)
    return [_message(row) for row in connection.execute(query)]


def asked(connection: Connection, campaign_id: int, n: int) -> list[Asked]:
    """At most n questions of a campaign: those without a reply first, the newest first."""
    query = (
        select(*_COLUMNS, assessor.c.name, topic.c.label, topic.c.title)
        .join(assessor, assessor.c.id == message.c.assessor_id)
        .join(assignment, assignment.c.id == message.c.assignment_id)
        .join(topic, topic.c.id == assignment.c.topic_id)
        .where(message.c.campaign_id == campaign_id)
        .order_by(message.c.reply.is_not(None), message.c.time.desc(), message.c.number)
    )
    k = len(_COLUMNS)
    return [Asked(_message(row[:k]), *row[k:]) for row in connection.execute(query.limit(n))]


def count_asked(connection: Connection, campaign_id: int) -> int:
    """How many questions of a campaign have no reply."""
    query = select(func.count()).where(message.c.campaign_id == campaign_id, message.c.reply.is_(None))
    return int(connection.execute(query).scalar_one())


def _message(row: Iterable[object]) -> Message:
    cells = Message(*row)  # type: ignore[arg-type]
    return cells._replace(documents=tuple(cells.documents))
