"""Gain of each gold level according to assessors' magnitudes.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 8 and Figure 14: ratios within a unit, which normalisation does not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.magnitude.checks import Checks, check_magnitudes, with_grades
from qrowd.magnitude.units import By, Rows, Units, units_of
from qrowd.model.gold import Gold
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result, Tables


@dataclass(frozen=True, eq=False)
class Ratios:
    """Ratios in groups; every array is (groups,).

    n : number of ratios.
    lower_quartile, median, upper_quartile, mean, geometric_mean : of them; nan if there are none.
    """

    n: Rows
    lower_quartile: Floats
    median: Floats
    upper_quartile: Floats
    mean: Floats
    geometric_mean: Floats

    def columns(self) -> dict[str, NDArray[Any]]:
        """As columns of a frame."""
        names = ("n", "lower_quartile", "median", "upper_quartile", "mean", "geometric_mean")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class GainProfile(Result):
    """Gain of each gold level, as a multiple of the low check document's magnitude (Figure 14).

    levels : (levels,) gold grades that occur, ascending.
    gains : magnitudes of each level, divided by that of N in their unit.
    linear, exponential : (levels,) the two usual profiles: g + 1, and 2^(g + 1).
    level, gain, row : (m,) one per judgment with a gold grade; row is its place among the judgments.
    n_without_gold : judgments of documents without a gold grade, which are left out.
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

    @property
    def linear_error(self) -> float:
        """Root mean square difference between the levels' medians and the linear profile, in natural logs."""
        return float(np.sqrt(np.mean(np.log(self.gains.median / self.linear) ** 2)))

    @property
    def exponential_error(self) -> float:
        """Root mean square difference between the levels' medians and the exponential profile, in natural logs."""
        return float(np.sqrt(np.mean(np.log(self.gains.median / self.exponential) ** 2)))

    def _tables(self) -> Tables:
        return {"levels": self._levels, "points": self._points}

    def _levels(self) -> dict[str, Any]:
        overlays = {"linear": self.linear, "exponential": self.exponential}
        return {"level": self.levels, **self.gains.columns(), **overlays}

    def _points(self) -> dict[str, Any]:
        return {**labels_of(self.units, self.row), "level": self.level, "gain": self.gain}


def gain_profile(
    judgments: Judgments,
    gold: Gold,
    *,
    checks: Checks | None = None,
    by: By = "unit",
) -> GainProfile:
    """Gain of each gold level: its magnitudes over that of the low check document N of their unit.

    Parameters
    ----------
    gold : binary or graded: the name of an assessor of the judgments (who is then left out), the judgments of one
        assessor, or {(topic, document): grade}.
    checks : {topic: (H, N)} (default: the check documents that gold implies; see `check_documents`).
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError, InputError
        Judgments without units, gold or check documents, as in `normalise`.
    NoOverlapError
        No judged document has a gold grade.
    """
    with_gold = with_grades(judgments, gold)
    judgments = with_gold.judgments
    grades = with_gold.grades()
    units = units_of(judgments, by=by)
    _, low = check_magnitudes(units, with_gold.gold if checks is None else checks)
    graded = ~np.isnan(grades)
    n_without_gold = int((~graded).sum())
    relative = judgments.value / low[units.number]
    row = np.flatnonzero(graded)
    level, gain = grades[row], relative[row]
    levels = np.unique(level)
    gains = ratios_of([gain[level == grade] for grade in levels])
    return GainProfile(
        units,
        levels,
        gains,
        levels + 1,
        np.exp2(levels + 1),
        level,
        gain,
        row,
        n_without_gold,
    )


def ratios_of(groups: list[Floats]) -> Ratios:
    """The statistics of each group of ratios."""
    samples = [group if group.size else np.array([np.nan]) for group in groups]
    lower, middle, upper = np.array([np.quantile(group, [0.25, 0.5, 0.75]) for group in samples]).T
    return Ratios(
        np.array([group.size for group in groups], np.int64),
        lower,
        middle,
        upper,
        np.array([group.mean() for group in samples]),
        np.array([np.exp(np.log(group).mean()) for group in samples]),
    )


def labels_of(units: Units, rows: Rows) -> dict[str, NDArray[Any]]:
    """Topic, assessor, unit and document of some judgments, for frames."""
    judgments = units.judgments
    columns: dict[str, NDArray[Any]] = {name: column[units.number[rows]] for name, column in units.columns().items()}
    columns["document"] = np.array(judgments.documents, object)[judgments.document[rows]]
    return columns
