"""Confidence sequences: bounds of an estimate that hold at all times at once, so one may look after every answer.

The error of an estimate with information V (one over its variance) behaves as a Brownian motion S at time V, divided by
V. For each d, exp(d S - d^2 V / 2) is a martingale with mean 1, so a mixture over d exceeds 1 / alpha at some time with
probability alpha at most (Ville). Robbins (1970, Ann. Math. Stat. 41, 1397-1409) mixes over a normal distribution of d;
here 90 % of the mixture are differences d from .01 to .12, equal on the scale of logarithms, of both signs, so that the
bound is nearly as narrow as it can be at every difference between them; the rest reaches from .0005 to 2.

For estimates of unknown variance the bound holds asymptotically: Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024),
Time-uniform central limit theory and asymptotic confidence sequences, Ann. Stat. 52(6).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qrowd.kernels.arrays import Floats

DIFFERENCES = np.concatenate([np.geomspace(0.0005, 0.0075, 8), np.geomspace(0.01, 0.12, 10), np.geomspace(0.16, 2, 8)])
SHARES = np.repeat([0.05, 0.9, 0.05], [8, 10, 8]) / np.repeat([8, 10, 8], [8, 10, 8])
MIN_DRAWS = 15  # before which the approximation is not trusted
SHARE = 1 / 6  # of the error rate, for errors that no draw reduces; by simulation, see the tests


def mixture_bound(information: ArrayLike, *, confidence: float = 0.95) -> Floats:
    """Half of the width of the confidence sequence where the estimate has this information; inf where it has none.

    The S at which the weighted mean of cosh(d S) exp(-d^2 V / 2) is 1 / alpha, over V.

    >>> mixture_bound([0.0, 2500.0, 40000.0]).round(4)
    array([   inf, 0.0626, 0.016 ])
    """
    v = np.asarray(information, np.float64)
    time = np.where((v > 0) & np.isfinite(v), v, 1.0)
    d = DIFFERENCES.reshape(-1, *[1] * v.ndim)
    goal = -np.log(1 - confidence)
    shares = np.log(SHARES / 2).reshape(d.shape)
    s = np.min((goal - shares + d * d * time / 2) / d, axis=0)  # where one term alone suffices
    for _ in range(60):  # Newton's steps of a convex function, from above
        terms = shares + d * s - d * d * time / 2
        largest = terms.max(axis=0)
        plus, minus = np.exp(terms - largest), np.exp(terms - 2 * d * s - largest)
        total = (plus + minus).sum(axis=0)
        step = (np.log(total) + largest - goal) / ((d * (plus - minus)).sum(axis=0) / total)
        s = s - step
        if np.all(np.abs(step) <= 1e-12 * s):
            break
    return np.where(v > 0, np.where(np.isfinite(v), s / time, 0.0), np.inf)


def interval_half(
    information: ArrayLike, n_draws: int, *, confidence: float = 0.95, variance: ArrayLike = 0.0
) -> Floats:
    """Half of the width of the interval after this many judged draws: inf before `MIN_DRAWS`, 0 where all is judged.

    variance : of an error that no draw reduces, such as that of a sample of topics. Its normal quantile, at `SHARE` of
    the error rate, is added in squares: with less, a path would leave the interval too often on its way from one error
    to the other.
    """
    from scipy.special import ndtri

    v = np.asarray(information, np.float64)
    half = mixture_bound(v, confidence=confidence)
    half = half if n_draws >= MIN_DRAWS else np.where(np.isinf(v), 0.0, np.inf)
    return np.asarray(np.hypot(half, -ndtri(SHARE * (1 - confidence) / 2) * np.sqrt(variance)))
