"""The mean and the rank of each system, for the panel, for each assessor or method, and compared with a baseline.

Means can have intervals that are made to compare systems by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import UNBOUNDED, Bounds, Method, check_confidence, cut, half_widths, recommended
from qrowd.comparison.mean_squares import panel_of
from qrowd.comparison.p_values import holm
from qrowd.errors import check_choice
from qrowd.kernels.arrays import Floats
from qrowd.kernels.two_way import fitted
from qrowd.model.labels import first_of, number_of, plural
from qrowd.model.result import Result
from qrowd.model.scores import by_cluster, known_error, known_mean, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Correction = Literal["holm", "none"]


@dataclass(frozen=True, eq=False)
class SystemRanking(Result):
    """Means and ranks of systems; each array is (systems,) unless stated otherwise.

    mean : mean over topics of the panel's mean per topic.
    standard_error : of that mean, over topics (or clusters of them); nan for a single one.
    by_assessor : (assessors, systems) mean over the assessor's topics; nan for an assessor without scores.
    rank : 1 is best; systems with equal means, apart from rounding, share the better rank.
    rank_by_assessor : (assessors, systems) 0 for an assessor without a ranking: one without scores, or one for whom all
        of several systems are equal (such as an assessor who found nothing relevant).
    n_topics : number of topics with a score.
    """

    assessors: tuple[str, ...]
    systems: tuple[str, ...]
    mean: Floats
    standard_error: Floats
    by_assessor: Floats
    rank: NDArray[np.int64]
    rank_by_assessor: NDArray[np.int64]
    n_topics: NDArray[np.int64]

    @property
    def has_ranking(self) -> NDArray[np.bool_]:
        """(assessors,) whether the assessor ranks the systems."""
        return np.asarray(self.rank_by_assessor.any(axis=1))

    def leads(self) -> NDArray[np.int64]:
        """(systems,) number of assessors for whom the system is first, alone or tied."""
        return np.asarray((self.rank_by_assessor == 1).sum(axis=0))

    def n_above(self, first: str, second: str) -> int:
        """Number of assessors for whom the first system has a higher mean than the second."""
        i, j = (number_of(name, self.systems, "system") for name in (first, second))
        return int((self.by_assessor[:, i] > self.by_assessor[:, j]).sum())

    def _sentence(self) -> str:
        counts = f"{plural(len(self.systems), 'system')}, {plural(len(self.assessors), 'assessor')}"
        return f"{counts}; rank 1: {first_of(first_systems(self.systems, self.rank), 5)}."

    def _columns(self) -> dict[str, Any]:
        names = ("mean", "standard_error", "rank", "n_topics")
        return {"system": self.systems, **{name: getattr(self, name) for name in names}, "first_for": self.leads()}


@dataclass(frozen=True, eq=False)
class BaselineComparison(Result):
    """Differences of all systems from a baseline; each array is (systems,).

    difference : mean over topics of system minus baseline.
    wins, ties, losses : number of topics in which the panel's mean score is higher, equal, lower than the baseline's.
    p : two-sided paired t-test over topics, corrected for the number of systems; nan for the baseline itself, and where
        all differences are equal, since nothing varies.
    """

    summary = "Differences of all systems from a baseline"

    systems: tuple[str, ...]
    baseline: str
    difference: Floats
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    losses: NDArray[np.int64]
    p: Floats
    correction: Correction

    _COLUMNS = ("systems", "difference", "wins", "ties", "losses", "p")


@dataclass(frozen=True, eq=False)
class RankChanges(Result):
    """Ranks of some systems by several methods of putting a panel together.

    mean, rank : (methods, systems) rank among these systems, 1 is best; equal means share the better rank; 0 without a
        score. rank_of_all : (methods, systems) rank among all systems.
    """

    summary = "Ranks of some systems by several methods of putting a panel together"

    methods: tuple[str, ...]
    systems: tuple[str, ...]
    mean: Floats
    rank: NDArray[np.int64]
    rank_of_all: NDArray[np.int64]

    def _columns(self) -> dict[str, Any]:
        n_methods, n_systems = self.rank.shape
        return {
            "system": np.tile(np.array(self.systems, object), n_methods),
            "method": np.repeat(np.array(self.methods, object), n_systems),
            **{name: getattr(self, name).ravel() for name in ("mean", "rank", "rank_of_all")},
        }


def rank_systems(scores: AnyScores) -> SystemRanking:
    """Rank the systems by one measure, for the panel and for each assessor.

    >>> from qrowd import Scores
    >>> ranking = rank_systems(Scores.from_array([[[0.9, 0.5], [0.7, 0.2]], [[0.1, 0.3], [0.4, 0.6]]]))
    >>> ranking.rank.tolist(), ranking.rank_by_assessor.tolist()
    ([1, 2], [[1, 2], [2, 1]])
    """
    values, (assessors, _, systems) = one_measure(scores)
    by_topic = known_mean(fitted(values), axis=0)
    mean = settled(known_mean(by_topic, axis=0))
    means = np.concatenate([known_mean(fitted(own[None]), axis=1) for own in values])
    by_assessor = np.array([settled(row) for row in means]).reshape(means.shape)
    rank_by_assessor = ranks(by_assessor)
    if mean.size > 1:
        rank_by_assessor[(rank_by_assessor <= 1).all(axis=1)] = 0
    return SystemRanking(
        assessors,
        systems,
        mean,
        known_error(by_cluster(scores, by_topic), axis=0),
        by_assessor,
        ranks(mean),
        rank_by_assessor,
        n_topics=(~np.isnan(values)).any(axis=0).sum(axis=0),
    )


def against_baseline(scores: AnyScores, baseline: str, *, correction: Correction = "holm") -> BaselineComparison:
    """Compare each system with a baseline, topic by topic, by one measure.

    The test treats topics as the sample and the panel as fixed: it says nothing about other assessors.

    t = mean(d) / (s(d) / sqrt(n)) over the panel's mean differences d of n topics, with n - 1 degrees of freedom.
    Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure. Scand. J. Statist. 6(2).

    >>> from qrowd import Scores
    >>> scores = Scores.from_array([[0.9, 0.5], [0.7, 0.2], [0.4, 0.4]], systems=["dense", "bm25"])
    >>> found = against_baseline(scores, "bm25")
    >>> round(float(found.difference[0]), 2), found.wins.tolist(), found.ties.tolist()
    (0.3, [2, 0], [1, 3])
    """
    from scipy.special import stdtr

    check_choice("correction", correction, Correction)
    values, (_, _, systems) = one_measure(scores)
    reference = number_of(baseline, systems, "system")
    by_topic = known_mean(values, axis=0)
    differences = by_topic - by_topic[:, [reference]]
    known = ~np.isnan(differences)
    n = known.sum(axis=0)
    mean = known_mean(differences, axis=0)
    sampled = by_cluster(scores, differences)
    error, df = known_error(sampled, axis=0), (~np.isnan(sampled)).sum(axis=0) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        # Differences that are equal apart from rounding do not vary: no test.
        testable = (df > 0) & (error > 1e-12 * np.abs(mean)) & (error > 0)
        p = np.where(testable, 2 * stdtr(df, -np.abs(mean / error)), np.nan)
    p[reference] = np.nan
    wins, losses = (np.where(known, sign * differences > 0, False).sum(axis=0) for sign in (1, -1))
    p = holm(p) if correction == "holm" else p
    return BaselineComparison(systems, systems[reference], mean, wins, n - wins - losses, losses, p, correction)


def rank_changes(scores: AnyScores, *, top: int = 15) -> RankChanges:
    """Ranks by each method of the systems that are best by the first one.

    scores : of one measure, with methods as assessors, as `qrowd.evaluate_methods` returns them. top : number of
        systems.
    """
    ranking = rank_systems(scores)
    first = ranking.by_assessor[0] if not np.isnan(ranking.by_assessor[0]).all() else ranking.mean
    best = np.argsort(-first, kind="stable")[:top]
    mean = ranking.by_assessor[:, best]
    return RankChanges(
        ranking.assessors,
        tuple(ranking.systems[s] for s in best),
        mean,
        ranks(mean),
        ranks(ranking.by_assessor)[:, best],
    )


def ranks(means: Floats) -> NDArray[np.int64]:
    """(..., systems) 1 + the number of systems with a higher mean; 0 for nan."""
    higher = (means[..., None, :] > means[..., :, None]).sum(axis=-1)
    return np.asarray(np.where(np.isnan(means), 0, higher + 1))


def first_systems(systems: tuple[str, ...], rank: NDArray[np.int64]) -> tuple[str, ...]:
    """The first system, or those that share rank 1; none without a ranking."""
    return tuple(systems[s] for s in np.flatnonzero(rank == 1))


def settled(means: Floats) -> Floats:
    """(systems,) the means; those equal apart from rounding (1e-12 of the largest) are made equal; nan stays nan."""
    order = np.argsort(means, kind="stable")
    ascending = means[order]
    new = np.diff(ascending, prepend=-np.inf) > 1e-12 * np.nanmax(np.abs(means), initial=0.0)
    new |= np.isnan(ascending)
    out = np.empty_like(means)
    out[order] = ascending[np.maximum.accumulate(np.where(new, np.arange(means.size), 0))]
    return out


@dataclass(frozen=True, eq=False)
class SystemIntervals(Result):
    """Means of systems, best first, with two intervals each; arrays are (systems,) unless stated otherwise.

    low_topics, high_topics : interval for other topics and the same assessors.
    low, high : interval for other topics and other assessors; nan where assessors and topics cannot be separated.
    by_assessor : (assessors, systems) means over topics; nan without a score.
    """

    summary = "Means of systems, best first, with two intervals each"

    systems: tuple[str, ...]
    assessors: tuple[str, ...]
    mean: Floats
    low_topics: Floats
    high_topics: Floats
    low: Floats
    high: Floats
    by_assessor: Floats
    method: Method
    confidence: float

    _COLUMNS = ("systems", "mean", "low_topics", "high_topics", "low", "high")


def system_intervals(scores: AnyScores, *, confidence: float = 0.95, bounds: Bounds = UNBOUNDED) -> SystemIntervals:
    """Means over topics of the means over assessors, by one measure, with intervals to compare systems by.

    The effect of a topic or an assessor on all systems alike is not part of the intervals: they are those of a system's
    difference from the mean of all systems, by t over topics, and by the method of
    `half_widths` that is recommended for the number of assessors.

    bounds : of the measure; intervals are cut there.

    Raises
    ------
    NoOverlapError
        The systems share fewer than two topics.
    """
    check_confidence(confidence)
    from scipy.special import stdtrit

    panel = panel_of(scores)
    mean = panel.by_topic(panel.values).mean(axis=0)
    centred = np.where(panel.known[:, :, None], panel.values - panel.values.mean(axis=2, keepdims=True), 0.0)
    by_topic = panel.by_topic(centred)
    n = len(by_topic)
    topics = stdtrit(n - 1, (1 + confidence) / 2) * by_topic.std(axis=0, ddof=1) / np.sqrt(n)
    method: Method = "topics"
    both = np.full(mean.size, np.nan)
    if panel.components_known:
        method = recommended(len(panel.assessors))
        both = half_widths(panel.squares(centred), method, confidence)
    ranking = rank_systems(scores)
    by_assessor = ranking.by_assessor[[ranking.assessors.index(name) for name in panel.assessors]]
    order = np.argsort(-mean, kind="stable")
    mean, topics, both = mean[order], topics[order], both[order]
    return SystemIntervals(
        tuple(panel.systems[s] for s in order),
        panel.assessors,
        mean,
        *cut(mean - topics, mean + topics, bounds),
        *cut(mean - both, mean + both, bounds),
        by_assessor[:, order],
        method,
        confidence,
    )
