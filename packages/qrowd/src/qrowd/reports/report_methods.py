"""The report on methods: the ranking by majority vote, Dawid-Skene, AWARE and predicted relevance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from qrowd.aware import DEFAULT, ESTIMATORS, NAMES, Similarities, similarity_to_random
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
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.systems import system_order

RANDOM_ASSESSORS = 64  # of each level: other ones move a weight by .1 % at most; `qrowd aware` draws 1,000
PANEL = "mean of assessors"
NEEDED = ESTIMATORS[NAMES.index(DEFAULT)]  # whose similarities are the only ones computed


@dataclass(frozen=True)
class Ranking:
    """The ranking by one method.

    method : the notation of `qrowd.methods`, or a description. means, ranks : one per system, in the order of
    `Methods.systems`; rank 0 without a score. tau_b : with the mean of the assessors.
    """

    name: str
    method: str
    means: tuple[float, ...]
    ranks: tuple[int, ...]
    tau_b: float


@dataclass(frozen=True)
class Methods:
    """skipped : (name, reason) of the methods that these judgments do not allow. notes : what was assumed."""

    systems: tuple[str, ...]
    rankings: tuple[Ranking, ...]
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per system and method."""
        return [
            {"system": system, "name": one.name, "method": one.method, "mean": one.means[s], "rank": one.ranks[s]}
            for one in self.rankings
            for s, system in enumerate(self.systems)
        ]


def similarities_of(
    runs: Runs,
    judgments: Judgments,
    measure: str,
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
            [measure],
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
    conventions: Conventions,
    similarities: Similarities | None,
    aware: str,
    *,
    reference: Scores | None,
    seed: Seed,
) -> Methods:
    """The ranking of the systems by each method.

    scores : of the one measure, by the assessors. aware : how `similarities` were computed, or why not. reference : the
    scores of the assessor who is left out of the panel.
    """
    systems, panel = scores.systems, _means(scores)
    methods: list[tuple[str, str, Floats]] = [(PANEL, "equal weights of all assessors", panel)]
    skipped: list[tuple[str, str]] = []
    labels, rel, note = _labels(judgments, conventions)
    notes = [note] if note else []
    task = Task(runs, labels, (measure(scores.measures[0]),), replace(conventions, grades="as-is"), seed)
    for name, method in _methods(labels, rel):
        try:
            merged, warnings = scores_by_method(parse_method(method), task)
            means = _checked(merged)
        except QrowdError as error:
            skipped.append((name, str(error)))
            continue
        methods.append((name, method, means))
        notes += warnings
    if similarities is None:
        skipped.append(("AWARE", aware))
    else:
        methods.insert(min(3, len(methods)), ("AWARE", aware, _means(similarities.average(DEFAULT))))
    if reference is not None:
        methods.append((reference.assessors[0], "the reference alone", _means(reference)))
    order = system_order(panel)
    rankings = tuple(
        Ranking(
            name,
            method,
            tuple(means[order].tolist()),
            tuple(ranks(means)[order].tolist()),
            nan if len(systems) < 2 else kendall_tau_b(means, panel),
        )
        for name, method, means in methods
    )
    return Methods(tuple(systems[s] for s in order), rankings, tuple(skipped), tuple(dict.fromkeys(notes)))


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
