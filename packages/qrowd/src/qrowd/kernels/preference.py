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
    assessor = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    for s, rank in enumerate(ranks):
        better, worse = rank[pairs].T
        row = np.flatnonzero(np.minimum(better, worse) < limits[s])
        better = better[row]
        worse = worse[row]
        w = weight[row] * discount[np.minimum(better, worse) if upper else np.maximum(better, worse)]
        correct[s] = np.bincount(assessor[row], np.where(better < worse, w, 0.0), starts.size - 1)
        ordered[s] = np.bincount(assessor[row], w, starts.size - 1)


@kernel("int32[:,:], int32[:], int64[:], int32[:,:], float64[:], int, float64[:,:]")
def average_share(
    ranks: Ranks, limits: Ranks, starts: Ints, pairs: Pairs, weight: Floats, cutoff: int, out: Floats
) -> None:
    """out[s, a] = mean, over the ranks k at which the number of rightly ordered pairs rises, of their share at rank k.

    At rank k the first k documents are all that is ranked. `cutoff` is the last k looked at.
    """
    shape = starts.size - 1, int(limits.max(initial=0)) + 1
    assessor = np.repeat(np.arange(shape[0]), np.diff(starts))
    for s, rank in enumerate(ranks):
        better, worse = rank[pairs].T
        cell = assessor * shape[1] + np.minimum(better, worse)
        looked_at = np.s_[:, 1 : min(limits[s], cutoff + 1)]
        total = np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape)[looked_at]
        right = np.bincount(cell, np.where(better < worse, weight, 0.0), shape[0] * shape[1]).reshape(shape)[looked_at]
        rises = right > 0.0
        shares = np.divide(np.cumsum(right, axis=1), np.cumsum(total, axis=1), out=np.zeros(right.shape), where=rises)
        out[s] = shares.cumsum(axis=1)[:, -1:].sum(axis=1) / np.maximum(rises.sum(axis=1), 1)


# ---------------------------------------------------------------------- what follows from pairs


@kernel("int, int32[:,:]", arrays=lambda n, pairs: (np.empty((n, n), np.bool_),))
def closure(n: int, pairs: Pairs) -> Bools:
    """(n, n) whether i is preferred to j, directly or over a chain of others, chains within cycles aside.

    pairs : (rows, 2) places from 0 to n - 1.

    Chains count between strongly connected components; within a component only direct preferences count.
    """
    direct = np.zeros((n, n), np.bool_)
    direct[pairs[:, 0], pairs[:, 1]] = True
    reach = direct.copy()
    for k in range(n):
        reach |= reach[:, [k]] & reach[k]
    return direct | (reach & ~reach.T)


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
    # First how many documents each level has, then how many stand above it, then its last rank given out.
    sizes = np.stack([(level == step).sum(axis=1) for step in range(n_levels + 1)], axis=1)
    sizes[:, 0] = 0
    above = sizes[:, ::-1].cumsum(axis=1)[:, ::-1] - sizes
    ideal_rank = np.repeat(above[None], ranks.shape[0], axis=0)
    tails = np.append(tail, 0.0)  # 0 beyond the last depth
    best = np.append(0.0, np.cumsum(tail[1:]))[np.minimum(sizes.sum(axis=1), tail.size - 1)]
    n_ranked = (ranks < limits[:, None]).sum(axis=1)
    by_rank = np.argsort(ranks, axis=1, kind="stable")
    shared = np.zeros(out.shape)
    assessor = np.arange(level.shape[0])
    for r in range(n_ranked.max(initial=0)):
        system = np.flatnonzero(n_ranked > r)
        document = by_rank[system, r]
        here = level[:, document].T
        place = system[:, None], assessor, here
        ideal_rank[place] += 1
        depth = np.maximum(ranks[system, document][:, None], ideal_rank[place])
        shared[system] += np.where(here > 0, tails[np.minimum(depth, tail.size)], 0.0)
    out[:] = np.divide(shared, best, out=np.zeros(out.shape), where=best > 0.0)
