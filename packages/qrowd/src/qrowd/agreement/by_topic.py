"""Agreement by topic and the ease of topics: are topics on which assessors agree easier for systems?

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, sections 3.3,
and 4.2 (Figure 2, Table 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qrowd.agreement.alpha import Alphas
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.correlation import pearson
from qrowd.model.result import Result
from qrowd.model.scores import known_mean, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


class PearsonTest(NamedTuple):
    """r; p, two-sided, against no correlation; n pairs that are nan on neither side."""

    r: float
    p: float
    n: int


def pearson_test(x: Floats, y: Floats) -> PearsonTest:
    """Correlation of the pairs that are nan on neither side; nan for fewer than 3, or where one side does not vary.

    t = r sqrt((n - 2) / (1 - r^2)) with n - 2 degrees of freedom.

    >>> pearson_test(np.array([1.0, 2, 3, np.nan]), np.array([1.0, 3, 2, 5])).n
    3
    """
    from scipy.special import stdtr

    defined = ~(np.isnan(x) | np.isnan(y))
    n = int(defined.sum())
    r = float(pearson(x[None, defined], y[None, defined])[0]) if n > 2 else np.nan
    with np.errstate(divide="ignore"):
        p = float(2 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / np.float64(1 - r * r)))) if n > 2 else np.nan
    return PearsonTest(r, p, n)


Agreement = Alphas | Mapping[str, float] | Mapping[str, Mapping[str, float]]
"""Agreement of every topic: alpha, {topic: number}, or {set of documents: {topic: number}}."""

SIGNIFICANCE = 0.005  # p-value below which a correlation is marked


@dataclass(frozen=True, eq=False)
class EaseCorrelation(Result):
    """Correlation of topic ease with agreement.

    topics : (topics,) those that have both scores and agreement. ease : (topics,) mean score of all systems.
    names : (sets,) the sets of documents on which agreement was computed. agreement : (sets, topics).
    bins : numbers of bins, 0 for single topics. correlations : (sets, bins).
    """

    topics: tuple[str, ...]
    ease: Floats
    names: tuple[str, ...]
    agreement: Floats
    bins: tuple[int, ...]
    correlations: tuple[tuple[PearsonTest, ...], ...]

    def _columns(self) -> dict[str, Any]:
        flat = [one for row in self.correlations for one in row]
        p = np.array([one.p for one in flat])
        return {
            "agreement": np.repeat(np.array(self.names, object), len(self.bins)),
            "bins": np.tile(np.array(self.bins), len(self.names)),
            "n": np.array([one.n for one in flat]),
            "pearson": np.array([one.r for one in flat]),
            "p": p,
            "significant": p < SIGNIFICANCE,
        }


def ease_correlation(
    scores: AnyScores,
    agreement: Agreement,
    *,
    bins: Sequence[int] = (8, 16, 32),
) -> EaseCorrelation:
    """Pearson's correlation of topic ease with agreement: are topics on which assessors agree easier for systems?

    Parameters
    ----------
    scores : of one measure; several assessors are averaged topic by topic first. The ease of a topic is the mean score
        of all systems.
    agreement : by topic: krippendorff_alpha(..., by="topic"), {topic: number}, or several sets of documents as
        {set: {topic: number}}.
    bins : numbers of bins. Topics are sorted by agreement and divided into bins of equal size (differing by at most
        one), whose means are correlated; nan if there are fewer topics than bins.

    Raises
    ------
    ArgumentError
        Scores of several measures.
    NoOverlapError
        Scores and agreement share no topic.
    """
    values, (_, labels, _) = one_measure(scores)
    table = known_mean(values, axis=0)
    sets = _sets(agreement)
    places = [i for i, topic in enumerate(labels) if any(topic in by_topic for by_topic in sets.values())]
    if not places:
        raise NoOverlapError("scores and agreement share no topic; check that both are of the same collection")
    ease = known_mean(table[places], axis=1)
    topics = tuple(labels[i] for i in places)
    value = np.array([[by_topic.get(topic, np.nan) for topic in topics] for by_topic in sets.values()])
    numbers = (*bins, 0)
    correlations = tuple(
        tuple(pearson_test(*(binned(row, ease, n) if n else (row, ease))) for n in numbers) for row in value
    )
    return EaseCorrelation(topics, ease, tuple(sets), value, numbers, correlations)


def binned(agreement: Floats, ease: Floats, bins: int) -> tuple[Floats, Floats]:
    """(bins,) means of agreement and of ease in bins of topics sorted by agreement; nan for more bins than topics."""
    defined = ~(np.isnan(agreement) | np.isnan(ease))
    if np.count_nonzero(defined) < bins:
        return np.full(bins, np.nan), np.full(bins, np.nan)
    parts = in_bins(agreement[defined], bins)
    x, y = ([column[defined][part].mean() for part in parts] for column in (agreement, ease))
    return np.array(x), np.array(y)


def in_bins(agreement: Floats, bins: int) -> list[Ints]:
    """The places of topics in bins of equal size (differing by at most one), sorted by agreement."""
    if not 1 <= bins <= agreement.size:
        raise ArgumentError(f"expected 1 bin or more, and at most the number of topics, {agreement.size}", "bins", bins)
    return np.array_split(np.argsort(agreement, kind="stable"), bins)


def _sets(agreement: Agreement) -> dict[str, dict[str, float]]:
    """{set of documents: {topic: agreement}}."""
    if isinstance(agreement, Alphas):
        return {"all": dict(zip(agreement.labels, agreement.value.tolist(), strict=True))}
    several = {name: part for name, part in agreement.items() if isinstance(part, Mapping)}
    alone = {name: value for name, value in agreement.items() if not isinstance(value, Mapping)}
    sets = several or {"all": alone}
    return {name: {str(topic): float(value) for topic, value in part.items()} for name, part in sets.items()}
