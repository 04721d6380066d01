"""Rows of ranked lists, as files have them: where each list stands, whether its scores fall, and what is pooled in it.

A list is one system's for one topic; its number is system x topics + topic. Files hold one list after the other, best
document first, so that one pass over the rows is enough; where a kernel says that rows are not so, the caller sorts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.kernels.compiled import kernel
from qrowd.kernels.text import Bytes, hash_of, same_bytes

FEW = 16  # tied rows that are sorted by insertion


@kernel("int32[:], int32[:], int, int64[:], int64[:]")
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


@kernel("int64[:], int64[:], int32[:], int, int64[:]")
def has_repeats(starts: Ints, lengths: Ints, document: Codes, first: int, last_list: Ints) -> bool:
    """Whether any list holds a document twice.

    first : the number of the first list. last_list : (documents,) numbers below that; overwritten by the number of the
        last list that holds each.
    """
    for number in range(starts.size):
        for i in range(starts[number], starts[number] + lengths[number]):
            if last_list[document[i]] == first + number:
                return True
            last_list[document[i]] = first + number
    return False


@kernel(
    "int64[:], int64[:], float32[:], bool[:], bool[:]",
    "int64[:], int64[:], float64[:], bool[:], bool[:]",
)
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


@kernel("int64[:], int64[:], float64[:], float64[:], bool[:], bool[:]")
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


@kernel()
def is_after(text: Bytes, ends: Ints, first: int, second: int) -> bool:
    """Whether the first of two labels is after the second by its bytes; label i is text[ends[i]:ends[i + 1]]."""
    a, b = ends[first], ends[second]
    while a < ends[first + 1] and b < ends[second + 1]:
        if text[a] != text[b]:
            return bool(text[a] > text[b])
        a += 1
        b += 1
    return bool(ends[first + 1] - a > ends[second + 1] - b)


@kernel()
def sort_few(rows: Ints, first: int, last: int, document: Codes, text: Bytes, ends: Ints) -> None:
    """`sort_ties` of rows[first:last], by insertion."""
    for k in range(first + 1, last):
        row = rows[k]
        place = k
        while place > first and is_after(text, ends, document[row], document[rows[place - 1]]):
            rows[place] = rows[place - 1]
            place -= 1
        rows[place] = row


@kernel()
def merge_runs(
    rows: Ints, first: int, middle: int, last: int, document: Codes, text: Bytes, ends: Ints, merged: Ints
) -> None:
    """`sort_ties` of rows[first:last], whose parts up to `middle` and from there on are sorted."""
    left = first
    right = middle
    for k in range(first, last):
        from_right = left == middle
        if not from_right and right < last:
            from_right = is_after(text, ends, document[rows[right]], document[rows[left]])
        if from_right:
            merged[k] = rows[right]
            right += 1
        else:
            merged[k] = rows[left]
            left += 1
    for k in range(first, last):
        rows[k] = merged[k]


@kernel("int64[:], bool[:], int32[:], uint8[:], int64[:]")
def sort_ties(rows: Ints, tied: Bools, document: Codes, text: Bytes, ends: Ints) -> None:
    """Put each group of tied rows into descending order of the document's label, in place.

    rows : (n,) row at each place; tied : (n,) a place shares the score of the one before. document : (rows,).
    """
    n = rows.size
    merged = np.empty(n, np.int64)
    begin = 0
    for end in range(1, n + 1):
        if end < n and tied[end]:
            continue
        for first in range(begin, end, FEW):  # few by insertion, and then twice as many by merging
            sort_few(rows, first, min(first + FEW, end), document, text, ends)
        width = FEW
        while width < end - begin:
            for first in range(begin, end - width, 2 * width):
                merge_runs(rows, first, first + width, min(first + 2 * width, end), document, text, ends, merged)
            width *= 2
        begin = end


@kernel("uint8[:], int64[:], uint8[:], int64[:], int64[:], int32[:]")
def find_labels(text: Bytes, ends: Ints, other: Bytes, other_ends: Ints, slots: Ints, places: Codes) -> None:
    """places[i] = number of label i among the others, -1 where it is none of them. Labels as in `is_after`.

    slots : -1; a power of 2 of them, twice as many as labels or more.
    """
    mask = slots.size - 1
    for i in range(ends.size - 1):
        slot = hash_of(text, ends[i], ends[i + 1] - ends[i]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = i
        places[i] = -1
    for j in range(other_ends.size - 1):
        length = other_ends[j + 1] - other_ends[j]
        slot = hash_of(other, other_ends[j], length) & mask
        while slots[slot] >= 0:
            i = slots[slot]
            if ends[i + 1] - ends[i] == length and same_bytes(text, ends[i], other, other_ends[j], length):
                places[i] = j
                break
            slot = (slot + 1) & mask


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
