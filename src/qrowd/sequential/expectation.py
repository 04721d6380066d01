"""How many judgments a question will still need: simulated from what is expected of the documents.

Each simulation draws the documents that nobody judged yet in the order of the design, gives each the gain that is
expected of it and a normal error, and looks at the bounds after every answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.sequential.bounds import MIN_DRAWS, interval_half, mixture_bound
from qrowd.sequential.looks import Look, Problem

N_PATHS = 50
MOST_CELLS = 2_000_000  # of contrasts x documents over all simulations
FEWEST_PATHS = 10
N_LOOKS = 50  # of a simulation
ROUNDING = 1e-9  # a variance below this share of the first one


def judgments_to_decide(
    problem: Problem,
    look: Look,
    gains: Floats,
    *,
    waiting: NDArray[np.int64],
    n_counting: int,
    confidence: float,
    tolerance: float,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """(simulations,) judgments until the question is decided; one more than there are where all do not decide it.

    gains : (candidates,) of people, nan where nobody judged. waiting : documents that were drawn and are not judged, in
    order. n_counting : judged draws that make the estimates.
    """
    matters, estimates = problem.matters, look.estimates
    judged = ~np.isnan(gains[matters])
    left = np.flatnonzero(~judged & (look.weights != 0).any(axis=0))
    if not left.size:
        return np.zeros(1, np.int64)
    weights, spread = look.weights[:, left], look.predictions.spread[matters][left]
    total = look.weights @ np.where(judged, np.nan_to_num(gains[matters]), look.predictions.expected[matters])
    sizes = np.maximum(look.sizes[left], 1e-300)
    n_contrasts, n = weights.shape
    is_settled = (look.low > 0) | (look.high < 0) | _within(look.low, look.high, tolerance)
    information = np.where(np.isfinite(estimates.information), estimates.information, 0.0)[:, None]
    each = problem.question.confidence_of_each(confidence)
    bound = _interpolated_bound(each)
    extra = interval_half(np.inf, MIN_DRAWS, confidence=each, variance=look.variance)[:, None]  # once all is judged
    squares = (weights * spread) ** 2
    looks = np.unique(np.linspace(0, n - 1, N_LOOKS).astype(np.int64))
    first = np.searchsorted(left, waiting[np.isin(waiting, left)])
    result = np.zeros(int(np.clip(MOST_CELLS // max(n_contrasts * n, 1), FEWEST_PATHS, N_PATHS)), np.int64)
    for path in range(result.size):
        error = spread * rng.normal(size=n)
        times = rng.exponential(size=n) / sizes
        times[first] = np.arange(first.size) - first.size
        order = np.argsort(times, kind="stable")
        errors = weights[:, order] * error[order]
        size, square = sizes[order], squares[:, order]
        rest = _rest(size)
        variance = np.maximum(rest * _rest(square / size) - _rest(square), 0.0)
        useful = variance > ROUNDING * variance[:, :1]
        inverse = np.where(useful, 1 / np.where(useful, variance, 1.0), 0.0)
        of_draws = total[:, None] + np.cumsum(errors, axis=1) - errors + errors * rest / size
        v = information + np.cumsum(inverse, axis=1)[:, looks]
        sums = information * estimates.estimate[:, None] + np.cumsum(of_draws * inverse, axis=1)[:, looks]
        means = sums / np.where(v > 0, v, 1.0)
        half = np.hypot(bound(v), extra)
        crossed = (np.abs(means) > half) | _within(means - half, means + half, tolerance)
        crossed &= looks + 1 + n_counting >= MIN_DRAWS
        look_number = crossed.argmax(axis=1)
        final = total + errors.sum(axis=1)  # once everything is judged
        is_clear = (np.abs(final) > extra[:, 0]) | _within(final - extra[:, 0], final + extra[:, 0], tolerance)
        time = np.where(crossed.any(axis=1), looks[look_number] + 1, np.where(is_clear, n, n + 1))
        final = np.where(crossed.any(axis=1), means[np.arange(n_contrasts), look_number], final)
        time = np.where(is_settled, 0, time)
        result[path] = _decided(problem, time, np.where(is_settled, estimates.estimate, final) > 0)
    return result


def _within(low: Floats, high: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Whether a difference is certainly within the tolerance."""
    return np.asarray((low >= -tolerance) & (high <= tolerance) & (tolerance > 0))


def _interpolated_bound(confidence: float) -> Callable[[Floats], Floats]:
    """The bound as a function of the information, from a table; its relative error is below 0.001."""
    logs = np.linspace(-10, 40, 401)
    table = np.log(mixture_bound(np.exp(logs), confidence=confidence))
    return lambda v: np.exp(np.interp(np.log(np.maximum(v, 1e-300)), logs, table))


def _rest(values: Floats) -> Floats:
    """Sums of the values from each place on."""
    return np.asarray(np.flip(np.cumsum(np.flip(values, -1), axis=-1), -1))


def _decided(problem: Problem, times: NDArray[np.int64], first_wins: NDArray[np.bool_]) -> int:
    """When the question is decided, if these are the times at which each difference is, and whose favour it is in."""
    question, contrasts = problem.question, problem.contrasts
    if question.kind == "best":
        lost = np.full(len(question.systems), times.max(), np.int64)
        np.minimum.at(lost, np.where(first_wins, contrasts[:, 1], contrasts[:, 0]), times)
        return int(np.sort(lost)[-2])
    if question.kind == "among":
        n, never = len(question.systems), np.iinfo(np.int64).max
        below = np.sort(np.where(first_wins, times, never))[n - question.n_best - 1]
        above = np.sort(np.where(first_wins, never, times))[question.n_best - 1]
        return int(min(below, above, times.max()))
    return int(times.max())
