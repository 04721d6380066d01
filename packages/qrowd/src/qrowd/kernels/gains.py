"""Measures down ranked lists that read the gains of documents, for several topics and all assessors at once.

Every kernel walks the same arrays:

starts, ends : (lists,) or longer, int64
    Entries starts[l]:ends[l] of list l; one for each pooled document in it that the measure looks at, best first.
row, rank : (entries,) int32
    Row of `gains` of the document, and its rank from 0.
gains : (documents, assessors) float64
    What each assessor gives each pooled document: 1/0 for relevant or not, a gain, a probability.
out : (lists, columns) float64
    Where the scores go, from column `begin` on; overwritten.

In C the innermost loop runs over assessors, contiguous in memory, so that one pass over a list serves the whole panel;
in Python each operation serves all lists, too, in the same order of additions.
`documents` (topics + 1,) int64 says which rows of `gains` a topic has.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.kernels.compiled import kernel

PASSES = 32  # over the documents, to count the distinct gains of an assessor


def discounts(depth: int, form: str = "log2") -> Floats:
    """(depth,) weight of each rank r.

    form : "log2" 1 / log2(r + 1); "original" 1 at rank 1 and 1 / log2(r) from rank 2; "zipf" 1 / r.

    Järvelin & Kekäläinen (2002), Cumulated Gain-Based Evaluation of IR Techniques. ACM TOIS 20(4), with logarithms to
    base 2; Kanoulas & Aslam (2009), Empirical Justification of the Gain and Discount Function for nDCG. CIKM.
    """
    ranks = np.arange(1, depth + 1, dtype=np.float64)
    if form == "zipf":
        return np.asarray(1 / ranks)
    return np.asarray(1 / np.log2(np.maximum(ranks, 2) if form == "original" else ranks + 1))


def weighted_ranks(rows: Codes, weights: Floats, gains: Floats) -> Floats:
    """(lists, assessors) sum over ranks r of weights[r] * gains[rows[l, r], a].

    rows : (lists, depth), -1 where no document gains anything. weights : (ranks,); ranks beyond weigh nothing.
    """
    starts, ranks, row = entries(rows[:, : weights.size])
    out = np.empty((rows.shape[0], gains.shape[1]))
    weighted_sums(starts, starts[1:], row, weights[ranks], np.ascontiguousarray(gains), 0, out)
    return out


def entries(rows: Codes) -> tuple[Ints, Ints, Codes]:
    """starts, rank and row of the entries of lists (lists, depth) that are -1 where no document gains anything."""
    lists, ranks = np.nonzero(rows >= 0)
    starts = np.append(0, np.cumsum(np.bincount(lists, minlength=rows.shape[0])))
    return starts, ranks, rows[lists, ranks]


class Walk:
    """Lists walked side by side, from the longest: the first that stop are the last, so that the others are a slice."""

    def __init__(self, starts: Ints, ends: Ints) -> None:
        lengths = ends - starts[: ends.size]
        self.order = np.argsort(-lengths, kind="stable")
        self._starts = starts[self.order]
        self._lengths = lengths[self.order]

    def __iter__(self) -> Iterator[Ints]:
        """Entry after entry, that of each list that has as many: of the first lists in `order`."""
        n_lists = self.order.size
        for step in range(self._lengths.max(initial=0)):
            n_lists = int(np.searchsorted(-self._lengths[:n_lists], -step))
            yield self._starts[:n_lists] + step


@kernel("int64[:], int64[:], int32[:], float64[:], float64[:,:], int, float64[:,:]")
def weighted_sums(starts: Ints, ends: Ints, row: Codes, weight: Floats, gains: Floats, begin: int, out: Floats) -> None:
    """out[l, a] = sum over entries e of weight[e] * gains[row[e], a]."""
    walk = Walk(starts, ends)
    score = np.zeros((ends.size, gains.shape[1]))
    for entry in walk:
        score[: entry.size] += weight[entry, None] * gains[row[entry]]
    out[walk.order, begin : begin + gains.shape[1]] = score


@kernel("int64[:], int64[:], int32[:], int32[:], float64[:,:], int, float64[:,:]")
def precision_sums(starts: Ints, ends: Ints, row: Codes, rank: Codes, gains: Floats, begin: int, out: Floats) -> None:
    """out[l, a] = sum over relevant ranks r of (relevant among the first r) / r; average precision times its base.

    gains : 1 for relevant documents, else 0.
    """
    walk = Walk(starts, ends)
    score, count = np.zeros((2, ends.size, gains.shape[1]))
    for entry in walk:
        gain = gains[row[entry]]
        count[: entry.size] += gain
        score[: entry.size] += gain * (count[: entry.size] * (1.0 / (rank[entry, None] + 1)))
    out[walk.order, begin : begin + gains.shape[1]] = score


@kernel("int64[:], int64[:], int32[:], int32[:], float64[:,:], int, float64[:,:]")
def first_relevant(starts: Ints, ends: Ints, row: Codes, rank: Codes, gains: Floats, begin: int, out: Floats) -> None:
    """out[l, a] = 1 / rank of the first relevant document, 0 where there is none; gains as in `precision_sums`."""
    walk = Walk(starts, ends)
    score = np.zeros((ends.size, gains.shape[1]))
    for entry in walk:
        here = score[: entry.size]
        np.maximum(here, gains[row[entry]] * (1.0 / (rank[entry, None] + 1)), out=here)
    out[walk.order, begin : begin + gains.shape[1]] = score


@kernel("int64[:], int64[:], int32[:], int32[:], float64[:,:], float, int, float64[:,:]")
def cascade(
    starts: Ints, ends: Ints, row: Codes, rank: Codes, gains: Floats, unit: float, begin: int, out: Floats
) -> None:
    """out[l, a] = sum over ranks r of gain[r] / r * product over earlier ranks of (1 - gain); gain = unit * gains.

    unit : a power of two, so that every product with it is exact.
    """
    walk = Walk(starts, ends)
    score = np.zeros((ends.size, gains.shape[1]))
    going = np.ones(score.shape)
    for entry in walk:
        gain = gains[row[entry]]
        score[: entry.size] += going[: entry.size] * gain * (unit * (1.0 / (rank[entry, None] + 1)))
        going[: entry.size] *= 1.0 - unit * gain
    out[walk.order, begin : begin + gains.shape[1]] = score


def divide(out: Floats, begin: int, divisor: Floats) -> None:
    """Divide the scores of the lists of each topic by divisor (topics, assessors); 0 where that is 0."""
    n_topics, n_assessors = divisor.shape
    by = np.where(divisor > 0.0, divisor, np.inf)
    out[:, begin : begin + n_assessors] /= np.repeat(by, out.shape[0] // max(n_topics, 1), axis=0)


@kernel("int64[:], float64[:,:]", arrays=lambda documents, gains: (np.empty((documents.size - 1, gains.shape[1])),))
def topic_sums(documents: Ints, gains: Floats) -> Floats:
    """(topics, assessors) sum of the gains of each topic's documents."""
    walk = Walk(documents, documents[1:])
    sums = np.zeros((documents.size - 1, gains.shape[1]))
    for document in walk:
        sums[: document.size] += gains[document]
    return sums[np.argsort(walk.order)]


@kernel("uint8[:,:], int64[:], int32[:,:,:]")
def level_counts(codes: NDArray[np.uint8], documents: Ints, counts: Codes) -> None:
    """Count the documents of each topic by code, into counts (topics, levels, assessors), zeros."""
    assessor = np.arange(codes.shape[1])
    for topic, count in enumerate(counts):
        cell = codes[documents[topic] : documents[topic + 1]].astype(np.int64) * assessor.size + assessor
        count += np.bincount(cell.ravel(), minlength=count.size).reshape(count.shape)


@kernel("uint8[:,:], float64[:,:], int64[:], float64[:,:]")
def look_up(codes: NDArray[np.uint8], table: Floats, scale: Ints, gains: Floats) -> None:
    """gains[i, a] = table[scale[a], codes[i, a]]."""
    gains[:] = table[scale, codes]


def sums_of_counts(counts: Codes, table: Floats, scale: Ints, out: Floats) -> None:
    """out[t, a] = sum over levels k of counts[t, k, a] * table[scale[a], k]; arguments as in `ideal_of_counts`."""
    out[:] = 0.0
    for k, gain in enumerate(table[scale].T):
        out += counts[:, k] * gain


@kernel("int32[:,:,:], float64[:,:], int64[:,:], int64[:], float64[:], float64[:,:]")
def ideal_of_counts(counts: Codes, table: Floats, order: Ints, scale: Ints, cumulated: Floats, out: Floats) -> None:
    """out[t, a] = sum over ranks r of weight[r] * (r-th largest gain of a in topic t), from counts of levels.

    table, order : (scales, levels) gain of each level, and the levels from the highest gain.
    cumulated : (columns + 1,), cumulated[k] = sum of the first k weights; ranks beyond weigh nothing.
    """
    assessor = np.arange(scale.size)
    rank = np.zeros(out.shape, np.int64)
    out[:] = 0.0
    for level in order[scale].T:
        after = np.minimum(rank + counts[:, level, assessor], cumulated.size - 1)
        out += np.fmax(table[scale, level], 0.0) * (cumulated[after] - cumulated[rank])
        rank = after


@kernel("float64[:,:], int64[:], float64[:], float64[:,:]")
def ideal_sums(gains: Floats, documents: Ints, cumulated: Floats, out: Floats) -> None:
    """out[t, a] as in `ideal_of_counts`, from the gains themselves; nan where that takes too many distinct gains.

    gains : non-negative.

    A group of equal gains is paid for with one difference of `cumulated`. Grades take few distinct values, so instead
    of sorting, the compiled kernel counts every assessor's highest gain not yet counted in each of PASSES passes over
    the documents. Where passes run out before the ranks do (magnitudes without a cut-off) the caller sorts.
    """
    for topic, best in enumerate(out):
        ordered = np.sort(gains[documents[topic] : documents[topic + 1]], axis=0)[::-1][: cumulated.size - 1]
        rank = np.arange(len(ordered))[:, None]
        is_first = np.diff(ordered, axis=0, prepend=np.inf) != 0
        first = np.maximum.accumulate(np.where(is_first, rank, 0), axis=0)
        is_last = np.diff(ordered, axis=0, append=-1.0) != 0
        groups = np.where(is_last, ordered * (cumulated[rank + 1] - cumulated[first]), 0.0)
        best[:] = np.cumsum(groups, axis=0)[-1] if len(ordered) else 0.0
        best[(is_first & (ordered > 0.0)).sum(axis=0) > PASSES] = np.nan
