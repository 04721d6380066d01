"""Prediction-powered scores by document: a model judged every document, people a sample of known probability.

Every unit of gain counts by its rank in P, DCG and RBP, so that a score can be corrected one document at a time. The
estimate is unbiased whatever the model says: the model's errors are estimated as Horvitz & Thompson (1952, JASA 47,
663-685) estimate a total.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qrowd.errors import ArgumentError, MeasureError, NoOverlapError
from qrowd.evaluation import measure as parsed_measure
from qrowd.kernels import ranking
from qrowd.measures.gain import DCG
from qrowd.measures.patience import RBP
from qrowd.measures.precision import P
from qrowd.measures.scoring import Linear, TopicView
from qrowd.model.alignment import align
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.scores import Floats
from qrowd.uncertainty.prediction_powered_sums import Quantile, Rule

Probability = float | ArrayLike | Callable[[str, str], float]
CORRECTABLE = (P, DCG, RBP)


@dataclass(frozen=True, eq=False)
class PredictionPoweredDocuments:
    """Scores of every system, the model's corrected by the documents that people judged.

    by_topic : (topics, systems) corrected scores; one may lie outside what the measure can reach.
    estimate, low, high : (systems,) mean over topics with its interval.
    se : (systems,) of that mean, topics being sampled too (topics as clusters); `judging_se` the part of it that
        judging every document would take away.
    model_only : (systems,) mean of the model's own scores.
    n_sampled : documents that people judged.
    """

    measure: str
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    by_topic: Floats
    estimate: Floats
    se: Floats
    judging_se: Floats
    low: Floats
    high: Floats
    model_only: Floats
    n_sampled: int
    confidence: float

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per system."""
        return make_frame(
            {
                "system": np.array(self.systems, object),
                "estimate": self.estimate,
                "se": self.se,
                "judging_se": self.judging_se,
                "low": self.low,
                "high": self.high,
                "model_only": self.model_only,
            },
            backend,
        )


def prediction_powered_documents(
    runs: Runs,
    human: Judgments,
    model: Judgments,
    measure: object,
    *,
    probability: Probability,
    quantile: Quantile = "t",
    confidence: float = 0.95,
) -> PredictionPoweredDocuments:
    """Mean scores as people would find them had they judged all that the model judged, by a measure linear in gains.

        mean_t sum_r c_r [f + (xi / pi) (y - f)],  se^2 = variance between topics / T

    human, model : judgments of one assessor each, on scales of their own; the model judged every topic. Of a document
        it did not judge its gain f is 0. xi is 1 where people judged.
    measure : P, DCG or RBP, as text.
    probability : pi with which each document came to people, independently of its relevance: one number, one for each
        row of `human`, or a function of (topic, document). Documents that could not be drawn (pi = 0) keep what the
        model says of them.

    Raises
    ------
    ArgumentError
        A probability outside (0, 1]; several assessors; a topic without the model; fewer than two topics.
    MeasureError
        A measure that cannot be taken apart by document.
    NoOverlapError
        Runs and judgments share no topic.
    """
    rule = Rule(quantile=quantile, confidence=confidence)
    asked = parsed_measure(measure)
    definition = asked.definition
    if type(definition) not in CORRECTABLE or asked.values.get("judged_only"):
        names = ", ".join(kind.name for kind in CORRECTABLE)
        raise MeasureError(
            f"{asked}: cannot be corrected document by document; {names} can be, others by topic with "
            "prediction_powered_means"
        )
    assert isinstance(definition, Linear)
    pool_judgments = _together(human, model, probability)
    panel = pool_judgments.panel()
    alignment = align(runs, panel.pool)
    kept = [t for t, name in enumerate(panel.pool.topics) if name in set(runs.topics)]
    if len(kept) < 2:
        raise ArgumentError(f"runs: {len(kept)} judged topic; 2 or more are needed for a variance between topics")
    both = panel.part(slice(0, 2))
    shape = (len(kept), len(runs.systems))
    scores, own, variance = np.empty(shape), np.empty(shape), np.empty(shape)
    n_sampled = 0
    for i, t in enumerate(kept):
        rows = alignment.topics[t].rows
        view = TopicView(rows, np.ascontiguousarray(both.topic(t)), both)
        y, f = definition.gains(asked, view).T
        sampled = ~np.isnan(view.values[:, 0])
        pi = np.where(sampled, panel.topic(t)[:, 2], 1.0)
        error = np.where(sampled, y - f, 0.0)
        weights = definition.weights(asked, view)
        columns = np.column_stack([f + error / pi, f])
        out = np.empty((rows.shape[0], 2))
        ranking.weighted_sum(rows, weights, np.ascontiguousarray(columns), out)
        scores[i], own[i] = out.T
        drawn = np.ascontiguousarray((error**2 * (1 - pi) / pi**2)[:, None])
        ranking.weighted_sum(rows, weights**2, drawn, out := np.empty((rows.shape[0], 1)))
        variance[i] = out[:, 0]
        n_sampled += int(sampled.sum())
    n = len(kept)
    estimate = scores.mean(axis=0)
    se = np.sqrt(scores.var(axis=0, ddof=1) / n)
    df = np.full(se.shape, np.inf if quantile == "normal" else n - 1.0)
    half = rule.quantiles(df) * se
    return PredictionPoweredDocuments(
        str(asked), runs.systems, tuple(panel.pool.topics[t] for t in kept), scores, estimate, se,
        np.sqrt(variance.sum(axis=0)) / n, estimate - half, estimate + half, own.mean(axis=0), n_sampled, confidence,
    )  # fmt: skip


def _together(human: Judgments, model: Judgments, probability: Probability) -> Judgments:
    """Three assessors over one pool: people, the model, and the probabilities as if somebody had judged them."""
    for name, judgments in (("human", human), ("model", model)):
        if len(judgments.assessors) != 1:
            raise ArgumentError(
                f"{name}: judgments of {len(judgments.assessors)} assessors; those of one were expected: select or "
                "aggregate them first"
            )
        if judgments.n_repeats():
            raise ArgumentError(f"{name}: documents judged more than once; choose with judgments.single(...)")
    shared = set(human.topics) & set(model.topics)
    if not shared:
        raise NoOverlapError("human and model judge no topic in common; check that both are of the same collection")
    missing = [topic for topic in human.topics if topic not in shared]
    if missing:
        raise ArgumentError(f"model: no judgments of topic {missing[0]!r}, which people judged; leave it out of human")
    pi = _probabilities(human, probability)
    people = replace(human, assessors=("human",))
    chances = replace(human, assessors=("probability",), value=pi, scales=(Scale("fractions", 1.0),))
    return concatenate_judgments([people, replace(model, assessors=("model",)), chances])


def _probabilities(human: Judgments, probability: Probability) -> NDArray[np.float64]:
    """(rows,) probability of each row of people's judgments."""
    if callable(probability):
        names = zip(human.topic.tolist(), human.document.tolist(), strict=True)
        pi = np.array([probability(human.topics[t], human.documents[d]) for t, d in names], np.float64)
    else:
        pi = np.asarray(probability, np.float64)
        if pi.ndim > 1 or (pi.ndim == 1 and pi.size != len(human)):
            raise ArgumentError(
                f"probability: shape {pi.shape} for {len(human)} human judgments; one each was expected"
            )
        pi = np.broadcast_to(pi, (len(human),)).copy()
    wrong = np.flatnonzero(~((pi > 0) & (pi <= 1)))
    if wrong.size:
        row = int(wrong[0])
        raise ArgumentError(
            f"probability: {pi[row]:g} of {human.describe(row)}; above 0 and up to 1 was expected, the chance with "
            "which the document was drawn"
        )
    return pi
