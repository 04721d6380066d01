"""Scores as weighted sums of the gains of judgments, over a normaliser: nDCG, DCG, P, R, RBP; and changes of them.

With the normaliser of each topic fixed, a difference is a sum over judgments, and a change takes from it an amount that
depends on no other judgment. Any k changes take at most the sum of the k largest amounts, and these k changes reach it:
the least number is the first k at which this sum exceeds the difference. Several steps of one judgment can be chosen as
if they were judgments of their own where a further step never takes more than the one before; where it can, as with
gains of 2^g - 1, the least concave curves above the judgments' own give a lower bound, and a table of the largest sums
of 1, 2, ... steps decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import MeasureError
from qrowd.influence.score_cells import Cells, Change
from qrowd.kernels.arrays import Floats, Ints
from qrowd.measures.gain import NDCG
from qrowd.measures.measure_kinds import Linear
from qrowd.measures.precision import R
from qrowd.model.alignment import align
from qrowd.model.measure import Measure


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """What a weighted sum of gains reads of cells: a score is the sum of weight x gain, over the normaliser.

    weight : (systems, items). normaliser : (cells,). unit : (cells,) what a unit of the sum adds to a difference; 0
    where the normaliser is 0. ideal : (documents + 1,) sum of the first weights of the ideal ranking; None where the
    measure has no normaliser that judgments move. counts, least, most : (cells, levels) judged documents of each level
    or higher: today's, and what changes can make of them.
    """

    cells: Cells
    weight: Floats
    normaliser: Floats
    unit: Floats
    ideal: Floats | None
    counts: Ints
    least: Ints
    most: Ints

    def parts(self, first: int, second: int) -> Floats:
        """(items, assessors) what each judgment adds to the difference of two systems."""
        weight = self.weight[first] - self.weight[second]
        units = self.unit.reshape(-1, self.cells.n_assessors)[self.cells.topic]
        return np.asarray(weight[:, None] * self.cells.judgment_gains * units)


def weighted_sums(cells: Cells) -> WeightedSums | None:
    """The weights of the measure; None where it is no weighted sum of gains.

    Raises
    ------
    MeasureError
        Gains that fall from a grade to a higher one, so that the ideal ranking is not by grade.
    """
    measure = cells.measure
    if not is_weighted_sum(measure):
        return None
    ideal = _ideal(cells)
    counts, least, most = (_counts(cells, level) for level in (cells.level, cells.lowest, cells.highest))
    normaliser = np.ones(cells.share.size)
    if ideal is not None:
        if (cells.gains[:, 0] < 0).any() or (np.diff(cells.gains, axis=1) < 0).any():
            raise MeasureError(f"{measure}: a higher grade must not gain less, since the ideal ranking is by grade")
        normaliser = normalisers(ideal, np.tile(cells.gains, (len(cells.topics), 1)), counts)
    elif isinstance(measure.definition, R):
        normaliser = np.full(cells.share.size, float(measure["recall_base"]))  # type: ignore[arg-type]
    unit = cells.share / np.where(normaliser > 0, normaliser, np.inf)
    return WeightedSums(cells, _weights(cells), normaliser, unit, ideal, counts, least, most)


def normalisers(ideal: Floats, gains: Floats, counts: Ints) -> Floats:
    """(...,) sum over levels v of (gain v - gain v - 1) x (sum of the first n_v weights of the ideal ranking).

    n_v documents have the level v or a higher one: in the ideal ranking these stand first, and each of them has the
    part of its gain that the level v adds.
    """
    steps = np.diff(gains, axis=-1, prepend=0.0)
    return np.asarray((steps * ideal[counts]).sum(axis=-1))


def is_weighted_sum(measure: Measure) -> bool:
    """Whether a score is a weighted sum of gains over a normaliser that is known as a function of the judgments."""
    definition = measure.definition
    if not isinstance(definition, Linear) or measure.values.get("judged_only") or measure.values.get("residual"):
        return False
    own = type(definition).normaliser is not Linear.normaliser
    return definition.several_topics(measure) and (not own or isinstance(definition, NDCG | R))


def _weights(cells: Cells) -> Floats:
    """(systems, items) weight of the rank at which each system has each document."""
    lists = align(cells.runs, cells.panel.pool, cells.conventions.score_dtype).lists
    definition = cells.measure.definition
    assert isinstance(definition, Linear)
    by_rank = definition.coefficients(cells.measure, int(lists.rank.max(initial=0)) + 1)
    system = np.repeat(np.arange(lists.starts.size - 1), np.diff(lists.starts)) % lists.n_systems
    within = lists.rank < by_rank.size
    weight = np.zeros((lists.n_systems, cells.topic.size))
    weight[system[within], lists.row[within]] = by_rank[lists.rank[within]]
    return weight


def _counts(cells: Cells, level: Ints) -> Ints:
    """(cells, levels) documents of each level or higher."""
    n_levels = cells.values.size
    cell = cells.topic[:, None] * cells.n_assessors + np.arange(cells.n_assessors)
    judged = level >= 0
    counts = np.bincount((cell * n_levels + level)[judged], minlength=cells.share.size * n_levels)
    return counts.reshape(-1, n_levels)[:, ::-1].cumsum(axis=1)[:, ::-1]


def _ideal(cells: Cells) -> Floats | None:
    """(documents + 1,) sum of the first weights of the ideal ranking."""
    n = int(np.diff(cells.panel.pool.starts).max(initial=0))
    measure = cells.measure
    if isinstance(measure.definition, NDCG):
        weights = measure.definition.coefficients(measure, n)
        return np.append(0.0, np.cumsum(np.append(weights, np.zeros(n - weights.size))))
    if isinstance(measure.definition, R) and measure["recall_base"] == "own":
        return np.arange(n + 1.0)
    return None


@dataclass(frozen=True, eq=False)
class Trace:
    """Changes that reduce a difference, one after the other; arrays are (changes,).

    item, assessor, cell, before, after : which judgment, and its levels. lost : what each takes from the difference,
    scored again after those above it.
    """

    item: Ints
    assessor: Ints
    cell: Ints
    before: Ints
    after: Ints
    lost: Floats

    def __len__(self) -> int:
        return self.item.size

    def first(self, n: int) -> Trace:
        """The first n changes."""
        return Trace(self.item[:n], self.assessor[:n], self.cell[:n], self.before[:n], self.after[:n], self.lost[:n])


EMPTY: Ints = np.zeros(0, np.int64)
NOTHING = Trace(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, np.zeros(0))


@dataclass(frozen=True, eq=False)
class Steps(Trace):
    """The changes that reduce a difference, the largest effect first; `lost` is what the step alone takes from it.

    bound : the same on the least concave curve over the effects of the judgment's steps. curves, hulls : (judgments,
    steps + 1) effect of the first steps of each judgment, -inf where it has fewer; and that concave curve.
    """

    bound: Floats
    curves: Floats
    hulls: Floats


def steps_of(sums: WeightedSums, weight: Floats, change: Change) -> Steps:
    """All steps of a pair. weight : (items,) of a gain in the difference that is to be reduced."""
    cells = sums.cells
    item, assessor = np.nonzero((weight[:, None] != 0) & (cells.level >= 0))
    level = cells.level[item, assessor]
    cell = cells.topic[item] * cells.n_assessors + assessor
    unit = weight[item] * sums.unit[cell]
    if change == "grade":
        n_steps = int((cells.highest - cells.lowest).max(initial=0))
        direction = np.where(unit > 0, -1, 1)[:, None]
        levels: Ints = np.asarray(level[:, None] + direction * np.arange(n_steps + 1), np.int64)
        allowed = (cells.lowest[item, assessor, None] <= levels) & (levels <= cells.highest[item, assessor, None])
        levels[~allowed] = 0
    else:
        others = cells.level[item]
        taken = unit[:, None] * (cells.gains[assessor, level][:, None] - cells.gains[assessor[:, None], others])
        best = np.where(others >= 0, taken, -inf).argmax(axis=1)
        levels = np.stack([level, others[np.arange(item.size), best]], axis=1)
        allowed = np.ones(levels.shape, bool)
    lost = unit[:, None] * (cells.gains[assessor, level][:, None] - cells.gains[assessor[:, None], levels])
    curves = np.where(allowed, lost, -inf)
    hulls = concave_hulls(curves)
    bounds = np.minimum.accumulate(np.diff(hulls, axis=1), axis=1)  # whatever rounding did
    judgment, step = np.nonzero(bounds > 0)
    order = np.argsort(-bounds[judgment, step], kind="stable")
    judgment, step = judgment[order], step[order]
    return Steps(
        item[judgment],
        assessor[judgment],
        cell[judgment],
        levels[judgment, step],
        levels[judgment, step + 1],
        curves[judgment, step + 1] - curves[judgment, step],
        bounds[judgment, step],
        curves,
        hulls,
    )


def concave_hulls(curves: Floats) -> Floats:
    """(rows, steps + 1) the least concave curve over each that never falls.

    >>> concave_hulls(np.array([[0.0, 1.0, 3.0, 2.0]])).tolist()
    [[0.0, 1.5, 3.0, 3.0]]
    """
    curves = np.maximum.accumulate(curves, axis=1)
    hulls, n = curves.copy(), curves.shape[1]
    for begin in range(n):
        for end in range(begin + 2, n):
            slope = (curves[:, end] - curves[:, begin]) / (end - begin)
            for inside in range(begin + 1, end):
                hulls[:, inside] = np.maximum(hulls[:, inside], curves[:, begin] + slope * (inside - begin))
    return hulls


def least_number(steps: Steps, difference: float) -> float:
    """The least number of steps that together take more than the difference; inf where all are too few.

    By the concave curves no fewer steps than `low` can do it, and the first `high` in order do it. They differ only
    where a step of little effect opens the way to one of much, as with gains of 2^g - 1.
    """
    if not len(steps):
        return inf
    limit = difference + 1e-11 * (difference + float(steps.bound[0]))
    low, high = (first_beyond(np.cumsum(effects), limit) for effects in (steps.bound, steps.lost))
    return high if low == high else first_beyond(_largest_sums(steps, int(min(high, len(steps)))), limit)


def _largest_sums(steps: Steps, n: int) -> Floats:
    """(n,) the most that 1 to n steps can take: judgment by judgment, unless their curves are concave."""
    concave = (steps.curves == steps.hulls).all(axis=1)
    increments = -np.sort(-np.diff(steps.hulls[concave], axis=1).ravel())[:n]
    best = np.concatenate([[0.0], np.cumsum(increments), np.full(n - increments.size, -inf)])
    for curve in steps.curves[~concave]:
        before = best.copy()
        for k in range(1, min(curve.size, n + 1)):
            np.maximum(best[k:], before[: n + 1 - k] + curve[k], out=best[k:])
    return np.maximum.accumulate(best)[1:]


def first_beyond(sums: Floats, limit: float) -> float:
    """Number of the first that is larger than the limit, from 1; inf if none is."""
    larger = sums > limit
    return float(np.argmax(larger)) + 1 if larger.any() else inf


def trace_of(sums: WeightedSums, steps: Steps, by_cell: Floats, n: int) -> Trace:
    """The first n steps, applied in order, with the normaliser as they leave it.

    by_cell : (cells,) what each cell adds to the difference today.
    """
    order = np.argsort(steps.cell[:n], kind="stable")
    assessor, cell, before, after, effect = (
        values[order] for values in (steps.assessor, steps.cell, steps.before, steps.after, steps.lost)
    )
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    group = np.repeat(np.arange(starts.size), np.diff(np.append(starts, cell.size)))
    left = by_cell[cell] - _sums_within(effect, starts, group)
    if sums.ideal is not None:
        level = np.arange(sums.cells.values.size)
        moved = (after[:, None] >= level).astype(np.int64) - (before[:, None] >= level)
        counts = sums.counts[cell] + _sums_within(moved, starts, group)
        normaliser = normalisers(sums.ideal, sums.cells.gains[assessor], counts)
        numerator = left * np.where(sums.normaliser > 0, sums.normaliser, 1.0)[cell]
        left = np.where(normaliser > 1e-9, numerator / np.maximum(normaliser, 1e-9), 0.0)
    previous = np.append(0.0, left[:-1])
    previous[starts] = by_cell[cell[starts]]
    lost = np.empty(n)
    lost[order] = previous - left
    return replace(steps.first(n), lost=lost)


def _sums_within(values: NDArray[Any], starts: Ints, group: Ints) -> NDArray[Any]:
    """Cumulated sums along the rows that start anew in each group."""
    sums = np.cumsum(values, axis=0)
    return np.asarray(sums - (sums[starts] - values[starts])[group])
