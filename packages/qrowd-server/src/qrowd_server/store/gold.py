"""Answers to gold questions: those of one assessor for the rule, of all for tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, select

from qrowd_server.store.pseudonyms import assessor_label
from qrowd_server.store.schema import MODEL, PERSON, assessor, assignment, document, gold_answer, topic, unit

Answered = tuple[bool, float, tuple[str, ...], bool]  # is_right, chance, choices and is_entry of the table

GOLD = (
    "topic", "document", "other", "assessor", "answer", "right", "order", "unit", "seconds", "time", "comment",
    "active", "assignment", "kind", "excluded", "status", "arm",
)  # fmt: skip
"""The columns of the export."""

_other = document.alias("other_document")
_answered = (
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
_IN_ORDER = topic.c.id, unit.c.number, assignment.c.slot, assessor.c.created, assignment.c.id, gold_answer.c.number


def gold_answers_before(connection: Connection, assessor_id: int, but: int) -> list[Answered]:
    """What an assessor answered to gold questions, oldest first, except in one assignment."""
    before = assignment.c.assessor_id == assessor_id, assignment.c.id != but
    return [_answer(*cells) for _, *cells in connection.execute(_answered.where(*before))]


def count_entry_answers(connection: Connection, assessor_id: int) -> int:
    """Gold questions of the entry test to which an assessor gave an answer that is right or wrong."""
    answers = (
        select(func.count()).select_from(gold_answer).join(assignment, assignment.c.id == gold_answer.c.assignment_id)
    )
    own = assignment.c.assessor_id == assessor_id, gold_answer.c.is_entry, gold_answer.c.is_right.is_not(None)
    return connection.execute(answers.where(*own)).scalar_one()


def gold_answers_by_assessor(
    connection: Connection, campaign_id: int, arm: str | None = None
) -> dict[int, list[Answered]]:
    """{assessor: what they answered to gold questions, oldest first}. arm : only in this one; None for all."""
    answers: defaultdict[int, list[Answered]] = defaultdict(list)
    for number, *cells in connection.execute(_answered.where(*_in_arm(campaign_id, arm))):
        answers[number].append(_answer(*cells))
    return dict(answers)


def _in_arm(campaign_id: int, arm: str | None) -> tuple[ColumnElement[bool], ...]:
    in_campaign = gold_answer.c.campaign_id == campaign_id
    return (in_campaign,) if arm is None else (in_campaign, assignment.c.arm == arm)


def _answer(is_right: bool, chance: float, choices: str, is_entry: bool) -> Answered:
    return bool(is_right), chance, tuple(choices.split()), bool(is_entry)


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
