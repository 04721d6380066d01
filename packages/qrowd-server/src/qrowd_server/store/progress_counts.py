"""What a campaign's rows add up to, counted by the database: for its progress, and for how its assessors judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, func, null, select

from qrowd_server.store.event_log import CHUNK
from qrowd_server.store.persons import assessor_label
from qrowd_server.store.schema import (
    MODEL,
    OPEN,
    PERSON,
    assessor,
    assignment,
    bad_mark,
    event,
    judgment,
    preference,
    slot,
    topic,
    unit,
)

HOUR = 3600.0
ANSWERS = ("judged", "cannot_tell", "preferred", "marked_bad")  # events that hold an answer


# ---- progress

_WITH_ASSESSOR = assignment.join(assessor, assessor.c.id == assignment.c.assessor_id)
_COUNTED = and_(assignment.c.counts, assessor.c.excluded.is_(None))


def slots_by_topic(connection: Connection, campaign_id: int) -> dict[tuple[int, str], int]:
    """{(topic, arm): how many assignments it asks for}; of units in which nothing is left to judge, no further ones."""
    columns = slot.c.topic_id, slot.c.arm
    wanted = slot.c.campaign_id == campaign_id, func.coalesce(slot.c.assignment_id, 0) >= 0
    query = select(*columns, func.count()).where(*wanted).group_by(*columns)
    return {(topic_id, arm): int(n) for topic_id, arm, n in connection.execute(query)}


def leases(connection: Connection, campaign_id: int) -> dict[int, float]:
    """{assessor: end of the lease} of those who have an open unit."""
    query = _of(select(assignment.c.assessor_id, assignment.c.lease_until), campaign_id)
    rows = connection.execute(query.where(assignment.c.status == OPEN))
    return {row.assessor_id: row.lease_until for row in rows}


def unanswered_replies(connection: Connection, campaign_id: int) -> Sequence[tuple[str, str, int]]:
    """(model, what was wrong, replies) of replies of models without an answer that counts, the most frequent first.

    Where a model is at the same place again, what it had said there is not counted twice.
    """
    data = event.c.data
    columns = assessor.c.name, data["status"].as_string().label("status"), assignment.c.id, data["place"].as_string()
    replies = _of(select(*columns).select_from(_joined(event.c.assignment_id)), campaign_id)
    each = replies.where(event.c.kind == "unanswered").distinct().subquery()
    query = select(each.c.name, each.c.status, func.count()).group_by(each.c.name, each.c.status)
    return connection.execute(query.order_by(each.c.name, func.count().desc(), each.c.status)).all()


def assignments_by_topic(
    connection: Connection, campaign_id: int, since: float
) -> Sequence[tuple[int, str, str, int, float, int]]:
    """(topic, arm, status, assignments, when the first began, how many changed since `since`), of places of people."""
    recent = case((assignment.c.updated >= since, 1), else_=0)
    columns = assignment.c.topic_id, assignment.c.arm, assignment.c.status
    query: Select[Any] = select(*columns, func.count(), func.min(assignment.c.created), func.sum(recent))
    return connection.execute(_of(query, campaign_id).where(assignment.c.slot >= 0).group_by(*columns)).all()


def answers_by_document(connection: Connection, campaign_id: int) -> Iterator[tuple[int, str, int | None, bool, int]]:
    """(topic, arm, document, whether they count, answers): of judgments; of preferences and Bad marks, without one."""
    place = assignment.c.topic_id, assignment.c.arm
    for table, document_id in ((judgment, judgment.c.document_id), (preference, null()), (bad_mark, null())):
        columns = *place, document_id.label("document_id"), _COUNTED.label("counted")
        query = _of(select(*columns, func.count()).select_from(_joined(table.c.assignment_id)), campaign_id)
        if table is judgment:
            query = query.where(judgment.c.value.is_not(None))
        groups = query.group_by(*place, *([document_id] if table is judgment else []), "counted")
        for topic_id, arm, document, is_counted, n in connection.execute(groups):
            yield topic_id, arm, document, bool(is_counted), int(n)


def last_answer(connection: Connection, campaign_id: int) -> float | None:
    """When somebody last answered."""
    answers = event.c.campaign_id == campaign_id, event.c.kind.in_(ANSWERS)
    return connection.scalar(select(event.c.time).where(*answers).order_by(event.c.id.desc()).limit(1))


# ---- by assessor


def judged_documents(connection: Connection, campaign_id: int) -> int:
    """Documents of topics with a judgment that counts."""
    answers = answers_by_document(connection, campaign_id)
    return len({(topic_id, document) for topic_id, _, document, is_counted, _ in answers if is_counted})


def answer_seconds(connection: Connection, campaign_id: int, arm: str = "") -> list[Row[int, float]]:
    """(assessor, seconds) of every answer in an arm, Bad marks among them; "cannot tell" is none."""
    rows: list[Row[int, float]] = []
    for table in (judgment, preference, bad_mark):
        query = select(assignment.c.assessor_id, table.c.seconds).select_from(_joined(table.c.assignment_id))
        if table is judgment:
            query = query.where(judgment.c.value.is_not(None))
        rows += connection.execute(_of(query, campaign_id).where(assignment.c.arm == arm))
    return rows


def _joined(assignment_id: ColumnElement[Any]) -> Any:
    """Assignments with their assessors, and the table that has this column."""
    return _WITH_ASSESSOR.join(assignment_id.table, assignment_id == assignment.c.id)


def _of(query: Select[Any], campaign_id: int) -> Select[Any]:
    return query.where(assignment.c.campaign_id == campaign_id)


#: Events by which an assessor does something in a unit; others follow from these, or come from somebody else.
ACTS = (
    *("replied", "judged", "cannot_tell", "postponed", "stepped_back", "stepped_forward", "submitted", "looked_again"),
    *("preferred", "marked_bad", "undone", "looked_up", "rated"),
)


def assignment_totals(connection: Connection, campaign_id: int, *, names: bool = False) -> Iterator[dict[str, Any]]:
    """All assignments of a campaign, topic by topic, then by unit, slot and assessor: columns of `UNITS` in exports.

    names : people by name, not by pseudonym. What the protocol's state holds, such as `fails` and `wrong`, is among the
    columns, where it holds that.
    """
    answers, seconds = Counter[int](), defaultdict[int, float](float)
    for table in (judgment, preference, bad_mark):
        of = table.c.assignment_id
        query = select(of, func.count(), func.sum(table.c.seconds)).where(table.c.campaign_id == campaign_id)
        for id, n, sum_of_seconds in connection.execute(query.group_by(of)):
            answers[id] += n
            seconds[id] += sum_of_seconds
    acts, last = defaultdict[int, Counter[str]](Counter), dict[int, float]()
    which = event.c.assignment_id, event.c.kind
    kinds = select(*which, func.count(), func.max(event.c.time)).where(
        event.c.campaign_id == campaign_id, event.c.assignment_id.is_not(None), event.c.kind.in_(ACTS)
    )
    for id, kind, n, time in connection.execute(kinds.where(event.c.late.is_(False)).group_by(*which)):
        acts[id][kind] = n
        last[id] = max(time, last.get(id, time))
    counted = and_(assignment.c.counts, assessor.c.excluded.is_(None))
    query = (
        select(
            assignment.c.id, assessor.c.id, assessor_label(names), assessor.c.provider, topic.c.label, unit.c.number,
            assignment.c.status, counted, unit.c.documents, assignment.c.created, assignment.c.state,
            assignment.c.arm,
        )
        .select_from(assignment)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .join(unit, unit.c.id == assignment.c.unit_id)
        .join(topic, topic.c.id == assignment.c.topic_id)
        .where(assignment.c.campaign_id == campaign_id)
        .order_by(topic.c.id, unit.c.number, assignment.c.slot, assessor.c.created, assignment.c.id)
    )  # fmt: skip
    for id, who, name, provider, label, number, status, counts, documents, created, state, arm in connection.execute(
        query, execution_options={"yield_per": CHUNK}
    ):
        yield {
            **state,
            "assessor_id": who,
            "assessor": name,
            "topic": label,
            "unit": f"{label}/{number}",
            "arm": arm,
            "status": status,
            "counts": bool(counts),
            "documents": len(documents),
            "answers": answers[id],
            "seconds": seconds[id],
            "started": created,
            "ended": last.get(id),
            "backs": state.get("backs", acts[id]["undone"]),
            "looked_up": acts[id]["looked_up"],
            "assignment": id,
            "kind": MODEL if provider == MODEL else PERSON,
        }
