"""Compatibility: how similar a ranking is to an ideal one.

Clarke, Vtyurina & Smucker (2021), Assessing Top-k Preferences. ACM TOIS 39(3), 33.
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels import preference
from qrowd.kernels.arrays import Floats
from qrowd.model.measure import Measure, Parameter, number
from qrowd.preferences.inferred import levels_of
from qrowd.preferences.scoring import PairView, PreferenceMeasure, Ranks

DEPTH = 1000  # of the authors' program


class Compatibility(PreferenceMeasure):
    """Rank-biased overlap with an ideal ranking, divided by the overlap of the ideal ranking with itself.

        compatibility = RBO(ranking, ideal) / RBO(ideal, ideal),   RBO = sum_{i <= k} p^(i-1) |first i of both| / i

    The ideal ranking sorts documents by grade, or by level where preferences were given (`to_grades`); documents of
    level 0 are not in it. Ties in it are broken in the ranking's favour. k is the cut-off, 1000 if there is none. Equal
    scores of the ranking are broken by document id, lowest first.

    Source: Clarke, Vtyurina & Smucker (2021), Assessing Top-k Preferences. ACM TOIS 39(3), 33; ties of scores as in the
    authors' program.
    """

    name, aliases = "compatibility", ("compat",)
    parameters = (
        Parameter("p", 0.95, "persistence: probability of going on to the next rank", number(0, 1, open_ends=True)),
    )

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        p, depth = float(measure["p"]), measure.cutoff or DEPTH  # type: ignore[arg-type]
        level, n_levels = self.levels(view)
        ranks, limits = view.ranks(ascending=True)
        depths = np.arange(1, depth + 1, dtype=np.float64)
        terms = p ** (depths - 1) / depths
        tail = np.append(0.0, np.cumsum(terms[::-1])[::-1])
        preference.similarity_to_ideal(ranks, limits, level, n_levels, tail, out)

    def n_relevant(self, measure: Measure, view: PairView) -> Floats:
        return np.asarray((self.levels(view)[0] > 0).sum(axis=1), np.float64)

    def levels(self, view: PairView) -> tuple[Ranks, int]:
        """(assessors, documents) levels as whole numbers, 0 outside the ideal ranking, and the highest of them."""

        def make() -> tuple[Ranks, int]:
            value = np.fmax(levels_of(view.said) if view.grades is None else view.grades.T, 0.0)
            used, level = np.unique(np.append(0.0, value), return_inverse=True)
            return level[1:].reshape(value.shape).astype(np.int32), used.size - 1

        return view.remember("levels", make)
