"""How the judging of a topic may still end: outcomes of its pairs, bounds over all ends, ends sampled at random.

closed : (n, n) bool
    Which document is preferred to which, directly or over chains.
bad : (n,) bool
    Documents marked as Bad.
above : (n, n, systems) float64
    Weight of the pair where the system ranks the row's document above the column's, else 0.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.compiled import kernel

Codes = NDArray[np.uint8]

# How a pair of documents i < j may end; their sum is a code from 1 to 7.
FIRST = 1
SECOND = 2
DROPPED = 4


def pair_outcomes(closed: Bools, bad: Bools, markable: Bools) -> Codes:
    """(n, n), for i < j, 0 if the pair is decided, else the sum of FIRST, SECOND and DROPPED it may end as; else 0.

    markable : (n,) whether a document may still be marked as Bad.

    A pair with a Bad document can still be decided by a chain, but only if that document was preferred to one that is
    not Bad (or, as the lower end of the chain, one that is not Bad was preferred to it).
    """
    wins: Bools = np.asarray((closed & ~bad).any(axis=1))
    losses: Bools = np.asarray((closed & ~bad[:, None]).any(axis=0))
    first = ~bad[:, None] | (wins[:, None] & (~bad | losses))
    dropped = (bad | markable)[:, None] & (bad | markable)
    codes = FIRST * first + SECOND * first.T + DROPPED * dropped
    return np.where(np.triu(~(closed | closed.T), k=1), codes, 0).astype(np.uint8)


# ---------------------------------------------------------------------- bounds


class Pairs(NamedTuple):
    """What each system orders in the end.

    right, total : (systems,) weight of the pairs whose end is certain that the system orders rightly, and of all that
        it orders.
    first, second : (systems, pairs) weight of each other pair if the system ranks its first document higher, or its
        second one, else 0. Columns 0 to ends[0] may end either way, up to ends[1] as the first over the second or be
        dropped, up to ends[2] in all three ways.
    ranges : (2, systems) least and greatest weight of all pairs that the system orders.
    """

    right: Floats
    total: Floats
    first: Floats
    second: Floats
    ends: Ints
    ranges: Floats


@kernel("float64[:], float64[:,:], float64[:,:], int64[:]")
def total_ranges(total: Floats, first: Floats, second: Floats, ends: Ints) -> Floats:
    """(2, systems) the `ranges` of `Pairs`."""
    out = np.empty((2, total.size))
    for s in range(total.size):
        certain = total[s]
        loose = 0.0
        for p in range(ends[0]):
            certain += first[s, p] + second[s, p]
        for p in range(ends[0], ends[2]):
            loose += first[s, p] + second[s, p]
        out[0, s] = certain
        out[1, s] = certain + loose
    return out


@kernel()
def bounds_of(
    right: Floats, total: Floats, first: Floats, second: Floats, ends: Ints, ranges: Floats, e: int, f: int
) -> tuple[float, float]:
    """Bounds on E_e - E_f however the pairs end, E = right / total, 0 where the total is.

    With N the totals, E_e - E_f = (right_e - r * right_f) / N_e at r = N_e / N_f. For a fixed r every pair ends at its
    own worst; in r the worst is convex, so that the ends of r's range bound it. Subtracting c * (N_e - r * N_f), which
    is 0, from the numerator changes nothing but the bound; the best of a few c is taken.
    """
    if ranges[0, e] <= 0.0 or ranges[0, f] <= 0.0:
        # A fraction without any pair is 0: nothing is certain but that one that has none in any case is 0.
        return (0.0 if ranges[1, f] <= 0.0 else -1.0), (0.0 if ranges[1, e] <= 0.0 else 1.0)
    small = ranges[1, e] / ranges[1, f]
    large = small
    dropping = ranges[0, e] < ranges[1, e] or ranges[0, f] < ranges[1, f]
    if dropping:
        large = _largest_ratio(first, second, ends, ranges, e, f)
        small = 1.0 / _largest_ratio(first, second, ends, ranges, f, e)
    low, high = _numerator_bounds(right, total, first, second, ends, e, f, small, large)
    return (
        max(-1.0, low / (ranges[0, e] if low < 0.0 else ranges[1, e])),
        min(1.0, high / (ranges[0, e] if high > 0.0 else ranges[1, e])),
    )


@kernel()
def _numerator_bounds(
    right: Floats,
    total: Floats,
    first: Floats,
    second: Floats,
    ends: Ints,
    e: int,
    f: int,
    small: float,
    large: float,
) -> tuple[float, float]:
    """Of the numerator at the ends of r's range, which are equal if no pair can be dropped."""
    top = np.inf
    bottom = -np.inf
    for k in range(3 if small < large else 1):
        over, under = _numerator_range(right, total, first, second, ends, e, f, small, 0.5 * k)
        if small < large:
            more, less = _numerator_range(right, total, first, second, ends, e, f, large, 0.5 * k)
            top = min(top, max(over, more))
            bottom = max(bottom, min(under, less))
        else:
            top = min(top, over)
            bottom = max(bottom, under)
    return bottom, top


@kernel("float64[:], float64[:], float64[:,:], float64[:,:], int64[:], float64[:,:]")
def difference_bounds(
    right: Floats, total: Floats, first: Floats, second: Floats, ends: Ints, ranges: Floats
) -> tuple[Floats, Floats]:
    """(systems, systems) low and high: low[e, f] <= E_e - E_f <= high[e, f]; 0 on the diagonal. See `Pairs`."""
    n = total.size
    low = np.zeros((n, n))
    high = np.zeros((n, n))
    for e in range(n):
        for f in range(e + 1, n):
            below, above = bounds_of(right, total, first, second, ends, ranges, e, f)
            low[e, f] = below
            high[e, f] = above
            low[f, e] = -above
            high[f, e] = -below
    return low, high


@kernel("float64[:], float64[:], float64[:,:], float64[:,:], int64[:], float64[:,:], int64[:,:], float")
def all_settled(
    right: Floats,
    total: Floats,
    first: Floats,
    second: Floats,
    ends: Ints,
    ranges: Floats,
    suspects: Ints,
    tiny: float,
) -> bool:
    """Whether every difference has a certain sign; the first arguments as of `Pairs`.

    suspects : (m, 2) all pairs of systems, in the order to try them; the first without a certain sign ends it.
    """
    for k in range(suspects.shape[0]):
        low, high = bounds_of(right, total, first, second, ends, ranges, suspects[k, 0], suspects[k, 1])
        if not (low > tiny or high < -tiny or (low >= -tiny and high <= tiny)):
            return False
    return True


@kernel()
def _largest_ratio(first: Floats, second: Floats, ends: Ints, ranges: Floats, e: int, f: int) -> float:
    """The largest N_e / N_f over all ways of dropping pairs: Dinkelbach's iteration, from the ratio without dropping.

    Source: Dinkelbach (1967), On Nonlinear Fractional Programming. Management Science 13(7), 492-498.
    """
    ratio = ranges[1, e] / ranges[1, f]
    for _ in range(100):
        upper = ranges[0, e]
        lower = ranges[0, f]
        for p in range(ends[0], ends[2]):
            one = first[e, p] + second[e, p]
            two = first[f, p] + second[f, p]
            keep = 1.0 if one > ratio * two else 0.0
            upper += keep * one
            lower += keep * two
        if upper / lower <= ratio * (1 + 1e-13):
            break
        ratio = upper / lower
    return float(ratio * (1 + 1e-12))


@kernel()
def _numerator_range(
    right: Floats, total: Floats, first: Floats, second: Floats, ends: Ints, e: int, f: int, r: float, c: float
) -> tuple[float, float]:
    """Largest and smallest (right_e - c N_e) - r (right_f - c N_f), every pair at its own worst.

    Conditional expressions instead of min and max: no branch, which the processor would guess wrongly half the time.
    """
    over = (right[e] - c * total[e]) - r * (right[f] - c * total[f])
    under = (right[e] - c * total[e]) - r * (right[f] - c * total[f])
    for kind in range(3):
        reversible = kind != 1
        droppable = kind > 0
        for p in range(ends[kind - 1] if droppable else 0, ends[kind]):
            one = first[e, p] - r * first[f, p]
            two = second[e, p] - r * second[f, p]
            shift = c * (one + two)
            more = (one if one > two or not reversible else two) - shift
            less = (two if one > two and reversible else one) - shift
            over += more if more > 0.0 or not droppable else 0.0
            under += less if less < 0.0 or not droppable else 0.0
    return over, under


# ---------------------------------------------------------------------- sampled completions


@kernel()
def _drawn_place(
    new: int, row: Ints, size: int, closed: Bools, probability: Floats, luck: float, chances: Floats
) -> int:
    """Where a document goes among the first `size` of the row. luck : from 0 to 1; chances : overwritten."""
    first = 0
    last = size
    for k in range(size):
        if closed[row[k], new] and not closed[new, row[k]]:
            first = k + 1
    for k in range(size - 1, first - 1, -1):
        if closed[new, row[k]]:
            last = k
    # chances[k] relative to the lowest place, in logarithms: each step up puts one more document below.
    chances[last] = 0.0
    top = 0.0
    for k in range(last - 1, first - 1, -1):
        p = min(max(probability[new, row[k]], 1e-12), 1 - 1e-12)
        chances[k] = chances[k + 1] + np.log(p) - np.log1p(-p)
        top = max(top, chances[k])
    whole = 0.0
    for k in range(first, last + 1):
        chances[k] = np.exp(chances[k] - top)
        whole += chances[k]
    left = luck * whole
    at = first
    while at < last and left >= chances[at]:
        left -= chances[at]
        at += 1
    return at


@kernel("bool[:,:], bool[:], float64[:], float64[:,:], float64[:,:,:], float64[:,:,:], float64[:,:]")
def sampled_scores(
    closed: Bools,
    bad: Bools,
    chance_bad: Floats,
    probability: Floats,
    above: Floats,
    uniform: Floats,
    out: Floats,
) -> None:
    """out[d, s] = score of system s once everything was judged, in one sampled completion after the other.

    chance_bad : (n,) probability that each document will be marked; 0 where it cannot be any more.
    probability : (n, n) that the row's document is preferred to the column's.
    uniform : (completions, 3, n) numbers from 0 to 1.

    Documents that are not Bad are put into a row one after the other, in random order. Where what is known leaves
    several places, each is as likely as the product of its pairs' probabilities makes it. A document that was preferred
    to one that is not Bad is not Bad either.
    """
    n = bad.size
    n_systems = above.shape[2]
    row = np.empty(n, np.int64)
    is_bad = np.empty(n, np.bool_)
    place = np.empty(n, np.int64)
    chances = np.empty(n + 1)
    base_right = np.zeros(n_systems)
    base_total = np.zeros(n_systems)
    for i in range(n):
        for j in range(n):
            if closed[i, j]:
                for s in range(n_systems):
                    base_right[s] += above[i, j, s]
                    base_total[s] += above[i, j, s] + above[j, i, s]
    right = np.empty(n_systems)
    total = np.empty(n_systems)
    for d in range(uniform.shape[0]):
        order = np.argsort(uniform[d, 1])
        size = 0
        for i in range(n):
            is_bad[i] = bad[i] or uniform[d, 0, i] < chance_bad[i]
        # Nobody marks what was preferred to a document that stays.
        changed = True
        while changed:
            changed = False
            for i in range(n):
                if is_bad[i] and not bad[i]:
                    for j in range(n):
                        if closed[i, j] and not is_bad[j]:
                            is_bad[i] = False
                            changed = True
        for t in range(n):
            new = order[t]
            if is_bad[new]:
                continue
            at = _drawn_place(new, row, size, closed, probability, uniform[d, 2, new], chances)
            for k in range(size, at, -1):
                row[k] = row[k - 1]
            row[at] = new
            size += 1
        for k in range(size):
            place[row[k]] = k
        for s in range(n_systems):
            right[s] = base_right[s]
            total[s] = base_total[s]
        for i in range(n):
            for j in range(i + 1, n):
                if closed[i, j] or closed[j, i] or (is_bad[i] and is_bad[j]):
                    continue
                first_wins = is_bad[j] or (not is_bad[i] and place[i] < place[j])
                for s in range(n_systems):
                    total[s] += above[i, j, s] + above[j, i, s]
                    right[s] += above[i, j, s] if first_wins else above[j, i, s]
        for s in range(n_systems):
            out[d, s] = right[s] / total[s] if total[s] > 0.0 else 0.0
