"""What a scale is inferred from, kept for each assessor while judgments pass in a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Codes, Floats
from qrowd.model.inferred_scales import inferred_scales, joined_sources
from qrowd.model.labels import by_code
from qrowd.model.scales import Scale, infer_scale


def summary_of(values: Floats) -> Floats:
    """At most three of the values, from which the same scale is inferred: lowest, highest, one that is not whole.

    A scale depends on whether there is any value of 0 or more, on the lowest and highest of them, and on whether all
    are whole. Negative values, which mean "not judged", leave nothing.

    >>> summary_of(np.array([3.0, -1.0, 0.0, 2.0]))
    array([0., 3.])
    """
    own = values[values >= 0]
    if not own.size:
        return np.zeros(0)
    fraction = own[own % 1 != 0][:1]
    return np.unique(np.concatenate([[own.min(), own.max()], fraction]))


def summaries_of(values: Floats, assessor: Codes, n: int) -> tuple[Floats, ...]:
    """(n,) `summary_of` the values of each assessor. values, assessor : of each row."""
    return tuple(map(summary_of, by_code(values, assessor, n)))


@dataclass(frozen=True, eq=False)
class PieceSurvey:
    """What the survey needs to know of a piece of a file. n_rows : in it."""

    n_rows: int
    topics: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RunsSurvey(PieceSurvey):
    """Of runs. has_ranks : whether they state ranks."""

    systems: tuple[str, ...]
    has_ranks: bool


@dataclass(frozen=True, eq=False)
class JudgmentsSurvey(PieceSurvey):
    """Of judgments.

    summaries : (assessors,) `summary_of` the values of each. scales : (assessors,) of which declared ones are kept.
    tables : (assessors,) the table each comes from, by any key; the assessors of one table share an inferred scale.
    columns : that were recorded. pairs : part * number of assessors + assessor, for those with judgments in a part.
    """

    assessors: tuple[str, ...]
    summaries: tuple[Floats, ...]
    scales: tuple[Scale, ...]
    tables: tuple[object, ...]
    columns: tuple[str, ...]
    pairs: NDArray[np.int64]


class AssessorSurvey:
    """Assessors in the order in which they appear, with what their scales are inferred from.

    Filled by `add`, one table or part of a table at a time.
    """

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._summaries: list[Floats] = []
        self._declared: list[Scale | None] = []
        self._tables: dict[object, set[int]] = {}

    def add(self, survey: JudgmentsSurvey) -> None:
        """Take in the assessors of judgments."""
        each = zip(survey.assessors, survey.summaries, survey.scales, survey.tables, strict=True)
        for name, summary, scale, table in each:
            a = self._number.setdefault(name, len(self._number))
            if a == len(self._summaries):
                self._summaries.append(np.zeros(0))
                self._declared.append(None)
            self._summaries[a] = summary_of(np.concatenate([self._summaries[a], summary]))
            if scale.declared:
                self._declared[a] = scale
            self._tables.setdefault(table, set()).add(a)

    @property
    def assessors(self) -> tuple[str, ...]:
        return tuple(self._number)

    def sources(self) -> tuple[int, ...]:
        """(assessors,) number of the table each comes from; tables that share an assessor are one."""
        tables = [np.array(sorted(members), np.int64) for members in self._tables.values()]
        return joined_sources(tables, len(self._number))

    def scales(self) -> tuple[Scale, ...]:
        """(assessors,) the declared scale, or the one inferred for the assessor's table."""
        return inferred_scales(self._summaries, self._declared, self.sources())

    def summaries(self) -> tuple[Floats, ...]:
        """(assessors,) `summary_of` the values of each."""
        return tuple(self._summaries)


def own_scales_of(assessors: Sequence[str], scales: Sequence[Scale], summaries: Sequence[Floats]) -> dict[str, Scale]:
    """As `Judgments.own_scales`, from summaries of the assessors' values."""
    each = zip(assessors, scales, summaries, strict=True)
    return {name: scale if scale.declared else infer_scale(summary) for name, scale, summary in each}


def short_of(assessors: Sequence[str], scales: Sequence[Scale], summaries: Sequence[Floats]) -> dict[str, Scale]:
    """As `Judgments.stopping_short`, from summaries of the assessors' values."""
    own = own_scales_of(assessors, scales, summaries)
    return {
        name: own_scale
        for (name, own_scale), scale, summary in zip(own.items(), scales, summaries, strict=True)
        if summary.size and own_scale.maximum < scale.maximum and scale.kind != "magnitude"
    }
