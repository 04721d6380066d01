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

from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.compiled import kernel


def _add_pairs(a: Floats, b: Floats, i: int, sums: Ints) -> None:
    """Pairs of system i and one before it: same less opposite order; untied in a; untied in b; untied in both."""
    u = a[i]
    v = b[i]
    score = 0
    untied_a = 0
    untied_b = 0
    untied = 0
    for j in range(i):
        p = int(u > a[j]) - int(u < a[j])
        q = int(v > b[j]) - int(v < b[j])
        score += p * q
        untied_a += p * p
        untied_b += q * q
        untied += p * p * q * q
    sums[0] += score
    sums[1] += untied_a
    sums[2] += untied_b
    sums[3] += untied


@kernel("float64[:,:], float64[:,:]", arrays=lambda x, y: (np.empty((x.shape[0], 6), np.int64),))
def pair_counts(x: Floats, y: Floats) -> Ints:
    """(rows, 6) pairs of systems: same order in both, opposite order, tied in x, tied in y, tied in both, all pairs.

    The third counts every pair tied in x, whether or not it is tied in y; the fourth the other way round. Systems that
    are nan on either side are left out.
    """
    counts = np.zeros((x.shape[0], 6), np.int64)
    n = x.shape[1]
    a = np.empty(n)
    b = np.empty(n)
    sums = np.empty(4, np.int64)
    for r in range(x.shape[0]):
        s = r if y.shape[0] > 1 else 0
        n_known = 0
        for i in range(n):
            if x[r, i] == x[r, i] and y[s, i] == y[s, i]:
                a[n_known], b[n_known] = x[r, i], y[s, i]
                n_known += 1
        sums[:] = 0
        for i in range(n_known):
            _add_pairs(a, b, i, sums)
        pairs = n_known * (n_known - 1) // 2
        counts[r, 0] = (sums[3] + sums[0]) // 2
        counts[r, 1] = (sums[3] - sums[0]) // 2
        counts[r, 2] = pairs - sums[1]
        counts[r, 3] = pairs - sums[2]
        counts[r, 4] = pairs - sums[1] - sums[2] + sums[3]
        counts[r, 5] = pairs
    return counts


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


def _systems_above(x: Floats, r: int, y: Floats, s: int, i: int) -> tuple[int, int, int]:
    """How many systems x puts above i, and level with it; of the former, twice those above in y, a tie counting 1."""
    u = x[r, i]
    v = y[s, i]
    p = 0
    t = 0
    twice = 0
    for j in range(x.shape[1]):
        above = int(x[r, j] > u)
        p += above
        t += int(x[r, j] == u)
        twice += above * (1 + int(y[s, j] > v) - int(y[s, j] < v))
    return p, t, twice


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
    out = np.empty(x.shape[0])
    harmonic = np.zeros(n)
    for i in range(1, n):
        harmonic[i] = harmonic[i - 1] + 1.0 / i
    for r in range(x.shape[0]):
        s = r if y.shape[0] > 1 else 0
        total = 0.0
        nans = 0
        for i in range(n):
            nans += 1 if np.isnan(x[r, i]) or np.isnan(y[s, i]) else 0
            p, t, twice = _systems_above(x, r, y, s, i)
            if p > 0:
                d = harmonic[p + t - 1] - harmonic[p - 1] if t > 1 else 1.0 / p
                total += (0.5 * twice * d + 0.5 * (t - p * d)) / t
            elif t > 0:
                total += 0.5 * (t - 1) / t
        out[r] = 2.0 * total / (n - 1) - 1.0 if nans == 0 else np.nan
    return out


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
