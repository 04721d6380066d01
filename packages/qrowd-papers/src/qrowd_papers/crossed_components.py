"""Variance components of a crossed table with random effects, complete or not: Henderson's method 1.

Henderson (1953), Estimation of Variance and Covariance Components. Biometrics 9(2), 226-252. Searle, Casella, McCulloch
(1992), Variance Components, chapter 5.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from qrowd.kernels.arrays import Floats

Term = tuple[int, ...]  # axes of the table: one for a main effect, all of them for what is left to error


def crossed_terms(n_axes: int) -> list[Term]:
    """Every set of axes but the empty one: main effects first, the set of all axes last.

    >>> crossed_terms(2)
    [(0,), (1,), (0, 1)]
    """
    return [term for size in range(1, n_axes + 1) for term in combinations(range(n_axes), size)]


def crossed_components(values: Floats, weights: Floats) -> Floats:
    """(resamples, terms) estimates of the variance of each term of `crossed_terms`; nan where they cannot be separated.

    values : nan where there is no value; the first axis holds what is resampled. weights : (resamples, first axis) how
        often each of it is drawn; what is drawn twice counts as two levels.

    Each term A has a sum of squares T_A, the sum over its cells of (sum of the cell)^2 / n. Its expectation is
    N mean^2 + sum over terms B of k(A, B) v_B, where k(A, B) is the sum over the cells u of A and B together of
    n_u^2 / n_A(u). The estimates solve these equations, less that of the mean. In a complete table they are the usual
    ones from mean squares.
    """
    n_axes = values.ndim
    is_value = ~np.isnan(values)
    y = np.where(is_value, values - values[is_value].mean(), 0.0)
    others = [(), *crossed_terms(n_axes)]
    sums, counts = {}, {}  # by the other axes of a set, with all axes kept
    for term in others:
        if 0 not in term:
            along = tuple(axis for axis in range(1, n_axes) if axis not in term)
            sums[term], counts[term] = (x.sum(axis=along, keepdims=True) for x in (y, is_value.astype(np.float64)))
    squares = np.stack([_sum_of_squares(term, sums, counts, weights) for term in others], axis=1)
    expected = np.empty((len(weights), len(others), len(others) - 1))
    for a, first in enumerate(others):
        for b, second in enumerate(others[1:]):
            expected[:, a, b] = _coefficient(first, second, counts, weights)
    squares, expected = squares[:, 1:] - squares[:, :1], expected[:, 1:] - expected[:, :1]
    estimates = np.full(squares.shape, np.nan)
    for r in range(len(weights)):
        # In units of the number of values of a cell of each term, so that the rank is seen.
        scale = np.abs(expected[r]).max(axis=0)
        if (scale > 0).all() and np.linalg.matrix_rank(expected[r] / scale, tol=1e-9) == scale.size:
            estimates[r] = np.linalg.solve(expected[r] / scale, squares[r]) / scale
    return estimates


def _sum_of_squares(term: Term, sums: dict[Term, Floats], counts: dict[Term, Floats], weights: Floats) -> Floats:
    other = tuple(axis for axis in term if axis)
    if 0 in term:
        return _sum(_drawn(_ratio(sums[other] ** 2, counts[other]), weights))
    return _sum(_ratio(_drawn(sums[other], weights) ** 2, _drawn(counts[other], weights)))


def _coefficient(first: Term, second: Term, counts: dict[Term, Floats], weights: Floats) -> Floats:
    """(resamples,) k(first, second)."""
    own = tuple(axis for axis in first if axis)
    n_own, n_both = counts[own], counts[tuple(sorted({*own, *second} - {0}))]
    if 0 in first:
        return _sum(_drawn(_ratio(n_both**2, n_own), weights))
    if 0 in second:
        within = tuple(axis for axis in range(1, n_both.ndim) if axis not in own)
        return _sum(_ratio(_drawn((n_both**2).sum(axis=within, keepdims=True), weights), _drawn(n_own, weights)))
    shape = (len(weights), *n_both.shape[1:])
    n_of_cell = np.broadcast_to(_drawn(n_own, weights).reshape(len(weights), *n_own.shape[1:]), shape)
    return _sum(_ratio(_drawn(n_both, weights).reshape(shape) ** 2, n_of_cell))


def _drawn(x: Floats, weights: Floats) -> Floats:
    """(resamples, cells) sums over the first axis, each row as often as it is drawn."""
    return np.asarray(weights @ x.reshape(x.shape[0], -1))


def _sum(x: Floats) -> Floats:
    """(resamples,) sums over cells."""
    return np.asarray(x.reshape(x.shape[0], -1).sum(axis=1))


def _ratio(x: Floats, n: Floats) -> Floats:
    """x / n, 0 where n is."""
    return np.asarray(np.divide(x, n, out=np.zeros(np.broadcast_shapes(x.shape, np.shape(n))), where=n > 0))
