"""Measures down ranked lists that read more of a document than its gain, for all assessors of a topic at once.

Every kernel walks the same arrays:

rows : (systems, depth) int32
    Row of `gains` at each rank of each system; -1 where the document is outside the pool or the list has ended.
gains : (documents, assessors) float64
    What each assessor gives each pooled document: 1/0 for relevant or not, a gain, a probability.
out : (systems, assessors) float64
    Where the scores go; overwritten.

`cutoff` is the last rank looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Bools, Floats
from qrowd.kernels.compiled import kernel
from qrowd.kernels.gains import Walk, entries

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
    starts, rank, row = entries(rows)
    walk = Walk(starts, starts[1:])
    score = np.zeros(out.shape)
    for entry in walk:
        score[: entry.size] += np.where(rank[entry, None] < cuts, relevant[row[entry]], 0.0)
    out[walk.order] = score


@kernel("int32[:,:], float64[:,:], float64[:,:], float64[:], float64[:], float64[:,:]")
def binary_preference(
    rows: Rows, relevant: Floats, judged: Floats, n_relevant: Floats, n_nonrelevant: Floats, out: Floats
) -> None:
    """out[s, a] = sum over relevant documents of 1 - min(nonrelevant above, R) / min(N, R); bpref times R."""
    starts, _, row = entries(rows)
    walk = Walk(starts, starts[1:])
    score, above = np.zeros((2, *out.shape))
    limit = np.minimum(n_nonrelevant, n_relevant)
    limit = np.where(limit > 0.0, limit, np.inf)
    for entry in walk:
        here = above[: entry.size]
        rel = relevant[row[entry]]
        score[: entry.size] += rel > 0.0
        score[: entry.size] -= (rel > 0.0) * (np.minimum(here, n_relevant) / limit)
        here += judged[row[entry]] - rel
    out[walk.order] = score


@kernel("int32[:,:], float64[:,:], float64[:,:], float64[:,:], float, int, float64[:,:]")
def blended_ratio_sum(
    rows: Rows, relevant: Floats, gains: Floats, ideal: Floats, beta: float, cutoff: int, out: Floats
) -> None:
    """out[s, a] = sum over relevant ranks r of (found + beta * gain so far) / (r + beta * ideal gain by r); Q times R.

    ideal : (documents, assessors), the gains of each assessor in decreasing order.
    """
    starts, rank, row = entries(rows[:, :cutoff])
    walk = Walk(starts, starts[1:])
    score, n_found, gained = np.zeros((3, *out.shape))
    best = np.cumsum(ideal, axis=0)
    for entry in walk:
        n = entry.size
        r = rank[entry]
        rel = relevant[row[entry]]
        n_found[:n] += rel
        gained[:n] += gains[row[entry]]
        best_so_far = best[np.minimum(r, len(best) - 1)]
        score[:n] += rel * (n_found[:n] + beta * gained[:n]) / (r[:, None] + 1 + beta * best_so_far)
    out[walk.order] = score


@kernel("int32[:,:], float64[:,:], int, float64[:,:]")
def shared_precision_sum(rows: Rows, worth: Floats, cutoff: int, out: Floats) -> None:
    """out[s, a] = sum over ranks n of 1/n * sum over m <= n of min(worth[m], worth[n]); GAP times its normaliser.

    worth : (documents, assessors), probability that a user counts the document as relevant.
    """
    starts, rank, row = entries(rows[:, :cutoff])
    walk = Walk(starts, starts[1:])
    score = np.zeros(out.shape)
    worths = np.empty((np.diff(starts).max(initial=0), *out.shape))
    for step, entry in enumerate(walk):
        so_far = worths[: step + 1, : entry.size]
        so_far[step] = worth[row[entry]]
        score[: entry.size] += np.minimum(so_far, so_far[step]).sum(axis=0) / (rank[entry, None] + 1)
    out[walk.order] = score
