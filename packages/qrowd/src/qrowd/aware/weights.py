"""The weights of assessors by an estimator, and reasons to doubt them.

A weight measures how different an assessor is from random ones, which is not accuracy: an assessor who calls everything
relevant, or hardly anything, also differs from random ones. `doubtful_weights` names such assessors with more than an
equal share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.agreement import assessor_profiles
from qrowd.agreement.assessor_profiles import AssessorProfiles
from qrowd.aware.similarity import Across, Polarity, Similarities, long_labels
from qrowd.comparison.rankings import correlations
from qrowd.errors import NoOverlapError, ScaleError
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.result import Result
from qrowd.model.scores import known_mean

MORE = 1.1  # times an equal share: the least weight that is doubted
FEW = 0.25  # times the rate of the others: the rate that is too low
LEAST = 10  # documents that the others must call relevant (or not relevant) for a rate to be too low


@dataclass(frozen=True, eq=False)
class AssessorWeights(Result):
    """The weights of all assessors by an estimator; arrays are (measures, assessors), nan without a score.

    share : of the weight, mean over the topics where the assessor has a score. equal : the same with equal weights.
    agreement : tau-b of the assessor's ranking of the systems with that by the mean of the other assessors.
    """

    estimator: str
    measures: tuple[str, ...]
    assessors: tuple[str, ...]
    share: Floats
    equal: Floats
    agreement: Floats

    def _columns(self) -> dict[str, Any]:
        """One row per measure and assessor."""
        labels = long_labels({"measure": self.measures, "assessor": self.assessors})
        return {**labels, **{name: getattr(self, name).ravel() for name in ("share", "equal", "agreement")}}

    @property
    def mean_agreement(self) -> tuple[Floats, Floats]:
        """(measures,) mean agreement of the assessors by weight, and with equal weights.

        Where the first is larger, assessors with more weight rank the systems more like the others do, as if assessors
        differed in random errors.
        """
        known = ~np.isnan(self.agreement) & ~np.isnan(self.share)
        agreement = np.where(known, self.agreement, 0.0)
        first, second = (
            (np.where(known, share, 0.0) * agreement).sum(axis=1)
            / np.maximum(np.where(known, share, 0.0).sum(axis=1), 1e-12)
            for share in (self.share, self.equal)
        )
        return first, second


@dataclass(frozen=True)
class DoubtfulWeight(Result):
    """An assessor with more than an equal share of the weight by a measure, and why to doubt it.

    share, equal : as in `AssessorWeights`. largest : nobody has a larger share. reasons : in words.
    """

    assessor: str
    measure: str
    share: float
    equal: float
    largest: bool
    reasons: tuple[str, ...]


def assessor_weights(
    similarities: Similarities, estimator: str, *, polarity: Polarity = "dissimilarity", across: Across = "own"
) -> AssessorWeights:
    """The weights of all assessors by one estimator; the arguments are those of `Similarities.accuracy`."""
    scores = similarities.scores
    return AssessorWeights(
        estimator,
        scores.measures,
        scores.assessors,
        _shares(similarities.accuracy(estimator, polarity=polarity, across=across)),
        _shares(np.where(scores.known, 1.0, np.nan)),
        np.array([correlations(scores.sel(measure=name)).tau_b for name in scores.measures]),
    )


def reasons_to_doubt(
    judgments: Judgments, *, profiles: AssessorProfiles | None = None, repeats: Repeats = "first"
) -> dict[str, tuple[str, ...]]:
    """{assessor: reasons}, for those who stand out (`assessor_profiles`) or hardly distinguish between documents.

    Someone hardly distinguishes whose documents are called relevant (or not relevant) by them less than a quarter as
    often as by the others on the same documents, where the others do so for ten documents or more.

    profiles : of these judgments, where they are known already.
    """
    try:
        profiles = profiles or assessor_profiles(judgments, repeats=repeats)
        reasons = {name: list(texts) for name, texts in zip(profiles.assessors, profiles.reasons, strict=True)}
    except (NoOverlapError, ScaleError):
        reasons = {}
    for name, reason in _hardly_distinguishing(judgments, repeats):
        if not any(texts.startswith("always grade") for texts in reasons.setdefault(name, [])):
            reasons[name].append(reason)
    return {name: tuple(texts) for name, texts in reasons.items() if texts}


def doubtful_weights(weights: AssessorWeights, reasons: Mapping[str, Sequence[str]]) -> tuple[DoubtfulWeight, ...]:
    """Assessors with more than 1.1 times an equal share of the weight, and a reason to doubt that they deserve it.

    reasons : {assessor: reasons}, as from `reasons_to_doubt`.

    >>> similarities = similarity_to_random(runs, judgments, "AP", rng=1)  # doctest: +SKIP
    >>> weights = assessor_weights(similarities, "sgl_rmse_md")  # doctest: +SKIP
    >>> [(one.assessor, one.share, one.equal) for one in doubtful_weights(weights, reasons_to_doubt(judgments))]
    ... # doctest: +SKIP
    [('dan', 0.41, 0.25)]
    """
    doubtful = []
    for m, measure in enumerate(weights.measures):
        share, equal = weights.share[m], weights.equal[m]
        for a in np.argsort(-np.nan_to_num(share), kind="stable"):
            name = weights.assessors[a]
            if reasons.get(name) and share[a] > MORE * equal[a]:
                largest = bool(share[a] == np.nanmax(share))
                doubtful.append(
                    DoubtfulWeight(name, measure, float(share[a]), float(equal[a]), largest, tuple(reasons[name]))
                )
    return tuple(doubtful)


def _shares(accuracy: Floats) -> Floats:
    """(measures, assessors) mean over topics of each one's part of the weight; equal parts where nobody has any."""
    known = ~np.isnan(accuracy)
    filled = np.where(known, accuracy, 0.0)
    total = filled.sum(axis=1, keepdims=True)
    filled = np.where(total > 0, filled, known)
    total = filled.sum(axis=1, keepdims=True)
    return known_mean(np.where(known, filled / np.maximum(total, 1e-300), np.nan), axis=2)


def _hardly_distinguishing(judgments: Judgments, repeats: Repeats) -> list[tuple[str, str]]:
    """(assessor, reason)."""
    panel = judgments.panel(repeats=repeats)
    known = ~np.isnan(panel.values)
    lowest = np.array([np.nan if s.rel is None else s.rel for s in panel.scales])
    relevant = known & (np.nan_to_num(panel.values) >= lowest)
    others = known.sum(axis=1, keepdims=True) - known
    shared = known & (others > 0)
    by_others = (relevant.sum(axis=1, keepdims=True) - relevant) / np.maximum(others, 1)
    reasons = []
    for a, name in enumerate(panel.assessors):
        rows = shared[:, a]
        n = int(rows.sum())
        if n == 0 or np.isnan(lowest).any():
            continue
        own = float(relevant[rows, a].mean())
        theirs = float(by_others[rows, a].mean())
        rarer = [(own, theirs), (1 - own, 1 - theirs)]
        if any(mine < FEW * usual and n * usual >= LEAST for mine, usual in rarer):
            reasons.append((name, f"calls {own:.1%} of {n:,} documents relevant, the others {theirs:.1%}"))
    return reasons
