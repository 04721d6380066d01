"""The largest |t| of all pairs of systems in replicates of the data, the error estimated anew in each of them."""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.kernels.compiled import kernel


@kernel("float64[:,:], float64[:,:], float64[:,:,:], float64[:,:], int, float64[:,:], float64[:,:], float, float")
def largest_t(
    means: Floats,
    shifts: Floats,
    draws: Floats,
    squares: Floats,
    n_topics: int,
    rest: Floats,
    share: Floats,
    weight: float,
    own: float,
) -> Floats:
    """(replicates,) the largest |t| of all pairs of systems; a pair whose difference does not vary is left out.

    means : (replicates, systems) of topics with random signs. squares : (systems, systems) sum over topics of the
    squared centred difference, which signs do not change; the replicate's variance of a difference d of means is
    (squares / T - d^2) / (T - 1), plus that of assessors, as follows.
    shifts : (replicates, systems) what the assessors add to the means; pairs take `share` of it. draws : (replicates,
    df, systems) of the assessors' mean squares; no rows where assessors are not drawn. rest : mean square of what is
    left of the difference. A pair's mean square of assessors is `own` of its own in the replicate, the remainder is
    `rest` times one ratio for all pairs; `weight` times what it has above `rest` is the variance.
    """
    n_systems, df = means.shape[1], draws.shape[1]
    out = np.zeros(means.shape[0])
    mean_squares = np.zeros(n_systems)
    most = np.zeros(n_systems)  # of t squared, by the second system of the pair: no branches, so that vectors are used
    per_topic = squares / n_topics
    total_rest = rest.sum()
    for r in range(means.shape[0]):
        ratio = 0.0
        if df > 0 and total_rest > 0.0:
            total = 0.0
            for k in range(df):
                of_row = draws[r, k].mean()
                for i in range(n_systems):
                    total += (draws[r, k, i] - of_row) ** 2
            # The sum over all ordered pairs of squared differences is 2 S times that around the mean.
            ratio = 2 * n_systems * total / df / total_rest
        most[:] = 0.0
        for i in range(n_systems):
            mean_squares[:i] = 0.0
            for k in range(df):
                at = draws[r, k, i]
                for j in range(i):
                    mean_squares[j] += (at - draws[r, k, j]) ** 2
            for j in range(i):
                apart = means[r, i] - means[r, j]
                variance = max(per_topic[i, j] - apart * apart, 0.0) / (n_topics - 1)
                of_pair = own * mean_squares[j] / max(df, 1) + (1.0 - own) * ratio * rest[i, j]
                variance += weight * max(of_pair - rest[i, j], 0.0)
                apart += share[i, j] * (shifts[r, i] - shifts[r, j])
                certain = np.inf if squares[i, j] > 0.0 else 0.0
                square = apart * apart / variance if variance > 0.0 else certain
                most[j] = square if square > most[j] else most[j]
        out[r] = np.sqrt(most.max())
    return out
