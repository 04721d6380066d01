"""Simultaneous intervals for the ranks of systems, and the systems that may be the best, by one test of all pairs.

Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for Ranks with Applications to Mobility across Neighbourhoods and
Academic Achievement across Countries. Review of Economic Studies 91(1): a test of all pairs, by the largest |t|, leaves
each system the ranks that no significant difference excludes.

The test compares t of each pair with the largest |t| of all pairs under no difference. Replicates of the topics: the
systems' centred scores of a topic change sign together or not at all (Fisher's randomisation test, for two systems).
Replicates of the assessors are normal. The error of a difference is estimated anew in every replicate, so that few
topics and few assessors widen the reference distribution as they should. Random signs make each difference
symmetric, which it may not be: the same is done with t corrected for skewness (`qrowd.kernels.max_t`), and a
difference is significant where it is by both.

Romano, Wolf (2005), Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing. JASA 100(469), 94-108, of
which this is the first step: later steps find 1 to 8 % more pairs in real panels, but give no interval.
Chen, Wiesel, Eldar, Hero (2010), Shrinkage Algorithms for MMSE Covariance Estimation. IEEE Trans. Signal Process.
58(10), equation 17, for the weight of the assessors' own covariances. How often it errs: `qrowd_papers.rank_coverage`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.comparison.mean_squares import Over, Panel, panel_of
from qrowd.comparison.system_ranking import ranks, settled
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.kernels.max_t import largest_t, with_skewness, without_skewness
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.labels import first_of, number_of
from qrowd.model.result import Result
from qrowd.threads import in_threads

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


BLOCK = 200  # replicates of one random stream and one thread, so that the number of threads changes no result
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
    skewness : of the mean difference over topics, the row's system minus the column's, in its standard error cubed.
    t : (2, systems, systems) |difference / error|, and the same corrected for skewness; infinite for a difference that
        does not vary, 0 where there is none.
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
    skewness: Floats
    t: Floats

    def replicates(self, random: np.random.Generator, n: int) -> Floats:
        """(2, n) the largest |t| of all pairs if no two systems differ, and the largest corrected for skewness."""
        n_topics, n_systems = self.centred.shape
        signs = np.where(random.integers(0, 2, (n, n_topics)), 1.0, -1.0)
        shifts, draws = np.zeros((n, n_systems)), np.zeros((n, 0, n_systems))
        if self.df:
            normal = random.standard_normal((n * (self.df + 1), self.factor.shape[1])) @ self.factor.T
            normal = normal.reshape(n, self.df + 1, n_systems)
            shifts, draws = np.sqrt(self.weight) * normal[:, 0], np.ascontiguousarray(normal[:, 1:])
        of_pairs = (self.squares, shifts, draws, self.rest, self.share, self.weight, self.own)
        return largest_t(signs, self.centred, *of_pairs)


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
    powers = [[((centred[:, [s]] - centred) ** n).sum(axis=0) for s in range(mean.size)] for n in (2, 3)]
    squares, cubes = (np.array(power) for power in powers)
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
    apart = mean[:, None] - mean
    varies = error > 0
    third = cubes / n_topics / (n_topics - 1) ** 2
    skewness = np.divide(third, error**3, out=np.zeros_like(third), where=varies)
    t = np.divide(apart, error, out=np.zeros_like(apart), where=varies)
    both = np.abs([t, without_skewness(t, skewness)])
    both[:, ~varies & (np.abs(apart) > scale)] = np.inf  # a difference that does not vary
    return PairStatistics(mean, error, centred, squares, df, weight, own, rest, share, factor, skewness, both)


def largest_of(pairs: PairStatistics, n: int, rng: Rng) -> Floats:
    """(2, n) largest |t| of replicates, and the largest corrected for skewness, each in ascending order."""
    chance = Chance.of(rng)

    def block(at: int) -> Floats:
        return pairs.replicates(chance.stream("max-t", at), min(BLOCK, n - at))

    return np.sort(np.concatenate(list(in_threads(block, range(0, n, BLOCK))), axis=1))


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


ENOUGH_ASSESSORS = 10
"""Number of assessors from which on the test keeps its level even if they prefer the same systems (coverage study)."""


VERY_SKEWED = 0.24
"""Root mean square skewness of mean differences above which the test may err in a tenth of cases instead of .05."""


@dataclass(frozen=True, eq=False)
class DifferencesTo(Result):
    """All systems minus one of them; arrays are (systems,), nan for that system itself.

    low, high, p : interval and p-value, adjusted for all pairs of systems.
    """

    summary = "All systems minus one of them"

    difference: Floats
    low: Floats
    high: Floats
    p: Floats

    _COLUMNS = ("difference", "low", "high", "p")


@dataclass(frozen=True, eq=False)
class RankIntervals(Result):
    """Simultaneous intervals for the ranks of all systems; arrays are (systems,), rank 1 is the best.

    mean : over topics of the means over assessors. rank : by the mean; equal means share the better rank.
    rank_low, rank_high : the best and the worst rank that the system may have: 1 + the number of systems significantly
        ahead of it, and the number of systems - those significantly behind it.
    p : (systems, systems) of the difference of two systems, adjusted for all pairs of systems; 1 on the diagonal.
    standard_error, skewness : (systems, systems) of the difference, the row's system minus the column's. critical : the
        values that |difference / standard error|, and the same corrected for skewness, both have to exceed for
        p < 1 - confidence.
    better : (systems, systems) whether the row's system is significantly ahead of the column's: a higher mean and
        p < 1 - confidence.
    over : what is resampled: "both" topics and assessors, or "topics" alone; `reason` says where the data left no
        choice, and where the assessors are too few.
    too_few_assessors : whether there are only 2, with whom the intervals hold less often than `confidence`.
    n_resamples, seed : number of replicates, and their seed.
    """

    systems: tuple[str, ...]
    mean: Floats
    rank: NDArray[np.int64]
    rank_low: NDArray[np.int64]
    rank_high: NDArray[np.int64]
    p: Floats
    standard_error: Floats
    skewness: Floats
    critical: tuple[float, float]
    better: NDArray[np.bool_]
    over: Over
    reason: str
    too_few_assessors: bool
    confidence: float
    n_resamples: int
    seed: Seed

    @property
    def skewness_of_all(self) -> float:
        """Root mean square skewness of the mean differences of all pairs: what is left of it after so many topics."""
        n = len(self.systems)
        return float(np.sqrt((self.skewness**2).sum() / (n * (n - 1))))

    @property
    def caution(self) -> str:
        """Why `may_be_best` may be too small, as the end of a sentence; empty where nothing is known against it."""
        if self.too_few_assessors:
            return "; with 2 assessors it may be too small"
        very_skewed = "; differences are so skewed for so few topics that it may be too small"
        return very_skewed if self.skewness_of_all > VERY_SKEWED else ""

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The confidence set of the best systems: those that no other is significantly ahead of, best mean first."""
        return tuple(self.systems[s] for s in np.argsort(-self.mean, kind="stable") if self.rank_low[s] == 1)

    def _sentence(self) -> str:
        best = self.may_be_best
        return (
            f"{first_of(best, 5)} may be the best: {len(best)} of {len(self.systems)} systems, at confidence "
            f"{self.confidence:g} for all systems together{self.caution}."
        )

    def against(self, system: str) -> DifferencesTo:
        """Each system minus this one, with the interval that holds for all pairs together, and the adjusted p."""
        which = number_of(system, self.systems, "system")
        difference = self.mean - self.mean[which]
        error, (plain, corrected) = self.standard_error[:, which], self.critical
        above = np.maximum(plain, with_skewness(np.full(difference.shape, corrected), self.skewness[:, which]))
        below = np.maximum(plain, -with_skewness(np.full(difference.shape, -corrected), self.skewness[:, which]))
        # A difference that does not vary has no width, however few the replicates.
        down, up = (np.multiply(t, error, out=np.zeros_like(error), where=error > 0) for t in (above, below))
        columns = [difference, difference - down, difference + up, self.p[which].copy()]
        for column in columns:
            column[which] = np.nan
        return DifferencesTo(*columns)

    def _columns(self) -> dict[str, Any]:
        order = np.argsort(-self.mean, kind="stable")
        names = ("mean", "rank", "rank_low", "rank_high")
        return {
            "system": np.array(self.systems, object)[order],
            **{name: getattr(self, name)[order] for name in names},
            "p": self.against(self.systems[order[0]]).p[order],
            "may_be_best": self.rank_low[order] == 1,
        }


def rank_intervals(
    scores: AnyScores,
    *,
    over: Over = "both",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 1,
) -> RankIntervals:
    """Simultaneous intervals for the ranks of all systems by one measure.

    All pairs of systems are tested together, by the largest |t| over `n_resamples` replicates with random signs of
    topics and, with over="both", with other assessors; the same with t corrected for skewness, and both must find a
    difference. The probability that any system is wrongly found ahead of another, that any true rank lies outside its
    interval, or that the best system is missing from `may_be_best`, is at most 1 - confidence where the differences of
    systems over topics have symmetric distributions. Where they are skewed, simulations of equal systems erred in 2 to
    7 % at 95 % confidence, and in 10 % where `skewness_of_all` exceeds .24 (page on coverage).

    over : "both" allows for other topics and other assessors, "topics" takes the assessors as fixed. Fewer than 10
        assessors say little about others: where they prefer the same kinds of systems, the test errs more often than
        its level, which `reason` says. With one assessor, or own assessors for each topic, only topics are resampled.

    Raises
    ------
    ArgumentError
        Fewer than two systems; an option outside its range.
    NoOverlapError
        The systems share fewer than two topics.
    """
    check_choice("over", over, Over)
    check_confidence(confidence)
    if n_resamples < 2:
        raise ArgumentError("at least 2 replicates were expected", "n_resamples", n_resamples)
    panel = panel_of(scores)
    if len(panel.systems) < 2:
        raise ArgumentError(f"scores: {len(panel.systems)} system(s); at least 2 are needed to compare")
    reason = "asked for"
    if over == "both" and not panel.components_known:
        over, reason = "topics", f"{panel.design}: says nothing about other assessors"
    too_few = over == "both" and panel.assessor_df < 2
    if over == "both" and panel.assessor_df + 1 < ENOUGH_ASSESSORS:
        reason = f"asked for; {_caution(panel.assessor_df + 1)}"
    seed = seed_of(rng)
    pairs = pair_statistics(_in_order_of_names(panel), over)
    largest = largest_of(pairs, n_resamples, seed)
    at = np.argsort(np.argsort(np.array(panel.systems, object), kind="stable"))
    p = np.maximum(*map(adjusted_p, pairs.t, largest))
    p, error, skewness = (of_pairs[np.ix_(at, at)] for of_pairs in (p, pairs.error, pairs.skewness))
    plain, corrected = (critical_t(of_all, 1 - confidence) for of_all in largest)
    np.fill_diagonal(p, 1.0)
    mean = settled(pairs.mean[at])
    better = (mean[:, None] > mean) & (p < 1 - confidence)
    low, high = 1 + better.sum(axis=0), len(panel.systems) - better.sum(axis=1)
    return RankIntervals(
        panel.systems, pairs.mean[at], ranks(mean), low, high, p, error, skewness, (plain, corrected), better,
        over, reason, too_few, confidence, n_resamples, seed,
    )  # fmt: skip


def _caution(n_assessors: int) -> str:
    """The coverage with so few assessors in simulations (`qrowd_papers.rank_coverage`)."""
    if n_assessors == 2:
        return "2 assessors are too few: the intervals may be too narrow"
    coverage = "89 to 99" if n_assessors < 5 else "91 to 97"
    return f"{n_assessors} assessors: 95 % intervals held in {coverage} % of simulations, depending on the assessors"


def _in_order_of_names(panel: Panel) -> Panel:
    """Topics and systems in the order of their names, so that results do not depend on the order of the files."""
    topics, systems = (sorted(range(len(names)), key=names.__getitem__) for names in (panel.topics, panel.systems))
    return replace(
        panel,
        topics=tuple(panel.topics[t] for t in topics),
        systems=tuple(panel.systems[s] for s in systems),
        values=np.ascontiguousarray(panel.values[topics][:, :, systems]),
        known=panel.known[topics],
    )
