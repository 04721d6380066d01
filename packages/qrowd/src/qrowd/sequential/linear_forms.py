"""The differences of a question as linear functions of the gains of documents, around what is known and expected.

A weighted sum of gains is linear but for its normaliser, which is estimated. AP is taken at the gains that are judged
or expected, with its slopes there, that of the number of relevant documents included. What the slopes leave out is
simulated from the predictions: its mean is added to the estimate, and its variance is one that no draw reduces.

A normaliser, such as nDCG's, depends on every document of the topic. It is estimated from what is expected of them;
here stand the standard deviation of its error, what that does to a difference, and limits that hold whatever the
documents turn out to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.measures.gain import NDCG
from qrowd.model.measure import Measure
from qrowd.sequential.candidates import Candidates, Lists, expected_normalisers, normaliser_limits
from qrowd.sequential.predictions import Predictions, simulated_gains

SHARED = 0.8  # of the error of a prediction, that the documents of a topic share: cautious on TREC 2021 Deep Learning
COMMON = 0.1  # relative error of the normalisers of all topics alike, one standard deviation


def normaliser_sd(
    measure: Measure, candidates: Candidates, predictions: Predictions, gains: Floats, levels: Floats
) -> Floats:
    """(topics,) standard deviation of the error of the expected normaliser; 0 where the measure has none.

    Two parts: the share `SHARED` of the errors of the predictions, as though the documents of a topic shared it, and
    how many documents gain each level or more, if the rest were independent. Between the limits of the normaliser.
    """
    n_topics = len(candidates.topics)
    if not isinstance(measure.definition, NDCG):
        return np.zeros(n_topics)
    shared, own = SHARED * predictions.spread, np.sqrt(1 - SHARED**2) * predictions.spread
    above, below = (
        expected_normalisers(measure, candidates, predictions.expected + sign * shared, own, gains=gains, levels=levels)
        for sign in (1, -1)
    )
    of_shared = np.where(
        np.isfinite(above) & np.isfinite(below), (above - np.where(np.isfinite(below), below, 0)) / 2, 0
    )
    middle = (levels[1:] + levels[:-1]) / 2
    chance = np.exp(-np.logaddexp(0, -1.7 * (predictions.expected - middle[:, None]) / predictions.spread))
    chance = np.where(np.isnan(gains), chance, np.nan_to_num(gains) > middle[:, None])
    counts = np.array([np.bincount(candidates.topic, one, n_topics) for one in chance])
    sd = np.sqrt([np.bincount(candidates.topic, one * (1 - one), n_topics) for one in chance])
    by_rank = measure.definition.coefficients(measure, int(counts.max(initial=1.0)) + 1)
    at_count = np.append(by_rank, 0.0)[np.minimum(counts.astype(np.int64), by_rank.size)]
    of_counts = (np.diff(levels)[:, None] * at_count * sd).sum(axis=0)
    low, high = normaliser_limits(measure, candidates, gains, levels)
    return np.asarray(np.minimum(np.hypot(of_shared, of_counts), (high - low) / 2))


def difference_variance(
    weights: Floats,
    topic: NDArray[np.integer],
    expected: Floats,
    variance: Floats,
    *,
    normalisers: Floats,
    sd: Floats,
) -> Floats:
    """(contrasts,) variance of differences due to the normalisers.

    The sum over topics of E[D^2] (sd / normaliser)^2, and the square of the difference of topics whose normaliser is in
    doubt times `COMMON`.

    weights : (contrasts, documents) of a gain, with the normalisers. topic : (documents,). expected : (documents,)
    gains, judged or expected. variance : (documents,) of the error; 0 where judged. normalisers, sd : (topics,).
    """
    relative = np.where(np.isfinite(normalisers), sd / np.where(normalisers > 0, normalisers, 1), 0.0)
    result = np.zeros(len(weights))
    for i, of_one in enumerate(weights):
        differences = np.bincount(topic, of_one * expected, relative.size)
        squares = differences**2 + np.bincount(topic, of_one**2 * variance, relative.size)
        result[i] = squares @ relative**2 + (differences @ np.minimum(relative, COMMON)) ** 2
    return result


def certain_differences(
    weights: Floats,
    topic: NDArray[np.integer],
    gains: Floats,
    limits: Sequence[Floats],
    *,
    lowest: float,
    highest: float,
) -> tuple[Floats, Floats]:
    """(contrasts,) lowest and highest possible mean difference over topics, whatever the open documents turn out to be.

    weights : (contrasts, documents) of a gain in the difference of a topic, before the normaliser. gains :
    (documents,) nan where open. limits : (topics,) of the normalisers.
    """
    n_topics = limits[0].size
    is_open = np.isnan(gains)
    ends = [
        np.array(
            [
                np.bincount(
                    topic, of_one * np.where(is_open, np.where((of_one > 0) == least, lowest, highest), gains), n_topics
                )
                for of_one in weights
            ]
        ).reshape(len(weights), n_topics)
        for least in (True, False)
    ]
    return certain_means(ends[0], ends[1], limits)


def certain_means(least: Floats, most: Floats, limits: Sequence[Floats]) -> tuple[Floats, Floats]:
    """(contrasts,) lowest and highest possible mean over topics of differences over their normalisers.

    least, most : (contrasts, topics) limits of the differences before the normaliser. limits : (topics,) of the
    normalisers.
    """
    smallest, largest = limits
    below = _over(least, np.where(least > 0, largest, smallest))
    above = _over(most, np.where(most < 0, largest, smallest))
    if not (smallest == 1).all() or not (largest == 1).all():  # scores lie between 0 and 1
        below, above = np.maximum(below, -1), np.minimum(above, 1)
    return below.mean(axis=1), above.mean(axis=1)


def _over(sums: Floats, normalisers: Floats) -> Floats:
    """Sums over normalisers; where the normaliser is 0, as far from 0 as can be, or 0."""
    far = np.where(sums == 0, 0.0, np.copysign(np.inf, sums))
    return np.where(normalisers > 0, sums / np.where(normalisers > 0, normalisers, 1.0), far)


N_SIMULATIONS = 40  # of the gains of open documents
TOPIC_SD = 0.6  # of the logarithm of how many documents are relevant, over what is expected: TREC Deep Learning
FLOOR = 0.05  # of the slope of one list, below which no document that matters counts when documents are drawn


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Differences of mean scores: for each contrast the sum of weight x gain, and constants.

    weights : (contrasts, documents). constants : (contrasts, topics). matter : (contrasts, documents) whether each
    document can change each difference. least : (contrasts, documents) weight with which each counts at least when
    documents are drawn. variance : (contrasts,) of what judging these documents does not reduce. low, high :
    (contrasts,) limits that hold whatever the open documents are.
    """

    weights: Floats
    constants: Floats
    matter: NDArray[np.bool_]
    least: Floats
    variance: Floats
    low: Floats
    high: Floats


def form_of_sums(
    measure: Measure,
    candidates: Candidates,
    contrasts: NDArray[np.int64],
    matters: NDArray[np.int64],
    predictions: Predictions,
    gains: Floats,
    *,
    levels: Floats,
    expected: Floats,
    spread: Floats,
) -> LinearForm:
    """The form of a measure that is a weighted sum of gains over an estimated normaliser.

    contrasts : (contrasts, 2) systems. matters : numbers of the candidates that matter. gains : (candidates,) nan where
    open. levels : possible gains. expected, spread : (documents that matter,).
    """
    lowest, highest = float(levels[0]), float(levels[-1])
    topic, judged = candidates.topic[matters], gains[matters]
    normalisers = expected_normalisers(
        measure, candidates, predictions.expected, predictions.spread, gains=gains, levels=levels
    )
    plain = candidates.weight[:, matters]
    scaled = plain / (normalisers[topic] * len(candidates.topics))
    weights = scaled[contrasts[:, 0]] - scaled[contrasts[:, 1]]
    low, high = certain_differences(
        plain[contrasts[:, 0]] - plain[contrasts[:, 1]],
        topic,
        judged,
        normaliser_limits(measure, candidates, gains, levels),
        lowest=lowest,
        highest=highest,
    )
    is_open = np.isnan(judged)
    variance = difference_variance(
        weights,
        topic,
        np.where(is_open, expected, judged),
        np.where(is_open, spread**2, 0.0),
        normalisers=normalisers,
        sd=normaliser_sd(measure, candidates, predictions, gains, levels),
    )
    nothing = np.zeros((len(contrasts), len(candidates.topics)))
    return LinearForm(weights, nothing, weights != 0, np.zeros_like(weights), variance, low, high)


def form_of_lists(
    lists: Lists,
    candidates: Candidates,
    contrasts: NDArray[np.int64],
    matters: NDArray[np.int64],
    predictions: Predictions,
    gains: Floats,
    *,
    levels: Floats,
) -> LinearForm:
    """The form of AP; arguments as `form_of_sums`.

    The constants hold the mean of what the slopes leave out.
    """
    n_topics = len(candidates.topics)
    is_open = np.isnan(gains)
    current = np.where(is_open, predictions.expected, gains)
    divisor = _divisors(candidates, current)
    first, second = contrasts.T
    topic = candidates.topic[matters]
    scores = lists.sums(current) / divisor / n_topics
    of_normaliser = (scores / divisor)[:, topic]  # what one more relevant document takes
    of_gains = (lists.slopes(current) / divisor[candidates.topic])[:, matters] / n_topics
    slopes = of_gains - of_normaliser
    weights = slopes[first] - slopes[second]
    of_topics = np.array([np.bincount(topic, row * current[matters], n_topics) for row in weights])
    constants = scores[first] - scores[second] - of_topics
    simulated = simulated_gains(
        predictions, gains, N_SIMULATIONS, levels=levels, rng=np.random.default_rng(0), topic_sd=TOPIC_SD
    )
    exact = (lists.sums(simulated) / _divisors(candidates, simulated)[:, None]).mean(axis=-1)
    linear = constants.sum(axis=1) + simulated[:, matters] @ weights.T
    left_out = exact[:, first] - exact[:, second] - linear
    lowest, highest = (np.where(is_open, level, gains) for level in (levels[0], levels[-1]))
    least, most = lists.sums(lowest), lists.sums(highest)
    limits = _n_relevant(candidates, lowest), _n_relevant(candidates, highest)
    low, high = certain_means(least[first] - most[second], most[first] - least[second], limits)
    matter = np.array([lists.matter_to(i, j)[matters] for i, j in contrasts.tolist()])
    steepest = np.maximum(of_gains, of_normaliser)
    at_least = FLOOR * np.maximum(steepest[first], steepest[second]) * matter
    constants = constants + left_out.mean(axis=0)[:, None] / n_topics
    return LinearForm(weights, constants, matter, at_least, left_out.var(axis=0, ddof=1), low, high)


def _divisors(candidates: Candidates, gains: Floats) -> Floats:
    """(..., topics) relevant documents, inf where there are none and so the score is 0. gains : (..., candidates)."""
    n_relevant = _n_relevant(candidates, gains)
    return np.where(n_relevant > 1e-9, n_relevant, np.inf)


def _n_relevant(candidates: Candidates, gains: Floats) -> Floats:
    """(..., topics) relevant documents. gains : (..., candidates)."""
    starts = np.searchsorted(candidates.topic, np.arange(len(candidates.topics) + 1))
    sums = np.concatenate([np.zeros((*gains.shape[:-1], 1)), np.cumsum(gains, axis=-1)], axis=-1)
    return np.diff(sums[..., starts])
