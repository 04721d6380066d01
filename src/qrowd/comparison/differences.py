"""How sure is a difference of two systems, if other topics and other assessors might have been at hand?

D[t, a] = mu + topic + assessor + error, topics and assessors both drawn at random. The mean of T topics and A assessors
has the variance v_t / T + v_a / A + v_e / (T A), estimated by
(max(MS_t - MS_e, 0) + max(MS_a - MS_e, 0) + MS_e) / (T A).

Brennan (2001), Generalizability Theory; Owen (2007), The Pigeonhole Bootstrap. Ann. Appl. Stat. 1(2). The intervals:
`interval_widths`; which of them covers how often: `qrowd_papers.coverage`. Whether others would agree: `shrinkage`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.corrections import benjamini_hochberg, holm
from qrowd.comparison.interval_widths import ENOUGH, Method, half_widths, recommended, two_sided_p
from qrowd.comparison.resampling import Design, Panel, panel_of, replicate_means
from qrowd.comparison.shrinkage import lasting_share, same_again
from qrowd.errors import ArgumentError
from qrowd.kernels.two_way import TwoWay
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.labels import number_of
from qrowd.model.scores import Floats, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Wanted = Literal["recommended", "banerjee", "satterthwaite", "pigeonhole", "topics"]
ManyCorrections = Literal["holm", "benjamini-hochberg", "none"]
PAIRS_AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class Difference:
    """First system minus second, in the units of the measure.

    difference : mean over topics of the means over assessors. standard_error : of it. low, high : the interval.
    df : degrees of freedom of the error; nan for the bootstrap, and where nothing varies.
    v_topic, v_assessor, v_error : components of the variance of D[topic, assessor]; negative ones are 0, and named in
        `negative`; nan where the design does not tell them apart.
    p : two-sided, that there is no difference; nan where nothing varies.
    p_better : the chance that the first is ahead again if both topics and assessors are new and as many as now (topics
        alone are new under method "topics"), calibrated as `another_panel`.
    lasting_share : share of the difference that is expected to last with other assessors on these topics, by the spread
        of all `n_systems` systems that have a score wherever the two have one (see `shrinkage`).
    method, reason : what was used and why. design : how assessors meet topics.
    n_left_out : cells in which only one of the two has a score. n_resamples, seed : of the bootstrap; 0 and None without.
    """

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
    lasting_share: float
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

    def another_panel(self, n_assessors: int | None = None) -> float:
        """The chance that n other assessors, on the same topics, see the same system ahead; as many as now by default.

        P(t < k |difference| / sqrt(s^2 (k / A + 1 / n))), A - 1 degrees of freedom in a full table, s^2 being the
        variance between the assessors' own differences and k the `lasting_share`: a leader and a runner-up were chosen
        from the same scores, so that part of the lead is luck. nan where the design does not tell assessors apart; .5
        where there is no difference.

        Raises
        ------
        ArgumentError
            Fewer than one assessor.
        """
        n = self.n_assessors if n_assessors is None else n_assessors
        if n < 1:
            raise ArgumentError(f"n_assessors={n}: at least 1 was expected")
        if isnan(self.assessor_variance):
            return nan
        now, then = (np.array([self.assessor_variance / count]) for count in (self.n_assessors, n))
        found = same_again(
            np.array([self.difference]), now, then, np.array([self.mean_squares_df[1]]), np.array([self.lasting_share])
        )
        return float(found[0])

    def variance(self, n_topics: int, n_assessors: int) -> float:
        """Of the difference's mean over so many topics and assessors: v_t / T + v_a / A + v_e / (T A).

        nan where the design does not tell the components apart.
        """
        own = self.v_topic / n_topics + self.v_assessor / n_assessors
        return float(own + self.v_error / (n_topics * n_assessors))

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval says that the systems differ."""
        return self.low > 0 or self.high < 0

    def sentence(self, n_assessors: int | None = None, digits: int = 3) -> str:
        """What a reader needs: who is ahead by how much, how surely, and whether another panel would agree.

        "beats" where the interval excludes 0, else "is ahead of"; "is level with" where there is no difference.
        """
        winner, loser, sign = (self.first, self.second, 1) if self.difference >= 0 else (self.second, self.first, -1)
        bounds = sorted((sign * self.low, sign * self.high))
        low, high, by = (f"{value:.{digits}f}" for value in (*bounds, abs(self.difference)))
        verb = "beats" if self.excludes_zero else "is ahead of" if self.difference else "is level with"
        text = f"{winner} {verb} {loser} by {by} [{low}, {high}]"
        agree, n = self.another_panel(n_assessors), n_assessors or self.n_assessors
        whose = f"another panel of {n} assessors" if n > 1 else "another assessor"
        return text if isnan(agree) else f"{text}; {whose} would agree with probability {agree:.2f}"


@dataclass(frozen=True, eq=False)
class AllDifferences:
    """Every pair of systems; arrays are (pairs,), and mean what they mean in `Difference`.

    first, second : numbers of the systems. Intervals and p are each pair's own; `adjusted` holds p together.
    n_left_out : cells that lack some system's score; pairs all rest on the same cells.
    """

    systems: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
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
        """(pairs,) p for testing them all: the chance of any false one (Holm), or the share of false ones.

        Holm (1979), Scand. J. Statist. 6(2); Benjamini, Hochberg (1995), Controlling the False Discovery Rate. JRSS B
        57(1).
        """
        if correction not in get_args(ManyCorrections):
            raise ArgumentError(f"correction={correction!r}: choose from {', '.join(get_args(ManyCorrections))}")
        by_name = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}
        return by_name[correction](self.p) if correction in by_name else self.p.copy()

    def row(self, first: str | int, second: str | int) -> int:
        """Where the pair stands; the systems in the order of the panel."""
        i, j = (number_of(name, self.systems, "system") for name in (first, second))
        if i >= j:
            raise ArgumentError(
                f"systems {self.systems[i]!r} and {self.systems[j]!r}: name two, as the panel orders them"
            )
        return i * len(self.systems) - i * (i + 1) // 2 + j - i - 1

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per pair, p as it is and adjusted."""
        names = np.array(self.systems, object)
        return make_frame(
            {
                "first": names[self.first],
                "second": names[self.second],
                "difference": self.difference,
                "standard_error": self.standard_error,
                "low": self.low,
                "high": self.high,
                "p": self.p,
                "p_holm": self.adjusted("holm"),
                "p_benjamini_hochberg": self.adjusted("benjamini-hochberg"),
                "p_better": self.p_better,
            },
            backend,
        )


def difference(
    scores: AnyScores,
    first: str | int,
    second: str | int,
    *,
    method: Wanted = "recommended",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = None,
) -> Difference:
    """Two systems of one measure, with the uncertainty that topics and assessors both cause.

    scores : (assessor, topic, system). first, second : names or numbers of systems.
    method : "banerjee" (t quantiles component by component), "satterthwaite" (one t), "pigeonhole" (percentiles of n_resamples
        two-way bootstrap replicates), "topics" (t over topics of the panel's mean: the assessors as if there were no
        others), or "recommended": banerjee below 5 assessors, satterthwaite from 5 on.

    With one assessor, or where each topic has assessors of its own, topics are all there is to go by: the method then
    is "topics" whatever was asked for, and `reason` says so. Own assessors for each topic lose nothing by it: the
    variance between topics holds theirs. Tables with holes go by sums of squares from fitting constants.

    Raises
    ------
    ArgumentError
        A system nobody has, the same one twice, an option outside its range.
    NoOverlapError
        The two systems share fewer than two topics.

    >>> d = difference(np.array([[[0.6, 0.5], [0.7, 0.2], [0.5, 0.4]], [[0.4, 0.3], [0.4, 0.4], [0.9, 0.5]]]), 0, 1)
    >>> round(d.difference, 2), round(d.low, 2), round(d.high, 2), d.method
    (0.2, -0.3, 0.7, 'banerjee')
    """
    _check(method, confidence, n_resamples)
    panel = panel_of(scores, (first, second))
    if panel.systems[0] == panel.systems[1]:
        raise ArgumentError(f"systems {panel.systems[0]!r} and {panel.systems[1]!r} are the same; name two")
    used, reason = _method(panel, method)
    seed = seed_of(rng) if used == "pigeonhole" else None
    spread = _Spread.of(_field(scores, first, second), used)
    pair = np.array([0]), np.array([1])
    found = _Pairs.of(panel, *pair, spread, used, confidence, n_resamples, seed, 1)
    v_topic, v_assessor, v_error, of_assessor, share = nan, nan, nan, nan, nan
    negative: tuple[str, ...] = ()
    mean_squares: tuple[tuple[float, ...], ...] = (), (), ()
    if panel.components_known:
        squares = _squares(panel, _differences(panel, *pair))
        mean_squares = tuple(squares.ms[:, 0].tolist()), tuple(squares.df.tolist()), tuple(squares.per.tolist())
        share = float(spread.share(spread.assessors, panel, *pair)[0])
        v_topic, v_assessor, v_error = squares.components()[:, 0].tolist()
        negative = tuple(
            name
            for name, own in zip(("v_topic", "v_assessor"), squares.ms[:2, 0], strict=True)
            if own < squares.ms[2, 0]
        )
        of_assessor = float(squares.ms[1, 0] * len(panel.assessors) / panel.known.sum())
    return Difference(
        first=panel.systems[0],
        second=panel.systems[1],
        difference=float(found.difference[0]),
        standard_error=float(found.error[0]),
        low=float(found.low[0]),
        high=float(found.high[0]),
        df=float(found.df[0]),
        v_topic=v_topic,
        v_assessor=v_assessor,
        v_error=v_error,
        negative=negative,
        p=float(found.p[0]),
        p_better=float(found.p_better[0]),
        lasting_share=share,
        n_systems=spread.means.size,
        method=used,
        reason=reason,
        design=panel.design,
        confidence=confidence,
        n_topics=len(panel.topics),
        n_assessors=len(panel.assessors),
        n_left_out=panel.n_left_out,
        n_resamples=n_resamples if used == "pigeonhole" else 0,
        seed=seed,
        assessor_variance=of_assessor,
        mean_squares=mean_squares[0],
        mean_squares_df=mean_squares[1],
        mean_squares_per=mean_squares[2],
    )


def all_differences(
    scores: AnyScores,
    *,
    method: Wanted = "recommended",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = None,
    threads: int | None = None,
) -> AllDifferences:
    """Every pair of systems of one measure; options as in `difference`.

    All pairs rest on the cells in which every system has a score; systems without any are to be left out before. A
    replicate of the bootstrap is the same draw of topics and assessors for all systems.
    """
    _check(method, confidence, n_resamples)
    panel = panel_of(scores)
    if len(panel.systems) < 2:
        raise ArgumentError(f"scores: {len(panel.systems)} system(s); at least 2 are needed to compare")
    used, reason = _method(panel, method)
    first, second = np.triu_indices(len(panel.systems), 1)
    seed = seed_of(rng) if used == "pigeonhole" else None
    found = _Pairs.of(panel, first, second, _Spread.of(panel, used), used, confidence, n_resamples, seed, threads)
    return AllDifferences(
        panel.systems, first, second, found.difference, found.error, found.low, found.high, found.df, found.p,
        found.p_better, used, reason, panel.design, confidence, len(panel.topics), len(panel.assessors),
        panel.n_left_out, n_resamples if used == "pigeonhole" else 0, seed,
    )  # fmt: skip


def _field(scores: AnyScores, first: str | int, second: str | int) -> Panel:
    """The two systems and all others that have a score wherever both of them have one."""
    values, (_, _, names) = one_measure(scores)
    pair = [number_of(name, names, "system") for name in (first, second)]
    known = ~np.isnan(values)
    complete = known[known[:, :, pair].all(axis=2)].all(axis=0)
    return panel_of(scores, tuple(np.flatnonzero(complete).tolist()))


@dataclass(frozen=True, eq=False)
class _Spread:
    """How far apart systems lie, and how much of it is error: what shrinks a difference.

    means : (systems,). both, assessors : error variance of a system's mean around where it stands among the others,
    from what the method takes for drawn, and from assessors alone (nan without components).
    """

    means: Floats
    both: float
    assessors: float

    @classmethod
    def of(cls, panel: Panel, method: Method) -> _Spread:
        n_systems = len(panel.systems)
        centred = np.where(panel.known[:, :, None], panel.values - panel.values.mean(axis=2, keepdims=True), 0.0)
        squares = _squares(panel, centred, topics=method == "topics")
        ms = squares.ms.sum(axis=1, keepdims=True) / (n_systems - 1)
        both, _ = TwoWay(squares.mean[:1], ms, squares.df, squares.weights, squares.per).variance()
        assessors = nan
        if panel.components_known:
            assessors = float(_squares(panel, centred).ms[1].sum() / (n_systems - 1) / panel.known.sum())
        return cls(panel.by_topic(panel.values).mean(axis=0), float(both[0]), assessors)

    def share(self, error: float, panel: Panel, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """(pairs,) of the panel's systems: the share of their difference that is expected to last."""
        means = panel.by_topic(panel.values).mean(axis=0)
        return lasting_share(self.means, error, (means[first] + means[second]) / 2)


@dataclass(frozen=True, eq=False)
class _Pairs:
    difference: Floats
    error: Floats
    low: Floats
    high: Floats
    df: Floats
    p: Floats
    p_better: Floats

    @classmethod
    def of(
        cls,
        panel: Panel,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        spread: _Spread,
        method: Method,
        confidence: float,
        n: int,
        seed: Seed | None,
        threads: int | None,
    ) -> _Pairs:
        def lasting(i: NDArray[np.int64], j: NDArray[np.int64]) -> Floats:
            return spread.share(spread.both, panel, i, j)

        if method == "pigeonhole":
            replicates = replicate_means(panel, n, "both", seed, threads).T
            means = panel.by_topic(panel.values).mean(axis=0)

            def part(i: NDArray[np.int64], j: NDArray[np.int64]) -> list[Floats]:
                return _from_replicates(means[i] - means[j], replicates[i] - replicates[j], lasting(i, j), confidence)
        else:

            def part(i: NDArray[np.int64], j: NDArray[np.int64]) -> list[Floats]:
                return _from_squares(panel, i, j, lasting(i, j), method, confidence)

        return cls(*_in_parts(part, first, second))


def _in_parts(
    part: Callable[[NDArray[np.int64], NDArray[np.int64]], list[Floats]],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> list[Floats]:
    cuts = range(0, first.size, PAIRS_AT_ONCE)
    parts = [part(first[at : at + PAIRS_AT_ONCE], second[at : at + PAIRS_AT_ONCE]) for at in cuts]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _from_squares(
    panel: Panel, first: NDArray[np.int64], second: NDArray[np.int64], share: Floats, method: Method, confidence: float
) -> list[Floats]:
    squares = _squares(panel, _differences(panel, first, second), topics=method == "topics")
    mean = squares.mean
    variance, df = squares.variance()
    error = np.sqrt(variance)
    half = half_widths(squares, method, confidence)
    varies = error > 0
    p = np.where(varies, two_sided_p(squares, method, np.abs(mean)), np.nan)
    again = np.where(varies, two_sided_p(squares, method, share * np.abs(mean) / np.sqrt(1 + share)), 0.0) / 2
    again[~varies & (mean == 0)] = 0.5
    return [mean, error, mean - half, mean + half, df, p, np.where(mean < 0, again, 1 - again)]


def _differences(panel: Panel, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    return np.asarray(panel.values[:, :, first] - panel.values[:, :, second])


def _squares(panel: Panel, values: Floats, *, topics: bool = False) -> TwoWay:
    """Mean squares of differences, those that are but rounding being 0; of topics alone, their means' only."""
    if topics:
        by_topic = panel.by_topic(values)
        n_topics = by_topic.shape[0]
        ms = np.zeros((3, by_topic.shape[1]))
        ms[0] = by_topic.var(axis=0, ddof=1)
        found = TwoWay(
            by_topic.mean(axis=0), ms, np.array([n_topics - 1.0, 1.0, 1.0]), np.full(3, 1 / n_topics), np.ones(2)
        )
    else:
        found = panel.squares(values)
    scale = 1e-12 * float(np.abs(panel.values).max(initial=0.0))
    mean = np.where(np.abs(found.mean) <= scale, 0.0, found.mean)
    return TwoWay(mean, np.where(found.ms <= scale**2, 0.0, found.ms), found.df, found.weights, found.per)


def _from_replicates(mean: Floats, replicates: Floats, share: Floats, confidence: float) -> list[Floats]:
    """The same from (pairs, n) replicates of the differences."""
    n = replicates.shape[1]
    low, high = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2], axis=1)
    below, above = (replicates <= 0).sum(axis=1), (replicates >= 0).sum(axis=1)
    p = np.minimum(2 * (np.minimum(below, above) + 1) / (n + 1), 1.0)
    error = replicates.std(axis=1, ddof=1)
    p[error <= 1e-12 * np.abs(replicates).max(axis=1)] = np.nan
    error[np.isnan(p)] = 0.0
    unknown = np.full(mean.shape, np.nan)
    again = same_again(mean, error**2, error**2, unknown, share)
    return [mean, error, low, high, unknown, p, np.where(mean < 0, 1 - again, again)]


def _method(panel: Panel, wanted: Wanted) -> tuple[Method, str]:
    """What is used, and why."""
    design = panel.design
    because = {
        "one assessor": "one assessor says nothing of others: topics alone",
        "nested": "each topic has assessors of its own: the variance over topics holds theirs",
        "mostly nested": "too few assessors share topics: topics alone, as if no assessor judged two",
    }
    if wanted == "topics":
        return "topics", "asked for: topics alone, the assessors as they are"
    if design in because:
        return "topics", because[design]
    if wanted != "recommended":
        return wanted, "asked for"
    a = panel.assessor_df + 1
    text = (
        f"{a} assessors" if panel.known.all() or a == len(panel.assessors) else f"assessors as good as {a} crossed ones"
    )
    text += f": recommended {'below' if a < ENOUGH else 'from'} {ENOUGH}{'' if a < ENOUGH else ' on'}"
    return recommended(a), text + (", though 2 cover less than they claim" if a == 2 else "")


def _check(method: str, confidence: float, n_resamples: int) -> None:
    if method not in get_args(Wanted):
        raise ArgumentError(f"method={method!r}: choose from {', '.join(get_args(Wanted))}")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a level between 0 and 1 was expected")
    if n_resamples < 2:
        raise ArgumentError(f"n_resamples={n_resamples}: at least 2 replicates were expected")
