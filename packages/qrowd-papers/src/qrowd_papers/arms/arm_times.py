"""How long a judgment takes, how much of that is reading, and how the interfaces of a study compare.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 3.2
and Table 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result

ALL = "all"


@dataclass(frozen=True, eq=False)
class ArmTimes(Result):
    """Median seconds per judgment by assessor and arm, (assessors, arms); nan where there is none.

    assessors : of all arms, "all" last. arms : their names, "all" last. n, n_first : judgments with a time, and those
    of them at first sight of a document. median, first_sight, later : medians of all judgments, of those at first
    sight, and of the others; a row or column "all" takes the median over all its judgments.
    """

    assessors: tuple[str, ...]
    arms: tuple[str, ...]
    n: Ints
    median: Floats
    n_first: Ints
    first_sight: Floats
    later: Floats

    def _columns(self) -> dict[str, Any]:
        """One row per assessor and arm."""
        names = ("n", "median", "n_first", "first_sight", "later")
        return {
            "assessor": np.repeat(np.array(self.assessors, object), len(self.arms)),
            "arm": np.tile(np.array(self.arms, object), len(self.assessors)),
            **{name: getattr(self, name).ravel() for name in names},
        }


def arm_times(arms: Mapping[str, Judgments | Preferences]) -> ArmTimes:
    """Median seconds per judgment by each assessor in each arm: Table 4, with the times at first sight beside it.

    arms : {name: what was collected in it}. An assessor has the same name in each arm.

    Raises
    ------
    ArgumentError
        An arm in which nobody recorded seconds.
    """
    if not arms:
        raise ArgumentError("arms: there are none")
    assessors = sorted({name for answers in arms.values() for name in answers.assessors})
    place = {name: i for i, name in enumerate(assessors)}
    parts = []
    for arm, (name, answers) in enumerate(arms.items()):
        who = np.array([place[label] for label in answers.assessors], np.int64)[answers.assessor]
        try:
            seconds = _seconds(answers)
        except ArgumentError as error:
            raise ArgumentError(f"arm {name}: {error}") from None
        parts.append((np.full(who.size, arm), who, seconds, _first_seen(answers)))
    which, who, seconds, new = (np.concatenate(column) for column in zip(*parts, strict=True))
    rows = [*(who == a for a in range(len(assessors))), np.ones(who.size, bool)]
    columns = [*(which == arm for arm in range(len(arms))), np.ones(who.size, bool)]
    cells = [_cell(seconds[row & column], new[row & column]) for row in rows for column in columns]
    shape = len(rows), len(columns)
    n, median, n_first, first_sight, later = _columns(cells)
    return ArmTimes(
        (*assessors, ALL),
        (*arms, ALL),
        n.reshape(shape),
        median.reshape(shape),
        n_first.reshape(shape),
        first_sight.reshape(shape),
        later.reshape(shape),
    )


Cell = tuple[int, float, int, float, float]  # n, median, n_first, first_sight, later


def _cell(seconds: Floats, new: NDArray[np.bool_]) -> Cell:
    timed = ~np.isnan(seconds)

    def median(which: NDArray[np.bool_]) -> float:
        return float(np.median(seconds[which])) if which.any() else np.nan

    return int(timed.sum()), median(timed), int((timed & new).sum()), median(timed & new), median(timed & ~new)


def _columns(cells: list[Cell]) -> tuple[Ints, Floats, Ints, Floats, Floats]:
    n, median, n_first, first_sight, later = (np.array(column) for column in zip(*cells, strict=True))
    return n, median, n_first, first_sight, later


def _seconds(answers: Preferences | Judgments) -> Floats:
    if answers.seconds is None or np.isnan(answers.seconds).all():
        noun = "preferences" if isinstance(answers, Preferences) else "judgments"
        raise ArgumentError(f"the {noun} carry no seconds; read them from a table with a column of that name")
    return answers.seconds


def _first_seen(answers: Preferences | Judgments) -> NDArray[np.bool_]:
    """(n,) whether the assessor saw a document of the row, on this topic, for the first time."""
    n = len(answers)
    order = np.arange(n) if answers.order is None else answers.order
    rows = np.lexsort((order,))
    cell = answers.topic.astype(np.int64) * len(answers.assessors) + answers.assessor
    columns = (answers.preferred, answers.other) if isinstance(answers, Preferences) else (answers.document,)
    documents = np.stack([cell * len(answers.documents) + column for column in columns], axis=1)[rows].ravel()
    _, first = np.unique(documents, return_index=True)
    new = np.zeros(n, bool)
    new[rows[first // len(columns)]] = True
    return new
