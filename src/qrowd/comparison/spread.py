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
        squares = panel.centred_squares(topics=topics)
        ms = squares.ms.sum(axis=1, keepdims=True) / (n_systems - 1)
        both, _ = TwoWay(squares.mean[:1], ms, squares.df, squares.weights, squares.per).variance()
        assessors = nan
        if panel.components_known:
            of_both = panel.centred_squares(topics=False) if topics else squares
            assessors = float(of_both.ms[1].sum() / (n_systems - 1) / panel.n_cells)
        return cls(panel.mean, float(both[0]), assessors)

    def factor(self, error: float, panel: Panel, first: Ints, second: Ints) -> Floats:
        """(pairs,) of the panel's systems: the share of their difference that is expected to remain."""
        return shrinkage_factor(self.means, error, (panel.mean[first] + panel.mean[second]) / 2)


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
