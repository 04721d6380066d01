"""No fewer changes of judgments can reverse a difference: plain bounds, topic by topic.

A cell is a topic as one assessor judged it, and adds share x (score of the first system minus that of the second) to
the difference. Let F(k) be the most that k changes in a cell can take from what it adds. Then k changes, however they
are divided over the cells, take at most the sum of the k largest slopes of the least concave curves over F.

**Any measure.** F(1) is the largest effect of a single change: all of them are scored. Two changes or more can take at
most what the cell adds, and share x (highest - lowest score that the measure can give).

**Weighted sums of gains.** A cell adds share x X / N: X the sum of weight x gain, N the normaliser, which is a sum over
levels v of (step of the gain at v) x (sum of the first n_v weights of the ideal ranking), n_v being the documents of
level v or higher. k changes take from X at most the k largest effects S(k), and move each n_v by at most k. So the cell
is left with at least (X - S(k)) / largest N if that is 0 or more, with (X - S(k)) / smallest N if not, and never with
less than -share.
"""

from __future__ import annotations

import numpy as np

from qrowd.influence.cells import Cells, Change, places
from qrowd.influence.changes_search import SingleChanges
from qrowd.influence.weighted_changes import Steps, first_beyond
from qrowd.influence.weighted_sums import WeightedSums, normalisers
from qrowd.kernels.arrays import Floats

MOST = 64  # changes of a cell that are told one from another


def least_by_cells(reductions: Floats, difference: float) -> float:
    """The least number of changes that the reductions allow; inf where even all of them are too few.

    reductions : (cells, changes + 1) F.
    """
    from scipy.optimize import isotonic_regression

    slopes = np.diff(np.maximum.accumulate(reductions, axis=1), axis=1)
    largest = max(float(slopes.max(initial=0.0)), 1e-300)
    apart = -4.0 * largest * np.arange(len(slopes))[:, None]  # cells stay apart
    hulls = isotonic_regression((slopes + apart).ravel(), increasing=False).x.reshape(slopes.shape) - apart
    sums = np.cumsum(-np.sort(-hulls.ravel()))
    return first_beyond(sums + 1e-9 * (difference + largest), difference)


def reductions_by_scoring(cells: Cells, singles: SingleChanges, taken: Floats, by_cell: Floats) -> Floats:
    """(cells, 3) F for any measure. taken : (single changes,) what each takes. by_cell : (cells,) what cells add."""
    one = np.zeros(by_cell.size)
    alone = singles.cost == 1
    np.maximum.at(one, singles.cell[alone], taken[alone])
    lowest, highest = cells.measure.bounds
    movable = np.bincount(singles.cell, minlength=by_cell.size) > 0
    most = np.where(movable, by_cell + cells.share * (highest - lowest), 0.0)
    most = np.minimum(most, 2 * np.abs(by_cell).sum() + 1)  # of measures without a highest score
    return np.stack([np.zeros(one.size), np.minimum(one, most), most], axis=1)


def normaliser_limits(sums: WeightedSums, change: Change) -> tuple[Floats, Floats]:
    """(cells, changes + 1) the smallest and the largest normaliser after so many changes of a cell."""
    assert sums.ideal is not None
    gains = np.tile(sums.cells.gains, (len(sums.cells.topics), 1))[:, None, :]
    k = np.arange(MOST + 1)[None, :, None]
    fewest = np.maximum(sums.counts[:, None, :] - k, sums.least[:, None, :])
    most = np.minimum(sums.counts[:, None, :] + k, sums.most[:, None, :])
    smallest, largest = (normalisers(sums.ideal, gains, counts) for counts in (fewest, most))
    if change == "grade":  # moves one level alone, the first time the most
        added = np.diff(gains, axis=2, prepend=0.0) * np.diff(sums.ideal[most[:, :2]], axis=1)
        today = sums.normaliser[:, None]
        largest = np.minimum(largest, today + added.max(axis=2) * np.arange(MOST + 1))
    return smallest, largest


def reductions_of_sums(sums: WeightedSums, limits: tuple[Floats, Floats], steps: Steps, by_cell: Floats) -> Floats:
    """(cells, changes + 2) F for weighted sums; the last: all that a cell adds, and its share."""
    taken = np.zeros((by_cell.size, MOST + 1))
    place = places(steps.cell)
    inside = place < MOST
    taken[steps.cell[inside], place[inside] + 1] = steps.bound[inside]
    rest = by_cell[:, None] - np.cumsum(taken, axis=1)
    smallest, largest = limits
    today, share = sums.normaliser[:, None], sums.cells.share[:, None]
    reduced = np.where(rest >= 0, largest, smallest)
    left = np.maximum(rest * today / np.where(reduced > 0, reduced, 1e-300), -share)
    left = np.where((today <= 0) & (largest > 0), -share, left)
    left[:, 0] = by_cell
    return np.concatenate([by_cell[:, None] - left, by_cell[:, None] + share], axis=1)
