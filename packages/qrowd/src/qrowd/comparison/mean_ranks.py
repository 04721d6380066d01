"""Mean ranks of systems over topics, and which systems do not differ significantly.

Friedman (1937), The Use of Ranks to Avoid the Assumption of Normality. JASA 32(200); Nemenyi (1963), Distribution-Free
Multiple Comparisons. PhD thesis, Princeton; Demsar (2006), Statistical Comparisons of Classifiers over Multiple Data
Sets. JMLR 7, 1-30, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.comparison.rank_intervals import rank_intervals
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng
from qrowd.model.result import Result
from qrowd.model.scores import clusters_in, known_mean, one_measure, rankable

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

PairTest = Literal["nemenyi", "max-t"]


@dataclass(frozen=True, eq=False)
class MeanRanks(Result):
    """Mean ranks of systems over topics, and the groups of systems that do not differ significantly.

    systems : best mean rank first. mean_rank : (systems,) over topics, 1 being the best; systems tied on a topic share
        the mean of their ranks.
    p : (systems, systems) of the difference of two systems, adjusted for all pairs; 1 on the diagonal.
    groups : the longest runs of neighbouring systems of which no two differ significantly, best first.
    critical_difference : of two mean ranks, by Nemenyi's test; nan for "max-t".
    friedman, friedman_p : Friedman's chi-square, corrected for ties, that all systems are alike, and its p-value; nan
        for two systems, and for topics in clusters.
    n_topics : those with a score of every system. test : of the pairs, "nemenyi" or "max-t".
    """

    systems: tuple[str, ...]
    mean_rank: Floats
    p: Floats
    groups: tuple[tuple[str, ...], ...]
    critical_difference: float
    friedman: float
    friedman_p: float
    n_topics: int
    test: PairTest
    confidence: float

    def _tables(self) -> dict[str, Any]:
        return {"systems": self._systems, "pairs": self._pairs}

    def _systems(self) -> dict[str, Any]:
        members = [
            tuple(str(number) for number, group in enumerate(self.groups, start=1) if name in group)
            for name in self.systems
        ]
        return {"system": self.systems, "mean_rank": self.mean_rank, "groups": [" ".join(one) for one in members]}

    def _pairs(self) -> dict[str, Any]:
        i, j = np.triu_indices(len(self.systems), 1)
        names, p = np.array(self.systems, object), self.p[i, j]
        difference = self.mean_rank[j] - self.mean_rank[i]
        return {
            "first": names[i],
            "second": names[j],
            "difference": difference,
            "p": p,
            "different": p < 1 - self.confidence,
        }


def mean_ranks(
    scores: AnyScores,
    *,
    test: PairTest = "nemenyi",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 1,
) -> MeanRanks:
    """Rank the systems on each topic by the panel's mean score, and compare their mean ranks.

    test : "nemenyi" compares mean ranks over topics, as critical-difference diagrams usually do; it takes the assessors
        as fixed. "max-t" compares mean scores over topics and assessors, as `rank_intervals` does. Both hold for all
        pairs together.
    n_resamples, rng : of "max-t".

    Raises
    ------
    ArgumentError
        Scores of several measures; an option outside its range.
    NoOverlapError
        Fewer than two systems, or fewer than two topics with a score of every system.

    >>> from qrowd import Scores
    >>> values = [[0.9, 0.5, 0.4], [0.7, 0.2, 0.2], [0.4, 0.3, 0.1]]
    >>> scores = Scores.from_array(values, systems=["dense", "bm25", "rm3"])
    >>> ranked = mean_ranks(scores)
    >>> ranked.systems, ranked.mean_rank.round(2).tolist(), round(ranked.critical_difference, 2)
    (('dense', 'bm25', 'rm3'), [1.0, 2.17, 2.83], 1.91)
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    check_choice("test", test, PairTest)
    check_confidence(confidence)
    clustered = clusters_in(scores) is not None
    if clustered and test == "nemenyi":
        raise ArgumentError("it takes topics as independent, and these are in clusters; choose max-t", "test", test)
    values, (_, _, systems) = one_measure(scores)
    by_topic = known_mean(values, axis=0)
    scored = ~np.isnan(by_topic)
    columns = scored.any(axis=0)
    rows = scored[:, columns].all(axis=1)
    n, k = int(rows.sum()), int(columns.sum())
    if n < 2 or k < 2:
        raise NoOverlapError(f"scores: {k} systems with scores share {n} topics; mean ranks need 2 of each")
    table = rankable(by_topic[rows][:, columns])
    mean = rankdata(-table, axis=1).mean(axis=0)
    names = [systems[s] for s in np.flatnonzero(columns)]
    order = np.lexsort((np.array(names, object), rankable(mean)))
    names, mean = [names[s] for s in order], mean[order]
    unit = sqrt(k * (k + 1) / (6 * n))
    critical = np.nan
    if test == "nemenyi":
        critical = float(studentized_range.ppf(confidence, k, np.inf)) / sqrt(2) * unit
        p = _nemenyi_p(mean, unit)
    else:
        intervals = rank_intervals(scores, confidence=confidence, n_resamples=n_resamples, rng=rng)
        places = [intervals.systems.index(name) for name in names]
        p = intervals.p[np.ix_(places, places)]
    groups = tuple(tuple(names[a:b]) for a, b in longest_runs(p >= 1 - confidence))
    testable = k > 2 and not clustered and (table != table[:, :1]).any()
    statistic, friedman_p = map(float, friedmanchisquare(*table.T)) if testable else (np.nan, np.nan)
    return MeanRanks(tuple(names), mean, p, groups, critical, statistic, friedman_p, n, test, confidence)


def _nemenyi_p(mean: Floats, unit: float) -> Floats:
    """(systems, systems) p-values of the differences of mean ranks, by the studentized range."""
    from scipy.stats import studentized_range

    k = mean.size
    i, j = np.triu_indices(k, 1)
    p = np.ones((k, k))
    range_of_means: NDArray[np.float64] = np.abs(mean[i] - mean[j]) / unit * sqrt(2)
    p[i, j] = p[j, i] = np.clip(studentized_range.sf(range_of_means, k, np.inf), 0.0, 1.0)
    return p


def longest_runs(alike: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The longest runs a:b of levels in order of which all are alike, without those inside another."""
    runs: list[tuple[int, int]] = []
    end = 0
    for start in range(alike.shape[0]):
        # Runs that start later end no earlier, so the end only moves on.
        end = max(end, start + 1)
        while end < alike.shape[0] and alike[start : end + 1, start : end + 1].all():
            end += 1
        if not runs or end > runs[-1][1]:
            runs.append((start, end))
    return runs
