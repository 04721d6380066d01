"""How far some assessors' scores stand from those of thousands of others, by every gap of AWARE.

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2),
section 4.3. Everywhere `crowd` is (assessors, systems) and `random` is (systems, replicates), scores on one topic or
their means over topics; results are (assessors, replicates).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.kernels.compiled import kernel

Words = NDArray[np.uint64]
DENSITY_FLOOR = 1e-12  # no density is lower, so that its logarithm exists
REACH = 10.0  # bandwidths beyond which a Gaussian adds nothing that the floor would show


def bits(word: np.uint64) -> np.uint64:
    """How many bits of a 64-bit word are set, in pairs, fours, bytes; compilers know it for one instruction."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    in_bytes = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (in_bytes * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel("float64[:,:], float64[:,:]", arrays=lambda crowd, random: (np.empty((crowd.shape[0], random.shape[1])),))
def squared_distances(crowd: Floats, random: Floats) -> Floats:
    """Sum over systems of the squared differences of scores."""
    n_systems, n_replicates = random.shape
    out = np.zeros((crowd.shape[0], n_replicates))
    for a in range(crowd.shape[0]):
        for s in range(n_systems):
            score = crowd[a, s]
            for h in range(n_replicates):
                difference = score - random[s, h]
                out[a, h] += difference * difference
    return out


def _sets(crowd: Floats, n_words: int) -> tuple[Words, Words]:
    """(assessors, systems, words) the systems that the assessor puts above each system, and level with it, as bits."""
    n_assessors, n_systems = crowd.shape
    above = np.zeros((n_assessors, n_systems, n_words), np.uint64)
    level = np.zeros((n_assessors, n_systems, n_words), np.uint64)
    for a in range(n_assessors):
        for i in range(n_systems):
            for j in range(n_systems):
                bit = np.uint64(1) << np.uint64(j & 63)
                if crowd[a, j] > crowd[a, i]:
                    above[a, i, j >> 6] |= bit
                elif crowd[a, j] == crowd[a, i]:
                    level[a, i, j >> 6] |= bit
    return above, level


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

    A set of systems is a row of bits, so that counting who of those ahead is above takes an instruction per 64 systems.
    """
    n_assessors, n_systems = crowd.shape
    n_replicates = random.shape[1]
    n_words = (n_systems + 63) >> 6
    above, level = _sets(crowd, n_words)
    harmonic = np.zeros(n_systems + 1)
    for i in range(1, n_systems + 1):
        harmonic[i] = harmonic[i - 1] + 1.0 / i
    tau = np.empty((n_assessors, n_replicates))
    apc = np.empty((n_assessors, n_replicates))
    column = np.empty(n_systems)
    ahead = np.zeros(n_words, np.uint64)
    correct = np.empty(n_assessors)
    order = np.empty(n_assessors, np.int64)
    for h in range(n_replicates):
        for s in range(n_systems):
            column[s] = -random[s, h]
        walk = np.argsort(column)
        ahead[:] = 0
        correct[:] = 0.0
        order[:] = 0
        chance = 0.0
        p = 0
        while p < n_systems:
            end = p + 1
            while end < n_systems and column[walk[end]] == column[walk[p]]:
                end += 1
            t = end - p
            if p == 0:
                chance += 0.5 * (t - 1)
            else:
                share = (harmonic[end - 1] - harmonic[p - 1]) / t
                # sum_k (k-1)/(p+k-1) = t - p (H_{p+t-1} - H_{p-1})
                chance += 0.5 * (t - p * (harmonic[end - 1] - harmonic[p - 1]))
                for k in range(p, end):
                    i = walk[k]
                    for a in range(n_assessors):
                        higher = np.int64(0)
                        equal = np.int64(0)
                        for w in range(n_words):
                            higher += np.int64(bits(ahead[w] & above[a, i, w]))
                            equal += np.int64(bits(ahead[w] & level[a, i, w]))
                        correct[a] += share * (higher + 0.5 * equal)
                        order[a] += 2 * higher + equal - p
            for k in range(p, end):
                i = walk[k]
                ahead[i >> 6] |= np.uint64(1) << np.uint64(i & 63)
            p = end
        for a in range(n_assessors):
            tau[a, h] = 2.0 * order[a] / (n_systems * (n_systems - 1.0))
            apc[a, h] = 2.0 * (correct[a] + chance) / (n_systems - 1.0) - 1.0
    return tau, apc


@kernel("float64[:,:], float, float64[:,:]")
def add_densities(scores: Floats, bandwidth: float, density: Floats) -> None:
    """Add each score's Gaussian to the densities, unnormalised: exp(-((x - score) / bandwidth)^2 / 2).

    scores : (systems, columns); nan adds nothing. density : (columns, points), at points equally spaced from 0 to 1.
    """
    n_systems, n_columns = scores.shape
    n_points = density.shape[1]
    step = 1.0 / (n_points - 1)
    reach = int(np.ceil(REACH * bandwidth / step))
    falls = np.empty(reach + 2)
    for k in range(reach + 2):
        falls[k] = np.exp(-0.5 * (k * step / bandwidth) ** 2)
    for c in range(n_columns):
        for s in range(n_systems):
            score = scores[s, c]
            if np.isnan(score):
                continue
            nearest = round(score / step)
            offset = (score - nearest * step) / bandwidth
            centre = np.exp(-0.5 * offset * offset)
            if 0 <= nearest < n_points:
                density[c, nearest] += centre
            # exp(-(k d - o)^2/2) = exp(-o^2/2) exp(-(k d)^2/2) exp(o k d): a product that grows by a factor a step
            factor = np.exp(offset * step / bandwidth)
            up, down, grow, shrink = centre, centre, factor, 1.0 / factor
            for k in range(1, reach + 1):
                up *= grow
                down *= shrink
                if 0 <= nearest + k < n_points:
                    density[c, nearest + k] += up * falls[k]
                if 0 <= nearest - k < n_points:
                    density[c, nearest - k] += down * falls[k]


@kernel("float64[:,:], float64[:,:]", arrays=lambda crowd, random: (np.empty((crowd.shape[0], random.shape[0])),))
def divergences(crowd: Floats, random: Floats) -> Floats:
    """Kullback-Leibler divergence of each assessor's density from each replicate's, in nats.

    crowd : (assessors, points), random : (replicates, points), unnormalised. Each is made to sum to 1 over the points
    and not to fall below 1e-12. D(crowd || random) = sum crowd ln(crowd / random) (equation 11, which has no dx).
    """
    n_assessors, n_points = crowd.shape
    own = np.empty((n_assessors, n_points))
    entropy = np.empty(n_assessors)
    for a in range(n_assessors):
        total = crowd[a].sum()
        entropy[a] = 0.0
        for x in range(n_points):
            own[a, x] = max(crowd[a, x] / total, DENSITY_FLOOR)
            entropy[a] += own[a, x] * np.log(own[a, x])
    out = np.empty((n_assessors, random.shape[0]))
    logs = np.empty(n_points)
    for h in range(random.shape[0]):
        total = random[h].sum()
        for x in range(n_points):
            logs[x] = np.log(max(random[h, x] / total, DENSITY_FLOOR))
        for a in range(n_assessors):
            cross = 0.0
            for x in range(n_points):
                cross += own[a, x] * logs[x]
            out[a, h] = entropy[a] - cross
    return out
