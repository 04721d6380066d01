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

from qrowd.collect.campaigns.lookup import find_arms
from qrowd.collect.store import materials
from qrowd.collect.store.assignments import AssignmentTotals, assignment_totals
from qrowd.collect.store.schema import COMPLETED
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.magnitude.collection import TopicUnits, counts_by_times
from qrowd.magnitude.participation import PowerLaw, fit_power_law
from qrowd.model.result import Result

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
        raise ArgumentError(f"session_gap={session_gap:g}: expected minutes, 0 or more")
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


# ---- what the units of a campaign say


def campaign_topic_units(connection: Connection, name: str) -> TopicUnits:
    """Table I of a campaign: documents, units, assessors and judgments by topic, steps back and failed checks.

    Only completed units that count; of preferences, a judgment is an answer about a pair.

    Maddalena, Mizzaro, Scholer, Turpin (2017), ACM TOIS 35(3), Table I.

    Raises
    ------
    ArgumentError
        There is no such campaign.
    """
    (row, arms), units = find_arms(connection, name), campaign_units(connection, name)
    topics = materials.topics_of(connection, row.id)
    place = {topic.label: i for i, topic in enumerate(topics)}
    rows = np.flatnonzero(units.counts & (units.status == COMPLETED))
    topic = np.array([place[label] for label in units.topic[rows]], np.int64)
    assessors: list[set[str]] = [set() for _ in topics]
    for i, assessor in zip(topic, units.assessor[rows], strict=True):
        assessors[i].add(assessor)
    pools: dict[int, set[int]] = {one.id: set() for one in topics}
    for unit in materials.units_of(connection, row.id):
        if unit.arm in arms:
            pools[unit.topic_id].update(unit.documents)
    checks = [one.checks for one in topics]
    high = low = None
    if topics and all(checks):
        documents = {one.id: one.label for one in materials.find_documents(connection, {i for c in checks for i in c})}
        high, low = (tuple(documents[pair[which]] for pair in checks) for which in (0, 1))
    return TopicUnits(
        tuple(place),
        np.array([len(pools[one.id]) for one in topics], np.int64),
        np.bincount(topic, minlength=len(topics)),
        np.array([len(names) for names in assessors], np.int64),
        np.bincount(topic, units.answers[rows], minlength=len(topics)).astype(np.int64),
        high,
        low,
        *(counts_by_times(topic, times[rows], len(topics)) for times in (units.backs, units.fails)),
    )


def power_law_of_units(units: CampaignUnits, n_topics: int) -> PowerLaw | None:
    """The power law of the completed units per assessor that count; None without any.

    n_topics : of the campaign, since no assessor gets a topic twice; None, too, where somebody has more units, as in a
    campaign with a question, whose units are documents.
    """
    rows = units.counts & (units.status == COMPLETED)
    _, n_units = np.unique(units.assessor[rows].astype(str), return_counts=True)
    if not n_units.size or n_units.max() > n_topics:
        return None
    return fit_power_law(n_units, highest=n_topics)


@dataclass(frozen=True, eq=False)
class UnitSessions(Result):
    """What assessors did after a unit, whatever became of it.

    straight_on : units after which the next one followed in the same session. came_back : in a later session.
    left : after which none followed. n_sessions, n_assessors : number of each.
    session_gap : minutes; the option in force.
    """

    straight_on: int
    came_back: int
    left: int
    n_sessions: int
    n_assessors: int
    session_gap: float

    def _columns(self) -> dict[str, Any]:
        n = np.array([self.straight_on, self.came_back, self.left])
        after = np.array(
            ["another unit in the same session", "another unit in a later session", "no other unit"], object
        )
        return {"followed_by": after, "n_units": n, "share": n / max(n.sum(), 1)}


def unit_sessions(units: CampaignUnits) -> UnitSessions:
    """Whether assessors work in sessions: after a unit they go straight on, come back later, or leave (section 4.1)."""
    last: dict[str, int] = {}
    straight_on = came_back = 0
    for i in np.lexsort((units.started, units.assessor.astype(str))):
        who, session = units.assessor[i], int(units.session[i])
        if who in last:
            straight_on += session == last[who]
            came_back += session != last[who]
        last[who] = session
    return UnitSessions(straight_on, came_back, len(last), sum(last.values()), len(last), units.session_gap)
