"""Pearson's correlation of the pairs without missing values, with its test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qrowd.kernels.arrays import Floats


class Pearson(NamedTuple):
    """r; p, two-sided, against no correlation; n pairs that are nan on neither side."""

    r: float
    p: float
    n: int


def pearson(x: Floats, y: Floats) -> Pearson:
    """Correlation of the pairs that are nan on neither side; nan for fewer than 3, or where one side does not vary.

    t = r sqrt((n - 2) / (1 - r^2)) with n - 2 degrees of freedom.

    >>> pearson(np.array([1.0, 2, 3, np.nan]), np.array([1.0, 3, 2, 5])).r
    0.5
    """
    from scipy.special import stdtr

    defined = ~(np.isnan(x) | np.isnan(y))
    n = int(defined.sum())
    if n < 3:
        return Pearson(np.nan, np.nan, n)
    a, b = x[defined] - x[defined].mean(), y[defined] - y[defined].mean()
    both = float(np.sqrt((a @ a) * (b @ b)))
    if both <= 1e-15 * n * float(np.abs(x[defined]).max() * np.abs(y[defined]).max()):
        return Pearson(np.nan, np.nan, n)
    r = min(max(float(a @ b) / both, -1.0), 1.0)
    p = 0.0 if abs(r) == 1 else float(2 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1 - r * r))))
    return Pearson(r, p, n)
