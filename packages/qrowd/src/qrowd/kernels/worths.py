"""Log-worths of documents from comparisons of two: the maximum of a penalised likelihood.

Comparison e is of documents first[e] and second[e], by assessor[e]. With eta = r_a (s_first - s_second) + c_a side[e],

    P(first) : P(second) : P(tie) = exp(eta / 2) : exp(-eta / 2) : nu

nu = 0 is Bradley & Terry (1952), nu > 0 Davidson (1970), who has ties; side is 1 where `first` was shown first, -1
where `second` was, 0 where nobody knows. The objective, minimised, is

    -sum_e (won log P(first) + lost log P(second) + tied log P(tie))
        + ridge (sum s^2 + sum c^2 + theta^2) + shrinkage sum_a times_a (r_a - 1)^2,       theta = log nu

under the constraint, where assessor weights move, that sum_a times_a (r_a^2 - 1) = 0: their mean square is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from qrowd.kernels.arrays import Bools, Codes, Floats, Ints


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


class Fit(NamedTuple):
    """The parameters, the number of steps, the objective, and the largest derivative."""

    parameters: Parameters
    iterations: int
    objective: float
    steepest: float


class Derivatives(NamedTuple):
    """First derivatives, the product of the second ones with any vector, and their diagonal."""

    gradient: Floats
    product: Callable[[Floats], Floats]
    diagonal: Floats


def outcomes(eta: Floats, nu: float) -> tuple[Floats, Floats, Floats]:
    """P(first) and P(second), and log of exp(eta / 2) + exp(-eta / 2) + nu, without overflow."""
    u = np.exp(-0.5 * np.abs(eta))
    others = u * u + nu * u
    high, low = 1.0 / (1.0 + others), u * u / (1.0 + others)
    log_total = 0.5 * np.abs(eta) + np.log1p(others)
    return np.where(eta >= 0.0, high, low), np.where(eta >= 0.0, low, high), log_total


def log_likelihood(rows: Rows, parameters: Parameters) -> float:
    """Of these comparisons."""
    s, r, c, theta = parameters
    eta = r[rows.assessor] * (s[rows.first] - s[rows.second]) + c[rows.assessor] * rows.side
    _, _, log_total = outcomes(eta, float(np.exp(theta[0])))
    of_rows = 0.5 * (rows.won - rows.lost) * eta - (rows.won + rows.lost + rows.tied) * log_total
    n_tied = rows.tied.sum()
    return float(of_rows.sum() + (n_tied * theta[0] if n_tied else 0.0))


class Objective:
    """The objective as a function of all parameters in one row: log-worths, weights, intercepts and theta.

    times : (assessors,) how many assessors each stands for. moving : (4,) which of the parameters move.
    """

    def __init__(
        self, rows: Rows, n_documents: int, ridge: float, shrinkage: float, times: Floats, moving: Bools
    ) -> None:
        n, n_assessors = n_documents, times.size
        self.rows, self.ridge, self.shrinkage, self.times = rows, ridge, shrinkage, times
        self.ends = np.cumsum([n, n_assessors, n_assessors])
        self.weights = slice(n, n + n_assessors)
        self.weights_move, self.bends = bool(moving[1]), bool(moving[0] and moving[1])
        self.moving = np.repeat(moving, [n, n_assessors, n_assessors, 1])
        weight = n + rows.assessor
        self._columns = np.stack([rows.first, rows.second, weight, weight + n_assessors], axis=1).ravel()
        self._curvature = np.repeat([2 * ridge, 2 * shrinkage, 2 * ridge], [n, n_assessors, n_assessors + 1])
        self._curvature[self.weights] *= times

    def parameters(self, x: Floats) -> Parameters:
        return Parameters(*np.split(x, self.ends))

    def value(self, x: Floats) -> float:
        parameters = self.parameters(x)
        s, r, c, theta = parameters
        penalty = self.ridge * (s @ s + c @ c + (theta[0] ** 2 if theta[0] > -np.inf else 0.0))
        return float(penalty + self.shrinkage * (self.times @ (r - 1) ** 2) - log_likelihood(self.rows, parameters))

    def normalised(self, x: Floats) -> Floats:
        """The same parameters with weights of mean square 1, if they move."""
        if self.weights_move:
            weights = x[self.weights]
            x[self.weights] *= np.sqrt(self.times.sum() / (self.times @ weights**2))
        return x

    def differentiate(self, x: Floats) -> Derivatives:
        """All derivatives at x, whose weights have mean square 1; those of what does not move are 0."""
        from scipy.sparse import csr_array

        rows = self.rows
        s, r, c, theta = self.parameters(x)
        nu, gap, weight = float(np.exp(theta[0])), s[rows.first] - s[rows.second], r[rows.assessor]
        p, q, _ = outcomes(weight * gap + c[rows.assessor] * rows.side, nu)
        tie, total = 1.0 - p - q if nu else np.zeros(p.size), rows.won + rows.lost + rows.tied
        slope = 0.5 * (total * (p - q) - (rows.won - rows.lost))
        bend = 0.25 * total * (p + q - (p - q) ** 2)  # by eta twice
        mixed, bend_of_theta = -0.5 * total * tie * (p - q), float((total * tie * (1 - tie)).sum())

        # How eta changes with each parameter, row by row.
        changes = np.stack([weight, -weight, gap, rows.side], axis=1).ravel() * self.moving[self._columns]
        shape, starts = (rows.first.size, x.size), np.arange(0, self._columns.size + 1, 4)
        jacobian = csr_array((changes, self._columns, starts), shape=shape)
        backward = jacobian.T
        gradient = backward @ slope + self._curvature * np.where(self.moving, x, 0.0)
        gradient[self.weights] -= self._curvature[self.weights]
        gradient[-1] += (total * tie - rows.tied).sum()
        gradient = np.where(self.moving, gradient, 0.0)
        diagonal = csr_array((changes**2, self._columns, starts), shape=shape).T @ bend + self._curvature
        diagonal[-1] += bend_of_theta

        def product(v: Floats) -> Floats:
            change = jacobian @ v
            out = backward @ (bend * change + mixed * v[-1]) + self._curvature * v
            out[-1] += (mixed * change).sum() + bend_of_theta * v[-1]
            if self.bends:  # weights and log-worths multiply, so eta bends itself
                of_weight = slope * v[self.weights][rows.assessor]
                out[: s.size] += np.bincount(rows.first, of_weight, s.size)
                out[: s.size] -= np.bincount(rows.second, of_weight, s.size)
                out[self.weights] += np.bincount(rows.assessor, slope * (v[rows.first] - v[rows.second]), r.size)
            return np.where(self.moving, out, 0.0)

        if not self.weights_move:
            return Derivatives(gradient, product, diagonal)

        # Weights are z sqrt(times / sum times z^2) of any z: the chain rule at a z of mean square 1.
        normal, here = self.times * r / self.times.sum(), self.weights
        outward = float(r @ gradient[here])
        gradient[here] -= outward * normal
        pressure = -outward / self.times.sum() * self.times
        diagonal[here] += np.maximum(pressure, 0.0)

        def product_on_sphere(v: Floats) -> Floats:
            along, radial = v.copy(), float(normal @ v[here])
            along[here] -= radial * r
            out = product(along)
            out[here] -= float(gradient[here] @ v[here] + r @ out[here]) * normal
            out[here] += pressure * along[here] - radial * gradient[here]
            return out

        return Derivatives(gradient, product_on_sphere, diagonal)


def fit(
    rows: Rows,
    start: Parameters,
    ridge: float,
    shrinkage: float,
    times: Floats,
    moving: Bools,
    tol: float,
    max_iterations: int,
) -> Fit:
    """Minimise the objective from `start`; `times` and `moving` as of `Objective`.

    Newton's method, each step by conjugate gradients, preconditioned with the diagonal, up to where the objective bends
    downward; then halved until the objective falls. Ends when no derivative exceeds tol.
    """
    objective = Objective(rows, start.log_worth.size, ridge, shrinkage, times, moving)
    x = np.concatenate(start)
    value, steepest, iteration = objective.value(x), np.inf, 0
    for iteration in range(max_iterations + 1):
        derivatives = objective.differentiate(x)
        steepest = float(np.abs(derivatives.gradient).max(initial=0.0))
        if steepest <= tol or iteration == max_iterations:
            break
        step = newton_step(derivatives, accuracy=min(1e-2, steepest))
        x, value = descended(objective, x, step, value, float(derivatives.gradient @ step))
    return Fit(objective.parameters(x), iteration, value, steepest)


def newton_step(derivatives: Derivatives, accuracy: float) -> Floats:
    """Conjugate gradients for second derivatives * step = -gradient, up to where the objective bends downward."""
    diagonal = np.where(derivatives.diagonal > 0.0, derivatives.diagonal, 1.0)
    residual, step = -derivatives.gradient, np.zeros(derivatives.gradient.size)
    direction = residual / diagonal
    square = float(residual @ direction)
    enough = square * accuracy**2
    for inner in range(2 * step.size + 50):
        product = derivatives.product(direction)
        bend = float(direction @ product)
        if not bend > 0.0:
            return direction if inner == 0 else step
        step += square / bend * direction
        residual -= square / bend * product
        scaled = residual / diagonal
        left = float(residual @ scaled)
        if left <= enough:
            break
        direction = scaled + left / square * direction
        square = left
    return step


def descended(objective: Objective, x: Floats, step: Floats, before: float, downhill: float) -> tuple[Floats, float]:
    """The parameters after the step, halved until the objective falls from what it was before; the new objective."""
    new, value = x, before
    for halvings in range(40):
        share = 0.5**halvings
        new = objective.normalised(x + share * step)
        value = objective.value(new)
        if value <= before + 1e-4 * share * downhill + 1e-12 * abs(before):
            break
    return new, value
