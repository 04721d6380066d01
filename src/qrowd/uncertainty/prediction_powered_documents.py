"""Prediction-powered scores by document: a model judged all documents, assessors a sample of known probability.

P, DCG and RBP are sums over ranks, so a score can be corrected one document at a time. The estimate is unbiased
whatever the quality of the model: its errors are estimated as Horvitz & Thompson (1952, JASA 47, 663-685) estimate a
total.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qrowd.errors import ArgumentError, MeasureError, NoOverlapError
from qrowd.evaluation import measure as parsed_measure
from qrowd.kernels.arrays import Floats
from qrowd.kernels.gains import weighted_ranks
from qrowd.measures.gain import DCG
from qrowd.measures.patience import RBP
from qrowd.measures.precision import P
from qrowd.measures.scoring import Linear, TopicView
from qrowd.model.alignment import align
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.uncertainty.prediction_powered_sums import Quantile, Rule

Probability = float | ArrayLike | Callable[[str, str], float]
CORRECTABLE = (P, DCG, RBP)


@dataclass(frozen=True, eq=False)
class PredictionPoweredDocuments(Result):
    """The model's scores of each system, corrected by the documents that the assessor judged.

    by_topic : (topics, systems) corrected scores; one may lie outside what the measure can reach.
    estimate, low, high : (systems,) mean over topics with its interval.
    standard_error : (systems,) of that mean, with topics as sampled clusters. judging_standard_error : the part of it
        that judging every document would remove.
    model_only : (systems,) mean of the model's own scores.
    n_sampled : number of documents that the assessor judged.
    """

    measure: str
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    by_topic: Floats
    estimate: Floats
    standard_error: Floats
    judging_standard_error: Floats
    low: Floats
    high: Floats
    model_only: Floats
    n_sampled: int
    confidence: float

    _COLUMNS = ("systems", "estimate", "standard_error", "judging_standard_error", "low", "high", "model_only")


def prediction_powered_documents(
    runs: Runs,
    assessor: Judgments,
    model: Judgments,
    measure: object,
    *,
    probability: Probability,
    quantile: Quantile = "t",
    confidence: float = 0.95,
) -> PredictionPoweredDocuments:
    """The mean scores of an assessor who judged a sample of the documents that a model judged, by a linear measure.

        mean_t sum_r c_r [f + (xi / pi) (y - f)],  se^2 = variance between topics / T

    assessor, model : judgments of one assessor each, on scales of their own; the model judged every topic. The gain f
        of a document that the model did not judge is 0. xi is 1 where the assessor judged.
    measure : P, DCG or RBP, as text.
    probability : pi, with which each document was sampled, independently of its relevance: one number, one for each row
        of `assessor`, or a function of (topic, document). Documents that could not be sampled (pi = 0) keep the gain of
        the model.

    Raises
    ------
    ArgumentError
        A probability outside (0, 1]; several assessors; a topic without the model; fewer than two topics.
    MeasureError
        A measure that is not a sum over documents.
    NoOverlapError
        Runs and judgments share no topic.
    """
    rule = Rule(quantile=quantile, confidence=confidence)
    parsed = parsed_measure(measure)
    definition = parsed.definition
    if type(definition) not in CORRECTABLE or parsed.values.get("judged_only"):
        names = ", ".join(kind.name for kind in CORRECTABLE)
        raise MeasureError(
            f"{parsed}: cannot be corrected document by document; {names} can be, others by topic with "
            "prediction_powered_means"
        )
    assert isinstance(definition, Linear)
    pool_judgments = _together(assessor, model, probability)
    panel = pool_judgments.panel()
    alignment = align(runs, panel.pool)
    topics = [t for t, name in enumerate(panel.pool.topics) if name in set(runs.topics)]
    if len(topics) < 2:
        raise ArgumentError(f"runs: {len(topics)} judged topic; 2 or more are needed for a variance between topics")
    both = panel.part(slice(0, 2))
    shape = (len(topics), len(runs.systems))
    scores, own, variance = np.empty(shape), np.empty(shape), np.empty(shape)
    n_sampled = 0
    for i, t in enumerate(topics):
        rows = alignment.topics[t].rows
        view = TopicView(rows, np.ascontiguousarray(both.topic(t)), both)
        y, f = definition.gains(parsed, view).T
        sampled = ~np.isnan(view.values[:, 0])
        pi = np.where(sampled, panel.topic(t)[:, 2], 1.0)
        error = np.where(sampled, y - f, 0.0)
        weights = definition.coefficients(parsed, rows.shape[1])
        scores[i], own[i] = weighted_ranks(rows, weights, np.column_stack([f + error / pi, f])).T
        variance[i] = weighted_ranks(rows, weights**2, (error**2 * (1 - pi) / pi**2)[:, None])[:, 0]
        n_sampled += int(sampled.sum())
    n = len(topics)
    estimate = scores.mean(axis=0)
    standard_error = np.sqrt(scores.var(axis=0, ddof=1) / n)
    df = np.full(standard_error.shape, np.inf if quantile == "normal" else n - 1.0)
    half = rule.quantiles(df) * standard_error
    return PredictionPoweredDocuments(
        str(parsed),
        runs.systems,
        tuple(panel.pool.topics[t] for t in topics),
        scores,
        estimate,
        standard_error,
        np.sqrt(variance.sum(axis=0)) / n,
        estimate - half,
        estimate + half,
        own.mean(axis=0),
        n_sampled,
        confidence,
    )


def _together(assessor: Judgments, model: Judgments, probability: Probability) -> Judgments:
    """Three columns over one pool: the assessor, the model, and the probabilities."""
    for name, judgments in (("assessor", assessor), ("model", model)):
        if len(judgments.assessors) != 1:
            raise ArgumentError(
                f"{name}: judgments of {len(judgments.assessors)} assessors; those of one were expected: select or "
                "aggregate them first"
            )
        if judgments.n_repeats():
            raise ArgumentError(f"{name}: documents judged more than once; choose with judgments.single(...)")
    shared = set(assessor.topics) & set(model.topics)
    if not shared:
        raise NoOverlapError("assessor and model judge no topic in common; check that both are of the same collection")
    missing = [topic for topic in assessor.topics if topic not in shared]
    if missing:
        raise ArgumentError(f"model: no judgments of topic {missing[0]!r}, which the assessor judged; leave it out")
    pi = _probabilities(assessor, probability)
    judged = replace(assessor, assessors=("assessor",))
    probabilities = replace(assessor, assessors=("probability",), value=pi, scales=(Scale("fractions", 1.0),))
    return concatenate_judgments([judged, replace(model, assessors=("model",)), probabilities])


def _probabilities(judgments: Judgments, probability: Probability) -> NDArray[np.float64]:
    """(rows,) probability of each judgment."""
    if callable(probability):
        names = zip(judgments.topic.tolist(), judgments.document.tolist(), strict=True)
        pi = np.array([probability(judgments.topics[t], judgments.documents[d]) for t, d in names], np.float64)
    else:
        pi = np.asarray(probability, np.float64)
        if pi.ndim > 1 or (pi.ndim == 1 and pi.size != len(judgments)):
            raise ArgumentError(f"probability: shape {pi.shape} for {len(judgments)} judgments; one each was expected")
        pi = np.broadcast_to(pi, (len(judgments),)).copy()
    wrong = np.flatnonzero(~((pi > 0) & (pi <= 1)))
    if wrong.size:
        row = int(wrong[0])
        raise ArgumentError(
            f"probability: {pi[row]:g} of {judgments.describe(row)}; above 0 and up to 1 was expected, the probability "
            "with which the document was sampled"
        )
    return pi
