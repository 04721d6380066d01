"""How many changes reverse a difference by a measure that is no weighted sum of gains, such as AP, RR or ERR.

**Upper bound: a demonstration.** For each judgment the change with the largest effect per grade, scored alone, is
taken. The changes of a topic are applied in the order of these effects, and scored again after each. Those of all
topics are merged by the slopes of the least concave curves over what their topic has lost. Then every change is scored
once more beside the changes that reverse the difference, put into a new order by that, and applied again, as long as
this takes fewer changes.

**Lower bound.** A cell is a topic as one assessor judged it; D is the sum over cells of share x (score of the first
system minus that of the second), in the direction of its sign.

1. One change in a cell takes at most F(1), the largest effect of any single change: all of them are scored.
2. However many there are, a cell is left with at least share x (lowest - highest score that the measure can give), so
   that k changes take at most F(k) = share x (its difference + highest - lowest). For AP less can be proved: see
   `qrowd.influence.average_precision`.
3. To reverse the sign the changes must take more than D. For any price p > 0, k changes, however they are divided over
   the cells, take at most p k + sum over cells of max_j (F(j) - p j). So k > (D - sum of max) / p; the largest of these
   bounds is taken, as in `qrowd.influence.normaliser_bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qrowd.influence.average_precision import reductions_of_ap
from qrowd.influence.cells import ROUNDING, Change
from qrowd.influence.normaliser_bounds import least_by_prices
from qrowd.influence.rescored import Groups
from qrowd.influence.scored import ScoredCells, places
from qrowd.kernels.arrays import Floats, Ints

MOST = 64  # changes of a cell that are told one from another
ROUNDS = 4  # of new orders


@dataclass(frozen=True, eq=False)
class SingleChanges:
    """Changes of one judgment each; arrays are (changes,).

    item, assessor : of the judgment. target : its level afterwards. cost : as how many changes it counts. cell : number
    of the cell. moved : (systems, changes) what the score of the cell changes by.
    """

    item: Ints
    assessor: Ints
    target: Ints
    cost: Ints
    cell: Ints
    moved: Floats


def single_changes(cells: ScoredCells, change: Change) -> SingleChanges:
    """All changes of a single judgment, each scored alone."""
    parts = []
    for a in range(cells.n_assessors):
        level = cells.level[:, a, None]
        target = np.arange(cells.values.size)
        allowed = (level >= 0) & (target != level)
        allowed &= (cells.lowest[:, a, None] <= target) & (target <= cells.highest[:, a, None])
        if change == "panel":
            allowed &= (cells.level[:, :, None] == target).any(axis=1)
        item, target = np.nonzero(allowed)
        cost = np.abs(target - level[item, 0]) if change == "grade" else np.ones(item.size, np.int64)
        moved = cells.moved(a, item, target)
        parts.append((item, np.full(item.size, a), target, cost, cells.cell(item, a), moved.T))
    item, assessor, target, cost, cell, moved = (np.concatenate(column) for column in zip(*parts, strict=True))
    return SingleChanges(item, assessor, target, cost, cell, moved.T)


@dataclass(frozen=True, eq=False)
class Demonstration:
    """Changes of a pair, one after the other, with scores computed again; arrays are (changes,).

    sign, difference : first minus second is sign x difference, which is 0 or more. squares : sum over topics of squared
    differences. low : no fewer changes can reverse the sign. item, assessor, before, after : of which judgment, and its
    levels. differences, squares_after : after each change.
    """

    sign: float
    difference: float
    squares: float
    low: float
    item: Ints
    assessor: Ints
    before: Ints
    after: Ints
    differences: Floats
    squares_after: Floats


def demonstration(cells: ScoredCells, singles: SingleChanges, change: Change, first: int, second: int) -> Demonstration:
    """The changes that reduce the difference of two systems, and bounds of how many are needed."""
    by_cell = (cells.score[first] - cells.score[second]) * cells.share
    sign = -1.0 if by_cell.sum() < 0 else 1.0
    by_cell = sign * by_cell
    taken = -sign * (singles.moved[first] - singles.moved[second]) * cells.share[singles.cell]
    names, cells = (cells.systems[first], cells.systems[second]), cells.of_pair(first, second)
    pair = cells.systems.index(names[0]), cells.systems.index(names[1])
    trace = _shortest(cells, singles, taken, change, pair, sign, float(by_cell.sum()))
    item, assessor, before, after, lost = trace
    topic = cells.topic[item]
    by_topic = by_cell.reshape(-1, cells.n_assessors).sum(axis=1)
    groups = Groups.of(topic)
    today = by_topic[topic[groups.by]]
    left = today - groups.sums(lost[groups.by])
    squares = np.empty(item.size)
    squares[groups.by] = left**2 - groups.before(left, today) ** 2
    difference, squares_today = float(by_cell.sum()), float((by_topic**2).sum())
    return Demonstration(
        sign,
        difference,
        squares_today,
        _low(cells, singles, taken, change, pair, by_cell, sign),
        item,
        assessor,
        before,
        after,
        difference - np.cumsum(lost),
        squares_today + np.cumsum(squares),
    )


def _low(
    cells: ScoredCells,
    singles: SingleChanges,
    taken: Floats,
    change: Change,
    pair: tuple[int, int],
    by_cell: Floats,
    sign: float,
) -> float:
    """No fewer changes can reverse the difference."""
    difference = float(by_cell.sum())
    if difference <= 0:
        return np.nan
    one = np.zeros(by_cell.size)
    alone = singles.cost == 1
    np.maximum.at(one, singles.cell[alone], taken[alone])
    movable = np.bincount(singles.cell, minlength=by_cell.size) > 0
    lowest, highest = cells.measure.bounds
    most = np.where(movable, by_cell + cells.share * (highest - lowest), 0.0)
    most = np.minimum(most, 2 * difference + np.abs(by_cell).sum() + 1)  # of measures without a highest score
    reductions = np.stack([np.zeros(one.size), np.minimum(one, most), most], axis=1)
    of_ap = reductions_of_ap(cells, change, pair, sign, MOST)
    if of_ap is not None:
        of_ap = np.minimum(of_ap, most[:, None])
        of_ap[:, 1] = np.minimum(of_ap[:, 1], one)
        reductions = np.concatenate([of_ap, most[:, None]], axis=1)
    return float(least_by_prices(reductions[None], np.array([difference]))[0])


Trace = tuple[Ints, Ints, Ints, Ints, Floats]  # items, assessors, levels before and after, what each change takes


def _shortest(
    cells: ScoredCells,
    singles: SingleChanges,
    taken: Floats,
    change: Change,
    pair: tuple[int, int],
    sign: float,
    difference: float,
) -> Trace:
    """The changes in the order in which the fewest reverse the difference, of the orders that are tried."""
    best = _merged(cells, singles, taken, change, pair, sign)
    n_best = _n_to_reverse(best, difference)
    for share in (0.5, *[0.75] * (ROUNDS - 1)):
        beside = _beside(cells, singles, best, int(min(n_best, best[0].size)), pair, sign)
        trace = _merged(cells, singles, (1 - share) * taken + share * beside, change, pair, sign)
        n = _n_to_reverse(trace, difference)
        if n >= n_best:
            break
        best, n_best = trace, n
    return best


def _n_to_reverse(trace: Trace, difference: float) -> float:
    enough = difference - np.cumsum(trace[4]) < -ROUNDING
    return float(np.argmax(enough)) + 1 if enough.any() else np.inf


def _beside(
    cells: ScoredCells, singles: SingleChanges, trace: Trace, n: int, pair: tuple[int, int], sign: float
) -> Floats:
    """(changes,) what each single change takes from the difference beside the first n changes of a trace.

    Of a change that is among them, what undoing it would give back.
    """
    item, assessor, _, after, _ = trace
    level = cells.level.copy()
    level[item[:n], assessor[:n]] = after[:n]  # the last of several steps counts
    taken = np.empty(singles.item.size)
    for a in range(cells.n_assessors):
        own = np.flatnonzero(singles.assessor == a)
        items, target, topic = singles.item[own], singles.target[own], cells.topic[singles.item[own]]
        made = level[items, a] == target
        place = places(topic)
        levels = np.repeat(level[:, [a]], int(place.max(initial=-1)) + 2, axis=1)  # the last column is without another
        levels[items, place] = np.where(made, cells.level[items, a], target)
        scores = cells.scores(a, levels)
        differences = sign * (scores[pair[0]] - scores[pair[1]])
        effect = differences[topic, -1] - differences[topic, place]
        taken[own] = np.where(made, -effect, effect) * cells.share[singles.cell[own]]
    return taken


def _merged(
    cells: ScoredCells,
    singles: SingleChanges,
    taken: Floats,
    change: Change,
    pair: tuple[int, int],
    sign: float,
) -> Trace:
    """The changes by what each is said to take, and what it takes when they are applied in order."""
    from scipy.optimize import isotonic_regression

    useful = np.flatnonzero(taken > 1e-15)
    score = taken[useful] / singles.cost[useful]
    key = singles.item[useful] * cells.n_assessors + singles.assessor[useful]
    by = np.lexsort((-score, key))
    best = by[np.diff(key[by], prepend=-1) > 0]
    rows, score = useful[best], score[best]
    rows = rows[np.lexsort((-score, singles.cell[rows]))]
    n_steps = singles.cost[rows] if change == "grade" else np.ones(rows.size, np.int64)
    rows = np.repeat(rows, n_steps)
    item, assessor, after = singles.item[rows], singles.assessor[rows], singles.target[rows].copy()
    before = cells.level[item, assessor]
    if change == "grade":  # in steps of one grade
        inside = np.arange(rows.size) - np.repeat(np.cumsum(n_steps) - n_steps, n_steps)
        direction = np.sign(after - before)
        before = before + direction * inside
        after = before + direction
    place = places(singles.cell[rows])
    lost = np.empty(rows.size)
    for a in np.unique(assessor):
        own = np.flatnonzero(assessor == a)
        levels = np.repeat(cells.level[:, [a]], int(place[own].max()) + 1, axis=1)
        for i, p, level in zip(item[own].tolist(), place[own].tolist(), after[own].tolist(), strict=True):
            levels[i, p:] = level
        scores = cells.scores(int(a), levels)
        cell = singles.cell[rows[own]]
        factor = sign * cells.share[cell]
        left = (scores[pair[0]] - scores[pair[1]])[cells.topic[item[own]], place[own]] * factor
        today = (cells.score[pair[0]] - cells.score[pair[1]])[cell] * factor
        lost[own] = np.where(place[own] > 0, np.append(0.0, left[:-1]), today) - left
    if not rows.size:
        return item, assessor, before, after, lost
    number = Groups.of(singles.cell[rows]).number
    apart = -4.0 * max(float(np.abs(lost).max()), 1e-300) * number  # cells stay apart
    slopes = isotonic_regression(lost + apart, increasing=False).x - apart
    kept = np.flatnonzero(slopes > 1e-9 * float(np.abs(lost).max()))
    order = kept[np.argsort(-slopes[kept], kind="stable")]
    return item[order], assessor[order], before[order], after[order], lost[order]
