"""The report on merging: what majority, Dawid-Skene, AWARE and predicted relevance make of the ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from qrowd.aware import DEFAULT, Similarities, similarity_to_random
from qrowd.comparison.correlation import kendall_tau_b
from qrowd.comparison.system_ranking import rank_systems
from qrowd.errors import QrowdError, ScaleError
from qrowd.model.chance import Seed
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Floats, Scores

ScoreBy = Callable[..., Scores]
"""`qrowd.methods.score_by`, or what takes and gives the same."""

RANDOM_ASSESSORS = 200  # of each level: enough for a page; `qrowd aware` draws 1,000
PANEL = "mean of assessors"


@dataclass(frozen=True)
class Ranking:
    """One way of putting the assessors together.

    means, ranks : one per system, in the order of `Merging.systems`; rank 0 without a score. tau_b : with the mean of
    the assessors.
    """

    name: str
    how: str
    means: tuple[float, ...]
    ranks: tuple[int, ...]
    tau_b: float


@dataclass(frozen=True)
class Merging:
    """skipped : (name, why) of the ways that these judgments do not allow. notes : what was assumed on the way."""

    systems: tuple[str, ...]
    rankings: tuple[Ranking, ...]
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def similarities_of(
    runs: Runs,
    judgments: Judgments,
    measure: str,
    conventions: Conventions,
    n: int,
    seed: Seed,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Similarities | None, str]:
    """Of every assessor to random ones, for AWARE; None with the reason where there are none."""
    try:
        made = similarity_to_random(
            runs,
            judgments,
            [measure],
            n_resamples=n,
            rng=seed,
            conventions=replace(conventions, empty="nan"),
            progress=progress,
        )
    except QrowdError as error:
        return None, str(error)
    return made, f"{DEFAULT}, {n:,} random assessors of each level"


def merging_of(
    runs: Runs,
    judgments: Judgments,
    measure: str,
    conventions: Conventions,
    *,
    panel: Floats,
    order: list[int],
    systems: tuple[str, ...],
    similarities: Similarities | None,
    aware: str,
    score_by: ScoreBy | None,
    reference: tuple[str, Floats] | None,
    seed: Seed,
) -> Merging:
    """panel : (systems,) the panel's means; order : systems, best first; reference : a name and its means."""
    found: list[tuple[str, str, Floats]] = [(PANEL, "every assessor weighs the same", panel)]
    skipped: list[tuple[str, str]] = []
    notes: list[str] = []
    if score_by is not None:
        whole, theta, told = _mergeable(judgments, conventions)
        notes += [told] if told else []
        plain = replace(conventions, grades="as-is")
        ways: tuple[tuple[str, str], ...] = (
            ("majority", "majority"),
            ("Dawid-Skene", "dawid-skene"),
            ("predicted relevance", f"predicted-relevance(theta={theta:g})"),
        )
        if all(scale.kind == "magnitude" for scale in whole.scales):
            ways = (("median", "median"), ("geometric mean", "geometric-mean"), *ways)
        for name, text in ways:
            try:
                scores = score_by([text], runs, whole, [measure], plain, seed=seed)
                means = _checked(scores, measure, systems)
            except QrowdError as error:
                skipped.append((name, str(error)))
                continue
            found.append((name, text, means))
            notes += [str(warning) for warning in scores.attributes["warnings"]]
    if similarities is None:
        skipped.append(("AWARE", aware))
    else:
        weighted = rank_systems(similarities.average(DEFAULT).of(similarities.scores.measures[0])).mean
        found.insert(min(3, len(found)), ("AWARE", aware, weighted))
    if reference is not None:
        found.append((reference[0], "the reference alone", reference[1]))
    rankings = tuple(
        Ranking(
            name,
            how,
            tuple(float(means[s]) for s in order),
            tuple(int(_rank(means)[s]) for s in order),
            nan if len(systems) < 2 else kendall_tau_b(means, panel),
        )
        for name, how, means in found
    )
    return Merging(tuple(systems[s] for s in order), rankings, tuple(skipped), tuple(dict.fromkeys(notes)))


def _mergeable(judgments: Judgments, conventions: Conventions) -> tuple[Judgments, float, str]:
    """Judgments whose labels can be counted, the grade that satisfies a user, and what had to be done."""
    if alike(judgments.scales) and conventions.grades == "as-is":
        scale = judgments.shared_scale()
        if scale.kind in ("binary", "graded"):
            return judgments, scale.lowest_relevant or 1.0, ""
    if any(scale.lowest_relevant is None for scale in judgments.scales):
        return judgments, 1.0, ""
    told = (
        "majority, Dawid-Skene and predicted relevance need labels on one scale: here each judgment counts as relevant "
        "or not, by its assessor's own scale (whole grades from 1 on, fractions from half the maximum on)"
    )
    return judgments.relevant_or_not(), 1.0, told


def _checked(scores: Scores, measure: str, systems: tuple[str, ...]) -> Floats:
    means = rank_systems(scores.of(scores.measures[0])).mean
    if np.isnan(means).all() or np.nanmax(means) == np.nanmin(means):
        raise ScaleError(f"to its labels all {len(systems)} systems are equal by {measure}")
    return means


def _rank(means: Floats) -> Floats:
    from qrowd.comparison.system_ranking import ranks

    return np.asarray(ranks(means))
