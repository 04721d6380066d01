"""Predicted relevance: p(R|i), the expected number of relevant results, and systems scored by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from qrowd.aware.similarity import long_labels
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.comparison.system_ranking import rank_systems
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result, Tables
from qrowd.model.runs import Runs
from qrowd.model.signature import with_signature
from qrowd.predicted_relevance import PredictedRelevance, RelevantResults, predicted_relevance, relevant_results
from qrowd.predicted_relevance.doubles import Method, Repeated
from qrowd.predicted_relevance.estimation import NEGLIGIBLE, Resample, evaluated_text
from qrowd.predicted_relevance.results import found_by_others, standard_error
from qrowd.reports.document import Document, Note, Reported, Table, repeats_note
from qrowd.reports.phrases import count, number, percent
from qrowd.reports.scale_notes import scale_note, scale_rules
from qrowd.reports.table import Column, frame_table


@dataclass(frozen=True, eq=False)
class PredictedScores(Result):
    """Systems by predicted and by binary relevance; arrays are (measures, systems), means over panel and topics.

    tau : (measures,) tau-b of the two rankings.
    """

    measures: tuple[str, ...]
    systems: tuple[str, ...]
    predicted: Floats
    binary: Floats
    tau: Floats

    def _columns(self) -> dict[str, Any]:
        labels = long_labels({"measure": self.measures, "system": self.systems})
        return {**labels, "predicted": self.predicted.ravel(), "binary": self.binary.ravel()}


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Reported):
    """The answer of `qrowd predict`: predicted relevance, with what follows for runs.

    model : p(R|i). gains : the evaluated judgments, with the gains as their values. results, scores : None without
    runs. notes : scales, conventions, which judgments are evaluated, and whether p(R|i) fits the best systems.
    """

    model: PredictedRelevance
    gains: Judgments
    results: RelevantResults | None
    scores: PredictedScores | None
    notes: tuple[Note, ...]

    @property
    def sentence(self) -> str:
        """What another assessor finds relevant of each grade."""
        model = self.model
        by_grade = zip(model.grades[::-1], model.probability[::-1], strict=True)
        shares = [f"{percent(p, 0)} of what an assessor gave {g:g}" for g, p in by_grade if not np.isnan(p)]
        return f"Another assessor finds relevant ({model.rule}) {', '.join(shares)}."

    def _tables(self) -> Tables:
        """One row per grade; per system; and per measure and system."""
        return self._tables_of(rows=self.model, relevant_results=self.results, systems=self.scores)

    def _document(self) -> Document:
        """The probabilities, the relevant results and the systems; .csv holds one row per grade."""
        tables = [_grades_table(self.model)]
        tables += [] if self.results is None else [_results_table(self.results)]
        tables += [] if self.scores is None else _scores_tables(self.scores)
        notes = (*self.notes, *_model_notes(self.model))
        return Document(self.sentence, tuple(tables), notes, self.to_frame, self._content)

    def _content(self) -> dict[str, Any]:
        content = {**self.records(), "coincidences": self.model.coincidences}
        if self.scores is None:
            return content
        return content | {"tau": dict(zip(self.scores.measures, self.scores.tau, strict=True))}


@with_signature("predicted-relevance")
def predict_relevance(
    judgments: Judgments,
    *,
    runs: Runs | None = None,
    measures: Sequence[str] = ("nDCG@10",),
    rel: float | None = None,
    cutoff: int = 10,
    method: Method = "symmetric",
    first: Sequence[str] | None = None,
    smoothing: float = 0.0,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
    conventions: Conventions = Conventions(),
    resample: Resample = "topics",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = 1,
) -> Prediction:
    """Predict which documents users find relevant, from documents that two or more assessors judged.

    cutoff : number of top ranks of a run that are considered.
    method : each judgment predicts all others of its document (symmetric), or those of first do (one-sided).
    first : one-sided: assessors whose judgments predict those of the others; default: whoever judged first.
    smoothing : count that is added to each pair of grades before probabilities are estimated.
    resample : standard errors by resampling topics or documents, or by the binomial formula.
    """
    parsed = [with_probabilities(text) for text in measures]
    scaled = on_one_scale(judgments, combine_scales, "relevant")
    model = predicted_relevance(
        scaled,
        rel=rel,
        method=method,
        first=first,
        smoothing=smoothing,
        resample=resample,
        n_resamples=n_resamples,
        confidence=confidence,
        rng=rng,
        repeats=repeats,
    )
    evaluated = model.evaluated(scaled)
    gains = model.with_gains(evaluated)
    results = scores = None
    notes = [Note("evaluated judgments", evaluated_text(model, scaled, evaluated))]
    if runs is not None:
        results = relevant_results(model, scaled, runs=runs, cutoff=cutoff, duplicates=conventions.duplicates)
        binary = model.with_gains(evaluated, grade_gains=model.relevant.astype(np.float64))
        means = []
        for values in (gains, binary):
            scored = evaluate(runs, values, parsed, conventions=conventions)
            means.append(np.array([rank_systems(scored.sel(measure=name)).mean for name in scored.measures]))
        tau = np.array([kendall_tau_b(p, b) for p, b in zip(*means, strict=True)])
        scores = PredictedScores(tuple(map(str, parsed)), runs.systems, means[0], means[1], tau)
        notes.append(_best_systems(cutoff, *found_by_others(model, scaled, results, runs=runs)))
    rules = scale_rules(judgments.scales, combine_scales, {"predicted relevance": "relevant"})
    notes = [scale_note(judgments, rules), *notes, *_convention_notes(conventions)]
    return Prediction(model, gains, results, scores, tuple(notes))


def _best_systems(cutoff: int, n_systems: int, expected: Floats, found: Floats) -> Note:
    """Whether p(R|i) fits the results of the systems with the highest expected numbers."""
    (error,) = standard_error((found - expected)[:, None])
    away, least = found.mean() - expected.mean(), 2 * error + 1e-9
    verdict = "too low" if away > least else "too high" if away < -least else "not shown to be wrong"
    return Note(
        "best systems",
        f"of the results judged twice in the first {cutoff} ranks of the {count(n_systems, 'system')} with the highest "
        f"expected numbers, p(R|i) expects {number(expected.mean(), 2)} relevant ones of a topic, and other assessors "
        f"found {number(found.mean(), 2)} (standard error of the difference {number(error, 2)}): what is expected of "
        f"these systems is {verdict}",
    )


def _convention_notes(conventions: Conventions) -> Iterator[Note]:
    if conventions.unjudged == "condensed":
        yield Note("unjudged", "documents without a judgment are taken out of each ranking before systems are scored")
    if conventions.duplicates is not None:
        yield Note("duplicates", f"{conventions.duplicates} that count as one in results and scores")


# ---------------------------------------------------------------------- tables and notes


three_digits = partial(number, digits=3)
two_digits = partial(number, digits=2)
GRADES = {
    "grade": Column("grade", "{:g}".format),
    "relevant": Column("relevant", lambda relevant: "yes" if relevant else "no"),
    "probability": Column("p(R|i)", three_digits),
    "standard_error": Column("standard error", three_digits),
    "low": Column("low", three_digits),
    "high": Column("high", three_digits),
    "n": Column("judgments", "{:,.0f}".format),
    "n_relevant": Column("relevant to another", "{:,.1f}".format),
}
RESULTS = {
    "system": Column("system"),
    "predicted": Column("expected", two_digits),
    "predicted_standard_error": Column("standard error", two_digits),
    "binary": Column("counted", two_digits),
    "binary_standard_error": Column("standard error of counted", two_digits),
}
SCORES = {
    "system": Column("system"),
    "predicted": Column("predicted", number),
    "binary": Column("binary", number),
    "rank_by_binary": Column("rank by binary"),
}


def _grades_table(model: PredictedRelevance) -> Table:
    """p(R|i) of each grade, with its interval and counts."""
    frame = model.to_frame().iloc[::-1]
    return frame_table("p(R|i): another assessor finds relevant what one gave grade i", frame, GRADES)


def _results_table(results: RelevantResults) -> Table:
    """Expected and counted relevant results of each system."""
    frame = results.to_frame().sort_values("predicted", ascending=False, kind="stable")
    title = f"relevant results of a topic in the first {results.cutoff} ranks, expected by p(R|i) and counted"
    return frame_table(title, frame, RESULTS)


def _scores_tables(scores: PredictedScores) -> list[Table]:
    """Systems by predicted and by binary relevance, a table for each measure."""
    tables = []
    for (measure, frame), tau in zip(scores.to_frame().groupby("measure", sort=False), scores.tau, strict=True):
        frame = frame.assign(rank_by_binary=frame["binary"].rank(ascending=False, method="min").astype(int))
        title = f"{measure}, predicted and binary relevance; tau-b of the two rankings {number(tau, 3)}"
        tables.append(frame_table(title, frame.sort_values("predicted", ascending=False, kind="stable"), SCORES))
    return tables


def _model_notes(model: PredictedRelevance) -> Iterator[Note]:
    """What the probabilities rest on, and how they were estimated."""
    data, options = model.data, model.options
    yield Note(
        "double judgments",
        f"{data.n_documents:,} of {data.n_documents + data.n_single + data.n_left_out:,} documents, on "
        f"{data.n_topics:,} topics, {data.n_judgments:,} judgments; scale {options.scale}",
    )
    yield Note(
        "p(R|i)",
        "share of the other assessors who find the document relevant, over all documents judged twice; it holds for "
        "users as far as they resemble assessors",
    )
    method = "symmetric (equation 5), every judgment predicts all others of its document"
    if options.method != "symmetric":
        method = f"one-sided (equation 4), predicting from {', '.join(options.first) or 'whoever judged first'}"
    yield Note("method", method + (f"; smoothing: {options.smoothing:g} counts" if options.smoothing else ""))
    yield _error(model)
    if data.n_left_out:
        yield Note("left out", f"{data.n_left_out:,} documents that the first assessor did not judge")
    yield from repeats_note(data.n_repeats)
    unknown = ", ".join(f"{g:g}" for g in model.grades[np.isnan(model.probability)])
    if unknown:
        yield Note(
            "unknown", f"no double judgment holds grade {unknown}, so its p(R|i) is not known without --smoothing"
        )
    zero = model.probability[model.grades == 0]
    if zero.size and zero[0] > NEGLIGIBLE:
        yield Note(
            "p(R|0)",
            f"{zero[0]:.3f}, above {NEGLIGIBLE:g}: as a gain it favours judged documents, since unjudged ones gain 0; "
            "--unjudged condensed compares on judged documents",
        )


def _error(model: PredictedRelevance) -> Note:
    options = model.options
    confidence = percent(options.confidence)
    if options.resample == "binomial":
        return Note("standard errors", f"binomial; intervals: {confidence}, Wilson")
    if not options.n_resamples:
        return Note("standard errors", "none, nothing was resampled")
    n = count(options.n_resamples, "resample")
    return Note("standard errors", f"{n} of {options.resample}; intervals: {confidence}; seed: {model.seed!r}")
