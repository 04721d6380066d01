"""How far a campaign is: slots, answers, topics, people and pace, as plain data.

Everything is counted by the database; nothing here reads answers one by one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from babel.dates import format_timedelta
from sqlalchemy import Connection

from qrowd.model.labels import plural
from qrowd_server.campaigns.plan.plan import arms_in_short
from qrowd_server.campaigns.running.campaign_settings import find, protocols_of, read_settings, the_protocol
from qrowd_server.campaigns.running.privacy import deleted
from qrowd_server.campaigns.running.question_batches import QuestionProgress, question_progress
from qrowd_server.protocols import PREFERENCE, journey
from qrowd_server.protocols.journey import AssessorState
from qrowd_server.store import materials
from qrowd_server.store import progress_counts as counts
from qrowd_server.store import state_rows as state
from qrowd_server.store.invitation_links import invitations, sign_ups
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.persons import WITHDRAWN
from qrowd_server.store.progress_counts import HOUR
from qrowd_server.store.schema import COMPLETED, OPEN
from qrowd_server.store.state_rows import AssessorRow

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
    answers : judgments, or preferences, duplicates and Bad marks, that count; uncounted : that are kept and do not.
    assessors : how many people there are by state, the invited who have not come among them. models : how many language
    models. Units and slots are those of people, and of models in the place of people.
    last : when somebody last answered, None if nobody has.
    ends : when the last slot will be done at the pace of the last 24 hours, or since the first unit was begun if that
        is less; None where nobody can tell: not running, nothing left, fewer than 5 units done in that time, or
        people are missing.
    n_missing : people who have to be invited, at least, since nobody gets a topic twice; 0 where others may come.
    question : how far the question is that the campaign carries; its slots are made when documents are drawn.
    """

    campaign: str
    title: str
    protocol: str
    status: str
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
    last: float | None
    ends: float | None
    arms: dict[str, str]
    models: dict[str, int]
    question: QuestionProgress | None
    n_missing: int

    @property
    def share(self) -> float:
        """Of the slots, how many are done; of a question, of the judgments that it is expected to need."""
        if self.question is not None:
            return self.question.share
        return self.completed / self.slots if self.slots else 1.0

    @property
    def is_complete(self) -> bool:
        """Whether all places of people are done, and no model is at work."""
        return 0 < self.slots == self.completed and "judging" not in self.models

    @property
    def expected_end(self) -> str:
        """How long the work will go on, roughly; "" where nobody can tell."""
        if self.ends is None:
            return ""
        ahead = format_timedelta(int(self.ends - self.at), granularity="minute", add_direction=True, locale="en")
        return f"{ahead} at the pace of the last {HOURS} hours"

    @property
    def models_in_words(self) -> str:
        """What the models do; "" without any."""
        return f"Models: {', '.join(f'{n} {state}' for state, n in self.models.items())}." if self.models else ""

    @property
    def waiting(self) -> str:
        """What waits for somebody who is not here yet, and what to do about it; "" for nothing."""
        if not (self.n_missing and self.assessors):
            return ""
        assessors = plural(self.n_missing, "further assessor")
        return f"Nobody gets a topic twice, so not all units can be judged: invite at least {assessors}, or stop."

    @property
    def collects(self) -> str:
        """The protocol, or that of each arm."""
        return arms_in_short(self.arms or {"": self.protocol})


def progress(connection: Connection, name: str, at: float) -> Progress:
    """How far a campaign is. at : now, in seconds since 1970."""
    row = find(connection, name)
    settings, protocols = read_settings(row), protocols_of(row)
    slots = counts.slots_by_topic(connection, row.id)
    work = _work(connection, row.id, at)
    answers, n_answers = _answers(connection, row.id)
    topics = []
    for arm, protocol in protocols.items():
        for topic in materials.topics_of(connection, row.id):
            place = topic.id, arm
            by_document = [answers[topic.id, arm, document] for document in work.pools.get(place, ())]
            of_documents = protocol != PREFERENCE
            topics.append(
                TopicProgress(
                    label=topic.label,
                    title=topic.title,
                    documents=len(by_document),
                    slots=slots.get(place, 0),
                    completed=work.completed[place],
                    answers=sum(by_document) if of_documents else answers[topic.id, arm, None],
                    least=min(by_document, default=0) if of_documents else None,
                    most=max(by_document, default=0) if of_documents else None,
                    arm=arm,
                )
            )
    total, status, n_counted = sum(slots.values()), work.by_status, answers.total()
    left = total - status[COMPLETED]
    states, ends = states_of(connection, row, at), None
    people = Counter[str](of for one, of in states if not one.is_model)
    of_models = Counter[str](of for one, of in states if one.is_model)
    people["invited"] += sum(one.assessor_id is None and not one.revoked for one in invitations(connection, row.id))
    goes_on = row.status == "running" and settings.question is None and left > 0
    is_closed = settings.panel is None and not any(one.is_open(at) for one in sign_ups(connection, row.id))
    n_here = max(sum(people[one] for one in ("invited", "reading", "judging", "idle")), status[OPEN])  # or models
    n_missing = max(max(topic.slots - topic.completed for topic in topics) - n_here, 0) if goes_on and is_closed else 0
    if goes_on and not n_missing and work.begun is not None and work.recent >= LEAST:
        ends = at + left * max(min(at - work.begun, HOURS * HOUR), 1.0) / work.recent
    return Progress(
        campaign=row.name,
        title=row.title,
        protocol=the_protocol(protocols),
        status=row.status,
        at=at,
        slots=total,
        completed=status[COMPLETED],
        open=status[OPEN],
        free=max(left - status[OPEN], 0),
        failed=status["failed"],
        screened_out=status["screened_out"],
        expired=status["expired"],
        withdrawn=status["withdrawn"],
        answers=n_counted,
        uncounted=n_answers - n_counted,
        topics=tuple(topics),
        assessors=dict(+people),
        last=counts.last_answer(connection, row.id),
        ends=ends,
        arms={} if "" in protocols else protocols,
        models=dict(of_models),
        question=question_progress(connection, row),
        n_missing=n_missing,
    )


def states_of(connection: Connection, row: CampaignRow, at: float) -> list[tuple[AssessorRow, AssessorState]]:
    """Everybody who came, each with their state. at : now, since who has no lease any more is at work no more."""
    settings, states, leases = read_settings(row), [], counts.leases(connection, row.id)
    gone = deleted(connection, row.id)
    for one in state.assessors_of(connection, row.id):
        way, ids = journey.from_json(one.state), (connection, row.id, one.id)
        has_unit = leases.get(one.id, -1.0) >= at
        if one.is_model:
            is_more = state.place_beside(*ids) is not None or bool(state.given_back(connection, one.id, at))
            states.append((one, journey.state_of_model(way, has_unit, is_more)))
            continue
        is_more = row.status in ("running", "paused") and journey.may_work(settings.journey, way)
        if is_more and settings.question is None and one.id not in leases:
            is_more = state.free_slot(*ids) is not None or state.next_lapse(*ids) is not None
        of = journey.state_of(settings.journey, way, one.current_id is not None, has_unit, is_more)
        of = "deleted" if one.excluded == WITHDRAWN else of
        states.append((one, "finished" if one.id in gone and of in ("reading", "judging", "idle") else of))
    return states


@dataclass
class _Work:
    """Assignments added up. pools : documents by topic and arm. recent : completed of late."""

    pools: dict[Place, set[int]]
    by_status: Counter[str]
    completed: Counter[Place]
    begun: float | None = None
    recent: int = 0


def _work(connection: Connection, campaign_id: int, at: float) -> _Work:
    work = _Work({}, Counter(), Counter())
    for unit in materials.units_of(connection, campaign_id):
        work.pools.setdefault((unit.topic_id, unit.arm), set()).update(unit.documents)
    for topic_id, arm, status, n, begun, recent in counts.assignments_by_topic(
        connection, campaign_id, at - HOURS * HOUR
    ):
        work.by_status[status] += n
        work.begun = begun if work.begun is None else min(work.begun, begun)
        if status == COMPLETED:
            work.completed[topic_id, arm] += n
            work.recent += recent
    return work


def _answers(connection: Connection, campaign_id: int) -> tuple[Counter[tuple[int, str, int | None]], int]:
    """Answers that count, by topic, arm and document (None for pairs); and how many answers there are in all."""
    counted, total = Counter[tuple[int, str, int | None]](), 0
    for topic_id, arm, document_id, is_counted, n in counts.answers_by_document(connection, campaign_id):
        total += n
        counted[topic_id, arm, document_id] += n if is_counted else 0
    return counted, total
