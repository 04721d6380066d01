"""Power of the recommended interval: the differences it detects, and the topics that a difference needs.

D[t, a] is normal with the components v_t, v_a and v_e of `differences`. A difference is found if its interval lies on
its side of 0. In a crossed design the mean and the mean squares are independent of each other, so that

    power = E[Phi((size - h) / s)],  s^2 = v_t / T + v_a / A + v_e / (T A),

where the half width h of the interval that `difference` recommends (Banerjee's below 5 assessors, Satterthwaite's from
5 on, topics alone with one assessor or where every topic has assessors of its own) varies with the mean squares. The
expectation is a sum over quantiles of their chi-square distributions.

More topics or one more assessor at equal cost: which reduces the standard error of a difference more? An assessor for
all T topics costs as much as N topics judged by the present A assessors. With few assessors v_a is imprecise, so the
answer has a probability: the expected mean squares are taken to be MS df / chi-square(df), independently of each other
(their fiducial distribution), components below 0 being 0. Where topics cost nothing but judgments, N = T / A, and
topics leave the smaller error if the expected mean square of topics is above that of assessors: the probability is that
of an F distribution with T - 1 and A - 1 degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.kernels.two_way import TwoWay
from qrowd.model.result import Result

NODES = (12, 96, 8)  # quantiles of the mean squares of topics, assessors and error
POWER, CONFIDENCE = 0.8, 0.95


@dataclass(frozen=True)
class DifferenceComponents:
    """Variance components of the difference of two systems.

    crossed : the assessors are the same in all topics; otherwise v_assessor is 0, and v_error contains their effects.
    """

    v_topic: float
    v_assessor: float
    v_error: float
    crossed: bool = True


def power_of_difference(components: DifferenceComponents, size: float, n_topics: int, n_assessors: int) -> float:
    """Probability that the recommended 95 % interval detects a true difference of this size; nan with one topic.

    >>> round(power_of_difference(DifferenceComponents(0.027, 0.001, 0.0125), 0.06, 54, 5), 2)
    0.56
    """
    _check(n_topics=n_topics, n_assessors=n_assessors)
    if n_topics < 2:
        return float("nan")
    return _found(size, *_half_width_and_error(components, n_topics, n_assessors))


def detectable_difference(
    components: DifferenceComponents,
    n_topics: int,
    n_assessors: int,
    *,
    power: float = POWER,
) -> float:
    """The smallest true difference that the recommended interval detects with this power; nan with one topic."""
    _check(n_topics=n_topics, n_assessors=n_assessors)
    _check_level(power=power)
    if n_topics < 2:
        return float("nan")
    half, error = _half_width_and_error(components, n_topics, n_assessors)
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
        return _found(size, *_half_width_and_error(components, n_topics, n_assessors)) >= power

    low, high = 1, max_topics
    if high < 2 or not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _half_width_and_error(components: DifferenceComponents, n_topics: int, n_assessors: int) -> tuple[Floats, float]:
    """The half widths that mean squares may give, all equally likely, and the true standard error."""
    v_t, v_a, v_e = components.v_topic, components.v_assessor, components.v_error
    t, a = n_topics, n_assessors
    error = float(np.sqrt(v_t / t + v_a / a + v_e / (t * a)))
    if a == 1 or not components.crossed:
        # The mean square of topics alone; what the only assessor does to all topics does not show in it.
        of_topics = (v_t + v_e / a) * _mean_squares(t - 1, NODES[0] * NODES[2])
        ms = np.zeros((3, of_topics.size))
        ms[0] = of_topics
        squares = TwoWay(of_topics, ms, np.array([t - 1.0, 1, 1]), np.full(3, 1 / t), np.ones(2))
        return half_widths(squares, recommended(1), CONFIDENCE), error
    df = np.array([t - 1, a - 1, (t - 1) * (a - 1)], np.float64)
    expected = v_e + a * v_t, v_e + t * v_a, v_e
    estimates = [square * _mean_squares(own, n) for square, own, n in zip(expected, df, NODES, strict=True)]
    ms = np.stack([part.ravel() for part in np.meshgrid(*estimates, indexing="ij")])
    squares = TwoWay(ms[0], ms, df, np.full(3, 1 / (t * a)), np.array([a, t], np.float64))
    return half_widths(squares, recommended(a), CONFIDENCE), error


def _found(size: float, half: Floats, error: float) -> float:
    from scipy.special import ndtr

    if error == 0:
        return float((size > half).mean())
    return float(ndtr((size - half) / error).mean())


def _mean_squares(df: float, n: int) -> Floats:
    """(n,) chi-square(df) / df, by its quantiles."""
    from scipy.special import chdtri

    return np.asarray(chdtri(df, (np.arange(n) + 0.5) / n) / df)


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ArgumentError("1 or more was expected", name, count)


def _check_level(**levels: float) -> None:
    for name, level in levels.items():
        if not 0 < level < 1:
            raise ArgumentError("a probability between 0 and 1 was expected", name, level)


SAME = 0.05  # standard errors that differ by less are about the same
SURE = 0.8  # probability from which on an answer is given
FEWEST = 3  # assessors; with two there is one degree of freedom, and the probabilities are too high
QUANTILES = (16, 64, 8)  # of topics, assessors and error: quantiles that stand for the distributions


@dataclass(frozen=True)
class EqualCost(Result):
    """One more assessor for all topics compared with the topics that cost as much.

    topics : number added, not rounded. now, with_topics, with_assessor : standard error of the difference now, and
        expected after either.
    p_topics, p_assessor : probability that topics (the assessor) help at least as much, to within 5 % of the standard
        error. p_same : probability of both.
    """

    n_topics: int
    n_assessors: int
    topics: float
    now: float
    with_topics: float
    with_assessor: float
    p_topics: float
    p_assessor: float
    p_same: float

    @property
    def answer(self) -> Literal["same", "topics", "assessor", "unknown"]:
        """The addition that helps at least as much, with a probability of .8 or more; "same" where both do."""
        if self.n_assessors < FEWEST:
            return "unknown"
        if self.p_same >= SURE:
            return "same"
        if max(self.p_topics, self.p_assessor) < SURE:
            return "unknown"
        return "topics" if self.p_topics >= self.p_assessor else "assessor"


def topics_for_an_assessor(
    n_topics: int, n_assessors: float, *, topic_cost: float = 0.0, judgment_cost: float = 1.0, documents: float = 1.0
) -> float:
    """Number of topics with n_assessors each that cost as much as one more assessor for all n_topics.

    topic_cost, judgment_cost, documents : as in `best_design`; default: only judging a topic has a cost.
    """
    each = documents * judgment_cost
    if min(topic_cost, each) < 0 or topic_cost + each <= 0:
        raise ArgumentError(f"topic_cost={topic_cost!r}, judgment_cost={judgment_cost!r}: a cost above 0 was expected")
    return n_topics * each / (topic_cost + n_assessors * each)


def equal_cost(
    mean_squares: tuple[float, ...],
    df: tuple[float, ...],
    n_topics: int,
    n_assessors: int,
    topics: float,
    *,
    per: tuple[float, ...] | None = None,
) -> EqualCost:
    """Compare more topics with one more assessor.

    mean_squares, df : of topics, assessors and error. topics : number that costs as much as an assessor.
    per : divisors that turn mean squares above that of error into components; default: n_assessors and n_topics, as in
        a complete table. The first is the number of assessors of a topic: one more is then another one for each topic,
        and assessors in all grow in proportion.
    """
    by = (float(n_assessors), float(n_topics)) if per is None else per

    def errors(topic: Floats, assessor: Floats, error: Floats) -> tuple[Floats, Floats, Floats]:
        v_t, v_a = np.maximum(topic - error, 0) / by[0], np.maximum(assessor - error, 0) / by[1]
        each = by[0]
        return tuple(
            np.sqrt(v_t / t + v_a * each / (n_assessors * a) + error / (t * a))
            for t, a in ((n_topics, each), (n_topics + topics, each), (n_topics, each + 1))
        )  # type: ignore[return-value]

    now, with_topics, with_assessor = (
        float(value[0]) for value in errors(*(np.array([square]) for square in mean_squares))
    )
    estimates = [square * _reciprocals(own, n) for square, own, n in zip(mean_squares, df, QUANTILES, strict=True)]
    _, by_topics, by_assessor = errors(*(part.ravel() for part in np.meshgrid(*estimates, indexing="ij")))
    for_topics, for_assessor = by_topics <= by_assessor * (1 + SAME), by_assessor <= by_topics * (1 + SAME)
    return EqualCost(
        n_topics, n_assessors, topics, now, with_topics, with_assessor,
        float(for_topics.mean()), float(for_assessor.mean()), float((for_topics & for_assessor).mean()),
    )  # fmt: skip


def _reciprocals(df: float, n: int) -> Floats:
    """(n,) df / chi-square(df), by its quantiles."""
    from scipy.special import chdtri

    return np.asarray(df / chdtri(df, (np.arange(n) + 0.5) / n))
