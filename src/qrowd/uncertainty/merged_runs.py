"""Simulated complete runs: each topic's list was returned by a real system and judged down to the cut-off.

Judgments that cover few of the retrieved documents still cover some lists completely. Random merges of such lists are
systems without unjudged documents, each of whose rankings is real. Maddalena, Mizzaro, Scholer, Turpin (2017), On
Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation. ACM TOIS 35(3), section 7.2 and Figure 11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import NoOverlapError
from qrowd.model.alignment import align
from qrowd.model.chance import Chance, Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import compact
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.simulation.arguments import numbered
from qrowd.uncertainty.label_samples import pool_of, whole

CONVENTIONS = Conventions()


@dataclass(frozen=True, eq=False)
class CompleteLists(Result):
    """Which lists are judged completely down to a cut-off: the paper's complete sub-runs.

    topics, systems : labels; topics that runs and judgments share, in the order of the judgments.
    complete : (topics, systems) bool; a list shorter than `cutoff` is not complete.
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    complete: NDArray[np.bool_]
    cutoff: int

    @property
    def counts(self) -> NDArray[np.int64]:
        """(topics,) number of systems with a complete list."""
        return np.asarray(self.complete.sum(axis=1))

    def _columns(self) -> dict[str, Any]:
        return {"topic": self.topics, "complete": self.counts}


def complete_lists(
    runs: Runs, judgments: Judgments, *, cutoff: int = 10, conventions: Conventions = CONVENTIONS
) -> CompleteLists:
    """Lists whose first `cutoff` documents were all judged by some assessor.

    judgments : negative values are "not judged".

    Raises
    ------
    NoOverlapError
        Runs and judgments share no topic.
    """
    whole("cutoff", cutoff)
    pool, pair = pool_of(judgments)
    alignment = align(runs, pool, conventions.score_dtype)
    judged = np.bincount(pair[judgments.value >= 0], minlength=pool.document.size) > 0
    complete = np.zeros(alignment.missing.shape, bool)
    for t, alignment_of_topic in enumerate(alignment.topics):
        head = alignment_of_topic.rows[:, :cutoff]
        if head.shape[1] == cutoff:
            complete[t] = ((head >= 0) & judged[pool.rows(t)][head]).all(axis=1)
    run_topics = set(runs.topics)
    shared = np.array([topic in run_topics for topic in pool.topics])
    topics = tuple(topic for topic in pool.topics if topic in run_topics)
    return CompleteLists(topics, runs.systems, complete[shared], int(cutoff))


def merged_runs(
    runs: Runs,
    judgments: Judgments,
    *,
    n_systems: int = 100,
    cutoff: int = 10,
    min_lists: int = 2,
    conventions: Conventions = CONVENTIONS,
    rng: Rng = None,
) -> Runs:
    """n_systems simulated systems, each a random merge of complete lists, one for every topic that has enough of them.

    cutoff : documents that must be judged, and that are kept. min_lists : complete lists a topic needs to take part.
    conventions : the `score_dtype` of the ranking, as in `evaluate`. rng : a list drawn depends on it, on the labels of
        topic and systems and on the number of the simulated system, not on n_systems.

    The order is that of the lists, ties broken; scores count down from `cutoff` to 1. Two simulated systems may draw
    the same list, or even all of them.

    Raises
    ------
    NoOverlapError
        No shared topic, or none with `min_lists` complete lists.
    """
    whole("n_systems", n_systems)
    whole("min_lists", min_lists)
    lists = complete_lists(runs, judgments, cutoff=cutoff, conventions=conventions)
    enough = np.flatnonzero(lists.counts >= min_lists)
    if not enough.size:
        raise NoOverlapError(
            f"no topic has {min_lists} lists whose first {cutoff} documents are all judged (the most is "
            f"{int(lists.counts.max(initial=0))}); choose a smaller cutoff or min_lists"
        )
    chance, rankings = Chance.of(rng), runs.ranked(score_dtype=conventions.score_dtype)
    by_label = sorted(range(len(runs.systems)), key=runs.systems.__getitem__)
    number = {topic: t for t, topic in enumerate(runs.topics)}
    documents, topics = [], []
    for t in enough:
        label = lists.topics[t]
        able = np.array([s for s in by_label if lists.complete[t, s]])
        systems_drawn = able[(chance.stream(f"list {label}").random(n_systems) * able.size).astype(np.int64)]
        at = rankings.starts[systems_drawn, number[label]][:, None] + np.arange(cutoff)
        documents.append(rankings.document[at])
        topics.append(np.full(at.shape, number[label], np.int32))
    # One simulated system after the other, its topics in order, each list down the ranks.
    topic_labels, topic = compact(runs.topics, np.stack(topics, axis=1).ravel())
    document_labels, document = compact(runs.documents, np.stack(documents, axis=1).ravel())
    system = np.repeat(np.arange(n_systems, dtype=np.int32), enough.size * cutoff)
    score = np.tile(np.arange(cutoff, 0, -1, dtype=np.float64), n_systems * enough.size)
    return Runs(numbered("merged", n_systems), topic_labels, document_labels, system, topic, document, score)
