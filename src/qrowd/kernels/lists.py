"""Rows of ranked lists, as files have them: where each list stands, whether its scores fall, and what is pooled in it.

A list is one system's for one topic; its number is system x topics + topic. Files hold one list after the other, best
document first, so that one pass over the rows is enough; where a kernel says that rows are not so, the caller sorts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.kernels.compiled import kernel

FEW = 16  # members of a tied group that are sorted by insertion


@kernel
def list_bounds(system: Codes, topic: Codes, n_topics: int, starts: Ints, lengths: Ints) -> bool:
    """Fill in the (lists,) first row and length of each list; False where the rows of a list do not stand together.

    lengths : zeros.
    """
    current = -1
    for i in range(system.size):
        number = np.int64(system[i]) * n_topics + topic[i]
        if number != current:
            if lengths[number] > 0:
                return False
            starts[number] = i
            current = number
        lengths[number] += 1
    return True


@kernel
def has_repeats(starts: Ints, lengths: Ints, document: Codes, last_list: Ints) -> bool:
    """Whether any list holds a document twice.

    last_list : (documents,) -1; overwritten.
    """
    for number in range(starts.size):
        for i in range(starts[number], starts[number] + lengths[number]):
            if last_list[document[i]] == number:
                return True
            last_list[document[i]] = number
    return False


@kernel
def scores_down_lists(starts: Ints, lengths: Ints, score: NDArray[np.floating], rises: Bools, tied: Bools) -> int:
    """Fill in (lists,) where a score is above that of the row before, and (rows,) where it equals it; count the latter.

    rises, tied : False.
    """
    n_tied = 0
    for number in range(starts.size):
        for i in range(starts[number] + 1, starts[number] + lengths[number]):
            if score[i] > score[i - 1]:
                rises[number] = True
            elif score[i] == score[i - 1]:
                tied[i] = True
                n_tied += 1
    return n_tied


@kernel
def ranks_down_lists(
    starts: Ints, lengths: Ints, rank: Floats, score: Floats, contradicts: Bools, undecided: Bools
) -> None:
    """Fill in (lists,) where a rank is above that of a document with a higher score; a row may lack a rank (nan).

    contradicts, undecided : False. Lists whose scores rise somewhere are not decided here but marked.
    """
    for number in range(starts.size):
        last, before, here = np.inf, -np.inf, -np.inf  # the last score; highest rank of those above it, and with it
        for i in range(starts[number], starts[number] + lengths[number]):
            if np.isnan(rank[i]):
                continue
            if score[i] > last:
                undecided[number] = True
                break
            if score[i] < last:
                before = max(before, here)
                last = score[i]
            contradicts[number] = contradicts[number] or rank[i] < before
            here = max(here, rank[i])
        contradicts[number] = contradicts[number] and not undecided[number]


@kernel
def sort_ties(rows: Ints, tied: Bools, key: Codes) -> None:
    """Put each group of tied rows into descending order of `key`, in place.

    rows : (n,) row at each place; tied : (n,) a place shares the score of the one before. key : (rows,) no two equal
    within a group.
    """
    i, n = 0, rows.size
    while i < n:
        end = i + 1
        while end < n and tied[end]:
            end += 1
        if end - i > FEW:
            group = rows[i:end].copy()
            falling = np.empty(group.size, np.int64)
            for k in range(group.size):
                falling[k] = -np.int64(key[group[k]])
            rows[i:end] = group[np.argsort(falling)]
        else:
            for k in range(i + 1, end):
                row = rows[k]
                place = k
                while place > i and key[rows[place - 1]] < key[row]:
                    rows[place] = rows[place - 1]
                    place -= 1
                rows[place] = row
        i = end


@kernel
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
