"""Changes applied one after the other, with the score of every topic computed again after each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    groups = Groups.of(topic)
    today = by_topic[topic[groups.by]]
    after = today + groups.sums(steps[groups.by])
    squares = np.empty(n)
    squares[groups.by] = after**2 - groups.before(after, today) ** 2
    return Rescored(by_cell.sum() + np.cumsum(steps), (by_topic**2).sum() + np.cumsum(squares))


def cell_steps(cells: Cells, ordered: Ordered, by_cell: Floats, n: int) -> Floats:
    """(n,) what each of the first n changes, applied in order, adds to the difference, with the normaliser moving.

    A change from one level to another is made in steps of one level, each of which moves one count of documents; the
    normaliser is the sum over levels of (step of the gain) x (first n_v weights of the ideal ranking).
    """
    assessor, cell, target = ordered.assessor[:n], ordered.cell[:n], ordered.target[:n]
    groups = Groups.of(cell)
    of = cell[groups.by]
    today, normaliser = by_cell[of], cells.normaliser[of]
    numerator = today * normaliser - groups.sums(ordered.part[:n][groups.by] * cells.share[of])
    if cells.ideal is not None:
        moved = _normaliser_changes(cells, cell, assessor, ordered.source(cells)[:n], target)
        now = normaliser + groups.sums(moved[groups.by])
        value = np.where(now > 1e-9, numerator / np.where(now > 1e-9, now, 1.0), 0.0)
    else:
        value = numerator / normaliser
    steps = np.empty(n)
    steps[groups.by] = value - groups.before(value, today)
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
    number = Groups.of(within.cell).number
    apart = -4.0 * float(np.abs(lost).max()) * number  # cells stay apart
    slopes = isotonic_regression(lost + apart, increasing=False).x - apart
    useful = np.flatnonzero(slopes > 1e-9 * float(np.abs(lost).max()))
    return within.taken(useful[np.argsort(-slopes[useful], kind="stable")])


def _alone(cells: Cells, ordered: Ordered, by_cell: Floats) -> Floats:
    """(steps,) what each step by itself would take from the difference today."""
    assert cells.ideal is not None
    gains = np.tile(cells.gain_steps, (len(cells.topics), 1))
    now = cells.ideal[cells.counts]
    more = cells.ideal[np.minimum(cells.counts + 1, cells.ideal.size - 1)]
    fewer = cells.ideal[np.maximum(cells.counts - 1, 0)]
    up, down = (np.cumsum(gains * (then - now), axis=1) for then in (more, fewer))
    cell, source, target = ordered.cell, ordered.source(cells), ordered.target
    moved = np.where(target > source, up[cell, target] - up[cell, source], down[cell, source] - down[cell, target])
    then = cells.normaliser[cell] + moved
    taken = cells.share[cell] * ordered.part + by_cell[cell] * moved
    return np.where(then > 1e-9, taken / np.where(then > 1e-9, then, 1.0), by_cell[cell])


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows by a key, each group in the order in which its rows came.

    by : (rows,) the rows in this order. heads : (rows,) whether each of these is the first of its group. number :
    (rows,) of the group, from 0. starts : (groups,).
    """

    by: NDArray[np.intp]
    heads: NDArray[np.bool_]
    number: Ints
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, key: Ints) -> Groups:
        by = key.argsort(kind="stable")
        ordered = key[by]
        heads = np.ones(key.size, bool)
        np.not_equal(ordered[1:], ordered[:-1], out=heads[1:])
        return cls(by, heads, heads.cumsum() - 1, heads.nonzero()[0])

    def sums(self, values: Floats) -> Floats:
        """Cumulated sums, in this order, that start anew in each group."""
        sums = values.cumsum()
        return np.asarray(sums - (sums[self.starts] - values[self.starts])[self.number])

    def before(self, values: Floats, first: Floats) -> Floats:
        """The value of the row before, and `first` where a group begins."""
        earlier = np.empty_like(values)
        earlier[1:] = values[:-1]
        return np.where(self.heads, first, earlier)


def _normaliser_changes(cells: Cells, cell: Ints, assessor: Ints, source: Ints, target: Ints) -> Floats:
    """(changes,) what each adds to the normaliser of its cell, one after the other."""
    assert cells.ideal is not None
    sizes = np.abs(target - source)
    change = np.repeat(np.arange(sizes.size), sizes)
    inside = np.arange(change.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    up = (target > source)[change]
    threshold = np.where(up, source[change] + 1 + inside, source[change] - inside)
    n_levels = cells.values.size
    groups = Groups.of(cell[change] * n_levels + threshold)
    by = groups.by
    direction = np.where(up[by], 1, -1)
    moved = groups.sums(direction.astype(np.float64)).astype(np.int64)
    of, threshold = change[by], threshold[by]
    after = cells.counts[cell[of], threshold] + moved
    added = cells.gain_steps[assessor[of], threshold] * (cells.ideal[after] - cells.ideal[after - direction])
    return np.asarray(np.bincount(of, added, sizes.size))
