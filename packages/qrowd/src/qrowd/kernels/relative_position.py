"""How far documents are from where the ideal ranking has them, for all assessors of a topic at once.

Arrays as in `qrowd.kernels.ranking`. The ideal ranking has n ranks: the documents by decreasing gain, then documents of
gain 0. A document whose gain the ideal ranking has at ranks first to last is at distance 0 there, at distance
rank - last (above 0) behind them, and at rank - first (below 0) before them.
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.kernels.compiled import kernel
from qrowd.kernels.ranking import Rows


def ideal_ranks(gains: Floats, n: int) -> tuple[Floats, Floats]:
    """(documents + 1, assessors) first and last rank of each document's gain; the last row is of gain 0.

    A gain that the first n ranks have no place for is at home everywhere: ranks 1 to n.
    """
    n_documents, n_assessors = gains.shape
    first = np.empty((n_documents + 1, n_assessors))
    last = np.empty((n_documents + 1, n_assessors))
    for a in range(n_assessors):
        ascending = np.sort(gains[:, a])
        values = np.append(gains[:, a], 0.0)
        first[:, a] = n_documents - np.searchsorted(ascending, values, side="right") + 1
        last[:, a] = n_documents - np.searchsorted(ascending, values, side="left")
        last[values == 0.0, a] = n  # as many documents of gain 0 as there are ranks
    outside = first > n
    return np.where(outside, 1.0, first), np.where(outside, n, np.minimum(last, n))


@kernel("int32[:,:], float64[:,:], float64[:,:], float64[:,:], int, float64[:,:]")
def twist(rows: Rows, first: Floats, last: Floats, gains: Floats, n: int, out: Floats) -> None:
    """out[s, a] = mean of the recovery ratio and of the harmonic mean of both space ratios.

    first, last : see `ideal_ranks`.
    """
    n_documents, n_assessors = gains.shape
    n_relevant = np.zeros(n_assessors)
    most_behind, most_before = np.zeros(n_assessors), np.zeros(n_assessors)
    for i in range(n_documents):
        for a in range(n_assessors):
            n_relevant[a] += gains[i, a] > 0.0
    for a in range(n_assessors):  # of the worst ranking: the ideal one, from its end
        document = np.argsort(-gains[:, a])
        rank = 1
        while rank <= n:
            i = document[rank - 1] if rank <= n_relevant[a] else n_documents
            low, high = first[i, a], last[i, a]
            for r in range(rank, int(high) + 1):
                there = n + 1 - r
                most_behind[a] += max(0.0, there - high)
                most_before[a] += max(0.0, low - there)
            rank = int(high) + 1
    at_home = first[n_documents].max()  # from this rank on a document of gain 0 is at distance 0 for everybody
    behind, before, total = np.empty(n_assessors), np.empty(n_assessors), np.empty(n_assessors)
    found, recovery, same = np.empty(n_assessors), np.empty(n_assessors), np.empty(n_assessors)
    for s in range(rows.shape[0]):
        behind[:], before[:], total[:] = 0.0, 0.0, 0.0
        found[:], recovery[:], same[:] = 0.0, 0.0, 1.0
        for r in range(n):
            i = rows[s, r] if r < rows.shape[1] and rows[s, r] >= 0 else n_documents
            if i == n_documents and r + 1 >= at_home:
                continue
            for a in range(n_assessors):
                distance = max(0.0, r + 1 - last[i, a]) + min(0.0, r + 1 - first[i, a])
                if distance > 0.0:
                    behind[a] += distance
                else:
                    before[a] -= distance
                was_ahead = total[a] > 0.0
                total[a] += distance
                if r > 0 and recovery[a] == 0.0 and was_ahead != (total[a] > 0.0):
                    recovery[a] = r
                if total[a] != 0.0:
                    same[a] = 0.0
                if i < n_documents and gains[i, a] > 0.0:
                    found[a] = 1.0
        for a in range(n_assessors):
            ratio = n_relevant[a] / max(n_relevant[a], recovery[a]) if recovery[a] > 0.0 else same[a]
            late = max(0.0, 1.0 - behind[a] / most_behind[a]) if most_behind[a] > 0.0 else 1.0
            early = max(0.0, 1.0 - before[a] / most_before[a]) if most_before[a] > 0.0 else 1.0
            space = 2.0 * late * early / (late + early) if late + early > 0.0 else 0.0
            out[s, a] = found[a] * (ratio + space) / 2.0
