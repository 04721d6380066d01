"""The report on preferences: what its sections say where there are no grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from qrowd.comparison.system_ranking import rank_systems
from qrowd.model.preferences import Preferences
from qrowd.model.scores import Scores, known_mean
from qrowd.reports.comparison import MeasureComparison
from qrowd.reports.document import Note, Table
from qrowd.reports.preferences import preference_document
from qrowd.reports.report_assessors import AssessorRow, Assessors, TopicRow, Topics
from qrowd.reports.report_choices import Choice
from qrowd.reports.report_influence import Influence
from qrowd.reports.report_methods import PANEL, SystemRankings, merged_choice

NO_GRADES = "grades are needed, and preferences have none"


@dataclass(frozen=True)
class PreferenceAgreement:
    """How consistent each assessor is and how far assessors agree, as `qrowd prefer agree` says it."""

    sentence: str
    tables: tuple[Table, ...]
    notes: tuple[Note, ...]

    def to_dict(self) -> dict[str, Any]:
        """The sentence, the rows of each table by its title, and the notes."""
        rows = {one.title: [dict(zip(one.header, row, strict=True)) for row in one.rows] for one in self.tables}
        return {"sentence": self.sentence, "tables": rows, "notes": list(map(str, self.notes))}


def agreement_of(preferences: Preferences, confidence: float) -> PreferenceAgreement:
    """The consistency of the assessors, and their agreement."""
    document = preference_document(preferences, confidence=confidence)
    notes = tuple(note if isinstance(note, Note) else Note("note", note) for note in document.notes)
    first, *others = document.tables
    tables = (replace(first, title="consistency of the assessors"), *others)
    return PreferenceAgreement(document.sentence, tables, notes)


def assessors_of_preferences(
    preferences: Preferences, scores: Scores, part: MeasureComparison, reference_tau: Mapping[str, float]
) -> Assessors:
    """The assessors with what is known without grades: judgments, coverage, and their rankings of systems."""
    tau = dict(zip(part.correlations.assessors, part.correlations.tau_b.tolist(), strict=True)) | dict(reference_tau)
    counts = np.bincount(preferences.assessor, minlength=len(preferences.assessors)).tolist()
    coverage = known_mean(np.where(scores.coverage > 0, scores.coverage, nan), axis=1)
    unknown = ("severity", "severity_standard_error", "agreement", "agreement_standard_error")
    rows = tuple(
        AssessorRow(
            assessor=name,
            scale="preferences",
            n_judgments=counts[preferences.assessors.index(name)],
            n_topics=int((scores.coverage[a] > 0).sum()),
            coverage=float(coverage[a]),
            **dict.fromkeys(unknown, nan),
            n_repeated=0,
            consistency=nan,
            drift=nan,
            seconds=nan,
            tau_b=tau.get(name, nan),
            best=part.best[a],
            accuracy=nan,
            outlying="",
        )
        for a, name in enumerate(scores.assessors)
    )
    return Assessors(rows, nan, nan, nan, "", NO_GRADES, NO_GRADES, ())


def topics_of_preferences(preferences: Preferences, scores: Scores) -> Topics:
    """The topics with their mean scores and sizes."""
    ease = dict(zip(scores.topics, known_mean(known_mean(scores.values[0], axis=0), axis=1).tolist(), strict=True))
    pool = preferences.pool
    of_topic = np.concatenate([preferences.topic, preferences.bad_topic])
    by_assessor = np.concatenate([preferences.assessor, preferences.bad_assessor])
    judged = np.unique(np.stack([of_topic, by_assessor]), axis=1)[0]
    n_assessors = np.bincount(judged, minlength=len(preferences.topics)).tolist()
    rows = tuple(
        TopicRow(
            topic,
            nan,
            ease.get(topic, nan),
            int(pool.starts[t + 1] - pool.starts[t]),
            n_assessors[preferences.topics.index(topic)],
        )
        for t, topic in enumerate(pool.topics)
    )
    return Topics(rows, nan, nan, 0, ())


def methods_of_preferences(scores: Scores, reference: Sequence[Scores]) -> tuple[SystemRankings, tuple[Choice, ...]]:
    """The mean of the assessors, and the reference; other methods merge grades."""
    means = [(PANEL, "equal weights of all assessors", rank_systems(scores).mean)]
    choices = [Choice(PANEL, "mean")]
    if reference:
        name = reference[0].assessors[0]
        means.append((name, "the reference alone", rank_systems(reference[0]).mean))
        choices.append(merged_choice(name, reference, scores, sum(len(one.measures) for one in reference)))
    skipped = tuple((name, NO_GRADES) for name in ("Majority", "Dawid-Skene", "AWARE", "Predicted relevance"))
    return SystemRankings.of(scores.systems, means, skipped=skipped), tuple(choices)


def influence_of_preferences(first: str, second: str) -> Influence:
    """That nothing is computed."""
    what = "What each document adds to the difference, and how few judgments would reverse it,"
    return Influence(first, second, "", f"{what} is not shown: {NO_GRADES}.")
