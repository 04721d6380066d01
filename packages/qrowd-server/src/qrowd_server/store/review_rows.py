"""What owners look at in a review: documents with what was said of them, answers to one, questions of assessors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, and_, case, func, select

from qrowd_server.store.base import upsert
from qrowd_server.store.schema import assessor, assignment, document, gold_answer, judgment, message, topic

_counted = and_(assignment.c.counts, assessor.c.excluded.is_(None))


class Summary(NamedTuple):
    """What was said of a document.

    topic, title, document : label and title of the topic, label of the document. n, n_counted : answers, and of these
    those that count. lowest, highest : of those that count, None without any. n_comments : answers with a reason.
    disagreement : of those that count; 0 for none.
    """

    topic: str
    title: str
    document: str
    n: int
    n_counted: int
    lowest: float | None
    highest: float | None
    n_comments: int
    disagreement: float


def document_summaries(
    connection: Connection, campaign_id: int, *, arm: str = "", ratios: bool = False
) -> list[Summary]:
    """Judged documents, topic by topic.

    arm : "" for a campaign without arms. ratios : disagreement is the highest value over the lowest, less 1, as of
    magnitudes; if False, the standard deviation of the values (of the population).
    """
    value = case((_counted, judgment.c.value))
    variance = func.avg(value * value) - func.avg(value) * func.avg(value)
    spread = func.max(value) / func.min(value) - 1 if ratios else variance
    has_comment = func.sum(case((judgment.c.reason != "", 1), else_=0))
    labels = topic.c.label, topic.c.title, document.c.label
    query = (
        select(*labels, func.count(), func.count(value), func.min(value), func.max(value), has_comment, spread)
        .select_from(assignment)
        .join(judgment, judgment.c.assignment_id == assignment.c.id)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .join(topic, topic.c.id == assignment.c.topic_id)
        .join(document, document.c.id == judgment.c.document_id)
        .where(assignment.c.campaign_id == campaign_id, assignment.c.arm == arm)
        .group_by(topic.c.id, document.c.id, *labels)
        .order_by(topic.c.id, document.c.id)
    )
    rows = []
    for cells in connection.execute(query):
        row = Summary(*cells)
        disagreement = max(float(row.disagreement or 0.0), 0.0)
        rows.append(row._replace(disagreement=disagreement if ratios else disagreement**0.5))
    return rows


def answers_about(connection: Connection, campaign_id: int, topic_id: int, document_id: int) -> list[Row[Any]]:
    """Every current answer to a document for a topic, whether it counts or not, also as gold, oldest first."""
    return sorted(
        [
            row
            for table in (judgment, gold_answer)
            for row in connection.execute(
                select(
                    table,
                    assessor.c.id.label("assessor_id"),
                    assessor.c.name.label("assessor"),
                    assessor.c.excluded,
                    assessor.c.provider,
                    assessor.c.state.label("journey"),
                    assignment.c.status,
                    assignment.c.arm,
                    _counted.label("counted"),
                )
                .join(assignment, assignment.c.id == table.c.assignment_id)
                .join(assessor, assessor.c.id == assignment.c.assessor_id)
                .where(assignment.c.campaign_id == campaign_id, assignment.c.topic_id == topic_id)
                .where(table.c.document_id == document_id)
            )
        ],
        key=attrgetter("time", "assignment_id"),
    )


# ---- questions of assessors to the organisers


class Message(NamedTuple):
    """A question of an assessor. documents : labels, two of a pair. reply : None while there is none.

    number : from 0, of the assessor. place : position of the document, or number of the pair. replied, read : when.
    """

    assessor_id: int
    number: int
    campaign_id: int
    assignment_id: int
    place: int
    documents: Sequence[str]
    text: str
    time: float
    reply: str | None = None
    replied: float | None = None
    read: float | None = None


_COLUMNS = [message.c[name] for name in Message._fields]


def save_messages(connection: Connection, rows: Iterable[Message]) -> None:
    """Add these, or change those of the same number."""
    upsert(connection, message, [row._asdict() for row in rows])


def messages_of(connection: Connection, assessor_id: int) -> list[Message]:
    """What an assessor asked, oldest first."""
    query = select(*_COLUMNS).where(message.c.assessor_id == assessor_id).order_by(message.c.number)
    return [Message(*row) for row in connection.execute(query)]


def asked(connection: Connection, campaign_id: int, n: int) -> Sequence[Row[Any]]:
    """At most n questions of a campaign, with name, topic and title: those without a reply first, the newest first."""
    query: Select[Any] = (
        select(*_COLUMNS, assessor.c.name, topic.c.label.label("topic"), topic.c.title)
        .join(assessor, assessor.c.id == message.c.assessor_id)
        .join(assignment, assignment.c.id == message.c.assignment_id)
        .join(topic, topic.c.id == assignment.c.topic_id)
        .where(message.c.campaign_id == campaign_id)
        .order_by(message.c.reply.is_not(None), message.c.time.desc(), message.c.number)
    )
    return connection.execute(query.limit(n)).all()


def count_asked(connection: Connection, campaign_id: int) -> int:
    """How many questions of a campaign have no reply."""
    query = select(func.count()).where(message.c.campaign_id == campaign_id, message.c.reply.is_(None))
    return int(connection.execute(query).scalar_one())
