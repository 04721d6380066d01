"""Submissions to a crowd platform: each time somebody takes the task there, and whether it has earned anything.

A platform pays once for one submission (an assignment of MTurk), so a unit that came to an end belongs to the
submission under which it did, and to no other. Submissions are events, `arrived` and `returned`, each under a
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

MOST = 100  # submissions of one assessor
ENDS = ("completed", "failed", "screened_out")  # of units, the best first
OUT = ("declined", "practice_failed")  # of the way before them
NOTHING = dict.fromkeys((*ENDS, *OUT), 0)


@dataclass(frozen=True)
class Submission:
    """One submission.

    name : the platform's. outcome : of what was done under it, None where nothing came to an end.
    """

    name: str
    outcome: str | None


def submission_key(assessor_id: int, place: int) -> str:
    """Under which key the event is; keys of forms never begin so."""
    return f"submission {assessor_id:x} {place}"


def outcome_counts(connection: Connection, assessor_id: int, way: Journey) -> dict[str, int]:
    """What came to an end for somebody so far, counted by outcome."""
    counted = Counter(row.status for row in assignments.of_assessor(connection, assessor_id))
    return {**{end: counted[end] for end in ENDS}, **{end: int(way.stage == end) for end in OUT}}


def records_of(connection: Connection, assessor_id: int) -> list[Mapping[str, Any]]:
    """What was kept of each: `submission`, and `ended`, as it was when it began; the first first."""
    found: list[Mapping[str, Any]] = []
    while (event := events.by_key(connection, submission_key(assessor_id, len(found)))) is not None:
        found.append(event.data)
    return found


def submissions_of(connection: Connection, assessor_id: int, way: Journey) -> tuple[Submission, ...]:
    """Everything somebody took the task as; the last is what they work under now."""
    kept = records_of(connection, assessor_id)
    states = [one["ended"] for one in kept] + [outcome_counts(connection, assessor_id, way)]
    found: dict[str, str | None] = {}
    for one, (before, after) in zip(kept, pairwise(states), strict=True):
        earlier = found.pop(one["submission"], None)  # who comes back under one goes on under it
        ends = [end for end in (*ENDS, *OUT) if after[end] > before[end]]
        found[one["submission"]] = ends[0] if ends else earlier
    return tuple(Submission(name, outcome) for name, outcome in found.items())
