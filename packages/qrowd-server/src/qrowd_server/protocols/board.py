"""What is known of a topic, and who is being asked what: all that everybody did, added up.

One assessor has a board alone, or several have one together. Documents are places here, from 0, in the material's
order; a board is worked out from the log and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from qrowd.preferences.scheduling import Order, State
from qrowd_server.protocols.events import Event

Pair = tuple[int, int]
Entry = tuple[int, Event, float]  # assignment, what happened, when

#: Events after which an assignment is asked nothing until it is offered something again.
LEAVING = ("withdrawn", "stopped", "finished", "all_bad", "waiting", "completed", "lease_expired", "given_back")


@dataclass(frozen=True, slots=True)
class Fact:
    """One judgment that stands: `first` was preferred to `second`, the two are even, or `first` is Bad (second -1)."""

    assignment: int
    kind: Literal["preferred", "even", "bad"]
    first: int
    second: int = -1


@dataclass(frozen=True, slots=True)
class Offer:
    """The pair an assignment is being asked, and since when."""

    pair: Pair
    since: float


@dataclass(frozen=True, eq=False)
class Board:
    """What several assignments found out about one topic, as far as it stands.

    documents : their numbers, by place. pair_redundancy : how many assignments judge each pair before it counts; then
        the greater number has it, and a pair that is even has no order.
    facts : what was said and not undone, oldest first. offered : what each assignment is being asked.
    me : whose turn it is; see `for_assignment`.
    infer : whether chains of preferences and Bad marks count as answers; without, only what was asked is known.

    >>> offer = Event("offered", {"left": 7, "right": 9})
    >>> board = Board.of((7, 8, 9), [(1, offer, 0.0), (2, Event("offered", {"left": 8, "right": 9}), 1.0)])
    >>> board.holders(9), board.for_assignment(2).unavailable()
    ((1, 2), [(0, 2)])
    """

    documents: tuple[int, ...]
    pair_redundancy: int = 1
    facts: tuple[Fact, ...] = ()
    offered: Mapping[int, Offer] = field(default_factory=dict)
    me: int = 0
    infer: bool = True

    @classmethod
    def of(
        cls, documents: tuple[int, ...], log: Iterable[Entry] = (), *, pair_redundancy: int = 1, infer: bool = True
    ) -> Board:
        """From what happened, oldest first."""
        board = cls(documents, pair_redundancy, infer=infer)
        for assignment, event, at in log:
            board = board.after(assignment, event, at)
        return board

    def after(self, assignment: int, event: Event, at: float) -> Board:
        """The board once this happened, too. An event that says nothing of pairs changes nothing."""
        offered = {one: offer for one, offer in self.offered.items() if one != assignment}
        if event.data.get("gold") is not None:  # a gold question, which says nothing of the topic's documents
            return replace(self, offered=offered)
        if event.kind == "offered":
            pair = (self.places[event.data["left"]], self.places[event.data["right"]])
            return replace(self, offered={**offered, assignment: Offer(pair, at)})
        if event.kind in ("preferred", "marked_bad"):
            return replace(self, offered=offered, facts=(*self.facts, self._fact(assignment, event)))
        if event.kind == "undone":
            last = max((i for i, fact in enumerate(self.facts) if fact.assignment == assignment), default=None)
            facts = self.facts if last is None else (*self.facts[:last], *self.facts[last + 1 :])
            return replace(self, facts=facts, offered=offered)
        return replace(self, offered=offered) if event.kind in LEAVING else self

    def for_assignment(self, assignment: int) -> Board:
        """The same, as this assignment's turn: its own pair holds up nobody."""
        return replace(self, me=assignment)

    # ------------------------------------------------------------------ looking at it

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each document."""
        return {document: place for place, document in enumerate(self.documents)}

    @cached_property
    def state(self) -> State:
        """What is known, and what follows."""
        return self._state_of(self.pair_redundancy)

    @cached_property
    def provisional(self) -> State:
        """The same as if every pair that only some have judged would end as they say: what a new pair adds to it."""
        return self.state if self.pair_redundancy == 1 else self._state_of(1)

    def _state_of(self, least: int) -> State:
        """What follows from the pairs that at least so many have judged."""
        preferred, even, bad = [], [], []
        votes: dict[Pair, list[Fact]] = {}
        for fact in self.facts:
            if fact.kind == "bad":
                bad.append(fact.first)
            else:
                votes.setdefault(_sorted(fact.first, fact.second), []).append(fact)
        for pair, facts in votes.items():
            if len(facts) >= least:
                winner = _majority(facts)
                if winner is None:
                    even.append(pair)
                else:
                    preferred.append((winner, pair[0] if winner == pair[1] else pair[1]))
        n = len(self.documents)
        return State.after(n, preferred, bad, even, transitive=self.infer, bad_loses=self.infer)

    def holders(self, document: int) -> tuple[int, ...]:
        """The assignments that are being asked about a document, by its number."""
        place = self.places[document]
        return tuple(one for one, offer in self.offered.items() if place in offer.pair)

    def unavailable(self) -> list[Pair]:
        """The pairs that may not be offered to `me`: asked of as many others as are needed, or judged by `me`."""
        others = [offer.pair for one, offer in self.offered.items() if one != self.me]
        if self.pair_redundancy == 1:
            return others
        counts: dict[Pair, int] = {}
        mine: set[Pair] = set()
        for first, second in others:
            pair = _sorted(first, second)
            counts[pair] = counts.get(pair, 0) + 1
        for fact in self.facts:
            if fact.kind != "bad":
                pair = _sorted(fact.first, fact.second)
                counts[pair] = counts.get(pair, 0) + 1
                if fact.assignment == self.me:
                    mine.add(pair)
        return [pair for pair, n in counts.items() if n >= self.pair_redundancy or pair in mine]

    def incomplete(self) -> list[Pair]:
        """The open pairs that others judged, or are being asked, and that `me` may judge too; oldest judgment first."""
        if self.pair_redundancy == 1:
            return []
        offers = sorted((offer.since, offer.pair) for one, offer in self.offered.items() if one != self.me)
        pairs = [_sorted(fact.first, fact.second) for fact in self.facts if fact.kind != "bad"]
        pairs += [_sorted(*pair) for _, pair in offers]
        unavailable = set(self.unavailable())
        return [pair for pair in dict.fromkeys(pairs) if pair not in unavailable and self.state.open[pair]]

    def beside(self, kept: int = -1) -> State:
        """What `me` may be asked. kept : the place of the document it preferred last, -1 for none."""
        return self.state.beside(self.unavailable(), kept)

    def choose(
        self, order: Order, kept: int = -1, *, enough: Callable[[State], bool] = lambda state: False
    ) -> Pair | Literal["waiting", "finished"]:
        """The next pair for `me`, or why there is none: others hold what is left, or nothing is.

        Pairs that others began come first. A new pair is chosen as if the begun ones would end as they stand, so that
        nobody is asked what they will imply. enough : whether such a state needs no new pair at all.
        """
        if begun := self.incomplete():
            return begun[0]
        unavailable, state = self.unavailable(), self.provisional
        if state is self.state or not enough(state):
            # Where answers contradict each other, what a begun pair would say may open a pair that is known.
            known = [] if state is self.state else np.argwhere(state.open & ~self.state.open).tolist()
            pair = order.next(state.beside([*unavailable, *((first, second) for first, second in known)], kept))
            if pair is not None:
                return pair
        return "waiting" if unavailable and order.next(self.state.beside((), kept)) is not None else "finished"

    def may_ask(self, pair: Pair) -> bool:
        """Whether the pair is open, and free for `me`."""
        return bool(self.beside().free[pair])

    # ------------------------------------------------------------------ going on

    def _fact(self, assignment: int, event: Event) -> Fact:
        left, right = self.places[event.data["left"]], self.places[event.data["right"]]
        if event.kind == "marked_bad":
            return Fact(assignment, "bad", left if event.data["side"] == "left" else right)
        choice = event.data["choice"]
        if choice == "duplicates":
            return Fact(assignment, "even", left, right)
        return Fact(assignment, "preferred", *((left, right) if choice == "left" else (right, left)))


def _majority(facts: list[Fact]) -> int | None:
    """Which document of a pair was preferred more often; None where that is even."""
    low, high = _sorted(facts[0].first, facts[0].second)
    balance = sum((fact.first == low) - (fact.first == high) for fact in facts if fact.kind == "preferred")
    return None if balance == 0 else low if balance > 0 else high


def _sorted(one: int, two: int) -> Pair:
    return (one, two) if one < two else (two, one)
