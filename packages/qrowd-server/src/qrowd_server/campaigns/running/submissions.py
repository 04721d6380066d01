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

from qrowd_server.campaigns.running.assignment_state import journey_of_assessor
from qrowd_server.store import events, state
from qrowd_server.store.state import AssessorRow

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


def outcome_counts(connection: Connection, assessor: AssessorRow) -> dict[str, int]:
    """What came to an end for an assessor so far, counted by outcome."""
    ends = Counter(row.status for row in state.assignments_of(connection, assessor.id))
    way = journey_of_assessor(assessor)
    out = {"declined": int(way.stage == "declined"), "practice_failed": way.practices_failed}
    return {**{end: ends[end] for end in ENDS}, **out}


def records_of(connection: Connection, assessor_id: int) -> list[Mapping[str, Any]]:
    """What the log says of each: `submission`, and `ended`, as it was when it began; the first first."""
    records: list[Mapping[str, Any]] = []
    while (event := events.by_key(connection, submission_key(assessor_id, len(records)))) is not None:
        records.append(event.data)
    return records


def submissions_of(connection: Connection, assessor: AssessorRow) -> tuple[Submission, ...]:
    """All submissions of an assessor; the last is what they work under now."""
    records = records_of(connection, assessor.id)
    counts = [one["ended"] for one in records] + [outcome_counts(connection, assessor)]
    outcomes: dict[str, str | None] = {}
    for one, (before, after) in zip(records, pairwise(counts), strict=True):
        earlier = outcomes.pop(one["submission"], None)  # who comes back under one goes on under it
        ends = [end for end in (*ENDS, *OUT) if after[end] > before[end]]
        outcomes[one["submission"]] = ends[0] if ends else earlier
    return tuple(Submission(name, outcome) for name, outcome in outcomes.items())
