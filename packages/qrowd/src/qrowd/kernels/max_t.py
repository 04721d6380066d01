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
    per_topic = squares / n_topics
    total_rest = rest.sum()
    cubes = np.zeros((n_systems, n_systems))  # mean over topics of |difference|^3, which signs do not change
    for topic in range(n_topics):
        for i in range(n_systems):
            for j in range(i):
                cubes[i, j] += abs(centred[topic, i] - centred[topic, j]) ** 3 / n_topics
    largest = np.zeros((2, signs.shape[0]))
    means = np.zeros(n_systems)
    mean_squares = np.zeros(n_systems)
    error = np.zeros(n_systems)  # by the second system of the pair, in loops without branches, so that vectors are used
    t = np.zeros(n_systems)
    for r in range(signs.shape[0]):
        means[:] = 0.0
        for topic in range(n_topics):
            for i in range(n_systems):
                means[i] += signs[r, topic] * centred[topic, i] / n_topics
        ratio = 0.0
        if df > 0 and total_rest > 0.0:
            total = 0.0
            for k in range(df):
                of_row = draws[r, k].mean()
                for i in range(n_systems):
                    total += (draws[r, k, i] - of_row) ** 2
            # The sum over all ordered pairs of squared differences is 2 S times that around the mean.
            ratio = 2 * n_systems * total / df / total_rest
        most = 0.0
        most_corrected = 0.0
        for i in range(n_systems):
            mean_squares[:i] = 0.0
            for k in range(df):
                at = draws[r, k, i]
                for j in range(i):
                    mean_squares[j] += (at - draws[r, k, j]) ** 2
            for j in range(i):
                between = means[i] - means[j]
                variance = max(per_topic[i, j] - between * between, 0.0) / (n_topics - 1)
                of_pair = own * mean_squares[j] / max(df, 1) + (1.0 - own) * ratio * rest[i, j]
                variance += weight * max(of_pair - rest[i, j], 0.0)
                apart = between + share[i, j] * (shifts[r, i] - shifts[r, j])
                # What varies over topics and does not in a replicate is infinitely far from 0 there.
                certain = np.inf if squares[i, j] > 0.0 else 0.0
                error[j] = np.sqrt(variance)
                t[j] = apart / error[j] if variance > 0.0 else certain
            for j in range(i):
                size = abs(t[j])
                most = max(most, size)
                if error[j] > 0.0:
                    between = means[i] - means[j]
                    moment = between * (3.0 * per_topic[i, j] - 2.0 * between * between)
                    unit = error[j] * error[j] * error[j] * (n_topics - 1) ** 2
                    # Few pairs can be the largest with any third moment; only theirs is computed.
                    if without_skewness(size, (cubes[i, j] + abs(moment)) / unit) > most_corrected:
                        third = -moment
                        for topic in range(n_topics):
                            difference = centred[topic, i] - centred[topic, j]
                            third += signs[r, topic] * difference * difference * difference / n_topics
                        most_corrected = max(most_corrected, abs(without_skewness(t[j], third / unit)))
                else:
                    most_corrected = max(most_corrected, size)
        largest[0, r] = most
        largest[1, r] = most_corrected
    return largest
