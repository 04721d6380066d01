"""How far a campaign is: slots, answers, topics, people and pace, as plain data.

Everything is counted by the database; nothing here reads answers one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from qrowd_server.campaigns.plan.plan import arms_in_short
from qrowd_server.campaigns.running.lookup import find
from qrowd_server.campaigns.running.question import QuestionProgress, question_progress
from qrowd_server.campaigns.running.state import protocols_of, read_settings, the_protocol
from qrowd_server.protocols.registry import PREFERENCE
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.store import counts, materials
from qrowd_server.store.counts import HOUR
from qrowd_server.store.schema import COMPLETED, OPEN

Place = tuple[int, str]  # a topic in an arm

HOURS = 24  # for which the pace is stated
LEAST = 5  # completed units from which an end is predicted


@dataclass(frozen=True)
class TopicProgress:
    """One topic, in a campaign with several arms in one of them.

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
    arm: str = ""

    @property
    def share(self) -> float:
        """Of the slots, how many are done."""
        return self.completed / self.slots if self.slots else 1.0


@dataclass(frozen=True)
class Progress:
    """A campaign as it stands at `at`; times are seconds since 1970.

    protocol : "" where several arms have different ones. arms : {arm: protocol}, empty without arms.
    slots : wanted assignments; completed, open and free add up to them.
    failed, screened_out, expired, withdrawn : assignments that ended otherwise; their slots are free again, or others'.
    answers : judgments, or preferences and duplicates, that count; uncounted : that are kept and do not.
    assessors : how many there are by status, "excluded" among them. models : how many of them are language models.
    by_hour : (beginning, answers that count and were last changed in it) for the 24 hours up to now, the oldest first.
    last : when somebody last answered, None if nobody has.
    ends : when the last slot will be done at the pace of the last 24 hours, or since the first unit was begun if that
        is less; None where nobody can tell: not running, nothing left, or fewer than 5 units done in that time.
    missing : assessors whom a running campaign without a panel needs at least beside those who came or are
        invited, because nobody gets two units of a topic. question : how far the question is that the campaign carries;
    its units are documents, and its slots are made when a document is drawn.
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
    arms: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    models: int = 0
    question: QuestionProgress | None = None

    @property
    def share(self) -> float:
        """Of the slots, how many are done; of a question, of the judgments that it is expected to need."""
        if self.question is not None:
            return self.question.share
        return self.completed / self.slots if self.slots else 1.0

    @property
    def collects(self) -> str:
        """The protocol, or that of each arm."""
        return arms_in_short(self.arms or {"": self.protocol})


def progress(connection: Connection, name: str, at: float) -> Progress:
    """How far a campaign is. at : now, in seconds since 1970.

    Raises
    ------
    ArgumentError
        There is no such campaign.
    """
    row = find(connection, name)
    slots = counts.slots_by_topic(connection, row.id)
    work = _work(connection, row.id, at)
    protocols = protocols_of(row)
    answers = _Answers(Counter(), {}, {}, 0)
    if PREFERENCE in protocols.values():
        answers = _preferences(connection, row.id)
    if set(protocols.values()) != {PREFERENCE}:
        arms = read_settings(row).arms.values()
        partly = {arm.name for arm in arms if isinstance(arm.settings, GradesSettings) and arm.settings.stop}
        answers = answers.together(_judgments(connection, row.id, work, protocols, partly))
    topics = tuple(
        TopicProgress(
            topic.label,
            topic.title,
            work.documents[topic.id, arm],
            slots.get((topic.id, arm), 0),
            work.completed[topic.id, arm],
            answers.by_topic[topic.id, arm],
            answers.least.get((topic.id, arm)),
            answers.most.get((topic.id, arm)),
            arm,
        )
        for arm in protocols
        for topic in materials.topics_of(connection, row.id)
    )
    total, status = sum(slots.values()), work.by_status
    left, n_counted = total - status[COMPLETED], answers.by_topic.total()
    ends, asked = None, read_settings(row)
    predictable = row.status == "running" and left and asked.question is None
    if predictable and work.begun is not None and work.recent >= LEAST:
        passed = min(at - work.begun, HOURS * HOUR)
        ends = at + left * passed / work.recent if passed > 0 else None
    waits = row.status == "running" and asked.panel is None and asked.question is None
    first = int(at // HOUR) - HOURS + 1
    by_hour = counts.answers_by_hour(connection, row.id, protocols.values(), first * HOUR)
    return Progress(
        row.name,
        row.title,
        the_protocol(protocols),
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
        n_counted,
        answers.total - n_counted,
        topics,
        counts.assessors_by_status(connection, row.id),
        tuple((hour * HOUR, by_hour.get(hour, 0)) for hour in range(first, first + HOURS)),
        counts.last_answer(connection, row.id),
        ends,
        {} if "" in protocols else protocols,
        counts.missing_assessors(connection, row.id) if waits else 0,
        counts.models(connection, row.id),
        question_progress(connection, row),
    )


# ---- assignments


@dataclass
class _Work:
    """Assignments added up. units : topic, arm and documents by number. documents, completed : by topic and arm.

    whole : by unit, assignments that are completed, and of these those that count. recent : completed of late.
    """

    units: dict[int, tuple[Place, list[int]]] = field(default_factory=dict)
    documents: Counter[Place] = field(default_factory=Counter)
    by_status: Counter[str] = field(default_factory=Counter)
    completed: Counter[Place] = field(default_factory=Counter)
    whole: Counter[int] = field(default_factory=Counter)
    counted: Counter[int] = field(default_factory=Counter)
    begun: float | None = None
    recent: int = 0


def _work(connection: Connection, campaign_id: int, at: float) -> _Work:
    work, pools = _Work(), dict[Place, set[int]]()
    for unit in materials.units_of(connection, campaign_id):
        place = unit.topic_id, unit.arm
        work.units[unit.id] = place, unit.documents
        pools.setdefault(place, set()).update(unit.documents)
    work.documents.update({place: len(pool) for place, pool in pools.items()})
    since = at - HOURS * HOUR
    for unit_id, status, counted, n, created, recent in counts.assignments_by_unit(connection, campaign_id, since):
        work.by_status[status] += n
        work.begun = created if work.begun is None else min(work.begun, created)
        if status == COMPLETED:
            work.completed[work.units[unit_id][0]] += n
            work.whole[unit_id] += n
            work.counted[unit_id] += n if counted else 0
            work.recent += recent
    return work


# ---- answers


@dataclass
class _Answers:
    """Answers added up. by_topic : by topic and arm, those that count. least, most : likewise, of a document.

    total : all of them.
    """

    by_topic: Counter[Place]
    least: dict[Place, int]
    most: dict[Place, int]
    total: int

    def together(self, other: _Answers) -> _Answers:
        """With the answers of other arms."""
        return _Answers(
            self.by_topic + other.by_topic, self.least | other.least, self.most | other.most, self.total + other.total
        )


def _preferences(connection: Connection, campaign_id: int) -> _Answers:
    by_topic, total = Counter[Place](), 0
    for topic_id, arm, counted, n in counts.preferences_by_topic(connection, campaign_id):
        by_topic[topic_id, arm] += n if counted else 0
        total += n
    return _Answers(by_topic, {}, {}, total)


def _judgments(
    connection: Connection, campaign_id: int, work: _Work, protocols: Mapping[str, str], partly: Collection[str]
) -> _Answers:
    """Judgments of every document in every topic: completed units are counted whole, others one by one.

    partly : arms whose units may be completed before all documents are judged.
    """
    pools: dict[Place, Counter[int]] = {
        (topic_id, arm): Counter() for topic_id, arm in work.documents if protocols[arm] != PREFERENCE
    }
    total = 0
    for unit_id, (place, documents) in work.units.items():
        if place not in pools:
            continue
        whole = place[1] not in partly
        total += work.whole[unit_id] * len(documents) * whole
        for document_id in documents:
            pools[place][document_id] += work.counted[unit_id] * whole
    for topic_id, arm, document_id, counted, n in counts.judgments_of_other_units(connection, campaign_id, partly):
        total += n
        pools[topic_id, arm][document_id] += n if counted else 0
    by_topic = Counter({place: pool.total() for place, pool in pools.items()})
    least, most = ({place: f(pool.values(), default=0) for place, pool in pools.items()} for f in (min, max))
    return _Answers(by_topic, least, most, total)
