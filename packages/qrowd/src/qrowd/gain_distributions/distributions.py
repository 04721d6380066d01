"""The gain of a document as a distribution over assessors instead of a number.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, sections 6.1.1
and 6.1.3. Weights by assessor: Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine
Multiple Assessors. ACM TOIS 36(2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from qrowd.errors import ArgumentError, ScaleError, check_choice
from qrowd.gain_distributions.weighting import weights_of
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.measure import gain_map
from qrowd.model.panel import Pool
from qrowd.model.result import Result
from qrowd.model.scales import Scale

if TYPE_CHECKING:
    from qrowd.gain_distributions.weighting import Weights

Gains = Literal["as-is", "rescaled", "log"]
Shape = Literal["sample", "interval"]
Single = Literal["zero", "pooled"]

ROUNDING = 1e-12  # shares add up to 1 up to rounding


@dataclass(frozen=True, eq=False)
class GainDistributions(Result):
    """One distribution of gain for every judged document of every topic; `pairs` axes follow the pool.

    pool : the (topic, document) pairs with a judgment by an assessor of weight above 0.
    assessors : those of weight above 0.
    n : (pairs,) number of assessors who judged the document.
    mean, variance : (pairs,) of the distribution.
    lower, upper : (pairs,) the interval of its gains.
    starts : (pairs + 1,); the assessor sample of pair p is the rows starts[p]:starts[p + 1], rising in gain, of
    gain, share, assessor : (n,) each; shares are of the document's weight and add up to 1.
    weights : (assessors, topics) the weights of assessors, 1 by default.
    gains, shape, interval, single, repeats, weighted : the options in force.
    scale : of values before gains="log" or a map, and after gains="rescaled".
    n_repeats : judgments that repeat one by the same assessor.
    """

    pool: Pool
    assessors: tuple[str, ...]
    n: Ints
    mean: Floats
    variance: Floats
    lower: Floats
    upper: Floats
    starts: Ints
    gain: Floats
    share: Floats
    assessor: Codes
    weights: Floats
    gains: Gains | Mapping[float, float]
    shape: Shape
    interval: tuple[float, float]
    single: Single
    repeats: Repeats
    weighted: bool
    scale: Scale
    n_repeats: int

    @property
    def sd(self) -> Floats:
        """(pairs,) standard deviation: the disagreement of assessors about the document, as a gain."""
        return np.asarray(np.sqrt(self.variance))

    @property
    def topic(self) -> Ints:
        """(pairs,) number of each pair's topic."""
        return self.pool.topic

    @property
    def judged_topics(self) -> Bools:
        """(topics,) whether there is a judgment that counts."""
        return np.asarray(np.diff(self.pool.starts) > 0)

    def widened(self) -> Bools:
        """(pairs,) documents of one judgment that have the pooled variance of others: single="pooled"."""
        return np.asarray((self.n == 1) & (self.variance > 0))

    _COLUMNS = ("n", "mean", "sd", "lower", "upper")

    def _columns(self) -> dict[str, Any]:
        """One row per (topic, document)."""
        return {**self.pool.labels(), **super()._columns()}


def gain_distributions(
    judgments: Judgments,
    *,
    gains: Gains | Mapping[float, float] = "as-is",
    shape: Shape = "sample",
    interval: tuple[float, float] = (0.0, 1.0),
    weights: Weights | None = None,
    single: Single = "zero",
    repeats: Repeats = "first",
) -> GainDistributions:
    """The distribution of each document's gain over the assessors who judged it.

    Parameters
    ----------
    gains : "as-is", the values, which must be on one scale; "rescaled", divided by the assessor's scale's maximum;
        "log", their natural logarithms, for magnitudes: those below 1 gain less than nothing, and an unjudged document,
        which gains 0, stands for magnitude 1; or a map such as {1: 1, 2: 3, 3: 7}; other values gain themselves.
    shape : "sample", each assessor's gain with the assessor's share (variance: sum_a s_a (g_a - mean)^2); "interval",
        every gain between the ends equally likely (mean: their middle; s.d.: width / sqrt(12)).
    interval : the shares of the weight at which the interval begins and ends: (0, 1) from the smallest to the largest
        gain; (.1, .9) from the smallest gain that a tenth does not exceed to the smallest that nine tenths do not.
    weights : of the assessors, for all topics or by topic: {assessor or pattern: weight}, {assessor: {topic: weight}},
        a DataArray (assessor[, topic]) like AWARE's accuracies, or an array. 0 leaves out; None: equal weights.
    single : variance of a document that one assessor judged: "zero"; or "pooled", the mean variance of the topic's
        documents of several judgments (of all topics' where it has none), as an interval of that variance, or normal.
    repeats : which of an assessor's repeated judgments counts: "first", "last", "mean", or "error".

    Raises
    ------
    ArgumentError
        No judgments; weights that are negative, all 0 or of unknown assessors; an interval without width from 0 to 1.
    ScaleError
        gains="as-is" or a map on unlike scales; "rescaled" of magnitudes; "log" of 0.

    >>> judgments = Judgments.from_rows([("q", "d", who, g) for who, g in (("ann", 1), ("bob", 2), ("cyd", 3))])
    >>> made = gain_distributions(judgments)
    >>> float(made.mean[0]), round(float(made.sd[0]), 4), float(made.lower[0]), float(made.upper[0])
    (2.0, 0.8165, 1.0, 3.0)
    """
    _check(gains, shape, interval, single)
    weight = None if weights is None else weights_of(judgments, weights)
    topics = judgments.topics
    if weight is not None:
        counting = dict(zip(judgments.assessors, weight, strict=True))
        judgments = judgments.select(assessors=lambda name: bool(counting[name].any()))
        weight = np.array([counting[name] for name in judgments.assessors])
    scale = Scale("fractions", 1.0) if gains == "rescaled" else judgments.shared_scale()
    one = (judgments.rescaled() if gains == "rescaled" else judgments).single(repeats=repeats)
    value = _gains_of(one, gains)
    counts = np.ones((len(one.assessors), len(one.topics)))
    if weight is not None:
        counts = weight[:, [topics.index(label) for label in one.topics]]
    each = counts[one.assessor, one.topic]
    judged = np.flatnonzero((one.value >= 0) & (each > 0))
    if not judged.size:
        raise ArgumentError("judgments: there is no judgment by an assessor of weight above 0")
    pair = one.pair_numbers[judged]
    order = np.lexsort((one.assessor[judged], value[judged], pair))
    rows, pair = judged[order], pair[order]
    first = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
    gain = value[rows]
    who = one.assessor[rows]
    n = np.diff(np.append(first, rows.size))
    total = np.add.reduceat(each[rows], first)
    share = each[rows] / np.repeat(total, n)
    lower, upper = (_quantile(gain, share, first, n, q) for q in interval)
    if shape == "interval":
        mean = lower + (upper - lower) / 2
        variance = (upper - lower) ** 2 / 12
    else:
        mean = np.add.reduceat(each[rows] * gain, first) / total
        unanimous = gain[first] == gain[first + n - 1]
        mean[unanimous] = gain[first][unanimous]
        variance = np.add.reduceat(share * (gain - np.repeat(mean, n)) ** 2, first)
    topic = pair[first] // len(one.documents)
    if single == "pooled":
        alone = n == 1
        variance = np.where(alone, _pooled(variance, topic, n, len(one.topics))[topic], variance)
        reach = np.sqrt(3 * variance)
        lower = np.where(alone, mean - reach, lower)
        upper = np.where(alone, mean + reach, upper)
    starts = np.searchsorted(topic, np.arange(len(one.topics) + 1)).astype(np.int64)
    pool = Pool(one.topics, one.documents, starts, (pair[first] % len(one.documents)).astype(np.int32))
    return GainDistributions(
        pool,
        one.assessors,
        n.astype(np.int64),
        mean,
        variance,
        lower,
        upper,
        np.append(first, rows.size).astype(np.int64),
        gain,
        share,
        who,
        counts,
        gains,
        shape,
        interval,
        single,
        repeats,
        weighted=weight is not None,
        scale=scale,
        n_repeats=judgments.n_repeats(),
    )


def _check(gains: object, shape: object, interval: tuple[float, float], single: object) -> None:
    if isinstance(gains, Mapping):
        try:
            gain_map(dict(gains))
        except ValueError as error:
            raise ArgumentError(f"{error} was expected", "gains", gains) from None
    elif gains not in get_args(Gains):
        raise ArgumentError(f"choose one of {', '.join(get_args(Gains))}, or a map like {{1: 1, 2: 3}}", "gains", gains)
    check_choice("shape", shape, Shape)
    check_choice("single", single, Single)
    if np.shape(interval) != (2,) or not 0 <= interval[0] < interval[1] <= 1:
        raise ArgumentError("two rising shares from 0 to 1 were expected, as (0.1, 0.9)", "interval", interval)


def _gains_of(one: Judgments, gains: Gains | Mapping[float, float]) -> Floats:
    """(n,) the gain of every judgment; rows that are not judged are left out later."""
    if gains == "log":
        zero = np.flatnonzero(one.value == 0)
        if zero.size:
            raise ScaleError(
                f"{one.describe(int(zero[0]))}: 0 has no logarithm, so no gain; gains='log' is for magnitudes, "
                "grades take 'as-is', 'rescaled' or a map"
            )
        return np.asarray(np.log(np.where(one.value > 0, one.value, 1.0)))
    values = one.value.copy()
    if isinstance(gains, Mapping):
        for value, gain in gains.items():
            values[one.value == value] = gain
    return values


def _quantile(gain: Floats, share: Floats, first: Ints, n: Ints, q: float) -> Floats:
    """(pairs,) the smallest gain at which the shares of gains up to it reach q; gains rise within each pair."""
    total = np.cumsum(share)
    inside = total - np.repeat(total[first] - share[first], n)
    short = np.add.reduceat(inside < q - ROUNDING, first, dtype=np.int64)
    return np.asarray(gain[first + np.minimum(short, n - 1)])


def _pooled(variance: Floats, topic: Ints, n: Ints, n_topics: int) -> Floats:
    """(topics,) mean variance of the documents of several judgments; of all topics' where a topic has none."""
    several = n > 1
    if not several.any():
        raise ArgumentError("single='pooled': no document was judged by two assessors, so there is no variance to pool")
    count = np.bincount(topic[several], minlength=n_topics)
    total = np.bincount(topic[several], variance[several], minlength=n_topics)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), variance[several].mean()))
