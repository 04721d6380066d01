"""Which arm an assessor judges next, so that arms are balanced over topics, assessors and their order.

The slots of a campaign with several arms are laid out as a Latin square (`creation`): in each row of the square a
topic has one arm, and arms take turns over the topics. An assessor keeps to one row, so that a topic is judged in each
arm by as many assessors as its redundancy says, and an assessor judges equally often in each arm. A new assessor gets
the row with the fewest assessors, and begins with the arm with which the fewest have begun; each further unit is in the
arm that they have had least. Only where their row has nothing left for them, they get a slot of another row.

Nothing of this is stored: the first assignment of an assessor says their row and their first arm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection

from qrowd_server.store import state

Turn = tuple[int | None, Sequence[str | None]]  # a row of the square, and arms in the order in which they are tried


def turns_of(connection: Connection, campaign_id: int, assessor_id: int, arms: Sequence[str], at: float) -> list[Turn]:
    """Where to look for the next slot of an assessor: in their row, and then in all rows.

    None stands for any row and for any arm. at : now, since assessors whose unit is beyond its lease have left.
    """
    if len(arms) == 1:
        return [(None, [None])]
    own = state.places_of(connection, assessor_id)
    row, first = own[0] if own else _new_place(connection, campaign_id, arms, at)
    n_units = Counter(arm for _, arm in own)
    order = sorted(_from(arms, arms.index(first)), key=n_units.__getitem__)
    return [(row, order), (None, order)]


def _new_place(connection: Connection, campaign_id: int, arms: Sequence[str], at: float) -> tuple[int, str]:
    """The row of a new assessor, and the arm of their first unit."""
    first: dict[int, tuple[int, str]] = {}
    present: dict[int, bool] = {}
    held = Counter[int]()
    for assessor_id, row, arm, status, lease_until in state.places(connection, campaign_id):
        first.setdefault(assessor_id, (row, arm))
        present[assessor_id] = status not in ("expired", "withdrawn") and not (status == "open" and lease_until < at)
        held[row] += present[assessor_id]
    places = [first[assessor_id] for assessor_id, is_present in present.items() if is_present]
    in_row, begun, both = Counter(row for row, _ in places), Counter(arm for _, arm in places), Counter(places)
    row = min(range(len(arms)), key=lambda row: (in_row[row], held[row]))
    return row, min(_from(arms, row), key=lambda arm: (begun[arm], both[row, arm]))


def _from(arms: Sequence[str], start: int) -> list[str]:
    """All arms, beginning with this one."""
    return [*arms[start:], *arms[:start]]
