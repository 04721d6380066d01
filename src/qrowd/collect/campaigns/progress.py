"""How far a campaign is: slots, answers, topics, people and pace, as plain data.

Everything is counted by the database; nothing here reads answers one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, select

from qrowd.collect.campaigns.admin import find
from qrowd.collect.store.schema import (
    COMPLETED,
    OPEN,
    assessor,
    assignment,
    event,
    judgment,
    preference,
    slot,
    topic,
    unit,
)

HOUR = 3600.0
HOURS = 24  # that the pace is told for
LEAST = 5  # completed units from which an end may be foretold
ANSWERS = ("judged", "cannot_tell", "preferred", "marked_bad")  # events that hold an answer


@dataclass(frozen=True)
class TopicProgress:
    """One topic.

    documents : in its pool. slots, completed : wanted and done. answers : that count.
    least, most : answers that the document with the fewest, and with the most, has; None where pairs are judged.
    """

    label: str
    title: str
    documents: int
    slots: int
    completed: int
    answers: int
    least: int | None
    most: int | None

    @property
    def share(self) -> float:
        """Of the slots, how many are done."""
        return self.completed / self.slots if self.slots else 1.0


@dataclass(frozen=True)
class Progress:
    """A campaign as it stands at `at`; times are seconds since 1970.

    slots : wanted assignments; completed, open and free add up to them.
    failed, screened_out, expired, withdrawn : assignments that ended otherwise; their slots are free again, or others'.
    answers : judgments, or preferences and duplicates, that count; uncounted : that are kept and do not.
    assessors : how many there are by status, "excluded" among them.
    by_hour : (beginning, answers that count and were last changed in it) for the 24 hours up to now, the oldest first.
    last : when somebody last answered, None if nobody has.
    ends : when the last slot will be done at the pace of the last 24 hours, or since the first unit was begun if that
        is less; None where nobody can tell: not running, nothing left, or fewer than 5 units done in that time.
    """

    campaign: str
    title: str
    protocol: str
    status: str
    created: float
    at: float
    slots: int
    completed: int
    open: int
    free: int
    failed: int
    screened_out: int
    expired: int
    withdrawn: int
    answers: int
    uncounted: int
    topics: tuple[TopicProgress, ...]
    assessors: dict[str, int]
    by_hour: tuple[tuple[float, int], ...]
    last: float | None
    ends: float | None

    @property
    def share(self) -> float:
        """Of the slots, how many are done."""
        return self.completed / self.slots if self.slots else 1.0


def progress(connection: Connection, name: str, at: float) -> Progress:
    """How far a campaign is. at : now, in seconds since 1970.

    Raises
    ------
    ArgumentError
        There is no such campaign.
    """
    row = find(connection, name)
    n_slots = dict(_counts(connection, slot.c.topic_id, slot.c.campaign_id == row.id))
    people = dict(_counts(connection, assessor.c.status, assessor.c.campaign_id == row.id))
    work = _work(connection, row.id, at)
    said = _pairs(connection, row.id) if row.protocol == "preference" else _judgments(connection, row.id, work)
    topics = tuple(
        TopicProgress(
            number.label,
            number.title,
            work.documents[number.id],
            n_slots.get(number.id, 0),
            work.completed[number.id],
            said.by_topic[number.id],
            said.least.get(number.id),
            said.most.get(number.id),
        )
        for number in connection.execute(
            select(topic.c.id, topic.c.label, topic.c.title).where(topic.c.campaign_id == row.id).order_by(topic.c.id)
        ).all()
    )
    total, status = sum(n_slots.values()), work.by_status
    left, answers = total - status[COMPLETED], said.by_topic.total()
    ends = None
    if row.status == "running" and left and work.begun is not None and work.recent >= LEAST:
        passed = min(at - work.begun, HOURS * HOUR)
        ends = at + left * passed / work.recent if passed > 0 else None
    return Progress(
        row.name,
        row.title,
        row.protocol,
        row.status,
        row.created,
        at,
        total,
        status[COMPLETED],
        status[OPEN],
        max(left - status[OPEN], 0),
        status["failed"],
        status["screened_out"],
        status["expired"],
        status["withdrawn"],
        answers,
        said.kept - answers,
        topics,
        people,
        _by_hour(connection, row.id, row.protocol, at),
        _last(connection, row.id),
        ends,
    )


# ---- assignments


@dataclass
class _Work:
    """Assignments added up. units : topic and documents by number. documents, completed : by topic.

    whole : by unit, assignments that are completed, and of these those that count. recent : completed of late.
    """

    units: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    documents: Counter[int] = field(default_factory=Counter)
    by_status: Counter[str] = field(default_factory=Counter)
    completed: Counter[int] = field(default_factory=Counter)
    whole: Counter[int] = field(default_factory=Counter)
    counted: Counter[int] = field(default_factory=Counter)
    begun: float | None = None
    recent: int = 0


_PEOPLE = assignment.join(assessor, assessor.c.id == assignment.c.assessor_id)
_COUNTED = and_(assignment.c.counts, assessor.c.excluded.is_(None))


def _counts(connection: Connection, column: Any, *conditions: Any) -> list[tuple[Any, int]]:
    rows = connection.execute(select(column, func.count()).where(*conditions).group_by(column))
    return [(value, int(n)) for value, n in rows]


def _work(connection: Connection, campaign_id: int, at: float) -> _Work:
    """One pass over the units, and one over the assignments, whose rows are long."""
    work, pools = _Work(), dict[int, set[int]]()
    of_campaign = unit.c.campaign_id == campaign_id
    for number, of, held in connection.execute(select(unit.c.id, unit.c.topic_id, unit.c.documents).where(of_campaign)):
        work.units[number] = of, held
        pools.setdefault(of, set()).update(held)
    work.documents.update({of: len(pool) for of, pool in pools.items()})
    late = case((assignment.c.updated >= at - HOURS * HOUR, 1), else_=0)
    columns = assignment.c.unit_id, assignment.c.status, _COUNTED.label("counted")
    query = (
        select(*columns, func.count(), func.min(assignment.c.created), func.sum(late))
        .select_from(_PEOPLE)
        .where(assignment.c.campaign_id == campaign_id)
        .group_by(*columns)
    )
    for number, status, counted, n, created, recent in connection.execute(query):
        work.by_status[status] += n
        work.begun = created if work.begun is None else min(work.begun, created)
        if status == COMPLETED:
            work.completed[work.units[number][0]] += n
            work.whole[number] += n
            work.counted[number] += n if counted else 0
            work.recent += int(recent)
    return work


# ---- answers


@dataclass
class _Said:
    """Answers added up. by_topic : those that count. least, most : by topic, of a document. kept : in all."""

    by_topic: Counter[int]
    least: dict[int, int]
    most: dict[int, int]
    kept: int


def _pairs(connection: Connection, campaign_id: int) -> _Said:
    by_topic, kept = Counter[int](), 0
    query = (
        select(assignment.c.topic_id, _COUNTED.label("counted"), func.count())
        .select_from(_PEOPLE.join(preference, preference.c.assignment_id == assignment.c.id))
        .where(assignment.c.campaign_id == campaign_id)
        .group_by(assignment.c.topic_id, "counted")
    )
    for number, counted, n in connection.execute(query):
        by_topic[number] += n if counted else 0
        kept += n
    return _Said(by_topic, {}, {}, kept)


def _judgments(connection: Connection, campaign_id: int, work: _Work) -> _Said:
    """Add up the judgments of every document in every topic.

    A unit that is completed holds an answer to each of its documents, so units are counted; only answers in others,
    and those that say "cannot tell", are looked at one by one.
    """
    pools: dict[int, Counter[int]] = {of: Counter() for of in work.documents}
    kept = 0
    for number, (of, held) in work.units.items():
        kept += work.whole[number] * len(held)
        n = work.counted[number]
        pool = pools[of]
        for one in held:
            pool[one] += n
    for of, one, counted, n in _others(connection, campaign_id):
        kept += n
        pools[of][one] += n if counted else 0
    by_topic = Counter({of: pool.total() for of, pool in pools.items()})
    least, most = ({of: f(pool.values(), default=0) for of, pool in pools.items()} for f in (min, max))
    return _Said(by_topic, least, most, kept)


def _others(connection: Connection, campaign_id: int) -> Iterator[tuple[int, int, bool, int]]:
    """(topic, document, whether it counts, how many more judgments it has) besides what completed units say."""
    columns = assignment.c.topic_id, judgment.c.document_id, _COUNTED.label("counted")
    rows = (
        select(*columns, func.count())
        .select_from(_PEOPLE.join(judgment, judgment.c.assignment_id == assignment.c.id))
        .where(assignment.c.campaign_id == campaign_id)
        .group_by(*columns)
    )
    begun = rows.where(assignment.c.status != COMPLETED, judgment.c.value.is_not(None))
    for of, one, counted, n in connection.execute(begun):
        yield of, one, counted, n
    # A million judgments are read faster in the order they lie than by the index, which "+ 0" keeps away.
    mine: ColumnElement[int] = judgment.c.campaign_id + 0
    unsaid = select(judgment.c.assignment_id, judgment.c.document_id).where(
        mine == campaign_id, judgment.c.value.is_(None)
    )
    silent = unsaid.subquery()
    where = assignment.c.topic_id, silent.c.document_id, _COUNTED.label("counted")
    none = (
        select(*where, func.count())
        .select_from(_PEOPLE.join(silent, silent.c.assignment_id == assignment.c.id))
        .where(assignment.c.status == COMPLETED)
        .group_by(*where)
    )
    for of, one, counted, n in connection.execute(none):
        yield of, one, counted, -n


def _by_hour(connection: Connection, campaign_id: int, protocol: str, at: float) -> tuple[tuple[float, int], ...]:
    first = int(at // HOUR) - HOURS + 1
    table = preference if protocol == "preference" else judgment
    hour = func.floor(table.c.time / HOUR).label("hour")
    query = (
        select(hour, func.count())
        .select_from(_PEOPLE.join(table, table.c.assignment_id == assignment.c.id))
        .where(assignment.c.campaign_id == campaign_id, _COUNTED, assignment.c.updated >= first * HOUR)
        .where(table.c.time >= first * HOUR)
        .group_by("hour")
    )
    if table is judgment:
        query = query.where(judgment.c.value.is_not(None))
    found = {int(number): int(n) for number, n in connection.execute(query)}
    return tuple((number * HOUR, found.get(number, 0)) for number in range(first, first + HOURS))


def _last(connection: Connection, campaign_id: int) -> float | None:
    mine = event.c.campaign_id == campaign_id, event.c.kind.in_(ANSWERS)
    return connection.scalar(select(event.c.time).where(*mine).order_by(event.c.id.desc()).limit(1))
