"""The report on rankings: by other methods of putting the assessors together, and by other measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from qrowd.aware import NAMES, similarity_to_random
from qrowd.aware.estimators import DEFAULT, ESTIMATORS
from qrowd.aware.similarity import Similarities
from qrowd.comparison.correlation import kendall_tau_b
from qrowd.comparison.system_ranking import rank_systems, ranks
from qrowd.errors import QrowdError, ScaleError
from qrowd.evaluation import measure
from qrowd.kernels.arrays import Floats
from qrowd.methods import Task, parse_method, scores_by_method
from qrowd.model.chance import Seed
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.document import Note
from qrowd.reports.notes import scoring_notes
from qrowd.reports.report_choices import Choice
from qrowd.reports.systems import system_order

RANDOM_ASSESSORS = 64  # of each level: other ones move a weight by .1 % at most; `qrowd aware` draws 1,000
PANEL = "mean of assessors"
NEEDED = ESTIMATORS[NAMES.index(DEFAULT)]  # whose similarities are the only ones computed
APPROXIMATE = (
    "exact for all assessors and topics; with some left out the weights are divided by the sum of the others, which is "
    "approximate"
)


@dataclass(frozen=True)
class Ranking:
    """A ranking by one method or measure.

    method : the notation of `qrowd.methods`, or a description. means, ranks : one per system, in the order of
    `SystemRankings.systems`; rank 0 without a score. tau_b : with the first of the rankings.
    """

    name: str
    method: str
    means: tuple[float, ...]
    ranks: tuple[int, ...]
    tau_b: float


@dataclass(frozen=True)
class SystemRankings:
    """SystemRankings of the same systems, the one of the headline first.

    skipped : (name, reason) of the methods that these judgments do not allow. notes : what was assumed.
    """

    systems: tuple[str, ...]
    rankings: tuple[Ranking, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note | str, ...] = ()

    @classmethod
    def of(cls, systems: Sequence[str], means: Sequence[tuple[str, str, Floats]], **parts: Any) -> SystemRankings:
        """From (name, method, (systems,) means) of each ranking."""
        first = means[0][2]
        order = system_order(first)
        rankings = tuple(
            Ranking(
                name,
                method,
                tuple(values[order].tolist()),
                tuple(ranks(values)[order].tolist()),
                nan if len(systems) < 2 else kendall_tau_b(values, first),
            )
            for name, method, values in means
        )
        return cls(tuple(systems[s] for s in order), rankings, **parts)

    def records(self, name: str, method: str = "") -> list[dict[str, Any]]:
        """One dictionary per system and ranking, under these names."""
        return [
            {"system": system, name: one.name, **({method: one.method} if method else {})}
            | {"mean": one.means[s], "rank": one.ranks[s]}
            for one in self.rankings
            for s, system in enumerate(self.systems)
        ]


def by_measure(scores: Scores, others: Scores | None) -> SystemRankings | None:
    """SystemRankings by further measures; None without any. scores : by the measure of the headline."""
    if others is None:
        return None
    of_headline = {str(note) for note in scoring_notes(scores)}
    each = [scores, *(others.sel(measure=name) for name in others.measures)]
    return SystemRankings.of(
        scores.systems,
        [(one.measures[0], one.measures[0], _means(one)) for one in each],
        notes=tuple(note for note in scoring_notes(others) if str(note) not in of_headline),
    )


def similarities_of(
    runs: Runs,
    judgments: Judgments,
    measures: Sequence[str],
    conventions: Conventions,
    random_assessors: int,
    seed: Seed,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Similarities | None, str]:
    """Of each assessor to random ones, for AWARE, and how they were computed; None with the reason where impossible."""
    try:
        similarities = similarity_to_random(
            runs,
            judgments,
            list(measures),
            n_resamples=random_assessors,
            gaps=[NEEDED.gap],
            by_topic=NEEDED.granularity == "tpc",
            rng=seed,
            conventions=replace(conventions, empty="nan"),
            progress=progress,
        )
    except QrowdError as error:
        return None, str(error)
    return similarities, f"{DEFAULT}, {random_assessors:,} random assessors of each level"


def methods_of(
    runs: Runs,
    judgments: Judgments,
    scores: Scores,
    measures: Sequence[str],
    conventions: Conventions,
    similarities: Similarities | None,
    aware: str,
    *,
    reference: Sequence[Scores],
    seed: Seed,
) -> tuple[SystemRankings, tuple[Choice, ...]]:
    """The ranking of the systems by each method, and what the page needs of it.

    scores : by the first of the measures. aware : how `similarities` were computed, or why not. reference : scores by
    all measures of the assessor who is left out of the panel.
    """
    first = scores.measures[0]
    means: list[tuple[str, str, Floats]] = [(PANEL, "equal weights of all assessors", _means(scores))]
    choices = [Choice(PANEL, "mean")]
    skipped: list[tuple[str, str]] = []
    labels, rel, note = _labels(judgments, conventions)
    notes = [note] if note else []
    task = Task(runs, labels, tuple(map(measure, measures)), replace(conventions, grades="as-is"), seed)
    for name, method in _methods(labels, rel):
        try:
            merged, warnings = _scored(parse_method(method), task)
            means.append((name, method, _checked(merged.sel(measure=first))))
        except QrowdError as error:
            skipped.append((name, str(error)))
            continue
        choices.append(merged_choice(name, [merged], scores, len(measures)))
        notes += warnings
    if similarities is None:
        skipped.append(("AWARE", aware))
    else:
        place, average = min(3, len(means)), similarities.average(DEFAULT)
        means.insert(place, ("AWARE", aware, _means(average.sel(measure=first))))
        choices.insert(place, _aware(similarities, average, scores, len(measures)))
    if reference:
        name = reference[0].assessors[0]
        means.append((name, "the reference alone", _means(reference[0])))
        choices.append(merged_choice(name, reference, scores, len(measures)))
    rankings = SystemRankings.of(scores.systems, means, skipped=tuple(skipped), notes=tuple(dict.fromkeys(notes)))
    return rankings, tuple(choices)


def _scored(method: Measure, task: Task) -> tuple[Scores, list[str]]:
    """Scores by all measures, or by the first one where others do not suit the merged labels."""
    try:
        merged, warnings = scores_by_method(method, task)
    except QrowdError:
        merged, warnings = scores_by_method(method, replace(task, measures=task.measures[:1]))
    return merged, list(warnings)


def _methods(labels: Judgments, rel: float) -> tuple[tuple[str, str], ...]:
    """(name, notation) of the methods that merge judgments."""
    methods = (
        ("majority", "majority"),
        ("Dawid-Skene", "dawid-skene"),
        ("predicted relevance", f"predicted-relevance(rel={rel:g})"),
    )
    if all(scale.kind == "magnitude" for scale in labels.scales):
        return ("median", "median"), ("geometric mean", "geometric-mean"), *methods
    return methods


def _labels(judgments: Judgments, conventions: Conventions) -> tuple[Judgments, float, str]:
    """Judgments whose labels can be counted, the lowest grade that is relevant, and a note on what was changed."""
    if alike(judgments.scales) and conventions.grades == "as-is":
        scale = judgments.shared_scale()
        if scale.kind in ("binary", "graded"):
            return judgments, scale.rel or 1.0, ""
    if any(scale.rel is None for scale in judgments.scales):
        return judgments, 1.0, ""
    note = (
        "majority, Dawid-Skene and predicted relevance need labels on one scale: here each judgment counts as relevant "
        "or not, by its assessor's own scale (whole grades from 1 on, fractions from half the maximum on)"
    )
    return judgments.relevant_or_not(), 1.0, note


def _means(scores: Scores) -> Floats:
    """(systems,) means over topics of the means over assessors."""
    return rank_systems(scores).mean


def _checked(scores: Scores) -> Floats:
    means = _means(scores)
    if np.isnan(means).all() or np.nanmax(means) == np.nanmin(means):
        raise ScaleError(f"by its labels all {len(scores.systems)} systems are equal by {scores.measures[0]}")
    return means


# ---------------------------------------------------------------------- what the page needs


def _aware(similarities: Similarities, average: Scores, scores: Scores, n_measures: int) -> Choice:
    """Weights of the scores of the page, or AWARE's scores where those were made from other ones."""
    weighted = similarities.scores.sel(measure=scores.measures[0])
    same = weighted.topics == scores.topics and weighted.assessors == scores.assessors
    known = ~np.isnan(weighted.values)
    if same and np.array_equal(weighted.values[known], scores.values[known]):
        return Choice("AWARE", "weights", APPROXIMATE, similarities.accuracy(DEFAULT))
    return merged_choice("AWARE", [average], scores, n_measures)


def merged_choice(name: str, merged: Sequence[Scores], scores: Scores, n_measures: int) -> Choice:
    """Scores by one assessor, in the order of the topics of the page; nan by measures that do not suit them."""
    table = np.concatenate([one.values[:, 0] for one in merged])
    place = {topic: t for t, topic in enumerate(merged[0].topics)}
    values = np.full((n_measures, len(scores.topics), len(scores.systems)), nan)
    for t, topic in enumerate(scores.topics):
        if topic in place:
            values[: len(table), t] = table[:, place[topic]]
    return Choice(name, "merged", "the choice of assessors does not change its scores", values)
