"""What follows from preferences: chains of three, the shortest way round a cycle, and what Bad marks add.

starts, pairs : (groups + 1,) int64, (rows, 2) int32
    The pairs of group g are the rows starts[g]:starts[g + 1]: the preferred document and the other. A group is what one
    assessor said of one topic.
n : documents are numbers from 0 to n - 1; only those of a group take part in it.

The closure itself is `qrowd.kernels.preference.closed_pairs`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Bools, Ints
from qrowd.kernels.compiled import kernel
from qrowd.kernels.gaps import bits
from qrowd.kernels.preference import group_members

Pairs = NDArray[np.int32]
Words = NDArray[np.uint64]

CHAINS, KEPT, TRIPLES, CYCLIC = 0, 1, 2, 3


@kernel()
def _count_triples(above: Words, below: Words, counts: Ints) -> None:
    """Counts of one group as of `triples`; row i of bits holds whom document i is preferred to; who is, to i."""
    size, words = above.shape
    one = np.uint64(1)
    for i in range(size):
        for j in range(size):
            word = j >> 6
            bit = one << np.uint64(j & 63)
            over = (above[i, word] & bit) != 0
            under = (below[i, word] & bit) != 0
            if over:
                for w in range(words):
                    counts[CHAINS] += np.int64(bits(above[j, w] & (above[i, w] | below[i, w])))
                    counts[KEPT] += np.int64(bits(above[j, w] & above[i, w]))
            if j > i and (over or under):
                for w in range(word, words):
                    later = ~np.uint64(0)
                    if w == word:  # only k > j
                        later = ~((bit << one) - one) if (j & 63) < 63 else np.uint64(0)
                    both = (above[i, w] | below[i, w]) & (above[j, w] | below[j, w]) & later
                    round_ = np.uint64(0)
                    if over:
                        round_ |= above[j, w] & below[i, w]
                    if under:
                        round_ |= below[j, w] & above[i, w]
                    counts[TRIPLES] += np.int64(bits(both))
                    counts[CYCLIC] += np.int64(bits(round_ & later))


@kernel("int, int64[:], int32[:,:]")
def triples(n: int, starts: Ints, pairs: Pairs) -> Ints:
    """(groups, 4) chains of three documents i > j > k of which i and k were compared, those of them with i > k; triples
    compared with one another, and those of them that hold a cycle.

    A row of bits holds the documents that one document is preferred to, so 64 chains take one instruction.
    """
    n_groups = starts.size - 1
    out = np.zeros((n_groups, 4), np.int64)
    counts = np.empty(4, np.int64)
    number = np.full(n, -1, np.int64)
    members = np.empty(n, np.int32)
    one = np.uint64(1)
    for g in range(n_groups):
        size = group_members(starts, pairs, g, number, members)
        words = (size + 63) >> 6
        above = np.zeros((size, words), np.uint64)  # whom i is preferred to
        below = np.zeros((size, words), np.uint64)  # who is preferred to i
        for row in range(starts[g], starts[g + 1]):
            i = number[pairs[row, 0]]
            j = number[pairs[row, 1]]
            above[i, j >> 6] |= one << np.uint64(j & 63)
            below[j, i >> 6] |= one << np.uint64(i & 63)
        counts[:] = 0
        _count_triples(above, below, counts)
        for k in range(4):
            out[g, k] = counts[k]
        for m in range(size):
            number[members[m]] = -1
    return out


@kernel("int64[:], int32[:]")
def shortest_cycle(starts: Ints, following: Pairs) -> Pairs:
    """The nodes of a shortest cycle, in order, of a graph in which every node leads back to itself.

    starts : (nodes + 1,); node i leads to following[starts[i]:starts[i + 1]].

    Breadth first from every node until one leads back. Of several, the first by the number of the node it starts from.
    """
    n = starts.size - 1
    best = np.empty(0, np.int32)
    shortest = n + 1
    before = np.empty(n, np.int32)
    depth = np.empty(n, np.int64)
    queue = np.empty(n, np.int32)
    for start in range(n):
        depth[:] = -1
        depth[start] = 0
        queue[0] = start
        head, tail, last = 0, 1, -1
        while head < tail and last < 0:
            node = queue[head]
            head += 1
            if depth[node] + 1 >= shortest:
                break
            for e in range(starts[node], starts[node + 1]):
                other = following[e]
                if other == start:
                    last = node
                    break
                if depth[other] < 0:
                    depth[other] = depth[node] + 1
                    before[other] = node
                    queue[tail] = other
                    tail += 1
        if last >= 0:
            shortest = depth[last] + 1
            best = np.empty(shortest, np.int32)
            node = last
            for place in range(shortest - 1, -1, -1):
                best[place] = node
                if node != start:
                    node = before[node]
            if shortest == 2:
                break
    return best


def marked_pairs(
    n: int, starts: Ints, pairs: Pairs, seen_starts: Ints, seen: Pairs, is_bad: Bools
) -> tuple[Pairs, Ints, Ints]:
    """The pairs that Bad marks add: whoever is compared and not Bad over whoever is Bad, unless it is decided already.

    starts, pairs : the closed pairs of each group. seen_starts, seen : (groups + 1,), (documents,) the documents that
        each group compared or marked; is_bad : (documents,) which of them are marked.

    Returns the pairs, (groups + 1,) where each group starts, and (groups,) pairs of two Bad documents that nothing
    decides.
    """
    sizes = np.diff(seen_starts)
    group_of_bad = np.repeat(np.arange(sizes.size), sizes)[is_bad]
    # Every Bad document beside each document of its group.
    group = np.repeat(group_of_bad, sizes[group_of_bad])
    bad = np.repeat(np.flatnonzero(is_bad), sizes[group_of_bad])
    begin = np.append(0, np.cumsum(sizes[group_of_bad]))[:-1]
    other = np.arange(bad.size) + np.repeat(seen_starts[group_of_bad] - begin, sizes[group_of_bad])
    of_pair = np.repeat(np.arange(sizes.size), np.diff(starts))
    decided = [(of_pair * n + one) * n + two for one, two in (pairs.T, pairs.T[::-1])]
    undecided = ~np.isin((group * n + seen[other]) * n + seen[bad], np.concatenate(decided))
    added = undecided & ~is_bad[other]
    both_bad = np.bincount(group[undecided & is_bad[other] & (other < bad)], minlength=sizes.size)
    ends = np.append(0, np.cumsum(np.bincount(group[added], minlength=sizes.size)))
    return np.stack([seen[other], seen[bad]], axis=1)[added], ends, both_bad
