"""How much there is to judge in a campaign, before it is created."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from qrowd.collect.campaigns.effort import effort_of
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.protocols.settings import GradesSettings, MagnitudeSettings, Settings


@dataclass(frozen=True)
class PlanSize:
    """What a campaign asks for.

    units : sets of documents. assignments : how often a unit is handed out. answers : that these ask for; of
    preferences the most there can be, because chains of answers save questions. per_unit : documents of a unit, and
    minutes : that it takes, about; medians. assessors : so many are needed at least, because nobody gets two units of a
    topic. per_assessor : answers of each of them, if there are no more.
    """

    topics: int
    documents: int
    units: int
    assignments: int
    answers: int
    at_most: bool
    per_unit: int
    minutes: int
    assessors: int

    @property
    def per_assessor(self) -> int:
        return ceil(self.answers / max(self.assessors, 1))


def plan_size(plan: Plan) -> PlanSize:
    """How much a plan asks for; gold questions come in addition."""
    units = assignments = answers = most = 0
    for topic in plan.topics:
        of_topic = 0
        for settings in plan.arms.values():
            n = len(topic.pool)
            n_units, redundancy, n_answers = _of_topic(n, 0 if topic.checks is None else 2, settings)
            units, of_topic, answers = units + n_units, of_topic + n_units * redundancy, answers + n_answers
        assignments, most = assignments + of_topic, max(most, of_topic)
    if plan.journey.max_units:
        most = max(most, ceil(assignments / plan.journey.max_units))
    per_unit, minutes = effort_of(plan)
    at_most = any(not isinstance(one, GradesSettings | MagnitudeSettings) or _stops(one) for one in plan.arms.values())
    counts = len(plan.topics), len(plan.documents), units, assignments, answers
    return PlanSize(*counts, at_most, per_unit, minutes, most)


def _of_topic(n: int, n_checks: int, settings: Settings) -> tuple[int, int, int]:
    """Units of a topic with n documents, how often each is handed out, and the answers that this makes."""
    if isinstance(settings, GradesSettings):
        return ceil(n / settings.k), settings.redundancy, n * settings.redundancy
    if isinstance(settings, MagnitudeSettings):
        if n <= settings.k:
            return settings.redundancy, 1, settings.redundancy * n
        n_units = ceil(settings.redundancy * (n - n_checks) / (settings.k - n_checks))
        return n_units, 1, n_units * settings.k
    pairs = n * (n - 1) // 2
    n_answers = pairs * (settings.pair_redundancy if settings.sharing == "shared" else settings.redundancy)
    return 1, settings.redundancy, n_answers


def _stops(settings: Settings) -> bool:
    return isinstance(settings, GradesSettings) and settings.stop
