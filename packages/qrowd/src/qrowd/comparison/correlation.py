"""Correlations of two rankings of the systems.

Kendall's tau-a: Kendall (1938), A New Measure of Rank Correlation. Biometrika 30; tau-b: Kendall (1945), The Treatment
of Ties in Ranking Problems. Biometrika 33(3). AP correlation: Yilmaz, Aslam, Robertson (2008), A New Rank Correlation
Coefficient for Information Retrieval. SIGIR, 587-594. Equations 14 and 17: Ferrante, Ferro, Maistro (2017), AWARE:
Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2).

A nan on either side makes the result nan, since leaving systems out would change what is compared. To compare fewer
systems, take them out of both sides first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

from qrowd.comparison.system_ranking import settled
from qrowd.errors import ArgumentError
from qrowd.kernels import correlation as kernels
from qrowd.kernels.arrays import Floats
from qrowd.threads import in_threads

Kind = Literal["tau_a", "tau_b", "ap", "pearson", "rmse"]

BLOCK = 1 << 18  # scores compared at once: a few milliseconds of one thread
_KERNELS = {
    "tau_a": kernels.tau_a,
    "tau_b": kernels.tau_b,
    "ap": kernels.ap_correlation,
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
    kind : "tau_a", "tau_b", "ap" (rows of x are walked, y is the reference), "pearson" or "rmse"; as the functions for
        single pairs, nan for a row with a nan on either side.

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


def shared_means(first: Floats, second: Floats) -> tuple[Floats, Floats, int, int]:
    """Means over the shared topics of the systems with scores on both sides; number of topics and of systems.

    first, second : (topic, system). A topic counts where some system has a score on both sides; a system counts if it
    has one in every such topic. Means that are equal but for rounding are made equal (`settled`): those of P@10 often
    are, and the order of summation would decide which of them is larger.
    """
    shared = ~np.isnan(first) & ~np.isnan(second)
    topics = shared.any(axis=1)
    systems = shared[topics].all(axis=0) if topics.any() else np.zeros(first.shape[1], bool)
    x, y = (side[topics][:, systems] for side in (first, second))
    n_topics, n_systems = int(topics.sum()), int(systems.sum())
    if n_systems == 0:
        return np.empty(0), np.empty(0), n_topics, 0
    return settled(x.mean(axis=0)), settled(y.mean(axis=0)), n_topics, n_systems


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
