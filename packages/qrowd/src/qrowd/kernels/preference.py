"""Preferences against rankings: which pairs of documents a system put in the preferred order.

The kernels that score read the same arrays:

ranks : (systems, documents) int32
    Rank of each pooled document, from 1; documents that a system did not rank stand at its limit.
limits : (systems,) int32
    One more than the number of documents a system ranked, or than the cut-off: where the unranked stand.
starts, pairs : (assessors + 1,) int64, (rows, 2) int32
    The preferences of assessor a are the rows starts[a]:starts[a + 1]: the preferred document and the other.
out : (systems, assessors) float64, overwritten.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 4.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.compiled import kernel

Ranks = NDArray[np.int32]
Pairs = NDArray[np.int32]


# ---------------------------------------------------------------------- ranks of documents


def document_ranks(rows: Ranks, tied: Bools, ascending: bool, out: Ranks) -> None:
    """out[s, d] = rank of document d, 0 where the system did not rank it.

    rows : (systems, depth), document at each rank, -1 for documents that are left out.
    tied : (systems, depth), True where a document has the score of the one above it.
    ascending : turn every group of tied documents round: rows hold the highest document id first.
    """
    n_systems, depth = rows.shape
    place = np.broadcast_to(np.arange(depth), rows.shape)
    if ascending:
        begins = np.column_stack([np.ones((n_systems, 1), bool), ~tied[:, 1:]])[:, :depth]
        ends = np.column_stack([~tied[:, 1:], np.ones((n_systems, 1), bool)])[:, :depth]
        first = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
        last = np.minimum.accumulate(np.where(ends, place, depth)[:, ::-1], axis=1)[:, ::-1]
        place = first + last - place
    out[:] = 0
    system, at = np.nonzero(rows >= 0)
    out[system, rows[system, at]] = place[system, at] + 1


# ---------------------------------------------------------------------- pairs from values


def pairs_by_value(starts: Ints, value: Floats) -> tuple[Pairs, Ints]:
    """All pairs of rows of one segment whose values differ, the higher first.

    starts : (segments + 1,); segment g is value[starts[g]:starts[g + 1]].

    Returns (n, 2) row numbers and (segments + 1,) where the pairs of each segment start.
    """
    parts = [np.empty((0, 2), np.int64)]
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        row, column = value[begin:end, None], value[None, begin:end]
        parts.append(np.argwhere(row > column) + begin)
    ends = np.cumsum([len(part) for part in parts])
    return np.concatenate(parts).astype(np.int32), ends


# ---------------------------------------------------------------------- shares of pairs in the right order


@kernel("int32[:,:], int32[:], int64[:], int32[:,:], float64[:], float64[:], bool, float64[:,:], float64[:,:]")
def ordered_pairs(
    ranks: Ranks,
    limits: Ranks,
    starts: Ints,
    pairs: Pairs,
    weight: Floats,
    discount: Floats,
    upper: bool,
    correct: Floats,
    ordered: Floats,
) -> None:
    """Weight of the pairs that each system ordered, and of those it ordered as preferred, both (systems, assessors).

    A pair is ordered where at least one of its documents is ranked. It weighs weight[row] * discount[rank], rank being
    the lower of its two ranks, or if `upper` the upper one; discount[0] is not used.
    """
    for s in range(ranks.shape[0]):
        rank = ranks[s]
        limit = limits[s]
        for a in range(starts.size - 1):
            right, total = 0.0, 0.0
            for row in range(starts[a], starts[a + 1]):
                better, worse = rank[pairs[row, 0]], rank[pairs[row, 1]]
                if better < limit or worse < limit:
                    w = weight[row] * discount[min(better, worse) if upper else max(better, worse)]
                    total += w
                    right += w if better < worse else 0.0
            correct[s, a] = right
            ordered[s, a] = total


@kernel("int32[:,:], int32[:], int64[:], int32[:,:], float64[:], int, float64[:,:]")
def average_share(
    ranks: Ranks, limits: Ranks, starts: Ints, pairs: Pairs, weight: Floats, cutoff: int, out: Floats
) -> None:
    """out[s, a] = mean, over the ranks k at which the number of rightly ordered pairs rises, of their share at rank k.

    At rank k the first k documents are all that is ranked. `cutoff` is the last k looked at.
    """
    deepest = 0
    for s in range(limits.size):
        deepest = max(deepest, limits[s])
    right, total = np.empty(deepest + 1), np.empty(deepest + 1)
    for s in range(ranks.shape[0]):
        rank = ranks[s]
        limit = limits[s]
        for a in range(starts.size - 1):
            right[:] = 0.0
            total[:] = 0.0
            for row in range(starts[a], starts[a + 1]):
                better, worse = rank[pairs[row, 0]], rank[pairs[row, 1]]
                total[min(better, worse)] += weight[row]
                if better < worse:
                    right[better] += weight[row]
            so_far, ordered, shares, n = 0.0, 0.0, 0.0, 0
            for k in range(1, min(limit, cutoff + 1)):
                ordered += total[k]
                if right[k] > 0.0:
                    so_far += right[k]
                    shares += so_far / ordered
                    n += 1
            out[s, a] = shares / n if n > 0 else 0.0


# ---------------------------------------------------------------------- what follows from pairs


@kernel("int, int32[:,:]", arrays=lambda n, pairs: (np.empty((n, n), np.bool_),))
def closure(n: int, pairs: Pairs) -> Bools:
    """(n, n) whether i is preferred to j, directly or over a chain of others, chains within cycles aside.

    pairs : (rows, 2) places from 0 to n - 1.

    Chains count between strongly connected components; within a component only direct preferences count.
    """
    direct = np.zeros((n, n), np.bool_)
    for row in range(pairs.shape[0]):
        direct[pairs[row, 0], pairs[row, 1]] = True
    reach = direct.copy()
    for k in range(n):
        for i in range(n):
            if reach[i, k]:
                for j in range(n):
                    reach[i, j] |= reach[k, j]
    closed = direct.copy()
    for i in range(n):
        for j in range(n):
            if i != j and reach[i, j] and not reach[j, i]:
                closed[i, j] = True
    return closed


def closed_pairs(n: int, starts: Ints, pairs: Pairs) -> tuple[Pairs, Ints]:
    """The closure of every group's pairs, each pair once: (m, 2), and (groups + 1,) where each group starts.

    n : documents. starts : (groups + 1,); group g is pairs[starts[g]:starts[g + 1]]. The documents of a group are
        numbered in order of appearance, and its pairs come in the order of these numbers.
    """
    parts, ends = [np.empty((0, 2), np.int32)], [0]
    number = np.empty(n, np.int32)
    for begin, end in pairwise(starts.tolist()):
        members = np.array([*dict.fromkeys(pairs[begin:end].ravel().tolist())], np.int32)
        number[members] = np.arange(members.size)
        parts.append(members[np.argwhere(closure(members.size, number[pairs[begin:end]]))])
        ends.append(ends[-1] + len(parts[-1]))
    return np.concatenate(parts), np.array(ends)


# ---------------------------------------------------------------------- similarity to the ideal ranking


@kernel("int32[:,:], int32[:], int32[:,:], int, float64[:], float64[:,:]")
def similarity_to_ideal(ranks: Ranks, limits: Ranks, level: Ranks, n_levels: int, tail: Floats, out: Floats) -> None:
    """Rank-biased overlap of each ranking with the ideal one that is closest to it, over the ideal's with itself.

    level : (assessors, documents), 0 for documents outside the ideal ranking, else 1 ... n_levels, the higher the
        better; documents of one level stand in the system's own order.
    tail : tail[m] = sum over depths i >= m of p^(i - 1) / i, up to the last depth; 0 beyond.

    Two rankings share a document from the depth of the lower of its two ranks on. Clarke, Vtyurina & Smucker (2021).
    """
    n_documents = level.shape[1]
    deepest = tail.size - 1
    ideal_rank = np.empty(n_levels + 1, np.int64)
    by_rank = np.empty(n_documents, np.int64)
    for s in range(ranks.shape[0]):
        rank = ranks[s]
        n_ranked = 0
        for d in np.argsort(rank):
            if rank[d] < limits[s]:
                by_rank[n_ranked] = d
                n_ranked += 1
        for a in range(level.shape[0]):
            # First how many documents each level has, then how many stand above it, then its last rank given out.
            ideal_rank[:] = 0
            for d in range(n_documents):
                ideal_rank[level[a, d]] += 1
            size = 0
            for step in range(n_levels, 0, -1):
                size += ideal_rank[step]
                ideal_rank[step] = size - ideal_rank[step]
            shared, best = 0.0, 0.0
            for r in range(n_ranked):
                d = by_rank[r]
                if level[a, d] > 0:
                    ideal_rank[level[a, d]] += 1
                    depth = max(int(rank[d]), int(ideal_rank[level[a, d]]))
                    if depth <= deepest:
                        shared += tail[depth]
            for depth in range(1, min(size, deepest) + 1):
                best += tail[depth]
            out[s, a] = shared / best if best > 0.0 else 0.0
