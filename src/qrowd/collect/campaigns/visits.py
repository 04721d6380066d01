"""Each time somebody takes the task on a platform: what they took it as, and whether it has earned anything.

A platform pays once for one taking (an assignment of MTurk, a submission of Prolific), so a unit that came to an end
belongs to the taking under which it did, and to no other. Takings are events, `arrived` and `returned`, each under a
key made of the assessor and its place in their row, so all of one assessor's are found without reading the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.protocols.journey import Journey
from qrowd.collect.store import assignments, events

MOST = 100  # takings of one assessor
ENDS = ("completed", "failed", "screened_out")  # of units, the best first
OUT = ("declined", "practice_failed")  # of the way before them
NOTHING = dict.fromkeys((*ENDS, *OUT), 0)


@dataclass(frozen=True)
class Visit:
    """One taking of the task.

    name : the platform's. outcome : of what was done under it, None where nothing came to an end.
    """

    name: str
    outcome: str | None


def key_of(assessor_id: int, place: int) -> str:
    """Under which key the event is; keys of forms never begin so."""
    return f"visit {assessor_id:x} {place}"


def ends_of(connection: Connection, assessor_id: int, way: Journey) -> dict[str, int]:
    """What came to an end for somebody so far, counted by outcome."""
    counted = Counter(row.status for row in assignments.of_assessor(connection, assessor_id))
    return {**{end: counted[end] for end in ENDS}, **{end: int(way.stage == end) for end in OUT}}


def takings(connection: Connection, assessor_id: int) -> list[Mapping[str, Any]]:
    """What was kept of each: `visit`, and `ended`, as it was when it began; the first first."""
    found: list[Mapping[str, Any]] = []
    while (event := events.by_key(connection, key_of(assessor_id, len(found)))) is not None:
        found.append(event.data)
    return found


def visits_of(connection: Connection, assessor_id: int, way: Journey) -> tuple[Visit, ...]:
    """Everything somebody took the task as; the last is what they work under now."""
    kept = takings(connection, assessor_id)
    states = [one["ended"] for one in kept] + [ends_of(connection, assessor_id, way)]
    found: dict[str, str | None] = {}
    for one, (before, after) in zip(kept, pairwise(states), strict=True):
        earlier = found.pop(one["visit"], None)  # who comes back under one goes on under it
        ends = [end for end in (*ENDS, *OUT) if after[end] > before[end]]
        found[one["visit"]] = ends[0] if ends else earlier
    return tuple(Visit(name, outcome) for name, outcome in found.items())
