"""Sums over topics of the scores of one measure, from which statistics follow; sums of several parts are added.

Nothing is rounded when sums are added, so that they do not depend on how topics are divided into parts, nor on the
order of the parts. What is rounded is of one topic: the mean over its assessors (`total`, `squares`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.exact_sums import BITS, HALF, ExactSums, carried, digits_of, products, squares
from qrowd.comparison.topic_weights import topic_weights
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.model.chance import Seed

Key = TypeVar("Key")
Sums = TypeVar("Sums", "PatternSums", ExactSums)

MOST_PATTERNS = 4096  # kept sets of assessors who judged the same topics
MOST_REPLICATED = 64  # of them with sums for the bootstrap
TOPICS_AT_ONCE = 1 << 11  # 2^11 weights of at most 2^3, times digits of 2^39, are 2^53
CELLS_AT_ONCE = 1 << 21  # scores, or weights


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Topics in which the same assessors have scores of all systems.

    by_assessor : (assessors, systems) sums of scores. weights : (replicates,) of the topics' weights. replicates :
    (replicates, assessors, systems) of scores times weights; None where they are not kept.
    """

    n_topics: int
    by_assessor: ExactSums
    weights: Ints | None = None
    replicates: ExactSums | None = None

    def __add__(self, other: PatternSums) -> PatternSums:
        n, by_assessor = self.n_topics + other.n_topics, self.by_assessor + other.by_assessor
        if self.replicates is None or other.replicates is None or self.weights is None or other.weights is None:
            return PatternSums(n, by_assessor)
        return PatternSums(n, by_assessor, self.weights + other.weights, self.replicates + other.replicates)


@dataclass(frozen=True, eq=False)
class MeasureSums:
    """Sums of the scores of one measure.

    n_topics, total, squares : (systems,) of the means over assessors of each topic: their number, sum, sum of squares.
    n_scores, by_assessor : (assessors, systems) number and sum of scores.

    The rest is of the cells (topic, assessor) in which every system has a score:

    patterns : by the numbers of the assessors who have them in a topic; None: more than 4,096.
    of_topics : by the number of assessors who have them in a topic: (systems, systems) sums over topics of the products
        of the systems' sums over assessors. of_cells : (systems, systems) sums over cells of products.
    n_left_out : cells that lack the score of some system but not of all. largest : absolute score.
    topics_left_out : topics without such a cell.
    """

    n_topics: Ints
    total: ExactSums
    squares: ExactSums
    n_scores: Ints
    by_assessor: ExactSums
    patterns: Mapping[tuple[int, ...], PatternSums] | None
    of_topics: Mapping[int, ExactSums]
    of_cells: ExactSums
    n_left_out: int
    largest: float
    topics_left_out: frozenset[str]

    @classmethod
    def zeros(cls, n_assessors: int, n_systems: int) -> MeasureSums:
        """Sums of nothing."""
        counts, table = np.zeros(n_systems, np.int64), np.zeros((n_assessors, n_systems), np.int64)
        each, both = ExactSums.zeros((n_systems,)), ExactSums.zeros((n_systems, n_systems))
        return cls(
            counts, each, each, table, ExactSums.zeros(table.shape), {}, {}, both, 0, 0.0, frozenset()
        )  # fmt: skip

    def __add__(self, other: MeasureSums) -> MeasureSums:
        patterns: Mapping[tuple[int, ...], PatternSums] | None = None
        if self.patterns is not None and other.patterns is not None:
            patterns = _few(_merged(self.patterns, other.patterns))
        return MeasureSums(
            self.n_topics + other.n_topics,
            self.total + other.total,
            self.squares + other.squares,
            self.n_scores + other.n_scores,
            self.by_assessor + other.by_assessor,
            patterns,
            _merged(self.of_topics, other.of_topics),
            self.of_cells + other.of_cells,
            self.n_left_out + other.n_left_out,
            max(self.largest, other.largest),
            self.topics_left_out | other.topics_left_out,
        )


def sums_of_values(
    values: Floats,
    who: Sequence[int],
    n_assessors: int,
    topics: Sequence[str],
    n_resamples: int,
    seed: Seed | None,
) -> tuple[MeasureSums, ...]:
    """The sums of each measure.

    values : (measures, assessors, topics, systems) scores, nan where there is none. who : the assessors' numbers among
    all `n_assessors`. n_resamples, seed : of the bootstrap; 0 and None without.

    Raises
    ------
    ArgumentError
        An infinite score.
    """
    if np.isinf(values).any():
        raise ArgumentError("scores hold an infinite value; leave it out or make it nan")
    order = np.argsort(np.asarray(who, np.int64), kind="stable")
    numbers = np.asarray(who, np.int64)[order]
    totals = [MeasureSums.zeros(n_assessors, values.shape[3]) for _ in values]
    most = max(n_resamples, values.shape[1] * values.shape[3], 1)
    at_once = max(min(TOPICS_AT_ONCE, CELLS_AT_ONCE // most), 1)
    for first in range(0, len(topics), at_once):
        names = topics[first : first + at_once]
        weights = topic_weights(names, n_resamples, seed) if seed is not None else None
        for m, table in enumerate(values):
            some = table[order, first : first + at_once]
            totals[m] = totals[m] + _block(some, numbers, n_assessors, names, weights)
    return tuple(totals)


def _block(
    values: Floats, who: Codes | Ints, n_assessors: int, topics: Sequence[str], weights: Floats | None
) -> MeasureSums:
    """The sums of (assessors, topics, systems) scores. weights : (topics, replicates)."""
    n_systems = values.shape[2]
    has: NDArray[np.bool_] = ~np.isnan(values)
    plain = np.where(has, values, 0.0)
    count, total = np.zeros(values.shape[1:]), np.zeros(values.shape[1:])
    for a in range(len(values)):  # in this order, whatever the shape
        count += has[a]
        total += plain[a]
    mean = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
    n_scores = np.zeros((n_assessors, n_systems), np.int64)
    n_scores[who] = has.sum(axis=1)
    known: NDArray[np.bool_] = np.asarray(has.all(axis=2))
    cells = np.where(known[:, :, None], values, 0.0)
    sizes, used = known.sum(axis=0), known.any(axis=0)
    first, digits = digits_of(cells, HALF)
    topic_first, of_topic = carried(first, digits.sum(axis=1))
    members, pattern = np.unique(known.T[used], axis=0, return_inverse=True)
    at = np.flatnonzero(used)
    drawn = weights if len(members) <= MOST_REPLICATED else None
    patterns = {}
    for p, own in enumerate(members):
        here = at[pattern.ravel() == p]
        patterns[tuple(who[own].tolist())] = _pattern_sums(cells[own][:, here], None if drawn is None else drawn[here])
    return MeasureSums(
        (count > 0).sum(axis=0),
        ExactSums.over(mean, 0),
        squares(mean),
        n_scores,
        _placed(ExactSums.over(plain, 1), who, n_assessors),
        patterns,
        {int(size): products(topic_first, of_topic[:, sizes == size]) for size in np.unique(sizes[used])},
        products(first, digits.reshape(len(digits), known.size, n_systems)),
        int((has.any(axis=2) & ~known).sum()),
        float(np.abs(cells).max(initial=0.0)),
        frozenset(topics[t] for t in np.flatnonzero(~used).tolist()),
    )


def _pattern_sums(cells: Floats, weights: Floats | None) -> PatternSums:
    """The sums of (assessors, topics, systems) scores, all of them known. weights : (topics, replicates)."""
    n_assessors, n_topics, n_systems = cells.shape
    by_assessor = ExactSums.over(cells, 1)
    if weights is None:
        return PatternSums(n_topics, by_assessor)
    first, digits = digits_of(cells, BITS)
    rows = np.ascontiguousarray(digits.transpose(2, 0, 1, 3)).reshape(n_topics, len(digits) * n_assessors * n_systems)
    sums = (weights.T @ rows).astype(np.int64).reshape(weights.shape[1], len(digits), n_assessors, n_systems)
    replicates = ExactSums.of(first, sums.transpose(1, 0, 2, 3))
    return PatternSums(n_topics, by_assessor, weights.sum(axis=0).astype(np.int64), replicates)


def _placed(sums: ExactSums, who: Codes | Ints, n: int) -> ExactSums:
    """Sums of some assessors among those of all."""
    digits = np.zeros((len(sums.digits), n, *sums.shape[1:]), np.int64)
    digits[:, who] = sums.digits
    return ExactSums(sums.first, digits)


def _merged(one: Mapping[Key, Sums], other: Mapping[Key, Sums]) -> dict[Key, Sums]:
    whole = dict(one)
    for key, sums in other.items():
        whole[key] = whole[key] + sums if key in whole else sums
    return whole


def _few(patterns: dict[tuple[int, ...], PatternSums]) -> dict[tuple[int, ...], PatternSums] | None:
    """What is kept of so many patterns; the same whatever the order in which they were added."""
    if len(patterns) > MOST_PATTERNS:
        return None
    if len(patterns) > MOST_REPLICATED:
        return {key: replace(sums, weights=None, replicates=None) for key, sums in patterns.items()}
    return patterns
