"""Accuracies from a gold assessor who judged some of the topics, instead of from random assessors.

The AWARE paper's future work, as in Ferrante, Ferro, Piazzon (2020), s-AWARE: Supervised Measure-Based Methods for
Crowd-Assessors Combination. CLEF, LNCS 12260: an assessor whose scores are close to the gold's is to be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from qrowd.aware.averages import averaged
from qrowd.aware.estimators import GAPS, estimator
from qrowd.aware.gaps import Across, Gaps, Polarity
from qrowd.aware.similarity import Comparison, Reference
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.scores import Scores

Floats = NDArray[np.float64]


def gold_gaps(
    scores: Scores,
    gold: Scores,
    *,
    topics: Sequence[str] | None = None,
    bandwidth: float = 0.015,
    points: int = 100,
    beta: float = 1.0,
    reference: Reference = "other",
) -> Gaps:
    """Compare every assessor's scores with a gold assessor's, by every gap.

    scores, gold : of the same systems by the same measures; gold has one assessor. Both from `qrowd.evaluation.score`
        or `Scores.from_xarray`.
    topics : where the gold may be looked at; by default all topics where it has a score.
    reference : of AP correlation, "other" (the gold; the assessor's list is walked) or "assessor".

    The similarity is that of random gaps, but it counts for an assessor, and a correlation below 0 is no similarity. A
    topic that the gold may not be looked at has no similarity of its own; a "tpc" estimator takes the assessor's over
    all topics there.

    Raises
    ------
    ArgumentError
        Other systems or measures, a gold of several assessors, a topic that the gold has not.
    NoOverlapError
        An assessor shares no topic with the gold.
    """
    if len(gold.assessors) != 1:
        raise ArgumentError(f"gold: one assessor was expected, and there are {len(gold.assessors)}")
    if gold.systems != scores.systems or gold.measures != scores.measures:
        raise ArgumentError("gold: the same systems and measures as those of the scores were expected")
    if len(scores.systems) < 2:
        raise ArgumentError("scores: AWARE compares how assessors score systems, and there is only one")
    place = {topic: t for t, topic in enumerate(gold.topics)}
    if topics is not None and (lost := [topic for topic in topics if topic not in place]):
        raise ArgumentError(f"topics: the gold has no topic {lost[0]}; take topics that it judged")
    allowed = place if topics is None else set(topics)
    column = [place[topic] if topic in place and topic in allowed else -1 for topic in scores.topics]
    truth = np.where(np.array(column)[None, :, None] >= 0, gold.values[:, 0, column], np.nan)
    compared = Comparison.of(scores, bandwidth, points, beta, reference, signed=True)
    n_measures, n_assessors, n_topics, _ = scores.values.shape
    single = np.full((len(GAPS), n_measures, 1, n_assessors), np.nan)
    by_topic = np.full((*single.shape, n_topics), np.nan)
    for m in range(n_measures):
        for a in range(n_assessors):
            mine = scores.values[m, a]
            shared = np.flatnonzero(~np.isnan(mine).any(axis=1) & ~np.isnan(truth[m]).any(axis=1))
            if not shared.size:
                continue
            alike, parts = zip(
                *(compared.on_topic(mine[None, t], np.ascontiguousarray(truth[m, t][:, None])) for t in shared),
                strict=True,
            )
            by_topic[:, m, 0, a, shared] = np.array(alike)[:, :, 0, 0].T
            mean = np.ascontiguousarray(truth[m, shared].mean(axis=0)[:, None])
            single[:, m, 0, a] = compared.overall(mine[None, shared], mean, reduce(add, parts))[:, 0, 0]
    known = scores.known
    lost = [name for a, name in enumerate(scores.assessors) if known[:, a].any() and np.isnan(single[0, :, 0, a]).any()]
    if lost:
        raise NoOverlapError(
            f"assessor {lost[0]} shares no topic with the gold{' among topics=' if topics is not None else ''}"
            f"{', nor do ' + str(len(lost) - 1) + ' others' if len(lost) > 1 else ''}; let the gold judge one of theirs"
        )
    by_topic = np.where(np.isnan(by_topic), single[..., None], by_topic)
    by_topic[np.broadcast_to(~known[None, :, None], by_topic.shape)] = np.nan
    attributes = {
        "gold": gold.assessors[0],
        "topics": [topic for topic, c in zip(scores.topics, column, strict=True) if c >= 0],
        "bandwidth": bandwidth,
        "points": points,
        "beta": beta,
        "reference": reference,
    }
    return Gaps(scores, "gold", {"gold": 1.0}, single, by_topic, attributes)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """AWARE on topics that had no part in the estimate.

    scores : of one assessor, who bears the estimator's name.
    accuracy : (measures, assessors, topics), of each topic as its fold's other topics have it.
    folds : (topics,) which fold each topic was in.
    seed : give it as `rng` to see the same folds again.
    """

    scores: Scores
    accuracy: Floats
    folds: NDArray[np.int64]
    seed: Seed


def leave_topics_out(
    scores: Scores,
    estimate: Callable[[tuple[str, ...]], Gaps],
    name: str,
    *,
    folds: int = 5,
    polarity: Polarity = "dissimilarity",
    across: Across = "own",
    rng: Rng = None,
) -> LeftOut:
    """Estimate accuracies on some topics and use them on the others, so that no topic is judged by what it gave.

    scores : what to average, cells without a score nan.
    estimate : from the topics to learn from to gaps, as
        `lambda topics: random_gaps(runs, judgments.select(topics=topics), "AP")` or
        `lambda topics: gold_gaps(scores, gold, topics=topics)`.
    name : an estimator of one accuracy for all topics (sgl_...).
    folds : parts into which chance (`rng`) divides the topics; as many as topics leaves out one at a time.
    """
    wanted = estimator(name)
    if wanted is not None and wanted.granularity != "sgl":
        raise ArgumentError(f"{name}: a topic that was left out has no accuracy of its own; take sgl_{name[4:]}")
    if not 2 <= folds <= len(scores.topics):
        raise ArgumentError(f"folds={folds}: from 2 to the number of topics ({len(scores.topics)})")
    seed = seed_of(rng)
    fold = np.empty(len(scores.topics), np.int64)
    by_label = np.array(sorted(range(fold.size), key=scores.topics.__getitem__))  # whatever was read first
    fold[by_label[np.random.default_rng(seed).permutation(fold.size)]] = np.arange(fold.size) % folds
    accuracy = np.full(scores.values.shape[:3], np.nan)
    for f, others in enumerate(_others(scores.topics, fold, folds)):
        gaps = estimate(others)
        if gaps.scores.measures != scores.measures:
            raise ArgumentError(
                f"estimate: gaps by {', '.join(gaps.scores.measures)}, and scores by {', '.join(scores.measures)}; "
                "take the same measures in the same order"
            )
        learnt = np.full(accuracy.shape[:2], np.nan)
        found = gaps.accuracy(name, polarity, across)
        once = np.where(np.isnan(found), -np.inf, found).max(axis=2)  # the same for all topics
        rows = [scores.assessors.index(a) for a in gaps.scores.assessors]
        learnt[:, rows] = np.where(np.isinf(once), np.nan, once)
        accuracy[:, :, fold == f] = learnt[..., None]
    accuracy[~scores.known] = np.nan
    about = {"folds": folds, "seed": seed, "polarity": polarity, "across": across}
    return LeftOut(averaged(scores, accuracy, name, about), accuracy, fold, seed)


def _others(topics: tuple[str, ...], fold: NDArray[np.int64], folds: int) -> Iterator[tuple[str, ...]]:
    for f in range(folds):
        yield tuple(topic for topic, its in zip(topics, fold, strict=True) if its != f)
