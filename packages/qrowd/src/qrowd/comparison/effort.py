"""More topics or one more assessor at equal cost: which reduces the standard error of a difference more?

An assessor for all T topics costs as much as N topics judged by the present A assessors. The error variance of a
difference is v_t / T + v_a / A + v_e / (T A), v the components of `differences`. With few assessors v_a is imprecise,
so the answer has a probability: the expected mean squares are taken to be MS df / chi-square(df), independently of each
other (their fiducial distribution), components below 0 being 0.

Where topics cost nothing but judgments, N = T / A, and topics leave the smaller error if the expected mean square of
topics is above that of assessors: the probability is that of an F distribution with T - 1 and A - 1 degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result

SAME = 0.05  # standard errors that differ by less are about the same
SURE = 0.8  # probability from which on an answer is given
FEWEST = 3  # assessors; with two there is one degree of freedom, and the probabilities are too high
NODES = (16, 64, 8)  # of topics, assessors and error: quantiles that stand for the distributions


@dataclass(frozen=True)
class EqualCost(Result):
    """One more assessor for all topics compared with the topics that cost as much.

    topics : number added, not rounded. now, with_topics, with_assessor : standard error of the difference now, and
        expected after either.
    p_topics, p_assessor : probability that topics (the assessor) help at least as much, to within 5 % of the standard
        error. p_same : probability of both.
    """

    n_topics: int
    n_assessors: int
    topics: float
    now: float
    with_topics: float
    with_assessor: float
    p_topics: float
    p_assessor: float
    p_same: float

    @property
    def answer(self) -> Literal["same", "topics", "assessor", "unknown"]:
        """The addition that helps at least as much, with a probability of .8 or more; "same" where both do."""
        if self.n_assessors < FEWEST:
            return "unknown"
        if self.p_same >= SURE:
            return "same"
        if max(self.p_topics, self.p_assessor) < SURE:
            return "unknown"
        return "topics" if self.p_topics >= self.p_assessor else "assessor"


def topics_for_an_assessor(
    n_topics: int, n_assessors: int, *, topic_cost: float = 0.0, judgment_cost: float = 1.0, documents: float = 1.0
) -> float:
    """Number of topics with n_assessors that cost as much as one more assessor for all n_topics.

    topic_cost, judgment_cost, documents : as in `best_design`; default: only judging a topic has a cost.
    """
    each = documents * judgment_cost
    if min(topic_cost, each) < 0 or topic_cost + each <= 0:
        raise ArgumentError(f"topic_cost={topic_cost!r}, judgment_cost={judgment_cost!r}: a cost above 0 was expected")
    return n_topics * each / (topic_cost + n_assessors * each)


def equal_cost(
    mean_squares: tuple[float, ...],
    df: tuple[float, ...],
    n_topics: int,
    n_assessors: int,
    topics: float,
    *,
    per: tuple[float, ...] | None = None,
) -> EqualCost:
    """Compare more topics with one more assessor.

    mean_squares, df : of topics, assessors and error. topics : number that costs as much as an assessor.
    per : divisors that turn mean squares above that of error into components; default: n_assessors and n_topics, as in
        a complete table.
    """
    by = (float(n_assessors), float(n_topics)) if per is None else per

    def errors(topic: Floats, assessor: Floats, error: Floats) -> tuple[Floats, Floats, Floats]:
        v_t, v_a = np.maximum(topic - error, 0) / by[0], np.maximum(assessor - error, 0) / by[1]
        return tuple(
            np.sqrt(v_t / t + v_a / a + error / (t * a))
            for t, a in ((n_topics, n_assessors), (n_topics + topics, n_assessors), (n_topics, n_assessors + 1))
        )  # type: ignore[return-value]

    now, with_topics, with_assessor = (
        float(value[0]) for value in errors(*(np.array([square]) for square in mean_squares))
    )
    estimates = [square * _reciprocals(own, n) for square, own, n in zip(mean_squares, df, NODES, strict=True)]
    _, by_topics, by_assessor = errors(*(part.ravel() for part in np.meshgrid(*estimates, indexing="ij")))
    for_topics, for_assessor = by_topics <= by_assessor * (1 + SAME), by_assessor <= by_topics * (1 + SAME)
    return EqualCost(
        n_topics, n_assessors, topics, now, with_topics, with_assessor,
        float(for_topics.mean()), float(for_assessor.mean()), float((for_topics & for_assessor).mean()),
    )  # fmt: skip


def _reciprocals(df: float, n: int) -> Floats:
    """(n,) df / chi-square(df), by its quantiles."""
    from scipy.special import chdtri

    return np.asarray(df / chdtri(df, (np.arange(n) + 0.5) / n))
