"""Few changes of judgments that reverse a difference by any measure: every change scored alone, then applied in order.

For each judgment the change with the largest effect per grade, scored alone, is taken. The changes of a cell are
applied in the order of these effects, and the cell is scored again after each. Those of all cells are merged by the
slopes of the least concave curves over what their cell has lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qrowd.influence.cells import Cells, Change, places
from qrowd.influence.weighted_changes import Trace
from qrowd.kernels.arrays import Floats, Ints

SMALLEST = 1e-9  # what a change takes, as a share of the largest


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
    lost, place = np.empty(rows.size), places(cell)
    for a in np.unique(assessor).tolist():
        chosen = np.flatnonzero(assessor == a)
        levels = np.repeat(cells.level[:, [a]], int(place[chosen].max()) + 1, axis=1)
        for i, p, level in zip(item[chosen].tolist(), place[chosen].tolist(), after[chosen].tolist(), strict=True):
            levels[i, p:] = level
        scores = two.scores(np.full(levels.shape[1], a), levels)[:, cells.topic[item[chosen]], place[chosen]]
        left = scores[first] - scores[second]
        previous = np.where(place[chosen] == 0, today[cell[chosen]], np.append(0.0, left[:-1]))
        lost[chosen] = sign * cells.share[cell[chosen]] * (previous - left)
    order = _merged(cell, lost)
    return Trace(item[order], assessor[order], cell[order], before[order], after[order], lost[order])


def _merged(cell: Ints, lost: Floats) -> Ints:
    """The changes of all cells by the slopes of the least concave curve over what each cell has lost; useless ones go.

    cell : (changes,) ascending.
    """
    from scipy.optimize import isotonic_regression

    if not lost.size:
        return np.empty(0, np.int64)
    largest = float(np.abs(lost).max())
    apart = -4.0 * largest * np.cumsum(np.diff(cell, prepend=cell[0]) > 0)  # cells stay apart
    slopes = isotonic_regression(lost + apart, increasing=False).x - apart
    useful = np.flatnonzero(slopes > SMALLEST * largest)
    return np.asarray(useful[np.argsort(-slopes[useful], kind="stable")])
