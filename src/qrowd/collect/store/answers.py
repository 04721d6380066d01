"""Rows of assignments: answers, drafts that are nobody's answer yet, and the pair that an assessor has on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Table, and_, bindparam, delete, insert, select

from qrowd.collect.store.base import upsert
from qrowd.collect.store.schema import bad_mark, document, draft, judgment, pair_lease, preference

ANSWERS = (judgment, preference, bad_mark)
_DELETE = {
    table.name: delete(table).where(and_(*(column == bindparam("old_" + column.name) for column in table.primary_key)))
    for table in ANSWERS
}
_DRAFT = select(draft.c.text, draft.c.reason).where(
    draft.c.assignment_id == bindparam("assignment"), draft.c.position == bindparam("place")
)
_LEFT, _RIGHT = document.alias("left_document"), document.alias("right_document")
_OF_ASSIGNMENT = {
    judgment.name: select(judgment, document.c.label)
    .join(document, document.c.id == judgment.c.document_id)
    .where(judgment.c.assignment_id == bindparam("assignment"))
    .order_by(judgment.c.position),
    preference.name: select(preference, _LEFT.c.label.label("left"), _RIGHT.c.label.label("right"))
    .join(_LEFT, _LEFT.c.id == preference.c.left_id)
    .join(_RIGHT, _RIGHT.c.id == preference.c.right_id)
    .where(preference.c.assignment_id == bindparam("assignment")),
    bad_mark.name: select(bad_mark, document.c.label)
    .join(document, document.c.id == bad_mark.c.document_id)
    .where(bad_mark.c.assignment_id == bindparam("assignment")),
}
_RELEASE = delete(pair_lease).where(pair_lease.c.assignment_id == bindparam("holder"))
_SEATS = select(pair_lease.c.seat).where(
    pair_lease.c.board == bindparam("board"),
    pair_lease.c.low_id == bindparam("low"),
    pair_lease.c.high_id == bindparam("high"),
)


def save_answers(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add these rows, or change those that have their key."""
    upsert(connection, table, rows)


def remove_answers(connection: Connection, table: Table, keys: Iterable[Mapping[str, Any]]) -> None:
    """Remove the rows with these keys; the events that made them stay."""
    if listed := [{"old_" + name: value for name, value in key.items()} for key in keys]:
        connection.execute(_DELETE[table.name], listed)


def answers_of(connection: Connection, table: Table, assignment_id: int) -> Sequence[Row[Any]]:
    """The rows of an assignment, with the labels of their documents: `label`, or `left` and `right` of a pair."""
    return connection.execute(_OF_ASSIGNMENT[table.name], {"assignment": assignment_id}).all()


def find_draft(connection: Connection, assignment_id: int, position: int) -> tuple[str, str] | None:
    """The text and the reason typed at a position, if any."""
    row = connection.execute(_DRAFT, {"assignment": assignment_id, "place": position}).first()
    return None if row is None else (row.text, row.reason)


def save_draft(connection: Connection, assignment_id: int, position: int, text: str, reason: str, at: float) -> None:
    """Keep what was typed at a position, in place of an earlier draft."""
    row = {"assignment_id": assignment_id, "position": position, "text": text, "reason": reason, "time": at}
    upsert(connection, draft, [row])


def hold_pair(connection: Connection, board: int, pair: tuple[int, int], assignment_id: int, seats: int = 1) -> None:
    """Note which pair an assessor has on the page.

    board : the unit where it is judged together, else the assignment. seats : how many assessors may have the pair at
        once; the table refuses one more, and a second pair of one assessor.
    """
    low, high = min(pair), max(pair)
    seat = 0
    if seats > 1:
        taken = set(connection.scalars(_SEATS, {"board": board, "low": low, "high": high}))
        seat = min(number for number in range(seats + 1) if number not in taken)
    row = {"board": board, "low_id": low, "high_id": high, "seat": seat, "assignment_id": assignment_id}
    connection.execute(insert(pair_lease), row)


def release_pair(connection: Connection, assignment_id: int) -> None:
    """The assessor has no pair on the page any more."""
    connection.execute(_RELEASE, {"holder": assignment_id})
