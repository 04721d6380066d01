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

The innermost loop runs over assessors, contiguous in memory, so that one pass over a list serves the whole panel.
`documents` (topics + 1,) int64 says which rows of `gains` a topic has.
"""

from __future__ import annotations

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
    lists, ranks = np.nonzero(rows[:, : weights.size] >= 0)
    starts = np.append(0, np.cumsum(np.bincount(lists, minlength=rows.shape[0])))
    out = np.empty((rows.shape[0], gains.shape[1]))
    weighted_sums(starts, starts[1:], rows[lists, ranks], weights[ranks], np.ascontiguousarray(gains), 0, out)
    return out


@kernel("int64[:], int64[:], int32[:], float64[:], float64[:,:], int, float64[:,:]")
def weighted_sums(starts: Ints, ends: Ints, row: Codes, weight: Floats, gains: Floats, begin: int, out: Floats) -> None:
    """out[l, a] = sum over entries e of weight[e] * gains[row[e], a]."""
    n_assessors = gains.shape[1]
    for k in range(ends.size):
        score = out[k, begin : begin + n_assessors]
        score[:] = 0.0
        for e in range(starts[k], ends[k]):
            w, gain = weight[e], gains[row[e]]
            for a in range(n_assessors):
                score[a] += w * gain[a]


@kernel("int64[:], int64[:], int32[:], int32[:], float64[:,:], int, float64[:,:]")
def precision_sums(starts: Ints, ends: Ints, row: Codes, rank: Codes, gains: Floats, begin: int, out: Floats) -> None:
    """out[l, a] = sum over relevant ranks r of (relevant among the first r) / r; average precision times its base.

    gains : 1 for relevant documents, else 0.
    """
    n_assessors = gains.shape[1]
    count = np.empty(n_assessors)
    for k in range(ends.size):
        score = out[k, begin : begin + n_assessors]
        score[:] = 0.0
        count[:] = 0.0
        for e in range(starts[k], ends[k]):
            w, gain = 1.0 / (rank[e] + 1), gains[row[e]]
            for a in range(n_assessors):
                count[a] += gain[a]
                score[a] += gain[a] * (count[a] * w)


@kernel("int64[:], int64[:], int32[:], int32[:], float64[:,:], int, float64[:,:]")
def first_relevant(starts: Ints, ends: Ints, row: Codes, rank: Codes, gains: Floats, begin: int, out: Floats) -> None:
    """out[l, a] = 1 / rank of the first relevant document, 0 where there is none; gains as in `precision_sums`."""
    n_assessors = gains.shape[1]
    for k in range(ends.size):
        score = out[k, begin : begin + n_assessors]
        score[:] = 0.0
        for e in range(starts[k], ends[k]):
            w, gain = 1.0 / (rank[e] + 1), gains[row[e]]
            for a in range(n_assessors):
                score[a] = max(score[a], gain[a] * w)


@kernel("int64[:], int64[:], int32[:], int32[:], float64[:,:], float, int, float64[:,:]")
def cascade(
    starts: Ints, ends: Ints, row: Codes, rank: Codes, gains: Floats, unit: float, begin: int, out: Floats
) -> None:
    """out[l, a] = sum over ranks r of gain[r] / r * product over earlier ranks of (1 - gain); gain = unit * gains.

    unit : a power of two, so that every product with it is exact.
    """
    n_assessors = gains.shape[1]
    going = np.empty(n_assessors)
    for k in range(ends.size):
        score = out[k, begin : begin + n_assessors]
        score[:] = 0.0
        going[:] = 1.0
        for e in range(starts[k], ends[k]):
            w, gain = unit * (1.0 / (rank[e] + 1)), gains[row[e]]
            for a in range(n_assessors):
                score[a] += going[a] * gain[a] * w
                going[a] *= 1.0 - unit * gain[a]


@kernel("float64[:,:], int, float64[:,:]")
def divide(out: Floats, begin: int, divisor: Floats) -> None:
    """Divide the scores of the lists of each topic by divisor (topics, assessors); 0 where that is 0."""
    n_topics, n_assessors = divisor.shape
    n_systems = out.shape[0] // max(n_topics, 1)
    for t in range(n_topics):
        by = np.where(divisor[t] > 0.0, divisor[t], np.inf)
        for k in range(t * n_systems, (t + 1) * n_systems):
            score = out[k, begin : begin + n_assessors]
            for a in range(n_assessors):
                score[a] /= by[a]


@kernel("int64[:], float64[:,:]", arrays=lambda documents, gains: (np.empty((documents.size - 1, gains.shape[1])),))
def topic_sums(documents: Ints, gains: Floats) -> Floats:
    """(topics, assessors) sum of the gains of each topic's documents."""
    n_assessors = gains.shape[1]
    sums = np.zeros((documents.size - 1, n_assessors))
    for t in range(documents.size - 1):
        total = sums[t]
        for i in range(documents[t], documents[t + 1]):
            gain = gains[i]
            for a in range(n_assessors):
                total[a] += gain[a]
    return sums


@kernel("uint8[:,:], int64[:], int32[:,:,:]")
def level_counts(codes: NDArray[np.uint8], documents: Ints, counts: Codes) -> None:
    """Count the documents of each topic by code, into counts (topics, levels, assessors), zeros."""
    for t in range(documents.size - 1):
        for i in range(documents[t], documents[t + 1]):
            for a in range(codes.shape[1]):
                counts[t, codes[i, a], a] += 1


@kernel("uint8[:,:], float64[:,:], int64[:], float64[:,:]")
def look_up(codes: NDArray[np.uint8], table: Floats, scale: Ints, gains: Floats) -> None:
    """gains[i, a] = table[scale[a], codes[i, a]]."""
    for i in range(codes.shape[0]):
        code, gain = codes[i], gains[i]
        for a in range(codes.shape[1]):
            gain[a] = table[scale[a], code[a]]


@kernel("int32[:,:,:], float64[:,:], int64[:], float64[:,:]")
def sums_of_counts(counts: Codes, table: Floats, scale: Ints, out: Floats) -> None:
    """out[t, a] = sum over levels k of counts[t, k, a] * table[scale[a], k]; arguments as in `ideal_of_counts`."""
    n_topics, n_levels, n_assessors = counts.shape
    for t in range(n_topics):
        for a in range(n_assessors):
            out[t, a] = 0.0
        for k in range(n_levels):
            for a in range(n_assessors):
                out[t, a] += counts[t, k, a] * table[scale[a], k]


@kernel("int32[:,:,:], float64[:,:], int64[:,:], int64[:], float64[:], float64[:,:]")
def ideal_of_counts(counts: Codes, table: Floats, order: Ints, scale: Ints, cumulated: Floats, out: Floats) -> None:
    """out[t, a] = sum over ranks r of weight[r] * (r-th largest gain of a in topic t), from counts of levels.

    table, order : (scales, levels) gain of each level, and the levels from the highest gain.
    cumulated : (columns + 1,), cumulated[k] = sum of the first k weights; ranks beyond weigh nothing.
    """
    last = cumulated.size - 1
    for t in range(out.shape[0]):
        for a in range(out.shape[1]):
            gain, total, n = table[scale[a]], 0.0, 0
            for k in order[scale[a]]:
                if gain[k] <= 0.0 or n == last:
                    break
                after = min(n + counts[t, k, a], last)
                total += gain[k] * (cumulated[after] - cumulated[n])
                n = after
            out[t, a] = total


@kernel("float64[:,:], int64[:], float64[:], float64[:,:]")
def ideal_sums(gains: Floats, documents: Ints, cumulated: Floats, out: Floats) -> None:
    """out[t, a] as in `ideal_of_counts`, from the gains themselves; nan where that takes too many distinct gains.

    gains : non-negative.

    Grades take few distinct values, so instead of sorting, each pass over the documents counts every assessor's highest
    gain not yet counted and finds the next; a whole group is paid for with one difference of `cumulated`. Where passes
    run out before the ranks do (magnitudes without a cut-off) the caller sorts.
    """
    n_assessors = gains.shape[1]
    last = cumulated.shape[0] - 1
    level, below, count = np.empty(n_assessors), np.empty(n_assessors), np.empty(n_assessors)
    rank = np.empty(n_assessors, np.int64)
    for t in range(documents.size - 1):
        best = out[t]
        level[:] = 0.0
        rank[:] = 0
        best[:] = 0.0
        for i in range(documents[t], documents[t + 1]):
            gain = gains[i]
            for a in range(n_assessors):
                level[a] = gain[a] if gain[a] > level[a] else level[a]
        for _ in range(PASSES):
            count[:] = 0.0
            below[:] = 0.0
            for i in range(documents[t], documents[t + 1]):
                gain = gains[i]
                for a in range(n_assessors):
                    count[a] += 1.0 if gain[a] == level[a] else 0.0
                    below[a] = gain[a] if gain[a] < level[a] and gain[a] > below[a] else below[a]
            n_open = 0
            for a in range(n_assessors):
                if level[a] > 0.0:
                    after = min(rank[a] + int(count[a]), last)
                    best[a] += level[a] * (cumulated[after] - cumulated[rank[a]])
                    rank[a] = after
                    level[a] = below[a] if after < last else 0.0
                    n_open += level[a] > 0.0
            if n_open == 0:
                break
        for a in range(n_assessors):
            if level[a] > 0.0:
                best[a] = np.nan
