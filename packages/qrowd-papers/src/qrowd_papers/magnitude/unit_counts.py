"""Statistics of the collected judgments: units by topic and by assessor, narrow and wide units.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), Table I, sections 4.1 and 7.3, Figure 13.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.magnitude.checks import Checks, check_magnitudes
from qrowd.magnitude.units import By, Rows, Units, units_of
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class UnitsByTopic(Result):
    """Table I: one row per topic; every array is (topics,) unless said otherwise.

    topics : labels.
    n_documents, n_units, n_assessors, n_judgments : number of each.
    """

    topics: tuple[str, ...]
    n_documents: Rows
    n_units: Rows
    n_assessors: Rows
    n_judgments: Rows

    _COLUMNS = ("topics", "n_documents", "n_units", "n_assessors", "n_judgments")


def topic_units(judgments: Judgments, *, by: By = "unit") -> UnitsByTopic:
    """Number of documents, units, assessors and judgments of each topic (Table I). by : as in `units_of`."""
    units = units_of(judgments, by=by)
    n_topics = len(judgments.topics)

    def distinct(codes: NDArray[np.integer[Any]], of: NDArray[np.integer[Any]]) -> Rows:
        pairs = np.unique(of.astype(np.int64) * (int(codes.max()) + 1) + codes)
        return np.bincount(pairs // (int(codes.max()) + 1), minlength=n_topics)

    return UnitsByTopic(
        judgments.topics,
        distinct(judgments.document, judgments.topic),
        np.bincount(units.topic, minlength=n_topics),
        distinct(judgments.assessor, judgments.topic),
        np.bincount(judgments.topic, minlength=n_topics),
    )


@dataclass(frozen=True, eq=False)
class UnitsByAssessor(Result):
    """Units per assessor; every array is (assessors,)."""

    assessors: tuple[str, ...]
    n_units: Rows
    n_topics: Rows
    n_judgments: Rows

    _COLUMNS = ("assessors", "n_units", "n_topics", "n_judgments")


def assessor_units(judgments: Judgments, *, by: By = "unit") -> UnitsByAssessor:
    """Number of units, topics and judgments of each assessor (section 4.1)."""
    units = units_of(judgments, by=by)
    n = len(judgments.assessors)
    pairs = np.unique(units.assessor.astype(np.int64) * len(judgments.topics) + units.topic)
    return UnitsByAssessor(
        judgments.assessors,
        np.bincount(units.assessor, minlength=n),
        np.bincount(pairs // len(judgments.topics), minlength=n),
        np.bincount(judgments.assessor, minlength=n),
    )


@dataclass(frozen=True, eq=False)
class UnitWidths(Result):
    """Ratio of the two check documents in each unit.

    ratio : (units,) magnitude of H over that of N, to twelve digits.
    threshold : the median ratio; units with a lower one are narrow, the others wide.
    """

    units: Units
    ratio: Floats
    threshold: float

    @property
    def wide(self) -> NDArray[np.bool_]:
        """(units,) which units are wide."""
        return self.ratio >= self.threshold

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"units": self._units, "counts": self._counts}

    def _units(self) -> dict[str, Any]:
        return {**self.units.columns(), "ratio": self.ratio, "wide": self.wide}

    def _counts(self) -> dict[str, Any]:
        ratio, n = np.unique(self.ratio, return_counts=True)
        return {"ratio": ratio, "n_units": n}


def unit_widths(judgments: Judgments, checks: Checks, *, by: By = "unit") -> UnitWidths:
    """Narrow and wide units, by the ratio of the check documents H and N (section 7.3, Figure 13).

    Parameters
    ----------
    checks : {topic: (H, N)}, or gold judgments; see `check_documents`.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError, InputError
        Check documents that are not named, or that a unit does not contain.
    """
    units = units_of(judgments, by=by)
    high, low = check_magnitudes(units, checks)
    # Rounded to twelve digits; otherwise 0.6 / 0.2 would be just below a threshold of 3.
    ratio = np.array([float(f"{r:.12g}") for r in (high / low).tolist()])
    return UnitWidths(units, ratio, float(np.median(ratio)))
