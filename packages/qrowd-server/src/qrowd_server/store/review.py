"""What owners look at in a review: documents with what was said of them, and the answers to one of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, and_, case, func, select

from qrowd_server.store.schema import assessor, assignment, document, judgment, topic, unit

_counted = and_(assignment.c.counts, assessor.c.excluded.is_(None))


class Summary(NamedTuple):
    """What was said of a document.

    topic, document : numbers. n, n_counted : answers, and of these those that count. lowest, highest : of those that
    count, None without any. n_comments : answers with a reason. disagreement : of those that count; 0 for none.
    """

    topic: int
    document: int
    n: int
    n_counted: int
    lowest: float | None
    highest: float | None
    n_comments: int
    disagreement: float


def document_summaries(
    connection: Connection, campaign_id: int, *, arm: str = "", topic_id: int | None = None, ratios: bool = False
) -> list[Summary]:
    """Judged documents, topic by topic.

    arm : "" for a campaign without arms. topic_id : only of this topic. ratios : disagreement is the highest value over
    the lowest, less 1, as of magnitudes; if False, the standard deviation of the values (of the population).
    """
    value = case((_counted, judgment.c.value))
    variance = func.avg(value * value) - func.avg(value) * func.avg(value)
    spread = func.max(value) / func.min(value) - 1 if ratios else variance
    has_comment = func.sum(case((judgment.c.reason != "", 1), else_=0))
    query = (
        select(
            assignment.c.topic_id, judgment.c.document_id, func.count(), func.count(value), func.min(value),
            func.max(value), has_comment, spread,
        )
        .select_from(assignment)
        .join(judgment, judgment.c.assignment_id == assignment.c.id)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .where(assignment.c.campaign_id == campaign_id)
        .group_by(assignment.c.topic_id, judgment.c.document_id)
        .order_by(assignment.c.topic_id, judgment.c.document_id)
    )  # fmt: skip
    if arm:
        query = query.where(assignment.c.arm == arm)
    if topic_id is not None:
        query = query.where(assignment.c.topic_id == topic_id)
    rows = []
    for cells in connection.execute(query):
        row = Summary(*cells)
        disagreement = max(float(row.disagreement or 0.0), 0.0)
        rows.append(row._replace(disagreement=disagreement if ratios else disagreement**0.5))
    return rows


def answers_about(connection: Connection, campaign_id: int, topic_id: int, document_id: int) -> list[Row[Any]]:
    """Every current judgment of a document for a topic, whether it counts or not, oldest first."""
    columns = [column for column in judgment.c if column.name not in ("assignment_id", "campaign_id")]
    query = (
        select(
            assignment.c.id.label("assignment"),
            assessor.c.id.label("assessor_id"),
            assessor.c.name.label("assessor"),
            assessor.c.excluded,
            assessor.c.provider,
            assessor.c.state.label("journey"),
            assignment.c.status,
            assignment.c.arm,
            unit.c.number.label("unit"),
            _counted.label("counted"),
            *columns,
        )
        .select_from(assignment)
        .join(judgment, judgment.c.assignment_id == assignment.c.id)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .join(unit, unit.c.id == assignment.c.unit_id)
        .where(assignment.c.campaign_id == campaign_id, assignment.c.topic_id == topic_id)
        .where(judgment.c.document_id == document_id)
        .order_by(judgment.c.time, judgment.c.assignment_id)
    )
    return list(connection.execute(query))


def all_labels(connection: Connection, campaign_id: int) -> dict[int, str]:
    """{number: label} of all documents of a campaign."""
    query = select(document.c.id, document.c.label).where(document.c.campaign_id == campaign_id)
    return {row[0]: row[1] for row in connection.execute(query)}


def topic_labels(connection: Connection, campaign_id: int) -> dict[int, tuple[str, str]]:
    """{number: (label, title)} of the topics of a campaign, in order."""
    query = select(topic.c.id, topic.c.label, topic.c.title).where(topic.c.campaign_id == campaign_id)
    return {row[0]: (row[1], row[2]) for row in connection.execute(query.order_by(topic.c.id))}
