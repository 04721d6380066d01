"""The measures of trec_eval on the ranked list of one system for one topic, added up in trec_eval's order.

The order of additions and divisions is part of the definition here, because trec_eval's text is rounded to four digits
and must come out the same. Buckley (2008), trec_eval 9.0: form_res_rels, m_*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, log, log2, nan

import numpy as np

from qrowd.kernels.arrays import Bools, Floats

SMALLEST_GEOMETRIC = 1e-5
INFERRED = 1e-5


@dataclass(frozen=True, eq=False)
class RankedList:
    """One ranked list, as judged by one assessor.

    grades : (n,) the grade at each rank, nan where not judged.
    pooled : (n,) whether the document is in the pool, judged or not.
    judged : grades of all judged documents of the topic, retrieved or not.
    rel : lowest relevant grade.
    """

    grades: Floats
    pooled: Bools
    judged: Floats
    rel: float

    @cached_property
    def relevant(self) -> Bools:
        """(n,) whether the document at each rank is relevant."""
        return np.asarray(self.grades >= self.rel)

    @property
    def n_retrieved(self) -> int:
        return int(self.grades.size)

    @cached_property
    def n_relevant_retrieved(self) -> int:
        return int(self.relevant.sum())

    @cached_property
    def n_relevant(self) -> int:
        return int((self.judged >= self.rel).sum())

    @cached_property
    def relevant_ranks(self) -> list[int]:
        """Ranks of relevant documents, from 1."""
        return [r + 1 for r in np.flatnonzero(self.relevant).tolist()]

    @cached_property
    def is_judged(self) -> Bools:
        return ~np.isnan(self.grades)

    def found(self, cutoff: int) -> int:
        """Relevant documents in the first ranks."""
        return int(self.relevant[:cutoff].sum())


@lru_cache(maxsize=8)
def logarithms(depth: int) -> Floats:
    """log2(rank + 1) of each rank, by the C library, whose last digit NumPy's may not share."""
    return np.array([log2(rank + 1) for rank in range(1, depth + 1)])


def summed(terms: Floats) -> float:
    """The sum, one term after the other."""
    return float(np.cumsum(terms)[-1]) if terms.size else 0.0


def share(part: float, whole: float) -> float:
    """part / whole; 0 where there is nothing to divide by."""
    return part / whole if whole else 0.0


def set_f(ranked: RankedList, x: float) -> float:
    """x : weight of recall against precision."""
    precision = share(ranked.n_relevant_retrieved, ranked.n_retrieved)
    recall = share(ranked.n_relevant_retrieved, ranked.n_relevant)
    return share((x + 1.0) * precision * recall, x * precision + recall)


def utility(ranked: RankedList, worth: Sequence[float]) -> float:
    """worth : of a document that is retrieved relevant, retrieved nonrelevant, missed, and rightly left out.

    The collection is taken to hold no other documents, as without the option -N.
    """
    found, retrieved, relevant = ranked.n_relevant_retrieved, ranked.n_retrieved, ranked.n_relevant
    counts = (found, retrieved - found, relevant - found, found - retrieved - relevant)
    return sum(value * n for value, n in zip(worth, counts, strict=True))


def precision_at_multiple(ranked: RankedList, multiple: float) -> float:
    """multiple : of the number of relevant documents."""
    cutoff = int(multiple * ranked.n_relevant + 0.9)
    return ranked.found(cutoff) / cutoff if cutoff > 0 else 0.0


def interpolated_precisions(ranked: RankedList, recalls: Sequence[float]) -> list[float]:
    """The highest precision from each level of recall on; levels are filled from the last to the first."""
    needed = [int(recall * ranked.n_relevant + 0.9) for recall in recalls]
    values = [0.0] * len(needed)
    level, found = len(needed) - 1, ranked.n_relevant_retrieved
    while level >= 0 and needed[level] > found:
        level -= 1
    best = found / ranked.n_retrieved if ranked.n_retrieved else nan  # as 0 / 0 in C
    for rank in reversed(ranked.relevant_ranks):
        best = max(best, found / rank)
        while level >= 0 and needed[level] == found:
            values[level] = best
            level -= 1
        found -= 1
    for rest in range(level + 1):
        values[rest] = best
    return values


def interpolated_average(ranked: RankedList, recalls: Sequence[float]) -> float:
    return summed(np.array(interpolated_precisions(ranked, recalls)[::-1])) / len(recalls)


def reciprocal_rank(ranked: RankedList) -> float:
    return 1 / ranked.relevant_ranks[0] if ranked.relevant_ranks else 0.0


def average_precision(ranked: RankedList, cutoff: float = inf) -> float:
    ranks = np.array([rank for rank in ranked.relevant_ranks if rank <= cutoff])
    return summed(np.arange(1, ranks.size + 1) / ranks) / ranked.n_relevant if ranks.size else 0.0


def geometric(value: float) -> float:
    """The logarithm of a score of one topic, of which the geometric mean is made."""
    return log(max(value, SMALLEST_GEOMETRIC))


def binary_preference(ranked: RankedList) -> float:
    n_relevant = ranked.n_relevant
    if not n_relevant:
        return 0.0
    limit = min(ranked.judged.size - n_relevant, n_relevant)
    total, above = 0.0, 0
    for relevant in ranked.relevant[ranked.is_judged].tolist():
        if not relevant:
            above += 1
        elif above:
            total += 1.0 - min(above, n_relevant) / limit
        else:
            total += 1.0
    return total / n_relevant


def inferred_ap(ranked: RankedList) -> float:
    total, relevant_above, nonrelevant_above, others_above = 0.0, 0, 0, 0
    for r, (pooled, judged, relevant) in enumerate(
        zip(ranked.pooled.tolist(), ranked.is_judged.tolist(), ranked.relevant.tolist(), strict=True)
    ):
        if not pooled:
            continue
        if not judged:
            others_above += 1
        elif not relevant:
            nonrelevant_above += 1
        else:
            if r == 0:
                total += 1.0
            else:
                pool_share = (relevant_above + nonrelevant_above + others_above) / r
                share = (relevant_above + INFERRED) / (relevant_above + nonrelevant_above + 2 * INFERRED)
                total += 1.0 / (r + 1.0) + (r / (r + 1.0)) * pool_share * share
            relevant_above += 1
    return total / ranked.n_relevant if ranked.n_relevant else total


def binary_gain(ranked: RankedList) -> float:
    terms = [1.0 / log2(2 + rank - i) for i, rank in enumerate(ranked.relevant_ranks, start=1)]
    return summed(np.array(terms)) / ranked.n_relevant if terms else 0.0


def gains_of(grades: Floats, gains: Mapping[float, float]) -> Floats:
    """The gain of each grade: as `gains` says, else the grade itself; 0 where not judged."""
    result = np.where(np.isnan(grades), 0.0, grades)
    for grade, gain in gains.items():
        result[grades == grade] = gain
    return result


def ideal_of(judged: Floats, gains: Mapping[float, float]) -> Floats:
    """All positive gains of a topic, highest first."""
    every = gains_of(judged, gains)
    return np.sort(every[every > 0])[::-1]


def discounted(gains: Floats) -> Floats:
    """(ranks + 1,) discounted cumulative gain of the first 0, 1, ... ranks."""
    return np.append(0.0, np.cumsum(gains / logarithms(gains.size)))


def normalised(gains: Floats, ideal: Floats) -> float:
    """nDCG. gains : (n,) at each rank. ideal : all positive gains of the topic, highest first."""
    best = discounted(ideal)[-1]
    return float(discounted(gains)[-1] / best) if best > 0 else 0.0


def normalised_by_relevant(gains: Floats, ideal: Floats) -> float:
    """nDCG averaged over the ranks of relevant documents; those not retrieved count as at the end of the list."""
    if not ideal.size:
        return 0.0
    dcg, best = discounted(gains), discounted(ideal)
    ranks = np.flatnonzero(gains > 0) + 1
    at_each = dcg[ranks] / best[np.minimum(ranks, ideal.size)]
    total = summed(at_each) + float(ideal.size - ranks.size) * dcg[-1] / best[-1]
    return float(total / ideal.size) if total > 0 else 0.0


def normalised_by_level(gains: Floats, ideal: Floats) -> float:
    """nDCG averaged over the ranks at which the gain of the ideal ranking falls, and the end of a longer list."""
    dcg, best = discounted(gains), discounted(ideal)
    falls = [i for i in range(1, ideal.size + 1) if i == ideal.size or ideal[i] != ideal[i - 1]]
    values = [dcg[min(i, gains.size)] / best[i] for i in falls]
    if gains.size > ideal.size + 1 and ideal.size:
        values.append(dcg[-1] / best[-1])
    return summed(np.array(values)) / len(values) if values else nan


def normalised_gain(gains: Floats, ideal: Floats) -> float:
    """G: gain discounted by what the documents so far could have brought and did not."""
    costs = np.ones(gains.size)
    reach = min(gains.size, ideal.size)
    costs[:reach] = np.maximum(ideal[:reach], 1.0)
    missed = np.cumsum(costs) - np.cumsum(gains)
    terms = [gains[r] / log2(2 + missed[r]) for r in np.flatnonzero(gains).tolist()]
    return summed(np.array(terms)) / summed(ideal) if ideal.size else 0.0
