"""Relevance after several judgments of one result, the future work of the predicted relevance model (section 8).

After one judgment i by assessor a it is x = p_a(R|i) = p(R) p_a(i|R) / (p(R) p_a(i|R) + p(not R) p_a(i|not R)), with
p(R) and p(i|R) from the coincidence matrix: p(R|i) itself, apart from smoothing and the assessor's own frequencies.
Several judgments of a document are combined by p = p(R) + b sum_a (x_a - p(R)), b = v / (v + (k - 1) d), for k
judgments. v is the mean square of x - p(R), d the mean product of two of a document: with them this is the best linear
prediction of a user's opinion under any dependence of assessors (Bühlmann & Straub 1970, Glaubwürdigkeit für
Schadensätze, Mitt. Verein. schweiz. Vers.-Math. 70).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.counts import coincidences
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales
from qrowd.model.panel import Pool
from qrowd.model.result import Result
from qrowd.predicted_relevance.doubles import Graded, Repeated, graded, is_relevant
from qrowd.predicted_relevance.estimation import PROBABILITY


@dataclass(frozen=True, eq=False)
class PosteriorRelevance(Result):
    """p(R | all judgments) of every document; arrays are (pairs,) unless stated otherwise.

    judgments : the probabilities as fractions of one assessor called "posterior", for `qrowd.evaluate`.
    pool : the (topic, document) pairs; probability : of relevance to a random user; n : judgments of each.
    prior : p(R), the share of all judgments that are relevant.
    grades, relevant : as of `PredictedRelevance`; rule : in words.
    likelihood : (assessors, 2, grades) p(i | not R), p(i | R) of each of `assessors`; own : (assessors,) bool, from
        their own judgments; the others share the pooled one.
    smoothing : how it was computed. variance, covariance : v and d.
    """

    judgments: Judgments
    pool: Pool
    probability: Floats
    n: Ints
    prior: float
    grades: Floats
    relevant: Bools
    rule: str
    assessors: tuple[str, ...]
    likelihood: Floats
    own: Bools
    smoothing: float
    variance: float
    covariance: float

    def _columns(self) -> dict[str, Any]:
        """One row per document."""
        return {**self.pool.labels(), "probability": self.probability, "n": self.n}


def posterior_relevance(
    judgments: Judgments,
    *,
    rel: float | None = None,
    own: int | None = 50,
    smoothing: float = 1.0,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> PosteriorRelevance:
    """p(R | every judgment of the document).

    rel, repeats, combine_scales : as of `predicted_relevance`.
    own : least number of double judgments of an assessor with an own p(i|R); None pools all assessors.
    smoothing : counts added to p(i|R), distributed as all grades are, or, for an assessor's own p(i|R), as the pooled
        ones.

    p(i|R) is estimated from double judgments, of which each document is a part. A grade that no double judgment has
    does not change the probability.

    Raises
    ------
    NoOverlapError
        No document judged by two assessors.
    ArgumentError
        An option out of range.
    """
    if not 0 <= smoothing < np.inf:
        raise ArgumentError("a number of counts from 0 was expected", "smoothing", smoothing)
    if own is not None and own < 1:
        raise ArgumentError("a number of judgments from 1, or None, was expected", "own", own)
    judged = graded(judgments, repeats, combine_scales)
    doubles = judged.doubles()
    relevant, rule = is_relevant(judged.grades, judged.scale, rel)
    matrix = coincidences(doubles.counts)
    joint = np.stack([matrix @ ~relevant, matrix @ relevant])
    overall = joint.sum(axis=0) / joint.sum()
    pooled = _shares(joint, overall, smoothing)
    prior = float(joint[1].sum() / joint.sum())
    own_joint, n_double = _own_joint(doubles, relevant)
    enough = n_double >= (np.inf if own is None else own)
    likelihood = np.where(enough[:, None, None], _shares(own_joint, pooled, smoothing), pooled)
    moments = _moments(doubles, likelihood, prior)
    probability = _linear(judged, likelihood, prior, *moments)
    return PosteriorRelevance(
        _one_assessor(judged, probability),
        judged.pool,
        probability,
        judged.size,
        prior,
        judged.grades,
        relevant,
        rule,
        judged.assessors,
        likelihood,
        enough,
        smoothing,
        *moments,
    )


def _after_one(data: Graded, likelihood: Floats, prior: float) -> Floats:
    """(rows,) p(R | this judgment alone) - p(R)."""
    joint = likelihood * np.array([1 - prior, prior])[:, None]
    total = joint.sum(axis=1)
    alone = np.where(total > 0, joint[:, 1] / np.where(total > 0, total, 1.0), prior)
    return np.asarray(alone[data.assessor, data.grade] - prior)


def _moments(doubles: Graded, likelihood: Floats, prior: float) -> tuple[float, float]:
    """v and d, the latter limited to 0 and v."""
    away = _after_one(doubles, likelihood, prior)
    total, squares = (np.add.reduceat(part, doubles.starts[:-1]) for part in (away, away**2))
    variance = float(np.mean(away**2))
    covariance = float(((total**2 - squares) / (doubles.size - 1)).sum() / away.size)
    return variance, min(max(covariance, 0.0), variance)


def _linear(data: Graded, likelihood: Floats, prior: float, variance: float, covariance: float) -> Floats:
    """(documents,) p(R) + b sum (x - p(R)), within 0 and 1."""
    total = np.add.reduceat(_after_one(data, likelihood, prior), data.starts[:-1])
    weight = variance / (variance + (data.size - 1) * covariance) if variance > 0 else np.ones(data.size.size)
    return np.asarray(np.clip(prior + weight * total, 0.0, 1.0))


def _shares(joint: Floats, prior: Floats, smoothing: float) -> Floats:
    """(..., 2, grades) p(i | not R), p(i | R), from counts with `smoothing` more of the prior; the prior where none."""
    counts = joint + smoothing * prior
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), prior)


def _own_joint(doubles: Graded, relevant: Bools) -> tuple[Floats, Ints]:
    """(assessors, 2, grades) how often each gave a grade to what another found not relevant, relevant; and how many."""
    document = doubles.of_rows()
    others = (doubles.counts @ relevant)[document] - relevant[doubles.grade]
    share = others / (doubles.size[document] - 1)
    shape = len(doubles.assessors), doubles.grades.size
    cell = doubles.assessor.astype(np.int64) * shape[1] + doubles.grade
    both = [np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape) for weight in (1 - share, share)]
    return np.stack(both, axis=1), np.bincount(doubles.assessor, minlength=shape[0])


def _one_assessor(data: Graded, probability: Floats) -> Judgments:
    return Judgments(
        data.topics,
        data.documents,
        ("posterior",),
        data.topic.astype(np.int32),
        data.document.astype(np.int32),
        np.zeros(probability.size, np.int32),
        probability,
        (PROBABILITY,),
    )
