"""Answers of assignments, as the log adds up to them, and what the page of an assessor holds: a pair, a draft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Table, delete, insert, select

from qrowd_server.store.base import upsert
from qrowd_server.store.schema import bad_mark, document, draft, gold_answer, judgment, pair_lease, preference

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


def save_answers(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add these rows, or change those that have their key."""
    upsert(connection, table, rows)


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
