"""Intervals of what has bounds: a mean of scores stays between the lowest and the highest score of its measure.

An interval is cut where no mean can be. The mean of the sample is within the bounds, and so is the true one: the cut
interval holds it exactly as often as the whole one.
"""

from __future__ import annotations

from math import inf

import numpy as np

from qrowd.kernels.arrays import Floats

Bounds = tuple[float, float]

UNBOUNDED: Bounds = (-inf, inf)


def cut(low: Floats, high: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """Both ends of intervals, within the bounds; nan stays.

    >>> cut(np.array([0.93]), np.array([1.04]), (0, 1))
    (array([0.93]), array([1.]))
    """
    return np.clip(low, *bounds), np.clip(high, *bounds)


def bounds_of_difference(bounds: Bounds) -> Bounds:
    """What bounds a difference of two scores.

    >>> bounds_of_difference((0, 1))
    (-1, 1)
    """
    lowest, highest = bounds
    return lowest - highest, highest - lowest
