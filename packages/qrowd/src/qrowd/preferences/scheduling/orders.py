"""Orders: given what is known, which pair next?

An order is a function of the state alone (and of what it was made from), so that it can be asked at any time, also
about a state that it did not lead to. It never asks about a pair that is known already, nor about one that somebody
else is being asked (`State.held`): where only such a pair is wanted, it asks another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.preferences.scheduling.state import Pair, State
from qrowd.preferences.scheduling.utility import ESTIMATES, Estimate, Systems, Utility, expected_utility

ORDERS = ("all", "kept", "random", "merge", "insertion", "utility", "settled", "printed", "top")


class Order(ABC):
    """A rule that says which pair to show next."""

    @abstractmethod
    def next(self, state: State) -> Pair | None:
        """Two documents that are not known to be in any order, or None: nothing (that is free) is left."""


@dataclass(frozen=True, eq=False)
class InOrder(Order):
    """Every pair, along a fixed sequence of documents: first with second, first with third, ...

    sequence : document numbers, all of them; None for 0, 1, 2 ...
    """

    sequence: Sequence[int] | None = None

    def next(self, state: State) -> Pair | None:
        return _first_free(state, in_sequence(self.sequence, state))


@dataclass(frozen=True, eq=False)
class KeepPreferred(Order):
    """The preferred document stays and meets the next one of the sequence.

    Once it has met them all, the first two documents of the sequence that are still open start again.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 3.1.
    """

    sequence: Sequence[int] | None = None

    def next(self, state: State) -> Pair | None:
        sequence = in_sequence(self.sequence, state)
        if state.kept >= 0 and (opponents := sequence[state.free[state.kept, sequence]]).size:
            # Along the sequence, and from its start for those that were passed over.
            here = int(np.flatnonzero(sequence == state.kept)[0])
            after = [int(d) for d in sequence[here + 1 :] if state.free[state.kept, d]]
            return state.kept, after[0] if after else int(opponents[0])
        return InOrder(self.sequence).next(state)


class _WithChance(Order):
    """An order that draws; the same state gets the same draw."""

    rng: Rng

    @cached_property
    def _seed(self) -> tuple[int, ...]:
        seed = seed_of(self.rng)
        return seed if isinstance(seed, tuple) else (seed,)


@dataclass(frozen=True, eq=False)
class AtRandom(_WithChance):
    """Any open pair, each as likely as the other."""

    rng: Rng = None

    def next(self, state: State) -> Pair | None:
        pairs = np.argwhere(np.triu(state.free))
        if not pairs.size:
            return None
        a, b = pairs[np.random.default_rng([*self._seed, state.n_judged]).integers(len(pairs))]
        return int(a), int(b)


@dataclass(frozen=True, eq=False)
class Sort(Order):
    """Comparisons of a sort, which chains answer as far as they can. What it ends with is a complete order.

    by : "merge", at most n ceil(log2 n) - 2^ceil(log2 n) + 1 questions; "insertion" by bisection, at most
        ceil(log2 2) + ... + ceil(log2 n).
    sequence : documents as the sort finds them; the nearer to their true order, the fewer questions.

    Contradictions and circles do not stop a sort; pairs they leave open are asked after it.
    """

    by: str = "merge"
    sequence: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if self.by not in _SORTS:
            raise ArgumentError(f"choose one of {', '.join(_SORTS)}", "by", self.by)

    def next(self, state: State) -> Pair | None:
        sequence = in_sequence(self.sequence, state)
        sequence = sequence[~state.bad[sequence]]
        # Bad documents stand below all others, and nothing is asked of them: the sort need not touch them.
        known = state.known
        if state.even:  # a sort needs an answer; the order in which it finds the two is one
            place = np.argsort(in_sequence(self.sequence, state))
            known = known.copy()
            for one, two in state.even:
                first, second = (one, two) if place[one] < place[two] else (two, one)
                known[first, second] |= not known[second, first]
        try:
            _SORTS[self.by](sequence.tolist(), known.tolist())
        except _UnknownPair as unknown:
            if state.free[unknown.pair]:
                return unknown.pair
        return InOrder(self.sequence).next(state)


class _UnknownPair(Exception):
    """A sort cannot go on without an answer to this pair."""

    def __init__(self, one: int, two: int) -> None:
        self.pair = (one, two)


Known = list[list[bool]]


def _is_before(known: Known, one: int, two: int) -> bool:
    if not known[one][two] and not known[two][one]:
        raise _UnknownPair(one, two)
    return known[one][two]


def _merge_sort(row: list[int], known: Known) -> None:
    """Merge smallest parts first. Halves as in the recursive sort need fewer comparisons than runs of 1, 2, 4 ..."""
    levels = [[0, len(row)]]
    while len(levels[-1]) <= len(row):
        ends = levels[-1]
        middles = [(low + high) // 2 for low, high in pairwise(ends)]
        levels.append(sorted([*ends, *middles]))
    for starts, halves in zip(levels[-2::-1], levels[:0:-1], strict=True):
        for part in range(len(starts) - 1):
            low, middle, high = halves[2 * part : 2 * part + 3]
            first = row[low:middle]
            second = row[middle:high]
            merged = []
            while first and second:
                merged.append((first if _is_before(known, first[0], second[0]) else second).pop(0))
            row[low:high] = merged + first + second


def _insertion_sort(row: list[int], known: Known) -> None:
    """Put one document after the other into its place by bisection, between what is known to be above and below."""
    placed: list[int] = []
    for new in row:
        above = [k for k, other in enumerate(placed) if known[other][new] and not known[new][other]]
        low = above[-1] + 1 if above else 0
        high = next((k for k in range(low, len(placed)) if known[new][placed[k]]), len(placed))
        while low < high:
            middle = (low + high) // 2
            if _is_before(known, new, placed[middle]):
                high = middle
            else:
                low = middle + 1
        placed.insert(low, new)


_SORTS = {"merge": _merge_sort, "insertion": _insertion_sort}


@dataclass(frozen=True, eq=False)
class ByUtility(Order):
    """The pair that is expected to tell most about the differences of systems; see `expected_utility`.

    learn : a function of the state that gives P(a > b), such as `from_known`, which needs fewer judgments than 1/2.
    sequence : of pairs that tell the same, the first along it.
    """

    systems: Systems
    utility: Utility = "change"
    learn: Callable[[State], Floats] | None = None
    sequence: Sequence[int] | None = None
    _last: list[tuple[bytes, Floats]] = field(default_factory=list, init=False, repr=False)

    def next(self, state: State) -> Pair | None:
        value = np.where(state.free, self._value(state), -1.0)
        sequence = in_sequence(self.sequence, state)
        value = np.triu(value[np.ix_(sequence, sequence)] + 1.0, k=1)
        if not value.any():
            return None
        # Equal up to rounding is equal.
        i, j = divmod(int(np.argmax(value.ravel() >= value.max() * (1 - 1e-12))), len(sequence))
        return int(sequence[i]), int(sequence[j])

    def _value(self, state: State) -> Floats:
        """What each pair tells; kept for the next question, which often is about the same state beside others."""
        key = state.closed.tobytes() + state.bad.tobytes() + repr(state.even).encode()
        if self._last and self._last[0][0] == key:
            return self._last[0][1]
        probability = None if self.learn is None else self.learn(state)
        value = expected_utility(state, self.systems, utility=self.utility, probability=probability)
        self._last[:] = [(key, value)]
        return value


@dataclass(frozen=True, eq=False)
class Tournament(_WithChance):
    """The best k documents: rounds of random pairs that losers leave, then all pairs of those who are left.

    In a round every document still in meets at least `meetings` others, drawn at random. Those that win more than half
    stay; should all or fewer than k do so, the half that wins most often does, but k at least. When no more than
    `final` are left, each meets each.

    Source: after Clarke, Vtyurina & Smucker (2021), Assessing Top-k Preferences. ACM TOIS 39(3), 33, section 4.
    """

    k: int = 5
    meetings: int = 7
    final: int = 9
    rng: Rng = None

    def __post_init__(self) -> None:
        if self.k < 1 or self.meetings < 1:
            raise ArgumentError(f"k={self.k}, meetings={self.meetings}: both must be 1 or more")

    def next(self, state: State) -> Pair | None:
        left, pair = self._played(state)
        if pair is not None:
            return pair
        return _first_free(state, left)

    def best(self, state: State) -> list[int]:
        """The k documents that win most often among those who are left, best first."""
        left, _ = self._played(state)
        wins = state.known[np.ix_(left, left)].sum(axis=1)
        return [int(d) for d in left[np.argsort(-wins, kind="stable")][: self.k]]

    def _played(self, state: State) -> tuple[Ints, Pair | None]:
        """Who is left after the rounds that are complete, and the first free pair of the one that is not."""
        left = np.arange(state.n_documents)
        number = 0
        while left.size > max(self.final, self.k):
            pairs = self._round(left, number)
            first, second = pairs.T
            if state.open[first, second].any():
                free = state.free[first, second]
                a, b = pairs[free.argmax()]
                return left, (int(a), int(b)) if free.any() else None
            one, other = np.concatenate([pairs, pairs[:, ::-1]]).T
            won = np.bincount(one, state.known[one, other], minlength=state.n_documents)
            played = np.bincount(one, minlength=state.n_documents)
            share = won[left] / played[left]
            stay = share > 0.5
            if stay.all() or stay.sum() < self.k:
                stay[:] = False
                stay[np.argsort(-share, kind="stable")[: max(self.k, left.size // 2)]] = True
            left = left[stay]
            number = number + 1
        return left, None

    def _round(self, left: Ints, number: int) -> Ints:
        """(m, 2) pairs in which every document of `left` meets `meetings` others (all, if there are fewer), or more."""
        rng = np.random.default_rng([*self._seed, number])
        m = left.size
        least = min(self.meetings, m - 1)
        met = np.zeros((m, m), bool)
        pairs = []
        for one in rng.permutation(m):
            # Those who have met fewest first, at random among them.
            free = np.flatnonzero(~met[one] & (np.arange(m) != one))
            order = np.lexsort((rng.random(free.size), met[free].sum(axis=1)))
            for other in free[order][: max(0, least - int(met[one].sum()))]:
                met[one, other] = met[other, one] = True
                pairs.append((left[one], left[other]))
        shuffled = rng.permutation(np.array(pairs))
        return np.asarray(shuffled, np.int64)


def _first_free(state: State, sequence: Ints) -> Pair | None:
    pairs = np.argwhere(np.triu(state.free[np.ix_(sequence, sequence)]))
    return (int(sequence[pairs[0, 0]]), int(sequence[pairs[0, 1]])) if pairs.size else None


def in_sequence(sequence: Sequence[int] | None, state: State) -> Ints:
    """The documents in that sequence, checked; as they are numbered if there is none."""
    n = state.n_documents
    if sequence is None:
        return np.arange(n)
    numbers = np.asarray(sequence, np.int64)
    if numbers.shape != (n,) or not np.array_equal(np.sort(numbers), np.arange(n)):
        raise ArgumentError(f"sequence: give each of the {n} documents once, as numbers from 0 to {n - 1}")
    return numbers


def make_order(
    name: str,
    n_documents: int,
    systems: Systems | None = None,
    *,
    k: int = 5,
    probability: Estimate = "odds",
    rng: Rng = None,
) -> Order:
    """An order by its name, along a random sequence of the documents.

    "all": every pair in turn; "kept": the preferred document stays; "random": any open pair; "merge", "insertion":
    sorts; "utility", "settled", "printed": what tells most about the systems, by the utilities "change",
    "settled" and "printed" of `expected_utility`; "top": the tournament for the best k.

    probability : what the utilities take for P(a > b): "half", "odds" (`from_known`) or "regression"
        (`from_regression`).
    """
    check_choice("probability", probability, Estimate)
    chance = Chance.of(rng)
    sequence = chance.stream("sequence").permutation(n_documents).tolist()
    if name in ("utility", "settled", "printed"):
        if systems is None:
            raise ArgumentError(f"order {name!r} needs systems to compare; {', '.join(ORDERS[:5])} do without")
        kind: Utility = "change" if name == "utility" else "settled" if name == "settled" else "printed"
        return ByUtility(systems, kind, ESTIMATES[probability], sequence)
    if name in _SORTS:
        return Sort(name, sequence)
    if name == "top":
        return Tournament(k, rng=chance.stream("tournament"))
    if name == "random":
        return AtRandom(chance.stream("random"))
    if name not in ORDERS:
        raise ArgumentError(f"order {name!r}: choose one of {', '.join(ORDERS)}")
    return KeepPreferred(sequence) if name == "kept" else InOrder(sequence)
