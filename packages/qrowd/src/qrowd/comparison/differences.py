"""The difference of two systems with an interval for other topics and other assessors.

D[t, a] = mu + topic + assessor + error, where topics and assessors are random samples. The mean over T topics and A
assessors has the variance v_t / T + v_a / A + v_e / (T A), estimated by
(max(MS_t - MS_e, 0) + max(MS_a - MS_e, 0) + MS_e) / (T A).

Brennan (2001), Generalizability Theory; Owen (2007), The Pigeonhole Bootstrap. Ann. Appl. Stat. 1(2). The intervals are
computed in `interval_widths`; their coverage in simulations: `qrowd_papers.coverage`. The probability that other
assessors agree: `shrinkage`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qrowd.comparison.corrections import benjamini_hochberg, holm
from qrowd.comparison.interval_widths import ENOUGH, Method, check_confidence, half_widths, recommended, two_sided_p
from qrowd.comparison.resampling import Design, Panel, panel_of, replicate_means
from qrowd.comparison.shrinkage import Spread, Spreads, p_same_sign
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.labels import number_of
from qrowd.model.result import Result

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

MethodChoice = Literal["recommended", "banerjee", "satterthwaite", "pigeonhole", "topics"]
ManyCorrections = Literal["holm", "benjamini-hochberg", "none"]
PAIRS_AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class Difference(Result):
    """First system minus second, in the units of the measure.

    difference : mean over topics of the means over assessors. standard_error : of the difference.
    low, high : its interval.
    df : degrees of freedom of the standard error; nan for the bootstrap, and where nothing varies.
    v_topic, v_assessor, v_error : variance components of D[topic, assessor]; negative estimates are 0, and named in
        `negative`; nan where the design does not separate them.
    p : two-sided p-value of no difference; nan where nothing varies.
    p_better : probability that the first system is ahead again with new topics and new assessors, as many as now (with
        method "topics": new topics), calibrated as `p_panel_agrees`.
    shrinkage_factor : share of the difference that is expected to remain with other assessors on these topics, from the
        variance of all `n_systems` systems that have a score wherever the two have one (see `shrinkage`).
    method, reason : the method used, and why. design : how assessors and topics are crossed.
    n_left_out : cells in which only one of the two has a score.
    n_resamples, seed : of the bootstrap; 0 and None for other methods.
    """

    summary = "First system minus second, in the units of the measure"

    first: str
    second: str
    difference: float
    standard_error: float
    low: float
    high: float
    df: float
    v_topic: float
    v_assessor: float
    v_error: float
    negative: tuple[str, ...]
    p: float
    p_better: float
    shrinkage_factor: float
    n_systems: int
    method: Method
    reason: str
    design: Design
    confidence: float
    n_topics: int
    n_assessors: int
    n_left_out: int
    n_resamples: int
    seed: Seed | None
    assessor_variance: float = field(repr=False)  # of one assessor's mean over topics
    mean_squares: tuple[float, ...] = field(repr=False)  # of topics, assessors and error; empty without components
    mean_squares_df: tuple[float, ...] = field(repr=False)
    mean_squares_per: tuple[float, ...] = field(repr=False)  # as `TwoWay.per`

    def p_panel_agrees(self, n_assessors: int | None = None) -> float:
        """Probability that n other assessors, on the same topics, see the same system ahead; default: as many as now.

        P(t < k |difference| / sqrt(s^2 (k / A + 1 / n))), with A - 1 degrees of freedom in a complete table. s^2 is the
        variance between the assessors' own differences, k the `shrinkage_factor`: the leader and the runner-up were
        selected by the same scores, so part of the difference is selection. nan where the design does not separate
        assessors from topics; .5 where there is no difference.

        Raises
        ------
        ArgumentError
            Fewer than one assessor.
        """
        n = self.n_assessors if n_assessors is None else n_assessors
        if n < 1:
            raise ArgumentError("at least 1 was expected", "n_assessors", n)
        if isnan(self.assessor_variance):
            return nan
        now, then = (np.array([self.assessor_variance / count]) for count in (self.n_assessors, n))
        df, factor = np.array([self.mean_squares_df[1]]), np.array([self.shrinkage_factor])
        return float(p_same_sign(np.array([self.difference]), now, then, df, factor)[0])

    def variance(self, n_topics: int, n_assessors: int) -> float:
        """Variance of the mean difference over so many topics and assessors: v_t / T + v_a / A + v_e / (T A).

        nan where the design does not separate the components.
        """
        main = self.v_topic / n_topics + self.v_assessor / n_assessors
        return float(main + self.v_error / (n_topics * n_assessors))

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 lies outside the interval: the systems differ significantly."""
        return self.low > 0 or self.high < 0

    def sentence(self, n_assessors: int | None = None, *, digits: int = 3) -> str:
        """One sentence: which system is ahead by how much, the interval, and whether another panel would agree.

        "beats" where the interval excludes 0, else "is ahead of"; "is level with" where there is no difference.
        """
        winner, loser, sign = (self.first, self.second, 1) if self.difference >= 0 else (self.second, self.first, -1)
        bounds = sorted((sign * self.low, sign * self.high))
        low, high, by = (f"{value:.{digits}f}" for value in (*bounds, abs(self.difference)))
        verb = "beats" if self.excludes_zero else "is ahead of" if self.difference else "is level with"
        text = f"{winner} {verb} {loser} by {by} [{low}, {high}]"
        agree, n = self.p_panel_agrees(n_assessors), n_assessors or self.n_assessors
        panel = f"another panel of {n} assessors" if n > 1 else "another assessor"
        return text if isnan(agree) else f"{text}; {panel} would agree with probability {agree:.2f}"


@dataclass(frozen=True, eq=False)
class AllDifferences(Result):
    """The differences of all pairs of systems; arrays are (pairs,), with the meaning they have in `Difference`.

    first, second : numbers of the systems in `systems`. Intervals and p are those of each pair by itself; `adjusted`
        gives p-values for all pairs together.
    n_left_out : cells that lack some system's score; all pairs rest on the same cells.
    """

    summary = "The differences of all pairs of systems"

    systems: tuple[str, ...]
    first: Ints
    second: Ints
    difference: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    df: Floats
    p: Floats
    p_better: Floats
    method: Method
    reason: str
    design: Design
    confidence: float
    n_topics: int
    n_assessors: int
    n_left_out: int
    n_resamples: int
    seed: Seed | None

    def adjusted(self, correction: ManyCorrections = "holm") -> Floats:
        """(pairs,) p-values for testing all pairs: the familywise error rate (Holm) or the false discovery rate.

        Holm (1979), Scand. J. Statist. 6(2); Benjamini, Hochberg (1995), Controlling the False Discovery Rate. JRSS B
        57(1).
        """
        check_choice("correction", correction, ManyCorrections)
        by_name = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}
        return by_name[correction](self.p) if correction in by_name else self.p.copy()

    def row(self, first: str, second: str) -> int:
        """The row of a pair; the systems are named in their order in `systems`."""
        i, j = (number_of(name, self.systems, "system") for name in (first, second))
        if i >= j:
            raise ArgumentError(f"systems {first!r} and {second!r}: name two, in their order in the scores")
        return i * len(self.systems) - i * (i + 1) // 2 + j - i - 1

    def _columns(self) -> dict[str, Any]:
        systems = np.array(self.systems, object)
        names = ("difference", "standard_error", "low", "high", "p")
        return {
            "first": systems[self.first],
            "second": systems[self.second],
            **{name: getattr(self, name) for name in names},
            "p_holm": self.adjusted("holm"),
            "p_benjamini_hochberg": self.adjusted("benjamini-hochberg"),
            "p_better": self.p_better,
        }


def difference(
    scores: AnyScores,
    first: str,
    second: str,
    *,
    method: MethodChoice = "recommended",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = None,
) -> Difference:
    """The difference of two systems by one measure, with the uncertainty that topics and assessors both cause.

    Parameters
    ----------
    method : "banerjee" (one t quantile per variance component), "satterthwaite" (one t quantile), "pigeonhole"
        (percentiles of `n_resamples` two-way bootstrap replicates), "topics" (t over topics of the panel's mean, with
        the assessors taken as fixed), or "recommended": banerjee below 5 assessors, satterthwaite from 5 on.

    With one assessor, or where each topic has assessors of its own, only topics can be resampled: the method is then
    "topics" whatever was asked for, and `reason` says so. With own assessors for each topic nothing is lost, since the
    variance between topics contains theirs. Incomplete tables use the sums of squares of fitting constants.

    Raises
    ------
    ArgumentError
        An unknown system, the same one twice, an option outside its range.
    NoOverlapError
        The two systems share fewer than two topics.

    >>> from qrowd import Scores
    >>> values = [[[0.6, 0.5], [0.7, 0.2], [0.5, 0.4]], [[0.4, 0.3], [0.4, 0.4], [0.9, 0.5]]]
    >>> d = difference(Scores.from_array(values, systems=["dense", "bm25"]), "dense", "bm25")
    >>> round(d.difference, 2), round(d.low, 2), round(d.high, 2), d.method
    (0.2, -0.3, 0.7, 'banerjee')
    """
    return difference_among(Spreads(scores), scores, first, second, method, confidence, n_resamples, rng)


def difference_among(
    spreads: Spreads,
    scores: AnyScores,
    first: str,
    second: str,
    method: MethodChoice = "recommended",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = None,
) -> Difference:
    """`difference`, for several pairs of the same scores. spreads : of the scores."""
    _check_options(method, confidence, n_resamples)
    panel = panel_of(scores, (first, second))
    if first == second:
        raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
    used, reason = _method(panel, method)
    seed = seed_of(rng) if used == "pigeonhole" else None
    spread = spreads.of(first, second, topics=used == "topics")
    pair = np.array([0]), np.array([1])
    pairs = _Pairs.of(panel, *pair, spread, used, confidence, n_resamples, seed, 1)
    v_topic, v_assessor, v_error, of_assessor, factor = nan, nan, nan, nan, nan
    negative: tuple[str, ...] = ()
    mean_squares: tuple[tuple[float, ...], ...] = (), (), ()
    if panel.components_known:
        squares = panel.pair_squares(*pair, topics=False)
        mean_squares = tuple(squares.ms[:, 0].tolist()), tuple(squares.df.tolist()), tuple(squares.per.tolist())
        factor = float(spread.factor(spread.assessors, panel, *pair)[0])
        v_topic, v_assessor, v_error = squares.components()[:, 0].tolist()
        below = squares.ms[:2, 0] < squares.ms[2, 0]
        negative = tuple(name for name, is_below in zip(("v_topic", "v_assessor"), below, strict=True) if is_below)
        of_assessor = float(squares.ms[1, 0] * len(panel.assessors) / panel.n_cells)
    return Difference(
        first=first,
        second=second,
        difference=float(pairs.difference[0]),
        standard_error=float(pairs.standard_error[0]),
        low=float(pairs.low[0]),
        high=float(pairs.high[0]),
        df=float(pairs.df[0]),
        v_topic=v_topic,
        v_assessor=v_assessor,
        v_error=v_error,
        negative=negative,
        p=float(pairs.p[0]),
        p_better=float(pairs.p_better[0]),
        shrinkage_factor=factor,
        n_systems=spread.means.size,
        method=used,
        reason=reason,
        design=panel.design,
        confidence=confidence,
        n_topics=panel.n_topics,
        n_assessors=len(panel.assessors),
        n_left_out=panel.n_left_out,
        n_resamples=pairs.n_resamples,
        seed=seed,
        assessor_variance=of_assessor,
        mean_squares=mean_squares[0],
        mean_squares_df=mean_squares[1],
        mean_squares_per=mean_squares[2],
    )


def all_differences(
    scores: AnyScores,
    *,
    method: MethodChoice = "recommended",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = None,
    threads: int | None = None,
) -> AllDifferences:
    """The differences of all pairs of systems by one measure; options as in `difference`.

    All pairs rest on the cells in which every system has a score; leave out systems without scores before. A replicate
    of the bootstrap is the same sample of topics and assessors for all systems.
    """
    _check_options(method, confidence, n_resamples)
    panel = panel_of(scores)
    if len(panel.systems) < 2:
        raise ArgumentError(f"scores: {len(panel.systems)} system(s); at least 2 are needed to compare")
    used, reason = _method(panel, method)
    first, second = np.triu_indices(len(panel.systems), 1)
    seed = seed_of(rng) if used == "pigeonhole" else None
    pairs = _Pairs.of(
        panel, first, second, Spread.of(panel, topics=used == "topics"), used, confidence, n_resamples, seed, threads
    )
    return AllDifferences(
        systems=panel.systems,
        first=first,
        second=second,
        difference=pairs.difference,
        standard_error=pairs.standard_error,
        low=pairs.low,
        high=pairs.high,
        df=pairs.df,
        p=pairs.p,
        p_better=pairs.p_better,
        method=used,
        reason=reason,
        design=panel.design,
        confidence=confidence,
        n_topics=panel.n_topics,
        n_assessors=len(panel.assessors),
        n_left_out=panel.n_left_out,
        n_resamples=pairs.n_resamples,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    n_resamples: int
    difference: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    df: Floats
    p: Floats
    p_better: Floats

    @classmethod
    def of(
        cls,
        panel: Panel,
        first: Ints,
        second: Ints,
        spread: Spread,
        method: Method,
        confidence: float,
        n_resamples: int,
        seed: Seed | None,
        threads: int | None,
    ) -> _Pairs:
        def factor(i: Ints, j: Ints) -> Floats:
            return spread.factor(spread.both, panel, i, j)

        if method != "pigeonhole":

            def part(i: Ints, j: Ints) -> list[Floats]:
                return _from_squares(panel, i, j, factor(i, j), method, confidence)

            return cls(0, *_in_parts(part, first, second))
        replicates = replicate_means(panel, n_resamples, "both", seed, threads).T

        def of_replicates(i: Ints, j: Ints) -> list[Floats]:
            means = panel.mean[i] - panel.mean[j]
            return _from_replicates(means, replicates[i] - replicates[j], factor(i, j), confidence)

        return cls(replicates.shape[1], *_in_parts(of_replicates, first, second))


def _in_parts(
    part: Callable[[Ints, Ints], list[Floats]],
    first: Ints,
    second: Ints,
) -> list[Floats]:
    cuts = range(0, first.size, PAIRS_AT_ONCE)
    parts = [part(first[at : at + PAIRS_AT_ONCE], second[at : at + PAIRS_AT_ONCE]) for at in cuts]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _from_squares(
    panel: Panel, first: Ints, second: Ints, factor: Floats, method: Method, confidence: float
) -> list[Floats]:
    squares = panel.pair_squares(first, second, topics=method == "topics")
    mean = squares.mean
    variance, df = squares.variance()
    error = np.sqrt(variance)
    half = half_widths(squares, method, confidence)
    varies = error > 0
    p = np.where(varies, two_sided_p(squares, method, np.abs(mean)), np.nan)
    again = np.where(varies, two_sided_p(squares, method, factor * np.abs(mean) / np.sqrt(1 + factor)), 0.0) / 2
    again[~varies & (mean == 0)] = 0.5
    return [mean, error, mean - half, mean + half, df, p, np.where(mean < 0, again, 1 - again)]


def _from_replicates(mean: Floats, replicates: Floats, factor: Floats, confidence: float) -> list[Floats]:
    """The same from (pairs, n) replicates of the differences."""
    n = replicates.shape[1]
    low, high = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2], axis=1)
    below, above = (replicates <= 0).sum(axis=1), (replicates >= 0).sum(axis=1)
    p = np.minimum(2 * (np.minimum(below, above) + 1) / (n + 1), 1.0)
    error = replicates.std(axis=1, ddof=1)
    p[error <= 1e-12 * np.abs(replicates).max(axis=1)] = np.nan
    error[np.isnan(p)] = 0.0
    unknown = np.full(mean.shape, np.nan)
    again = p_same_sign(mean, error**2, error**2, unknown, factor)
    return [mean, error, low, high, unknown, p, np.where(mean < 0, 1 - again, again)]


def _method(panel: Panel, choice: MethodChoice) -> tuple[Method, str]:
    """The method used, and why."""
    design = panel.design
    reasons = {
        "one assessor": "one assessor says nothing about others: topics alone",
        "nested": "each topic has assessors of its own: the variance between topics contains theirs",
        "mostly nested": "too few assessors share topics: topics alone, as if no assessor judged two",
    }
    if choice == "topics":
        return "topics", "asked for: topics alone, with fixed assessors"
    if design in reasons:
        return "topics", reasons[design]
    if choice != "recommended":
        return choice, "asked for"
    a = panel.assessor_df + 1
    text = (
        f"{a} assessors"
        if panel.is_complete or a == len(panel.assessors)
        else f"assessors equivalent to {a} crossed ones"
    )
    text += f": recommended {'below' if a < ENOUGH else 'from'} {ENOUGH}{'' if a < ENOUGH else ' on'}"
    return recommended(a), text + (", though with 2 the coverage is below the nominal level" if a == 2 else "")


def _check_options(method: str, confidence: float, n_resamples: int = 2) -> None:
    """Refuse options outside their range."""
    check_choice("method", method, MethodChoice)
    check_confidence(confidence)
    if n_resamples < 2:
        raise ArgumentError("at least 2 replicates were expected", "n_resamples", n_resamples)
