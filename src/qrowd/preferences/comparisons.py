"""Preferences counted up, as models of worth read them: how often each of two documents won, by assessor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.model.panel import Pool
from qrowd.model.preferences import Preferences
from qrowd.preferences.decided import halves_of_ties

Ties = Literal["half", "davidson"]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One row per topic, two documents, assessor and side on which the first of them was shown; sorted by topic.

    pool : the documents compared or marked. first, second : (rows,) int32, rows of the pool. assessor : (rows,) int32.
    side : (rows,) 1 where `first` was shown first, -1 where `second` was, 0 where that is unknown or of no interest.
    won, lost, tied : (rows,) weight of the judgments that prefer `first`, that prefer `second`, that prefer neither.
    starts : (topics + 1,). pair : (rows,) number of the two documents, whoever compared them.
    """

    pool: Pool
    first: Codes
    second: Codes
    assessor: Codes
    side: Floats
    won: Floats
    lost: Floats
    tied: Floats
    starts: Ints
    pair: Ints

    @property
    def total(self) -> Floats:
        """(rows,) weight of all judgments."""
        return np.asarray(self.won + self.lost + self.tied)

    @property
    def arrays(self) -> tuple[Codes, Codes, Codes, Floats, Floats, Floats, Floats]:
        """What kernels take, in their order."""
        return self.first, self.second, self.assessor, self.side, self.won, self.lost, self.tied

    def times(self, often: Floats) -> Comparisons:
        """Every row counted `often` times, (rows,); those counted never are left out."""
        kept = np.flatnonzero(often)
        n = often[kept]
        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            assessor=self.assessor[kept],
            side=self.side[kept],
            won=self.won[kept] * n,
            lost=self.lost[kept] * n,
            tied=self.tied[kept] * n,
            starts=np.searchsorted(kept, self.starts).astype(np.int64),
            pair=self.pair[kept],
        )


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
        shown = np.nan_to_num(2 * preferences.first - 1)  # 1: the preferred document was shown first
        side = np.where(up, shown, -shown)
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
    return Comparisons(
        pool,
        first.astype(np.int32),
        second.astype(np.int32),
        (keys // 3 % max(len(preferences.assessors), 1)).astype(np.int32),
        (keys % 3 - 1).astype(np.float64),
        counted(up & ~tied),
        counted(~up & ~tied),
        counted(tied),
        np.searchsorted(first, pool.starts).astype(np.int64),
        n_pair,
    )


def components(data: Comparisons) -> tuple[Ints, NDArray[np.bool_]]:
    """Which documents are linked, numbered from 0 within a topic, -1 if never compared; and whether they were.

    Both are (documents,).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = data.pool.document.size
    graph = csr_array((np.ones(data.first.size), (data.first, data.second)), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    compared = np.zeros(n, bool)
    compared[data.first] = True
    compared[data.second] = True
    component = np.full(n, -1, np.int64)
    for topic in range(len(data.pool.topics)):
        rows = np.arange(n)[data.pool.rows(topic)]
        rows = rows[compared[rows]]
        _, begin, which = np.unique(label[rows], return_index=True, return_inverse=True)
        component[rows] = np.argsort(np.argsort(begin))[which]
    return component, compared


def need_chains(data: Comparisons) -> None:
    """Without a ridge, every document of a topic has to beat every other one over some chain.

    Raises
    ------
    ArgumentError
        Names a topic in which that is not so, and the parts it falls into.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, won, lost = data.pool.document.size, data.won > 0, data.lost > 0
    tail = np.concatenate([data.first[won], data.second[lost]])
    head = np.concatenate([data.second[won], data.first[lost]])
    graph = csr_array((np.ones(tail.size), (tail, head)), shape=(n, n))
    _, label = connected_components(graph, connection="strong")
    _, compared = components(data)
    for number, topic in enumerate(data.pool.topics):
        rows = np.arange(n)[data.pool.rows(number)]
        rows = rows[compared[rows]]
        parts = [rows[label[rows] == part] for part in dict.fromkeys(label[rows].tolist())]
        if len(parts) > 1:
            parts.sort(key=len, reverse=True)
            shown = "; ".join(
                ", ".join(data.pool.documents[d] for d in data.pool.document[part[:3]].tolist())
                + (f" and {part.size - 3} more" if part.size > 3 else "")
                for part in parts[:3]
            )
            raise ArgumentError(
                f"ridge=0: topic {topic} falls into {len(parts)} parts ({shown}{'; ...' if len(parts) > 3 else ''}) "
                "that did not win against one another both ways, so log-worths have no bounds; take a ridge above 0"
            )
