"""Units of a campaign: one row per assignment, with what its assessor did and how long it took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.result import Result
from qrowd_server.campaigns.running.lookup import find_arms
from qrowd_server.store.counts import AssignmentTotals, assignment_totals

SESSION_GAP = 30.0  # minutes
UNITS = (
    "assessor", "topic", "unit", "arm", "protocol", "status", "counts", "documents", "answers", "seconds", "started",
    "ended", "session", "backs", "fails", "wrong", "looked_up", "confidence", "understanding", "comment", "assignment",
    "kind",
)  # fmt: skip
"""The columns of the export."""


@dataclass(frozen=True, eq=False)
class CampaignUnits(Result):
    """Every assignment of a campaign; every array is (assignments,).

    assessor, topic, unit, arm, protocol, status : labels. The arm is "" in a campaign without arms.
    counts : whether its answers are part of the result.
    documents : of the unit. answers : documents or pairs with an answer, "cannot tell" and Bad marks included.
    seconds : the sum over these answers, by the server's clock.
    started : when the unit was assigned. ended : when its assessor last did something in it, nan for never. Seconds
        since 1970.
    session : number of the session of its assessor, from 1; a session ends where more than `session_gap` minutes lie
        between the end of a unit and the start of the next.
    backs : steps back to an earlier document, or preferences undone. fails : submissions that failed a check.
    wrong : wrong answers to the question about the topic. looked_up : how often the context was opened.
    confidence, understanding : 1 to 5 as rated at the end, nan where not rated. comment : written there.
    assignment : its number, as in other exports. kind : of its assessor: person or model.
    campaign, session_gap : the campaign, and the option in force.
    """

    campaign: str
    assessor: NDArray[np.object_]
    topic: NDArray[np.object_]
    unit: NDArray[np.object_]
    arm: NDArray[np.object_]
    protocol: NDArray[np.object_]
    status: NDArray[np.object_]
    counts: NDArray[np.bool_]
    documents: Ints
    answers: Ints
    seconds: Floats
    started: Floats
    ended: Floats
    session: Ints
    backs: Ints
    fails: Ints
    wrong: Ints
    looked_up: Ints
    confidence: Floats
    understanding: Floats
    comment: NDArray[np.object_]
    assignment: Ints
    kind: NDArray[np.object_]
    session_gap: float
    _COLUMNS = UNITS

    def __len__(self) -> int:
        return int(self.counts.size)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Tuples of the columns UNITS, None for what is missing."""
        columns = [getattr(self, name).tolist() for name in UNITS]
        for row in zip(*columns, strict=True):
            yield tuple(None if cell != cell else cell for cell in row)


_KINDS: dict[str, Any] = {
    **dict.fromkeys(("counts",), np.bool_),
    **dict.fromkeys(
        ("documents", "answers", "session", "backs", "fails", "wrong", "looked_up", "assignment"), np.int64
    ),
    **dict.fromkeys(("seconds", "started", "ended", "confidence", "understanding"), np.float64),
}


def campaign_units(
    connection: Connection, name: str, *, session_gap: float = SESSION_GAP, names: bool = False
) -> CampaignUnits:
    """The units of a campaign as they stand, also those that failed, were lost or are not finished.

    Rows come topic by topic, then by unit, slot and assessor.

    Parameters
    ----------
    name : of the campaign, or CAMPAIGN/ARM for those of one arm.
    session_gap : minutes between two units of an assessor from which on the later one begins a new session.
    names : people by name, not by pseudonym.

    Raises
    ------
    ArgumentError
        There is no such campaign; a gap below 0.
    """
    if not session_gap >= 0:
        raise ArgumentError("expected minutes, 0 or more", "session_gap", session_gap)
    row, protocols = find_arms(connection, name)
    totals = list(assignment_totals(connection, row.id, names=names))
    session = sessions(totals, session_gap=session_gap)
    cells = [_cells(one, protocols[one.arm], session[one.id]) for one in totals if one.arm in protocols]
    columns = {
        column: np.array([one[i] for one in cells], _KINDS.get(column, object)) for i, column in enumerate(UNITS)
    }
    return CampaignUnits(campaign=row.name, session_gap=session_gap, **columns)


def sessions(totals: Iterable[AssignmentTotals], *, session_gap: float) -> dict[int, int]:
    """{assignment: number of its assessor's session}; see `CampaignUnits`."""
    numbers: dict[int, int] = {}
    for _, own in groupby(sorted(totals, key=attrgetter("assessor", "created", "id")), attrgetter("assessor")):
        number, end = 0, -np.inf
        for one in own:
            number += one.created - end > 60 * session_gap
            end = one.created if one.last is None else one.last
            numbers[one.id] = number
    return numbers


def _cells(one: AssignmentTotals, protocol: str, session: int) -> tuple[Any, ...]:
    state = one.state
    ratings = (np.nan if state.get(key) is None else state[key] for key in ("confidence", "understanding"))
    return (
        one.assessor, one.topic, f"{one.topic}/{one.unit}", one.arm, protocol, one.status, one.counts, one.documents,
        one.answers, one.seconds, one.created, np.nan if one.last is None else one.last, session,
        state.get("backs", one.acts["undone"]), state.get("fails", 0), state.get("wrong", 0), one.acts["looked_up"],
        *ratings, state.get("comment", ""), one.id, one.kind,
    )  # fmt: skip
