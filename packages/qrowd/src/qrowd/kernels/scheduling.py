"""What the choice of the next pair computes: sorts that stop at an unknown pair, what a judgment would change.

Kernels read the same arrays:

closed : (n, n) bool
    Which document is preferred to which, directly or over chains.
known : (n, n) bool
    `closed`, and what Bad marks add to it.
above : (n, n, systems) float64
    Weight of the pair where the system ranks the row's document above the column's, else 0.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.compiled import kernel

BLOCK = 32  # numbers that are added up side by side; 64 rows of them fit the processor's nearest memory


# ---------------------------------------------------------------------- orders that sort


@kernel()
def _start_of_part(part: int, n_parts: int, n: int) -> int:
    """Where a part of n things starts, halved as the recursive sort halves them; n_parts is a power of 2."""
    if part == n_parts:
        return n
    low = 0
    high = n
    half = n_parts // 2
    while half > 0:
        middle = (low + high) // 2
        if (part // half) % 2 == 1:
            low = middle
        else:
            high = middle
        half //= 2
    return low


@kernel()
def _merge(row: Ints, low: int, high: int, known: Bools, tied: Bools, merged: Ints) -> tuple[int, int]:
    """Merge the halves of row[low:high] up to the first pair that is not known; (-1, -1) if all are."""
    middle = (low + high) // 2
    i = low
    j = middle
    for at in range(low, high):
        first = j == high
        if i < middle and j < high:
            one = row[i]
            two = row[j]
            first = known[one, two] or (tied[one] and tied[two])
            if not first and not known[two, one]:
                return one, two
        if first:
            merged[at] = row[i]
            i += 1
        else:
            merged[at] = row[j]
            j += 1
    for at in range(low, high):
        row[at] = merged[at]
    return -1, -1


@kernel()
def _merge_parts(row: Ints, n_parts: int, known: Bools, tied: Bools, merged: Ints) -> tuple[int, int]:
    """`_merge` the halves of each part of the row."""
    n = row.size
    for part in range(n_parts):
        low = _start_of_part(part, n_parts, n)
        high = _start_of_part(part + 1, n_parts, n)
        one, two = _merge(row, low, high, known, tied, merged)
        if one >= 0:
            return one, two
    return -1, -1


@kernel("int64[:], bool[:,:], bool[:]")
def next_of_merge(order: Ints, known: Bools, tied: Bools) -> tuple[int, int]:
    """The first pair that a merge sort of `order` cannot answer from what is known; (-1, -1) if it gets through.

    tied : (n,) documents whose pairs with each other need no answer.
    """
    n = order.size
    row = order.copy()
    merged = np.empty(n, np.int64)
    # Halves as in the recursive sort, which needs fewer comparisons than runs of 1, 2, 4 ...: smallest parts first.
    n_parts = 1
    while n_parts < n:
        n_parts *= 2
    while n_parts > 1:
        n_parts //= 2
        one, two = _merge_parts(row, n_parts, known, tied, merged)
        if one >= 0:
            return one, two
    return -1, -1


@kernel("int64[:], bool[:,:], bool[:]")
def next_of_insertion(order: Ints, known: Bools, tied: Bools) -> tuple[int, int]:
    """The same for a sort that puts one document after the other into its place by bisection."""
    n = order.size
    row = np.empty(n, np.int64)
    for size in range(n):
        new = order[size]
        low = 0
        high = size
        # What is known already narrows the places down.
        for k in range(size):
            if known[row[k], new] and not known[new, row[k]]:
                low = k + 1
        for k in range(size - 1, low - 1, -1):
            if known[new, row[k]]:
                high = k
        while low < high:
            middle = (low + high) // 2
            other = row[middle]
            if known[new, other] or (tied[new] and tied[other]):
                high = middle
            elif known[other, new]:
                low = middle + 1
            else:
                return new, other
        for k in range(size, low, -1):
            row[k] = row[k - 1]
        row[low] = new
    return -1, -1


@kernel("int64[:], bool[:,:], bool[:]")
def next_of_heap(order: Ints, known: Bools, tied: Bools) -> tuple[int, int]:
    """The same for a heap sort that takes the best document off first."""
    n = order.size
    heap = order.copy()
    size = n
    start = n // 2 - 1
    while size > 1:
        if start >= 0:
            at = start
            start -= 1
        else:
            size -= 1
            top = heap[size]
            heap[size] = heap[0]
            heap[0] = top
            at = 0
        while 2 * at + 1 < size:
            child = 2 * at + 1
            if child + 1 < size:
                one = heap[child]
                two = heap[child + 1]
                if known[two, one] and not known[one, two]:
                    child += 1
                elif not known[one, two] and not (tied[one] and tied[two]):
                    return one, two
            above = heap[at]
            below = heap[child]
            if known[above, below] or (tied[above] and tied[below]):
                break
            if not known[below, above]:
                return above, below
            heap[at] = below
            heap[child] = above
            at = child
    return -1, -1


# ---------------------------------------------------------------------- what a judgment would change


@kernel("float64[:,:], float64[:], float64[:]")
def summed_differences(values: Floats, scale: Floats, out: Floats) -> None:
    """out[r] = sum over pairs of columns of |values[r, e] * scale[e] - values[r, f] * scale[f]|."""
    rows, columns = values.shape
    line = np.empty(columns)
    for r in range(rows):
        for e in range(columns):
            line[e] = values[r, e] * scale[e]
        out[r] = _apart(line)


@kernel()
def _apart(line: Floats) -> float:
    """Sum of |x - y| over all pairs of numbers, which it reorders."""
    m = line.size
    if m == 2:
        return float(abs(line[0] - line[1]))
    # Numbers below 0 first and those above 0 last, since many are 0; then by insertion.
    left = 0
    right = m - 1
    at = 0
    while at <= right:
        x = line[at]
        if x < 0.0:
            line[at] = line[left]
            line[left] = x
            left += 1
            at += 1
        elif x > 0.0:
            line[at] = line[right]
            line[right] = x
            right -= 1
        else:
            at += 1
    for k in range(1, m):
        x = line[k]
        at = k
        while at > 0 and line[at - 1] > x:
            line[at] = line[at - 1]
            at -= 1
        line[at] = x
    total = 0.0
    for k in range(m):
        total += (2 * k - m + 1) * line[k]
    return float(total)


@kernel("bool[:,:], float64[:,:], float64[:,:]")
def settled_width(closed: Bools, width: Floats, forward: Floats) -> None:
    """forward[a, b] = sum of width[i, j] over all i at or above a and all j at or below b.

    width : (n, n), 0 where a pair is not open.
    """
    n = closed.shape[0]
    below = width.copy()
    for b in range(n):
        for j in range(n):
            if closed[b, j]:
                for i in range(n):
                    below[b, i] += width[j, i]  # width is symmetric: rows run through memory
    forward[:] = 0.0
    for i in range(n):
        for a in range(n):
            if i == a or closed[i, a]:
                for b in range(n):
                    forward[b, a] += below[b, i]
    for a in range(n):
        for b in range(a):
            one = forward[a, b]
            forward[a, b] = forward[b, a]
            forward[b, a] = one


@kernel("bool[:,:], bool[:], float64[:,:,:], float64[:], float64[:,:]")
def change_of_differences(closed: Bools, bad: Bools, above: Floats, scale: Floats, forward: Floats) -> None:
    """forward[a, b] = by how much "a over b" moves all differences between systems, summed; 0 where not open.

    It settles every undecided pair of a document at or above a and one at or below b. A system's fraction moves by
    scale * above, summed over them.
    """
    n = bad.size
    n_systems = scale.size
    below = np.zeros((n, n_systems))
    lines = np.empty((n_systems, n))
    line = np.empty(n_systems)
    total = np.empty(n)
    forward[:] = 0.0
    uppers = np.empty(n, np.int64)
    lowers = np.empty(n, np.int64)
    columns = np.empty(n, np.int64)
    for b in range(n):
        if bad[b]:
            continue
        # below[i] = what row i would gain if it stood above b
        n_lowers = 0
        for j in range(n):
            if (j == b or closed[b, j]) and not bad[j]:
                lowers[n_lowers] = j
                n_lowers += 1
        done = np.zeros(n, np.bool_)
        n_columns = 0
        for a in range(n):
            if a == b or bad[a] or closed[a, b] or closed[b, a]:
                continue
            n_uppers = 0
            for i in range(n):
                if (i == a or closed[i, a]) and not bad[i]:
                    uppers[n_uppers] = i
                    n_uppers += 1
            line[:] = 0.0
            for k in range(n_uppers):
                i = uppers[k]
                if not done[i]:
                    done[i] = True
                    _gain(i, lowers, n_lowers, closed, above, below)
                for s in range(n_systems):
                    line[s] += below[i, s]
            for s in range(n_systems):
                lines[s, n_columns] = line[s] * scale[s]
            columns[n_columns] = a
            n_columns += 1
        _apart_in_columns(lines, n_columns, total)
        for k in range(n_columns):
            forward[columns[k], b] = total[k]


@kernel()
def _gain(i: int, lowers: Ints, n_lowers: int, closed: Bools, above: Floats, out: Floats) -> None:
    """out[i] = sum of above[i, j] over those of the first j of `lowers` whose pair with i is undecided."""
    n_systems = above.shape[2]
    for s in range(n_systems):
        out[i, s] = 0.0
    for m in range(n_lowers):
        j = lowers[m]
        if not closed[i, j] and not closed[j, i] and i != j:
            for s in range(n_systems):
                out[i, s] += above[i, j, s]


@kernel()
def _apart_in_columns(lines: Floats, n_columns: int, out: Floats) -> None:
    """out[k] = sum of |x - y| over all pairs of numbers in column k, for the first columns.

    A block of columns at a time, so that the processor takes several at once.
    """
    rows = lines.shape[0]
    block = np.zeros((rows, BLOCK))
    total = np.empty(BLOCK)
    for start in range(0, n_columns, BLOCK):
        width = min(BLOCK, n_columns - start)
        for e in range(rows):
            for k in range(width):
                block[e, k] = lines[e, start + k]
        total[:] = 0.0
        for e in range(rows):
            for f in range(e):
                for k in range(BLOCK):
                    total[k] += abs(block[e, k] - block[f, k])
        for k in range(width):
            out[start + k] = total[k]
