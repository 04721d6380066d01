"""Wilcoxon's signed-rank test of paired differences, many columns at once.

Wilcoxon (1945), Individual Comparisons by Ranking Methods. Biometrics Bulletin 1(6), 80-83.
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats


def signed_rank_p(differences: Floats, scale: float = 0.0) -> Floats:
    """(columns,) two-sided p of each column by scipy.stats.wilcoxon; 1 where all are 0, nan without any difference.

    differences : (topics, columns); nan is left out, and so are zeros. Those below 1e-12 of `scale`, and of each other,
        are equal.
    """
    from scipy.stats import wilcoxon

    grain = 1e-12 * max(scale, float(np.nanmax(np.abs(differences), initial=0.0)))
    rounded = np.round(differences / grain) if grain else differences
    p = np.full(rounded.shape[1], np.nan)
    for c, column in enumerate(rounded.T):
        pairs = column[~np.isnan(column)]
        if pairs.size:
            p[c] = wilcoxon(pairs).pvalue if pairs.any() else 1.0
    return p
