"""Intervals of bounded measures: a mean lies between the lowest and the highest score of its measure.

An interval is cut at these bounds. The true mean lies within them, so the cut interval contains it as often as before.
"""

from __future__ import annotations

from math import inf

import numpy as np

from qrowd.kernels.arrays import Floats

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
