"""What the coding of comments and documents reads: comments in an order of their own, answers of a document."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, select

from qrowd.collect.store.events import CHUNK
from qrowd.collect.store.pseudonyms import assessor_label
from qrowd.collect.store.schema import assessor, assignment, document, event, judgment, topic, unit

_counted = and_(assignment.c.counts, assessor.c.excluded.is_(None))
_order = (topic.c.id, unit.c.number, assignment.c.slot, assessor.c.created, assignment.c.id)
_UNIT = (
    assignment.c.id.label("assignment"),
    topic.c.label.label("topic"),
    unit.c.number.label("unit"),
    assessor_label().label("assessor"),  # coders see no names
)
_ANSWER = (
    *_UNIT,
    judgment.c.position,
    document.c.label.label("document"),
    judgment.c.value,
    judgment.c.raw,
    judgment.c.reason.label("comment"),
    judgment.c.seconds,
)
_comment = assignment.c.state["comment"].as_string()


def owner_events(connection: Connection, campaign_id: int, kind: str) -> list[tuple[float, dict[str, Any]]]:
    """Time and data of events of a campaign as a whole, oldest first."""
    query = select(event.c.time, event.c.data).where(
        event.c.campaign_id == campaign_id, event.c.assessor_id.is_(None), event.c.kind == kind
    )
    return [(row[0], row[1]) for row in connection.execute(query.order_by(event.c.id))]


def reasons(connection: Connection, campaign_id: int) -> list[tuple[int, int]]:
    """(assignment, position) of every judgment with a reason that counts, topic by topic."""
    query = _answers(assignment.c.id, judgment.c.position).where(
        assignment.c.campaign_id == campaign_id, _counted, judgment.c.reason != ""
    )
    rows = connection.execute(query.order_by(*_order, judgment.c.position), execution_options={"yield_per": CHUNK})
    return [(row[0], row[1]) for row in rows]


def comments(connection: Connection, campaign_id: int, *, everything: bool = False) -> Sequence[Row[Any]]:
    """Assignment, topic, unit, assessor and comment of every unit with a comment that counts, topic by topic.

    everything : also of those that do not count.
    """
    query = _units(*_UNIT, _comment.label("comment")).where(assignment.c.campaign_id == campaign_id, _comment != "")
    return connection.execute((query if everything else query.where(_counted)).order_by(*_order)).all()


def answers_in(connection: Connection, campaign_id: int, assignments: Collection[int]) -> Sequence[Row[Any]]:
    """The judgments of these assignments, whether they count or not, in the order shown."""
    query = _answers(*_ANSWER).where(assignment.c.campaign_id == campaign_id, assignment.c.id.in_(list(assignments)))
    return connection.execute(query.order_by(*_order, judgment.c.position)).all()


def answers_about(connection: Connection, campaign_id: int, label: str, name: str) -> Sequence[Row[Any]]:
    """The judgments of a document for a topic that count, lowest value first."""
    query = _answers(*_ANSWER).where(
        assignment.c.campaign_id == campaign_id, _counted, topic.c.label == label, document.c.label == name
    )
    return connection.execute(query.order_by(judgment.c.value, *_order)).all()


def topic_of(connection: Connection, campaign_id: int, label: str) -> Row[Any] | None:
    """A topic by its label."""
    query = select(topic).where(topic.c.campaign_id == campaign_id, topic.c.label == label)
    return connection.execute(query).one_or_none()


def document_of(connection: Connection, campaign_id: int, label: str) -> Row[Any] | None:
    """A document by its label."""
    query = select(document).where(document.c.campaign_id == campaign_id, document.c.label == label)
    return connection.execute(query).one_or_none()


def _units(*columns: ColumnElement[Any]) -> Select[Any]:
    return (
        select(*columns)
        .select_from(assignment)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .join(unit, unit.c.id == assignment.c.unit_id)
        .join(topic, topic.c.id == assignment.c.topic_id)
    )


def _answers(*columns: ColumnElement[Any]) -> Select[Any]:
    query = _units(*columns).join(judgment, judgment.c.assignment_id == assignment.c.id)
    return query.join(document, document.c.id == judgment.c.document_id)
