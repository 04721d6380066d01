"""Preferences counted up, as models of worth read them: how often each of two documents won, by assessor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.bradley_terry import Rows
from qrowd.model.panel import Pool
from qrowd.model.preferences import Preferences
from qrowd.preferences.decided import halves_of_ties

Ties = Literal["half", "davidson"]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One row per topic, two documents, assessor and side on which the first of them was shown; sorted by topic.

    pool : the documents compared or marked; first and second are rows of it.
    rows : won, lost and tied are the weights of the judgments that prefer `first`, that prefer `second`, that prefer
        neither.
    starts : (topics + 1,). pair : (rows,) number of the two documents, whoever compared them.
    """

    pool: Pool
    rows: Rows
    starts: Ints
    pair: Ints

    @property
    def total(self) -> Floats:
        """(rows,) weight of all judgments."""
        return np.asarray(self.rows.won + self.rows.lost + self.rows.tied)

    def of_topic(self, topic: int) -> slice:
        """The rows of a topic."""
        return slice(int(self.starts[topic]), int(self.starts[topic + 1]))

    def times(self, often: Floats) -> Comparisons:
        """Every row counted `often` times, (rows,); those counted never are left out."""
        numbers = np.flatnonzero(often)
        n = often[numbers]
        rows = self.rows.at(numbers)
        rows = rows._replace(won=rows.won * n, lost=rows.lost * n, tied=rows.tied * n)
        starts = np.searchsorted(numbers, self.starts).astype(np.int64)
        return Comparisons(self.pool, rows, starts, self.pair[numbers])


def comparisons(preferences: Preferences, *, ties: Ties, strong: float, sides: bool) -> Comparisons:
    """Count the preferences of every topic.

    ties : half a preference each way is a tie ("davidson"), or just that ("half").
    strong : weight of a strong preference, if an ordinary one weighs 1. sides : whether to tell what was shown first.
    """
    pool, width = preferences.pool, max(len(preferences.documents), 1)
    pooled = np.repeat(np.arange(len(pool.topics)), np.diff(pool.starts)) * width + pool.document
    begin = preferences.topic.astype(np.int64) * width
    preferred = np.searchsorted(pooled, begin + preferences.preferred)
    other = np.searchsorted(pooled, begin + preferences.other)
    up = preferred < other
    low, high = np.minimum(preferred, other), np.maximum(preferred, other)
    side = np.zeros(len(preferences))
    if sides and preferences.first is not None:
        order = np.nan_to_num(2 * preferences.first - 1)  # 1: the preferred document was shown first
        side = np.where(up, order, -order)
    weight = np.ones(len(preferences)) if preferences.weight is None else preferences.weight
    weight = weight * np.where(preferences.strength == 2, strong, 1.0)
    size = max(pool.document.size, 1)
    pair, whose = np.unique(low * size + high, return_inverse=True)
    key = (whose * max(len(preferences.assessors), 1) + preferences.assessor) * 3 + side.astype(np.int64) + 1
    keys, row = np.unique(key, return_inverse=True)
    tied = np.zeros(len(preferences), bool)
    if ties == "davidson" and preferences.weight is not None:
        tied = halves_of_ties(row, up, preferences.weight)

    def counted(which: NDArray[np.bool_]) -> Floats:
        return np.asarray(np.bincount(row, np.where(which, weight, 0.0), minlength=keys.size), np.float64)

    n_pair = keys // 3 // max(len(preferences.assessors), 1)
    first, second = pair[n_pair] // size, pair[n_pair] % size
    rows = Rows(
        first.astype(np.int32),
        second.astype(np.int32),
        (keys // 3 % max(len(preferences.assessors), 1)).astype(np.int32),
        (keys % 3 - 1).astype(np.float64),
        *(counted(which) for which in (up & ~tied, ~up & ~tied, tied)),
    )
    return Comparisons(pool, rows, np.searchsorted(first, pool.starts).astype(np.int64), n_pair)


def components(data: Comparisons) -> tuple[Ints, NDArray[np.bool_]]:
    """Which documents are linked, numbered from 0 within a topic, -1 if never compared; and whether they were.

    Both are (documents,).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, ends = data.pool.document.size, (data.rows.first, data.rows.second)
    graph = csr_array((np.ones(data.pair.size), ends), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    compared = np.isin(np.arange(n), ends)
    component = np.full(n, -1, np.int64)
    for topic in range(len(data.pool.topics)):
        rows = np.arange(n)[data.pool.rows(topic)]
        rows = rows[compared[rows]]
        _, begin, which = np.unique(label[rows], return_index=True, return_inverse=True)
        component[rows] = np.argsort(np.argsort(begin))[which]
    return component, compared


def need_chains(data: Comparisons) -> None:
    """An error unless every document of a topic beats every other one over some chain, as is needed without a ridge."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, all_rows = data.pool.document.size, data.rows
    won, lost = all_rows.won > 0, all_rows.lost > 0
    tail = np.concatenate([all_rows.first[won], all_rows.second[lost]])
    head = np.concatenate([all_rows.second[won], all_rows.first[lost]])
    graph = csr_array((np.ones(tail.size), (tail, head)), shape=(n, n))
    _, label = connected_components(graph, connection="strong")
    _, compared = components(data)
    for number, topic in enumerate(data.pool.topics):
        rows = np.arange(n)[data.pool.rows(number)]
        rows = rows[compared[rows]]
        parts = [rows[label[rows] == part] for part in dict.fromkeys(label[rows].tolist())]
        if len(parts) > 1:
            parts.sort(key=len, reverse=True)
            names = "; ".join(
                ", ".join(data.pool.documents[d] for d in data.pool.document[part[:3]].tolist())
                + (f" and {part.size - 3} more" if part.size > 3 else "")
                for part in parts[:3]
            )
            raise ArgumentError(
                f"ridge=0: topic {topic} falls into {len(parts)} parts ({names}{'; ...' if len(parts) > 3 else ''}) "
                "that did not win against one another both ways, so log-worths have no bounds; take a ridge above 0"
            )
