"""The largest |t| of all pairs of systems in replicates of the data, as it is and corrected for skewness.

Hall (1992), On the Removal of Skewness by Transformation. JRSS B 54(1), 221-228, section 2: where scores are skewed, a
mean and its standard error depend on each other, and t has a heavy tail on one side. The transformation of t removes
that to first order. It is a cubic function that only rises, so that it can be solved for t.
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats


def without_skewness(t: Floats, skewness: Floats) -> Floats:
    """t + g (t^2 / 3 + 1 / 6) + g^2 t^3 / 27, where g is the skewness of the estimate in the numerator of t."""
    return np.asarray(t + skewness * (t * t * (1 / 3 + skewness * t / 27) + 1 / 6))


def with_skewness(corrected: Floats, skewness: Floats) -> Floats:
    """The t that `without_skewness` turns into this."""
    rest = corrected - skewness / 6
    some = np.where(np.abs(skewness) > 1e-8, skewness, 1.0)
    return np.where(some == skewness, 3 * (np.cbrt(1 + some * rest) - 1) / some, rest)


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
    squared centred difference, which signs do not change.
    shifts : (replicates, systems) what the assessors add to the means; pairs take `share` of it. draws : (replicates,
    df, systems) of the assessors' mean squares; no rows where assessors are not drawn. rest : mean square of what is
    left of the difference. A pair's mean square of assessors is `own` of its own in the replicate, the remainder is
    `rest` times one ratio for all pairs; `weight` times what it has above `rest` is the variance.
    """
    n_topics, n_systems = centred.shape
    df, per_topic, means = draws.shape[1], squares / n_topics, signs @ centred / n_topics
    own_squares = (draws * draws).sum(axis=1)
    # The sum over all ordered pairs of squared differences is 2 S times that around the mean.
    around = ((draws - draws.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2))
    ratio = 2 * n_systems * around / max(df, 1) / (rest.sum() or np.inf)
    largest = np.zeros((2, len(signs)))
    for i in range(1, n_systems):
        differences = centred[:, [i]] - centred[:, :i]
        apart = means[:, [i]] - means[:, :i]
        square = apart * apart
        third = signs @ (differences * differences * differences) / n_topics
        third -= apart * (3 * per_topic[i, :i] - 2 * square)
        variance = np.maximum(per_topic[i, :i] - square, 0.0) / (n_topics - 1)
        if df:
            products = (draws[:, None, :, i] @ draws[:, :, :i])[:, 0]
            of_pair = (own_squares[:, [i]] + own_squares[:, :i] - 2 * products) * (own / df)
            of_pair += ((1 - own) * ratio)[:, None] * rest[i, :i]
            variance += weight * np.maximum(of_pair - rest[i, :i], 0.0)
            apart += share[i, :i] * (shifts[:, [i]] - shifts[:, :i])
        error = np.sqrt(variance)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = apart / error
            both = np.abs([t, without_skewness(t, third / (variance * error) / (n_topics - 1) ** 2)])
        # What varies over topics and does not in a replicate is infinitely far from 0 there.
        both = np.where(error > 0, both, np.where(squares[i, :i] > 0, np.inf, 0.0))
        largest = np.maximum(largest, both.max(axis=2))
    return largest
