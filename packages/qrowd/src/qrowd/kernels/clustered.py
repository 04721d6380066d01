"""The mean of bounded values in clusters, with an interval that also holds for rare values and few clusters."""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats, Ints

PSEUDO = 2.0  # clusters that are added


def clustered_mean(values: Floats, cluster: Ints, *, bound: float, confidence: float) -> tuple[float, float, float]:
    """Mean, low and high of values between -bound and bound; those of one cluster may be alike.

    The interval is t over clusters (linearised ratio of sums, one degree of freedom less than there are clusters) after
    two clusters of mean size are added: one with the value 0, half a cluster with -bound and half a one with bound. For
    values -1, 0 and 1 in clusters of one it is the interval of Agresti & Min (2005), Simple improved confidence
    intervals for comparing matched proportions, Statistics in Medicine 24, but with t for z. Where no value differs
    from 0 the interval therefore has a width, as it should: about 2 t bound / (clusters + 2).

    In simulations (changes of 0 or 1 on 0-1, 1 or 3 on 0-3, with probabilities 0 to 1; 1 or 4 values in a cluster) the
    95 % interval contains the mean in .89 or more with 10 clusters and .91 or more with 20 or 50; t without the added
    clusters in .18, .32 and .63 where changes are rare.

    nan without values; low and high nan with fewer than two clusters.
    """
    from scipy.special import stdtrit

    if not values.size:
        return np.nan, np.nan, np.nan
    _, number = np.unique(cluster, return_inverse=True)
    sums, sizes = np.bincount(number, values), np.bincount(number).astype(np.float64)
    mean = float(values.mean())
    n = sizes.size
    if n < 2:
        return mean, np.nan, np.nan
    size = sizes.mean()
    total = sizes.sum() + PSEUDO * size
    centre = sums.sum() / total
    added = PSEUDO / 4 * size**2 * (2 * centre**2 + (bound - centre) ** 2 + (bound + centre) ** 2)
    squares = ((sums - centre * sizes) ** 2).sum() + added
    error = np.sqrt((n + PSEUDO) / (n + PSEUDO - 1) * squares) / total
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * error)
    low, high = max(float(centre) - half, -bound), min(float(centre) + half, bound)
    return mean, min(low, mean), max(high, mean)
