"""Other ways of deciding which of two systems is better with few judgments, each with its rule of stopping.

Each rule is given what it would have to estimate: the true normalisers of nDCG. A document that is not judged gains
nothing, unless the rule says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from qrowd.kernels.arrays import Floats
from qrowd.replacement.prediction_powered import Rule
from qrowd.sequential.bounds import mixture_bound
from qrowd.sequential.draws import Draws
from qrowd.sequential.estimates import contrast_estimates

FEWEST_TOPICS = 10  # before which intervals over topics are not looked at
SAME_DEPTHS = 3  # depths in a row with the same sign, at which pooling stops
HIGHEST = 3.0  # grade


@dataclass(frozen=True)
class Decision:
    """What a rule decided. sign : of the difference, 0 where it is open after all is judged. n_asked : documents."""

    sign: int
    n_asked: int


def random_topics(differences: Floats, n_documents: NDArray[np.int64], random: np.random.Generator) -> Decision:
    """Topics in random order, each judged completely, until the confidence sequence of the mean excludes 0.

    The sequence is that of documents drawn without replacement, with topics in their place: a topic is expected to be
    as the mean of the others, with their standard deviation. It is looked at after each topic, from the tenth on.

    differences : (topics,) of the two systems. n_documents : (topics,) with a weight in the difference.
    """
    topics = np.flatnonzero(n_documents)
    n, order = topics.size, random.permutation(topics.size)
    values, cost = differences[topics], np.cumsum(n_documents[topics[order]])
    weights = np.full((1, n), 1 / differences.size)
    for k in range(min(FEWEST_TOPICS, n), n):
        drawn = order[:k]
        draws = Draws(np.ones((1, n)), np.zeros(k, np.int64), drawn)
        judged = np.full(n, np.nan)
        judged[drawn] = values[drawn]
        expected = np.full(n, values[drawn].mean())
        expected[drawn] = (values[drawn].sum() - values[drawn]) / (k - 1)
        sd = np.sqrt(np.square(values[drawn] - expected[drawn]).mean())
        result = contrast_estimates(weights, draws, judged, expected, np.full(n, sd))
        if abs(result.estimate[0]) > mixture_bound(result.information)[0]:
            return Decision(int(np.sign(result.estimate[0])), int(cost[k - 1]))
    return Decision(int(np.sign(values.sum())), int(cost[-1]))


def prediction_powered_topics(
    differences: Floats, predicted: Floats, n_documents: NDArray[np.int64], random: np.random.Generator
) -> list[Decision]:
    """Topics in random order, each judged completely, until the prediction-powered interval excludes 0.

    The interval of `qrowd.prediction_powered` for these topics, at 95 %, is looked at after each topic, from the tenth
    on; it is made for one look.

    differences, predicted : (topics, pairs) by the grades of people and by the labels. n_documents : (topics, pairs).
    """
    n, order = len(differences), random.permutation(len(differences))
    cost = np.cumsum(n_documents[order], axis=0)
    rule = Rule(target="these topics")
    y, f = differences[order], predicted[order]
    signs, n_asked = np.sign(y.sum(axis=0)).astype(np.int64), cost[-1].copy()
    undecided = np.ones(y.shape[1], bool)
    for k in range(min(FEWEST_TOPICS, n), n - 1):
        fit = rule.fit(y[:k], f[:k], f[k:])
        now = undecided & ((fit.low > 0) | (fit.high < 0))
        signs[now], n_asked[now] = np.sign(fit.estimate[now]), cost[k - 1, now]
        undecided &= ~now
    return [Decision(int(sign), int(asked)) for sign, asked in zip(signs, n_asked, strict=True)]


def depth_pools(weights: Floats, gains: Floats, rank: NDArray[np.int64]) -> Decision:
    """All documents in the first k ranks of either system, for k = 1, 2, ..., until the sign settles.

    It stops when the difference had the same sign at three depths in a row, or when no answer could change it.

    rank : (documents,) the better of a document's ranks in the two lists, from 0.
    """
    signs: list[int] = []
    for k in range(int(rank.max()) + 1):
        judged = rank <= k
        n_asked, value = int(judged.sum()), float(weights[judged] @ gains[judged])
        signs.append(int(np.sign(value)))
        open_weights = weights[~judged] * HIGHEST
        certain = value + np.minimum(open_weights, 0).sum() > 0 or value + np.maximum(open_weights, 0).sum() < 0
        settled = len(signs) >= SAME_DEPTHS and signs[-1] != 0 and len(set(signs[-SAME_DEPTHS:])) == 1
        if certain or settled:
            break
    return Decision(signs[-1], n_asked)


def minimal_test_collection(
    weights: Floats, gains: Floats, random: np.random.Generator, *, confidence: float = 0.95
) -> Decision:
    """Documents by the size of their effect on the difference, until the probability of its sign is high enough.

    A document that is not judged has each grade with the same probability; the difference is then nearly normal. It
    stops when the probability of one sign reaches `confidence`, looked at after each document. Carterette, Allan &
    Sitaraman (2006), Minimal test collections for retrieval evaluation, SIGIR.
    """
    order = np.lexsort((random.random(weights.size), -np.abs(weights)))
    w, judged = weights[order], np.cumsum(weights[order] * gains[order])
    rest = w.sum() - np.cumsum(w)
    squares = np.maximum(np.square(w).sum() - np.cumsum(np.square(w)), 0)
    grades = np.arange(HIGHEST + 1)
    mean, sd = judged + grades.mean() * rest, grades.std() * np.sqrt(squares)
    probability = np.where(sd > 0, ndtr(np.abs(mean) / np.where(sd > 0, sd, 1)), 1.0)
    k = int(np.argmax(probability >= confidence))
    return Decision(int(np.sign(mean[k])), k + 1)
