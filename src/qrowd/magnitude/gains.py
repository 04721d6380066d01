"""Gain of each gold level according to assessors' magnitudes, and ratios between levels.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 8, Figures 14 and 15. Both use ratios within a unit, which
normalisation does not change unless it standardises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.checks import Checks, check_magnitudes, named_checks, with_grades
from qrowd.magnitude.units import By, Rows, Units, units_of
from qrowd.model.gold import Gold
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class Ratios:
    """Ratios in groups; every array is (groups,).

    n : number of ratios.
    lower_quartile, median, upper_quartile, mean, geometric_mean : of them; nan if there are none.
    n_beyond : number of ratios above the limit of the plot.
    """

    n: Rows
    lower_quartile: Floats
    median: Floats
    upper_quartile: Floats
    mean: Floats
    geometric_mean: Floats
    n_beyond: Rows

    def columns(self) -> dict[str, NDArray[Any]]:
        """As columns of a frame."""
        names = ("n", "lower_quartile", "median", "upper_quartile", "mean", "geometric_mean", "n_beyond")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class GainProfile(Result):
    """Gain of each gold level, as a multiple of the low check document's magnitude (Figure 14).

    levels : (levels,) gold grades that occur, ascending.
    gains : magnitudes of each level, divided by that of N in their unit.
    linear, exponential : (levels,) the two usual profiles: g + 1, and 2^(g + 1).
    level, gain, row : (m,) one per judgment with a gold grade; row is its place among the judgments.
    n_without_gold : judgments of documents without a gold grade, which are left out.
    limit : gains above it are counted as `n_beyond`.
    """

    units: Units
    levels: Floats
    gains: Ratios
    linear: Floats
    exponential: Floats
    level: Floats
    gain: Floats
    row: Rows
    n_without_gold: int
    limit: float

    @property
    def linear_error(self) -> float:
        """Root mean square difference between the levels' medians and the linear profile, in natural logs."""
        return float(np.sqrt(np.mean(np.log(self.gains.median / self.linear) ** 2)))

    @property
    def exponential_error(self) -> float:
        """Root mean square difference between the levels' medians and the exponential profile, in natural logs."""
        return float(np.sqrt(np.mean(np.log(self.gains.median / self.exponential) ** 2)))

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"levels": self._levels, "points": self._points}

    def _levels(self) -> dict[str, Any]:
        overlays = {"linear": self.linear, "exponential": self.exponential}
        return {"level": self.levels, **self.gains.columns(), **overlays}

    def _points(self) -> dict[str, Any]:
        return {**_labels(self.units, self.row), "level": self.level, "gain": self.gain}


def gain_profile(
    judgments: Judgments,
    gold: Gold,
    *,
    checks: Checks | None = None,
    low_checks: bool = True,
    limit: float = 20.0,
    by: By = "unit",
) -> GainProfile:
    """Gain of each gold level: its magnitudes over that of the low check document N of their unit.

    Parameters
    ----------
    gold : binary or graded: the name of an assessor of the judgments (who is then left out), the judgments of one
        assessor, or {(topic, document): grade}.
    checks : {topic: (H, N)} (default: the check documents that gold implies; see `check_documents`).
    low_checks : whether the judgments of N itself, whose gain is 1, are included in their level.
    limit : end of the plot; gains above it are counted.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError, InputError
        Judgments without units, gold or check documents, as in `normalise`.
    NoOverlapError
        No judged document has a gold grade.
    """
    with_gold = with_grades(judgments, gold)
    judgments, grades = with_gold.judgments, with_gold.grades()
    units = units_of(judgments, by=by)
    _, low = check_magnitudes(units, with_gold.gold if checks is None else checks)
    graded = ~np.isnan(grades)
    n_without_gold = int((~graded).sum())
    relative = judgments.value / low[units.number]
    if not low_checks:
        graded &= ~_is_low_check(units, with_gold.gold if checks is None else checks)
        if not graded.any():
            raise ArgumentError("low_checks=False: only N has a gold grade")
    row = np.flatnonzero(graded)
    level, gain = grades[row], relative[row]
    levels = np.unique(level)
    gains = _summary([gain[level == one] for one in levels], limit)
    return GainProfile(
        units,
        levels,
        gains,
        levels + 1,
        np.exp2(levels + 1),
        level,
        gain,
        row,
        n_without_gold=n_without_gold,
        limit=limit,
    )


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
    limit : ratios above it are counted as `n_beyond`.
    """

    units: Units
    pairs: dict[str, LevelPair]
    ratios: Ratios
    pair: Rows
    ratio: Floats
    upper: Rows
    lower: Rows
    limit: float

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"pairs": self._pairs, "points": self._points}

    def _pairs(self) -> dict[str, Any]:
        return {"levels": np.array(list(self.pairs), object), **self.ratios.columns()}

    def _points(self) -> dict[str, Any]:
        labels = _labels(self.units, self.upper)
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
    limit: float = 3.5,
    by: By = "unit",
) -> LevelRatios:
    """Ratios of magnitudes between gold levels, for each pair of documents of a unit.

    Parameters
    ----------
    gold : as in `gain_profile`.
    pairs : the levels to compare, by name; `FIGURE_15` has the paper's three (default: all adjacent levels that occur,
        named as "1:0").
    limit : end of the plot; ratios above it are counted.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError
        A pair whose levels are empty or share a grade; fewer than two levels.
    NoOverlapError
        No judged document has a gold grade.
    """
    with_gold = with_grades(judgments, gold)
    judgments, grades = with_gold.judgments, with_gold.grades()
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
        high, low = np.isin(grades, pair.upper), np.isin(grades, pair.lower)
        included = np.ones(len(units), bool)
        for grade in pair.required:
            included &= np.bincount(units.number[grades == grade], minlength=len(units)) > 0
        in_unit = included[units.number[earlier]]
        down, up = in_unit & high[earlier] & low[later], in_unit & low[earlier] & high[later]
        upper, lower = (np.append(a[down], b[up]) for a, b in ((earlier, later), (later, earlier)))
        parts.append((np.full(upper.size, p), upper, lower))
    number, upper, lower = (np.concatenate(column) for column in zip(*parts, strict=True))
    ratio = judgments.value[upper] / judgments.value[lower]
    ratios = _summary([ratio[number == p] for p in range(len(pairs))], limit)
    return LevelRatios(units, dict(pairs), ratios, number, ratio, upper, lower, limit)


def _is_low_check(units: Units, checks: Checks) -> NDArray[np.bool_]:
    """(n,) which judgments are of the low check document N of their topic."""
    judgments = units.judgments
    checks_by_topic = named_checks(units, checks)
    low = np.array([judgments.documents.index(checks_by_topic[topic][1]) for topic in judgments.topics])
    return np.asarray(judgments.document == low[judgments.topic])


def _summary(groups: list[Floats], limit: float) -> Ratios:
    """The statistics of each group."""
    samples = [group if group.size else np.array([np.nan]) for group in groups]
    lower, middle, upper = np.array([np.quantile(group, [0.25, 0.5, 0.75]) for group in samples]).T
    return Ratios(
        np.array([group.size for group in groups], np.int64),
        lower,
        middle,
        upper,
        np.array([group.mean() for group in samples]),
        np.array([np.exp(np.log(group).mean()) for group in samples]),
        np.array([(group > limit * (1 + 1e-12)).sum() for group in samples], np.int64),
    )


def _labels(units: Units, rows: Rows) -> dict[str, NDArray[Any]]:
    """Topic, assessor, unit and document of some judgments, for frames."""
    judgments = units.judgments
    columns: dict[str, NDArray[Any]] = {name: column[units.number[rows]] for name, column in units.columns().items()}
    columns["document"] = np.array(judgments.documents, object)[judgments.document[rows]]
    return columns
