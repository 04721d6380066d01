"""One test of all pairs of systems: t of each pair, compared with the largest |t| of all pairs under no difference.

Replicates of the topics: the systems' centred scores of a topic change sign together or not at all (Fisher's
randomisation test, for two systems). Replicates of the assessors are normal. The error of a difference is estimated
anew in every replicate, so that few topics and few assessors widen the reference distribution as they should.

Romano, Wolf (2005), Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing. JASA 100(469), 94-108, of
which this is the first step: later steps find 1 to 8 % more pairs in real panels, but give no interval.
Chen, Wiesel, Eldar, Hero (2010), Shrinkage Algorithms for MMSE Covariance Estimation. IEEE Trans. Signal Process.
58(10), equation 17, for the weight of the assessors' own covariances. How often it errs: `qrowd_papers.rank_coverage`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf

import numpy as np

from qrowd.comparison.resampling import BLOCK, Over, Panel
from qrowd.kernels.arrays import Floats
from qrowd.kernels.max_t import largest_t
from qrowd.model.chance import Chance, Rng
from qrowd.threads import in_threads

MOST_DF = 50  # degrees of freedom between assessors that a replicate draws; more would change little and be slow


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """The parts of the test of all pairs; arrays are (systems, systems) unless stated otherwise.

    mean : (systems,) over topics of the means over assessors. error : standard error of each difference of means.
    centred : (topics, systems) means over assessors, minus `mean`. squares : sum over topics of their squared
    differences.
    df, weight : of assessors: degrees of freedom, and what their mean square above that of the rest adds to the
        variance of a difference; 0 where topics alone are drawn.
    own : the weight that a pair's own mean square of assessors has; the rest is that of all pairs together.
    rest : mean square of what is left of the difference. share : of the square root of the assessors' mean square, what
        the assessors have above the rest. factor : symmetric square root of the mean products of assessors.
    t : |difference| / error; infinite for a difference that does not vary, 0 where there is none.
    """

    mean: Floats
    error: Floats
    centred: Floats = field(repr=False)
    squares: Floats = field(repr=False)
    df: int
    weight: float
    own: float
    rest: Floats = field(repr=False)
    share: Floats = field(repr=False)
    factor: Floats = field(repr=False)
    t: Floats

    def replicates(self, random: np.random.Generator, n: int) -> Floats:
        """(n,) the largest |t| of all pairs if no two systems differ."""
        n_topics, n_systems = self.centred.shape
        signs = 2.0 * random.integers(0, 2, (n, n_topics)) - 1.0
        shifts, draws = np.zeros((n, n_systems)), np.zeros((n, 0, n_systems))
        if self.df:
            normal = random.standard_normal((n * (self.df + 1), self.factor.shape[1])) @ self.factor.T
            normal = normal.reshape(n, self.df + 1, n_systems)
            shifts, draws = np.sqrt(self.weight) * normal[:, 0], np.ascontiguousarray(normal[:, 1:])
        means = signs @ self.centred / n_topics
        return np.asarray(
            largest_t(
                means, shifts, draws, self.squares, n_topics, self.rest, self.share, self.weight, self.own
            )
        )  # fmt: skip


def pair_statistics(panel: Panel, over: Over) -> PairStatistics:
    """t of every pair of systems.

    The variance of a difference of means over T topics is that between topics of the panel's difference, over T, plus,
    where `over` is "both", weight x max(MS_a - MS_e, 0), `weight` being 1 / (T A) in a full table. MS_a, the mean
    square of assessors, is own x the pair's + (1 - own) x MS_e x the ratio of the two over all pairs: `own` is near 1
    where assessors favour some systems over others in the same way again and again, near 0 where pairs differ by chance
    alone.
    """
    n_topics = len(panel.topics)
    scale = 1e-12 * float(np.abs(panel.values).max(initial=0.0))
    by_topic = panel.by_topic(panel.values)
    mean = by_topic.mean(axis=0)
    # What a topic does to all systems alike is in no difference.
    centred = by_topic - mean - (by_topic - mean).mean(axis=1, keepdims=True)
    squares = np.stack([((centred - centred[:, [s]]) ** 2).sum(axis=0) for s in range(mean.size)])
    squares[squares <= n_topics * scale**2] = 0.0
    variance = squares / n_topics / (n_topics - 1)
    df, weight, own = 0, 0.0, 0.0
    rest, share, factor = (np.zeros_like(squares) for _ in range(3))
    if over == "both":
        contrasts = np.where(panel.known[:, :, None], panel.values - panel.values.mean(axis=2, keepdims=True), 0.0)
        found = panel.squares(contrasts, products=True)
        of_assessors, of_rest = found.ms[1], found.ms[2]
        df, weight = int(found.df[1]), float(found.weights[1])
        own = 1.0 - shrinkage(of_assessors, of_rest, df, int(found.df[2]))
        if np.trace(of_rest) > 0:
            of_assessors = own * of_assessors + (1 - own) * np.trace(of_assessors) / np.trace(of_rest) * of_rest
        of_pair, rest = _of_pairs(of_assessors), _of_pairs(of_rest)
        above = np.maximum(of_pair - rest, 0.0)
        variance = variance + weight * above
        share = np.sqrt(np.divide(above, of_pair, out=np.zeros_like(above), where=of_pair > 0))
        values, vectors = np.linalg.eigh(of_assessors)
        factor = (
            vectors * np.sqrt(np.maximum(values, 0.0))
        ) @ vectors.T  # the one square root that rounding moves little
        df = min(df, MOST_DF)
    error = np.sqrt(variance)
    apart = np.abs(mean[:, None] - mean)
    sure = np.where(apart > scale, np.inf, 0.0)  # a difference that does not vary
    t = np.divide(apart, error, out=sure, where=error > 0)
    return PairStatistics(mean, error, centred, squares, df, weight, own, rest, share, factor, t)


def largest_of(pairs: PairStatistics, n: int, rng: Rng, threads: int | None = None) -> Floats:
    """(n,) largest |t| of replicates, in ascending order.

    Every block of 500 replicates has a stream of its own, so that the number of threads changes no bit.
    """
    chance = Chance.of(rng)

    def block(number: int) -> Floats:
        return pairs.replicates(chance.stream("max-t", number), min(BLOCK, n - number * BLOCK))

    return np.sort(np.concatenate(list(in_threads(block, range(-(-n // BLOCK)), threads))))


def adjusted_p(t: Floats, largest: Floats) -> Floats:
    """p of every t: the share of replicates whose largest |t| reaches it, the data counted as one more."""
    n = largest.size
    return np.asarray((1 + n - np.searchsorted(largest, t, side="left")) / (1 + n))


def critical_t(largest: Floats, alpha: float) -> float:
    """The t that has to be exceeded for p < alpha; infinite where the replicates are too few."""
    n = largest.size
    fewer = ceil(alpha * (1 + n)) - 2  # replicates that may reach the t
    return float(largest[n - 1 - fewer]) if fewer >= 0 else inf


def shrinkage(sample: Floats, target: Floats, df: int, target_df: int) -> float:
    """The weight of the target, 0 to 1, in place of a sample covariance with so many degrees of freedom.

    Chen et al. (2010), equation 17 (Rao-Blackwell Ledoit-Wolf): ((n - 2)/n tr(S^2) + tr(S)^2) / ((n + 2) (tr(S^2) -
    tr(S)^2 / d)), with the target's effective number of dimensions as d: tr(E)^2 / tr(E^2), less what its own sampling
    error adds. One degree of freedom says nothing of how pairs differ, and the formula gives 0; the weight is 1/2 then.
    """
    if df == 1:
        return 0.5
    square, trace = float((sample * sample).sum()), float(np.trace(sample)) ** 2
    rest = float(np.trace(target)) ** 2
    if trace <= 0 or rest <= 0:
        return 0.0
    dimensions = 1 / max(float((target * target).sum()) / rest - 1 / target_df, 1 / max(len(sample) - 1, 1))
    excess = (df + 2) * (square - trace / dimensions)
    if excess <= 1e-12 * trace:
        return 1.0
    return float(np.clip(((df - 2) / df * square + trace) / excess, 0.0, 1.0))


def _of_pairs(products: Floats) -> Floats:
    """(systems, systems) mean squares of differences from mean products; what cancellation leaves is 0."""
    own = np.diag(products)
    squares = own[:, None] + own - products - products.T
    squares[squares <= 1e-14 * (own[:, None] + own)] = 0.0
    return np.asarray(squares)
