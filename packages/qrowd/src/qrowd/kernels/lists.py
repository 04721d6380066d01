"""Which pooled documents stand where in ranked lists. A list is one system's for one topic."""

from __future__ import annotations

from qrowd.kernels.arrays import Codes, Ints
from qrowd.kernels.compiled import kernel


@kernel("int64[:], int64[:], int, int32[:], int64[:], int32[:], int32[:], int64[:], int32[:], int32[:]")
def pooled_entries(
    list_starts: Ints,
    list_lengths: Ints,
    n_systems: int,
    document: Codes,
    pool_starts: Ints,
    pool_document: Codes,
    place: Codes,
    starts: Ints,
    rank: Codes,
    row: Codes,
) -> int:
    """Find the pooled documents of each list; returns how many there are.

    list_starts, list_lengths : (topics x systems,) into `document`, best first; length 0 where there is no list.
    pool_document : (pairs,) the pooled documents of topic t are pool_starts[t]:pool_starts[t + 1]; -1 outside the runs.
    place : (documents,) -1; overwritten and restored.
    starts, rank, row : filled in; entries starts[l]:starts[l + 1] of list l have their rank, from 0, and their pair.
    """
    n = 0
    for t in range(pool_starts.size - 1):
        for i in range(pool_starts[t], pool_starts[t + 1]):
            if pool_document[i] >= 0:
                place[pool_document[i]] = i
        for number in range(t * n_systems, (t + 1) * n_systems):
            starts[number] = n
            begin = list_starts[number]
            for r in range(list_lengths[number]):
                pair = place[document[begin + r]]
                if pair >= 0:
                    rank[n] = r
                    row[n] = pair
                    n += 1
        for i in range(pool_starts[t], pool_starts[t + 1]):
            if pool_document[i] >= 0:
                place[pool_document[i]] = -1
    starts[starts.size - 1] = n
    return n
