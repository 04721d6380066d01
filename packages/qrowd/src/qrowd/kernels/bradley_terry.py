"""Log-worths of documents from comparisons of two: the maximum of a penalised likelihood, and how to keep up with it.

Comparison e is of documents first[e] and second[e], by assessor[e]. With eta = r_a (s_first - s_second) + c_a side[e],

    P(first) : P(second) : P(tie) = exp(eta / 2) : exp(-eta / 2) : nu

nu = 0 is Bradley & Terry (1952), nu > 0 Davidson (1970), who has ties; side is 1 where `first` was shown first, -1
where `second` was, 0 where nobody knows. The objective, minimised, is

    -sum_e (won log P(first) + lost log P(second) + tied log P(tie))
        + ridge (sum s^2 + sum c^2 + theta^2) + shrinkage sum_a times_a (r_a - 1)^2,       theta = log nu

under the constraint, where assessor weights move, that sum_a times_a (r_a^2 - 1) = 0: their mean square is 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.kernels.compiled import kernel


class Rows(NamedTuple):
    """Comparisons, one row each; every array is (comparisons,)."""

    first: Codes
    second: Codes
    assessor: Codes
    side: Floats
    won: Floats
    lost: Floats
    tied: Floats

    def at(self, which: slice | Ints) -> Rows:
        """Some of the rows."""
        return Rows._make(column[which] for column in self)


class Parameters(NamedTuple):
    """log_worth (documents,), assessor_weight and intercept (assessors,), theta (1,), -inf for none."""

    log_worth: Floats
    assessor_weight: Floats
    intercept: Floats
    theta: Floats


@kernel("float, float")
def outcome(eta: float, nu: float) -> tuple[float, float, float, float]:
    """P(first), P(second), P(tie), and log of exp(eta / 2) + exp(-eta / 2) + nu, without overflow."""
    u = np.exp(-0.5 * abs(eta))
    total = 1.0 + u * u + nu * u
    high, low = 1.0 / total, u * u / total
    log_total = 0.5 * abs(eta) + np.log1p(u * u + nu * u)
    if eta >= 0.0:
        return high, low, nu * u / total, log_total
    return low, high, nu * u / total, log_total


def log_likelihood(rows: Rows, parameters: Parameters) -> float:
    """Of these comparisons."""
    return _log_likelihood(*_tables(rows, parameters), parameters.log_worth.size)


# ---------------------------------------------------------------------- rows and parameters as tables
#
# codes : (3, comparisons) first, second and assessor. numbers : (4, comparisons) side, won, lost, tied.
# x : all parameters in one row: n log-worths, weights and intercepts of assessors, theta; so are steps and derivatives.


def _tables(rows: Rows, parameters: Parameters) -> tuple[Codes, Floats, Floats]:
    return np.stack(rows[:3]), np.stack(rows[3:]), np.concatenate(parameters)


@kernel("int32[:,:], float64[:,:], float64[:], int")
def _log_likelihood(codes: Codes, numbers: Floats, x: Floats, n: int) -> float:
    last = x.size - 1
    n_assessors = (last - n) // 2
    nu = np.exp(x[last])
    total = 0.0
    for e in range(codes.shape[1]):
        k = n + codes[2, e]
        eta = x[k] * (x[codes[0, e]] - x[codes[1, e]]) + x[k + n_assessors] * numbers[0, e]
        _, _, _, log_total = outcome(eta, nu)
        won = numbers[1, e]
        lost = numbers[2, e]
        tied = numbers[3, e]
        total += 0.5 * (won - lost) * eta - (won + lost + tied) * log_total
        if tied > 0.0:
            total += tied * x[last]
    return total


@kernel("int32[:,:], float64[:,:], float64[:], int, float, float, float64[:]")
def _objective(
    codes: Codes, numbers: Floats, x: Floats, n: int, ridge: float, shrinkage: float, times: Floats
) -> float:
    n_assessors = times.size
    last = x.size - 1
    squares = 0.0
    bias_squares = 0.0
    shrunk = 0.0
    for i in range(n):
        squares += x[i] * x[i]
    for k in range(n_assessors):
        apart = x[n + k] - 1.0
        shrunk += times[k] * (apart * apart)
        bias_squares += x[n + n_assessors + k] * x[n + n_assessors + k]
    penalty = ridge * (squares + bias_squares)
    penalty += shrinkage * shrunk
    if x[last] > -np.inf:
        penalty += ridge * (x[last] * x[last])
    return penalty - _log_likelihood(codes, numbers, x, n)


@kernel()
def _multiply(
    codes: Codes,
    side: Floats,
    derivatives: Floats,
    weights: Floats,
    diagonal: Floats,
    moving: Bools,
    x: Floats,
    out: Floats,
) -> None:
    """out = second derivatives times x; rows and columns of what does not move are those of the identity.

    derivatives : as of `_differentiate`. weights : (assessors,)

    Where log-worths and assessor weights move together eta is bent itself, so that its slope counts.
    """
    n_assessors = weights.size
    n = diagonal.size - 2 * n_assessors - 1
    last = x.size - 1
    for i in range(x.size):
        out[i] = diagonal[i] * x[i]
    for e in range(codes.shape[1]):
        i = codes[0, e]
        j = codes[1, e]
        k = n + codes[2, e]
        r = weights[codes[2, e]]
        gap = derivatives[0, e]
        slope = derivatives[1, e]
        change = 0.0
        if moving[0]:
            change += r * (x[i] - x[j])
        if moving[1]:
            change += gap * x[k]
        if moving[2]:
            change += side[e] * x[k + n_assessors]
        y = derivatives[2, e] * change
        if moving[3]:
            y += derivatives[3, e] * x[last]
            out[last] += derivatives[3, e] * change + derivatives[4, e] * x[last]
        if moving[0]:
            out[i] += r * y
            out[j] -= r * y
        if moving[1]:
            out[k] += gap * y
            if moving[0]:
                out[k] += slope * (x[i] - x[j])
                out[i] += slope * x[k]
                out[j] -= slope * x[k]
        if moving[2]:
            out[k + n_assessors] += side[e] * y


@kernel()
def _dot(x: Floats, y: Floats) -> float:
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@kernel()
def _level(normal: Floats, begin: int, x: Floats) -> None:
    """Take out of x, whose part from `begin` belongs to assessor weights, what would change their mean square."""
    square = _dot(normal, normal)
    if square > 0.0:
        share = 0.0
        for k in range(normal.size):
            share += normal[k] * x[begin + k]
        for k in range(normal.size):
            x[begin + k] -= share / square * normal[k]


@kernel(
    "int32[:,:], float64[:,:], float64[:], int, float, float, float64[:], bool[:], "
    "float64[:,:], float64[:], float64[:], float64[:], float64[:]"
)
def _differentiate(
    codes: Codes,
    numbers: Floats,
    x: Floats,
    n: int,
    ridge: float,
    shrinkage: float,
    times: Floats,
    moving: Bools,
    derivatives: Floats,
    gradient: Floats,
    fixed: Floats,
    diagonal: Floats,
    normal: Floats,
) -> float:
    """The objective's first derivatives, the second ones of its penalty, and the diagonal of all second ones.

    All are along the sphere of the assessor weights, if these move. normal : (assessors,) what leaves the sphere.
    Returns the largest first derivative.

    derivatives : (5, comparisons) by eta and theta, overwritten: gap of the log-worths; slope, by eta; by eta twice; by
        eta and theta; by theta twice.
    """
    n_assessors = times.size
    last = x.size - 1
    nu = np.exp(x[last])
    gradient[:] = 0.0
    fixed[:] = 1.0
    if moving[0]:
        for i in range(n):
            gradient[i] = 2.0 * ridge * x[i]
            fixed[i] = 2.0 * ridge
    for k in range(n_assessors):
        if moving[1]:
            gradient[n + k] = 2.0 * shrinkage * times[k] * (x[n + k] - 1.0)
            fixed[n + k] = 2.0 * shrinkage * times[k]
        if moving[2]:
            gradient[n + n_assessors + k] = 2.0 * ridge * x[n + n_assessors + k]
            fixed[n + n_assessors + k] = 2.0 * ridge
    if moving[3]:
        gradient[last] = 2.0 * ridge * x[last]
        fixed[last] = 2.0 * ridge
    for i in range(last + 1):
        diagonal[i] = fixed[i]
    for e in range(codes.shape[1]):
        i = codes[0, e]
        j = codes[1, e]
        k = n + codes[2, e]
        m = k + n_assessors
        r = x[k]
        side = numbers[0, e]
        tied = numbers[3, e]
        more = numbers[1, e] - numbers[2, e]
        total = numbers[1, e] + numbers[2, e] + tied
        gap = x[i] - x[j]
        p, q, t, _ = outcome(r * gap + x[m] * side, nu)
        slope = 0.5 * (total * (p - q) - more)
        in_eta = 0.25 * total * (p + q - (p - q) * (p - q))
        derivatives[0, e] = gap
        derivatives[1, e] = slope
        derivatives[2, e] = in_eta
        if moving[0]:
            gradient[i] += r * slope
            gradient[j] -= r * slope
            diagonal[i] += r * r * in_eta
            diagonal[j] += r * r * in_eta
        if moving[1]:
            gradient[k] += gap * slope
            diagonal[k] += gap * gap * in_eta
        if moving[2]:
            gradient[m] += side * slope
            diagonal[m] += side * side * in_eta
        if moving[3]:
            in_theta = total * t * (1.0 - t)
            derivatives[3, e] = -0.5 * total * t * (p - q)
            derivatives[4, e] = in_theta
            gradient[last] += total * t - tied
            diagonal[last] += in_theta
    if moving[1]:
        outward = 0.0
        for k in range(n_assessors):
            normal[k] = times[k] * x[n + k]
            outward += normal[k] * gradient[n + k]
        pressure = -outward / (_dot(normal, normal) + 1e-300)
        _level(normal, n, gradient)
        for k in range(n_assessors):  # the sphere's own bend, by Lagrange's multiplier
            fixed[n + k] += pressure * times[k]
            diagonal[n + k] += max(pressure, 0.0) * times[k]
    steepest = 0.0
    for i in range(last + 1):
        steepest = max(steepest, abs(gradient[i]))
    return steepest


@kernel(
    "int32[:,:], float64[:], float64[:,:], float64[:], float64[:], bool[:], float64[:], float64[:], float64[:], float, "
    "float64[:], float64[:], float64[:], float64[:], float64[:]"
)
def _solve(
    codes: Codes,
    side: Floats,
    derivatives: Floats,
    weights: Floats,
    fixed: Floats,
    moving: Bools,
    normal: Floats,
    gradient: Floats,
    diagonal: Floats,
    accuracy: float,
    step: Floats,
    residual: Floats,
    scaled: Floats,
    direction: Floats,
    product: Floats,
) -> None:
    """Conjugate gradients for second derivatives * step = -gradient, up to where the objective bends downward.

    residual, scaled, direction, product : room for as many numbers as the step has.
    """
    size = step.size
    for i in range(size):
        diagonal[i] = diagonal[i] if diagonal[i] > 0.0 else 1.0
        step[i] = 0.0
        residual[i] = -gradient[i]
        scaled[i] = residual[i] / diagonal[i]
    if moving[1]:
        _level(normal, size - 2 * normal.size - 1, scaled)
    for i in range(size):
        direction[i] = scaled[i]
    square = _dot(residual, scaled)
    enough = square * accuracy**2
    for inner in range(2 * size + 50):
        _multiply(codes, side, derivatives, weights, fixed, moving, direction, product)
        if moving[1]:
            _level(normal, size - 2 * normal.size - 1, product)
        bend = _dot(direction, product)
        if not bend > 0.0:
            if inner == 0:
                for i in range(size):
                    step[i] = direction[i]
            return
        length = square / bend
        for i in range(size):
            step[i] += length * direction[i]
            residual[i] -= length * product[i]
            scaled[i] = residual[i] / diagonal[i]
        if moving[1]:
            _level(normal, size - 2 * normal.size - 1, scaled)
        left = _dot(residual, scaled)
        if left <= enough:
            return
        for i in range(size):
            direction[i] = scaled[i] + left / square * direction[i]
        square = left


@kernel("int32[:,:], float64[:,:], float64[:], int, float, float, float64[:], bool[:], float64[:], float64[:], float")
def _descend(
    codes: Codes,
    numbers: Floats,
    x: Floats,
    n: int,
    ridge: float,
    shrinkage: float,
    times: Floats,
    moving: Bools,
    gradient: Floats,
    step: Floats,
    before: float,
) -> float:
    """Add the step to the parameters, halved until the objective falls from what it was before; the new objective."""
    n_assessors = times.size
    last = x.size - 1
    n_times = 0.0
    weights = np.empty(n_assessors)
    for k in range(n_assessors):
        n_times += times[k]
        weights[k] = x[n + k]
    downhill = _dot(gradient, step)
    share = 1.0
    so_far = 0.0
    objective = before
    for _ in range(40):
        change = share - so_far
        for i in range(n):
            x[i] += change * step[i]
        if moving[1]:
            square = 0.0
            for k in range(n_assessors):
                weight = weights[k] + share * step[n + k]
                x[n + k] = weight
                square += times[k] * (weight * weight)
            for k in range(n_assessors):
                x[n + k] *= np.sqrt(n_times / square)
        for k in range(n + n_assessors, last):
            x[k] += change * step[k]
        if moving[3]:
            x[last] += change * step[last]
        so_far = share
        objective = _objective(codes, numbers, x, n, ridge, shrinkage, times)
        if objective <= before + 1e-4 * share * downhill + 1e-12 * abs(before):
            return objective
        share *= 0.5
    return objective


def fit(
    rows: Rows,
    parameters: Parameters,
    ridge: float,
    shrinkage: float,
    times: Floats,
    moving: Bools,
    tol: float,
    max_iterations: int,
) -> tuple[int, float, float]:
    """Minimise the objective from where the parameters are, which are overwritten.

    times : (assessors,) how many assessors each stands for. moving : (4,) which of the parameters move.

    Newton's method, each step by conjugate gradients, preconditioned with the diagonal, up to where the objective bends
    downward; then halved until the objective falls. Assessor weights move along the sphere of mean square 1. Ends when
    no derivative, along the sphere, exceeds tol.

    Returns the number of steps, the objective, and the largest derivative.
    """
    codes, numbers, x = _tables(rows, parameters)
    n, n_assessors = parameters.log_worth.size, times.size
    weights = x[n : n + n_assessors]
    gradient, diagonal, fixed, step, *work = np.empty((8, x.size))
    normal, derivatives = np.zeros(n_assessors), np.zeros((5, rows.first.size))
    penalty = ridge, shrinkage, times
    objective, steepest, iteration = _objective(codes, numbers, x, n, *penalty), np.inf, 0
    for iteration in range(max_iterations + 1):
        steepest = _differentiate(
            codes, numbers, x, n, *penalty, moving, derivatives, gradient, fixed, diagonal, normal
        )
        if steepest <= tol or iteration == max_iterations:
            break
        accuracy = min(1e-2, steepest)
        _solve(
            codes, numbers[0], derivatives, weights, fixed, moving, normal, gradient, diagonal, accuracy, step, *work
        )
        objective = _descend(codes, numbers, x, n, *penalty, moving, gradient, step, objective)
    ends = np.cumsum([column.size for column in parameters])
    for column, part in zip(parameters, np.split(x, ends[:-1]), strict=True):
        column[:] = part
    return iteration, objective, steepest


def fit_topics(
    starts: Ints,
    document_starts: Ints,
    rows: Rows,
    parameters: Parameters,
    ridge: float,
    tol: float,
    max_iterations: int,
    steps: Ints,
    steepest: Floats,
) -> None:
    """Log-worths of every topic for itself, all else being given; overwritten. steps, steepest : (topics,) as of `fit`.

    starts : (topics + 1,), the comparisons of topic t are starts[t]:starts[t + 1]; document_starts likewise.
    """
    moving = np.array([True, False, False, False])
    times = np.zeros(parameters.assessor_weight.size)
    for t in range(starts.size - 1):
        at, part = np.int32(document_starts[t]), rows.at(slice(starts[t], starts[t + 1]))
        part = part._replace(first=part.first - at, second=part.second - at)
        own = parameters._replace(log_worth=parameters.log_worth[at : document_starts[t + 1]])
        steps[t], _, steepest[t] = fit(part, own, ridge, 0.0, times, moving, tol, max_iterations)
