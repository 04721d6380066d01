"""How far systems lie apart, beside the error of their means, from which the shrinkage of a difference follows."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from qrowd.comparison.resampling import Panel, panel_of
from qrowd.comparison.shrinkage import shrinkage_factor
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.two_way import TwoWay
from qrowd.model.labels import number_of
from qrowd.model.scores import one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance between systems and its error part, from which the shrinkage of a difference follows.

    means : (systems,). both, assessors : error variance of a system's mean relative to the mean of the systems: from
    all that the method resamples, and from assessors alone (nan without components).
    """

    means: Floats
    both: float
    assessors: float

    @classmethod
    def of(cls, panel: Panel, *, topics: bool) -> Spread:
        n_systems = len(panel.systems)
        centred = np.where(panel.known[:, :, None], panel.values - panel.values.mean(axis=2, keepdims=True), 0.0)
        squares = squares_of(panel, centred, topics=topics)
        ms = squares.ms.sum(axis=1, keepdims=True) / (n_systems - 1)
        both, _ = TwoWay(squares.mean[:1], ms, squares.df, squares.weights, squares.per).variance()
        assessors = nan
        if panel.components_known:
            of_both = squares_of(panel, centred) if topics else squares
            assessors = float(of_both.ms[1].sum() / (n_systems - 1) / panel.known.sum())
        return cls(panel.by_topic(panel.values).mean(axis=0), float(both[0]), assessors)

    def factor(self, error: float, panel: Panel, first: Ints, second: Ints) -> Floats:
        """(pairs,) of the panel's systems: the share of their difference that is expected to remain."""
        means = panel.by_topic(panel.values).mean(axis=0)
        return shrinkage_factor(self.means, error, (means[first] + means[second]) / 2)


class Spreads:
    """The spread of the systems that a pair is compared among: computed once for all pairs with the same ones."""

    def __init__(self, scores: AnyScores) -> None:
        self._scores = scores
        values, (_, _, self._names) = one_measure(scores)
        self._known = ~np.isnan(values)
        self._spreads: dict[tuple[tuple[str, ...], bool], Spread] = {}

    def of(self, first: str, second: str, *, topics: bool) -> Spread:
        """Of the two systems and all others that have a score wherever both of them have one."""
        pair = [number_of(name, self._names, "system") for name in (first, second)]
        complete = self._known[self._known[:, :, pair].all(axis=2)].all(axis=0)
        key = tuple(self._names[s] for s in np.flatnonzero(complete)), topics
        if key not in self._spreads:
            self._spreads[key] = Spread.of(panel_of(self._scores, key[0]), topics=topics)
        return self._spreads[key]


def squares_of(panel: Panel, values: Floats, *, topics: bool = False) -> TwoWay:
    """Mean squares of differences, 0 where only rounding is left; with `topics`, those of the topics' means alone."""
    if topics:
        by_topic = panel.by_topic(values)
        n_topics = by_topic.shape[0]
        ms = np.zeros((3, by_topic.shape[1]))
        ms[0] = by_topic.var(axis=0, ddof=1)
        squares = TwoWay(
            by_topic.mean(axis=0), ms, np.array([n_topics - 1.0, 1.0, 1.0]), np.full(3, 1 / n_topics), np.ones(2)
        )
    else:
        squares = panel.squares(values)
    scale = 1e-12 * float(np.abs(panel.values).max(initial=0.0))
    mean = np.where(np.abs(squares.mean) <= scale, 0.0, squares.mean)
    ms = np.where(squares.ms <= scale**2, 0.0, squares.ms)
    return TwoWay(mean, ms, squares.df, squares.weights, squares.per)
