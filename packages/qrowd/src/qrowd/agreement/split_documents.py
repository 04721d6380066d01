"""Retrieved documents on which assessors disagree most, with the grade of each assessor."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import QrowdError
from qrowd.model.alignment import align
from qrowd.model.conventions import ScoreDtype
from qrowd.model.panel import Panel, Pool
from qrowd.model.runs import Runs
from qrowd.model.scores import known_mean

SPLIT_DOCUMENTS = 8  # shown, at most OF_ONE_TOPIC of each topic
OF_ONE_TOPIC = 2
TOP = 10  # ranks at which a document matters


@dataclass(frozen=True)
class Grade:
    """The value that one assessor gave; share : of the scale's maximum, nan for magnitudes."""

    assessor: str
    value: float
    share: float


@dataclass(frozen=True)
class SplitDocument:
    """A document on which assessors disagree.

    sd : standard deviation of the values, in shares of the scale (of natural logarithms for magnitudes). retrieved :
    number of systems that have it among their first 10.
    """

    topic: str
    document: str
    sd: float
    retrieved: int
    grades: tuple[Grade, ...]


def split_documents(runs: Runs, panel: Panel, score_dtype: ScoreDtype) -> tuple[SplitDocument, ...]:
    """The retrieved documents that several assessors judged most differently; of equal ones, those of most systems."""
    magnitudes = np.isinf(panel.maximum)
    maximum = np.where(magnitudes, nan, panel.maximum)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.log(panel.values) if magnitudes.all() else panel.values / maximum
    shares = np.where(np.isfinite(shares), shares, nan)
    judged = ~np.isnan(shares)
    n = judged.sum(axis=1)
    sd = np.sqrt(known_mean((shares - known_mean(shares, axis=1)[:, None]) ** 2, axis=1))
    try:
        retrieved = _retrieved(runs, panel.pool, score_dtype)
    except QrowdError:  # no topic in common: nothing was retrieved
        retrieved = np.zeros(n.size, np.int64)
    sd = np.where(n > 1, np.round(sd, 9), 0.0)
    if retrieved.any():
        sd[retrieved == 0] = 0.0
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    n_shown: Counter[int] = Counter()
    rows: list[SplitDocument] = []
    for pair in np.lexsort((-retrieved, -sd)).tolist():
        t = int(topic[pair])
        if sd[pair] == 0 or len(rows) == SPLIT_DOCUMENTS:
            break
        if n_shown[t] == OF_ONE_TOPIC:
            continue
        n_shown[t] += 1
        grades = [
            Grade(panel.assessors[a], float(panel.values[pair, a]), float(panel.values[pair, a] / maximum[a]))
            for a in np.flatnonzero(judged[pair])
        ]
        grades.sort(key=lambda grade: (-(grade.value if isnan(grade.share) else grade.share), grade.assessor))
        document = panel.pool.documents[panel.pool.document[pair]]
        rows.append(SplitDocument(panel.pool.topics[t], document, float(sd[pair]), int(retrieved[pair]), tuple(grades)))
    return tuple(rows)


def _retrieved(runs: Runs, pool: Pool, score_dtype: ScoreDtype) -> NDArray[np.int64]:
    """(pairs,) how many systems have the pooled document among their first 10."""
    counts = np.zeros(pool.document.size, np.int64)
    for t, ranked in enumerate(align(runs, pool, score_dtype).topics):
        first = ranked.rows[:, :TOP]
        here = counts[pool.rows(t)]
        here += np.bincount(first[first >= 0], minlength=here.size)
    return counts
