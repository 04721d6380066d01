"""Changes applied one after the other, with the score of every topic computed again after each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qrowd.influence.cells import Cells
from qrowd.influence.steps import Ordered
from qrowd.kernels.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Rescored:
    """A difference after each change, with the normaliser as the changes leave it; arrays are (changes,).

    difference : sign x (first - second). squares : sum over topics of squared differences.
    """

    difference: Floats
    squares: Floats


def rescored(cells: Cells, ordered: Ordered, by_cell: Floats, n: int) -> Rescored:
    """The first n changes of a pair, applied in order.

    by_cell : (cells,) today's sign x (first - second) of each cell, with its share.
    """
    n_assessors = cells.n_assessors
    steps = cell_steps(cells, ordered, by_cell, n)
    topic = ordered.cell[:n] // n_assessors
    by_topic = by_cell.reshape(-1, n_assessors).sum(axis=1)  # the mean over assessors, whose shares are in the values
    order = np.argsort(topic, kind="stable")
    sorted_topic = topic[order]
    heads = np.append(True, sorted_topic[1:] != sorted_topic[:-1])
    starts = np.flatnonzero(heads)
    after = by_topic[sorted_topic] + _within(steps[order], starts, np.diff(np.append(starts, n)))
    earlier = np.where(heads, by_topic[sorted_topic], np.append(0.0, after[:-1]))
    squares = np.empty(n)
    squares[order] = after**2 - earlier**2
    return Rescored(by_cell.sum() + np.cumsum(steps), (by_topic**2).sum() + np.cumsum(squares))


def cell_steps(cells: Cells, ordered: Ordered, by_cell: Floats, n: int) -> Floats:
    """(n,) what each of the first n changes, applied in order, adds to the difference, with the normaliser moving.

    A change from one level to another is made in steps of one level, each of which moves one count of documents; the
    normaliser is the sum over levels of (step of the gain) x (first n_v weights of the ideal ranking).
    """
    assessor, cell, target = ordered.assessor[:n], ordered.cell[:n], ordered.target[:n]
    by = np.argsort(cell, kind="stable")
    of = cell[by]
    heads = np.append(True, of[1:] != of[:-1])
    starts = np.flatnonzero(heads)
    lengths = np.diff(np.append(starts, of.size))
    numerator = by_cell[of] * cells.normaliser[of] - _within(ordered.part[:n][by] * cells.share[of], starts, lengths)
    if cells.ideal is not None:
        moved = _normaliser_changes(cells, cell, assessor, ordered.source(cells)[:n], target)
        now = cells.normaliser[of] + _within(moved[by], starts, lengths)
        value = np.where(now > 1e-9, numerator / np.where(now > 1e-9, now, 1.0), 0.0)
    else:
        value = numerator / cells.normaliser[of]
    before = np.where(heads, by_cell[of], np.append(0.0, value[:-1]))
    steps = np.empty(n)
    steps[by] = value - before
    return steps


def by_moving_effect(cells: Cells, ordered: Ordered, by_cell: Floats) -> Ordered:
    """The steps in an order that counts what they do to the normaliser; those that only increase the difference go.

    Within a cell, by what each step would take by itself. The cells are then scored again after each of their steps,
    and the steps of all cells are merged by the slopes of the least concave curves over what their cell has lost.
    """
    from scipy.optimize import isotonic_regression

    if not len(ordered) or cells.ideal is None:
        return ordered
    score = _alone(cells, ordered, by_cell)
    judgment, row = np.unique(ordered.place // ordered.n_per, return_inverse=True)
    table = np.full((judgment.size, ordered.n_per), np.inf)
    table[row, ordered.place % ordered.n_per] = score
    score = np.minimum.accumulate(table, axis=1)[row, ordered.place % ordered.n_per]  # steps stay in their order
    within = ordered.taken(np.lexsort((ordered.place, -score, ordered.cell)))
    lost = -cell_steps(cells, within, by_cell, len(within))
    number = np.cumsum(np.append(0, np.diff(within.cell) != 0))
    apart = -4.0 * float(np.abs(lost).max()) * number  # cells stay apart
    slopes = isotonic_regression(lost + apart, increasing=False).x - apart
    useful = np.flatnonzero(slopes > 1e-9 * float(np.abs(lost).max()))
    return within.taken(useful[np.argsort(-slopes[useful], kind="stable")])


def _alone(cells: Cells, ordered: Ordered, by_cell: Floats) -> Floats:
    """(steps,) what each step by itself would take from the difference today."""
    assert cells.ideal is not None
    gains = np.tile(np.diff(cells.gains, axis=1, prepend=0.0), (len(cells.topics), 1))
    now = cells.ideal[cells.counts]
    more = cells.ideal[np.minimum(cells.counts + 1, cells.ideal.size - 1)]
    fewer = cells.ideal[np.maximum(cells.counts - 1, 0)]
    up, down = (np.cumsum(gains * (then - now), axis=1) for then in (more, fewer))
    cell, source, target = ordered.cell, ordered.source(cells), ordered.target
    moved = np.where(target > source, up[cell, target] - up[cell, source], down[cell, source] - down[cell, target])
    then = cells.normaliser[cell] + moved
    taken = cells.share[cell] * ordered.part + by_cell[cell] * moved
    return np.where(then > 1e-9, taken / np.where(then > 1e-9, then, 1.0), by_cell[cell])


def _within(values: Floats, starts: Ints, lengths: Ints) -> Floats:
    """Cumulated sums that start anew in each group."""
    sums = np.cumsum(values)
    return sums - np.repeat(sums[starts] - values[starts], lengths)


def _normaliser_changes(cells: Cells, cell: Ints, assessor: Ints, source: Ints, target: Ints) -> Floats:
    """(changes,) what each adds to the normaliser of its cell, one after the other."""
    assert cells.ideal is not None
    sizes = np.abs(target - source)
    change = np.repeat(np.arange(sizes.size), sizes)
    inside = np.arange(change.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    up = (target > source)[change]
    threshold = np.where(up, source[change] + 1 + inside, source[change] - inside)
    n_levels = cells.values.size
    key = cell[change] * n_levels + threshold
    by = np.argsort(key, kind="stable")
    of = key[by]
    starts = np.flatnonzero(np.append(True, of[1:] != of[:-1])) if of.size else np.empty(0, np.int64)
    lengths = np.diff(np.append(starts, of.size))
    direction = np.where(up[by], 1, -1)
    moved = _within(direction.astype(np.float64), starts, lengths).astype(np.int64)
    after = cells.counts.ravel()[of] + moved
    gains = np.diff(cells.gains, axis=1, prepend=0.0)[assessor[change[by]], threshold[by]]
    added = gains * (cells.ideal[after] - cells.ideal[after - direction])
    return np.asarray(np.bincount(change[by], added, sizes.size))
