"""Power of the recommended interval: the differences it detects, and the topics that a difference needs.

D[t, a] is normal with the components v_t, v_a and v_e of `differences`. A difference is found if its interval lies on
its side of 0. In a crossed design the mean and the mean squares are independent of each other, so that

    power = E[Phi((size - h) / s)],  s^2 = v_t / T + v_a / A + v_e / (T A),

where the half width h of the interval that `difference` recommends (Banerjee's below 5 assessors, Satterthwaite's from
5 on, topics alone with one assessor or where every topic has assessors of its own) varies with the mean squares. The
expectation is a sum over quantiles of their chi-square distributions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.kernels.two_way import TwoWay

NODES = (12, 96, 8)  # quantiles of the mean squares of topics, assessors and error
POWER = 0.8


@dataclass(frozen=True)
class DifferenceComponents:
    """Variance components of the difference of two systems.

    crossed : the assessors are the same in all topics; otherwise v_assessor is 0, and v_error contains their effects.
    """

    v_topic: float
    v_assessor: float
    v_error: float
    crossed: bool = True


def power_of_difference(
    components: DifferenceComponents, size: float, n_topics: int, n_assessors: int, *, confidence: float = 0.95
) -> float:
    """Probability that the recommended interval detects a true difference of this size; nan with one topic.

    >>> round(power_of_difference(DifferenceComponents(0.027, 0.001, 0.0125), 0.06, 54, 5), 2)
    0.56
    """
    _check(n_topics=n_topics, n_assessors=n_assessors)
    if n_topics < 2:
        return float("nan")
    return _found(size, *_half_width_and_error(components, n_topics, n_assessors, confidence))


def detectable_difference(
    components: DifferenceComponents,
    n_topics: int,
    n_assessors: int,
    *,
    power: float = POWER,
    confidence: float = 0.95,
) -> float:
    """The smallest true difference that the recommended interval detects with this power; nan with one topic."""
    _check(n_topics=n_topics, n_assessors=n_assessors)
    _check_level(power=power)
    if n_topics < 2:
        return float("nan")
    half, error = _half_width_and_error(components, n_topics, n_assessors, confidence)
    low, high = 0.0, float(half.max()) + 10 * error
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _found(middle, half, error) < power else (low, middle)
    return high


def topics_needed(
    components: DifferenceComponents,
    size: float,
    n_assessors: int,
    *,
    power: float = POWER,
    confidence: float = 0.95,
    max_topics: int = 1000,
) -> int | None:
    """The fewest topics with which the recommended interval finds a true difference of this size with this power.

    None where max_topics are too few: more topics do nothing against what assessors do to the difference.
    """
    if not 0 < size < np.inf:
        raise ArgumentError("a difference above 0 was expected", "size", size)
    _check(n_assessors=n_assessors, max_topics=max_topics)
    _check_level(power=power)

    def enough(n_topics: int) -> bool:
        return _found(size, *_half_width_and_error(components, n_topics, n_assessors, confidence)) >= power

    low, high = 1, max_topics
    if high < 2 or not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _half_width_and_error(
    components: DifferenceComponents, n_topics: int, n_assessors: int, confidence: float
) -> tuple[Floats, float]:
    """The half widths that mean squares may give, all equally likely, and the true standard error."""
    v_t, v_a, v_e = components.v_topic, components.v_assessor, components.v_error
    t, a = n_topics, n_assessors
    error = float(np.sqrt(v_t / t + v_a / a + v_e / (t * a)))
    if a == 1 or not components.crossed:
        # The mean square of topics alone; what the only assessor does to all topics does not show in it.
        estimates, method = [(v_t + v_e / a) * _mean_squares(t - 1, NODES[0] * NODES[2])], recommended(1)
        squares = TwoWay(
            estimates[0], _with_zeros(estimates[0]), np.array([t - 1.0, 1, 1]), np.full(3, 1 / t), np.ones(2)
        )
        return half_widths(squares, method, confidence), error
    df = np.array([t - 1, a - 1, (t - 1) * (a - 1)], np.float64)
    expected = v_e + a * v_t, v_e + t * v_a, v_e
    estimates = [square * _mean_squares(own, n) for square, own, n in zip(expected, df, NODES, strict=True)]
    ms = np.stack([part.ravel() for part in np.meshgrid(*estimates, indexing="ij")])
    squares = TwoWay(ms[0], ms, df, np.full(3, 1 / (t * a)), np.array([a, t], np.float64))
    return half_widths(squares, recommended(a), confidence), error


def _found(size: float, half: Floats, error: float) -> float:
    from scipy.special import ndtr

    if error == 0:
        return float((size > half).mean())
    return float(ndtr((size - half) / error).mean())


def _mean_squares(df: float, n: int) -> Floats:
    """(n,) chi-square(df) / df, by its quantiles."""
    from scipy.special import chdtri

    return np.asarray(chdtri(df, (np.arange(n) + 0.5) / n) / df)


def _with_zeros(ms: Floats) -> Floats:
    return np.stack([ms, np.zeros_like(ms), np.zeros_like(ms)])


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ArgumentError("1 or more was expected", name, count)


def _check_level(**levels: float) -> None:
    for name, level in levels.items():
        if not 0 < level < 1:
            raise ArgumentError("a probability between 0 and 1 was expected", name, level)
