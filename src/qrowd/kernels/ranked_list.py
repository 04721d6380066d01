"""The measures of trec_eval on the ranked list of one system for one topic, added up in trec_eval's order.

The order of additions and divisions is part of the definition here, because trec_eval's text is rounded to four digits
and must come out the same. Buckley (2008), trec_eval 10.0: form_res_rels, m_*.
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
    values = np.array([log2(rank + 1) for rank in range(1, depth + 1)])
    values.flags.writeable = False
    return values


def summed(terms: Floats) -> float:
    """The sum, one term after the other."""
    return float(np.cumsum(terms)[-1]) if terms.size else 0.0


def ratio(part: float, whole: float) -> float:
    """part / whole; 0 / 0 is nan, as in C."""
    return part / whole if whole else nan


# ---------------------------------------------------------------------- counts and sets


def num_nonrel_judged_ret(ranked: RankedList) -> int:
    return int(ranked.is_judged.sum()) - ranked.n_relevant_retrieved


def set_p(ranked: RankedList) -> float:
    return ranked.n_relevant_retrieved / ranked.n_retrieved if ranked.n_retrieved else 0.0


def set_recall(ranked: RankedList) -> float:
    return ranked.n_relevant_retrieved / ranked.n_relevant if ranked.n_relevant else 0.0


def set_relative_p(ranked: RankedList) -> float:
    smaller = min(ranked.n_retrieved, ranked.n_relevant)
    return ranked.n_relevant_retrieved / smaller if smaller else 0.0


def set_map(ranked: RankedList) -> float:
    whole = ranked.n_retrieved * ranked.n_relevant
    return ranked.n_relevant_retrieved**2 / whole if whole else 0.0


def set_f(ranked: RankedList, x: float) -> float:
    """x : weight of recall against precision."""
    if not ranked.n_relevant_retrieved:
        return 0.0
    precision, recall = set_p(ranked), set_recall(ranked)
    return (x + 1.0) * precision * recall / (x * precision + recall)


def utility(ranked: RankedList, worth: Sequence[float], n_collection: int) -> float:
    """worth : of a document that is retrieved relevant, retrieved nonrelevant, missed, and rightly left out."""
    found, retrieved, relevant = ranked.n_relevant_retrieved, ranked.n_retrieved, ranked.n_relevant
    return (
        worth[0] * found
        + worth[1] * (retrieved - found)
        + worth[2] * (relevant - found)
        + worth[3] * (n_collection + found - retrieved - relevant)
    )


# ---------------------------------------------------------------------- at cut-offs


def precision_at(ranked: RankedList, cutoff: int) -> float:
    return ranked.found(cutoff) / cutoff


def recall_at(ranked: RankedList, cutoff: int) -> float:
    return ranked.found(cutoff) / ranked.n_relevant if ranked.n_relevant else 0.0


def relative_precision_at(ranked: RankedList, cutoff: int) -> float:
    return ranked.found(cutoff) / min(cutoff, ranked.n_relevant) if ranked.n_relevant else 0.0


def success_at(ranked: RankedList, cutoff: int) -> float:
    return 1.0 if ranked.found(cutoff) else 0.0


def unjudged_at(ranked: RankedList, cutoff: int) -> float:
    return int((~ranked.is_judged[:cutoff]).sum()) / cutoff


def precision_at_multiple(ranked: RankedList, multiple: float) -> float:
    """multiple : of the number of relevant documents."""
    cutoff = int(multiple * ranked.n_relevant + 0.9)
    return precision_at(ranked, cutoff) if cutoff > 0 else 0.0


def r_precision(ranked: RankedList) -> float:
    return ranked.found(ranked.n_relevant) / ranked.n_relevant if ranked.n_relevant else 0.0


def interpolated_precisions(ranked: RankedList, recalls: Sequence[float]) -> list[float]:
    """The highest precision from each level of recall on; levels are filled from the last to the first."""
    needed = [int(recall * ranked.n_relevant + 0.9) for recall in recalls]
    values = [0.0] * len(needed)
    level, found = len(needed) - 1, ranked.n_relevant_retrieved
    while level >= 0 and needed[level] > found:
        level -= 1
    best = ratio(found, ranked.n_retrieved)
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


# ---------------------------------------------------------------------- down the list


def reciprocal_rank(ranked: RankedList) -> float:
    return 1 / ranked.relevant_ranks[0] if ranked.relevant_ranks else 0.0


def precision_sum(ranked: RankedList, cutoff: int | None = None) -> float:
    ranks = np.array([rank for rank in ranked.relevant_ranks if cutoff is None or rank <= cutoff])
    return summed(np.arange(1, ranks.size + 1) / ranks) if ranks.size else 0.0


def average_precision(ranked: RankedList, cutoff: int | None = None) -> float:
    total = precision_sum(ranked, cutoff)
    return total / ranked.n_relevant if total else 0.0


def yaap(ranked: RankedList) -> float:
    total = precision_sum(ranked)
    return log((1.0 + total) / (1.0 + ranked.n_relevant - total))


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


# ---------------------------------------------------------------------- gains


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


def programs_ideal_of(judged: Floats, gains: Mapping[float, float]) -> Floats:
    """The gains of the ideal ranking as the program orders them, of whole grades.

    It compares gains by the whole part of their difference, in a merge sort of the levels, those that are named first,
    and ends the ranking at the first gain that is not positive. Gains that differ by 1 or more come as in `ideal_of`.
    """
    others = np.arange(judged.max(initial=-1.0) + 1)
    levels = [*gains.items(), *((level, level) for level in others.tolist() if level not in gains)]
    ordered = _merged(levels)[::-1]
    if not ordered or ordered[0][1] <= 0:
        return np.empty(0)
    result: list[float] = []
    for level, gain in ordered:
        n = int((judged == level).sum())
        if n and gain <= 0:
            break
        result += [gain] * n
    return np.array(result)


def _merged(levels: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Levels by gain, lowest first, by the C library's merge sort."""
    if len(levels) < 2:
        return levels
    half = len(levels) // 2
    first, second = _merged(levels[:half]), _merged(levels[half:])
    result = []
    while first and second:
        result.append((first if int(first[0][1] - second[0][1]) <= 0 else second).pop(0))
    return [*result, *first, *second]


def gains_to_one(values: Floats, judged: Floats, gains: Mapping[float, float]) -> Floats:
    """Gains between 0 and 1: where a level of the topic has another, 0 is the lowest of the levels and 1 the highest.

    values : (n,) grades at each rank. A level is every whole grade up to the topic's highest, and each that is named.
    """
    result = gains_of(values, gains)
    levels = np.append(np.arange(np.floor(judged.max(initial=0.0)) + 1), judged)
    every = np.append(gains_of(levels, gains), list(gains.values()))
    low, high = every.min(), every.max()
    if (low < 0 or high > 1) and high > low:
        result[~np.isnan(values)] -= low
        result[~np.isnan(values)] /= high - low
    return result


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
    if not ideal.size:
        return 0.0
    costs = np.ones(gains.size)
    reach = min(gains.size, ideal.size)
    costs[:reach] = np.maximum(ideal[:reach], 1.0)
    possible, gained = np.cumsum(costs), np.cumsum(gains)
    total = 0.0
    for r in np.flatnonzero(gains).tolist():
        left = 2 + float(possible[r]) - float(gained[r])  # below 2 only where the program's ideal ranking is none
        discount = log2(left) if left > 0 else nan
        total += float(gains[r]) / discount if discount else inf
    return total / summed(ideal)


def persistence(n: int, p: float) -> Floats:
    """(n + 1,) p to the power of 0, 1, ..., by repeated multiplication."""
    return np.append(1.0, np.cumprod(np.full(n, p)))


def rank_biased_precision(gains: Floats, p: float) -> float:
    return (1.0 - p) * summed(gains * persistence(gains.size, p)[:-1])


def rank_biased_residual(ranked: RankedList, p: float) -> float:
    """What documents that are not judged could add, and all ranks below the list; 0 where all are judged."""
    if ranked.is_judged.all():
        return 0.0
    powers = persistence(ranked.n_retrieved, p)
    return float(powers[-1] + (1 - p) * summed(powers[:-1][~ranked.is_judged]))
