"""What each assignment of a campaign came to: its answers, their time, and what the assessor did besides."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, select

from qrowd_server.store.events import CHUNK
from qrowd_server.store.pseudonyms import assessor_label
from qrowd_server.store.schema import (
    MODEL,
    PERSON,
    assessor,
    assignment,
    bad_mark,
    event,
    judgment,
    preference,
    topic,
    unit,
)

#: Events by which an assessor does something in a unit; others follow from these, or come from somebody else.
ACTS = (
    *("replied", "judged", "cannot_tell", "postponed", "stepped_back", "stepped_forward", "submitted", "looked_again"),
    *("preferred", "marked_bad", "undone", "looked_up", "rated"),
)


class AssignmentTotals(NamedTuple):
    """One assignment.

    kind : of its assessor: person or model.
    documents : of its unit. counts : whether its answers are part of the result. answers : documents or pairs with an
    answer, "cannot tell" and Bad marks included. seconds : the sum over these, by the server's clock.
    created : when it was assigned. last : when its assessor last did something in it, None for never.
    acts : {kind of event: how often}. state : the protocol's, as JSON.
    """

    id: int
    assessor: str
    kind: str
    topic: str
    unit: int
    status: str
    counts: bool
    documents: int
    answers: int
    seconds: float
    created: float
    last: float | None
    acts: Counter[str]
    state: dict[str, Any]
    arm: str


def assignment_totals(connection: Connection, campaign_id: int, *, names: bool = False) -> Iterator[AssignmentTotals]:
    """All assignments of a campaign, topic by topic, then by unit, slot and assessor.

    names : people by name, not by pseudonym.
    """
    answers, seconds = Counter[int](), defaultdict[int, float](float)
    for table in (judgment, preference, bad_mark):
        of = table.c.assignment_id
        query = select(of, func.count(), func.sum(table.c.seconds)).where(table.c.campaign_id == campaign_id)
        for id, n, sum_of_seconds in connection.execute(query.group_by(of)):
            answers[id] += n
            seconds[id] += sum_of_seconds
    acts, last = defaultdict[int, Counter[str]](Counter), dict[int, float]()
    which = event.c.assignment_id, event.c.kind
    kinds = select(*which, func.count(), func.max(event.c.time)).where(
        event.c.campaign_id == campaign_id, event.c.assignment_id.is_not(None), event.c.kind.in_(ACTS)
    )
    for id, kind, n, time in connection.execute(kinds.where(event.c.late.is_(False)).group_by(*which)):
        acts[id][kind] = n
        last[id] = max(time, last.get(id, time))
    counted = and_(assignment.c.counts, assessor.c.excluded.is_(None))
    query = (
        select(
            assignment.c.id, assessor_label(names), assessor.c.provider, topic.c.label, unit.c.number,
            assignment.c.status, counted, unit.c.documents, assignment.c.created, assignment.c.state,
            assignment.c.arm,
        )
        .select_from(assignment)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .join(unit, unit.c.id == assignment.c.unit_id)
        .join(topic, topic.c.id == assignment.c.topic_id)
        .where(assignment.c.campaign_id == campaign_id)
        .order_by(topic.c.id, unit.c.number, assignment.c.slot, assessor.c.created, assignment.c.id)
    )  # fmt: skip
    for id, who, provider, label, number, status, counts, documents, created, state, arm in connection.execute(
        query, execution_options={"yield_per": CHUNK}
    ):
        kind = MODEL if provider == MODEL else PERSON
        yield AssignmentTotals(
            id, who, kind, label, number, status, bool(counts), len(documents), answers[id], seconds[id], created,
            last.get(id), acts[id], state, arm,
        )  # fmt: skip
