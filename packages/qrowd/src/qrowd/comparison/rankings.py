"""How similar assessors' rankings of the systems are: to a reference, to the other assessors, and pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.correlation import Kind, means_of_others, row_correlations, shared_means
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.kernels.correlation import pair_counts
from qrowd.model.labels import number_of, plural
from qrowd.model.result import Result
from qrowd.model.scores import one_measure, one_table

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

KINDS: tuple[Kind, ...] = ("tau_b", "tau_a", "ap", "pearson", "rmse")


@dataclass(frozen=True, eq=False)
class Correlations(Result):
    """Each assessor's ranking of the systems by their means, compared with the reference; arrays are (assessors,).

    reference : the assessor that the others are compared with; None: the panel without the assessor.
    tau_b, tau_a, ap, pearson, rmse : of the systems' means over the topics where both sides have a score. For AP
        correlation the assessor's list is walked and the reference decides. nan where fewer than two systems can be
        compared, and for the reference itself.
    n_topics, n_systems : what these means rest on; a system that lacks a score in one of the topics is left out.
    """

    assessors: tuple[str, ...]
    reference: str | None
    tau_b: Floats
    tau_a: Floats
    ap: Floats
    pearson: Floats
    rmse: Floats
    n_topics: NDArray[np.int64]
    n_systems: NDArray[np.int64]

    _COLUMNS = ("assessors", "tau_b", "tau_a", "ap", "pearson", "rmse", "n_topics", "n_systems")

    def _sentence(self) -> str:
        known = self.tau_b[~np.isnan(self.tau_b)]
        ends = f": tau-b from {known.min():.3f} to {known.max():.3f}" if known.size else ""
        other = self.reference or "that of the panel without the assessor"
        return f"{plural(len(self.assessors), 'ranking')} of systems compared with {other}{ends}."


@dataclass(frozen=True, eq=False)
class RankingAgreement(Result):
    """How similarly each pair of assessors ranks the systems; assessors who agree most with the others come first.

    tau_b : (assessors, assessors) Kendall's tau-b of the means over the topics that both have; nan on the diagonal, and
        where nothing can be compared. n_topics : (assessors, assessors).
    """

    summary = "How similarly each pair of assessors ranks the systems"

    assessors: tuple[str, ...]
    tau_b: Floats
    n_topics: NDArray[np.int64]

    def _columns(self) -> dict[str, Any]:
        i, j = np.triu_indices(len(self.assessors), 1)
        names = np.array(self.assessors, object)
        return {"first": names[i], "second": names[j], "tau_b": self.tau_b[i, j], "n_topics": self.n_topics[i, j]}


@dataclass(frozen=True)
class SignAgreement(Result):
    """The (topic, pair of systems) for which two assessors score the same system higher.

    value : their share; nan where nothing is counted.
    same, opposite, tied : number with the same system higher, with the other one, and with no difference for one
        assessor or for both.
    """

    summary = "The (topic, pair of systems) for which two assessors score the same system higher"

    value: float
    same: int
    opposite: int
    tied: int


def correlations(scores: AnyScores, *, reference: str | None = None) -> Correlations:
    """Compare each assessor's ranking of the systems, by one measure, with the reference's: five coefficients.

    reference : name of the assessor that the others are compared with; None: for each assessor the mean over the
        others, topic by topic.

    Raises
    ------
    ArgumentError
        Scores of several measures; a reference that is not among the assessors.

    >>> from qrowd import Scores
    >>> values = [[[0.9, 0.5, 0.1]], [[0.8, 0.6, 0.4]], [[0.2, 0.6, 0.5]]]
    >>> correlations(Scores.from_array(values), reference="1").tau_b.round(4).tolist()
    [nan, 1.0, -0.3333]
    """
    values, (assessors, _, _) = one_measure(scores)
    gold = None if reference is None else number_of(reference, assessors, "assessor")
    coefficients = np.full((len(assessors), len(KINDS)), np.nan)
    counts = np.zeros((len(assessors), 2), np.int64)
    by_size: dict[int, list[tuple[int, Floats, Floats]]] = {}  # rankings of as many systems are compared at once
    others = means_of_others(values) if gold is None else repeat(values[gold], len(assessors))
    for a, other in enumerate(others):
        if a == gold:
            continue
        x, y, n_topics, n_systems = shared_means(values[a], other)
        counts[a] = n_topics, n_systems
        if n_systems > 1:
            by_size.setdefault(n_systems, []).append((a, x, y))
    for members in by_size.values():
        first, second = np.array([x for _, x, _ in members]), np.array([y for _, _, y in members])
        rows = [a for a, _, _ in members]
        coefficients[rows] = np.transpose([row_correlations(first, second, kind=kind) for kind in KINDS])
    name = None if gold is None else assessors[gold]
    by_kind = dict(zip(KINDS, coefficients.T, strict=True))
    return Correlations(assessors, name, **by_kind, n_topics=counts[:, 0], n_systems=counts[:, 1])


def ranking_agreement(scores: AnyScores) -> RankingAgreement:
    """Kendall's tau-b between the rankings of the systems by each pair of assessors, by one measure."""
    values, (assessors, _, _) = one_measure(scores)
    n = len(assessors)
    tau_b, topics = np.full((n, n), np.nan), np.zeros((n, n), np.int64)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        x, y, n_topics, n_systems = shared_means(values[i], values[j])
        topics[i, j] = topics[j, i] = n_topics
        if n_systems > 1:
            tau_b[i, j] = tau_b[j, i] = row_correlations(x[None], y[None])[0]
    known = ~np.isnan(tau_b)
    mean = np.where(known, tau_b, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    order = np.argsort(-mean, kind="stable")
    square = np.ix_(order, order)
    return RankingAgreement(tuple(assessors[a] for a in order), tau_b[square], topics[square])


def sign_agreement(x: AnyScores, y: AnyScores) -> SignAgreement:
    """The share of differences between two systems on a topic for which two assessors agree on the sign.

    x, y : scores of one measure and one assessor each, with the same topics and systems in the same order; a system
        that is nan for one of them is left out on that topic.

    The share is same / (same + opposite): a difference of 0 for either assessor says nothing.

    Raises
    ------
    ArgumentError
        Sides with other topics or systems.

    >>> from qrowd import Scores
    >>> sign_agreement(Scores.from_array([[0.9, 0.5, 0.1]]), Scores.from_array([[0.9, 0.1, 0.1]]))
    SignAgreement(value=1.0, same=2, opposite=0, tied=1)
    """
    (first, labels), (second, others) = one_table(x), one_table(y)
    if labels != others:
        raise ArgumentError(
            f"scores of shapes {first.shape} and {second.shape}: both sides must have the same topics and systems, in "
            "the same order; scores.sel(topic=..., system=...) puts them in order"
        )
    counts = pair_counts(np.ascontiguousarray(first), np.ascontiguousarray(second)).sum(axis=0)
    same, opposite, pairs = int(counts[0]), int(counts[1]), int(counts[5])
    counted = same + opposite
    return SignAgreement(same / counted if counted else np.nan, same, opposite, pairs - counted)
