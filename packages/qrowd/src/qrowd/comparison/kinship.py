"""The scores of systems without the assessors that are related to them, such as models that are part of a system.

A model may favour systems that are made with it. For a topic, the scores x[a, s] of assessors a and systems s that are
not related are split by least squares into x[a, s] = severity[a] + score[s], where the severities of the assessors sum
to 0. score[s] is what the panel would give to s without favour: the scores of the relatives of s do not enter, and that
they are more lenient or severe than the other assessors changes nothing. A system without relatives keeps its mean.

Least squares means of incomplete two-way tables: Searle, Speed, Milliken (1980), Population Marginal Means in the
Linear Model. The American Statistician 34(4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.comparison.system_ranking import first_systems, ranks, settled
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.model.labels import Selection, matching
from qrowd.model.result import Result
from qrowd.model.scores import by_cluster, known_error, known_mean, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True, eq=False)
class Kinship(Result):
    """Systems with and without the scores by their relatives; arrays are (systems,) unless stated otherwise.

    related : (assessors, systems) whether the two are related. n_relatives : assessors related to the system.
    mean : over topics of the mean over all assessors. without_relatives : the same without the system's relatives, with
        the severity of the other assessors taken into account; nan where all assessors are related to the system.
    mean_of_others : plain mean of the assessors that are not related: it is also higher or lower because they are more
        lenient or more severe.
    difference : mean minus without_relatives: above 0, the relatives favour the system. low, high : its interval over
        topics by paired t, not corrected for the number of systems; nan for systems without relatives.
    rank, rank_without : by `mean` and `without_relatives` among the systems that have both; 0 for others.
    n_topics : topics in which the systems can be compared without relatives; all columns are over these.
    """

    assessors: tuple[str, ...]
    systems: tuple[str, ...]
    related: NDArray[np.bool_]
    n_relatives: NDArray[np.int64]
    mean: Floats
    mean_of_others: Floats
    without_relatives: Floats
    difference: Floats
    low: Floats
    high: Floats
    rank: NDArray[np.int64]
    rank_without: NDArray[np.int64]
    n_topics: int
    confidence: float

    _COLUMNS = (
        *("systems", "n_relatives", "mean", "mean_of_others", "without_relatives", "difference", "low", "high"),
        *("rank", "rank_without"),
    )

    @property
    def tau(self) -> float:
        """Kendall's tau-b of the rankings with and without relatives."""
        compared = self.rank > 0
        return kendall_tau_b(self.mean[compared], self.without_relatives[compared])

    @property
    def first(self) -> tuple[str, ...]:
        """The systems with the highest mean."""
        return first_systems(self.systems, self.rank)

    @property
    def first_without(self) -> tuple[str, ...]:
        """The systems with the highest score without relatives."""
        return first_systems(self.systems, self.rank_without)


def kinship(scores: AnyScores, related: Mapping[str, Selection], *, confidence: float = 0.95) -> Kinship:
    """What the scores by related assessors change in the ranking of the systems, by one measure.

    related : {assessors: systems}, names or shell patterns on both sides, as in {"qwen*": ["dual*"]}.

    Raises
    ------
    ArgumentError
        A name or pattern that matches nothing.
    NoOverlapError
        No topic in which assessors that are not related connect the systems.

    >>> from qrowd import Scores
    >>> values = np.array([[[0.5, 0.6], [0.5, 0.4]], [[0.3, 0.4], [0.3, 0.2]], [[0.4, 0.5], [0.4, 0.3]]])
    >>> values[0, :, 0] += 0.3  # the first assessor favours the first system
    >>> scores = Scores.from_array(values, assessors=["qwen", "ann", "bob"], systems=["dual", "bm25"])
    >>> kinship(scores, {"qwen": "dual"}).difference.round(6).tolist()
    [0.1, 0.0]
    """
    check_confidence(confidence)
    values, (assessors, _, systems) = one_measure(scores)
    pairs = related_pairs(assessors, systems, related)
    unrelated = np.where(pairs[:, None, :], np.nan, values)
    others, mean = known_mean(unrelated, axis=0), known_mean(values, axis=0)
    compared = ~np.isnan(others).all(axis=0)
    without = _without_relatives(unrelated)
    usable = (~np.isnan(without) | np.isnan(mean) | ~compared).all(axis=1) & ~np.isnan(without).all(axis=1)
    if not usable.any():
        raise NoOverlapError(
            "related: without the relatives, no topic has assessors by whom all systems can be compared; declare "
            "fewer relatives, or add an assessor who is related to no system"
        )
    mean, others, without = (np.where(compared, by_topic[usable], np.nan) for by_topic in (mean, others, without))
    has_relatives = (pairs & ~np.isnan(values).all(axis=1)).any(axis=0)
    difference = np.where(has_relatives, mean - without, 0.0 * mean)
    half = _half_width(by_cluster(scores, difference, np.flatnonzero(usable)), confidence)
    effect = known_mean(difference, axis=0)
    known = compared & has_relatives
    means = settled(known_mean(mean, axis=0))
    means_without = settled(np.where(has_relatives, known_mean(without, axis=0), means))
    return Kinship(
        assessors,
        systems,
        pairs,
        pairs.sum(axis=0),
        means,
        known_mean(others, axis=0),
        means_without,
        effect,
        np.where(known, effect - half, np.nan),
        np.where(known, effect + half, np.nan),
        ranks(means),
        ranks(means_without),
        int(usable.sum()),
        confidence,
    )


def related_pairs(
    assessors: tuple[str, ...], systems: tuple[str, ...], related: Mapping[str, Selection]
) -> NDArray[np.bool_]:
    """(assessors, systems) whether the two are declared to be related.

    Raises
    ------
    ArgumentError
        A name or pattern that matches nothing; no pattern at all.
    """
    if not related:
        raise ArgumentError("related: no pair was declared; name one, as in {'qwen*': ['dual*']}")
    pairs = np.zeros((len(assessors), len(systems)), bool)
    try:
        for judges, made in related.items():
            pairs |= np.outer(matching(assessors, judges, "assessor"), matching(systems, made, "system"))
    except ArgumentError as error:
        raise ArgumentError(f"related: {error}") from None
    return pairs


def _without_relatives(values: Floats) -> Floats:
    """(topics, systems) scores by least squares, of (assessors, topics, systems) values with nan for relatives.

    nan where a system has no value in a topic, and in a topic whose assessors do not connect its systems.
    """
    known = ~np.isnan(values)
    out = np.full(values.shape[1:], np.nan)
    solvers: dict[bytes, Floats | None] = {}
    for topic in range(values.shape[1]):
        cells = known[:, topic].astype(np.float64)
        n = np.maximum(cells.sum(axis=0), 1)
        pattern = known[:, topic].tobytes()
        if pattern not in solvers:
            solvers[pattern] = _solver(cells, n)
        solver = solvers[pattern]
        if solver is None:
            continue
        of_topic = np.nan_to_num(values[:, topic])
        rest = cells * (of_topic - of_topic.sum(axis=0) / n)
        severity = solver @ rest.sum(axis=1)
        out[topic] = (cells * (of_topic - severity[:, None])).sum(axis=0) / n
    return np.where(known.any(axis=0), out, np.nan)


def _solver(cells: Floats, n: Floats) -> Floats | None:
    """(assessors, assessors) matrix that gives severities with sum 0; None where the assessors are not connected."""
    n_by_assessor = cells.sum(axis=1)
    equations = np.diag(n_by_assessor) - (cells / n) @ cells.T
    if np.linalg.matrix_rank(equations, hermitian=True) < (n_by_assessor > 0).sum() - 1:
        return None
    return np.asarray(np.linalg.pinv(equations, hermitian=True))


def _half_width(differences: Floats, confidence: float) -> Floats:
    """(systems,) half the width of the interval of the mean over topics, by t; nan for fewer than two topics."""
    from scipy.special import stdtrit

    n = (~np.isnan(differences)).sum(axis=0)
    return np.asarray(stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2) * known_error(differences, axis=0))
