"""Estimating p(R|i) from double judgments, with standard errors.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, section 5.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Bools, Floats
from qrowd.kernels.resample import tail
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales
from qrowd.predicted_relevance.counting import (
    First,
    Method,
    estimate,
    observed,
    resampled_documents,
    resampled_topics,
)
from qrowd.predicted_relevance.doubles import Graded, Repeated, graded, is_relevant
from qrowd.predicted_relevance.model import DoubleJudgments, EstimationOptions, PredictedRelevance, Resample


def predicted_relevance(
    judgments: Judgments,
    *,
    rel: float | None = None,
    relevant_grades: Collection[float] | None = None,
    method: Method = "symmetric",
    first: First = None,
    smoothing: float = 0.0,
    resample: Resample = "topics",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> PredictedRelevance:
    """p(R|i) of every grade i, estimated from the documents that at least two assessors judged.

    Parameters
    ----------
    rel : lowest grade that is relevant to a user; relevant_grades : all relevant grades. One of the two.
    method : "symmetric", equation 5, where every judgment predicts all others of its document; or "one-sided", equation
        4, for a second round of judging of only some grades of the first.
    first : under equation 4, the assessor whose judgment predicts; of several, the first who judged the document; None,
        whoever judged it first.
    smoothing : counts added to each grade, relevant with the overall share: a Dirichlet prior. 0 adds nothing.
    resample : standard errors and intervals by drawing "topics" or "documents" with replacement; or "binomial",
        sqrt(p (1 - p) / n) as printed (section 5.2.2), which counts the two directions of a pair as two observations.
        Of a single topic documents are drawn.
    n_resamples : 0: no interval. rng : for drawing them; confidence : of the intervals.
    repeats : which of an assessor's repeated judgments counts: "first", "last" or "error".
    combine_scales : values on unlike scales; "auto": each judgment counts as relevant or not.

    Raises
    ------
    NoOverlapError
        No document judged by two assessors.
    ScaleError
        Scales that cannot be combined, or that have no grades.
    ArgumentError
        Neither rel nor relevant_grades, one outside the scale, or any other option out of range.

    >>> rows = [("q", d, who, g) for who, gs in {"ann": "2210", "bob": "2100"}.items() for d, g in zip("wxyz", gs)]
    >>> model = predicted_relevance(Judgments.from_rows([(*row[:3], float(row[3])) for row in rows]), rel=2, rng=1)
    >>> model.probability.round(3), model.n
    (array([0.   , 0.5  , 0.667]), array([3., 2., 3.]))
    """
    judged = graded(judgments, repeats, combine_scales)
    relevant, rule = is_relevant(judged.grades, judged.scale, rel, relevant_grades)
    options = EstimationOptions(method, first, smoothing, str(judged.scale), resample, n_resamples, confidence)
    return fitted(judged.doubles(), relevant, rule, options, rng)


def fitted(
    doubles: Graded, relevant: Bools, rule: str, options: EstimationOptions, rng: Rng, label: str = "all"
) -> PredictedRelevance:
    """The model of these documents; chance depends on the seed and the label alone."""
    _check(options)
    counts = observed(doubles, relevant, options.method, options.first)
    n_topics = int(np.unique(counts.topic).size)
    resample: Resample = "documents" if options.resample == "topics" and n_topics == 1 else options.resample
    found, weight = counts.relevant.sum(axis=0), counts.weight.sum(axis=0)
    probability = estimate(found, weight, options.smoothing)
    seed = seed_of(rng) if options.n_resamples and options.resample != "binomial" else None
    replicates = np.empty((0, doubles.grades.size))
    if seed is not None:
        random = Chance.of(seed).stream(f"predicted relevance {label}")
        draw = resampled_documents if resample == "documents" else resampled_topics
        sums = draw(counts, options.n_resamples, random)
        replicates = np.concatenate([estimate(*block, options.smoothing) for block in sums])
    beyond = tail(options.confidence, n_topics if resample == "topics" else None)
    return PredictedRelevance(
        doubles.grades,
        relevant,
        rule,
        probability,
        *_intervals(probability, weight, replicates, resample, beyond),
        weight,
        found,
        counts.matrix,
        DoubleJudgments(
            n_documents=int(counts.topic.size),
            n_judgments=int(doubles.size[counts.included].sum()),
            n_topics=n_topics,
            n_single=doubles.n_single,
            n_left_out=int(np.count_nonzero(~counts.included)),
            n_repeats=doubles.n_repeats,
        ),
        replace(options, resample=resample, n_resamples=replicates.shape[0]),
        seed,
        np.isnan(replicates).sum(axis=0),
        replicates,
    )


def _check(options: EstimationOptions) -> None:
    if not 0 <= options.smoothing < np.inf:
        raise ArgumentError("a number of counts from 0 was expected", "smoothing", options.smoothing)
    check_choice("resample", options.resample, Resample)
    if options.n_resamples < 0:
        raise ArgumentError("a whole number from 0 was expected", "n_resamples", options.n_resamples)
    if not 0 < options.confidence < 1:
        raise ArgumentError("a number between 0 and 1 was expected", "confidence", options.confidence)


def _intervals(
    probability: Floats, n: Floats, replicates: Floats, resample: str, beyond: float
) -> tuple[Floats, Floats, Floats]:
    """(grades,) standard error and ends of the interval; nan where they cannot be estimated.

    beyond : share of replicates, or of the normal distribution, beyond each end.
    """
    standard_error, low, high = (np.full(n.size, np.nan) for _ in range(3))
    if resample == "binomial":
        from scipy.special import ndtri

        z = ndtri(1 - beyond)
        with np.errstate(invalid="ignore", divide="ignore"):
            standard_error = np.sqrt(probability * (1 - probability) / n)
            middle = (probability + z**2 / (2 * n)) / (1 + z**2 / n)
            half = z * np.sqrt(probability * (1 - probability) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
        return np.where(n > 0, standard_error, np.nan), low, high
    for i, column in enumerate(replicates.T):
        defined = column[~np.isnan(column)]
        if defined.size > 1:
            standard_error[i] = defined.std(ddof=1)
            low[i], high[i] = np.quantile(defined, [beyond, 1 - beyond])
    return standard_error, low, high
