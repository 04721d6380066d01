"""The largest t of many pairs of systems in replicates of the data, for a step-down test of all pairs.

Romano, Wolf (2005), Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing. JASA 100(469), 94-108.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def exceedances(
    means: Floats,
    shifts: Floats,
    draws: Floats,
    squares: Floats,
    n_topics: int,
    error: Floats,
    share: Floats,
    weight: float,
    own: float,
    first: Ints,
    second: Ints,
    observed: Floats,
) -> Ints:
    """(pairs,) in how many replicates the largest t of the hypotheses that are left reaches the pair's observed one.

    Of every pair there are two hypotheses, one for each direction: `first` is not ahead of `second`, and the other way
    round. Going from the largest observed t to the smallest, a hypothesis is left out of the maximum once it has had
    its turn; those of the opposite directions stay, since none of them can be rejected.

    means : (replicates, systems) of topics with random signs. squares : (systems, systems) sum over topics of the
    squared centred difference, which signs do not change; the replicate's variance of a difference d of means is
    (squares / T - d^2) / (T - 1), plus that of assessors, as follows.
    shifts : (replicates, systems) what the assessors add to the means; pairs take `share` of it. draws : (replicates,
    df, systems) of the assessors' mean squares; no rows where assessors are not drawn. error : (systems, systems) mean
    square of the rest. A pair's mean square of assessors is `own` of its own in the replicate, the rest is `error`
    times one ratio for all pairs; `weight` times what it has above `error` is the variance.
    first, second, observed : (pairs,) with observed t >= 0, in descending order.
    """
    n_systems, df = means.shape[1], draws.shape[1]
    out = np.zeros(observed.size, np.int64)
    t = np.empty((n_systems, n_systems))
    mean_squares = np.zeros(n_systems)
    total_error = error.sum()
    for r in range(means.shape[0]):
        ratio = 0.0
        if df > 0:
            total = 0.0
            for k in range(df):
                of_row = draws[r, k].mean()
                for i in range(n_systems):
                    total += (draws[r, k, i] - of_row) ** 2
            # The sum over all ordered pairs of squared differences is 2 S times that around the mean.
            ratio = 2 * n_systems * total / df / total_error if total_error > 0.0 else 0.0
        for i in range(n_systems):
            if df > 0:
                mean_squares[:i] = 0.0
                for k in range(df):
                    at = draws[r, k, i]
                    for j in range(i):
                        mean_squares[j] += (at - draws[r, k, j]) ** 2
            for j in range(i):
                apart = means[r, i] - means[r, j]
                variance = max(squares[i, j] / n_topics - apart * apart, 0.0) / (n_topics - 1)
                if df > 0:
                    of_pair = own * mean_squares[j] / df + (1.0 - own) * ratio * error[i, j]
                    variance += weight * max(of_pair - error[i, j], 0.0)
                    apart += share[i, j] * (shifts[r, i] - shifts[r, j])
                if variance > 0.0:
                    t[i, j] = apart / np.sqrt(variance)
                elif squares[i, j] > 0.0:
                    t[i, j] = np.inf if apart > 0.0 else -np.inf
                else:
                    t[i, j] = 0.0
                t[j, i] = -t[i, j]
        most = 0.0
        for p in range(observed.size):
            most = max(most, t[second[p], first[p]])
        for p in range(observed.size - 1, -1, -1):
            most = max(most, t[first[p], second[p]])
            if most >= observed[p]:
                out[p] += 1
    return out
