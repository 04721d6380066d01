"""How far some assessors' scores stand from those of thousands of others, by every gap of AWARE.

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2),
section 4.3. Everywhere `crowd` is (assessors, systems) and `random` is (systems, replicates), scores on one topic or
their means over topics; results are (assessors, replicates).
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.kernels.compiled import kernel

DENSITY_FLOOR = 1e-12  # no density is lower, so that its logarithm exists
PAIRS = 1 << 20  # pairs of systems, times replicates, at once


@kernel("float64[:,:], float64[:,:]", arrays=lambda crowd, random: (np.empty((crowd.shape[0], random.shape[1])),))
def squared_distances(crowd: Floats, random: Floats) -> Floats:
    """Sum over systems of the squared differences of scores."""
    out = np.zeros((crowd.shape[0], random.shape[1]))
    for score, scores in zip(crowd.T, random, strict=True):
        out += (score[:, None] - scores) ** 2
    return out


@kernel(
    "float64[:,:], float64[:,:]", arrays=lambda crowd, random: tuple(np.empty((2, crowd.shape[0], random.shape[1])))
)
def rank_correlations(crowd: Floats, random: Floats) -> tuple[Floats, Floats]:
    """Kendall's tau-a and AP correlation of every assessor with every replicate.

    The replicate's list is walked and the assessor is the reference. Ties of either are broken at random, by exact
    expectation: with the walked list in groups of equal score, p systems ahead of a group of t and P_i those of them
    that the reference puts above i, plus half of those it ties with i,
    tau_ap = 2/(N-1) sum_groups [(H_{p+t-1} - H_{p-1})/t sum_i P_i + 1/2 sum_{k=1..t} (k-1)/(p+k-1)] - 1,
    where the first group, p = 0, gives (t-1)/2. Two systems at least.

    Both are sums over pairs of systems of what the assessor says of a pair times what the replicate says of it.
    """
    n_assessors, n_systems = crowd.shape
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, n_systems + 1)))
    higher = (crowd[:, :, None] > crowd[:, None, :]).astype(np.float64)
    order = (higher - higher.swapaxes(1, 2)).reshape(n_assessors, -1)
    half = 0.5 * (order + 1.0)  # of a tie a half
    tau, apc = np.empty((2, n_assessors, random.shape[1]))
    at_once = max(PAIRS // n_systems**2, 1)
    for begin in range(0, random.shape[1], at_once):
        some = np.s_[:, begin : begin + at_once]
        ahead = random[some][:, None] > random[some]  # (systems, systems, replicates): the first ahead of the second
        p = ahead.sum(axis=0)
        t = (random[some][:, None] == random[some]).sum(axis=0)
        share = np.where(p > 0, (harmonic[p + t - 1] - harmonic[p - 1]) / t, 0.0)
        # sum_k (k-1)/(p+k-1) = t - p (H_{p+t-1} - H_{p-1}), here over the systems of each group
        chance = 0.5 * np.where(p > 0, 1.0 - p * share, (t - 1) / t).sum(axis=0)
        correct = half @ (ahead * share).reshape(n_systems**2, -1)
        tau[some] = 2.0 * (order @ ahead.reshape(n_systems**2, -1)) / (n_systems * (n_systems - 1.0))
        apc[some] = 2.0 * (correct + chance) / (n_systems - 1.0) - 1.0
    return tau, apc


@kernel("float64[:,:], float, float64[:,:]")
def add_densities(scores: Floats, bandwidth: float, density: Floats) -> None:
    """Add each score's Gaussian to the densities, unnormalised: exp(-((x - score) / bandwidth)^2 / 2).

    scores : (systems, columns); nan adds nothing. density : (columns, points), at points equally spaced from 0 to 1.
    """
    points = np.linspace(0.0, 1.0, density.shape[1])
    for score in np.where(np.isnan(scores), np.inf, scores):
        density += np.exp(-0.5 * ((points - score[:, None]) / bandwidth) ** 2)


@kernel("float64[:,:], float64[:,:]", arrays=lambda crowd, random: (np.empty((crowd.shape[0], random.shape[0])),))
def divergences(crowd: Floats, random: Floats) -> Floats:
    """Kullback-Leibler divergence of each assessor's density from each replicate's, in nats.

    crowd : (assessors, points), random : (replicates, points), unnormalised. Each is made to sum to 1 over the points
    and not to fall below 1e-12. D(crowd || random) = sum crowd ln(crowd / random) (equation 11, which has no dx).
    """
    own, other = (np.maximum(x / x.sum(axis=1, keepdims=True), DENSITY_FLOOR) for x in (crowd, random))
    return np.asarray((own * np.log(own)).sum(axis=1, keepdims=True) - own @ np.log(other).T)
