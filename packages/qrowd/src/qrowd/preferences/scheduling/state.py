"""What is known of one topic, judgment by judgment: what was said, what follows from it, and what is still open.

Documents are numbers from 0. A state never changes: every judgment makes a new one, so that a decision can be taken
on any of them, and taken again.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels import preference
from qrowd.kernels.arrays import Bools, Ints
from qrowd.model.preferences import TopicPreferences

LaterBad = Literal["any", "unseen", "none"]
Pair = tuple[int, int]

# How a pair may still end; see `State.outcomes`.
FIRST, SECOND, DROPPED = 1, 2, 4


@dataclass(frozen=True, eq=False)
class State:
    """What one assessor has said of one topic, and what follows.

    direct : (n, n) bool, which document was preferred to which.
    closed : (n, n) bool, the same over chains, as far as they do not go round in a circle; `direct` itself where
        `transitive` is False.
    bad : (n,) bool, marked as Bad. seen : (n,) bool, marked or compared at least once.
    n_preferences, n_marks : judgments so far.
    kept : the preferred document of the last judgment, -1 before the first.
    transitive : whether chains of preferences count. bad_loses : whether each Bad document counts as worse than each
        one that is not Bad; without, nothing is known of a pair that was not judged. Bad documents are never asked
        about again, either way.
    even : pairs that were judged and got no order. They are not asked again, and nothing follows from them.
    held : pairs that somebody else is being asked. They are as open as before, but no order chooses them.

    >>> state = State.new(4).judge(0, 1, winner=0).judge(1, 2, winner=1).mark_bad(3)
    >>> state.open_pairs().tolist(), bool(state.known[0, 2]), state.n_judged
    ([], True, 3)
    """

    direct: Bools
    closed: Bools
    bad: Bools
    seen: Bools
    n_preferences: int = 0
    n_marks: int = 0
    kept: int = -1
    transitive: bool = True
    bad_loses: bool = True
    even: tuple[Pair, ...] = ()
    held: tuple[Pair, ...] = ()

    @classmethod
    def new(cls, n: int, *, transitive: bool = True, bad_loses: bool = True) -> State:
        """Nothing is known of n documents."""
        if n < 1:
            raise ArgumentError("a topic without documents has nothing to judge; give 1 or more", "n", n)
        empty = np.zeros((n, n), bool)
        no_document = np.zeros(n, bool)
        return cls(empty, empty, no_document, no_document, transitive=transitive, bad_loses=bad_loses)

    @classmethod
    def of(cls, said: TopicPreferences, *, transitive: bool = True) -> State:
        """From what assessors said of a topic so far, all of them taken as one.

        A pair stands as the greater weight has it, and is undecided if both directions weigh the same. A document is
        Bad if at least half of those who compared or marked it marked it.
        """
        n = said.n_documents
        start = cls.new(n, transitive=transitive)
        balance = np.zeros((n, n))
        np.add.at(balance, (said.pairs[:, 0], said.pairs[:, 1]), said.weight)
        marks = np.zeros((n, said.n_assessors), bool)
        marks[said.bad, np.repeat(np.arange(said.n_assessors), np.diff(said.bad_starts))] = True
        judged = said.judged()
        direct = balance > balance.T
        bad = marks.any(axis=1) & (2 * marks.sum(axis=1) >= judged.sum(axis=1))
        return replace(
            start,
            direct=direct,
            closed=start._closure(direct),
            bad=bad,
            seen=np.asarray(judged.any(axis=1)),
            n_preferences=int(said.pairs.shape[0]),
            n_marks=int(said.bad.size),
        )

    @classmethod
    def after(
        cls,
        n: int,
        preferred: Iterable[Pair],
        bad: Iterable[int] = (),
        even: Iterable[Pair] = (),
        *,
        transitive: bool = True,
        bad_loses: bool = True,
    ) -> State:
        """What `judge` and `mark_bad` lead to, one after the other, but all at once; none is `kept`.

        preferred : (winner, loser) of each judgment. even : pairs judged the same, from which nothing follows.
        """
        pairs, marks, ties = list(preferred), list(bad), tuple(even)
        start = cls.new(n, transitive=transitive, bad_loses=bad_loses)
        direct = start.direct.copy()
        is_bad = start.bad.copy()
        seen = start.seen.copy()
        for winner, loser in pairs:
            direct[winner, loser] = True
        is_bad[marks] = True
        seen[[d for pair in (*pairs, *ties) for d in pair] + marks] = True
        return replace(
            start,
            direct=direct,
            closed=start._closure(direct),
            bad=is_bad,
            seen=seen,
            n_preferences=len(pairs) + len(ties),
            n_marks=len(marks),
            even=ties,
        )

    # ------------------------------------------------------------------ going on

    def judge(self, a: int, b: int, winner: int) -> State:
        """After a further judgment: of a and b, the winner is preferred."""
        self._check(a, b)
        if a == b:
            raise ArgumentError(f"document {a} cannot be compared with itself")
        if winner not in (a, b):
            raise ArgumentError(f"the preferred document must be one of the two shown, {a} and {b}", "winner", winner)
        loser = b if winner == a else a
        direct, seen = self.direct.copy(), self.seen.copy()
        direct[winner, loser] = True
        seen[[a, b]] = True
        if not self.transitive:
            closed = direct
        elif self._has_cycle or self.closed[loser, winner]:
            closed = self._closure(direct)
        else:
            upper = self.closed[:, winner].copy()
            lower = self.closed[loser].copy()
            upper[winner] = lower[loser] = True
            closed = self.closed | np.outer(upper, lower)
        return self._next(
            self._has_cycle or bool(self.closed[loser, winner]),
            direct=direct,
            closed=closed,
            seen=seen,
            n_preferences=self.n_preferences + 1,
            kept=int(winner),
        )

    def mark_bad(self, *documents: int) -> State:
        """After a further judgment for each of these documents: it is Bad."""
        self._check(*documents)
        bad, seen = self.bad.copy(), self.seen.copy()
        bad[list(documents)] = seen[list(documents)] = True
        return self._next(self._has_cycle, bad=bad, seen=seen, n_marks=self.n_marks + len(documents))

    def beside(self, held: Iterable[Pair], kept: int | None = None) -> State:
        """What one of several assessors of the topic may be asked: all but the pairs that others are being asked.

        kept : the document that this assessor preferred last, if it is known apart from the others'.
        """
        new = replace(self, held=tuple(held), kept=self.kept if kept is None else kept)
        for name in ("_has_cycle", "decided", "known", "open"):  # none of them depends on it
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new

    def _check(self, *documents: int) -> None:
        for one in documents:
            if not 0 <= one < self.n_documents:
                raise ArgumentError(f"document {one}: the topic has {self.n_documents} documents, numbered from 0")

    def _next(self, has_cycle: bool, **changes: Any) -> State:
        new = replace(self, **changes)
        new.__dict__["_has_cycle"] = has_cycle
        return new

    def _closure(self, direct: Bools) -> Bools:
        if not self.transitive:
            return direct
        return preference.closure(self.n_documents, np.ascontiguousarray(np.argwhere(direct), np.int32))

    # ------------------------------------------------------------------ looking at it

    @property
    def n_documents(self) -> int:
        return int(self.bad.size)

    @property
    def n_judged(self) -> int:
        """Judgments so far, preferences and marks."""
        return self.n_preferences + self.n_marks

    @cached_property
    def _has_cycle(self) -> bool:
        """Whether some document can be reached from itself, so that chains no longer count everywhere."""
        if not self.transitive:
            return False
        reach = self.direct.copy()
        for k in range(self.n_documents):
            reach |= reach[:, [k]] & reach[[k], :]
        return bool(reach.diagonal().any())

    @cached_property
    def decided(self) -> Bools:
        """(n, n) bool, whether the pair is settled by preferences, one way or the other."""
        return self.closed | self.closed.T

    @cached_property
    def known(self) -> Bools:
        """(n, n) bool, whether the row's document is known to be preferred, Bad marks included.

        A document that is not Bad is preferred to every Bad one unless preferences say otherwise; two Bad ones are not
        ordered unless they say so. Without `bad_loses` marks say nothing about any pair.
        """
        if not self.bad_loses:
            return self.closed
        return self.closed | (~self.bad[:, None] & self.bad[None, :] & ~self.decided)

    @cached_property
    def open(self) -> Bools:
        """(n, n) bool, symmetric: neither document is Bad and nothing says which of the two is better."""
        good = ~self.bad
        table = good[:, None] & good[None, :] & ~self.decided
        np.fill_diagonal(table, False)
        return _without(table, self.even)

    @cached_property
    def free(self) -> Bools:
        """(n, n) bool, symmetric: open, and nobody else is being asked."""
        return _without(self.open.copy(), self.held) if self.held else self.open

    def open_pairs(self) -> Ints:
        """(m, 2) the open pairs, lower number first."""
        return np.argwhere(np.triu(self.open))

    def markable(self, later_bad: LaterBad = "any") -> Bools:
        """(n,) bool, which documents may still be marked as Bad.

        later_bad : "any" that will be shown again or that others hold; those of them that were never shown before
            ("unseen"); "none".
        """
        check_choice("later_bad", later_bad, LaterBad)
        if later_bad == "none":
            return np.zeros(self.n_documents, bool)
        shown_again: Bools = np.asarray(self.open.any(axis=1))
        shown_again[[d for pair in self.held for d in pair]] = True  # before somebody's eyes, whatever is known by now
        return shown_again & ~self.seen if later_bad == "unseen" else shown_again

    def outcomes(self, later_bad: LaterBad = "any") -> NDArray[np.uint8]:
        """(n, n) for every undecided pair i < j the sum of FIRST (i may win), SECOND (j may) and DROPPED (two Bad).

        An even pair may end in all three ways if chains or marks may still order it.
        """
        markable = self.markable(later_bad)
        bad = self.bad
        # A pair with a Bad document can still be decided by a chain, but only if that document was preferred to one
        # that is not Bad (or, as the lower end of the chain, one that is not Bad was preferred to it).
        wins: Bools = np.asarray((self.closed & ~bad).any(axis=1))
        losses: Bools = np.asarray((self.closed & ~bad[:, None]).any(axis=0))
        first = ~bad[:, None] | (wins[:, None] & (~bad | losses))
        dropped = (bad | markable)[:, None] & (bad | markable)
        undecided = np.triu(~self.decided, k=1)
        codes = np.where(undecided, FIRST * first + SECOND * first.T + DROPPED * dropped, 0).astype(np.uint8)
        every = FIRST + SECOND + DROPPED
        if not self.bad_loses:
            codes[undecided & (markable[:, None] | markable[None, :])] = every
            # A pair with a Bad document is asked no more; chains alone could order it.
            codes[undecided & (self.bad[:, None] | self.bad[None, :])] = every if self.transitive else 0
        for a, b in self.even:
            low, high = min(a, b), max(a, b)
            if codes[low, high]:
                codes[low, high] = every if self.transitive or self.bad_loses else 0
        return codes


def _without(table: Bools, pairs: tuple[Pair, ...]) -> Bools:
    for a, b in pairs:
        table[a, b] = table[b, a] = False
    return table
