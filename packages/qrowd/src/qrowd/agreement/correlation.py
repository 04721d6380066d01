"""Pearson's correlation of the pairs without missing values, with its test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.kernels.correlation import pearson


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
