"""The differences of a question as linear functions of the gains of documents, around what is known and expected.

A weighted sum of gains is linear but for its normaliser, which is estimated. AP is taken at the gains that are judged
or expected, with its slopes there, that of the number of relevant documents included. What the slopes leave out is
simulated from the predictions: its mean is added to the estimate, and its variance is one that no draw reduces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.model.measure import Measure
from qrowd.sequential.candidates import Candidates, expected_normalisers
from qrowd.sequential.normalisers import (
    certain_differences,
    certain_means,
    difference_variance,
    normaliser_limits,
    normaliser_sd,
)
from qrowd.sequential.predictions import Predictions, simulated_gains
from qrowd.sequential.score_forms import Lists

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
        normaliser_limits(measure, candidates, gains, lowest=lowest, highest=highest),
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
