"""From grades to preferences, and from preferences to grades. Either way something is lost, and it is said what."""

from __future__ import annotations

import numpy as np

from qrowd.kernels import preference
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences, TopicPreferences


def from_grades(judgments: Judgments) -> Preferences:
    """The preferences that grades imply: of two documents an assessor graded, the higher one is preferred.

    Documents of equal grade get no preference. Documents graded 0 are marked as Bad, and two of them are never ordered.
    Of an assessor's repeated judgments the first counts.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 3.2.

    >>> judgments = Judgments.from_rows([("q", "d1", "ann", 2), ("q", "d2", "ann", 1), ("q", "d3", "ann", 0)])
    >>> from_grades(judgments).to_rows()
    [('q', 'd1', 'd2', 'ann', 1), ('q', 'd1', 'd3', 'ann', 1), ('q', 'd2', 'd3', 'ann', 1)]
    """
    once = judgments.single()
    judged = np.flatnonzero(once.value >= 0)
    cell = once.topic[judged].astype(np.int64) * len(once.assessors) + once.assessor[judged]
    rows = judged[np.argsort(cell, kind="stable")]
    sizes = np.bincount(cell, minlength=len(once.topics) * len(once.assessors))
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    pairs, _ = preference.pairs_by_value(starts, once.value[rows])
    better = rows[pairs[:, 0]]
    worse = rows[pairs[:, 1]]
    marks = rows[once.value[rows] <= 0]
    return Preferences(
        once.topics,
        once.documents,
        once.assessors,
        once.topic[better],
        once.document[better],
        once.document[worse],
        once.assessor[better],
        np.ones(better.size, np.int64),
        once.topic[marks],
        once.document[marks],
        once.assessor[marks],
    )


def to_grades(preferences: Preferences) -> Judgments:
    """A grade for every document that an assessor compared or marked: how many documents of its topic it beats.

    A document beats another that it was preferred to by the greater weight; a document that is not Bad beats every Bad
    one where nothing else decides. Grades of different topics are not comparable, since they grow with the number of
    documents compared.

    >>> to_grades(Preferences.from_rows([("q", "a", "b", "ann"), ("q", "b", "c", "ann")])).value
    array([1., 1., 0.])
    """
    pool = preferences.pool
    parts: list[tuple[Codes, Codes, Codes, Floats]] = []
    for topic in range(len(preferences.topics)):
        level = levels_of(preferences.topic_view(topic))
        assessor, place = np.nonzero(~np.isnan(level))
        document = pool.document[pool.rows(topic)][place]
        parts.append(
            (np.full(place.size, topic, np.int32), document, assessor.astype(np.int32), level[assessor, place])
        )
    empty = np.empty(0, np.int32)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [empty, empty, empty, np.empty(0)]
    return Judgments.from_codes(
        preferences.topics,
        preferences.documents,
        preferences.assessors,
        columns[0],
        columns[1],
        columns[2],
        columns[3].astype(np.float64),
    )


def levels_of(preferences: TopicPreferences) -> Floats:
    """(assessors, documents) how many documents each beats, nan where the assessor did not compare or mark it."""
    judged = preferences.judged().T
    bad = np.zeros(judged.shape, bool)
    bad[np.repeat(np.arange(preferences.n_assessors), np.diff(preferences.bad_starts)), preferences.bad] = True
    n_beaten = np.empty(judged.shape)
    for a in range(preferences.n_assessors):
        rows = slice(preferences.starts[a], preferences.starts[a + 1])
        n_beaten[a] = _n_beaten(preferences.pairs[rows], preferences.weight[rows], judged[a], bad[a])
    return np.where(judged, n_beaten, np.nan)


def _n_beaten(pairs: Codes, weight: Floats, judged: Bools, bad: Bools) -> Ints:
    """(documents,) how many documents each beats, by one assessor; see `to_grades`."""
    weights = np.zeros((judged.size, judged.size))
    np.add.at(weights, (pairs[:, 0], pairs[:, 1]), weight)
    by_marks = np.outer(judged & ~bad, judged & bad)
    beats = (weights > weights.T) | ((weights == weights.T) & by_marks)
    return np.asarray(beats.sum(axis=1))
