"""From grades to preferences, and from preferences to grades. Either way something is lost, and it is said what."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import check_choice
from qrowd.kernels import preference
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.preferences import Preferences, TopicPreferences

Ties = Literal["drop", "random", "fractional"]
Levels = Literal["wins", "reach", "share"]


def from_grades(
    judgments: Judgments, *, ties: Ties = "drop", bad: float | None = 0.0, repeats: Repeats = "first", rng: Rng = None
) -> Preferences:
    """The preferences that grades imply: of two documents an assessor graded, the higher one is preferred.

    ties : what becomes of two documents of equal grade: no preference ("drop"); one, by the toss of a coin ("random",
        as in Table 2(b) of the paper); or half a preference in each direction ("fractional").
    bad : documents with this grade or a lower one are marked as Bad, and two of them are never ordered; None marks
        none.
    repeats : which of an assessor's repeated judgments counts; see `Judgments.single`.
    rng : decides the coin.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 3.2.

    >>> judgments = Judgments.from_rows([("q", "d1", "ann", 2), ("q", "d2", "ann", 1), ("q", "d3", "ann", 0)])
    >>> from_grades(judgments).to_rows()
    [('q', 'd1', 'd2', 'ann', 1), ('q', 'd1', 'd3', 'ann', 1), ('q', 'd2', 'd3', 'ann', 1)]
    """
    check_choice("ties", ties, Ties)
    one = judgments.single(repeats=repeats)
    judged = np.flatnonzero(one.value >= 0)
    cell = one.topic[judged].astype(np.int64) * len(one.assessors) + one.assessor[judged]
    rows = judged[np.argsort(cell, kind="stable")]
    sizes = np.bincount(cell, minlength=len(one.topics) * len(one.assessors))
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    value = one.value[rows]
    marked = value <= (-np.inf if bad is None else bad)

    pairs, _ = preference.pairs_by_value(starts, value, False)
    weight: Floats | None = None
    if marked.any():
        pairs = pairs[~(marked[pairs[:, 0]] & marked[pairs[:, 1]])]
    if ties != "drop":
        tied, _ = preference.pairs_by_value(starts, value, True)
        tied = tied[~(marked[tied[:, 0]] & marked[tied[:, 1]])]
        if ties == "random":
            turned = np.asarray(Chance.of(rng).stream("ties").random(tied.shape[0])) < 0.5
            tied = np.where(turned[:, None], tied[:, ::-1], tied)
        else:
            tied = np.concatenate([tied, tied[:, ::-1]])
            weight = np.repeat([1.0, 0.5], [pairs.shape[0], tied.shape[0]])
        pairs = np.concatenate([pairs, tied])
    if ties != "drop":  # keep the rows of a topic and assessor together
        order = np.argsort(np.searchsorted(starts, pairs[:, 0], side="right"), kind="stable")
        pairs, weight = pairs[order], None if weight is None else weight[order]
    better, worse, marks = rows[pairs[:, 0]], rows[pairs[:, 1]], rows[marked]
    return Preferences(
        one.topics,
        one.documents,
        one.assessors,
        one.topic[better],
        one.document[better],
        one.document[worse],
        one.assessor[better],
        np.ones(better.size, np.int64),
        one.topic[marks],
        one.document[marks],
        one.assessor[marks],
        weight=weight,
    )


def to_grades(preferences: Preferences, *, by: Levels = "wins") -> Judgments:
    """A grade for every document that an assessor compared or marked: where it stands among the others of its topic.

    by : "wins": how many documents it beats, that is, was preferred to by the greater weight; a document that is not
        Bad beats every Bad one where nothing else decides. "reach": the same over chains of preferences, those within
        a cycle aside. "share": documents beaten over documents compared with; for pairs judged unevenly often.

    Grades of different topics are not comparable, since they grow with the number of documents compared.

    >>> to_grades(Preferences.from_rows([("q", "a", "b", "ann"), ("q", "b", "c", "ann")])).value
    array([1., 1., 0.])
    """
    check_choice("by", by, Levels)
    pool = preferences.pool
    parts: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], Floats]] = []
    for topic in range(len(preferences.topics)):
        level = levels_of(preferences.topic_view(topic), by)
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


def levels_of(preferences: TopicPreferences, by: str) -> Floats:
    """(assessors, documents) the level of each document, nan where the assessor did not compare or mark it."""
    n = preferences.n_documents
    starts, pairs, weight = preferences.starts, preferences.pairs, preferences.weight
    if by == "reach":
        starts, pairs = majorities(preferences)
        pairs, starts = preference.closed_pairs(n, starts, pairs)
        weight = np.ones(pairs.shape[0])
    bad = np.zeros((preferences.n_assessors, n), bool)
    bad[np.repeat(np.arange(preferences.n_assessors), np.diff(preferences.bad_starts)), preferences.bad] = True
    counts = np.empty((preferences.n_assessors, 2, n))
    judged = np.ascontiguousarray(preferences.judged().T)
    for a in range(preferences.n_assessors):
        rows = slice(starts[a], starts[a + 1])
        counts[a] = _won_and_lost(pairs[rows], weight[rows], judged[a], bad[a])
    won, lost = counts[:, 0], counts[:, 1]
    level = won / np.maximum(won + lost, 1) if by == "share" else won
    return np.where(judged, level, np.nan)


def _won_and_lost(pairs: NDArray[np.int32], weight: Floats, judged: Bools, bad: Bools) -> tuple[Ints, Ints]:
    """(documents,) how many documents each beats, and how many beat it, by one assessor.

    One document beats another that it was preferred to by the greater weight. Where nothing else decides, whoever is
    judged and not Bad beats whoever is Bad.
    """
    n = judged.size
    balance = np.zeros((n, n))
    both_ways = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2)
    np.add.at(balance, tuple(both_ways.T), np.stack([weight, -weight], axis=1).ravel())
    by_marks = np.outer(judged & ~bad, judged & bad)
    beats = (balance > 0) | ((balance == 0) & by_marks)
    return beats.sum(axis=1), beats.sum(axis=0)


def majorities(preferences: TopicPreferences) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The pairs that each assessor ordered one way by the greater weight, once each, and where each assessor starts."""
    n, pairs = max(preferences.n_documents, 1), preferences.pairs.astype(np.int64)
    assessor = np.repeat(np.arange(preferences.n_assessors), np.diff(preferences.starts))
    upward = pairs[:, 0] < pairs[:, 1]
    pair, which = np.unique((assessor * n + pairs.min(axis=1)) * n + pairs.max(axis=1), return_inverse=True)
    balance = np.bincount(which, np.where(upward, preferences.weight, -preferences.weight), minlength=pair.size)
    pair, up = pair[balance != 0], balance[balance != 0] > 0
    low, high = pair // n % n, pair % n
    starts = np.searchsorted(pair, np.arange(preferences.n_assessors + 1) * n * n).astype(np.int64)
    return starts, np.stack([np.where(up, low, high), np.where(up, high, low)], axis=1).astype(np.int32)
