"""Simulated full runs: every topic's list is one that a real system returned and that was judged to the cut.

Judgments that cover few of the retrieved documents still cover some lists completely. Merging such lists at random
gives systems without unjudged documents, each of whose rankings is real. Maddalena, Mizzaro, Scholer, Turpin (2017), On
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
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments
from qrowd.model.labels import compact
from qrowd.model.runs import Runs, ScoreDtype
from qrowd.simulation.arguments import numbered
from qrowd.uncertainty.label_samples import pool_of, whole


@dataclass(frozen=True, eq=False)
class CompleteLists:
    """Which lists are judged without a gap down to a depth: the paper's complete sub-runs.

    topics, systems : labels; topics that runs and judgments share, in the order of the judgments.
    complete : (topics, systems) bool; a list shorter than `depth` is not complete.
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    complete: NDArray[np.bool_]
    depth: int

    @property
    def counts(self) -> NDArray[np.int64]:
        """(topics,) how many systems have a complete list."""
        return np.asarray(self.complete.sum(axis=1))

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per topic: how many complete lists it has."""
        return make_frame({"topic": np.array(self.topics, object), "complete": self.counts}, backend)


def complete_lists(
    runs: Runs, judgments: Judgments, *, depth: int = 10, score_dtype: ScoreDtype = "float64"
) -> CompleteLists:
    """Lists whose first `depth` documents have all been judged, by anyone.

    judgments : negative values are "not judged".

    Raises
    ------
    NoOverlapError
        Runs and judgments share no topic.
    """
    whole("depth", depth)
    pool, pair = pool_of(judgments)
    alignment = align(runs, pool, score_dtype)
    judged = np.bincount(pair[judgments.value >= 0], minlength=pool.document.size) > 0
    complete = np.zeros(alignment.missing.shape, bool)
    for t, ranked in enumerate(alignment.topics):
        head = ranked.rows[:, :depth]
        if head.shape[1] == depth:
            complete[t] = ((head >= 0) & judged[pool.rows(t)][head]).all(axis=1)
    known = set(runs.topics)
    shared = np.array([topic in known for topic in pool.topics])
    topics = tuple(topic for topic in pool.topics if topic in known)
    return CompleteLists(topics, runs.systems, complete[shared], int(depth))


def merged_runs(
    runs: Runs,
    judgments: Judgments,
    *,
    n: int = 100,
    depth: int = 10,
    least: int = 2,
    score_dtype: ScoreDtype = "float64",
    rng: Rng = None,
) -> Runs:
    """n simulated systems, each a random merge of complete lists, one for every topic that has enough of them.

    depth : documents that must be judged, and that are kept. least : complete lists a topic needs to take part.
    score_dtype : of the ranking, as in `evaluate`. rng : a list drawn depends on it, on the labels of topic and systems
        and on the number of the simulated system, not on n.

    The order is that of the lists, ties broken; scores count down from `depth` to 1. Two simulated systems may draw the
    same list, or even all of them.

    Raises
    ------
    NoOverlapError
        No shared topic, or none with `least` complete lists.
    """
    whole("n", n)
    whole("least", least)
    found = complete_lists(runs, judgments, depth=depth, score_dtype=score_dtype)
    enough = np.flatnonzero(found.counts >= least)
    if not enough.size:
        raise NoOverlapError(
            f"no topic has {least} lists whose first {depth} documents are all judged (the most is "
            f"{int(found.counts.max(initial=0))}); choose a smaller depth or least"
        )
    chance, ranked = Chance.of(rng), runs.ranked(score_dtype)
    by_label = sorted(range(len(runs.systems)), key=runs.systems.__getitem__)
    number = {topic: t for t, topic in enumerate(runs.topics)}
    documents, topics = [], []
    for t in enough:
        label = found.topics[t]
        able = np.array([s for s in by_label if found.complete[t, s]])
        drawn = able[(chance.stream(f"list {label}").random(n) * able.size).astype(np.int64)]
        at = ranked.starts[drawn, number[label]][:, None] + np.arange(depth)
        documents.append(ranked.document[at])
        topics.append(np.full(at.shape, number[label], np.int32))
    # One simulated system after the other, its topics in order, each list down the ranks.
    topic_labels, topic = compact(runs.topics, np.stack(topics, axis=1).ravel())
    document_labels, document = compact(runs.documents, np.stack(documents, axis=1).ravel())
    system = np.repeat(np.arange(n, dtype=np.int32), enough.size * depth)
    score = np.tile(np.arange(depth, 0, -1, dtype=np.float64), n * enough.size)
    return Runs(numbered("merged", n), topic_labels, document_labels, system, topic, document, score)
