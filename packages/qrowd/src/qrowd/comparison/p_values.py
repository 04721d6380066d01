"""p-values of Wilcoxon's signed-rank test, and p-values adjusted for multiple tests; nan is not a test and stays nan.

Wilcoxon (1945), Individual Comparisons by Ranking Methods. Biometrics Bulletin 1(6), 80-83. The p is that of
scipy.stats.wilcoxon, with which the tests compare it; importing scipy.stats takes half as long as `qrowd compare`.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np

from qrowd.kernels.arrays import Floats


def holm(p: Floats) -> Floats:
    """Control the familywise error rate: each p times the number of tests that remain, smallest first.

    Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure. Scand. J. Statist. 6(2).
    """
    adjusted = p.copy()
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Control the false discovery rate for independent or positively dependent tests.

    Benjamini, Hochberg (1995), Controlling the False Discovery Rate. JRSS B 57(1).
    """
    return _false_discovery(p, "bh")


def benjamini_yekutieli(p: Floats) -> Floats:
    """Control the false discovery rate under any dependence (Benjamini & Yekutieli 2001, theorem 1.3).

    >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.03])).round(3)
    array([0.055, 0.073, 0.073])
    """
    return _false_discovery(p, "by")


def _false_discovery(p: Floats, method: Literal["bh", "by"]) -> Floats:
    from scipy.stats import false_discovery_control

    adjusted = p.copy()
    tested = ~np.isnan(p)
    if tested.any():
        adjusted[tested] = false_discovery_control(p[tested], method=method)
    return adjusted


EXACT = 50  # differences up to which the distribution is exact where no sizes are equal
EXACT_TIED = 13  # the same where some are equal, or 0: all 2^13 signs


def signed_rank_p(differences: Floats, scale: float = 0.0) -> Floats:
    """(columns,) two-sided p of each column; 1 where all differences are 0, nan where there is none.

    differences : (topics, columns); nan is left out, and so are zeros. Those below 1e-12 of `scale`, and of each other,
        are equal.
    """
    grain = 1e-12 * max(scale, float(np.nanmax(np.abs(differences), initial=0.0)))
    rounded = np.round(differences / grain) if grain else differences
    return np.array([_p(column[~np.isnan(column)]) for column in rounded.T])


def _p(differences: Floats) -> float:
    changed = differences[differences != 0]
    n = changed.size
    if n == 0:
        return 1.0 if differences.size else np.nan
    sizes, place, counts = np.unique(np.abs(changed), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    rank_sum = float(ranks[changed > 0].sum())
    tied = sizes.size < differences.size
    if not tied and n <= EXACT:
        lower_tail = int(min(rank_sum, n * (n + 1) // 2 - rank_sum))
        return min(2 * float(_cumulative(n)[lower_tail]), 1.0)
    if tied and differences.size <= EXACT_TIED:
        signs = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        sums = signs @ ranks  # halves of whole numbers
        return min(2 * float(min((sums <= rank_sum + 0.25).mean(), (sums >= rank_sum - 0.25).mean())), 1.0)
    from scipy.special import ndtr

    variance = (n * (n + 1) * (2 * n + 1) - (counts**3 - counts).sum() / 2) / 24
    return float(2 * ndtr(-abs(rank_sum - n * (n + 1) / 4) / np.sqrt(variance)))


@cache
def _cumulative(n: int) -> Floats:
    """(n (n + 1) / 2 + 1,) probability of each sum of the ranks 1 ... n, or less, each rank with probability 1/2."""
    shares = np.ones(1)
    for rank in range(1, n + 1):
        without = np.append(shares, np.zeros(rank))
        without[rank:] += shares
        shares = without / 2
    return np.cumsum(shares)
