"""The width of the interval of a difference, from mean squares, and the p-value at which it just excludes 0.

A mean lies between the lowest and the highest score of its measure, and an interval is cut at these bounds: the true
mean lies within them, so the cut interval contains it as often as before.

Satterthwaite (1946), An Approximate Distribution of Estimates of Variance Components. Biometrics Bulletin 2(6);
Banerjee (1960), Approximate Confidence Interval for Linear Functions of Means of k Populations when the Population
Variances are not Equal. Sankhya 22.
"""

from __future__ import annotations

from math import inf
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.kernels.two_way import TwoWay

Bounds = tuple[float, float]

UNBOUNDED: Bounds = (-inf, inf)


def cut(low: Floats, high: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """Both ends of intervals, limited to the bounds; nan stays.

    >>> cut(np.array([0.93]), np.array([1.04]), (0, 1))
    (array([0.93]), array([1.]))
    """
    return np.clip(low, *bounds), np.clip(high, *bounds)


def bounds_of_difference(bounds: Bounds) -> Bounds:
    """The bounds of a difference of two scores.

    >>> bounds_of_difference((0, 1))
    (-1, 1)
    """
    lowest, highest = bounds
    return lowest - highest, highest - lowest


Method = Literal["banerjee", "satterthwaite", "topics"]
ENOUGH = 5
"""Number of assessors from which on Satterthwaite's interval reaches its nominal coverage (coverage study)."""


def check_confidence(confidence: float) -> None:
    """Refuse a level of confidence outside 0 to 1."""
    if not 0 < confidence < 1:
        raise ArgumentError("a level between 0 and 1 was expected", "confidence", confidence)


def recommended(n_assessors: int) -> Method:
    """The method that the coverage study recommends for this number of assessors."""
    return "topics" if n_assessors == 1 else "banerjee" if n_assessors < ENOUGH else "satterthwaite"


def half_widths(squares: TwoWay, method: Method, confidence: float) -> Floats:
    """(columns,) half the width of the interval: one t for the whole error, or one for each part of it.

    satterthwaite : t_df sqrt(V). banerjee : sqrt(sum t_i^2 V_i) over V_t = w_t max(MS_t - MS_e, 0), V_a likewise, and
    V_e = w_e MS_e, t_i with the degrees of freedom of each: with few assessors the width does not depend on estimated
    degrees of freedom.
    """
    return _half_widths(squares, method, np.full(squares.mean.shape, (1 + confidence) / 2))


def two_sided_p(squares: TwoWay, method: Method, size: Floats) -> Floats:
    """(columns,) p at which the interval's half width is just `size`."""
    from scipy.special import stdtr

    if method != "banerjee":
        variance, df = squares.variance()
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(2 * stdtr(df, -size / np.sqrt(variance)))
    low, high = np.full(size.shape, -300.0), np.zeros(size.shape)  # log p
    for _ in range(60):
        middle = (low + high) / 2
        # The lower quantile, which keeps its digits where p is small.
        wide = _half_widths(squares, method, np.exp(middle) / 2) > size
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    return np.asarray(np.exp((low + high) / 2))


def _half_widths(squares: TwoWay, method: Method, level: Floats) -> Floats:
    from scipy.special import stdtrit

    if method == "banerjee":
        parts = np.maximum(np.concatenate([squares.ms[:2] - squares.ms[2], squares.ms[2:]]), 0.0)
        t = stdtrit(squares.df[:, None], level)
        with np.errstate(over="ignore"):  # quantiles of levels next to 0, on the way to a p
            return np.asarray(np.sqrt((squares.weights[:, None] * parts * t**2).sum(axis=0)))
    variance, df = squares.variance()
    return np.where(np.isnan(df), 0.0, stdtrit(df, level) * np.sqrt(variance))
