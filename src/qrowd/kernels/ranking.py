"""Measures down a ranked list, for all assessors of a topic at once.

Every kernel walks the same arrays:

rows : (systems, depth) int32
    Row of `gains` at each rank of each system; -1 where the document is outside the pool or the list has ended.
gains : (documents, assessors) float64
    What each assessor gives each pooled document: 1/0 for relevant or not, a gain, a probability.
out : (systems, assessors) float64
    Where the scores go; overwritten.

The innermost loop runs over assessors, contiguous in memory, so that one pass over a ranking serves the whole panel
and a rank that holds no pooled document costs one comparison. `cutoff` is the last rank looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Bools, Floats
from qrowd.kernels.compiled import kernel

Rows = NDArray[np.int32]


def condensed(rows: Rows, tied: Bools, judged: Bools) -> tuple[Rows, Bools]:
    """The rankings, and which ranks share the score of the one above, without what was not `judged` (documents,)."""
    stays = (rows >= 0) & judged[rows]
    order = np.argsort(~stays, axis=1, kind="stable")
    still = np.take_along_axis(stays, order, axis=1)
    shorter = np.where(still, np.take_along_axis(rows, order, axis=1), -1).astype(np.int32)
    group = np.take_along_axis(np.cumsum(~tied, axis=1), order, axis=1)
    level = np.zeros(rows.shape, bool)
    level[:, 1:] = (group[:, 1:] == group[:, :-1]) & still[:, 1:]
    return shorter, level


@kernel
def weighted_sum(rows: Rows, weights: Floats, gains: Floats, out: Floats) -> None:
    """out[s, a] = sum over ranks r of weights[s, r] * gains[rows[s, r], a].

    weights : (systems or 1, columns); ranks beyond its columns weigh nothing.
    """
    n_systems = rows.shape[0]
    depth = min(rows.shape[1], weights.shape[1])
    n_assessors = gains.shape[1]
    for s in range(n_systems):
        score = out[s]
        score[:] = 0.0
        weight = weights[s if weights.shape[0] > 1 else 0]
        for r in range(depth):
            if rows[s, r] >= 0:
                gain = gains[rows[s, r]]
                w = weight[r]
                for a in range(n_assessors):
                    score[a] += w * gain[a]


@kernel
def precision_sum(rows: Rows, relevant: Floats, cutoff: int, out: Floats) -> None:
    """out[s, a] = sum over relevant ranks r of (relevant among the first r) / r; average precision times its base."""
    n_assessors = relevant.shape[1]
    n_found = np.empty(n_assessors)
    for s in range(rows.shape[0]):
        score = out[s]
        score[:] = 0.0
        n_found[:] = 0.0
        for r in range(min(cutoff, rows.shape[1])):
            if rows[s, r] >= 0:
                rel = relevant[rows[s, r]]
                weight = 1.0 / (r + 1)
                for a in range(n_assessors):
                    n_found[a] += rel[a]
                    score[a] += rel[a] * (n_found[a] * weight)


@kernel
def first_relevant(rows: Rows, relevant: Floats, cutoff: int, out: Floats) -> None:
    """out[s, a] = 1 / rank of the first relevant document, 0 where there is none."""
    n_assessors = relevant.shape[1]
    for s in range(rows.shape[0]):
        score = out[s]
        score[:] = 0.0
        for r in range(min(cutoff, rows.shape[1])):
            if rows[s, r] >= 0:
                rel = relevant[rows[s, r]]
                weight = 1.0 / (r + 1)
                for a in range(n_assessors):
                    score[a] = max(score[a], rel[a] * weight)


@kernel
def found_by_own_cut(rows: Rows, relevant: Floats, cuts: Floats, out: Floats) -> None:
    """out[s, a] = number of relevant documents among the first cuts[a]."""
    n_assessors = relevant.shape[1]
    for s in range(rows.shape[0]):
        score = out[s]
        score[:] = 0.0
        for r in range(rows.shape[1]):
            if rows[s, r] >= 0:
                rel = relevant[rows[s, r]]
                for a in range(n_assessors):
                    score[a] += rel[a] if r < cuts[a] else 0.0


@kernel
def binary_preference(
    rows: Rows, relevant: Floats, judged: Floats, n_relevant: Floats, n_nonrelevant: Floats, out: Floats
) -> None:
    """out[s, a] = sum over relevant documents of 1 - min(nonrelevant above, R) / min(N, R); bpref times R."""
    n_assessors = relevant.shape[1]
    above = np.empty(n_assessors)
    for s in range(rows.shape[0]):
        score = out[s]
        score[:] = 0.0
        above[:] = 0.0
        for r in range(rows.shape[1]):
            if rows[s, r] >= 0:
                rel = relevant[rows[s, r]]
                is_judged = judged[rows[s, r]]
                for a in range(n_assessors):
                    if rel[a] > 0.0:
                        score[a] += 1.0
                        if above[a] > 0.0:
                            limit = min(n_nonrelevant[a], n_relevant[a])
                            score[a] -= min(above[a], n_relevant[a]) / limit
                    above[a] += is_judged[a] - rel[a]


@kernel
def cascade(rows: Rows, stopping: Floats, cutoff: int, out: Floats) -> None:
    """out[s, a] = sum over ranks r of stopping[r] / r * product over earlier ranks of (1 - stopping)."""
    n_assessors = stopping.shape[1]
    going = np.empty(n_assessors)
    for s in range(rows.shape[0]):
        score = out[s]
        score[:] = 0.0
        going[:] = 1.0
        for r in range(min(cutoff, rows.shape[1])):
            if rows[s, r] >= 0:
                stop = stopping[rows[s, r]]
                weight = 1.0 / (r + 1)
                for a in range(n_assessors):
                    score[a] += going[a] * stop[a] * weight
                    going[a] *= 1.0 - stop[a]


@kernel
def blended_ratio_sum(
    rows: Rows, relevant: Floats, gains: Floats, ideal: Floats, beta: float, cutoff: int, out: Floats
) -> None:
    """out[s, a] = sum over relevant ranks r of (found + beta * gain so far) / (r + beta * ideal gain by r); Q times R.

    ideal : (documents, assessors), the gains of each assessor in decreasing order.
    """
    n_assessors = relevant.shape[1]
    n_found = np.empty(n_assessors)
    gained = np.empty(n_assessors)
    best = np.empty(n_assessors)
    for s in range(rows.shape[0]):
        score = out[s]
        score[:] = 0.0
        n_found[:] = 0.0
        gained[:] = 0.0
        best[:] = 0.0
        for r in range(min(cutoff, rows.shape[1])):
            if r < ideal.shape[0]:
                for a in range(n_assessors):
                    best[a] += ideal[r, a]
            if rows[s, r] >= 0:
                rel = relevant[rows[s, r]]
                gain = gains[rows[s, r]]
                for a in range(n_assessors):
                    n_found[a] += rel[a]
                    gained[a] += gain[a]
                    score[a] += rel[a] * (n_found[a] + beta * gained[a]) / (r + 1 + beta * best[a])


@kernel
def shared_precision_sum(rows: Rows, worth: Floats, cutoff: int, out: Floats) -> None:
    """out[s, a] = sum over ranks n of 1/n * sum over m <= n of min(worth[m], worth[n]); GAP times its normaliser.

    worth : (documents, assessors), probability that a user counts the document as relevant.
    """
    n_assessors = worth.shape[1]
    shared = np.empty(n_assessors)
    for s in range(rows.shape[0]):
        score = out[s]
        score[:] = 0.0
        for n in range(min(cutoff, rows.shape[1])):
            if rows[s, n] >= 0:
                here = worth[rows[s, n]]
                shared[:] = 0.0
                for m in range(n + 1):
                    if rows[s, m] >= 0:
                        there = worth[rows[s, m]]
                        for a in range(n_assessors):
                            shared[a] += min(here[a], there[a])
                for a in range(n_assessors):
                    score[a] += shared[a] / (n + 1)


@kernel
def ideal_sum(gains: Floats, cumulated: Floats, out: Floats) -> None:
    """out[a] = sum over ranks r of weight[r] * (r-th largest gain of a); nan where that takes too many distinct gains.

    gains : non-negative.
    cumulated : (columns + 1,), cumulated[k] = sum of the first k weights; ranks beyond weigh nothing.

    Grades take few distinct values, so instead of sorting, each pass over the documents counts every assessor's highest
    gain not yet counted and finds the next; a whole group is paid for with one difference of `cumulated`. Where passes
    run out before the ranks do (magnitudes without a cut-off) the caller sorts.
    """
    n_documents, n_assessors = gains.shape
    last = cumulated.shape[0] - 1
    level = np.zeros(n_assessors)
    below = np.empty(n_assessors)
    count = np.empty(n_assessors)
    rank = np.zeros(n_assessors, np.int64)
    for i in range(n_documents):
        gain = gains[i]
        for a in range(n_assessors):
            level[a] = gain[a] if gain[a] > level[a] else level[a]
    out[:] = 0.0
    for _ in range(32):
        count[:] = 0.0
        below[:] = 0.0
        for i in range(n_documents):
            gain = gains[i]
            for a in range(n_assessors):
                count[a] += 1.0 if gain[a] == level[a] else 0.0
                below[a] = gain[a] if gain[a] < level[a] and gain[a] > below[a] else below[a]
        open_ones = 0
        for a in range(n_assessors):
            if level[a] > 0.0:
                after = min(rank[a] + int(count[a]), last)
                out[a] += level[a] * (cumulated[after] - cumulated[rank[a]])
                rank[a] = after
                level[a] = below[a] if after < last else 0.0
                open_ones += level[a] > 0.0
        if open_ones == 0:
            return
    for a in range(n_assessors):
        if level[a] > 0.0:
            out[a] = np.nan
