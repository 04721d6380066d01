"""Wilcoxon's signed-rank test of paired differences, many columns at once.

Wilcoxon (1945), Individual Comparisons by Ranking Methods. Biometrics Bulletin 1(6), 80-83; Pratt (1959), Remarks on
Zeros and Ties in the Wilcoxon Signed Rank Procedures. JASA 54(287), 655-667; Cureton (1967), The Normal Approximation
to the Signed-Rank Sampling Distribution When Zero Differences Are Present. JASA 62(319), 1068-1069.

p is that of scipy.stats.wilcoxon, with which the tests compare it. To import scipy.stats takes half as long as the rest
of `qrowd compare` on the data of a TREC track.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats

Zeros = Literal["wilcox", "pratt", "zsplit"]

EXACT = 50  # topics up to which the distribution of the signed ranks is exact where no ranks are tied
EXACT_TIED = 13  # the same where some are tied: all 2^13 signs


def signed_rank_p(differences: Floats, zeros: Zeros = "wilcox", scale: float = 0.0) -> Floats:
    """(columns,) two-sided p of Wilcoxon's signed-rank test of each column; nan without any known difference.

    differences : (topics, columns). Those below 1e-12 of `scale`, and of each other, are equal.
    """
    grain = 1e-12 * max(scale, float(np.nanmax(np.abs(differences), initial=0.0)))
    rounded = np.round(differences / grain) if grain else differences
    known, zero = ~np.isnan(rounded), rounded == 0
    n, n_zero = known.sum(axis=0), zero.sum(axis=0)
    varied = n > n_zero
    ranks, n_equal = _average_ranks(np.abs(rounded))
    tied = (known & (n_equal > 1)).any(axis=0) | (n_zero > 0)
    if zeros == "wilcox":
        ranks = ranks - n_zero
    ranks[~known | zero] = 0.0  # zsplit: half of theirs on either side, whatever the signs of the others
    rank_sums = np.where(rounded > 0, ranks, 0.0).sum(axis=0)
    p = np.where((n > 0) & ~varied, 1.0, np.nan)
    exact, by_signs = varied & ~tied & (n <= EXACT), varied & tied & (n <= EXACT_TIED)
    for c in np.flatnonzero(exact):
        lower_tail = int(min(rank_sums[c], n[c] * (n[c] + 1) // 2 - rank_sums[c]))
        p[c] = min(2 * _cumulative(int(n[c]))[lower_tail], 1.0)
    for c in np.flatnonzero(by_signs):
        p[c] = _of_all_signs(ranks[known[:, c], c], rank_sums[c])
    normal = varied & ~exact & ~by_signs
    if normal.any():
        counted = n_equal[:, normal] * (known if zeros == "zsplit" else known & ~zero)[:, normal]
        columns = n[normal], n_zero[normal], rank_sums[normal], counted
        p[normal] = _of_normal(*columns, zeros)
    return p


def _average_ranks(sizes: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """(topics, columns) ranks from 1 within each column, the mean of their ranks for equal sizes; how many are equal.

    nan comes last.
    """
    order = np.argsort(sizes, axis=0, kind="stable")
    ascending = np.take_along_axis(sizes, order, axis=0)
    place = np.broadcast_to(np.arange(len(sizes))[:, None], sizes.shape)
    edge = np.ones((1, sizes.shape[1]), bool)
    new = ascending[1:] != ascending[:-1]
    first = np.maximum.accumulate(np.where(np.vstack([edge, new]), place, 0), axis=0)
    last = np.minimum.accumulate(np.where(np.vstack([new, edge]), place, len(sizes))[::-1], axis=0)[::-1]
    ranks, n_equal = np.empty(sizes.shape), np.empty(sizes.shape, np.int64)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    np.put_along_axis(n_equal, order, last - first + 1, axis=0)
    return ranks, n_equal


@cache
def _cumulative(n: int) -> Floats:
    """(n (n + 1) / 2 + 1,) probability of each sum of the ranks 1 ... n, or less, each rank with probability 1/2."""
    shares = np.ones(1)
    for rank in range(1, n + 1):
        without = np.append(shares, np.zeros(rank))
        without[rank:] += shares
        shares = without / 2
    return np.cumsum(shares)


def _of_all_signs(ranks: Floats, rank_sum: float) -> float:
    """Exact p of ranks that are tied: every sign of every rank is as likely as the other."""
    signs = (np.arange(2**ranks.size)[:, None] >> np.arange(ranks.size)) & 1
    sums = signs @ ranks
    # Sums are halves of whole numbers.
    return float(min(2 * min((sums <= rank_sum + 0.25).mean(), (sums >= rank_sum - 0.25).mean()), 1.0))


def _of_normal(
    n: NDArray[np.int64], n_zero: NDArray[np.int64], rank_sums: Floats, n_equal: NDArray[np.int64], zeros: Zeros
) -> Floats:
    """(columns,) p from the normal approximation, without correction for continuity.

    n_equal : (topics, columns) number of sizes equal to this one, 0 where it is not counted.
    """
    from scipy.special import ndtr

    ranked = (n - n_zero if zeros == "wilcox" else n).astype(np.float64)
    mean, variance = ranked * (ranked + 1) / 4, ranked * (ranked + 1) * (2 * ranked + 1)
    if zeros == "pratt":
        mean -= n_zero * (n_zero + 1) / 4
        variance -= n_zero * (n_zero + 1) * (2 * n_zero + 1)
    halves = n_zero * (n_zero + 1) / 4 if zeros == "zsplit" else 0.0
    # The sum over sizes of t^3 - t, t being how many are equal, is the sum over differences of t^2 - 1.
    variance -= np.where(n_equal > 0, n_equal**2 - 1, 0).sum(axis=0) / 2
    return np.asarray(2 * ndtr(-np.abs((rank_sums + halves - mean) / np.sqrt(variance / 24))))
