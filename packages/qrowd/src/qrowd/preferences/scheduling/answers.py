"""Assessors whose every answer is known beforehand: what an order is replayed against."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Bools
from qrowd.model.chance import Chance, Rng
from qrowd.model.preferences import TopicPreferences
from qrowd.preferences.scheduling.state import State
from qrowd.preferences.scheduling.systems import Systems, Weight


@dataclass(frozen=True, eq=False)
class Answers:
    """What would be said of every pair of a topic.

    wins : (n, n) bool, whether the row's document would be preferred; for every pair exactly one of the two.
    bad : (n,) bool, documents that are marked as Bad as soon as they are shown.
    coverage : share of pairs that somebody was really asked about; the others were filled in.
    """

    wins: Bools
    bad: Bools
    coverage: float = 1.0

    def __post_init__(self) -> None:
        n = self.bad.size
        if self.wins.shape != (n, n) or not np.array_equal(self.wins ^ self.wins.T, ~np.eye(n, dtype=bool)):
            raise ArgumentError("wins: of every two documents exactly one must be preferred, and none to itself")

    @classmethod
    def of_order(cls, order: Sequence[int], bad: Collection[int] = ()) -> Answers:
        """From a true order, best document first, and the Bad ones among them.

        >>> Answers.of_order([2, 0, 1], bad=[1]).wins[2].tolist()
        [True, True, False]
        """
        n = len(order)
        if sorted(order) != list(range(n)):
            raise ArgumentError(f"order: give each of the {n} documents once, as numbers from 0 to {n - 1}")
        place = np.empty(n, np.int64)
        place[list(order)] = np.arange(n)
        return cls(place[:, None] < place[None, :], np.isin(np.arange(n), list(bad)))

    @classmethod
    def of_preferences(cls, said: TopicPreferences, *, rng: Rng = None) -> Answers:
        """From real preferences of a topic, all assessors taken as one.

        A pair goes as the greater weight has it. Of a pair that nobody was asked about, or that is even, the document
        that won the greater share of its other pairs is preferred; a coin decides where that is even too.
        """
        n = said.n_documents
        balance = np.zeros((n, n))
        np.add.at(balance, (said.pairs[:, 0], said.pairs[:, 1]), said.weight)
        compared = balance + balance.T > 0
        won, total = balance.sum(axis=1), (balance + balance.T).sum(axis=1)
        share = won / np.where(total > 0, total, np.inf)
        coin = Chance.of(rng).stream("answers").permutation(n)
        place = np.empty(n, np.int64)
        place[np.lexsort((coin, -share))] = np.arange(n)
        decided = balance != balance.T
        wins = np.where(decided, balance > balance.T, place[:, None] < place[None, :])
        np.fill_diagonal(wins, False)
        coverage = float(compared[np.triu_indices(n, k=1)].mean()) if n > 1 else 1.0
        return cls(wins, State.of(said).bad, coverage)

    @property
    def n_documents(self) -> int:
        return int(self.bad.size)

    def without_bad(self) -> Answers:
        """The same answers without a Bad button: Bad documents are compared like any other."""
        return replace(self, bad=np.zeros_like(self.bad))

    def full(self) -> State:
        """The state once every pair was judged, nothing being left to chains."""
        good = ~self.bad
        direct = self.wins & good[:, None] & good[None, :]
        pairs = int(np.triu(direct | direct.T).sum())
        return State(direct, direct, self.bad, np.ones_like(self.bad), pairs, int(self.bad.sum()), transitive=False)


@dataclass(frozen=True, eq=False)
class Topic:
    """A topic to replay: who would answer what, and the rankings to compare."""

    answers: Answers
    systems: Systems


def simulate_topic(
    *,
    n_systems: int = 3,
    depth: int = 5,
    n_candidates: int = 30,
    noise: float = 1.0,
    bad_share: float = 0.2,
    weight: Weight = "none",
    rng: Rng = None,
) -> Topic:
    """A topic made like the paper's: documents are what any system returned, and answers follow one true order.

    Candidates have true worths drawn from a normal distribution; a system ranks them by worth plus an error of its
    own, and returns its first `depth`. The more noise, the less the systems have in common, and the more documents.

    depth, n_candidates : how many documents each system returns, and of how many.
    noise : standard deviation of a system's errors; worths have 1. bad_share : of the documents, the worst.
    weight : as in `Systems`.
    """
    if not 1 <= depth <= n_candidates or n_systems < 2:
        raise ArgumentError(
            f"n_systems={n_systems}, depth={depth}, n_candidates={n_candidates}: 2 systems, 1 document at least"
        )
    if not 0 <= bad_share <= 1 or noise < 0:
        raise ArgumentError(
            f"bad_share={bad_share}, noise={noise}: a share from 0 to 1, and a standard deviation of 0 or more"
        )
    chance = Chance.of(rng)
    worth = chance.stream("worths").normal(size=n_candidates)
    scores = worth + noise * chance.stream("errors").normal(size=(n_systems, n_candidates))
    returned = np.argsort(-scores, axis=1)[:, :depth]
    documents, place = np.unique(returned, return_inverse=True)
    lists: list[list[int]] = np.asarray(place).reshape(n_systems, depth).tolist()
    order = np.argsort(-worth[documents])
    n_bad = round(bad_share * documents.size)
    return Topic(
        Answers.of_order(order.tolist(), order[documents.size - n_bad :].tolist()),
        Systems.of(lists, documents.size, weight=weight),
    )
