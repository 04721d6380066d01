"""May we stop? What is certain about the difference of systems, whatever is still to be judged.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels import completions
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.result import Result
from qrowd.preferences.scheduling.state import LaterBad, State
from qrowd.preferences.scheduling.systems import Systems
from qrowd.preferences.scheduling.utility import Probability, probabilities

Goal = Literal["ranking", "top"]
EQUAL = 1e-9  # differences up to this are none: sums of weights differ by rounding


@dataclass(frozen=True, eq=False)
class Bounds(Result):
    """Bounds of the difference of each pair of systems: low[e, f] <= E_e - E_f <= high[e, f], both (systems, systems).

    A difference within 1e-9 of 0 is taken for 0.
    """

    low: Floats
    high: Floats

    def _columns(self) -> dict[str, Any]:
        """One row per pair of systems, by number."""
        e, f = np.triu_indices(self.low.shape[0], k=1)
        return {"first": e, "second": f, "low": self.low[e, f], "high": self.high[e, f]}

    @property
    def sign(self) -> Floats:
        """(systems, systems) 1 or -1 where e is certainly better or worse than f, 0 where certainly equal, else nan."""
        better, worse = self.low > EQUAL, self.high < -EQUAL
        equal = (self.low >= -EQUAL) & (self.high <= EQUAL)
        return np.where(better, 1.0, np.where(worse, -1.0, np.where(equal, 0.0, np.nan)))

    def settled(self, goal: Goal = "ranking", n_best: int = 1) -> bool:
        """Whether no further judgment can change the answer; see `may_stop`."""
        return _settled(self.sign, goal, n_best)


@dataclass(frozen=True, eq=False)
class Decision(Result):
    """Whether to stop, and what is known of each pair of systems by then.

    sign : (systems, systems) 1, 0, -1 where e is certainly better than, equal to, worse than f, else nan. Where proof
        of a whole ranking fails, the pairs that are settled already are not looked for: see `difference_bounds`.
    probability : (systems, systems) share of sampled completions that have the sign most of them have; 1 where it is
        proven, nan where neither was asked for.
    expected : (systems,) mean scores over sampled completions; None where none were sampled.
    """

    stop: bool
    sign: Floats
    probability: Floats
    expected: Floats | None = None

    def _columns(self) -> dict[str, Any]:
        """One row per pair of systems, by number."""
        e, f = np.triu_indices(self.sign.shape[0], k=1)
        return {
            "first": e,
            "second": f,
            "sign": self.sign[e, f],
            "probability": self.probability[e, f],
            "stop": self.stop,
        }


def difference_bounds(state: State, systems: Systems, *, later_bad: LaterBad = "any") -> Bounds:
    """Safe bounds on the difference of every two systems once everything will have been judged.

        low[e, f] <= w_e / n_e - w_f / n_f <= high[e, f]

    Every undecided pair may end either way, whether or not the answers fit together, and is dropped if both its
    documents may come out as Bad; both fractions are over what each system itself orders by then. Without later marks
    and for ppref or wpref these are the paper's bounds; with them the weight of all pairs is not fixed, and neither is
    the sign that a bound at today's weights would give.

    later_bad : which documents may still be marked as Bad: "any" that will be shown again; those not shown yet
        ("unseen"); "none".

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 5.3; later marks are qrowd's.

    >>> state = State.new(3).judge(0, 1, winner=0)
    >>> bounds = difference_bounds(state, Systems.of([[0, 1, 2], [1, 2, 0]], 3), later_bad="none")
    >>> print(f"{bounds.low[0, 1]:.3f} to {bounds.high[0, 1]:.3f}")
    0.000 to 0.667
    """
    systems.fits(state)
    return Bounds(*completions.difference_bounds(*_pairs(state, systems, later_bad)))


def may_stop(
    state: State,
    systems: Systems,
    *,
    goal: Goal = "ranking",
    n_best: int = 1,
    later_bad: LaterBad = "any",
    stop_probability: float = 1.0,
    probability: Probability = None,
    chance_bad: float | Floats = 0.0,
    n_completions: int = 400,
    rng: Rng = None,
) -> Decision:
    """Whether enough was judged to say which system is better.

    goal : "ranking": of every two systems it is settled which is better, or that they are equal. With two systems
        that is the sign of their difference. "top": it is settled which `n_best` systems are the best.
    stop_probability : 1 asks for proof, by `difference_bounds`. Below 1, what is not proven is also accepted if at
        least this share of sampled completions agree: on each sign for "ranking", on the set of the best for "top".
    probability : P(a > b) for sampling completions; 1/2 unless given.
    chance_bad : one probability, or (n,), that a document that may still be marked as Bad will be.
    n_completions, rng : completions to sample, and their chance; used where `stop_probability` is below 1.

    >>> systems = Systems.of([[0, 1, 2], [1, 2, 0]], 3)
    >>> state = State.new(3).judge(0, 1, winner=0)
    >>> may_stop(state, systems, later_bad="none").stop
    False
    >>> may_stop(state.judge(0, 2, winner=0), systems, later_bad="none").stop
    True
    """
    check_goal(systems.n, goal, n_best, stop_probability)
    systems.fits(state)
    if stop_probability == 1 and goal == "ranking" and not _all_settled(state, systems, later_bad):
        nothing = np.full((systems.n, systems.n), np.nan)
        return Decision(False, nothing, nothing)
    sign = difference_bounds(state, systems, later_bad=later_bad).sign
    proven = np.where(np.isnan(sign), np.nan, 1.0)
    if _settled(sign, goal, n_best):
        return Decision(True, sign, proven)
    if stop_probability == 1:
        return Decision(False, sign, proven)
    sampled = sampled_scores(
        state,
        systems,
        later_bad=later_bad,
        probability=probability,
        chance_bad=chance_bad,
        n_completions=n_completions,
        rng=rng,
    )
    return decision_of_samples(sign, sampled, goal, n_best, stop_probability)


def check_goal(n_systems: int, goal: Goal, n_best: int, stop_probability: float) -> None:
    """An error unless the options of `may_stop` fit each other and the number of systems."""
    if not 0.5 < stop_probability <= 1:
        raise ArgumentError("must be above .5 and at most 1 (proof)", "stop_probability", stop_probability)
    check_choice("goal", goal, Goal)
    if goal == "top" and not 1 <= n_best < n_systems:
        raise ArgumentError(f"of {n_systems} systems the best can be 1 to {n_systems - 1}", "n_best", n_best)


def decision_of_samples(sign: Floats, sampled: Floats, goal: Goal, n_best: int, stop_probability: float) -> Decision:
    """The decision where proof fails: whether enough completions agree.

    sign : as in `Decision`, of what is proven. sampled : (completions, systems) scores.
    """
    gap = sampled[:, :, None] - sampled[:, None, :]
    shares = np.stack([(gap < -EQUAL).mean(axis=0), (np.abs(gap) <= EQUAL).mean(axis=0), (gap > EQUAL).mean(axis=0)])
    likely = shares.argmax(axis=0) - 1.0
    agreed = np.where(np.isnan(sign), shares.max(axis=0), 1.0)
    if goal == "ranking":
        stop = bool((agreed >= stop_probability).all())
    else:
        best = np.argsort(-sampled, axis=1, kind="stable")[:, :n_best]
        sets = np.zeros(sampled.shape, bool)
        np.put_along_axis(sets, best, True, axis=1)
        _, times = np.unique(sets, axis=0, return_counts=True)
        stop = bool(times.max() >= stop_probability * len(sampled))
    signs = np.where(np.isnan(sign) & (agreed >= stop_probability), likely, sign)
    return Decision(stop, signs, agreed, sampled.mean(axis=0))


def sampled_scores(
    state: State,
    systems: Systems,
    *,
    later_bad: LaterBad = "any",
    probability: Probability = None,
    chance_bad: float | Floats = 0.0,
    n_completions: int = 400,
    rng: Rng = None,
) -> Floats:
    """(completions, systems) scores in completions sampled at random: transitive ones that fit what is known.

    Each completion marks further documents as Bad (none that was preferred to one that stays), then puts the others
    into a row, one after the other in random order, each at a place drawn from what is known and its probabilities
    against those already there.

    probability, chance_bad : as in `may_stop`.
    """
    if n_completions < 1:
        raise ArgumentError("sample 1 or more", "n_completions", n_completions)
    systems.fits(state)
    n = state.n_documents
    chances = np.asarray(chance_bad, np.float64)
    if chances.shape not in ((), (n,)) or not ((chances >= 0) & (chances <= 1)).all():
        raise ArgumentError(f"chance_bad: give one probability from 0 to 1, or {n} of them")
    uniform = Chance.of(rng).stream("completions").random((n_completions, 3, n))
    out = np.empty((n_completions, systems.n))
    completions.sampled_scores(
        state.closed,
        state.bad,
        np.where(state.markable(later_bad), chances, 0.0),
        probabilities(n, probability),
        systems.above,
        uniform,
        out,
    )
    return out


def _pairs(state: State, systems: Systems, later_bad: LaterBad) -> completions.Pairs:
    """What the kernels of bounds take: sums over pairs whose end is certain, and the others in columns."""
    outcomes = state.outcomes(later_bad)
    i, j = np.nonzero(outcomes)
    code = outcomes[i, j]
    turned = np.isin(code, (2, 6))  # only the second may be preferred: the other way round, only the first
    i, j, code = np.where(turned, j, i), np.where(turned, i, j), np.where(turned, code - 1, code)
    certain = state.closed.copy()
    certain[i[code == 1], j[code == 1]] = True
    columns = [np.flatnonzero(code == kind) for kind in (3, 5, 7)]
    ends = np.cumsum([column.size for column in columns])
    rows = np.concatenate(columns)
    above = systems.above
    first, second = (np.ascontiguousarray(above[one[rows], two[rows]].T) for one, two in ((i, j), (j, i)))
    right, total = above[certain].sum(axis=0), systems.either[certain].sum(axis=0)
    return completions.Pairs(right, total, first, second, ends, completions.total_ranges(total, first, second, ends))


def _all_settled(state: State, systems: Systems, later_bad: LaterBad) -> bool:
    """Whether the bounds of every two systems have one sign; those closest to each other are looked at first."""
    closest: Systems | None = systems.__dict__.get("_closest")
    if closest is not None and np.isnan(difference_bounds(state, closest, later_bad=later_bad).sign).any():
        return False  # the two that were closest last time mostly still are, and a look at two is cheap
    pairs = _pairs(state, systems, later_bad)
    halves = (pairs.first.sum(axis=1) + pairs.second.sum(axis=1)) / 2
    middle = (pairs.right + halves) / np.maximum(pairs.ranges[1], EQUAL)
    e, f = np.triu_indices(systems.n, k=1)
    suspects = np.stack([e, f], axis=1)[np.argsort(np.abs(middle[e] - middle[f]), kind="stable")]
    settled = completions.all_settled(*pairs, suspects, EQUAL)
    if not settled and systems.n > 2:
        systems.__dict__["_closest"] = systems.only(suspects[0])
    return settled


def _settled(sign: Floats, goal: Goal, n_best: int) -> bool:
    if goal == "ranking":
        return not bool(np.isnan(sign).any())
    # The best: each of them is certainly better than each of the others.
    order = np.argsort(-(sign > 0).sum(axis=1), kind="stable")
    best, others = order[:n_best], order[n_best:]
    return bool((sign[np.ix_(best, others)] > 0).all())
