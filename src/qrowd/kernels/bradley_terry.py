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


@kernel
def outcome(eta: float, nu: float) -> tuple[float, float, float, float]:
    """P(first), P(second), P(tie), and log of exp(eta / 2) + exp(-eta / 2) + nu, without overflow."""
    u = np.exp(-0.5 * abs(eta))
    total = 1.0 + u * u + nu * u
    high, low = 1.0 / total, u * u / total
    log_total = 0.5 * abs(eta) + np.log1p(u * u + nu * u)
    if eta >= 0.0:
        return high, low, nu * u / total, log_total
    return low, high, nu * u / total, log_total


@kernel
def log_likelihood(rows: Rows, parameters: Parameters) -> float:
    """Of these comparisons."""
    first, second, assessor, side, won, lost, tied = rows
    log_worth, assessor_weight, intercept, theta = parameters
    nu = np.exp(theta[0])
    total = 0.0
    for e in range(first.size):
        k = assessor[e]
        eta = assessor_weight[k] * (log_worth[first[e]] - log_worth[second[e]]) + intercept[k] * side[e]
        _, _, _, log_total = outcome(eta, nu)
        total += 0.5 * (won[e] - lost[e]) * eta - (won[e] + lost[e] + tied[e]) * log_total
        if tied[e] > 0.0:
            total += tied[e] * theta[0]
    return total


@kernel
def _objective(rows: Rows, parameters: Parameters, ridge: float, shrinkage: float, times: Floats) -> float:
    log_worth, assessor_weight, intercept, theta = parameters
    penalty = ridge * (np.sum(log_worth**2) + np.sum(intercept**2))
    penalty += shrinkage * np.sum(times * (assessor_weight - 1.0) ** 2)
    penalty += ridge * theta[0] ** 2 if theta[0] > -np.inf else 0.0
    return penalty - log_likelihood(rows, parameters)


class _Derivatives(NamedTuple):
    """By eta and theta; every array is (comparisons,). gap : of the log-worths. slope : by eta."""

    gap: Floats
    slope: Floats
    in_eta: Floats
    in_both: Floats
    in_theta: Floats


@kernel
def _multiply(
    rows: Rows, of: _Derivatives, assessor_weight: Floats, diagonal: Floats, moving: Bools, x: Floats, out: Floats
) -> None:
    """out = second derivatives times x; rows and columns of what does not move are those of the identity.

    Where log-worths and assessor weights move together eta is bent itself, so that its slope counts.
    """
    first, second, assessor, side = rows.first, rows.second, rows.assessor, rows.side
    gap, slope, in_eta, in_both, in_theta = of
    n_assessors = assessor_weight.size
    n = diagonal.size - 2 * n_assessors - 1
    for i in range(x.size):
        out[i] = diagonal[i] * x[i]
    last = x.size - 1
    for e in range(first.size):
        i, j, k = first[e], second[e], n + assessor[e]
        r = assessor_weight[assessor[e]]
        change = 0.0
        if moving[0]:
            change += r * (x[i] - x[j])
        if moving[1]:
            change += gap[e] * x[k]
        if moving[2]:
            change += side[e] * x[k + n_assessors]
        y = in_eta[e] * change
        if moving[3]:
            y += in_both[e] * x[last]
            out[last] += in_both[e] * change + in_theta[e] * x[last]
        if moving[0]:
            out[i] += r * y
            out[j] -= r * y
        if moving[1]:
            out[k] += gap[e] * y
            if moving[0]:
                out[k] += slope[e] * (x[i] - x[j])
                out[i] += slope[e] * x[k]
                out[j] -= slope[e] * x[k]
        if moving[2]:
            out[k + n_assessors] += side[e] * y


@kernel
def _level(normal: Floats, begin: int, x: Floats) -> None:
    """Take out of x, whose part from `begin` belongs to assessor weights, what would change their mean square."""
    square = normal @ normal
    if square > 0.0:
        share = 0.0
        for k in range(normal.size):
            share += normal[k] * x[begin + k]
        for k in range(normal.size):
            x[begin + k] -= share / square * normal[k]


@kernel
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
    first, second, assessor, side, won, lost, tied = rows
    log_worth, assessor_weight, intercept, theta = parameters
    n, n_assessors, n_rows = log_worth.size, assessor_weight.size, first.size
    size = n + 2 * n_assessors + 1
    gradient, diagonal, fixed = np.empty(size), np.empty(size), np.empty(size)
    step, residual, scaled = np.empty(size), np.empty(size), np.empty(size)
    direction, product = np.empty(size), np.empty(size)
    normal, before_r = np.zeros(n_assessors), np.empty(n_assessors)
    n_times = np.sum(times)
    gap, slope = np.empty(n_rows), np.empty(n_rows)
    in_eta, in_both, in_theta = np.empty(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    derivatives = _Derivatives(gap, slope, in_eta, in_both, in_theta)
    last = size - 1
    objective = _objective(rows, parameters, ridge, shrinkage, times)
    steepest = np.inf
    for iteration in range(max_iterations + 1):
        nu = np.exp(theta[0])
        gradient[:] = 0.0
        fixed[:] = 1.0
        if moving[0]:
            for i in range(n):
                gradient[i] = 2.0 * ridge * log_worth[i]
                fixed[i] = 2.0 * ridge
        for k in range(n_assessors):
            if moving[1]:
                gradient[n + k] = 2.0 * shrinkage * times[k] * (assessor_weight[k] - 1.0)
                fixed[n + k] = 2.0 * shrinkage * times[k]
            if moving[2]:
                gradient[n + n_assessors + k] = 2.0 * ridge * intercept[k]
                fixed[n + n_assessors + k] = 2.0 * ridge
        if moving[3]:
            gradient[last] = 2.0 * ridge * theta[0]
            fixed[last] = 2.0 * ridge
        diagonal[:] = fixed
        for e in range(n_rows):
            i, j, k = first[e], second[e], assessor[e]
            r = assessor_weight[k]
            gap[e] = log_worth[i] - log_worth[j]
            total = won[e] + lost[e] + tied[e]
            p, q, t, _ = outcome(r * gap[e] + intercept[k] * side[e], nu)
            slope[e] = 0.5 * (total * (p - q) - (won[e] - lost[e]))
            in_eta[e] = 0.25 * total * (p + q - (p - q) ** 2)
            if moving[0]:
                gradient[i] += r * slope[e]
                gradient[j] -= r * slope[e]
                diagonal[i] += r * r * in_eta[e]
                diagonal[j] += r * r * in_eta[e]
            if moving[1]:
                gradient[n + k] += gap[e] * slope[e]
                diagonal[n + k] += gap[e] ** 2 * in_eta[e]
            if moving[2]:
                gradient[n + n_assessors + k] += side[e] * slope[e]
                diagonal[n + n_assessors + k] += side[e] ** 2 * in_eta[e]
            if moving[3]:
                in_both[e] = -0.5 * total * t * (p - q)
                in_theta[e] = total * t * (1.0 - t)
                gradient[last] += total * t - tied[e]
                diagonal[last] += in_theta[e]
        if moving[1]:
            normal[:] = times * assessor_weight
            pressure = -(normal @ gradient[n : n + n_assessors]) / (normal @ normal + 1e-300)
            _level(normal, n, gradient)
            for k in range(n_assessors):  # the sphere's own bend, by Lagrange's multiplier
                fixed[n + k] += pressure * times[k]
                diagonal[n + k] += max(pressure, 0.0) * times[k]
        steepest = np.max(np.abs(gradient))
        if steepest <= tol or iteration == max_iterations:
            return iteration, objective, steepest
        # Conjugate gradients for (information + penalty) step = -gradient.
        for i in range(size):
            diagonal[i] = diagonal[i] if diagonal[i] > 0.0 else 1.0
            step[i] = 0.0
            residual[i] = -gradient[i]
            scaled[i] = residual[i] / diagonal[i]
        if moving[1]:
            _level(normal, n, scaled)
        direction[:] = scaled
        square = residual @ scaled
        enough = square * min(1e-2, steepest) ** 2
        for inner in range(2 * size + 50):
            _multiply(rows, derivatives, assessor_weight, fixed, moving, direction, product)
            if moving[1]:
                _level(normal, n, product)
            bend = direction @ product
            if not bend > 0.0:
                if inner == 0:
                    step[:] = direction
                break
            length = square / bend
            for i in range(size):
                step[i] += length * direction[i]
                residual[i] -= length * product[i]
                scaled[i] = residual[i] / diagonal[i]
            if moving[1]:
                _level(normal, n, scaled)
            left = residual @ scaled
            if left <= enough:
                break
            for i in range(size):
                direction[i] = scaled[i] + left / square * direction[i]
            square = left
        downhill = gradient @ step
        share, so_far, before = 1.0, 0.0, objective
        before_r[:] = assessor_weight
        for _ in range(40):
            change = share - so_far
            log_worth += change * step[:n]
            if moving[1]:
                assessor_weight[:] = before_r + share * step[n : n + n_assessors]
                assessor_weight *= np.sqrt(n_times / np.sum(times * assessor_weight**2))
            intercept += change * step[n + n_assessors : last]
            if moving[3]:
                theta[0] += change * step[last]
            so_far = share
            objective = _objective(rows, parameters, ridge, shrinkage, times)
            if objective <= before + 1e-4 * share * downhill + 1e-12 * abs(before):
                break
            share *= 0.5
    return max_iterations, objective, steepest


@kernel
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
    first, second, assessor, side, won, lost, tied = rows
    log_worth, assessor_weight, intercept, theta = parameters
    moving = np.array([True, False, False, False])
    times = np.zeros(assessor_weight.size)
    for t in range(starts.size - 1):
        a, b, at = starts[t], starts[t + 1], document_starts[t]
        ends = first[a:b] - np.int32(at), second[a:b] - np.int32(at)
        part = Rows(ends[0], ends[1], assessor[a:b], side[a:b], won[a:b], lost[a:b], tied[a:b])
        own = Parameters(log_worth[at : document_starts[t + 1]], assessor_weight, intercept, theta)
        steps[t], _, steepest[t] = fit(part, own, ridge, 0.0, times, moving, tol, max_iterations)


@kernel
def curvature(rows: Rows, scale: Floats, shift: Floats, nu: float, ridge: float, log_worth: Floats) -> Floats:
    """(documents, documents) second derivatives of the objective by log_worth.

    scale, shift : (comparisons,) eta = scale (s_first - s_second) + shift, whoever the assessor is.
    """
    first, second, total = rows.first, rows.second, rows.won + rows.lost + rows.tied
    n = log_worth.size
    out = np.zeros((n, n))
    for i in range(n):
        out[i, i] = 2.0 * ridge
    for e in range(first.size):
        i, j = first[e], second[e]
        p, q, _, _ = outcome(scale[e] * (log_worth[i] - log_worth[j]) + shift[e], nu)
        w = scale[e] ** 2 * 0.25 * total[e] * (p + q - (p - q) ** 2)
        out[i, i] += w
        out[j, j] += w
        out[i, j] -= w
        out[j, i] -= w
    return out


@kernel
def one_more(
    covariance: Floats, log_worth: Floats, pair: tuple[int, int], scale: float, shift: float, weight: float, nu: float
) -> tuple[Floats, Floats]:
    """Log-worths and their covariance after one more preference, all that was known being taken for Gaussian.

    The most probable log-worths lie on a line: s + covariance (e_preferred - e_other) * t, where t solves one equation,
    by Newton's method, or halving. The covariance loses one rank-one term (Sherman & Morrison).
    """
    n, (preferred, other) = log_worth.size, pair
    d = covariance[:, preferred] - covariance[:, other]
    spread = d[preferred] - d[other]
    gap = log_worth[preferred] - log_worth[other]
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
    factor = bend / (1.0 + bend * spread)
    new = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            new[i, j] = covariance[i, j] - factor * d[i] * d[j]
    return log_worth + t * d, new


@kernel
def slopes(rows: Rows, scale: Floats, shift: Floats, nu: float, ridge: float, log_worth: Floats) -> Floats:
    """(documents,) first derivatives of the objective by log_worth; scale and shift as of `curvature`."""
    first, second, _, _, won, lost, tied = rows
    out = 2.0 * ridge * log_worth
    for e in range(first.size):
        i, j = first[e], second[e]
        p, q, _, _ = outcome(scale[e] * (log_worth[i] - log_worth[j]) + shift[e], nu)
        slope = 0.5 * scale[e] * ((won[e] + lost[e] + tied[e]) * (p - q) - (won[e] - lost[e]))
        out[i] += slope
        out[j] -= slope
    return out
