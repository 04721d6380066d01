"""Measures down ranked lists that read more of a document than its gain, for all assessors of a topic at once.

Every kernel walks the same arrays:

rows : (systems, depth) int32
    Row of `gains` at each rank of each system; -1 where the document is outside the pool or the list has ended.
gains : (documents, assessors) float64
    What each assessor gives each pooled document: 1/0 for relevant or not, a gain, a probability.
out : (systems, assessors) float64
    Where the scores go; overwritten.

The innermost loop runs over assessors, contiguous in memory. `cutoff` is the last rank looked at.
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


@kernel("int32[:,:], float64[:,:], float64[:], float64[:,:]")
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


@kernel("int32[:,:], float64[:,:], float64[:,:], float64[:], float64[:], float64[:,:]")
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


@kernel("int32[:,:], float64[:,:], float64[:,:], float64[:,:], float, int, float64[:,:]")
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


@kernel("int32[:,:], float64[:,:], int, float64[:,:]")
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
