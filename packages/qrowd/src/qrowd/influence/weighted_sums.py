"""Scores as weighted sums of the gains of judgments, over a normaliser: nDCG, DCG, P, R, RBP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qrowd.errors import MeasureError
from qrowd.influence.cells import Cells
from qrowd.kernels.arrays import Floats, Ints
from qrowd.measures.gain import NDCG
from qrowd.measures.precision import R
from qrowd.measures.scoring import Linear
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
