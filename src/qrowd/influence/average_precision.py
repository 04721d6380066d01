"""How much of a difference in average precision so many changes of judgments can take, at most.

Let x_i be 1 where document i of a topic is relevant, R their number, and w(r) = 1 / r up to the cut-off, else 0. The
precision at the rank of i counts i and the relevant documents above it, so that R x AP = sum over i of x_i w(r_i) + sum
over pairs i, j of x_i x_j w(max(r_i, r_j)). The difference of two systems, times R, is thus X = sum_i a_i x_i +
sum_{i<j} b_ij x_i x_j, where a and b are the differences of these weights.

1. Let s_i be 1 where changes make i relevant, and -1 where they make it not relevant. Changes of the documents S take
   from X exactly - sum over S of s_i g_i - sum over pairs of S of s_i s_j b_ij, where g_i = a_i + sum_j b_ij x_j.
2. With k changes S has at most k documents. So each document of S adds at most v_i = - s_i g_i + half the sum of the
   k - 1 largest of max(0, - s_i s_j b_ij): half, since each pair is counted for both of its documents.
3. Where a document needs c_i changes to become relevant or not relevant, its v_i is divided by c_i and counted c_i
   times. S(k), the sum of the k largest of these that are above 0, is at least what k changes can take from X, because
   the documents that they can reach are counted at most k times in all.
4. R is then between R - k, or 1, and R + k. The cell is left with at least (X - S(k)) / (R + k) if X - S(k) is 0 or
   more, with at least (X - S(k)) / max(R - k, 1) if not, and never with less than the lowest difference of two scores.
   Without relevant documents all scores are 0; then all of X is taken, so that X - S(k) is 0 or less, and 0 is not
   below these limits either.
"""

from __future__ import annotations

import numpy as np

from qrowd.influence.cells import Change, gains_of_levels
from qrowd.influence.scored import ScoredCells
from qrowd.kernels.arrays import Floats, Ints
from qrowd.measures.precision import AP
from qrowd.measures.scoring import reach
from qrowd.model.alignment import align


def reductions_of_ap(cells: ScoredCells, change: Change, pair: tuple[int, int], sign: float, n: int) -> Floats | None:
    """(cells, n + 1) the most that 0 to n changes of a cell can take from the difference; None for other measures."""
    measure = cells.measure
    if not isinstance(measure.definition, AP) or measure.values.get("judged_only"):
        return None
    relevant = gains_of_levels(measure, cells.panel, cells.values) > 0  # (assessors, levels)
    ranks = _ranks(cells, pair)
    fixed = None if measure["recall_base"] == "own" else float(measure["recall_base"])  # type: ignore[arg-type]
    floor = measure.bounds[0] - measure.bounds[1]
    out = np.zeros((cells.share.size, n + 1))
    for t in range(len(cells.topics)):
        items = np.flatnonzero(cells.topic == t)
        weight = [_weights(ranks[s][items], reach(measure)) for s in (0, 1)]
        a = sign * (weight[0][0] - weight[1][0])
        b = sign * (weight[0][1] - weight[1][1])
        for assessor in range(cells.n_assessors):
            cell = t * cells.n_assessors + assessor
            if cells.share[cell] == 0:
                continue
            level = cells.level[items, assessor]
            x = np.where(level >= 0, relevant[assessor, np.maximum(level, 0)], False).astype(np.float64)
            cost = _costs(cells, items, assessor, relevant[assessor], change)
            base = float(x.sum()) if fixed is None else fixed
            out[cell] = cells.share[cell] * _reductions(a, b, x, cost, base, fixed is None, n, floor)
    return out


def _ranks(cells: ScoredCells, pair: tuple[int, int]) -> Floats:
    """(2, items) rank of each document in the lists of both systems, from 1; inf where it is not in the list."""
    lists = align(cells.runs, cells.panel.pool, cells.conventions.score_dtype).lists
    system = np.repeat(np.arange(lists.starts.size - 1), np.diff(lists.starts)) % lists.n_systems
    ranks = np.full((lists.n_systems, cells.topic.size), np.inf)
    ranks[system, lists.row] = lists.rank + 1.0
    return ranks[list(pair)]


def _weights(rank: Floats, cutoff: int) -> tuple[Floats, Floats]:
    """w at the rank of each document, and at the lower rank of each pair of documents; 0 of a document with itself."""
    w = np.where(rank <= cutoff, 1.0 / rank, 0.0)
    pairs = np.minimum(w[:, None], w)  # the lower of two ranks has the smaller weight
    np.fill_diagonal(pairs, 0.0)
    return w, pairs


def _costs(cells: ScoredCells, items: Ints, assessor: int, relevant: Floats, change: Change) -> Ints:
    """(items,) how many changes make a document relevant, or not relevant; 0 where none can."""
    level = cells.level[items, assessor]
    levels = np.arange(cells.values.size)
    inside = (cells.lowest[items, assessor, None] <= levels) & (levels <= cells.highest[items, assessor, None])
    other = inside & (relevant != relevant[np.maximum(level, 0)][:, None]) & (level >= 0)[:, None]
    distance = np.where(other, np.abs(levels - level[:, None]), cells.values.size + 1).min(axis=1)
    cost = np.where(other.any(axis=1), distance, 0)
    return cost if change == "grade" else np.minimum(cost, 1)


def _reductions(a: Floats, b: Floats, x: Floats, cost: Ints, base: float, own: bool, n: int, floor: float) -> Floats:
    """(n + 1,) the most that 0 to n changes can take from the score.

    own : whether the base moves with x. floor : the lowest difference of two scores.
    """
    out = np.zeros(n + 1)
    movable = np.flatnonzero(cost)
    if not movable.size:
        return out
    s = 1.0 - 2.0 * x[movable]
    g = (a + b @ x)[movable]
    pairs = np.maximum(-s[:, None] * s * b[np.ix_(movable, movable)], 0.0)
    size = min(n, movable.size)
    most = np.zeros((movable.size, size))
    np.cumsum(-np.sort(-pairs, axis=1)[:, : size - 1], axis=1, out=most[:, 1:])
    most = most[:, np.minimum(np.arange(n), size - 1)] / 2  # (documents, other documents that change)
    values = np.maximum((-s * g)[:, None] + most, 0.0) / cost[movable, None]
    values = -np.sort(-np.repeat(values, cost[movable], axis=0), axis=0)
    k = np.arange(1, n + 1)
    taken = np.cumsum(values, axis=0)[np.minimum(k, len(values)) - 1, k - 1]
    difference = float(a @ x + x @ b @ x / 2)
    rest = difference - taken
    largest = np.maximum(base + np.minimum(k, (s > 0).sum()), 1.0) if own else base
    smallest = np.maximum(base - k, 1.0) if own else base
    left = np.maximum(np.where(rest >= 0, rest / largest, rest / smallest), floor)
    out[1:] = np.maximum(difference / max(base, 1.0) - left, 0.0)
    return np.maximum.accumulate(out)
