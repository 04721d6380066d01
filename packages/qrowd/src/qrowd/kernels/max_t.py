"""The largest |t| of all pairs of systems in replicates of the data, as it is and corrected for skewness.

Hall (1992), On the Removal of Skewness by Transformation. JRSS B 54(1), 221-228, section 2: where scores are skewed, a
mean and its standard error depend on each other, and t has a heavy tail on one side. The transformation of t removes
that to first order. It is a cubic function that only rises, so that it can be solved for t.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.kernels.compiled import kernel


def without_skewness(t: Any, skewness: Any) -> Any:
    """t + g (t^2 / 3 + 1 / 6) + g^2 t^3 / 27, where g is the skewness of the estimate in the numerator of t."""
    return t + skewness * (t * t * (1 / 3 + skewness * t / 27) + 1 / 6)


def with_skewness(corrected: Floats, skewness: Floats) -> Floats:
    """The t that `without_skewness` turns into this."""
    rest = corrected - skewness / 6
    some = np.where(np.abs(skewness) > 1e-8, skewness, 1.0)
    return np.where(some == skewness, 3 * (np.cbrt(1 + some * rest) - 1) / some, rest)


@kernel(
    "float64[:,:], float64[:,:], float64[:,:], float64[:,:], float64[:,:,:], float64[:,:], float64[:,:], float, float",
    arrays=lambda signs, *_: (np.empty((2, signs.shape[0])),),
)
def largest_t(
    signs: Floats,
    centred: Floats,
    squares: Floats,
    shifts: Floats,
    draws: Floats,
    rest: Floats,
    share: Floats,
    weight: float,
    own: float,
) -> Floats:
    """(2, replicates) the largest |t| of all pairs of systems, and the largest corrected for skewness.

    A pair whose difference does not vary is left out.

    signs : (replicates, topics) of `centred`, (topics, systems). squares : (systems, systems) sum over topics of the
    squared centred difference, which signs do not change; the replicate's variance of a difference d of means is
    (squares / T - d^2) / (T - 1), plus that of assessors, as follows.
    shifts : (replicates, systems) what the assessors add to the means; pairs take `share` of it. draws : (replicates,
    df, systems) of the assessors' mean squares; no rows where assessors are not drawn. rest : mean square of what is
    left of the difference. A pair's mean square of assessors is `own` of its own in the replicate, the remainder is
    `rest` times one ratio for all pairs; `weight` times what it has above `rest` is the variance.
    """
    n_topics, n_systems = centred.shape
    df = draws.shape[1]
    means = np.zeros(shifts.shape)
    for sign, scores in zip(signs.T, centred, strict=True):
        means += sign[:, None] * scores / n_topics
    ratio = np.zeros((signs.shape[0], 1))
    if df > 0 and rest.sum() > 0.0:
        total = ((draws - draws.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2))
        # The sum over all ordered pairs of squared differences is 2 S times that around the mean.
        ratio[:, 0] = 2 * n_systems * total / df / rest.sum()
    largest = np.zeros((2, signs.shape[0]))
    for i in range(1, n_systems):
        between = means[:, [i]] - means[:, :i]
        mean_squares = ((draws[:, :, [i]] - draws[:, :, :i]) ** 2).sum(axis=1)
        per_topic = squares[i, :i] / n_topics
        of_rest = rest[i, :i]
        of_pair = own * mean_squares / max(df, 1) + (1.0 - own) * ratio * of_rest
        variance = np.maximum(per_topic - between * between, 0.0) / (n_topics - 1)
        variance += weight * np.maximum(of_pair - of_rest, 0.0)
        varies = variance > 0.0
        error = np.sqrt(variance)
        # What varies over topics and does not in a replicate is infinitely far from 0 there.
        certain = np.where(squares[i, :i] > 0.0, np.inf, 0.0)
        moment = between * (3.0 * per_topic - 2.0 * between * between)
        third = signs @ ((centred[:, [i]] - centred[:, :i]) ** 3 / n_topics) - moment
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (between + share[i, :i] * (shifts[:, [i]] - shifts[:, :i])) / error
            corrected = without_skewness(t, third / (error**3 * (n_topics - 1) ** 2))
        for most, values in zip(largest, (t, corrected), strict=True):
            np.fmax(most, np.fmax.reduce(np.where(varies, np.abs(values), certain), axis=1), out=most)
    return largest
