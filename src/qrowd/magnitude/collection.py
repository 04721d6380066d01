"""Statistics of the collected judgments: units by topic and by assessor, revisions, checks, narrow and wide units.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), Table I, sections 3.2.5, 4.1 and 7.3, Figure 13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.checks import Checks, check_magnitudes, named_checks
from qrowd.magnitude.units import By, Rows, Units, units_of
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.result import Result

Equal = Literal["fails", "passes"]
Counts = Mapping[str, int]


@dataclass(frozen=True, eq=False)
class TopicUnits(Result):
    """Table I: one row per topic; every array is (topics,) unless said otherwise.

    topics : labels.
    n_documents, n_units, n_assessors, n_judgments : number of each.
    high, low : labels of the check documents H and N; None without `checks`.
    backs, fails : (topics, 3) number of units with 0, 1, 2 or more steps back and failed checks; None if not given.
    """

    topics: tuple[str, ...]
    n_documents: Rows
    n_units: Rows
    n_assessors: Rows
    n_judgments: Rows
    high: tuple[str, ...] | None
    low: tuple[str, ...] | None
    backs: Rows | None
    fails: Rows | None

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, NDArray[Any]] = {"topic": np.array(self.topics, object)}
        columns |= {name: getattr(self, name) for name in ("n_documents", "n_units", "n_assessors", "n_judgments")}
        if self.high is not None and self.low is not None:
            columns |= {"H": np.array(self.high, object), "N": np.array(self.low, object)}
        for name, counts in (("back", self.backs), ("fail", self.fails)):
            if counts is not None:
                columns |= {f"{name} {times}": counts[:, i] for i, times in enumerate(("0", "1", "2+"))}
        return columns


def topic_units(
    judgments: Judgments,
    *,
    checks: Checks | None = None,
    backs: Counts | None = None,
    fails: Counts | None = None,
    by: By = "unit",
) -> TopicUnits:
    """Number of documents, units, assessors and judgments of each topic, and revisions of its units (Table I).

    Parameters
    ----------
    checks : {topic: (H, N)} or gold judgments, to name the check documents.
    backs, fails : {unit: times}: how often the assessor went back to an earlier document, and how often a check failed
        before the unit passed. A unit that the mapping does not name has 0.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError
        A mapping names a unit that does not exist, or one of several with the same name.
    """
    units = units_of(judgments, by=by)
    n_topics = len(judgments.topics)

    def distinct(codes: NDArray[np.integer[Any]], of: NDArray[np.integer[Any]]) -> Rows:
        pairs = np.unique(of.astype(np.int64) * (int(codes.max()) + 1) + codes)
        return np.bincount(pairs // (int(codes.max()) + 1), minlength=n_topics)

    high = low = None
    if checks is not None:
        check_magnitudes(units, checks)  # refuses units without them
        checks_by_topic = named_checks(units, checks)
        high, low = (tuple(checks_by_topic[topic][which] for topic in judgments.topics) for which in (0, 1))
    return TopicUnits(
        judgments.topics,
        distinct(judgments.document, judgments.topic),
        np.bincount(units.topic, minlength=n_topics),
        distinct(judgments.assessor, judgments.topic),
        np.bincount(judgments.topic, minlength=n_topics),
        high,
        low,
        *(
            None if times is None else _by_times(units, times, name)
            for name, times in (("backs", backs), ("fails", fails))
        ),
    )


@dataclass(frozen=True, eq=False)
class AssessorUnits(Result):
    """Units per assessor; every array is (assessors,)."""

    assessors: tuple[str, ...]
    n_units: Rows
    n_topics: Rows
    n_judgments: Rows

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"assessors": self._assessors, "counts": self._counts}

    def _assessors(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in ("n_units", "n_topics", "n_judgments")}
        return {"assessor": np.array(self.assessors, object), **columns}

    def _counts(self) -> dict[str, Any]:
        n_units, n = np.unique(self.n_units, return_counts=True)
        return {"n_units": n_units, "n_assessors": n, "share": n / len(self.assessors)}


def assessor_units(judgments: Judgments, *, by: By = "unit") -> AssessorUnits:
    """Number of units, topics and judgments of each assessor (section 4.1)."""
    units = units_of(judgments, by=by)
    n = len(judgments.assessors)
    pairs = np.unique(units.assessor.astype(np.int64) * len(judgments.topics) + units.topic)
    return AssessorUnits(
        judgments.assessors,
        np.bincount(units.assessor, minlength=n),
        np.bincount(pairs // len(judgments.topics), minlength=n),
        np.bincount(judgments.assessor, minlength=n),
    )


@dataclass(frozen=True, eq=False)
class UnitWidths(Result):
    """Ratio of the two check documents in each unit.

    ratio : (units,) magnitude of H over that of N, to twelve digits.
    threshold : units with a lower ratio are narrow, the others wide.
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


def unit_widths(judgments: Judgments, checks: Checks, *, threshold: float | None = None, by: By = "unit") -> UnitWidths:
    """Narrow and wide units, by the ratio of the check documents H and N (section 7.3, Figure 13).

    Parameters
    ----------
    checks : {topic: (H, N)}, or gold judgments; see `check_documents`.
    threshold : lowest ratio of a wide unit (default: the median ratio).
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
    return UnitWidths(units, ratio, float(np.median(ratio)) if threshold is None else float(threshold))


@dataclass(frozen=True, eq=False)
class UnitChecks(Result):
    """Which units pass the checks; every array is (units,).

    ordered : whether H has a higher magnitude than N (check c).
    slow_enough : whether every document took at least `min_seconds` (check d); all True without `min_seconds`.
    equal, min_seconds : the options in force.
    """

    units: Units
    ordered: NDArray[np.bool_]
    slow_enough: NDArray[np.bool_]
    equal: Equal
    min_seconds: float | None

    @property
    def passed(self) -> NDArray[np.bool_]:
        """(units,) which pass both."""
        return self.ordered & self.slow_enough

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments of units that pass."""
        return self.units.select(self.passed)

    def _columns(self) -> dict[str, Any]:
        columns = {"ordered": self.ordered, "slow_enough": self.slow_enough, "passed": self.passed}
        return {**self.units.columns(), **columns}


def unit_checks(
    judgments: Judgments,
    checks: Checks,
    *,
    equal: Equal = "fails",
    min_seconds: float | None = None,
    by: By = "unit",
) -> UnitChecks:
    """Which units rate check document H above N and, with `min_seconds`, take enough time for it (section 3.2.5).

    Parameters
    ----------
    checks : {topic: (H, N)}, or gold judgments; see `check_documents`.
    equal : whether a unit with equal magnitudes of H and N "fails" (section 3.2.5) or "passes" (section 3.2.4).
    min_seconds : least time per document (20 in the paper); a judgment without a recorded time passes.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError
        min_seconds without a seconds column; check documents that are not named.
    InputError
        A unit without its check documents.
    """
    check_choice("equal", equal, Equal)
    units = units_of(judgments, by=by)
    high, low = check_magnitudes(units, checks)
    ordered = high > low if equal == "fails" else high >= low
    slow_enough = np.ones(len(units), bool)
    if min_seconds is not None:
        if judgments.seconds is None:
            raise ArgumentError(f"min_seconds={min_seconds!r}: the judgments have no seconds column")
        slow_enough = units.lowest(np.where(np.isnan(judgments.seconds), np.inf, judgments.seconds)) >= min_seconds
    return UnitChecks(units, ordered, slow_enough, equal, min_seconds)


def _by_times(units: Units, times: Counts, name: str) -> Rows:
    """(topics, 3) number of units with 0, 1, 2 or more."""
    place: dict[str, list[int]] = {}
    for unit, label in enumerate(units.labels):
        place.setdefault(label, []).append(unit)
    column = np.zeros(len(units), np.int64)
    for label, count in times.items():
        if label not in place:
            raise ArgumentError(f"{name}: no unit is called {label!r}; {closest(label, tuple(place), 'unit')}")
        if len(place[label]) > 1:
            raise ArgumentError(
                f"{name}: {len(place[label])} units are called {label!r}; give every unit a name of its own"
            )
        if count < 0:
            raise ArgumentError(f"{name}: unit {label} has {count}; a count is 0 or more")
        column[place[label][0]] = count
    return counts_by_times(units.topic, column, len(units.judgments.topics))


def counts_by_times(topic: NDArray[np.integer[Any]], times: Rows, n_topics: int) -> Rows:
    """(topics, 3) number of units of a topic with 0, 1, 2 or more. topic, times : (units,)."""
    table = np.zeros((n_topics, 3), np.int64)
    np.add.at(table, (topic, np.minimum(times, 2)), 1)
    return table
