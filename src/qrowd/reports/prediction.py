"""Predicted relevance: p(R|i), the expected number of relevant results, and systems scored by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.aware.similarity import long_labels
from qrowd.comparison.correlation import kendall_tau_b
from qrowd.comparison.system_ranking import rank_systems
from qrowd.errors import ScaleError
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import PredictedRelevance, RelevantResults, predicted_relevance, relevant_results
from qrowd.predicted_relevance.bands import LEAST_JUDGMENTS
from qrowd.predicted_relevance.model import NEGLIGIBLE, ByBand
from qrowd.reports.document import Document, Note, Reported, Table, repeats_note
from qrowd.reports.phrases import cells, count, number, percent
from qrowd.reports.scales import scale_note, scale_rules


@dataclass(frozen=True, eq=False)
class PredictedScores(Result):
    """Systems by predicted and by binary relevance; arrays are (measures, systems), means over panel and topics.

    tau : (measures,) tau-b of the two rankings.
    gains : the model whose p(R|i) they are scored with.
    """

    measures: tuple[str, ...]
    systems: tuple[str, ...]
    predicted: Floats
    binary: Floats
    tau: Floats
    gains: PredictedRelevance

    def _columns(self) -> dict[str, Any]:
        labels = long_labels({"measure": self.measures, "system": self.systems})
        return {**labels, "predicted": self.predicted.ravel(), "binary": self.binary.ravel()}


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Reported):
    """The answer of `qrowd predict`: predicted relevance, with what follows for runs.

    model : p(R|i). results : None without runs where p(R|i) of some grade is unknown. scores : None without runs.
    gains : the judgments with p(R|i) of the whole pool as their values. scales : on which scales they were made.
    """

    model: PredictedRelevance
    results: RelevantResults | None = None
    scores: PredictedScores | None = None
    gains: Judgments | None = None
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
        """One row per grade; per band of ranks and grade; per system; per measure and system."""
        bands, results = self.model.by_band, self.results
        return self._tables_of(rows=self.model, bands=bands, relevant_results=results, systems=self.scores)

    def to_document(self) -> Document:
        """The probabilities, the relevant results and the systems; .csv holds one row per grade."""
        model, scores = self.model, self.scores
        tables = [_grades(model)]
        tables += [] if model.by_band is None else [_bands(model.by_band)]
        tables += [] if self.results is None else [_results(self.results)]
        tables += [] if scores is None else [_scores(scores, m) for m in range(len(scores.measures))]
        gains = _gains(model if scores is None else scores.gains, of_systems=scores is not None)
        notes = (*self.scales, *_notes(model), *gains)
        return Document(self.sentence, tuple(tables), notes, self.to_frame, self._content)

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
    **options: Any,
) -> Prediction:
    """Predicted relevance of grades, of results, and scores of systems by it.

    options : those of `predicted_relevance`.
    """
    parsed = [with_probabilities(text) for text in measures]
    scaled = on_one_scale(judgments, combine_scales, "relevant")
    model = predicted_relevance(scaled, runs=runs, cutoff=cutoff, **options)
    # Gains do not depend on the runs that are evaluated.
    pooled = predicted_relevance(scaled, runs=runs, cutoff=cutoff, **{**options, "ranks": "pool", "n_resamples": 0})
    try:
        results = relevant_results(model, scaled, runs=runs, cutoff=cutoff)
    except ScaleError:
        if runs is not None:
            raise
        results = None
    rules = scale_rules(judgments.scales, combine_scales, {"predicted relevance": "relevant"})
    return Prediction(
        model,
        results,
        None if runs is None else predicted_scores(runs, scaled, pooled, parsed),
        pooled.with_gains(scaled),
        (scale_note(judgments, rules),),
    )


def predicted_scores(
    runs: Runs,
    judgments: Judgments,
    model: PredictedRelevance,
    measures: object | Sequence[object] = "nDCG@10",
    conventions: Conventions = Conventions(),
) -> PredictedScores:
    """Score every system with gains p(R|i), and with 1 for grades that satisfy and 0 for others."""
    several = measures if isinstance(measures, list | tuple) else [measures]
    texts = [with_probabilities(text) for text in several]
    means = []
    for gains in (None, model.relevant.astype(np.float64)):
        scores = evaluate(runs, model.with_gains(judgments, grade_gains=gains), texts, conventions=conventions)
        means.append(np.array([rank_systems(scores.sel(measure=name)).mean for name in scores.measures]))
    predicted, binary = means
    tau = np.array([kendall_tau_b(p, b) for p, b in zip(predicted, binary, strict=True)])
    return PredictedScores(tuple(map(str, texts)), runs.systems, predicted, binary, tau, model)


# ---------------------------------------------------------------------- tables


def _grades(model: PredictedRelevance) -> Table:
    where = "of all documents judged twice"
    if model.by_band is not None:
        bands = model.by_band.bands
        where = f"in the first {bands.cutoff} ranks of {bands.n_systems} systems, a result of each counting once"
    probabilities = {
        "p(R|i)": model.probability,
        "standard error": model.standard_error,
        "low": model.low,
        "high": model.high,
    }
    columns = {
        "grade": cells("{:g}".format, model.grades[::-1]),
        "relevant": ["yes" if relevant else "no" for relevant in model.relevant[::-1]],
        **{name: cells(number, values[::-1], digits=3) for name, values in probabilities.items()},
        "judgments" if model.by_band is None else "judgments x systems": cells("{:,.0f}".format, model.n[::-1]),
        "relevant to another": cells("{:,.1f}".format, model.n_relevant[::-1]),
    }
    return Table.of(f"p(R|i): another assessor finds relevant what one gave grade i, {where}", columns)


def _bands(by_band: ByBand) -> Table:
    by_grade = zip(by_band.grades[::-1], by_band.probability.T[::-1], strict=True)
    columns = {
        "ranks": list(by_band.bands.labels),
        **{f"p(R|{grade:g})": cells(number, chances, digits=3) for grade, chances in by_grade},
        "documents judged twice": cells("{:,}".format, by_band.n_documents),
    }
    return Table.of("p(R|i) by band of ranks, as used for expected results", columns)


def _results(results: RelevantResults) -> Table:
    frame = results.to_frame().sort_values("predicted", ascending=False, kind="stable")
    columns = {
        "system": frame["system"].tolist(),
        "expected": cells(number, frame["predicted"], digits=2),
        "standard error": cells(number, frame["predicted_standard_error"], digits=2),
        "counted": cells(number, frame["binary"], digits=2),
        "standard error of counted": cells(number, frame["binary_standard_error"], digits=2),
    }
    where = "among all judged documents" if results.cutoff is None else f"in the first {results.cutoff} ranks"
    title = f"relevant results of a topic {where}, expected by p(R|i) and counted, the mean over assessors"
    return Table.of(title, columns)


def _scores(scores: PredictedScores, m: int) -> Table:
    order = np.argsort(-scores.predicted[m], kind="stable")
    predicted, binary = scores.predicted[m], scores.binary[m]
    columns = {
        "system": [scores.systems[s] for s in order],
        "predicted": cells(number, predicted[order]),
        "rank": cells(str, (1 + (predicted > predicted[:, None]).sum(axis=1))[order]),
        "binary": cells(number, binary[order]),
        "rank by binary": cells(str, (1 + (binary > binary[:, None]).sum(axis=1))[order]),
    }
    tau = f"tau-b of the two rankings {number(scores.tau[m], 3)}"
    return Table.of(f"{scores.measures[m]}, predicted and binary relevance; {tau}", columns)


# ---------------------------------------------------------------------- notes


def _gains(model: PredictedRelevance, *, of_systems: bool) -> Iterator[Note]:
    """The gains that systems are scored with, and their known defects."""
    if of_systems and model.by_band is not None:
        text = "p(R|i) by band of ranks, which depends on the systems that are evaluated"
        yield Note("gains of systems", text)
    elif of_systems:
        by_grade = zip(model.grades[::-1], model.probability[::-1], strict=True)
        gains = ", ".join(f"{number(p, 3)} for a {grade:g}" for grade, p in by_grade)
        yield Note("gains of systems", f"p(R|i) of all documents judged twice, whatever is evaluated: {gains}")
    zero = model.probability[model.grades == 0]
    if zero.size and zero[0] > NEGLIGIBLE:
        yield Note(
            "p(R|0)",
            f"{zero[0]:.3f}, above {NEGLIGIBLE:g}: as a gain it favours judged documents, since unjudged ones gain 0",
        )


def _notes(model: PredictedRelevance) -> Iterator[Note]:
    data = model.data
    yield Note(
        "double judgments",
        f"{data.n_documents:,} of {data.n_documents + data.n_single + data.n_left_out:,} documents, on "
        f"{data.n_topics:,} topics, {data.n_judgments:,} judgments; scale {model.options.scale}",
    )
    yield Note("p(R|i)", "share of the other assessors who agree; it holds for users as far as they resemble assessors")
    yield from _ranks(model)
    yield _method(model)
    yield _error(model)
    if data.n_left_out:
        yield Note("left out", f"{data.n_left_out:,} documents that the first assessor did not judge")
    yield from repeats_note(data.n_repeats)
    probability = model.probability if model.by_band is None else model.by_band.probability[0]
    unknown = ", ".join(f"{g:g}" for g in model.grades[np.isnan(probability)])
    if unknown:
        yield Note("unknown", f"no double judgment holds grade {unknown}, so results are not counted: use --smoothing")


def _ranks(model: PredictedRelevance) -> Iterator[Note]:
    """The ranks from which p(R|i) is estimated."""
    if model.by_band is None:
        yield Note(
            "ranks",
            "pool: p(R|i) from all documents judged twice, which tends to be too low for results in the first ranks; "
            "bands of ranks (ranks: bands) need runs",
        )
        return
    bands = model.by_band.bands
    systems = f"the first {bands.cutoff} ranks in one band"
    if bands.n_top > 1:
        systems = (
            f"{bands.n_top} bands of the first {bands.cutoff} ranks, band 1 being documents of systems with most "
            "relevant results there"
        )
    yield Note("ranks", f"bands: p(R|i) by band of ranks of {bands.n_systems} systems, {systems}")
    joined = model.by_band.same.sum(axis=2) > 1
    if joined.any():
        grades = ", ".join(f"{grade:g}" for grade in model.grades[joined.any(axis=1)])
        text = f"bands with fewer than {LEAST_JUDGMENTS} judgments of a grade share an estimate: grade {grades}"
        yield Note("joined bands", text)
    falling = np.diff(model.by_band.probability, axis=1).min(axis=1, initial=0.0) < 0
    if bool((np.diff(model.relevant.astype(int)) >= 0).all()) and falling.any():
        labels = "; ".join(label for label, falls in zip(bands.labels, falling, strict=True) if falls)
        yield Note("falling", f"p(R|i) does not rise with every grade in: {labels}")


def _method(model: PredictedRelevance) -> Note:
    options = model.options
    method = "symmetric (equation 5), every judgment predicts all others of its document"
    if options.method != "symmetric":
        names = [options.first] if isinstance(options.first, str) else options.first or ["whoever judged first"]
        method = f"one-sided (equation 4), predicting from {', '.join(names)}"
    return Note("method", method + (f"; smoothing: {options.smoothing:g} counts" if options.smoothing else ""))


def _error(model: PredictedRelevance) -> Note:
    options = model.options
    confidence = percent(options.confidence)
    if options.resample == "binomial":
        return Note("standard errors", f"binomial; intervals: {confidence}, Wilson")
    if not options.n_resamples:
        return Note("standard errors", "none, nothing was resampled")
    alone = ", of the only topic" if model.data.n_topics == 1 and options.resample == "documents" else ""
    n = count(options.n_resamples, "resample")
    return Note("standard errors", f"{n} of {options.resample}{alone}; intervals: {confidence}; seed: {model.seed!r}")
