"""How similar rankings of the systems are: correlations of two, and those of assessors with a reference or each other.

Kendall's tau-a: Kendall (1938), A New Measure of Rank Correlation. Biometrika 30; tau-b: Kendall (1945), The Treatment
of Ties in Ranking Problems. Biometrika 33(3). AP correlation: Yilmaz, Aslam, Robertson (2008), A New Rank Correlation
Coefficient for Information Retrieval. SIGIR, 587-594. Equations 14 and 17: Ferrante, Ferro, Maistro (2017), AWARE:
Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2).

A nan on either side makes the result nan, since leaving systems out would change what is compared. To compare fewer
systems, take them out of both sides first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.system_ranking import settled
from qrowd.errors import ArgumentError
from qrowd.kernels import correlation as kernels
from qrowd.kernels.arrays import Bools, Floats
from qrowd.kernels.correlation import pair_counts
from qrowd.kernels.two_way import fitted
from qrowd.model.labels import number_of, plural
from qrowd.model.result import Result
from qrowd.model.scores import one_measure, one_table
from qrowd.threads import in_threads

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


Kind = Literal["tau_a", "tau_b", "ap", "ap_b", "pearson", "rmse"]

BLOCK = 1 << 18  # scores compared at once: a few milliseconds of one thread
_KERNELS = {
    "tau_a": kernels.tau_a,
    "tau_b": kernels.tau_b,
    "ap": kernels.ap_correlation,
    "ap_b": kernels.ap_correlation_b,
    "pearson": kernels.pearson,
    "rmse": kernels.rmse,
}


def kendall_tau_a(x: Floats, y: Floats) -> float:
    """Kendall's tau-a of two score vectors: (concordant - discordant) / (n (n - 1) / 2).

    A pair of systems tied on either side counts 0, so ties draw tau-a towards 0 (equation 14). nan if a score is.

    >>> kendall_tau_a(np.array([1.0, 2, 2]), np.array([1.0, 2, 3]))
    0.6666666666666666
    """
    return _single(x, y, "tau_a")


def kendall_tau_b(x: Floats, y: Floats) -> float:
    """Kendall's tau-b of two score vectors: (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y).

    nan where one of them ties everything, and if a score is nan.

    >>> kendall_tau_b(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    0.3333333333333333
    """
    return _single(x, y, "tau_b")


def ap_correlation(x: Floats, reference: Floats) -> float:
    """AP correlation: the share of systems above each system that the reference also ranks above it.

    x : the scores whose list is walked from the top. reference : the scores that decide which system belongs above
        which. The two are not interchangeable.

    tau_ap = 2 / (n - 1) * sum over ranks i > 1 of x of C(i) / (i - 1) - 1 (equation 17), C(i) being the systems above
    rank i that the reference also puts above the system at rank i: mistakes near the top weigh more. Tied systems, on
    either side, stand in random order, each order equally likely and both sides independent; the result is the exact
    expectation. An x that ties all gives 0. nan if a score is.

    >>> swap_at_the_top = ap_correlation(np.array([3.0, 4, 2, 1]), np.array([4.0, 3, 2, 1]))
    >>> swap_at_the_end = ap_correlation(np.array([4.0, 3, 1, 2]), np.array([4.0, 3, 2, 1]))
    >>> round(swap_at_the_top, 4), round(swap_at_the_end, 4)
    (0.3333, 0.7778)
    """
    return _single(x, reference, "ap")


def ap_correlation_b(x: Floats, y: Floats) -> float:
    """AP correlation where both sides have ties, tau_ap_b, the default of TREC AutoJudge; the two are interchangeable.

    Of each system with others above it in x, the share of those that are above it in y, too; 2 mean - 1, and of this
    the mean with x and y exchanged. Systems that share the highest score have no share, and a tie in y counts as a
    mistake. nan where one side ties all, and if a score is nan. Urbano, Marrero (2017), The Treatment of Ties in AP
    Correlation. ICTIR, 321-324.

    >>> round(ap_correlation_b(np.array([3.0, 2, 2, 1]), np.array([4.0, 3, 2, 1])), 4)
    0.8333
    """
    return _single(x, y, "ap_b")


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's correlation of two score vectors; nan where one of them does not vary, and if a score is nan.

    >>> round(pearson(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])), 4)
    0.5
    """
    return _single(x, y, "pearson")


def rmse(x: Floats, y: Floats) -> float:
    """Root mean square of the differences of two score vectors, in units of the scores; nan if a score is.

    >>> round(rmse(np.array([0.5, 0.2]), np.array([0.1, 0.5])), 4)
    0.3536
    """
    return _single(x, y, "rmse")


def row_correlations(x: Floats, y: Floats, *, kind: Kind = "tau_b", threads: int | None = None) -> Floats:
    """(rows,) one correlation for each row of x with the same row of y, for many pairs of rankings at once.

    x : (rows, systems). y : (rows, systems), or (systems,) for one ranking that all are compared with.
    kind : "tau_a", "tau_b", "ap" (rows of x are walked, y is the reference), "ap_b", "pearson" or "rmse"; as the
        functions for single pairs, nan for a row with a nan on either side.

    Raises
    ------
    ArgumentError
        An unknown kind; tables of different shape, or of fewer than 2 systems.

    >>> rankings = np.array([[1.0, 2, 3], [3, 2, 1]])
    >>> row_correlations(rankings, rankings[0], kind="tau_a").tolist()
    [1.0, -1.0]
    """
    if kind not in get_args(Kind):
        raise ArgumentError(f"choose from {', '.join(get_args(Kind))}", "kind", kind)
    first, second = _tables(x, y)
    compute = _KERNELS[kind]
    rows, systems = first.shape
    at_once = max(1, BLOCK // systems)
    blocks = [slice(a, a + at_once) for a in range(0, rows, at_once)]

    def work(block: slice) -> Floats:
        return compute(first[block], second[block] if second.shape[0] > 1 else second)

    if len(blocks) > 1:
        out = np.concatenate(list(in_threads(work, blocks, threads)))
    else:
        out = compute(first, second) if rows else np.empty(0)
    out[np.isnan(first).any(axis=1) | np.isnan(second).any(axis=1)] = np.nan
    return out


def means_of_others(scores: Floats) -> Iterator[Floats]:
    """For each assessor in turn, (topic, system) means over all others with a score; nan where there is none.

    scores : (assessor, topic, system). Sums from the front and from the back meet at each assessor, so that a crowd
    takes two passes and nothing is subtracted.
    """
    known = ~np.isnan(scores)
    filled, none = np.where(known, scores, 0.0), np.zeros((1, *scores.shape[1:]))
    # [a]: of all assessors from a on.
    total_after = np.concatenate([np.cumsum(filled[::-1], axis=0)[::-1], none])
    count_after = np.concatenate([np.cumsum(known[::-1], axis=0)[::-1], none])
    total, count = none[0].copy(), none[0].copy()
    for a in range(scores.shape[0]):
        n = count + count_after[a + 1]
        yield np.where(n > 0, (total + total_after[a + 1]) / np.maximum(n, 1), np.nan)
        total += filled[a]
        count += known[a]


def shared_means(first: Floats, second: Floats) -> tuple[Floats, Floats, int, Bools]:
    """Means over the shared topics of the systems with scores on both sides; number of topics, and which systems.

    first, second : (topic, system). A topic counts where some system has a score on both sides. Holes of both sides are
    filled by a fit to what is shared (`fitted`), and a system counts if it has no hole then. Means that are equal but
    for rounding are made equal (`settled`): those of P@10 often are, and the order of summation would decide which of
    them is larger.
    """
    shared = ~np.isnan(first) & ~np.isnan(second)
    topics = shared.any(axis=1)
    if not topics.any():
        return np.empty(0), np.empty(0), 0, np.array(shared.any(axis=0))
    means = [fitted(np.where(shared, side, np.nan)[None, topics])[0].mean(axis=0) for side in (first, second)]
    systems = ~np.isnan(means[0])
    x, y = (settled(mean[systems]) for mean in means)
    return x, y, int(topics.sum()), systems


def _single(x: Floats, y: Floats, kind: Kind) -> float:
    first, second = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if first.ndim != 1 or second.ndim != 1:
        raise ArgumentError(
            f"scores of shapes {first.shape} and {second.shape}: two vectors, one score per system, were expected; "
            "row_correlations(x, y, kind=kind) takes many at once"
        )
    return float(row_correlations(first[None], second[None], kind=kind)[0])


def _tables(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Both sides as contiguous (rows, systems) arrays; the second may be a single row."""
    first, second = (np.atleast_2d(np.ascontiguousarray(side, np.float64)) for side in (x, y))
    if first.ndim != 2 or first.shape[1] != second.shape[1] or second.shape[0] not in (1, first.shape[0]):
        raise ArgumentError(
            f"scores of shapes {np.shape(x)} and {np.shape(y)}: the same systems on both sides were expected, "
            "and as many rows or a single one on the second"
        )
    if first.shape[1] < 2:
        raise ArgumentError(f"scores of {first.shape[1]} system(s): at least 2 are needed to compare rankings")
    return first, second


KINDS: tuple[Kind, ...] = ("tau_b", "tau_a", "ap", "ap_b", "pearson", "rmse")


@dataclass(frozen=True, eq=False)
class Correlations(Result):
    """Each assessor's ranking of the systems by their means, compared with the reference; arrays are (assessors,).

    reference : the assessor that the others are compared with; None: the panel without the assessor.
    tau_b, tau_a, ap, ap_b, pearson, rmse : of the systems' means over the topics where both sides have a score. For AP
        correlation the assessor's list is walked and the reference decides. nan where fewer than two systems can be
        compared, but for rmse where a side ties all, and for the reference itself.
    n_topics, n_systems : what these means rest on; a system that lacks a score in one of the topics is left out.
    """

    assessors: tuple[str, ...]
    reference: str | None
    tau_b: Floats
    tau_a: Floats
    ap: Floats
    ap_b: Floats
    pearson: Floats
    rmse: Floats
    n_topics: NDArray[np.int64]
    n_systems: NDArray[np.int64]

    _COLUMNS = ("assessors", "tau_b", "tau_a", "ap", "ap_b", "pearson", "rmse", "n_topics", "n_systems")

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
    """Compare each assessor's ranking of the systems, by one measure, with the reference's: six coefficients.

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
        x, y, n_topics, _ = shared_means(values[a], other)
        counts[a] = n_topics, x.size
        if x.size > 1:
            by_size.setdefault(x.size, []).append((a, x, y))
    for members in by_size.values():
        rows, first, second = map(np.array, zip(*members, strict=True))
        coefficients[rows] = np.transpose([row_correlations(first, second, kind=kind) for kind in KINDS])
    coefficients[np.isnan(coefficients[:, 0]), :3] = np.nan  # a side that ties all systems does not rank them
    by_kind = dict(zip(KINDS, coefficients.T, strict=True))
    return Correlations(assessors, reference, **by_kind, n_topics=counts[:, 0], n_systems=counts[:, 1])


def ranking_agreement(scores: AnyScores) -> RankingAgreement:
    """Kendall's tau-b between the rankings of the systems by each pair of assessors, by one measure."""
    values, (assessors, _, _) = one_measure(scores)
    n = len(assessors)
    tau_b, topics = np.full((n, n), np.nan), np.zeros((n, n), np.int64)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        x, y, n_topics, _ = shared_means(values[i], values[j])
        topics[i, j] = topics[j, i] = n_topics
        if x.size > 1:
            tau_b[i, j] = tau_b[j, i] = kendall_tau_b(x, y)
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
