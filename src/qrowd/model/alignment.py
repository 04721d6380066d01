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

    rows : (systems, depth) int32, place of the document in the topic's pool; -1 outside it and beyond the list's end.
    tied : (systems, depth) bool, the document has the score of the one above.
    lengths : (systems,) how many documents each system returned.
    """

    rows: NDArray[np.int32]
    tied: NDArray[np.bool_]
    lengths: NDArray[np.int64]


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

    def unjudged_share(self, cutoff: int | None) -> float:
        """Share of the first `cutoff` retrieved documents of each list that nobody judged; of all of them for None."""
        pooled = sum(int((t.rows[:, :cutoff] >= 0).sum()) for t in self.topics)
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
        rows = np.where(inside, place[rankings.document[at]], -1).astype(np.int32)
        place[retrieved[rows_retrieved]] = -1
        topics.append(RankedTopic(rows, inside & rankings.tied[at], lengths))
    missing = np.array([t.lengths == 0 for t in topics])
    return Alignment(
        pool,
        tuple(topics),
        missing,
        n_unjudged_topics=len(runs.topics) - sum(number >= 0 for number in shared),
        n_tied_lists=sum(int(t.tied.any(axis=1).sum()) for t in topics),
        n_lists=int((~missing).sum()),
    )
