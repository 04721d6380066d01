"""Merged systems: each topic's list was returned by a real system and judged down to the cut-off.

Judgments that cover few of the retrieved documents still cover some lists completely. Random merges of such lists are
systems without unjudged documents, each of whose rankings is real. Maddalena, Mizzaro, Scholer, Turpin (2017), On
Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation. ACM TOIS 35(3), section 7.2 and Figure 11.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import NoOverlapError
from qrowd.model.alignment import align
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.labels import compact
from qrowd.model.runs import Runs
from qrowd.simulation.truth import numbered
from qrowd_papers.magnitude.single_assessor import pool_of


def complete_lists(runs: Runs, judgments: Judgments, *, cutoff: int = 10) -> dict[str, NDArray[np.bool_]]:
    """{topic: (systems,) whether some assessor judged each of the first `cutoff` documents of the list}.

    A list shorter than `cutoff` is not complete. Negative values are "not judged".
    """
    pool, pair = pool_of(judgments)
    alignment = align(runs, pool, "float64")
    judged = np.bincount(pair[judgments.value >= 0], minlength=pool.document.size) > 0
    complete: dict[str, NDArray[np.bool_]] = {}
    for t, of_topic in enumerate(alignment.topics):
        head = of_topic.rows[:, :cutoff]
        if pool.topics[t] in runs.topics:
            covered = ((head >= 0) & judged[pool.rows(t)][head]).all(axis=1)
            complete[pool.topics[t]] = covered & (head.shape[1] == cutoff)
    return complete


def merged_runs(
    runs: Runs, judgments: Judgments, *, n_systems: int = 100, cutoff: int = 10, min_lists: int = 2, rng: Rng = None
) -> Runs:
    """n_systems simulated systems, each a random merge of complete lists, one for every topic that has enough of them.

    cutoff : documents that must be judged, and that are kept. min_lists : complete lists a topic needs to take part.
    The order is that of the lists, ties broken; scores count down from `cutoff` to 1. Two simulated systems may draw
    the same list, or even all of them.

    Raises
    ------
    NoOverlapError
        No shared topic, or none with `min_lists` complete lists.
    """
    lists = complete_lists(runs, judgments, cutoff=cutoff)
    enough = [topic for topic, complete in lists.items() if complete.sum() >= min_lists]
    if not enough:
        most = max((int(complete.sum()) for complete in lists.values()), default=0)
        raise NoOverlapError(
            f"no topic has {min_lists} lists whose first {cutoff} documents are all judged (the most is {most})"
        )
    chance, rankings = Chance.of(rng), runs.ranked(score_dtype="float64")
    by_label = sorted(range(len(runs.systems)), key=runs.systems.__getitem__)
    number = {topic: t for t, topic in enumerate(runs.topics)}
    documents, topics = [], []
    for label in enough:
        able = np.array([s for s in by_label if lists[label][s]])
        systems_drawn = able[(chance.stream(f"list {label}").random(n_systems) * able.size).astype(np.int64)]
        at = rankings.starts[systems_drawn, number[label]][:, None] + np.arange(cutoff)
        documents.append(rankings.document[at])
        topics.append(np.full(at.shape, number[label], np.int32))
    # One simulated system after the other, its topics in order, each list down the ranks.
    topic_labels, topic = compact(runs.topics, np.stack(topics, axis=1).ravel())
    document_labels, document = compact(runs.documents, np.stack(documents, axis=1).ravel())
    system = np.repeat(np.arange(n_systems, dtype=np.int32), len(enough) * cutoff)
    score = np.tile(np.arange(cutoff, 0, -1, dtype=np.float64), n_systems * len(enough))
    return Runs(numbered("merged", n_systems), topic_labels, document_labels, system, topic, document, score)
