"""The same for grades: which document to grade next, and what is certain about systems whatever the rest will get.

Carterette, Allan & Sitaraman (2006), Minimal Test Collections for Retrieval Evaluation. SIGIR, 268-275.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Chance, Rng
from qrowd.preferences.scheduling.bounds import N_COMPLETIONS, Bounds, Decision, Goal, check_goal, decision_of_samples
from qrowd.preferences.scheduling.systems import Systems
from qrowd.preferences.scheduling.utility import summed_differences


def rank_coefficients(systems: Systems, discounts: Floats) -> Floats:
    """(systems, documents) what one unit of gain of each document adds to each system's score.

    discounts : by rank, from rank 1; ranks beyond weigh nothing. Of `systems` only the ranks count.

    >>> rank_coefficients(Systems.of([[0, 1], [2]], 3), np.array([1.0, 0.5])).tolist()
    [[1.0, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    weights = np.append(np.asarray(discounts, np.float64), 0.0)
    ranked = systems.ranks < systems.limits[:, None]
    return np.where(ranked, weights[np.minimum(systems.ranks - 1, weights.size - 1)], 0.0)


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


def grade_utility(coefficients: Floats) -> Floats:
    """(documents,) how much of all bounds' width a grade takes away, per unit of gain, whatever was judged before.

        U(d) = sum over pairs of systems e, f of |c_e(d) - c_f(d)|

    coefficients : as in `grade_bounds`.

    >>> grade_utility(np.array([[1, 0.5, 0.4], [0, 0.8, 0.4]])).round(1).tolist()
    [1.0, 0.3, 0.0]
    """
    weights = np.asarray(coefficients, np.float64)
    _, weights = _checked(np.zeros(weights.shape[-1]), weights)
    return summed_differences(weights.T)


def order_documents(coefficients: Floats, sequence: Sequence[int] | None = None) -> Ints:
    """(documents,) their numbers, those of the greatest `grade_utility` first.

    sequence : all documents; of those with equal utility, the first along it. None: as they are numbered.

    >>> order_documents(np.array([[1, 0.5, 0.4], [0, 0.8, 0.4]]), [2, 1, 0]).tolist()
    [0, 1, 2]
    """
    utility = grade_utility(coefficients)
    numbers = np.arange(utility.size) if sequence is None else np.asarray(sequence, np.int64)
    if not np.array_equal(np.sort(numbers), np.arange(utility.size)):
        raise ArgumentError(f"sequence: give each of the {utility.size} documents once, as numbers from 0")
    return np.asarray(numbers[np.argsort(-utility[numbers].round(12), kind="stable")])


def grades_may_stop(
    gains: Floats,
    coefficients: Floats,
    levels: Floats,
    *,
    goal: Goal = "ranking",
    n_best: int = 1,
    stop_probability: float = 1.0,
    rng: Rng = None,
) -> Decision:
    """Whether enough documents were graded to say which system is better; `may_stop` for grades.

    gains, coefficients : as in `grade_bounds`. levels : (m,) the gains that a document can have.
    goal, n_best, stop_probability, rng : as in `may_stop`. In a completion each unjudged document draws
        a level: with a probability proportional to one more than the number of documents that have it already.

    >>> coefficients = np.array([[1, 0.5, 0], [0, 0.5, 0.2]])
    >>> grades_may_stop(np.array([1, np.nan, np.nan]), coefficients, np.array([0, 1])).stop
    True
    """
    values, weights = _checked(gains, coefficients)
    possible = np.unique(np.asarray(levels, np.float64))
    check_goal(weights.shape[0], goal, n_best, stop_probability)
    if not possible.size or not np.isfinite(possible).all():
        raise ArgumentError("give the gains that a document can have, one or more numbers", "levels", levels)
    bounds = grade_bounds(values, weights, lowest=float(possible[0]), highest=float(possible[-1]))
    proven = np.where(np.isnan(bounds.sign), np.nan, 1.0)
    if stop_probability == 1 or bounds.settled(goal, n_best):
        return Decision(bounds.settled(goal, n_best), bounds.sign, proven)
    left = np.isnan(values)
    counts = 1 + (values[~left][:, None] == possible).sum(axis=0)
    drawn = Chance.of(rng).stream("grades").choice(possible, (N_COMPLETIONS, int(left.sum())), p=counts / counts.sum())
    sampled = drawn @ weights[:, left].T + weights[:, ~left] @ values[~left]
    return decision_of_samples(bounds.sign, sampled, goal, n_best, stop_probability)


def _checked(gains: Floats, coefficients: Floats) -> tuple[Floats, Floats]:
    values, weights = np.asarray(gains, np.float64), np.asarray(coefficients, np.float64)
    if values.ndim != 1 or weights.ndim != 2 or weights.shape[1] != values.size or weights.shape[0] < 2:
        raise ArgumentError(
            f"coefficients: expected 2 or more systems x {values.size} documents, found shape {weights.shape}"
        )
    return values, weights
