"""Log-worths of one topic's documents, all else being given: derivatives of the objective, and one more preference.

See `qrowd.kernels.bradley_terry` for the model and its objective.
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Codes, Floats
from qrowd.kernels.bradley_terry import outcome
from qrowd.kernels.compiled import kernel

# What kernels take: the arrays of `bradley_terry.Rows`.
RowArrays = tuple[Codes, Codes, Codes, Floats, Floats, Floats, Floats]
ROWS = "(int32[:], int32[:], int32[:], float64[:], float64[:], float64[:], float64[:])"


@kernel(ROWS + ", float64[:], float64[:], float, float, float64[:]")
def curvature(rows: RowArrays, scale: Floats, shift: Floats, nu: float, ridge: float, log_worth: Floats) -> Floats:
    """(documents, documents) second derivatives of the objective by log_worth.

    scale, shift : (comparisons,) eta = scale (s_first - s_second) + shift, whoever the assessor is.
    """
    first, second, _, _, won, lost, tied = rows
    n = log_worth.size
    out = np.zeros((n, n))
    for i in range(n):
        out[i, i] = 2.0 * ridge
    for e in range(first.size):
        i, j = first[e], second[e]
        p, q, _, _ = outcome(scale[e] * (log_worth[i] - log_worth[j]) + shift[e], nu)
        w = scale[e] ** 2 * 0.25 * (won[e] + lost[e] + tied[e]) * (p + q - (p - q) ** 2)
        out[i, i] += w
        out[j, j] += w
        out[i, j] -= w
        out[j, i] -= w
    return out


@kernel("float64[:,:], float64[:], int, int, float, float, float, float")
def one_more(
    covariance: Floats,
    log_worth: Floats,
    preferred: int,
    other: int,
    scale: float,
    shift: float,
    weight: float,
    nu: float,
) -> tuple[Floats, Floats]:
    """Log-worths and their covariance after one more preference, all that was known being taken for Gaussian.

    The most probable log-worths lie on a line: s + covariance (e_preferred - e_other) * t, where t solves one equation,
    by Newton's method, or halving. The covariance loses one rank-one term (Sherman & Morrison).
    """
    n = log_worth.size
    d = np.empty(n)
    for i in range(n):
        d[i] = covariance[i, preferred] - covariance[i, other]
    spread = d[preferred] - d[other]
    gap = log_worth[preferred] - log_worth[other]
    t, bend = _solution(spread, gap, scale, shift, weight, nu)
    factor = bend / (1.0 + bend * spread)
    new = np.empty((n, n))
    moved = np.empty(n)
    for i in range(n):
        moved[i] = log_worth[i] + t * d[i]
        for j in range(n):
            new[i, j] = covariance[i, j] - factor * d[i] * d[j]
    return moved, new


@kernel()
def _solution(spread: float, gap: float, scale: float, shift: float, weight: float, nu: float) -> tuple[float, float]:
    """t of `one_more`, and the objective's second derivative by the gap there."""
    t = 0.0
    bend = 0.0
    move = np.inf
    least = min(0.0, weight * scale)
    most = max(0.0, weight * scale)
    for _ in range(200):
        p, q, _, _ = outcome(scale * (gap + t * spread) + shift, nu)
        slope = 0.5 * weight * scale * (1.0 - p + q)
        bend = 0.25 * weight * scale * scale * (p + q - (p - q) ** 2)
        if slope > t:
            least = t
        else:
            most = t
        new_t = t + (slope - t) / (1.0 + bend * spread)
        if not least <= new_t <= most or abs(new_t - t) > 0.5 * abs(move):  # does not close in: halve what is left
            new_t = 0.5 * (least + most)
        move = new_t - t
        t = new_t
        if abs(move) < 1e-13:
            break
    return t, bend


@kernel(ROWS + ", float64[:], float64[:], float, float, float64[:]")
def slopes(rows: RowArrays, scale: Floats, shift: Floats, nu: float, ridge: float, log_worth: Floats) -> Floats:
    """(documents,) first derivatives of the objective by log_worth; scale and shift as of `curvature`."""
    first, second, _, _, won, lost, tied = rows
    out = np.empty(log_worth.size)
    for i in range(log_worth.size):
        out[i] = 2.0 * ridge * log_worth[i]
    for e in range(first.size):
        i, j = first[e], second[e]
        p, q, _, _ = outcome(scale[e] * (log_worth[i] - log_worth[j]) + shift[e], nu)
        slope = 0.5 * scale[e] * ((won[e] + lost[e] + tied[e]) * (p - q) - (won[e] - lost[e]))
        out[i] += slope
        out[j] -= slope
    return out
