"""Kendall's tau-b of the rankings of systems by two assessors, with an interval over topics.

Resampled topics rank systems less alike than the topics themselves do, as these do beside all topics there could be:
percentiles of resamples are too low by about twice as much as tau-b is. The interval therefore reflects them at tau-b:
from 2 tau - high to 2 tau - low (the basic bootstrap; Davison & Hinkley 1997, Bootstrap Methods and their Application,
section 5.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qrowd.comparison.correlation import kendall_tau_b, shared_means
from qrowd.comparison.interval_widths import check_confidence
from qrowd.comparison.resampling import bootstrap_counts
from qrowd.errors import ArgumentError
from qrowd.kernels.correlation import tau_b
from qrowd.kernels.resample import tail
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.labels import number_of
from qrowd.model.result import Result
from qrowd.model.scores import one_measure, rankable

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True)
class TauInterval(Result):
    """Kendall's tau-b of two rankings of systems; nan where fewer than two systems can be compared.

    low, high : of tau-b if there were many topics. On few topics tau-b is too low, and the interval begins at it where
        all of its resamples are lower.
    """

    first: str
    second: str
    tau_b: float
    low: float
    high: float
    n_topics: int
    n_systems: int
    confidence: float
    n_resamples: int
    seed: Seed


def tau_interval(
    scores: AnyScores, first: str, second: str, *, confidence: float = 0.95, n_resamples: int = 1000, rng: Rng = None
) -> TauInterval:
    """Tau-b of the rankings of systems by two assessors over the topics both scored, with an interval.

    scores : of one measure. n_resamples : of topics, drawn with replacement.

    Raises
    ------
    ArgumentError
        An unknown assessor; fewer than two resamples.
    """
    check_confidence(confidence)
    if n_resamples < 2:
        raise ArgumentError(f"n_resamples={n_resamples}: at least 2 were expected")
    values, (assessors, _, _) = one_measure(scores)
    one, other = (values[number_of(name, assessors, "assessor")] for name in (first, second))
    x, y, n_topics, n_systems = shared_means(one, other)
    seed = seed_of(rng)
    tau = low = high = np.nan
    if n_systems > 1:
        tau = kendall_tau_b(x, y)
    if not np.isnan(tau) and n_topics > 1:
        shared = ~np.isnan(one) & ~np.isnan(other)
        topics = shared.any(axis=1)
        systems = shared[topics].all(axis=0)
        random = Chance.of(seed).stream("tau")
        counts = bootstrap_counts(n_topics, n_resamples, random)
        resamples = tau_b(*(rankable(counts @ side[topics][:, systems] / n_topics) for side in (one, other)))
        resamples = resamples[~np.isnan(resamples)]
        if resamples.size:
            beyond = tail(confidence, n_topics)
            lowest, highest = np.quantile(resamples, [beyond, 1 - beyond])
            low, high = max(min(2 * tau - highest, tau), -1.0), min(max(2 * tau - lowest, tau), 1.0)
    return TauInterval(
        first, second, float(tau), float(low), float(high), n_topics, n_systems, confidence, n_resamples, seed
    )
