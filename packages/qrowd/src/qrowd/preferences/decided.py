"""What each assessor holds of each pair of documents, repeats and contradictions settled by a named rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import check_choice
from qrowd.kernels.arrays import Codes, Ints
from qrowd.model.preferences import Preferences

Contradictions = Literal["majority", "last", "both"]


@dataclass(frozen=True, eq=False)
class Decided:
    """One row per assessor, topic and pair of documents that he or she ordered; sorted by topic, then by assessor.

    topic, assessor, preferred, other : (rows,) int32, numbers into the labels of the `Preferences`.
    strength : (rows,) 1, or 2 where most of what was said of the pair that way was strong.
    cell : (cells,) topic * assessors + assessor of whoever decided anything; starts : (cells + 1,) where its rows are.
    n_repeats : rows merged into an earlier one of the same pair. n_contradictions : pairs ordered both ways.
    n_undecided : pairs without a decision: ties, and under "majority" as much said for one as for the other.
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


def decided(preferences: Preferences, contradictions: Contradictions = "majority") -> Decided:
    """What each assessor holds of each pair that he or she was asked about.

    contradictions : where the same assessor ordered a pair both ways, "majority" goes by the greater weight, and leaves
        the pair undecided if there is none; "last" goes by what was said last (by `order`, else by place); "both" keeps
        both, which is a cycle of two.

    Half a preference each way (weight .5, as `from_grades` makes of a tie) is a tie: undecided under every rule.
    """
    check_choice("contradictions", contradictions, Contradictions)
    n_assessors = len(preferences.assessors)
    low = np.minimum(preferences.preferred, preferences.other)
    high = np.maximum(preferences.preferred, preferences.other)
    upward = preferences.preferred == low
    cell = preferences.topic.astype(np.int64) * n_assessors + preferences.assessor
    order = np.arange(len(preferences)) if preferences.order is None else preferences.order
    rows = np.lexsort((order, high, low, cell))
    low, high, cell, upward = low[rows], high[rows], cell[rows], upward[rows]
    new = np.ones(rows.size, bool)
    new[1:] = (np.diff(cell) != 0) | (np.diff(low) != 0) | (np.diff(high) != 0)
    pair = np.cumsum(new) - 1
    firsts = np.flatnonzero(new)
    n_pairs = firsts.size

    weight = np.ones(rows.size) if preferences.weight is None else preferences.weight[rows]
    strong = preferences.strength[rows] == 2
    half = halves_of_ties(pair, upward, weight)
    weights = [
        np.bincount(pair, np.where(~half & (upward == way), weight, 0.0), minlength=n_pairs) for way in (True, False)
    ]
    firm = [
        np.bincount(pair, np.where(~half & strong & (upward == way), weight, 0.0), minlength=n_pairs)
        for way in (True, False)
    ]
    up = [np.zeros(n_pairs, bool), np.zeros(n_pairs, bool)]  # whether the pair stands so, each way
    if contradictions == "majority":
        up = [weights[0] > weights[1], weights[1] > weights[0]]
    elif contradictions == "both":
        up = [weights[0] > 0, weights[1] > 0]
    else:
        last = np.full(n_pairs, -1, np.int64)
        last[pair[~half]] = np.flatnonzero(~half)
        up = [(last >= 0) & upward[last], (last >= 0) & ~upward[last]]

    n_rows_of = np.bincount(pair, minlength=n_pairs)
    at = np.concatenate([np.flatnonzero(way) for way in up])
    down = np.repeat([False, True], [int(way.sum()) for way in up])
    strength = np.where(np.where(down, 2 * firm[1][at] > weights[1][at], 2 * firm[0][at] > weights[0][at]), 2, 1)
    sort = np.argsort(at, kind="stable")
    at, down, strength = at[sort], down[sort], strength[sort]
    first, second, cells = low[firsts][at], high[firsts][at], cell[firsts][at]
    which, starts = np.unique(cells, return_index=True)
    tied = np.bincount(pair, half, minlength=n_pairs).astype(np.int64)
    return Decided(
        (cells // max(n_assessors, 1)).astype(np.int32),
        (cells % max(n_assessors, 1)).astype(np.int32),
        np.where(down, second, first),
        np.where(down, first, second),
        strength.astype(np.int64),
        which,
        np.append(starts, cells.size).astype(np.int64),
        int(np.maximum(n_rows_of - np.maximum(tied // 2, 0) - 1, 0).sum()),
        int(((weights[0] > 0) & (weights[1] > 0)).sum()),
        int(n_pairs - (up[0] | up[1]).sum()),
    )


def halves_of_ties(pair: Ints, upward: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows are one half of a tie: of weight .5, one each way of the same pair, the earliest ones first.

    pair : (rows,) number of the pair; upward : which way it was ordered.
    """
    is_half = np.zeros(pair.size, bool)
    rows = np.flatnonzero(weight == 0.5)
    if rows.size:
        ways = [np.bincount(pair[rows[upward[rows] == way]], minlength=int(pair.max()) + 1) for way in (True, False)]
        n_ties = np.minimum(*ways)
        for way in (True, False):
            here = rows[upward[rows] == way]
            here = here[np.argsort(pair[here], kind="stable")]
            place = np.arange(here.size) - np.searchsorted(pair[here], pair[here])
            is_half[here[place < n_ties[pair[here]]]] = True
    return is_half
