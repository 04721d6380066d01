"""What single changes of judgments do to the difference of two systems, in the order of their effect."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qrowd.influence.cells import Cells, Change
from qrowd.kernels.arrays import Floats, Ints

DOWN, UP = 0, 1


@dataclass(frozen=True, eq=False)
class Steps:
    """The changes that each judgment allows, downwards and upwards.

    gain : (2, items, assessors, steps) what each further step takes from the gain, or adds to it. slope : the same on
    the least concave curve over the gains so far, which never rises from a step to the next; 0 where there is no step.
    target : (2, items, assessors, steps) level after the step; -1 where there is none.
    """

    cells: Cells
    change: Change
    gain: Floats
    slope: Floats
    target: Ints

    @cached_property
    def cell(self) -> Ints:
        """(items, assessors) number of the cell of each judgment."""
        a = self.cells.n_assessors
        return np.asarray(self.cells.topic[:, None] * a + np.arange(a))

    @cached_property
    def _by_direction(self) -> tuple[Floats, Floats, Ints]:
        """Slopes in units of the difference, gains and targets as (2 x items, assessors x steps)."""
        rows = 2 * self.cells.topic.size
        slopes = self.slope * self.cells.scale[self.cell][..., None]
        return slopes.reshape(rows, -1), self.gain.reshape(rows, -1), self.target.reshape(rows, -1)

    @cached_property
    def _movable(self) -> NDArray[np.bool_]:
        """(2 x items,) whether any judgment of the document can take a step that matters."""
        return np.asarray((self._by_direction[0] > 0).any(axis=1))

    def ordered(self, first: int, second: int, sign: float, n: int | None = None) -> Ordered:
        """The steps that reduce sign x (first - second), the largest effect first; all, or some more than n of them."""
        slopes, gains, targets = self._by_direction
        weight = sign * (self.cells.weight[first] - self.cells.weight[second])
        items = np.flatnonzero(weight)
        weight = weight[items]
        row = np.where(weight < 0, items + self.cells.topic.size, items)
        movable = np.flatnonzero(self._movable[row])
        items, row, size = items[movable], row[movable], np.abs(weight[movable])
        flat = (slopes[row] * size[:, None]).ravel()
        limit = 0.0
        if n is not None and n < flat.size:
            limit = max(float(np.partition(flat, flat.size - n - 1)[flat.size - n - 1]), 0.0)
        places = np.flatnonzero(flat >= limit if limit > 0 else flat > 0)
        places = places[np.argsort(-flat[places], kind="stable")]
        n_steps = self.slope.shape[3]
        n_columns = slopes.shape[1]
        place, column = places // n_columns, places % n_columns
        gain = gains[row[place], column]
        item, assessor = items[place], column // n_steps
        cell = self.cells.topic[item] * self.cells.n_assessors + assessor
        part = gain * size[place]
        return Ordered(
            item,
            assessor,
            cell,
            targets[row[place], column],
            flat[places],
            part * self.cells.scale[cell],
            part,
            places,
            n_steps,
            limit,
        )


@dataclass(frozen=True, eq=False)
class Ordered:
    """Steps of a pair, the largest effect first; arrays are (steps,).

    item, assessor, cell, target : which judgment, and its level afterwards. bound : effect on the difference on the
    concave curve. effect : the effect itself, with today's normaliser. part : the same before the normaliser. place :
    number of the step among all of the pair, `n_per` of each judgment. rest : no step that was left out has a larger
    bound; 0 where there are none.
    """

    item: Ints
    assessor: Ints
    cell: Ints
    target: Ints
    bound: Floats
    effect: Floats
    part: Floats
    place: Ints
    n_per: int
    rest: float

    def __len__(self) -> int:
        return self.item.size

    def source(self, cells: Cells) -> Ints:
        """(steps,) level before each step: today's, or that of the step before of the same judgment."""
        today = cells.level[self.item, self.assessor]
        return np.where(self.place % self.n_per == 0, today, self.target + np.where(self.target < today, 1, -1))

    def taken(self, order: NDArray[np.integer]) -> Ordered:
        """These steps, in this order."""
        arrays = {one.name: getattr(self, one.name)[order] for one in fields(self) if one.name not in ("n_per", "rest")}
        return replace(self, **arrays)

    def curves(self) -> Floats:
        """(judgments, steps + 1) effect of the first steps of each judgment; -inf where it has no more steps."""
        judgment, row = np.unique(self.place // self.n_per, return_inverse=True)
        increments = np.full((judgment.size, self.n_per), -np.inf)
        increments[row, self.place % self.n_per] = self.effect
        return np.concatenate([np.zeros((judgment.size, 1)), np.cumsum(increments, axis=1)], axis=1)


def steps_of(cells: Cells, change: Change) -> Steps:
    """All changes of one kind: by one grade each, or to the lowest or highest value that is allowed, in one step."""
    level, judged = cells.level, cells.level >= 0
    assessor = np.arange(cells.n_assessors)
    most = 1 if change != "grade" else max(int((cells.highest - cells.lowest).max(initial=0)), 1)
    shape = (2, *level.shape, most)
    gain, slope, target = np.zeros(shape), np.zeros(shape), np.full(shape, -1, np.int64)
    if change != "grade":
        for direction, sign in ((DOWN, -1.0), (UP, 1.0)):
            best = _extreme(cells, sign)
            gain[direction, ..., 0] = np.where(
                judged, sign * (cells.gains[assessor, best] - cells.gains[assessor, np.maximum(level, 0)]), 0.0
            )
            target[direction, ..., 0] = np.where(gain[direction, ..., 0] > 0, best, -1)
        return Steps(cells, change, gain, gain, target)
    for a in range(cells.n_assessors):
        for direction, sign, ends in ((DOWN, -1, cells.lowest), (UP, 1, cells.highest)):
            for at, end in np.unique(np.stack([level[:, a], ends[:, a]], axis=1)[judged[:, a]], axis=0).tolist():
                path = np.arange(at, end + sign, sign)
                increments = sign * np.diff(cells.gains[a, path])
                rows = np.flatnonzero((level[:, a] == at) & (ends[:, a] == end))
                gain[direction, rows, a, : increments.size] = increments
                slope[direction, rows, a, : increments.size] = concave_slopes(increments)
                target[direction, rows, a, : increments.size] = path[1:]
    return Steps(cells, change, gain, slope, target)


def _extreme(cells: Cells, sign: float) -> Ints:
    """(items, assessors) the allowed level with the lowest gain (sign -1) or the highest (1)."""
    best = np.maximum(cells.lowest, 0)
    for v in range(cells.values.size):
        allowed = (cells.lowest <= v) & (v <= cells.highest)
        better = sign * cells.gains[:, v] > sign * cells.gains[np.arange(cells.n_assessors), best]
        best = np.where(allowed & better, v, best)
    return best


def concave_slopes(increments: Floats) -> Floats:
    """Slopes, step by step, of the least concave curve over the sums of the increments that does not fall.

    >>> concave_slopes(np.array([1.0, 2.0, 4.0, 0.0])).tolist()
    [2.3333333333333335, 2.3333333333333335, 2.3333333333333335, 0.0]
    """
    sums = np.append(0.0, np.cumsum(increments))
    slopes = np.zeros(increments.size)
    at = 0
    while at < increments.size:
        means = (sums[at + 1 :] - sums[at]) / np.arange(1, sums.size - at)
        step = int(np.flatnonzero(means == means.max())[-1]) + 1
        if means.max() <= 0:
            break
        slopes[at : at + step] = means.max()
        at += step
    return slopes


def least_fixed(ordered: Ordered, difference: float) -> float:
    """The least number of steps that together take more than the difference, with today's normaliser; inf if none.

    nan where steps that were left out are needed.

    By the concave curves no fewer steps than `low` can do it, and the first `high` steps in order do it. They differ
    only where a step of little effect opens the way to one of much; then `least_steps` decides.
    """
    none = np.nan if ordered.rest > 0 else np.inf
    if not len(ordered):
        return none
    limit = beyond(difference, float(ordered.bound[0]))
    low = int(np.searchsorted(np.cumsum(ordered.bound), limit, side="right")) + 1
    above = np.cumsum(ordered.effect) > limit
    high = int(np.argmax(above)) + 1 if above.any() else len(ordered) + 1
    if low < high and low <= len(ordered) and ordered.rest <= 0:
        high = least_steps(ordered, low, high, limit)
    elif low < high:
        return none
    return none if high > len(ordered) else high


def beyond(difference: float, largest: float) -> float:
    """What the effects must exceed: the difference, and what rounding could add to it."""
    return difference + 1e-11 * (difference + largest)


def least_steps(ordered: Ordered, low: int, high: int, limit: float) -> int:
    """The least number of steps, from low to high, whose effects exceed the limit: a small dynamic programme.

    Each judgment has a curve, the effect of its first s steps. For a price p per step let loss(s) be how much less
    effect - p s is than its maximum over s. With at most high - 1 steps the effects are at most p (high - 1) + the
    sum of the maxima - the losses, so the losses of a solution sum to at most `slack`. Only judgments with another
    choice of a loss that small matter; of them the programme keeps the least loss for each number of steps.
    """
    curves = ordered.curves()
    price = float(ordered.bound[min(low, len(ordered)) - 1])
    values = curves - price * np.arange(curves.shape[1])
    best = values.argmax(axis=1)
    total = float(values.max(axis=1).sum())
    slack = price * (high - 1) + total - limit
    losses = values.max(axis=1, keepdims=True) - values
    reach = int(high + best.sum())
    least = np.full(2 * reach + 1, np.inf)
    least[reach] = 0.0
    for i in np.flatnonzero(((losses <= slack) & (np.arange(losses.shape[1]) != best[:, None])).any(axis=1)):
        before = least
        least = np.full_like(before, np.inf)
        for s in np.flatnonzero(losses[i] <= slack):
            moved = int(s - best[i])
            source = before[max(-moved, 0) : before.size - max(moved, 0)]
            part = least[max(moved, 0) : least.size - max(-moved, 0)]
            np.minimum(part, source + losses[i, s], out=part)
    n_steps = np.arange(-reach, reach + 1) + int(best.sum())
    enough = (price * n_steps + total - least > limit) & (n_steps >= low)
    return int(n_steps[enough].min()) if enough.any() and n_steps[enough].min() < high else high
