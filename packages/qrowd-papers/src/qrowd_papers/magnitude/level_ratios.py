"""Ratios of the magnitudes of two gold levels within units.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 8 and Figure 15.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.checks import with_grades
from qrowd.magnitude.gain_profiles import Ratios, labels_of, ratios_of
from qrowd.magnitude.units import By, Rows, Units, units_of
from qrowd.model.gold import Gold
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result, Tables


@dataclass(frozen=True)
class LevelPair:
    """Which gold grades count as the upper and the lower level of a ratio.

    required : grades of which a unit must contain a document; other units are left out.
    """

    upper: tuple[int, ...]
    lower: tuple[int, ...]
    required: tuple[int, ...] = ()


FIGURE_15 = {
    "H:R": LevelPair((3,), (2,)),
    "H:RM": LevelPair((3,), (1, 2), required=(1,)),
    "HR:M": LevelPair((2, 3), (1,)),
}
"""Three readings of a 0-3 scale as two relevant levels: without grade 1; grades 1 and 2 as one; 2 and 3 as one."""


@dataclass(frozen=True, eq=False)
class LevelRatios(Result):
    """Ratios of the magnitudes of two gold levels within units (Figure 15).

    pairs : the pairs of levels, by name. ratios : one group per pair of levels.
    pair, ratio, upper, lower : (m,) one per two documents of a unit: number of the pair of levels, the ratio, and the
        places of the two documents among the judgments.
    """

    units: Units
    pairs: dict[str, LevelPair]
    ratios: Ratios
    pair: Rows
    ratio: Floats
    upper: Rows
    lower: Rows

    def _tables(self) -> Tables:
        return {"pairs": self._pairs, "points": self._points}

    def _pairs(self) -> dict[str, Any]:
        return {"levels": np.array(list(self.pairs), object), **self.ratios.columns()}

    def _points(self) -> dict[str, Any]:
        labels = labels_of(self.units, self.upper)
        documents = np.array(self.units.judgments.documents, object)
        lower = documents[self.units.judgments.document[self.lower]]
        names = np.array(list(self.pairs), object)[self.pair]
        upper = labels.pop("document")
        return {"levels": names, **labels, "upper": upper, "lower": lower, "ratio": self.ratio}


def level_ratios(
    judgments: Judgments,
    gold: Gold,
    *,
    pairs: Mapping[str, LevelPair] | None = None,
    by: By = "unit",
) -> LevelRatios:
    """Ratios of magnitudes between gold levels, for each pair of documents of a unit.

    Parameters
    ----------
    gold : binary or graded: the name of an assessor of the judgments (who is then left out), the judgments of one
        assessor, or {(topic, document): grade}.
    pairs : the levels to compare, by name; `FIGURE_15` has the paper's three (default: all adjacent levels that occur,
        named as "1:0").
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError
        A pair whose levels are empty or share a grade; fewer than two levels.
    NoOverlapError
        No judged document has a gold grade.
    """
    with_gold = with_grades(judgments, gold)
    judgments = with_gold.judgments
    grades = with_gold.grades()
    units = units_of(judgments, by=by)
    if pairs is None:
        present = np.unique(grades[~np.isnan(grades)]).astype(int).tolist()
        if len(present) < 2:
            raise ArgumentError(f"gold: all judged documents have grade {present[0]}, so there are no two levels")
        pairs = {f"{high}:{low}": LevelPair((high,), (low,)) for low, high in pairwise(present)}
    earlier, later = units.pairs
    parts = []
    for p, (name, pair) in enumerate(pairs.items()):
        if not pair.upper or not pair.lower or set(pair.upper) & set(pair.lower):
            raise ArgumentError(f"pairs: {name!r} needs an upper and a lower level with no grade in both")
        high = np.isin(grades, pair.upper)
        low = np.isin(grades, pair.lower)
        included = np.ones(len(units), bool)
        for grade in pair.required:
            included &= np.bincount(units.number[grades == grade], minlength=len(units)) > 0
        in_unit = included[units.number[earlier]]
        down = in_unit & high[earlier] & low[later]
        up = in_unit & low[earlier] & high[later]
        upper, lower = (np.append(a[down], b[up]) for a, b in ((earlier, later), (later, earlier)))
        parts.append((np.full(upper.size, p), upper, lower))
    number, upper, lower = (np.concatenate(column) for column in zip(*parts, strict=True))
    ratio = judgments.value[upper] / judgments.value[lower]
    ratios = ratios_of([ratio[number == p] for p in range(len(pairs))])
    return LevelRatios(units, dict(pairs), ratios, number, ratio, upper, lower)
