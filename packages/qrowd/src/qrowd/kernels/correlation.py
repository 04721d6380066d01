"""How alike the rankings in the rows of two tables are, row by row.

x : (rows, systems). y : (rows, systems), or (1, systems) for one ranking that every row of x is compared with. Results
are (rows,). Every pair of systems is looked at: nothing to sort, and no branch in the inner loop, so that the processor
takes several systems at once.

Kendall's tau-a: equation 14 of Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine
Multiple Assessors. ACM TOIS 36(2). AP correlation: Yilmaz, Aslam, Robertson (2008), A New Rank Correlation Coefficient
for Information Retrieval. SIGIR, 587-594. tau_GAP: Gao, Oard (2015), A Head-Weighted Gap-Sensitive Correlation
Coefficient. SIGIR, 799-802.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.compiled import kernel


@kernel("float64[:,:], float64[:,:]", arrays=lambda x, y: (np.empty((x.shape[0], 6), np.int64),))
def pair_counts(x: Floats, y: Floats) -> Ints:
    """(rows, 6) pairs of systems: same order in both, opposite order, tied in x, tied in y, tied in both, all pairs.

    The third counts every pair tied in x, whether or not it is tied in y; the fourth the other way round. Systems that
    are nan on either side are left out.
    """
    known = ~(np.isnan(x) | np.isnan(y))
    x = np.where(known, x, np.nan)
    y = np.where(known, y, np.nan)
    score, untied_x, untied_y, untied = np.zeros((4, x.shape[0]), np.int64)
    for i in range(1, x.shape[1]):
        p = _signs(x, i)
        q = _signs(y, i)
        score += (p * q).sum(axis=1)
        untied_x += (p != 0).sum(axis=1)
        untied_y += (q != 0).sum(axis=1)
        untied += (p * q != 0).sum(axis=1)
    n_known = known.sum(axis=1)
    pairs = n_known * (n_known - 1) // 2
    tied = pairs - untied_x, pairs - untied_y, pairs - untied_x - untied_y + untied
    return np.stack([(untied + score) // 2, (untied - score) // 2, *tied, pairs], axis=1)


def _signs(x: Floats, i: int) -> NDArray[np.int8]:
    """(rows, i) 1 where system i is above an earlier one, -1 where it is below, 0 where tied or nan."""
    return np.greater(x[:, [i]], x[:, :i]).astype(np.int8) - np.less(x[:, [i]], x[:, :i])


def tau_a(x: Floats, y: Floats) -> Floats:
    """(concordant - discordant) / (n (n - 1) / 2): a pair tied on either side counts 0; nan below 2 systems."""
    same, opposite, _, _, _, pairs = pair_counts(x, y).T
    with np.errstate(invalid="ignore"):
        return np.asarray((same - opposite) / pairs)


def tau_b(x: Floats, y: Floats) -> Floats:
    """(concordant - discordant) / sqrt(pairs untied in x * pairs untied in y); nan where one side ties all."""
    same, opposite, tied_x, tied_y, _, pairs = pair_counts(x, y).T
    untied = np.sqrt((pairs - tied_x).astype(np.float64) * (pairs - tied_y))
    with np.errstate(invalid="ignore"):
        return np.asarray((same - opposite) / untied)


@kernel("float64[:,:], float64[:,:]", arrays=lambda x, y: (np.empty(x.shape[0]),))
def ap_correlation(x: Floats, y: Floats) -> Floats:
    """Expected AP correlation of the ranking x, walked from the top, with the reference y, all ties broken at random.

    With systems in descending order of x, tau_ap = 2 / (n - 1) * sum over ranks i > 1 of C(i) / (i - 1) - 1, where C(i)
    is how many of the i - 1 systems above stand above in y as well. Ties of x and of y are broken independently, every
    order being equally likely. A system that p systems of x precede and that t share its score (itself among them) then
    stands at rank p + k, k = 1..t, with chance 1 / t each, and expects
        P / (p + k - 1) from the systems that precede it for certain; P of them stand above in y, ties counting half;
        (k - 1) / 2 / (p + k - 1) from those it ties with: by symmetry half of them.
    Over all k, with D = sum_k 1 / (p + k - 1): P D / t + (t - p D) / 2 / t; for p = 0 (t - 1) / 2 / t.
    nan where a row holds nan on either side.
    """
    n = x.shape[1]
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, n)))
    total = np.zeros(x.shape[0])
    for i in range(n):
        above = x > x[:, [i]]
        p = above.sum(axis=1)
        t = np.maximum((x == x[:, [i]]).sum(axis=1), 1)
        twice = (above * (1 + (y > y[:, [i]]) - (y < y[:, [i]]))).sum(axis=1)
        d = np.where(t > 1, harmonic[p + t - 1] - harmonic[p - 1], 1.0 / np.maximum(p, 1))
        total += np.where(p > 0, (0.5 * twice * d + 0.5 * (t - p * d)) / t, 0.5 * (t - 1) / t)
    return np.where((np.isnan(x) | np.isnan(y)).any(axis=1), np.nan, 2.0 * total / (n - 1) - 1.0)


def ap_correlation_b(x: Floats, y: Floats) -> Floats:
    """AP correlation with ties on both sides, the mean of both directions; nan where one side ties all."""
    pairs = zip(x, np.broadcast_to(y, x.shape), strict=True)
    return np.array([(_walked(one, other) + _walked(other, one)) / 2 for one, other in pairs])


def _walked(x: Floats, y: Floats) -> float:
    """Share, as -1 to 1, of the systems above each one in x that are above in y; those at the top of x are left out."""
    above = x > x[:, None]
    n_above = above.sum(axis=1)
    also = (above & (y > y[:, None])).sum(axis=1)
    below_top = n_above > 0
    return float(2 * np.mean(also[below_top] / n_above[below_top]) - 1) if below_top.any() else np.nan


def pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's product-moment correlation; nan where one side does not vary but for rounding."""
    a, b = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    both = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    rounding = 1e-15 * x.shape[1] * np.abs(x).max(axis=1) * np.abs(y).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.clip((a * b).sum(axis=1) / both, -1.0, 1.0)
    return np.asarray(np.where(both > rounding, r, np.nan))


def rmse(x: Floats, y: Floats) -> Floats:
    """Square root of the mean squared difference of the systems' scores."""
    return np.asarray(np.sqrt(((x - y) ** 2).mean(axis=1)))
