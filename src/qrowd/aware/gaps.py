"""How alike assessors are to random ones, or to a gold assessor, and the accuracies that follow.

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2),
section 4; equations are numbered as there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.aware.averages import averaged
from qrowd.aware.estimators import GAPS, NAMES, UNIFORM, Estimator, Weight, estimator
from qrowd.errors import ArgumentError
from qrowd.model.scores import Scores

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]
Polarity = Literal["dissimilarity", "printed"]
Across = Literal["own", "all"]
Toward = Literal["random", "gold"]


@dataclass(frozen=True, eq=False)
class Gaps:
    """How alike each assessor is to those it was compared with: 1 is equal, 0 as different as can be.

    scores : of the assessors, each with its cells; nan where an assessor has no score.
    toward : "random": being alike counts against an assessor; "gold": for it.
    levels : the kinds of assessors compared with, and what they call relevant how often.
    single : (gaps, measures, levels, assessors) over all topics where the assessor has a score; nan without one.
    by_topic : (gaps, measures, levels, assessors, topics) on each; nan without a score.
    attributes : every option in force, the number of replicates and the seed.

    Gaps stand in the order fro, rmse, kld, tau, apc. Equations 20-24, averaged over replicates (Algorithms 1 and 2).
    """

    scores: Scores
    toward: Toward
    levels: Mapping[str, float]
    single: Floats
    by_topic: Floats
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def accuracy(self, name: str, polarity: Polarity = "dissimilarity", across: Across = "own") -> Floats:
        """(measures, assessors, topics) accuracies by one estimator; nan where the assessor has no score.

        name : as "sgl_tau_msd", or "uniform".
        polarity : "dissimilarity" weighs by 1 - similarity to random assessors; "printed" by the similarity itself, as
            equations 25-27 have it. Against a gold assessor it is always the similarity.
        across : "own" estimates each measure's accuracies from that measure; "all" from the mean similarity over
            measures, so that one accuracy serves them all.

        Equations 25 (md, the least of the levels), 26 (msd, the least square), 27 (med, the sum).
        """
        for option, given, choices in (("polarity", polarity, Polarity), ("across", across, Across)):
            if given not in get_args(choices):
                raise ArgumentError(f"{option}={given!r}: choose one of {', '.join(get_args(choices))}")
        wanted = estimator(name)
        known = self.scores.known
        if wanted is None:
            return np.where(known, 1.0, np.nan)
        alike = self._similarity(wanted, across)
        if self.toward == "random" and polarity == "dissimilarity":
            alike = 1 - alike
        weights = _weight(alike, wanted.weight)
        if wanted.granularity == "sgl":
            weights = np.broadcast_to(weights[..., None], known.shape)
        return np.where(known, weights, np.nan)

    def _similarity(self, wanted: Estimator, across: Across) -> Floats:
        """(levels, measures, assessors[, topics])."""
        table = self.single if wanted.granularity == "sgl" else self.by_topic
        alike = np.swapaxes(table[GAPS.index(wanted.gap)], 0, 1)
        if across == "own":
            return np.asarray(alike)
        known = ~np.isnan(alike)
        total = np.where(known, alike, 0).sum(axis=1, keepdims=True)
        n = known.sum(axis=1, keepdims=True)
        return np.where(known, np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0), np.nan)

    def accuracies(
        self,
        estimators: Sequence[str] = (UNIFORM, *NAMES),
        polarity: Polarity = "dissimilarity",
        across: Across = "own",
    ) -> xarray.DataArray:
        """DataArray (estimator, measure, assessor, topic), nan where the assessor has no score; see `accuracy`."""
        import xarray

        scores = self.scores
        return xarray.DataArray(
            np.array([self.accuracy(name, polarity, across) for name in estimators]),
            dims=("estimator", "measure", "assessor", "topic"),
            coords={
                "estimator": list(estimators),
                "measure": list(scores.measures),
                "assessor": list(scores.assessors),
                "topic": list(scores.topics),
            },
            name="accuracy",
            attrs={**self.attributes, "polarity": polarity, "across": across},
        )

    def average(self, name: str, polarity: Polarity = "dissimilarity", across: Across = "own") -> Scores:
        """The AWARE version of every measure, as scores of one assessor who bears the estimator's name."""
        about = {**self.attributes, "polarity": polarity, "across": across}
        return averaged(self.scores, self.accuracy(name, polarity, across), name, about)


def _weight(gaps: Floats, weight: Weight) -> Floats:
    """(levels, ...) gaps to the kinds of random assessors into one weight."""
    if weight == "med":
        return np.asarray(gaps.sum(axis=0))
    return np.asarray((gaps if weight == "md" else gaps**2).min(axis=0))
