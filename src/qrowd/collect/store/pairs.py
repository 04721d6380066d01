"""Which pair is before whom: nobody has two, and no pair of a board is before more assessors than may judge it."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete, insert, select

from qrowd.collect.store.schema import pair_lease

_RELEASE = delete(pair_lease).where(pair_lease.c.assignment_id == bindparam("holder"))
_TAKEN = select(pair_lease.c.seat).where(
    pair_lease.c.board == bindparam("board"),
    pair_lease.c.low_id == bindparam("low"),
    pair_lease.c.high_id == bindparam("high"),
)
_HOLD = insert(pair_lease)


def release(connection: Connection, assignment_id: int) -> None:
    """It is before nobody any more."""
    connection.execute(_RELEASE, {"holder": assignment_id})


def hold(connection: Connection, board: int, pair: tuple[int, int], assignment_id: int, seats: int = 1) -> None:
    """Put a pair before somebody.

    board : the unit where it is judged together, else the assignment. seats : before how many it may be at once.
    """
    low, high = min(pair), max(pair)
    seat = 0
    if seats > 1:
        taken = set(connection.scalars(_TAKEN, {"board": board, "low": low, "high": high}))
        seat = min(number for number in range(seats + 1) if number not in taken)
    row = {"board": board, "low_id": low, "high_id": high, "seat": seat, "assignment_id": assignment_id}
    connection.execute(_HOLD, row)
