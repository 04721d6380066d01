"""Runs laid over a pool: for every topic, which pooled document stands at which rank of which system."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import NoOverlapError
from qrowd.model.labels import first_of
from qrowd.model.panel import Pool
from qrowd.model.runs import Runs, ScoreDtype


@dataclass(frozen=True, eq=False)
class RankedTopic:
    """One topic's rankings over its pool.

    rows : (systems, depth) int32, place of the document in the topic's pool; -1 outside it and beyond the list's end,
        and for a duplicate of a document further up.
    tied : (systems, depth) bool, the document has the score of the one above.
    lengths : (systems,) how many documents each system returned.
    later : (systems, depth) bool, the duplicates of a document further up; None where no document has duplicates.
    """

    rows: NDArray[np.int32]
    tied: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    later: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Alignment:
    """Rankings of all systems over the topics of a pool.

    topics : one per pool topic, in the pool's order.
    missing : (topics, systems) bool, the system has no list for the topic.
    n_unjudged_topics : topics of the runs that nobody judged; they count for nothing.
    n_tied_lists, n_lists : among the lists of judged topics.
    """

    pool: Pool
    topics: tuple[RankedTopic, ...]
    missing: NDArray[np.bool_]
    n_unjudged_topics: int
    n_tied_lists: int
    n_lists: int

    @property
    def n_later_duplicates(self) -> int:
        """Retrieved documents that are duplicates of one further up in the same list."""
        return sum(int(topic.later.sum()) for topic in self.topics if topic.later is not None)

    def unjudged_share(self, cutoff: int | None) -> float:
        """Share of the first `cutoff` retrieved documents of each list that nobody judged; of all of them for None."""
        pooled = sum(int((t.rows[:, :cutoff] >= 0).sum()) for t in self.topics)
        pooled += sum(int(t.later[:, :cutoff].sum()) for t in self.topics if t.later is not None)
        retrieved = sum(
            int(np.minimum(t.lengths, t.rows.shape[1] if cutoff is None else cutoff).sum()) for t in self.topics
        )
        return 1 - pooled / retrieved if retrieved else 0.0

    def unjudged_shares(self, cuts: Iterable[int | None]) -> dict[int | None, float]:
        """{cutoff: share} of each cut-off that measures use, the smallest first and None, the whole list, last."""
        ordered = sorted(set(cuts), key=lambda cutoff: (cutoff is None, cutoff or 0))
        return {cutoff: self.unjudged_share(cutoff) for cutoff in ordered}


def align(runs: Runs, pool: Pool, score_dtype: ScoreDtype = "float64") -> Alignment:
    """Rank every list and find the pooled documents in it.

    Raises
    ------
    NoOverlapError
        No topic is in both.
    """
    topic_number = {label: i for i, label in enumerate(runs.topics)}
    shared = [topic_number.get(label, -1) for label in pool.topics]
    if all(number < 0 for number in shared):
        raise NoOverlapError(
            f"runs and judgments share no topic: runs have {first_of(runs.topics, 3)}, "
            f"judgments {first_of(pool.topics, 3)}; "
            "check that both are of the same collection"
        )
    rankings = runs.ranked(score_dtype=score_dtype)
    number = runs.document_number
    document = np.array([number.get(label, -1) for label in pool.documents], np.int32)[pool.document]
    place = np.full(len(runs.documents), -1, np.int32)
    n_systems = len(runs.systems)
    topics: list[RankedTopic] = []
    for i, topic in enumerate(shared):
        starts, lengths = (
            (rankings.starts[:, topic], rankings.lengths[:, topic])
            if topic >= 0
            else (np.zeros(n_systems, np.int64), np.zeros(n_systems, np.int64))
        )
        depth = max(int(lengths.max(initial=0)), 1)
        inside = np.arange(depth) < lengths[:, None]
        at = np.where(inside, starts[:, None] + np.arange(depth), 0)
        retrieved = document[pool.rows(i)]
        rows_retrieved = np.flatnonzero(retrieved >= 0)
        place[retrieved[rows_retrieved]] = rows_retrieved
        merged = {number[label]: row for label, row in pool.duplicates.get(i, {}).items() if label in number}
        place[list(merged)] = list(merged.values())
        rows = np.where(inside, place[rankings.document[at]], -1).astype(np.int32)
        place[retrieved[rows_retrieved]] = place[list(merged)] = -1
        later = _later(rows, set(merged.values())) if merged else None
        rows = rows if later is None else np.where(later, np.int32(-1), rows)
        topics.append(RankedTopic(rows, inside & rankings.tied[at], lengths, later))
    missing = np.array([t.lengths == 0 for t in topics])
    return Alignment(
        pool,
        tuple(topics),
        missing,
        n_unjudged_topics=len(runs.topics) - sum(number >= 0 for number in shared),
        n_tied_lists=sum(int(t.tied.any(axis=1).sum()) for t in topics),
        n_lists=int((~missing).sum()),
    )


def _later(rows: NDArray[np.int32], merged: set[int]) -> NDArray[np.bool_]:
    """(systems, depth) where one of these documents has been further up already."""
    later = np.zeros(rows.shape, bool)
    for row in merged:
        here = rows == row
        later |= here & (np.cumsum(here, axis=1) > 1)
    return later
