"""Few changes of judgments that reverse a difference by any measure, and proofs that no fewer can.

**Upper bounds are searched.** For each judgment the change with the largest effect per grade, scored alone, is taken.
The changes of a cell are applied in the order of these effects, and the cell is scored again after each. Those of all
cells are merged by the slopes of the least concave curves over what their cell has lost.

**Lower bounds, topic by topic.** A cell is a topic as one assessor judged it, and adds share x (score of the first
system minus that of the second) to the difference. Let F(k) be the most that k changes in a cell can take from what it
adds. Then k changes, however they are divided over the cells, take at most the sum of the k largest slopes of the least
concave curves over F.

For any measure, F(1) is the largest effect of a single change: all of them are scored. Two changes or more can take at
most what the cell adds, and share x (highest - lowest score that the measure can give).

For weighted sums of gains, a cell adds share x X / N: X the sum of weight x gain, N the normaliser, which is a sum over
levels v of (step of the gain at v) x (sum of the first n_v weights of the ideal ranking), n_v being the documents of
level v or higher. k changes take from X at most the k largest effects S(k), and move each n_v by at most k. So the cell
is left with at least (X - S(k)) / largest N if that is 0 or more, with (X - S(k)) / smallest N if not, and never with
less than -share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qrowd.influence.score_cells import Cells, Change, places
from qrowd.influence.weighted_sums import Steps, Trace, WeightedSums, first_beyond, normalisers
from qrowd.kernels.arrays import Floats, Ints

SMALLEST = 1e-9  # what a change takes, as a share of the largest
MOST = 64  # changes of a cell that bounds distinguish


@dataclass(frozen=True, eq=False)
class SingleChanges:
    """Changes of one judgment each; arrays are (changes,).

    item, assessor, cell : of the judgment. target : its level afterwards. cost : as how many changes it counts. moved :
    (systems, changes) what the score of the cell changes by.
    """

    item: Ints
    assessor: Ints
    cell: Ints
    target: Ints
    cost: Ints
    moved: Floats


def single_changes(cells: Cells, change: Change) -> SingleChanges:
    """All changes of a single judgment, each scored alone."""
    target = np.arange(cells.values.size)
    level = cells.level[:, :, None]
    allowed = (level >= 0) & (target != level)
    allowed &= (cells.lowest[:, :, None] <= target) & (target <= cells.highest[:, :, None])
    if change == "panel":
        allowed &= (level == target).any(axis=1, keepdims=True)
    assessor, item, target = np.nonzero(allowed.transpose(1, 0, 2))
    cost = np.abs(target - cells.level[item, assessor]) if change == "grade" else np.ones(item.size, np.int64)
    moved = cells.moved(item, assessor, target)
    return SingleChanges(item, assessor, cells.cell(item, assessor), target, cost, moved)


def search(
    cells: Cells, singles: SingleChanges, change: Change, pair: tuple[int, int], sign: float, taken: Floats
) -> Trace:
    """Changes that reduce sign x (first - second). taken : (single changes,) what each takes from it alone."""
    useful = np.flatnonzero(taken > 1e-15)
    by_grade = taken[useful] / singles.cost[useful]
    judgment = singles.item[useful] * cells.n_assessors + singles.assessor[useful]
    order = np.lexsort((-by_grade, judgment))
    best = order[np.diff(judgment[order], prepend=-1) > 0]
    rows = useful[best[np.lexsort((-by_grade[best], singles.cell[useful[best]]))]]
    n_steps = singles.cost[rows]
    step = np.arange(n_steps.sum()) - np.repeat(np.cumsum(n_steps) - n_steps, n_steps)
    rows = np.repeat(rows, n_steps)
    item, assessor, cell, after = singles.item[rows], singles.assessor[rows], singles.cell[rows], singles.target[rows]
    before = cells.level[item, assessor]
    if change == "grade":  # in steps of one grade
        direction = np.sign(after - before)
        before = before + direction * step
        after = before + direction
    two = cells.of_pair(*pair)
    first, second = (two.systems.index(cells.systems[system]) for system in pair)
    today = two.score[first] - two.score[second]
    scores = two.scores_after(item, assessor, after, cumulated=True)
    left = scores[first] - scores[second]
    previous = np.where(places(cell) == 0, today[cell], np.append(0.0, left[:-1])[: cell.size])
    lost = sign * cells.share[cell] * (previous - left)
    slopes = _concave_slopes(lost, cell)
    useful = np.flatnonzero(slopes > SMALLEST * np.abs(lost).max(initial=0.0))
    order = useful[np.argsort(-slopes[useful], kind="stable")]
    return Trace(item[order], assessor[order], cell[order], before[order], after[order], lost[order])


def least_by_cells(reductions: Floats, difference: float) -> float:
    """The least number of changes that the reductions allow; inf where even all of them are too few.

    reductions : (cells, changes + 1) F.
    """
    slopes = np.diff(np.maximum.accumulate(reductions, axis=1), axis=1)
    largest = float(slopes.max(initial=0.0))
    hulls = _concave_slopes(slopes.ravel(), np.repeat(np.arange(len(slopes)), slopes.shape[1]))
    sums = np.cumsum(-np.sort(-hulls))
    return first_beyond(sums + 1e-9 * (difference + largest), difference)


def _concave_slopes(steps: Floats, cell: Ints) -> Floats:
    """The slopes of the least concave curve over the steps of each cell. cell : (steps,) ascending."""
    from scipy.optimize import isotonic_regression

    if not steps.size:
        return steps
    apart = -4.0 * np.abs(steps).max() * np.cumsum(np.diff(cell, prepend=cell[0]) > 0)  # cells stay apart
    return np.asarray(isotonic_regression(steps + apart, increasing=False).x - apart)


def reductions_by_scoring(cells: Cells, singles: SingleChanges, taken: Floats, by_cell: Floats) -> Floats:
    """(cells, 3) F for any measure. taken : (single changes,) what each takes. by_cell : (cells,) what cells add."""
    one = np.zeros(by_cell.size)
    alone = singles.cost == 1
    np.maximum.at(one, singles.cell[alone], taken[alone])
    lowest, highest = cells.measure.bounds
    movable = np.bincount(singles.cell, minlength=by_cell.size) > 0
    most = np.where(movable, by_cell + cells.share * np.nan_to_num(highest - lowest), 0.0)
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
