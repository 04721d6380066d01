"""Which judgment would tell most about the difference between systems.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels import bradley_terry, scheduling
from qrowd.kernels.arrays import Bools, Floats
from qrowd.preferences.scheduling.state import State
from qrowd.preferences.scheduling.systems import Systems

Utility = Literal["change", "settled", "printed"]
Estimate = Literal["half", "odds", "regression"]
#: P(a is preferred to b): None for 1/2, an (n, n) array, or a function of two arrays of document numbers.
Probability = Floats | Callable[[NDArray[np.int64], NDArray[np.int64]], Floats] | None


def probabilities(n: int, probability: Probability = None) -> Floats:
    """(n, n) that the row's document is preferred to the column's; the diagonal is 1/2.

    >>> probabilities(2, np.array([[0.5, 0.9], [0.1, 0.5]]))
    array([[0.5, 0.9],
           [0.1, 0.5]])
    """
    if probability is None:
        return np.full((n, n), 0.5)
    a, b = np.indices((n, n))
    values = probability(a.ravel(), b.ravel()) if callable(probability) else probability
    table = np.array(values, np.float64, order="C")
    if callable(probability):
        table = table.reshape(n, n)
    if table.shape != (n, n):
        raise ArgumentError(f"probability: expected {n} x {n} numbers, found shape {table.shape}")
    np.fill_diagonal(table, 0.5)
    if not ((table >= 0) & (table <= 1)).all() or np.abs(table + table.T - 1).max() > 1e-9:
        raise ArgumentError("probability: P(a over b) must be between 0 and 1, and 1 - P(b over a)")
    return table


def from_log_worths(log_worths: NDArray[np.float64]) -> Floats:
    """(n, n) Bradley-Terry probabilities of (n,) log-worths: 1 / (1 + exp(s_b - s_a))."""
    gap = np.subtract.outer(log_worths, log_worths)
    return np.asarray(0.5 * (1 + np.tanh(gap / 2)))


def from_known(state: State) -> Floats:
    """(n, n) probabilities from what is known alone: a document better than most it was placed against is likely good.

        P(a > b) = o_a / (o_a + o_b),   o = (documents known to be worse + 1) / (documents known to be better + 1)

    >>> from_known(State.new(3).judge(0, 1, winner=0))[0].round(3).tolist()
    [0.5, 0.8, 0.667]
    """
    odds = (state.known.sum(axis=1) + 1) / (state.known.sum(axis=0) + 1)
    return np.asarray(odds[:, None] / (odds[:, None] + odds[None, :]))


def from_regression(state: State, *, ridge: float = 0.1) -> Floats:
    """(n, n) probabilities by logistic regression on the judgments so far: the model of Bradley and Terry.

        P(a > b) = 1 / (1 + exp(s_b - s_a)),   s minimises -log-likelihood + ridge * sum of s^2

    ridge : the penalty, as in `qrowd.preferences.bradley_terry`.

    Source: Carterette, Bennett, Chickering & Dumais (2008), section 5.3, after Carterette & Petkova (2006), Learning a
    Ranking from Pairwise Preferences. SIGIR.

    >>> from_regression(State.new(3).judge(0, 1, winner=0))[0].round(3).tolist()
    [0.5, 0.837, 0.694]
    """
    if not ridge > 0:
        raise ArgumentError("must be above 0, or a document that won every pair has no finite worth", "ridge", ridge)
    winner, loser = np.nonzero(state.direct)
    even = np.array(state.even, np.int64).reshape(-1, 2)
    first, second = np.append(winner, even[:, 0]).astype(np.int32), np.append(loser, even[:, 1]).astype(np.int32)
    none = np.zeros(first.size)
    lost = np.repeat([0.0, 0.5], [winner.size, len(even)])  # an even pair is half a preference for each
    rows = bradley_terry.Rows(first, second, np.zeros(first.size, np.int32), none, 1 - lost, lost, none)
    start = bradley_terry.Parameters(np.zeros(state.n_documents), np.ones(1), np.zeros(1), np.array([-np.inf]))
    moving = np.array([True, False, False, False])
    fit = bradley_terry.fit(rows, start, ridge, 0.0, np.ones(1), moving, 1e-6, 100)
    return from_log_worths(fit.parameters.log_worth)


#: How P(a is preferred to b) is estimated from the judgments so far, by name; None for 1/2.
ESTIMATES: dict[Estimate, Callable[[State], Floats] | None] = {
    "half": None,
    "odds": from_known,
    "regression": from_regression,
}


def expected_utility(
    state: State, systems: Systems, *, utility: Utility = "change", probability: Probability = None
) -> Floats:
    """(n, n) how much a judgment of each pair is expected to tell; -1 where the pair is not open.

        U(a, b) = P(a > b) gain(a > b) + P(b > a) gain(b > a)

    utility : what a gain is, summed over pairs of systems e, f. Newly implied is what a judgment settles beyond itself
        and with itself, of documents that are not Bad.

        "change": by how much E_e - E_f moves, |sum of (w_e right_e / N_e - w_f right_f / N_f)| over newly implied
        pairs; right is 1 where the system orders the pair as preferred, else 0. N is the weight of all pairs that
        will count.

        "settled": how much of the bound's width goes, sum of |w_e sgn_e / N_e - w_f sgn_f / N_f| over newly implied
        pairs; sgn is -1 where the system orders the pair the other way.

        "printed": the paper's formula, |w_e sgn_e - w_f sgn_f| of the pair itself, of (a, i) for all i known to be
        worse than b, and of (i, b) for all i known to be better than a. It counts pairs already known again, and leaves
        out pairs of such a better with such a worse document.
    probability : P(a > b); 1/2 unless given.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 5.3; what differs from it, in the decisions.
    """
    check_choice("utility", utility, Utility)
    systems.fits(state)
    n = state.n_documents
    chance = probabilities(n, probability)
    gain = _GAINS[utility](state, systems)
    return np.where(state.open, chance * gain + chance.T * gain.T, -1.0)


def _change(state: State, systems: Systems) -> Floats:
    gain = np.empty((state.n_documents, state.n_documents))
    scheduling.change_of_differences(
        _chains(state, state.closed), state.bad, systems.above, _share(state, systems), gain
    )
    return gain


def _settled(state: State, systems: Systems) -> Floats:
    width = np.where(state.open, _apart(systems, _share(state, systems)), 0.0)
    gain = np.empty_like(width)
    scheduling.settled_width(_chains(state, state.closed), width, gain)
    return gain


def _printed(state: State, systems: Systems) -> Floats:
    width = _apart(systems, np.ones(systems.n))
    # width is symmetric, so each sum is the other one turned round for the opposite judgment.
    known = _chains(state, state.known)
    worse = np.stack([width[:, below].sum(axis=1) for below in known], axis=1)
    better = np.stack([width[above].sum(axis=0) for above in known.T])
    return np.asarray(width + worse + better)


def _chains(state: State, table: Bools) -> Bools:
    """The table over which a judgment implies others: none where chains do not count."""
    return table if state.transitive else np.zeros_like(table)


_GAINS = {"change": _change, "settled": _settled, "printed": _printed}


def _share(state: State, systems: Systems) -> Floats:
    """(systems,) what one unit of weight adds to the system's fraction."""
    totals = systems.totals(state)
    return np.asarray(1 / np.where(totals > 0, totals, np.inf))


def _apart(systems: Systems, scale: Floats) -> Floats:
    """(n, n) sum over pairs of systems of |w_e sgn_e scale_e - w_f sgn_f scale_f|, made once for each scale."""
    cache: dict[bytes, Floats] = systems.__dict__.setdefault("_apart", {})
    key = scale.tobytes()
    if key not in cache:
        n = systems.n_documents
        i, j = np.triu_indices(n, k=1)
        half, table = np.empty(i.size), np.zeros((n, n))
        scheduling.summed_differences(systems.above[i, j] - systems.above[j, i], scale, half)
        table[i, j] = table[j, i] = half
        if len(cache) > 8:
            cache.clear()
        cache[key] = table
    return cache[key]
