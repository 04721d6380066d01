"""The rankings that are compared, and which judgment would tell most about their difference.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels import worths as bradley_terry
from qrowd.kernels.arrays import Bools, Codes, Floats
from qrowd.preferences.preference_measures import pair_discounts
from qrowd.preferences.scheduling.state import State

Weight = Literal["none", "lower", "upper", "upper-log2"]


@dataclass(frozen=True, eq=False)
class Systems:
    """How systems rank the documents of one topic, and by which measure they are compared.

    names : labels.
    ranks : (systems, documents) int32, from 1; an unranked document stands at the system's limit.
    limits : (systems,) int32, one more than the number of documents ranked.
    weight : "none" for ppref; "lower", "upper" or "upper-log2" for wpref with that weight.
    """

    names: tuple[str, ...]
    ranks: Codes
    limits: Codes
    weight: Weight = "none"

    def __post_init__(self) -> None:
        check_choice("weight", self.weight, Weight)
        if self.ranks.shape[0] < 2:
            raise ArgumentError(f"{self.ranks.shape[0]} systems: a comparison needs 2 or more")

    @classmethod
    def of(
        cls,
        rankings: Sequence[Sequence[int]],
        n_documents: int,
        *,
        names: Sequence[str] | None = None,
        weight: Weight = "none",
    ) -> Systems:
        """From each system's list of document numbers, best first; numbers it leaves out are unranked.

        >>> Systems.of([[0, 1], [2, 1, 0]], 3).ranks.tolist()
        [[1, 2, 3], [3, 2, 1]]
        """
        labels = [str(s + 1) for s in range(len(rankings))] if names is None else list(names)
        if len(labels) != len(rankings):
            raise ArgumentError(f"names: {len(labels)} for {len(rankings)} rankings; give one each")
        limits = np.array([len(ranking) + 1 for ranking in rankings], np.int32)
        ranks = np.repeat(limits[:, None], n_documents, axis=1)
        for s, ranking in enumerate(rankings):
            if len(set(ranking)) < len(ranking):
                raise ArgumentError(f"system {labels[s]}: a document is in the list twice")
            for place, document in enumerate(ranking, start=1):
                if not 0 <= document < n_documents:
                    raise ArgumentError(f"system {labels[s]}: document {document} is not among the {n_documents}")
                ranks[s, document] = place
        return cls(tuple(labels), ranks, limits, weight)

    @property
    def n(self) -> int:
        """How many systems there are."""
        return int(self.limits.size)

    @property
    def n_documents(self) -> int:
        return int(self.ranks.shape[1])

    @cached_property
    def above(self) -> Floats:
        """(documents, documents, systems) weight of the pair where the system ranks the row's higher, else 0."""
        discount = pair_discounts(self.weight, int(self.limits.max()))
        row = self.ranks.T[:, None]
        column = self.ranks.T[None]
        weights = discount[row if self.weight.startswith("upper") else column]
        return np.ascontiguousarray(np.where(row < column, weights, 0.0))

    @cached_property
    def either(self) -> Floats:
        """(documents, documents, systems) weight of the pair, whichever document stands higher."""
        return self.above + self.above.transpose(1, 0, 2)

    def scores(self, state: State) -> Floats:
        """(systems,) ppref or wpref over what is known, chains and Bad marks included; 0 where nothing is."""
        self.fits(state)
        right = self.above[state.known].sum(axis=0)
        total = self.either[state.known].sum(axis=0)
        return np.asarray(right / np.where(total > 0, total, np.inf))

    def totals(self, state: State) -> Floats:
        """(systems,) weight of all pairs that will count if no further document is marked as Bad."""
        one = state.bad[:, None]
        two = state.bad[None, :]
        unordered = (one & two if state.bad_loses else one | two) & ~state.decided
        counted = np.triu(~unordered, k=1)
        return np.asarray(self.either[counted].sum(axis=0) + self.either[np.triu(state.closed & state.closed.T)].sum(0))

    def fits(self, state: State) -> None:
        """An error unless the state is of as many documents."""
        if state.n_documents != self.n_documents:
            raise ArgumentError(
                f"the state has {state.n_documents} documents and the systems rank {self.n_documents}: both must be of "
                "one topic"
            )


Utility = Literal["change", "settled", "printed"]
Estimate = Literal["half", "odds", "regression"]


def from_log_worths(log_worths: Floats) -> Floats:
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
    first = np.append(winner, even[:, 0]).astype(np.int32)
    second = np.append(loser, even[:, 1]).astype(np.int32)
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
    state: State, systems: Systems, *, utility: Utility = "change", probability: Floats | None = None
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
    probability : (n, n) P(a > b); 1/2 unless given.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 5.3; what differs from it, in the decisions.
    """
    check_choice("utility", utility, Utility)
    systems.fits(state)
    shape = (state.n_documents, state.n_documents)
    chance = np.full(shape, 0.5) if probability is None else np.asarray(probability, np.float64)
    if chance.shape != shape:
        raise ArgumentError(f"probability: expected {shape[0]} x {shape[1]} numbers, found shape {chance.shape}")
    gain = _GAINS[utility](state, systems)
    return np.where(state.open, chance * gain + chance.T * gain.T, -1.0)


def _change(state: State, systems: Systems) -> Floats:
    """By how much "a over b" moves all differences between systems, summed.

    It settles every undecided pair of a document at or above a and one at or below b.
    """
    n = state.n_documents
    good = ~state.bad
    implied = _chains(state, state.closed) | np.eye(n, dtype=bool)
    upper = (implied & good[:, None]).astype(np.float64)
    lower = (implied & good).astype(np.float64)
    undecided = ~(state.closed | state.closed.T) if state.transitive else np.ones((n, n), bool)
    weights = systems.above * (undecided & ~np.eye(n, dtype=bool))[..., None]
    below = lower @ weights  # (n, n, systems) of each document over all at or below b
    moved = (upper.T @ below.reshape(n, -1)).reshape(below.shape)
    return np.where(state.open, summed_differences(moved * _share(state, systems)), 0.0)


def _settled(state: State, systems: Systems) -> Floats:
    width = np.where(state.open, _apart(systems, _share(state, systems)), 0.0)
    at_or_below = (_chains(state, state.closed) | np.eye(state.n_documents, dtype=bool)).astype(np.float64)
    return np.asarray(at_or_below.T @ width @ at_or_below.T)


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
    """(n, n) sum over pairs of systems of |w_e sgn_e scale_e - w_f sgn_f scale_f|."""
    return summed_differences((systems.above - systems.above.transpose(1, 0, 2)) * scale)


def summed_differences(values: Floats) -> Floats:
    """Sum over all pairs of numbers x, y of the last axis of |x - y|."""
    m = values.shape[-1]
    return np.asarray(np.sort(values, axis=-1) @ np.arange(1.0 - m, m, 2))
