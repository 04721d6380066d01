"""trec_eval's preference measures on one topic and one ranked list, from judgment groups as its files hold them.

Documents are in the order of their places: those retrieved by rank, then the others by id. Buckley (2008), trec_eval
10.0: form_prefs_counts, m_prefs_*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from qrowd.kernels.arrays import Bools

Pairs = Literal["all", "imp", "ret"]


@dataclass(frozen=True, eq=False)
class JudgmentGroup:
    """One judgment group of a topic.

    preferred : (documents, documents) whether the first is preferred to the second, closed over chains.
    is_bad, is_good : (documents,) with level 0; with a level above 0. Documents of other groups alone are neither.
    one_subgroup : whether the group is one subgroup, whose Bad documents the program counts in another way.
    n_retrieved : documents retrieved, which come first.
    """

    preferred: Bools
    is_bad: Bools
    is_good: Bools
    one_subgroup: bool
    n_retrieved: int

    def fulfilled(self, pairs: Pairs = "all") -> int:
        """Preferences that the ranking follows. pairs : all; "imp" with one document ranked; "ret" with both."""
        n = self.n_retrieved
        above = np.triu(self.preferred)
        return int(above[:n, :n].sum() if pairs == "ret" else above[:n].sum())

    def possible(self, pairs: Pairs = "all") -> int:
        """Preferences that count."""
        n, preferred = self.n_retrieved, self.preferred
        if pairs == "ret":
            return int(preferred[:n, :n].sum())
        return int(preferred.sum()) - (int(preferred[n:, n:].sum()) if pairs == "imp" else 0)

    def first_bad(self, n: int) -> Bools:
        """(documents,) the first n Bad documents."""
        return self.is_bad & (np.cumsum(self.is_bad) <= n)

    def with_as_many_bad(self, *, retrieved: bool) -> tuple[int, int]:
        """Fulfilled and possible preferences if as many Bad documents counted as there are others.

        retrieved : whether only documents count that are retrieved.
        """
        n = self.n_retrieved
        end = n if retrieved else self.is_bad.size
        good, bad = int(self.is_good[:end].sum()), int(self.is_bad[:end].sum())
        if good >= bad:
            pairs: Pairs = "ret" if retrieved else "all"
            extra = good - bad
            return (
                self.fulfilled(pairs) + int(self.is_good[:n].sum()) * extra,
                self.possible(pairs) + int(self.is_good.sum()) * extra,
            )
        if not self.one_subgroup:
            counting = ~self.is_bad | self.first_bad(int(self.is_good.sum()))
            counting[end:] = False
            both_count = self.preferred & counting[:, None] & counting
            return int(np.triu(both_count)[:n].sum()), int(both_count.sum())
        among_good = self.preferred & self.is_good[:, None] & self.is_good
        against = np.outer(self.is_good | self.is_bad, self.first_bad(good))
        counted = (among_good.astype(np.int64) + against)[:end, :end]
        return int(np.triu(counted, 1)[:n].sum()), int(counted.sum())


def closed(preferred: Bools) -> Bools:
    """The preferences with all that follow from chains of them."""
    result = preferred.copy()
    for k in range(result.shape[0]):
        result |= result[:, [k]] & result[k]
    return result


def num_prefs_poss(groups: Sequence[JudgmentGroup]) -> int:
    return sum(group.possible() for group in groups)


def num_prefs_ful(groups: Sequence[JudgmentGroup], pairs: Pairs = "all") -> int:
    return sum(group.fulfilled(pairs) for group in groups)


def simple(groups: Sequence[JudgmentGroup], pairs: Pairs = "all") -> float:
    possible = sum(group.possible(pairs) for group in groups)
    return num_prefs_ful(groups, pairs) / possible if possible else 0.0


def average_of_groups(groups: Sequence[JudgmentGroup], pairs: Pairs = "all") -> float:
    total = 0.0
    for group in groups:
        possible = group.possible(pairs)
        total += group.fulfilled(pairs) / possible if possible else 0.0
    return total / len(groups)


def average_with_as_many_bad(groups: Sequence[JudgmentGroup], *, retrieved: bool = False) -> float:
    """A group without possible preferences makes the topic 0, as 0 / 0 does in the program."""
    total = 0.0
    for group in groups:
        fulfilled, possible = group.with_as_many_bad(retrieved=retrieved)
        if not possible:
            return 0.0
        total += fulfilled / possible
    return total / len(groups)


def by_pair(groups: Sequence[JudgmentGroup], pairs: Pairs = "all") -> float:
    counts = np.array([group.preferred for group in groups], np.int64).sum(axis=0)
    n = groups[0].n_retrieved
    both = counts + counts.T
    total, n_pairs = 0.0, 0
    retrieved = [(i, j) for i, j in zip(*np.nonzero(np.triu(both, 1)[:n, :n]), strict=True)]
    implied = [(i, n + j) for i, j in zip(*np.nonzero(both[:n, n:]), strict=True)] if pairs != "ret" else []
    for i, j in (*retrieved, *implied):
        total += float(counts[i, j] / both[i, j])
        n_pairs += 1
    if pairs == "all":
        n_pairs += int(np.count_nonzero(np.triu(both[n:, n:], 1)))
    return total / n_pairs if n_pairs else 0.0
