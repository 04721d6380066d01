"""What each assessor holds of each pair of documents, repeats and contradictions settled by weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.preferences import Preferences


@dataclass(frozen=True, eq=False)
class Decided:
    """One row per assessor, topic and pair of documents that he or she ordered; sorted by topic, then by assessor.

    topic, assessor, preferred, other : (rows,) int32, numbers into the labels of the `Preferences`.
    strength : (rows,) 1, or 2 where most of what was said of the pair that way was strong.
    cell : (cells,) topic * assessors + assessor of whoever decided anything; starts : (cells + 1,) where its rows are.
    n_repeats : rows merged into an earlier one of the same pair. n_contradictions : pairs ordered both ways.
    n_undecided : pairs without a decision: ties, and as much said for one as for the other.
    """

    topic: Codes
    assessor: Codes
    preferred: Codes
    other: Codes
    strength: Ints
    cell: Ints
    starts: Ints
    n_repeats: int
    n_contradictions: int
    n_undecided: int

    @property
    def pairs(self) -> Codes:
        """(rows, 2) preferred and other."""
        return np.stack([self.preferred, self.other], axis=1)


def decided(preferences: Preferences) -> Decided:
    """What each assessor holds of each pair that he or she was asked about, by the greater weight.

    Where the same assessor ordered a pair both ways with equal weight, the pair is undecided; so it is for a tie, which
    is half a preference each way.
    """
    n_assessors = len(preferences.assessors)
    low = np.minimum(preferences.preferred, preferences.other)
    high = np.maximum(preferences.preferred, preferences.other)
    upward = preferences.preferred == low
    cell = preferences.topic.astype(np.int64) * n_assessors + preferences.assessor
    order = np.arange(len(preferences)) if preferences.order is None else preferences.order
    rows = np.lexsort((order, high, low, cell))
    low = low[rows]
    high = high[rows]
    cell = cell[rows]
    upward = upward[rows]
    new = np.ones(rows.size, bool)
    new[1:] = (np.diff(cell) != 0) | (np.diff(low) != 0) | (np.diff(high) != 0)
    pair = np.cumsum(new) - 1
    firsts = np.flatnonzero(new)
    n_pairs = firsts.size

    weight = np.ones(rows.size) if preferences.weight is None else preferences.weight[rows]
    half = halves_of_ties(pair, upward, weight)
    strong = preferences.strength[rows] == 2

    def weights_of(which: Bools) -> Floats:
        return np.asarray(np.bincount(pair, np.where(which & ~half, weight, 0.0), minlength=n_pairs), np.float64)

    up = weights_of(upward)
    down = weights_of(~upward)
    is_strong = np.where(up > down, 2 * weights_of(upward & strong) > up, 2 * weights_of(~upward & strong) > down)
    stands = np.flatnonzero(up != down)
    first = low[firsts][stands]
    second = high[firsts][stands]
    cells = cell[firsts][stands]
    is_up = up[stands] > down[stands]
    distinct, starts = np.unique(cells, return_index=True)
    n_ties = np.bincount(pair, half, minlength=n_pairs).astype(np.int64) // 2
    return Decided(
        (cells // max(n_assessors, 1)).astype(np.int32),
        (cells % max(n_assessors, 1)).astype(np.int32),
        np.where(is_up, first, second),
        np.where(is_up, second, first),
        np.where(is_strong[stands], 2, 1).astype(np.int64),
        distinct,
        np.append(starts, cells.size).astype(np.int64),
        int(np.maximum(np.bincount(pair, minlength=n_pairs) - n_ties - 1, 0).sum()),
        int(((up > 0) & (down > 0)).sum()),
        int(n_pairs - stands.size),
    )


def halves_of_ties(pair: Ints, upward: Bools, weight: Floats) -> Bools:
    """Which rows are one half of a tie: of weight .5, one each way of the same pair, the earliest ones first.

    pair : (rows,) number of the pair; upward : which way it was ordered.
    """
    is_half = np.zeros(pair.size, bool)
    rows = np.flatnonzero(weight == 0.5)
    if rows.size:
        both_ways = (rows[upward[rows]], rows[~upward[rows]])
        n_ties = np.minimum(*(np.bincount(pair[way], minlength=int(pair.max()) + 1) for way in both_ways))
        for way in both_ways:
            by_pair = way[np.argsort(pair[way], kind="stable")]
            pairs = pair[by_pair]
            place = np.arange(by_pair.size) - np.searchsorted(pairs, pairs)
            is_half[by_pair[place < n_ties[pairs]]] = True
    return is_half
