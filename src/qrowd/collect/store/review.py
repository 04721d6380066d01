"""What reviewers look at: documents and pairs with what was said of them, and the answers to one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, func, literal, or_, select

from qrowd.collect.store.pseudonyms import assessor_label
from qrowd.collect.store.schema import (
    assessor,
    assignment,
    bad_mark,
    document,
    event,
    gold_answer,
    judgment,
    preference,
    topic,
    unit,
)

_counted = and_(assignment.c.counts, assessor.c.excluded.is_(None))


class Summary(NamedTuple):
    """What was said of a document, or of a pair.

    topic, document, other : numbers; other is 0 for a document. n, n_counted : answers, and of these those that count.
    lowest, highest : of those that count, None without any; of a pair how many preferred the one, and the other.
    n_comments : answers with a reason. disagreement : of those that count; 0 for none.
    """

    topic: int
    document: int
    other: int
    n: int
    n_counted: int
    lowest: float | None
    highest: float | None
    n_comments: int
    disagreement: float


def owner_entries(connection: Connection, campaign_id: int, kind: str) -> Iterator[tuple[float, str, dict[str, Any]]]:
    """(time, account, data) of events of a campaign as a whole, oldest first."""
    query = select(event.c.time, event.c.account, event.c.data).where(
        event.c.campaign_id == campaign_id, event.c.assessor_id.is_(None), event.c.kind == kind
    )
    for time, account, data in connection.execute(query.order_by(event.c.id)):
        yield time, account or "", data


# ---- all documents or pairs


def document_summaries(
    connection: Connection,
    campaign_id: int,
    *,
    arm: str = "",
    topic_id: int | None = None,
    name: str = "",
    names: bool = False,
    comments: bool = False,
    ratios: bool = False,
) -> list[Summary]:
    """Judged documents, topic by topic.

    arm : "" for a campaign without arms. topic_id : only of this topic. name : only those that this assessor judged, by
    name if `names`, else by pseudonym.
    comments : only those with a reason. ratios : disagreement is the highest value over the lowest, less 1, as of
    magnitudes; if False, the standard deviation of the values (of the population).
    """
    value = case((_counted, judgment.c.value))
    n = func.count(value)
    variance = func.avg(value * value) - func.avg(value) * func.avg(value)
    spread = func.max(value) / func.min(value) - 1 if ratios else variance
    has_comment = func.sum(case((judgment.c.reason != "", 1), else_=0))
    query = _of_campaign(
        select(
            assignment.c.topic_id, judgment.c.document_id, literal(0), func.count(), n, func.min(value),
            func.max(value), has_comment, spread,
        ).select_from(assignment.join(judgment, judgment.c.assignment_id == assignment.c.id)),
        campaign_id, arm, topic_id, name, names,
    )  # fmt: skip
    query = query.group_by(assignment.c.topic_id, judgment.c.document_id)
    if comments:
        query = query.having(has_comment > 0)
    return _summaries(connection, query.order_by(assignment.c.topic_id, judgment.c.document_id), root=not ratios)


def pair_summaries(
    connection: Connection,
    campaign_id: int,
    *,
    arm: str = "",
    topic_id: int | None = None,
    name: str = "",
    names: bool = False,
) -> list[Summary]:
    """Judged pairs, topic by topic: how many preferred the one and the other; disagreement is the smaller share.

    arm, topic_id, name, names : as for `document_summaries`.
    """
    low = case((preference.c.left_id < preference.c.right_id, preference.c.left_id), else_=preference.c.right_id)
    high = case((preference.c.left_id < preference.c.right_id, preference.c.right_id), else_=preference.c.left_id)
    chosen = case(
        (preference.c.choice == "left", preference.c.left_id), (preference.c.choice == "right", preference.c.right_id)
    )
    first = func.sum(case((and_(_counted, chosen == low), 1), else_=0))
    second = func.sum(case((and_(_counted, chosen == high), 1), else_=0))
    query = _of_campaign(
        select(
            assignment.c.topic_id, low, high, func.count(), func.sum(case((_counted, 1), else_=0)), first, second,
            literal(0), literal(0.0),
        ).select_from(assignment.join(preference, preference.c.assignment_id == assignment.c.id)),
        campaign_id, arm, topic_id, name, names,
    )  # fmt: skip
    query = query.group_by(assignment.c.topic_id, low, high)
    rows = _summaries(connection, query.order_by(assignment.c.topic_id, low, high))
    return [row._replace(disagreement=_smaller_share(row.lowest or 0, row.highest or 0)) for row in rows]


def gold_summaries(
    connection: Connection,
    campaign_id: int,
    *,
    arm: str = "",
    topic_id: int | None = None,
    name: str = "",
    names: bool = False,
) -> list[Summary]:
    """Gold questions that were answered: `lowest` answers were wrong and `highest` right, `document` over `other`."""
    right = func.sum(case((gold_answer.c.is_right, 1), else_=0))
    wrong = func.sum(case((gold_answer.c.is_right.is_(False), 1), else_=0))
    query = _of_campaign(
        select(
            assignment.c.topic_id, gold_answer.c.document_id, func.coalesce(gold_answer.c.other_id, 0), func.count(),
            literal(0), wrong, right, func.sum(case((gold_answer.c.reason != "", 1), else_=0)), literal(0.0),
        ).select_from(assignment.join(gold_answer, gold_answer.c.assignment_id == assignment.c.id)),
        campaign_id, arm, topic_id, name, names,
    )  # fmt: skip
    keys = assignment.c.topic_id, gold_answer.c.document_id, gold_answer.c.other_id
    query = query.group_by(*keys)
    rows = _summaries(connection, query.order_by(*keys))
    return [row._replace(disagreement=(row.lowest or 0) / max(row.n, 1)) for row in rows]


def _of_campaign(
    query: Select[Any], campaign_id: int, arm: str, topic_id: int | None, name: str, names: bool
) -> Select[Any]:
    """Of this campaign, arm and topic; of what is grouped, only groups with an answer of that assessor."""
    query = query.join(assessor, assessor.c.id == assignment.c.assessor_id)
    query = query.where(assignment.c.campaign_id == campaign_id)
    if arm:
        query = query.where(assignment.c.arm == arm)
    if name:
        query = query.having(func.sum(case((assessor_label(names) == name, 1), else_=0)) > 0)
    return query if topic_id is None else query.where(assignment.c.topic_id == topic_id)


def _summaries(connection: Connection, query: Select[Any], *, root: bool = False) -> list[Summary]:
    rows = []
    for cells in connection.execute(query):
        row = Summary(*cells)
        spread = max(float(row.disagreement or 0.0), 0.0)
        rows.append(row._replace(disagreement=spread**0.5 if root else spread))
    return rows


def _smaller_share(first: float, second: float) -> float:
    return min(first, second) / (first + second) if first + second else 0.0


# ---- one document or pair

_WHO = (
    assignment.c.id.label("assignment"),
    assessor.c.id.label("assessor_id"),
    assessor.c.excluded,
    assessor.c.provider,
    assessor.c.state.label("journey"),
    assignment.c.status,
    assignment.c.arm,
    unit.c.number.label("unit"),
    _counted.label("counted"),
)


def answers_about(
    connection: Connection, campaign_id: int, topic_id: int, document_id: int, *, names: bool = False
) -> list[Row[Any]]:
    """Every current judgment of a document for a topic, whether it counts or not, oldest first.

    names : people by name, not by pseudonym; also below.
    """
    query = _answers(judgment, campaign_id, topic_id, list(judgment.c), names).where(
        judgment.c.document_id == document_id
    )
    return list(connection.execute(query.order_by(judgment.c.time, judgment.c.assignment_id)))


def answers_about_pair(
    connection: Connection, campaign_id: int, topic_id: int, pair: tuple[int, int], *, names: bool = False
) -> list[Row[Any]]:
    """Every current preference between two documents for a topic, whether it counts or not, oldest first.

    progress : the state of its unit.
    """
    one, other = pair
    same = or_(
        and_(preference.c.left_id == one, preference.c.right_id == other),
        and_(preference.c.left_id == other, preference.c.right_id == one),
    )
    columns = [*preference.c, assignment.c.state.label("progress")]
    query = _answers(preference, campaign_id, topic_id, columns, names).where(same)
    return list(connection.execute(query.order_by(preference.c.time, preference.c.assignment_id)))


def marks_about(
    connection: Connection, campaign_id: int, topic_id: int, documents: tuple[int, ...], *, names: bool = False
) -> list[Row[Any]]:
    """Bad marks of these documents for a topic."""
    query = _answers(bad_mark, campaign_id, topic_id, [*bad_mark.c], names).where(bad_mark.c.document_id.in_(documents))
    return list(connection.execute(query.order_by(bad_mark.c.time, bad_mark.c.assignment_id)))


def gold_answers_about(
    connection: Connection, campaign_id: int, topic_id: int, document_id: int, *, names: bool = False
) -> list[Row[Any]]:
    """Every answer to the gold questions of a document for a topic."""
    query = _answers(gold_answer, campaign_id, topic_id, [*gold_answer.c], names)
    query = query.where(gold_answer.c.document_id == document_id)
    return list(connection.execute(query.order_by(gold_answer.c.time, gold_answer.c.assignment_id)))


def _answers(
    table: Any, campaign_id: int, topic_id: int, columns: list[ColumnElement[Any]], names: bool
) -> Select[Any]:
    named = [column for column in columns if column.name not in ("assignment_id", "campaign_id")]
    return (
        select(*_WHO, assessor_label(names).label("assessor"), *named)
        .select_from(assignment)
        .join(table, table.c.assignment_id == assignment.c.id)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .join(unit, unit.c.id == assignment.c.unit_id)
        .where(assignment.c.campaign_id == campaign_id, assignment.c.topic_id == topic_id)
    )


def labels_of(connection: Connection, numbers: set[int]) -> dict[int, tuple[str, str]]:
    """{number: (label, title)} of documents."""
    query = select(document.c.id, document.c.label, document.c.title).where(document.c.id.in_(list(numbers)))
    return {row[0]: (row[1], row[2]) for row in connection.execute(query)}


def all_labels(connection: Connection, campaign_id: int) -> dict[int, str]:
    """{number: label} of all documents of a campaign."""
    query = select(document.c.id, document.c.label).where(document.c.campaign_id == campaign_id)
    return {row[0]: row[1] for row in connection.execute(query)}


def topic_labels(connection: Connection, campaign_id: int) -> dict[int, tuple[str, str]]:
    """{number: (label, title)} of the topics of a campaign, in order."""
    query = select(topic.c.id, topic.c.label, topic.c.title).where(topic.c.campaign_id == campaign_id)
    return {row[0]: (row[1], row[2]) for row in connection.execute(query.order_by(topic.c.id))}
