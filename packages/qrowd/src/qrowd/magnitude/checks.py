"""The two check documents of each topic, H (highly relevant) and N (not relevant), and which units pass the checks.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 3.2.4 and 3.2.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError, InputError, ScaleError
from qrowd.kernels.arrays import Bools, Floats
from qrowd.magnitude.units import By, Rows, Units, and_more, units_of
from qrowd.model.gold import AgainstGold, Gold, against
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result

Checks = Mapping[str, tuple[str, str]] | Judgments
"""{topic: (H, N)}, or gold judgments that imply them; see `check_documents`."""


def with_grades(judgments: Judgments, gold: Gold) -> AgainstGold:
    """Judgments with gold in whole grades, binary or 0-3 and the like.

    Raises
    ------
    ArgumentError
        A name that no assessor has; gold of several assessors.
    ScaleError
        Gold that is not in grades.
    InputError
        A document with two gold grades.
    NoOverlapError
        No judged document has a gold grade.
    """
    with_gold = against(judgments, gold, repeats="error")
    if with_gold.scale.kind not in ("binary", "graded"):
        raise ScaleError(f"gold: assessor {with_gold.name} is on scale {with_gold.scale}; levels need whole grades")
    return with_gold


def check_documents(judgments: Judgments, gold: Gold, *, by: By = "unit") -> dict[str, tuple[str, str]]:
    """The check documents {topic: (H, N)} that gold implies.

    H has the topic's highest gold grade among the judged documents, N the lowest; if several do, it is the one that
    most units contain.

    Parameters
    ----------
    gold : binary or graded: the name of an assessor of the judgments, the judgments of one assessor, or
        {(topic, document): grade}.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError
        A topic whose judged documents have fewer than two gold grades, or in which two documents are equally suitable.
    """
    with_gold = with_grades(judgments, gold)
    return _checks_of(units_of(with_gold.judgments, by=by), with_gold)


def check_magnitudes(units: Units, checks: Checks | None) -> tuple[Floats, Floats]:
    """(units,) magnitudes of H and of N in each unit; the geometric mean if one was judged twice.

    Raises
    ------
    ArgumentError
        No checks, none for a topic, or H and N the same document.
    InputError
        A unit without one of its check documents.
    """
    checks_by_topic = named_checks(units, checks)
    judgments = units.judgments
    number = {label: i for i, label in enumerate(judgments.documents)}
    codes = np.empty((len(judgments.topics), 2), np.int64)
    for t, topic in enumerate(judgments.topics):
        high, low = checks_by_topic[topic]
        codes[t] = number.get(high, -1), number.get(low, -1)
    magnitudes = []
    for which, name in enumerate("HN"):
        here = judgments.document == codes[judgments.topic, which]
        of_unit = units.number[here]
        count = np.bincount(of_unit, minlength=len(units))
        missing = np.flatnonzero(count == 0)
        if missing.size:
            unit = int(missing[0])
            document = checks_by_topic[judgments.topics[units.topic[unit]]][which]
            raise InputError(
                f"{units.describe(unit)}: the check document {name}, {document}, is missing{and_more(missing.size)}; "
                f"correct checks, or leave out such units"
            )
        once = np.bincount(of_unit, judgments.value[here], minlength=len(units))
        logs = np.bincount(of_unit, units.logs[here], minlength=len(units))
        magnitudes.append(np.where(count == 1, once, np.exp(logs / count)))  # exact unless repeated
    return magnitudes[0], magnitudes[1]


@dataclass(frozen=True, eq=False)
class UnitChecks(Result):
    """Which units pass the checks; every array is (units,).

    ordered : whether H has a higher magnitude than N (check c).
    slow_enough : whether every document took at least `min_seconds` (check d); all True without `min_seconds`.
    """

    units: Units
    ordered: Bools
    slow_enough: Bools

    @property
    def passed(self) -> Bools:
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
    judgments: Judgments, checks: Checks, *, min_seconds: float | None = None, by: By = "unit"
) -> UnitChecks:
    """Which units rate check document H above N and, with `min_seconds`, take enough time for it (section 3.2.5).

    Parameters
    ----------
    checks : {topic: (H, N)}, or gold judgments; see `check_documents`.
    min_seconds : least time per document (20 in the paper); a judgment without a recorded time passes.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError
        min_seconds without a seconds column; check documents that are not named.
    InputError
        A unit without its check documents.
    """
    units = units_of(judgments, by=by)
    high, low = check_magnitudes(units, checks)
    slow_enough = np.ones(len(units), bool)
    if min_seconds is not None:
        if judgments.seconds is None:
            raise ArgumentError("the judgments have no seconds column", "min_seconds", min_seconds)
        slow_enough = units.lowest(np.where(np.isnan(judgments.seconds), np.inf, judgments.seconds)) >= min_seconds
    return UnitChecks(units, high > low, slow_enough)


def named_checks(units: Units, checks: Checks | None) -> Mapping[str, tuple[str, str]]:
    """{topic: (H, N)} for every topic of the units, named or implied by gold."""
    if checks is None:
        raise ArgumentError("checks: name the check documents, as {topic: (H, N)} or by gold judgments")
    if isinstance(checks, Judgments):
        return _checks_of(units, with_grades(units.judgments, checks))
    for topic in units.judgments.topics:
        if topic not in checks:
            raise ArgumentError(f"checks: topic {topic} has none; give {{{topic!r}: (H, N)}}")
        high, low = checks[topic]
        if high == low:
            raise ArgumentError(f"checks: topic {topic} has {high} as both H and N; give two documents")
    return checks


def _checks_of(units: Units, with_gold: AgainstGold) -> dict[str, tuple[str, str]]:
    judgments = units.judgments
    grades = with_gold.grades()
    # The number of units that contain each (topic, document).
    pair = judgments.pair_numbers
    pairs, first, of_row = np.unique(pair, return_index=True, return_inverse=True)
    in_unit = np.unique(of_row * len(units) + units.number)
    n_units = np.bincount(in_unit // len(units), minlength=pairs.size)
    topic = judgments.topic[first]
    document = judgments.document[first]
    grade = grades[first]
    checks = {}
    for t, name in enumerate(judgments.topics):
        here = np.flatnonzero((topic == t) & ~np.isnan(grade))
        grades_here = grade[here]
        if np.unique(grades_here).size < 2:
            raise ArgumentError(
                f"topic {name}: its judged documents have fewer than two different gold grades, which do not determine "
                f"the check documents; name them, as checks={{{name!r}: (H, N)}}"
            )
        ends = (here[grades_here == end] for end in (grades_here.max(), grades_here.min()))
        high, low = (judgments.documents[document[_most_frequent(rows, n_units, name)]] for rows in ends)
        checks[name] = (high, low)
    return checks


def _most_frequent(rows: Rows, n_units: Rows, topic: str) -> int:
    most = rows[n_units[rows] == n_units[rows].max()]
    if most.size > 1:
        raise ArgumentError(
            f"topic {topic}: {most.size} documents with the same extreme gold grade are in equally many units; "
            f"name the check documents, as checks={{{topic!r}: (H, N)}}"
        )
    return int(most[0])
