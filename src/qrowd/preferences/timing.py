"""How long a preference takes, and how much of that is reading.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 3.2
and Table 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class JudgingTime(Result):
    """Median seconds per preference, (assessors,); nan where there is none. n : how many have a time.

    first_sight, n_first : of those in which the assessor saw at least one of the documents, on this topic, for the
        first time; later : of the others.
    """

    assessors: tuple[str, ...]
    n: Ints
    median: Floats
    n_first: Ints
    first_sight: Floats
    later: Floats

    _COLUMNS = ("assessors", "n", "median", "n_first", "first_sight", "later")


def judging_time(preferences: Preferences) -> JudgingTime:
    """Median seconds per preference of every assessor: in all, at first sight of a document, and later.

    What an assessor saw before goes by `order`, else by place. Medians, since breaks make means useless. Bad marks have
    no time, and do not make a document seen. For all assessors as one, give `preferences.pooled()`.

    Raises
    ------
    ArgumentError
        Nobody recorded seconds.
    """
    if preferences.seconds is None or np.isnan(preferences.seconds).all():
        raise ArgumentError("the preferences carry no seconds; read them from a table with a column of that name")
    n = len(preferences)
    order = np.arange(n) if preferences.order is None else preferences.order
    rows = np.lexsort((order,))
    cell = preferences.topic.astype(np.int64) * len(preferences.assessors) + preferences.assessor
    width = len(preferences.documents)
    documents = np.stack([cell * width + preferences.preferred, cell * width + preferences.other], axis=1)[rows].ravel()
    _, first = np.unique(documents, return_index=True)
    new = np.zeros(n, bool)
    new[rows[first // 2]] = True
    timed = ~np.isnan(preferences.seconds)

    def median(which: NDArray[np.bool_]) -> float:
        here = preferences.seconds[which & timed]  # type: ignore[index]
        return float(np.median(here)) if here.size else np.nan

    own = [preferences.assessor == a for a in range(len(preferences.assessors))]
    return JudgingTime(
        preferences.assessors,
        np.array([int((part & timed).sum()) for part in own], np.int64),
        np.array([median(part) for part in own]),
        np.array([int((part & timed & new).sum()) for part in own], np.int64),
        np.array([median(part & new) for part in own]),
        np.array([median(part & ~new) for part in own]),
    )
