"""The same for grades: which document to grade next, and what is certain about systems whatever the rest will get.

Carterette, Allan & Sitaraman (2006), Minimal Test Collections for Retrieval Evaluation. SIGIR, 268-275.
"""

from __future__ import annotations

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels import scheduling
from qrowd.kernels.arrays import Floats
from qrowd.preferences.scheduling.bounds import Bounds


def grade_bounds(gains: Floats, coefficients: Floats, *, lowest: float = 0.0, highest: float = 1.0) -> Bounds:
    """Exact bounds on the difference of every two systems under a measure that is linear in gains.

        E_e - E_f = sum over documents of (c_e - c_f) gain

    gains : (documents,) of what was judged, nan where it was not. A measure that divides this by a number all systems
        share (nDCG, by the ideal) has the same sign.
    coefficients : (systems, documents) what one unit of gain of each document adds to each system's score; 0 where a
        system does not rank it.
    lowest, highest : gains that an unjudged document may turn out to have; 0 and 1 for binary judgments.

    Source: Carterette, Allan & Sitaraman (2006), Minimal Test Collections for Retrieval Evaluation. SIGIR, 268-275.

    >>> bounds = grade_bounds(np.array([1, np.nan]), np.array([[1, 0.5], [0, 0.8]]))
    >>> print(f"{bounds.low[0, 1]:.1f} to {bounds.high[0, 1]:.1f}")
    0.7 to 1.0
    """
    values, weights = _checked(gains, coefficients)
    if not lowest <= highest or (values[~np.isnan(values)] < lowest).any() or (values > highest).any():
        raise ArgumentError(f"lowest={lowest:g}, highest={highest:g}: every gain must lie between them")
    left = np.isnan(values)
    gap = weights[:, None, :] - weights[None, :, :]
    certain = gap[..., ~left] @ values[~left]
    one, two = gap[..., left] * lowest, gap[..., left] * highest
    return Bounds(certain + np.minimum(one, two).sum(axis=-1), certain + np.maximum(one, two).sum(axis=-1))


def grade_utility(gains: Floats, coefficients: Floats) -> Floats:
    """(documents,) how much of all bounds' width a judgment takes away, per unit of gain; -1 where already judged.

        U(d) = sum over pairs of systems e, f of |c_e(d) - c_f(d)|

    gains, coefficients : as in `grade_bounds`.

    >>> grade_utility(np.array([1, np.nan, np.nan]), np.array([[1, 0.5, 0.4], [0, 0.8, 0.4]])).round(1).tolist()
    [-1.0, 0.3, 0.0]
    """
    values, weights = _checked(gains, coefficients)
    utility = np.empty(values.size)
    scheduling.summed_differences(np.ascontiguousarray(weights.T), np.ones(weights.shape[0]), utility)
    return np.where(np.isnan(values), utility, -1.0)


def next_document(gains: Floats, coefficients: Floats) -> int | None:
    """The unjudged document of the greatest `grade_utility`, the first of equal ones; None when all are judged."""
    value = grade_utility(gains, coefficients)
    return int(np.argmax(value)) if (value >= 0).any() else None


def _checked(gains: Floats, coefficients: Floats) -> tuple[Floats, Floats]:
    values, weights = np.asarray(gains, np.float64), np.asarray(coefficients, np.float64)
    if values.ndim != 1 or weights.ndim != 2 or weights.shape[1] != values.size or weights.shape[0] < 2:
        raise ArgumentError(
            f"coefficients: expected 2 or more systems x {values.size} documents, found shape {weights.shape}"
        )
    return values, weights
