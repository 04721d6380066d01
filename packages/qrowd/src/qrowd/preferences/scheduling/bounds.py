"""May we stop? What is certain about the difference of systems, whatever is still to be judged.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.model.chance import Chance, Rng
from qrowd.model.result import Result
from qrowd.preferences.scheduling.state import DROPPED, FIRST, SECOND, LaterBad, State
from qrowd.preferences.scheduling.utility import Systems

EQUAL = 1e-9  # differences up to this are none: sums of weights differ by rounding
N_COMPLETIONS = 400  # sampled where proof is not asked for
BLOCK = 1 << 18  # pairs of systems and of documents that are looked at together


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
        better = self.low > EQUAL
        worse = self.high < -EQUAL
        equal = (self.low >= -EQUAL) & (self.high <= EQUAL)
        return np.where(better, 1.0, np.where(worse, -1.0, np.where(equal, 0.0, np.nan)))

    @property
    def settled(self) -> bool:
        """Whether no further judgment can change the order of any pair of systems."""
        return not bool(np.isnan(self.sign).any())


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
    pairs, (low, high) = _Pairs.of(state, systems, later_bad), np.zeros((2, systems.n, systems.n))
    for e, f in _blocks(pairs, np.stack(np.triu_indices(systems.n, k=1))):
        low[e, f], high[e, f] = pairs.bounds(e, f)
        low[f, e], high[f, e] = -high[e, f], -low[e, f]
    return Bounds(low, high)


def may_stop(
    state: State,
    systems: Systems,
    *,
    later_bad: LaterBad = "any",
    stop_probability: float = 1.0,
    rng: Rng = 1,
) -> Decision:
    """Whether enough was judged to say of every two systems which is better, or that they are equal.

    stop_probability : 1 asks for proof, by `difference_bounds`. Below 1, what is not proven is also accepted if at
        least this share of 400 sampled completions agree on each sign.
    rng : for the completions.

    >>> systems = Systems.of([[0, 1, 2], [1, 2, 0]], 3)
    >>> state = State.new(3).judge(0, 1, winner=0)
    >>> may_stop(state, systems, later_bad="none").stop
    False
    >>> may_stop(state.judge(0, 2, winner=0), systems, later_bad="none").stop
    True
    """
    if not 0.5 < stop_probability <= 1:
        raise ArgumentError("must be above .5 and at most 1 (proof)", "stop_probability", stop_probability)
    systems.fits(state)
    if stop_probability == 1 and not _all_settled(state, systems, later_bad):
        nothing = np.full((systems.n, systems.n), np.nan)
        return Decision(False, nothing, nothing)
    bounds = difference_bounds(state, systems, later_bad=later_bad)
    if bounds.settled or stop_probability == 1:
        return Decision(bounds.settled, bounds.sign, np.where(np.isnan(bounds.sign), np.nan, 1.0))
    sampled = sampled_scores(state, systems, rng=rng)
    return _decision_of_samples(bounds.sign, sampled, stop_probability)


def _decision_of_samples(sign: Floats, sampled: Floats, stop_probability: float) -> Decision:
    """The decision where proof fails: whether enough completions agree on each sign.

    sign : as in `Decision`, of what is proven. sampled : (completions, systems) scores.
    """
    gap = sampled[:, :, None] - sampled[:, None, :]
    shares = np.stack([(gap < -EQUAL).mean(axis=0), (np.abs(gap) <= EQUAL).mean(axis=0), (gap > EQUAL).mean(axis=0)])
    likely = shares.argmax(axis=0) - 1.0
    agreed = np.where(np.isnan(sign), shares.max(axis=0), 1.0)
    enough = agreed >= stop_probability
    signs = np.where(np.isnan(sign) & enough, likely, sign)
    return Decision(bool(enough.all()), signs, agreed, sampled.mean(axis=0))


def sampled_scores(state: State, systems: Systems, *, n_completions: int = N_COMPLETIONS, rng: Rng = 1) -> Floats:
    """(completions, systems) scores in completions sampled at random: transitive ones that fit what is known.

    No further document is marked as Bad. Each completion puts the others into a row, one after the other in random
    order, each at any of the places that what is known leaves it.
    """
    systems.fits(state)
    bad = state.bad
    # Of three numbers for each document the last two are used, so that a seed gives the same completions as before.
    random = Chance.of(rng).stream("completions").random((n_completions, 3, state.n_documents))
    place = _sampled_places(state.closed, bad, random[:, 1], random[:, 2])
    i, j = np.nonzero(np.triu(~state.decided, k=1))
    first_wins = bad[j] | (~bad[i] & (place[:, i] < place[:, j]))
    counts = ~(bad[i] & bad[j])
    right = (counts & first_wins) @ systems.above[i, j] + (counts & ~first_wins) @ systems.above[j, i]
    right += systems.above[state.closed].sum(axis=0)
    total = counts @ systems.either[i, j] + systems.either[state.closed].sum(axis=0)
    return np.asarray(right / np.where(total > 0, total, np.inf))


def _sampled_places(closed: Bools, bad: Bools, turn: Floats, luck: Floats) -> Ints:
    """(completions, documents) the place of each document that is not Bad among the others.

    bad : (documents,). turn, luck : (completions, documents) random numbers, which decide when a document is put into
    the row, and where.
    """
    place = np.zeros(turn.shape, np.int64)
    placed = np.zeros(turn.shape, bool)
    rows = np.arange(len(turn))
    order = np.argsort(turn, axis=1)
    for new in order.T:
        size = placed.sum(axis=1)
        above = placed & closed.T[new] & ~closed[new]
        low = np.where(above, place + 1, 0).max(axis=1)
        below = placed & closed[new] & (place >= low[:, None])
        high = np.where(below, place, size[:, None]).min(axis=1)
        at = low + np.minimum((luck[rows, new] * (high - low + 1)).astype(np.int64), high - low)
        stays = ~bad[new]
        place += placed & stays[:, None] & (place >= at[:, None])
        cells = rows[stays], new[stays]
        place[cells] = at[stays]
        placed[cells] = True
    return place


@dataclass(frozen=True, eq=False)
class _Pairs:
    """What each system orders in the end.

    right, total : (systems,) weight of the pairs whose end is certain that the system orders rightly, and of all that
        it orders.
    first, second : (systems, pairs) weight of each other pair if the system ranks its first document higher, or its
        second one, else 0. Columns 0 to ends[0] may end either way, up to ends[1] as the first over the second or be
        dropped, up to ends[2] in all three ways.
    least, most : (systems,) weight of all pairs that the system orders.
    """

    right: Floats
    total: Floats
    first: Floats
    second: Floats
    ends: Ints
    least: Floats
    most: Floats

    @classmethod
    def of(cls, state: State, systems: Systems, later_bad: LaterBad) -> _Pairs:
        outcomes = state.outcomes(later_bad)
        i, j = np.nonzero(outcomes)
        code = outcomes[i, j]
        turned = np.isin(code, (SECOND, SECOND + DROPPED))  # the other way round, only the first may be preferred
        i, j, code = np.where(turned, j, i), np.where(turned, i, j), np.where(turned, code - 1, code)
        certain = state.closed.copy()
        certain[i[code == FIRST], j[code == FIRST]] = True
        kinds = (FIRST + SECOND, FIRST + DROPPED, FIRST + SECOND + DROPPED)
        columns = [np.flatnonzero(code == kind) for kind in kinds]
        rows = np.concatenate(columns)
        ends = np.cumsum([column.size for column in columns])
        first, second = (systems.above[one[rows], two[rows]].T for one, two in ((i, j), (j, i)))
        right = systems.above[certain].sum(axis=0)
        total = systems.either[certain].sum(axis=0)
        either = first + second
        least = total + either[:, : ends[0]].sum(axis=1)
        return cls(right, total, first, second, ends, least, least + either[:, ends[0] :].sum(axis=1))

    def bounds(self, e: Ints, f: Ints) -> tuple[Floats, Floats]:
        """Bounds on E_e - E_f of each pair of systems however the pairs end, E = right / total, 0 where the total is.

        With N the totals, E_e - E_f = (right_e - r * right_f) / N_e at r = N_e / N_f. For a fixed r every pair ends at
        its own worst; in r the worst is convex, so that the ends of r's range bound it. Subtracting c * (N_e - r * N_f)
        from the numerator, which is 0, changes nothing but the bound; the best of a few c is taken.
        """
        # A fraction without any pair is 0: nothing is certain but that one that has none in any case is 0.
        low = np.where(self.most[f] <= 0, 0.0, -1.0)
        high = np.where(self.most[e] <= 0, 0.0, 1.0)
        some = (self.least[e] > 0) & (self.least[f] > 0)
        e, f = e[some], f[some]
        least, most = self.least[e], self.most[e]
        dropping = (least < most) | (self.least[f] < self.most[f])
        large = small = most / self.most[f]
        if dropping.any():
            large = np.where(dropping, self._largest_ratio(e, f), large)
            small = np.where(dropping, 1 / self._largest_ratio(f, e), small)
        bottom = np.full(e.size, -np.inf)
        top = np.full(e.size, np.inf)
        for c in (0.0, 0.5, 1.0) if dropping.any() else (0.0,):
            over, under = self._numerator_range(e, f, large, c)
            if dropping.any():
                more, less = self._numerator_range(e, f, small, c)
                over = np.maximum(over, more)
                under = np.minimum(under, less)
            bottom = np.maximum(bottom, under)
            top = np.minimum(top, over)
        low[some] = np.maximum(-1.0, bottom / np.where(bottom < 0, least, most))
        high[some] = np.minimum(1.0, top / np.where(top > 0, least, most))
        return low, high

    def _largest_ratio(self, e: Ints, f: Ints) -> Floats:
        """The largest N_e / N_f over all ways of dropping pairs: Dinkelbach's iteration, from the ratio with all pairs.

        Source: Dinkelbach (1967), On Nonlinear Fractional Programming. Management Science 13(7), 492-498.
        """
        either = self.first[:, self.ends[0] :] + self.second[:, self.ends[0] :]
        ratio = self.most[e] / self.most[f]
        for _ in range(100):
            keep = either[e] > ratio[:, None] * either[f]
            new = (self.least[e] + (keep * either[e]).sum(axis=1)) / (self.least[f] + (keep * either[f]).sum(axis=1))
            rises = new > ratio * (1 + 1e-13)
            if not rises.any():
                break
            ratio = np.where(rises, new, ratio)
        return np.asarray(ratio * (1 + 1e-12))

    def _numerator_range(self, e: Ints, f: Ints, r: Floats, c: float) -> tuple[Floats, Floats]:
        """Largest and smallest (right_e - c N_e) - r (right_f - c N_f), every pair at its own worst."""
        certain = (self.right[e] - c * self.total[e]) - r * (self.right[f] - c * self.total[f])
        one = self.first[e] - r[:, None] * self.first[f]
        two = self.second[e] - r[:, None] * self.second[f]
        shift = c * (one + two)
        middle = slice(self.ends[0], self.ends[1])
        two[:, middle] = one[:, middle]
        more = np.maximum(one, two) - shift
        less = np.minimum(one, two) - shift
        droppable = slice(self.ends[0], None)
        more[:, droppable] = np.maximum(more[:, droppable], 0.0)
        less[:, droppable] = np.minimum(less[:, droppable], 0.0)
        return certain + more.sum(axis=1), certain + less.sum(axis=1)


def _blocks(pairs: _Pairs, of_systems: Ints) -> Iterator[Ints]:
    """Pairs of systems, (2, m), the first alone and then as many at once as fit into memory."""
    at_once = max(BLOCK // max(pairs.first.shape[1], 1), 1)
    yield from np.split(of_systems, [1, *range(1 + at_once, of_systems.shape[1], at_once)], axis=1)


def _all_settled(state: State, systems: Systems, later_bad: LaterBad) -> bool:
    """Whether the bounds of every two systems have one sign; those closest to each other are looked at first."""
    pairs = _Pairs.of(state, systems, later_bad)
    halves = (pairs.first.sum(axis=1) + pairs.second.sum(axis=1)) / 2
    middle = (pairs.right + halves) / np.maximum(pairs.most, EQUAL)
    suspects = np.stack(np.triu_indices(systems.n, k=1))
    closest = np.argsort(np.abs(middle[suspects[0]] - middle[suspects[1]]), kind="stable")
    return not any(np.isnan(Bounds(*pairs.bounds(e, f)).sign).any() for e, f in _blocks(pairs, suspects[:, closest]))
