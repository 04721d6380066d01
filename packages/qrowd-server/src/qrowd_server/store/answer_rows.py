"""Answers of assignments, as the log adds up to them, also to gold questions, and what a page holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, bindparam, case, delete, func, insert, select

from qrowd_server.store.base import upsert
from qrowd_server.store.persons import assessor_label
from qrowd_server.store.schema import (
    MODEL,
    PERSON,
    assessor,
    assignment,
    bad_mark,
    document,
    draft,
    gold_answer,
    judgment,
    pair_lease,
    preference,
    topic,
    unit,
)

_left, _right = document.alias("left_document"), document.alias("right_document")
_ANSWERS_OF = {
    judgment: select(judgment, document.c.label)
    .join(document, document.c.id == judgment.c.document_id)
    .order_by(judgment.c.position),
    preference: select(preference, _left.c.label.label("left"), _right.c.label.label("right"))
    .join(_left, _left.c.id == preference.c.left_id)
    .join(_right, _right.c.id == preference.c.right_id),
    bad_mark: select(bad_mark, document.c.label).join(document, document.c.id == bad_mark.c.document_id),
    gold_answer: select(gold_answer, document.c.label, _right.c.label.label("other"))
    .join(document, document.c.id == gold_answer.c.document_id)
    .outerjoin(_right, _right.c.id == gold_answer.c.other_id)
    .order_by(gold_answer.c.number),
}


_OWN = [
    select(func.count(), func.count(value), func.count(case((assignment.c.counts, 1))))
    .select_from(assignment.join(value.table, value.table.c.assignment_id == assignment.c.id))
    .where(assignment.c.assessor_id == bindparam("assessor"))
    for value in (judgment.c.value, gold_answer.c.is_right, preference.c.number, bad_mark.c.document_id)
]


def count_answers(connection: Connection, assessor_id: int) -> tuple[int, int, int]:
    """How many answers an assessor gave; how many of them are not "cannot tell"; how many count."""
    counts = [connection.execute(query, {"assessor": assessor_id}).one() for query in _OWN]
    given, told, counted = (sum(column) for column in zip(*counts, strict=True))
    return given, told, counted


def remove_answers(connection: Connection, table: Table, keys: Iterable[Mapping[str, Any]]) -> None:
    """Remove the rows with these keys; the events that made them stay."""
    for key in keys:
        connection.execute(delete(table).where(*(table.c[name] == value for name, value in key.items())))


def answers_of(connection: Connection, table: Table, assignment_id: int) -> Sequence[Row[Any]]:
    """The rows of an assignment, with the labels of their documents: `label`, or `left` and `right` of a pair."""
    return connection.execute(_ANSWERS_OF[table].where(table.c.assignment_id == assignment_id)).all()


# ---- what the page of an assessor holds: a pair, a draft


def hold_pair(connection: Connection, board: int, pair: tuple[int, int], assignment_id: int, seats: int = 1) -> None:
    """Note which pair an assessor has on the page.

    board : the unit where it is judged together, else the assignment. seats : how many assessors may have the pair at
        once; the table refuses one more, and a second pair of one assessor.
    """
    low, high = min(pair), max(pair)
    seat = 0
    if seats > 1:
        same = pair_lease.c.board == board, pair_lease.c.low_id == low, pair_lease.c.high_id == high
        seats_of_others = set(connection.scalars(select(pair_lease.c.seat).where(*same)))
        seat = min(number for number in range(seats + 1) if number not in seats_of_others)
    row = {"board": board, "low_id": low, "high_id": high, "seat": seat, "assignment_id": assignment_id}
    connection.execute(insert(pair_lease), row)


def release_pair(connection: Connection, assignment_id: int) -> None:
    """The assessor has no pair on the page any more."""
    connection.execute(delete(pair_lease).where(pair_lease.c.assignment_id == assignment_id))


def find_draft(connection: Connection, assignment_id: int, position: int) -> tuple[str, str] | None:
    """The text and the reason typed at a position, if any."""
    this = draft.c.assignment_id == assignment_id, draft.c.position == position
    row = connection.execute(select(draft.c.text, draft.c.reason).where(*this)).first()
    return None if row is None else (row.text, row.reason)


def save_draft(connection: Connection, assignment_id: int, position: int, text: str, reason: str, at: float) -> None:
    """Keep what was typed at a position, in place of an earlier draft."""
    row = {"assignment_id": assignment_id, "position": position, "text": text, "reason": reason, "time": at}
    upsert(connection, draft, [row])


# ---- gold questions


GOLD = (
    "topic", "document", "other", "assessor", "answer", "right", "order", "unit", "seconds", "time", "comment",
    "active", "assignment", "kind", "excluded", "status", "arm",
)  # fmt: skip
"""The columns of the export."""

_other = document.alias("other_document")
_answered: Select[Any] = (
    select(
        assignment.c.assessor_id,
        gold_answer.c.is_right,
        gold_answer.c.chance,
        gold_answer.c.choices,
        gold_answer.c.is_entry,
    )
    .join(assignment, assignment.c.id == gold_answer.c.assignment_id)
    .where(gold_answer.c.is_right.is_not(None))
    .order_by(gold_answer.c.time, gold_answer.c.assignment_id, gold_answer.c.number)
)
_BEFORE = _answered.where(assignment.c.assessor_id == bindparam("assessor"), assignment.c.id != bindparam("but"))
_IN_ORDER = topic.c.id, unit.c.number, assignment.c.slot, assessor.c.created, assignment.c.id, gold_answer.c.number


def gold_answers_of(connection: Connection, assessor_id: int, but: int = 0) -> Sequence[Row[Any]]:
    """What an assessor answered to gold questions, oldest first: is_right, chance, choices and is_entry of the table.

    but : an assignment that is left out.
    """
    return connection.execute(_BEFORE, {"assessor": assessor_id, "but": but}).all()


def gold_answers_by_assessor(
    connection: Connection, campaign_id: int, arm: str | None = None
) -> dict[int, list[Row[Any]]]:
    """{assessor: what they answered to gold questions, oldest first}. arm : only in this one; None for all."""
    answers: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in connection.execute(_answered.where(*_in_arm(campaign_id, arm))):
        answers[row.assessor_id].append(row)
    return answers


def _in_arm(campaign_id: int, arm: str | None) -> tuple[ColumnElement[bool], ...]:
    in_campaign = gold_answer.c.campaign_id == campaign_id
    return (in_campaign,) if arm is None else (in_campaign, assignment.c.arm == arm)


def gold_rows(
    connection: Connection, campaign_id: int, *, arm: str | None = None, names: bool = False
) -> Iterator[tuple[Any, ...]]:
    """Every answer to a gold question as tuples of the columns GOLD, topic by topic, then by unit, slot and assessor.

    other : the worse document of a pair. answer : the grade, or which document was chosen. right : 1, 0, or None for
    "cannot tell". names : people by name, not by pseudonym.
    """
    query = (
        select(
            topic.c.label, document.c.label, _other.c.label, assessor_label(names), gold_answer.c.raw,
            gold_answer.c.is_right, gold_answer.c.number, unit.c.number, gold_answer.c.seconds, gold_answer.c.time,
            gold_answer.c.reason,
            gold_answer.c.active, assignment.c.id, case((assessor.c.provider == MODEL, MODEL), else_=PERSON),
            assessor.c.excluded, assignment.c.status, assignment.c.arm,
        )
        .select_from(gold_answer)
        .join(assignment, assignment.c.id == gold_answer.c.assignment_id)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .join(unit, unit.c.id == assignment.c.unit_id)
        .join(topic, topic.c.id == assignment.c.topic_id)
        .join(document, document.c.id == gold_answer.c.document_id)
        .outerjoin(_other, _other.c.id == gold_answer.c.other_id)
        .order_by(*_IN_ORDER)
    )  # fmt: skip
    for row in connection.execute(query.where(*_in_arm(campaign_id, arm))):
        cells = tuple(row)
        right = None if cells[5] is None else int(cells[5])
        yield *cells[:5], right, cells[6], f"{cells[0]}/{cells[7]}", *cells[8:]
