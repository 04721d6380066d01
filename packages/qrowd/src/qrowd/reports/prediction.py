"""Predicted relevance: p(R|i), the expected number of relevant results, and systems scored by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.aware.similarity import long_labels
from qrowd.comparison.correlation import kendall_tau_b
from qrowd.comparison.system_ranking import rank_systems
from qrowd.errors import ArgumentError, ScaleError
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.measure import Measure
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import (
    PosteriorRelevance,
    PredictedRelevance,
    PredictedRelevanceByType,
    RelevantResults,
    SensitivityToRank,
    SensitivityToSampleSize,
    posterior_relevance,
    predicted_relevance,
    predicted_relevance_by_type,
    relevant_results,
    sensitivity_to_rank,
    sensitivity_to_sample_size,
)
from qrowd.predicted_relevance.posterior import Combine
from qrowd.reports.document import Document, Note, Reported
from qrowd.reports.phrases import percent
from qrowd.reports.prediction_tables import (
    bands_table,
    gains_notes,
    grades_table,
    model_notes,
    posterior_table,
    ranks_table,
    results_table,
    sample_size_table,
    scores_table,
    types_table,
)
from qrowd.reports.scales import scale_note, scale_rules
from qrowd.reports.user_models import RANDOM_USER, UserModel

Models = Mapping[str, PredictedRelevance]
"""{type of topic: its model}; "" for all topics together."""


@dataclass(frozen=True, eq=False)
class PredictedScores(Result):
    """Systems by predicted and by binary relevance; arrays are (measures, systems), means over panel and topics.

    tau : (measures,) tau-b of the two rankings.
    gains : the models whose gains they are scored with; empty where a posterior is the gain.
    """

    measures: tuple[str, ...]
    systems: tuple[str, ...]
    predicted: Floats
    binary: Floats
    tau: Floats
    gains: Models

    def _columns(self) -> dict[str, Any]:
        labels = long_labels({"measure": self.measures, "system": self.systems})
        return {**labels, "predicted": self.predicted.ravel(), "binary": self.binary.ravel()}


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Reported):
    """The answer of `qrowd predict`: predicted relevance, with what follows for runs.

    model : p(R|i). results : None without runs where p(R|i) of some grade is unknown. scores : None without runs.
    gains : the judgments with the gains of the whole pool as their values. user : whose gains they are.
    types : one model for each type of topic; sizes, ranks : sensitivity of p(R|i); posterior : after all judgments of
        a document. None where not asked for.
    scales : on which scales judgments were made, and by which conventions results and scores were computed.
    """

    model: PredictedRelevance
    results: RelevantResults | None = None
    scores: PredictedScores | None = None
    gains: Judgments | None = None
    user: UserModel = RANDOM_USER
    types: PredictedRelevanceByType | None = None
    sizes: SensitivityToSampleSize | None = None
    ranks: SensitivityToRank | None = None
    posterior: PosteriorRelevance | None = None
    scales: tuple[Note, ...] = ()

    @property
    def sentence(self) -> str:
        """What another assessor finds relevant of each grade."""
        model = self.model
        by_grade = [(g, p) for g, p in zip(model.grades[::-1], model.probability[::-1], strict=True) if not np.isnan(p)]
        shares = ", ".join(f"{percent(p, 0)} of what an assessor gave {g:g}" for g, p in by_grade)
        where = "" if model.by_band is None else f" in the first {model.by_band.bands.cutoff} ranks"
        return f"Another assessor finds relevant ({model.rule}){where} {shares}."

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """One row per grade; per band of ranks and grade; per system; per measure and system; and what was asked."""
        return self._tables_of(
            rows=self.model,
            bands=self.model.by_band,
            types=self.types,
            relevant_results=self.results,
            systems=self.scores,
            sample_sizes=self.sizes,
            ranks=self.ranks,
            posterior=self.posterior,
        )

    def to_document(self) -> Document:
        """The probabilities, the relevant results and the systems; .csv holds one row per grade."""
        model, scores = self.model, self.scores
        tables = [grades_table(model)]
        tables += [] if model.by_band is None else [bands_table(model.by_band)]
        tables += [] if self.types is None else [types_table(self.types)]
        tables += [] if self.sizes is None else [sample_size_table(self.sizes)]
        tables += [] if self.ranks is None else [ranks_table(self.ranks)]
        tables += [] if self.posterior is None else [posterior_table(self.posterior)]
        tables += [] if self.results is None else [results_table(self.results, self.user)]
        if scores is not None:
            parts = zip(scores.measures, scores.predicted, scores.binary, scores.tau.tolist(), strict=True)
            tables += [scores_table(name, scores.systems, *columns) for name, *columns in parts]
        models = {} if self.posterior is not None else {"": model} if scores is None else scores.gains
        gains = gains_notes(models, self.user, of_systems=scores is not None)
        notes = (*self.scales, *model_notes(model), *gains, *self._further_notes())
        return Document(self.sentence, tuple(tables), notes, self.to_frame, self._content)

    def _further_notes(self) -> Iterator[Note]:
        if self.types is not None:
            yield Note(
                "types", "results and scores use the p(R|i) of the topic's type; topics without one are left out"
            )
        if self.sizes is not None:
            rule = "their p(R|i) differ by more than the two standard deviations, at that number and all larger ones"
            yield Note("enough double judgments", f"two grades are separated where {rule}; seed: {self.sizes.seed!r}")
        if self.posterior is not None:
            text = f"p(R | all judgments of the document); p(R) {self.posterior.prior:.3f} before any judgment"
            yield Note("posterior", text + ("; it is the gain of systems" if self.scores is not None else ""))

    def _content(self) -> dict[str, Any]:
        content = {**self.records(), "coincidences": self.model.coincidences, "ranks": self.model.ranks}
        if self.scores is None:
            return content
        return content | {"tau": dict(zip(self.scores.measures, self.scores.tau, strict=True))}


def predict_relevance(
    judgments: Judgments,
    *,
    runs: Runs | None = None,
    measures: Sequence[str] = ("nDCG@10",),
    cutoff: int = 10,
    combine_scales: CombineScales = "auto",
    types: Mapping[str, object] | None = None,
    user: UserModel = RANDOM_USER,
    sensitivity: bool = False,
    posterior: Combine | None = None,
    priors: Mapping[str, float] | Mapping[tuple[str, str], float] | None = None,
    conventions: Conventions = Conventions(),
    **options: Any,
) -> Prediction:
    """Predicted relevance of grades, of results, and scores of systems by it.

    types : {topic: type}, for one model of each type. user : which gains a grade has. sensitivity : whether to show how
    p(R|i) depends on ranks and on the number of double judgments. posterior : how all judgments of a document are
    combined into its gain; priors : as of `posterior_relevance`. options : those of `predicted_relevance`.
    """
    if priors is not None and posterior is None:
        raise ArgumentError("priors: they change the probability of documents; give posterior=linear too")
    if posterior is not None and (types is not None or not user.plain):
        raise ArgumentError("posterior: it takes one model of all topics and p(R|i); leave types and user_model out")
    parsed = [with_probabilities(text) for text in measures]
    scaled = on_one_scale(judgments, combine_scales, "relevant")
    model = predicted_relevance(scaled, runs=runs, cutoff=cutoff, **options)
    # Gains do not depend on the runs that are evaluated.
    of_pool = {**options, "ranks": "pool", "n_resamples": 0}
    by_type = None if types is None else predicted_relevance_by_type(scaled, types, runs=runs, cutoff=cutoff, **options)
    if types is None:
        models: Models = {"": model}
        pooled: Models = {"": predicted_relevance(scaled, runs=runs, cutoff=cutoff, **of_pool)}
    else:
        assert by_type is not None
        models = dict(by_type)
        pooled = dict(predicted_relevance_by_type(scaled, types, runs=runs, cutoff=cutoff, **of_pool))
        scaled = scaled.select(topics=[topic for topic in scaled.topics if topic in types])
    topics = _topics(models, types)
    try:
        results = _results(scaled, topics, models, pooled, user, runs, cutoff, conventions)
    except ScaleError:
        if runs is not None:
            raise
        results = None
    shared = {name: options[name] for name in ("rel", "relevant_grades", "repeats") if name in options}
    after = None if posterior is None else posterior_relevance(scaled, combine=posterior, priors=priors, **shared)
    gains = _gains(scaled, topics, pooled, user) if after is None else after.judgments
    counting = shared | {name: options[name] for name in ("method", "first") if name in options}
    sizes = ranks = None
    if sensitivity:
        sizes = sensitivity_to_sample_size(scaled, rng=options.get("rng"), **counting)
        ranks = None if runs is None else sensitivity_to_rank(scaled, runs, **counting)
    rules = scale_rules(judgments.scales, combine_scales, {"predicted relevance": "relevant"})
    scores = None
    if runs is not None:
        binary = concatenate_judgments(
            [
                pooled[label].with_gains(_of(scaled, own), grade_gains=pooled[label].relevant.astype(np.float64))
                for label, own in topics.items()
            ]
        )
        scores = _scores(runs, gains, binary, parsed, {} if after is not None else pooled, conventions)
    return Prediction(
        model,
        results,
        scores,
        gains,
        user,
        by_type,
        sizes,
        ranks,
        after,
        (scale_note(judgments, rules), *_convention_notes(conventions)),
    )


def _convention_notes(conventions: Conventions) -> Iterator[Note]:
    if conventions.unjudged == "condensed":
        yield Note("unjudged", "documents without a judgment are taken out of each ranking before systems are scored")
    if conventions.duplicates is not None:
        yield Note("duplicates", f"{conventions.duplicates} that count as one in results and scores")


def predicted_scores(
    runs: Runs,
    judgments: Judgments,
    model: PredictedRelevance,
    measures: object | Sequence[object] = "nDCG@10",
    conventions: Conventions = Conventions(),
) -> PredictedScores:
    """Score every system with gains p(R|i), and with 1 for grades that satisfy and 0 for others."""
    several = measures if isinstance(measures, list | tuple) else [measures]
    binary = model.with_gains(judgments, grade_gains=model.relevant.astype(np.float64))
    parsed = [with_probabilities(text) for text in several]
    return _scores(runs, model.with_gains(judgments), binary, parsed, {"": model}, conventions)


def _scores(
    runs: Runs,
    gains: Judgments,
    binary: Judgments,
    measures: Sequence[Measure],
    models: Models,
    conventions: Conventions,
) -> PredictedScores:
    means = []
    for values in (gains, binary):
        scores = evaluate(runs, values, measures, conventions=conventions)
        means.append(np.array([rank_systems(scores.sel(measure=name)).mean for name in scores.measures]))
    predicted, counted = means
    tau = np.array([kendall_tau_b(p, b) for p, b in zip(predicted, counted, strict=True)])
    return PredictedScores(tuple(map(str, measures)), runs.systems, predicted, counted, tau, models)


def _topics(models: Models, types: Mapping[str, object] | None) -> dict[str, list[str] | None]:
    """{type: its topics}; None for all topics."""
    if types is None:
        return {"": None}
    return {label: [topic for topic, kind in types.items() if str(kind) == label] for label in models}


def _of(judgments: Judgments, topics: list[str] | None) -> Judgments:
    return judgments if topics is None else judgments.select(topics=topics)


def _gains(judgments: Judgments, topics: Mapping[str, list[str] | None], models: Models, user: UserModel) -> Judgments:
    """The judgments with the gains of their topic's model."""
    parts = []
    for label, own in topics.items():
        gains = None if user.plain else user.gains(models[label])
        parts.append(models[label].with_gains(_of(judgments, own), grade_gains=gains))
    return concatenate_judgments(parts)


def _results(
    judgments: Judgments,
    topics: Mapping[str, list[str] | None],
    models: Models,
    pooled: Models,
    user: UserModel,
    runs: Runs | None,
    cutoff: int,
    conventions: Conventions,
) -> RelevantResults:
    """Relevant results by each topic's model."""
    parts = []
    for label, own in topics.items():
        gains = None if user.plain else user.gains(pooled[label])
        parts.append(
            relevant_results(
                models[label],
                _of(judgments, own),
                runs=runs,
                cutoff=cutoff,
                grade_gains=gains,
                duplicates=conventions.duplicates,
            )
        )
    return RelevantResults(
        tuple(topic for part in parts for topic in part.topics),
        parts[0].systems,
        np.concatenate([part.predicted for part in parts]),
        np.concatenate([part.binary for part in parts]),
        parts[0].cutoff,
    )
