"""Intervals of statistics over documents, where documents of one topic may be alike: topics are left out in turn."""

from __future__ import annotations

import numpy as np

from qrowd.comparison.bounded import UNBOUNDED, Bounds, cut
from qrowd.kernels.arrays import Floats


def jackknife_interval(
    value: Floats, without: Floats, n: Floats, confidence: float, *, bounds: Bounds = UNBOUNDED
) -> tuple[Floats, Floats]:
    """Low and high end of Student's interval with the standard error of leaving out one topic at a time.

    value : (...). without : (..., topics) the same without each topic; nan where nothing is left. n : (..., topics)
    documents of each topic; a topic without documents is none.

    The degrees of freedom are (sum n)^2 / sum n^2 - 1, as for `topics_t`: the number of topics less one where all are
    of equal size. nan where there are fewer than two topics, or where the statistic needs one of them.
    """
    from scipy.special import stdtrit

    there = n > 0
    n_topics = there.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.where(there, without, 0.0).sum(axis=-1) / n_topics
        squares = (np.where(there, without - centre[..., None], 0.0) ** 2).sum(axis=-1)
        standard_error = np.sqrt((n_topics - 1) / n_topics * squares)
        freedom = n.sum(axis=-1) ** 2 / (n**2).sum(axis=-1) - 1
        half = np.where(freedom > 0, stdtrit(np.maximum(freedom, 1e-9), (1 + confidence) / 2), np.nan) * standard_error
    return cut(value - half, value + half, bounds)


def jackknife_mean(
    total: Floats, n: Floats, confidence: float, *, bounds: Bounds = UNBOUNDED
) -> tuple[Floats, Floats, Floats]:
    """Mean over documents, and its interval; total, n : (..., topics) sum of the values and number of documents."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total.sum(axis=-1) / n.sum(axis=-1)
        without = (total.sum(axis=-1, keepdims=True) - total) / (n.sum(axis=-1, keepdims=True) - n)
    return mean, *jackknife_interval(mean, without, n, confidence, bounds=bounds)
