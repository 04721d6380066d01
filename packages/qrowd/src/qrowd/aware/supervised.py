"""Accuracies from a gold assessor who judged some of the topics, instead of from random assessors.

The AWARE paper's future work, as in Ferrante, Ferro, Piazzon (2020), s-AWARE: Supervised Measure-Based Methods for
Crowd-Assessors Combination. CLEF, LNCS 12260: the more similar an assessor's scores are to the gold assessor's, the
higher the assessor's weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from qrowd.aware.estimators import GAPS
from qrowd.aware.random_assessors import CONVENTIONS, LEVELS, similarity_to_random
from qrowd.aware.similarity import Similarities, SimilarityOptions
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.executors import AnyExecutor
from qrowd.model.chance import Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.threads import Progress


def assessor_similarities(
    runs: Runs,
    judgments: Judgments,
    measures: object | Sequence[object],
    *,
    gold: str | Judgments | None = None,
    n_resamples: int = 1000,
    levels: Mapping[str, float] = LEVELS,
    conventions: Conventions = CONVENTIONS,
    rng: Rng = 1,
    executor: AnyExecutor = None,
    progress: Progress | None = None,
) -> Similarities:
    """Compare every assessor with random assessors, or with a gold assessor where one is given, as `qrowd aware` does.

    A topic in which an assessor found nothing relevant is left out for this assessor, whatever `conventions.empty` is.

    gold : an assessor of the judgments, who is then not weighted, or the judgments of one gold assessor.
    n_resamples, levels, rng, executor, progress : of `similarity_to_random`; without effect where a
        gold is given.

    Raises
    ------
    ArgumentError
        A gold that is no assessor of the judgments, and as of `similarity_to_random` and `similarity_to_gold`.
    """
    conventions = replace(conventions, empty="nan")
    if gold is None:
        return similarity_to_random(
            runs,
            judgments,
            measures,
            n_resamples=n_resamples,
            levels=levels,
            conventions=conventions,
            rng=rng,
            executor=executor,
            progress=progress,
        )
    if isinstance(gold, str):
        if gold not in judgments.assessors:
            raise ArgumentError(closest(gold, judgments.assessors, "assessor"), "gold", gold)
        gold, judgments = judgments.select(assessors=gold), judgments.select(assessors=lambda name: name != gold)
    scores, true = (evaluate(runs, part, measures, conventions=conventions) for part in (judgments, gold))
    return similarity_to_gold(scores, true)


def similarity_to_gold(
    scores: Scores,
    gold: Scores,
    *,
    topics: Sequence[str] | None = None,
) -> Similarities:
    """Compare every assessor's scores with a gold assessor's, by every gap.

    scores, gold : of the same systems by the same measures; gold has one assessor.
    topics : topics on which the gold's scores are used; default: all on which the gold has a score.

    Similarities are defined as in `similarity_to_random`, but here they raise an assessor's accuracy, and a correlation
    below 0 is similarity 0; the gold's ranking is the reference of AP correlation. On a topic without the gold's
    scores a "tpc" estimator uses that over all topics.

    Raises
    ------
    ArgumentError
        Other systems or measures, a gold of several assessors, or a topic that the gold does not have.
    NoOverlapError
        An assessor shares no topic with the gold.
    """
    if len(gold.assessors) != 1:
        raise ArgumentError(f"gold: one assessor was expected, and there are {len(gold.assessors)}")
    if gold.systems != scores.systems or gold.measures != scores.measures:
        raise ArgumentError("gold: the same systems and measures as those of the scores were expected")
    if len(scores.systems) < 2:
        raise ArgumentError("scores: AWARE compares how assessors score systems; give two systems or more")
    place = {topic: t for t, topic in enumerate(gold.topics)}
    if topics is not None and (missing := [topic for topic in topics if topic not in place]):
        raise ArgumentError(f"topics: the gold has no topic {missing[0]}; name topics that it judged")
    allowed = place if topics is None else set(topics)
    column = [place[topic] if topic in place and topic in allowed else -1 for topic in scores.topics]
    truth = np.where(np.array(column)[None, :, None] >= 0, gold.values[:, 0, column], np.nan)
    options = SimilarityOptions("gold").checked(scores)
    n_measures, n_assessors, n_topics, _ = scores.values.shape
    single = np.full((len(GAPS), n_measures, 1, n_assessors), np.nan)
    by_topic = np.full((*single.shape, n_topics), np.nan)
    for m in range(n_measures):
        for a in range(n_assessors):
            own = scores.values[m, a]
            shared = np.flatnonzero(~np.isnan(own).any(axis=1) & ~np.isnan(truth[m]).any(axis=1))
            if not shared.size:
                continue
            similarity, parts = zip(
                *(options.on_topic(own[None, t], np.ascontiguousarray(truth[m, t][:, None])) for t in shared),
                strict=True,
            )
            by_topic[:, m, 0, a, shared] = np.array(similarity)[:, :, 0, 0].T
            mean = np.ascontiguousarray(truth[m, shared].mean(axis=0)[:, None])
            single[:, m, 0, a] = options.overall(own[None, shared], mean, reduce(add, parts))[:, 0, 0]
    known = scores.known
    unmatched = known.any(axis=(0, 2)) & np.isnan(single[0, :, 0]).any(axis=0)
    if unmatched.any():
        others = int(unmatched.sum()) - 1
        raise NoOverlapError(
            f"assessor {scores.assessors[int(unmatched.argmax())]} shares no topic with the gold"
            f"{' among topics=' if topics is not None else ''}{f', nor do {others} others' if others else ''}; let the "
            "gold judge one of their topics"
        )
    by_topic = np.where(np.isnan(by_topic), single[..., None], by_topic)
    by_topic[np.broadcast_to(~known[None, :, None], by_topic.shape)] = np.nan
    attributes = {
        "gold": gold.assessors[0],
        "topics": [topic for topic, c in zip(scores.topics, column, strict=True) if c >= 0],
    }
    return Similarities(scores, "gold", {"gold": 1.0}, single, by_topic, attributes)
