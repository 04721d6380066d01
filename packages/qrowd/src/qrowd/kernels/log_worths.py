"""Log-worths of one topic's documents, all else being given: derivatives of the objective, and one more preference.

See `qrowd.kernels.bradley_terry` for the model and its objective.
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.kernels.bradley_terry import Rows, outcome


def outcomes(eta: Floats, nu: float) -> tuple[Floats, Floats]:
    """P(first) and P(second) of each comparison."""
    u = np.exp(-0.5 * np.abs(eta))
    total = 1.0 + u * u + nu * u
    high, low = 1.0 / total, u * u / total
    return np.where(eta >= 0.0, high, low), np.where(eta >= 0.0, low, high)


def curvature(rows: Rows, scale: Floats, shift: Floats, nu: float, ridge: float, log_worth: Floats) -> Floats:
    """(documents, documents) second derivatives of the objective by log_worth.

    scale, shift : (comparisons,) eta = scale (s_first - s_second) + shift, whoever the assessor is.
    """
    i, j = rows.first, rows.second
    p, q = outcomes(scale * (log_worth[i] - log_worth[j]) + shift, nu)
    weight = scale**2 * 0.25 * (rows.won + rows.lost + rows.tied) * (p + q - (p - q) ** 2)
    out = np.diag(np.full(log_worth.size, 2.0 * ridge))
    for one, two, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
        np.add.at(out, (one, two), sign * weight)
    return out


def slopes(rows: Rows, scale: Floats, shift: Floats, nu: float, ridge: float, log_worth: Floats) -> Floats:
    """(documents,) first derivatives of the objective by log_worth; scale and shift as of `curvature`."""
    p, q = outcomes(scale * (log_worth[rows.first] - log_worth[rows.second]) + shift, nu)
    slope = 0.5 * scale * ((rows.won + rows.lost + rows.tied) * (p - q) - (rows.won - rows.lost))
    n = log_worth.size
    return 2.0 * ridge * log_worth + np.bincount(rows.first, slope, n) - np.bincount(rows.second, slope, n)


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
    d = covariance[:, preferred] - covariance[:, other]
    spread = float(d[preferred] - d[other])
    gap = float(log_worth[preferred] - log_worth[other])
    t, bend = _solution(spread, gap, scale, shift, weight, nu)
    return log_worth + t * d, covariance - bend / (1.0 + bend * spread) * np.outer(d, d)


def _solution(spread: float, gap: float, scale: float, shift: float, weight: float, nu: float) -> tuple[float, float]:
    """t of `one_more`, and the objective's second derivative by the gap there."""
    t, bend, move = 0.0, 0.0, np.inf
    least, most = min(0.0, weight * scale), max(0.0, weight * scale)
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
        move, t = new_t - t, new_t
        if abs(move) < 1e-13:
            break
    return t, bend
