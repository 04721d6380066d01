"""Predicted relevance as a document: p(R|i), the expected number of relevant results, and systems scored by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.comparison.correlation import kendall_tau_b
from qrowd.comparison.system_ranking import rank_systems
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import PredictedRelevance, RelevantResults
from qrowd.predicted_relevance.bands import LEAST_JUDGMENTS
from qrowd.predicted_relevance.model import NEGLIGIBLE, ByBand
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.phrases import count, number, percent


@dataclass(frozen=True, eq=False)
class PredictedScores:
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


def predicted_scores(
    runs: Runs,
    judgments: Judgments,
    model: PredictedRelevance,
    measures: object | Sequence[object] = "nDCG@10",
    conventions: Conventions | None = None,
) -> PredictedScores:
    """Score every system with gains p(R|i), and with 1 for grades that satisfy and 0 for others."""
    listed = measures if isinstance(measures, list | tuple) else [measures]
    texts = [with_probabilities(text) for text in listed]
    means = []
    for gains in (None, model.relevant.astype(np.float64)):
        scores = evaluate(
            runs, model.with_gains(judgments, grade_gains=gains), texts, conventions=conventions or Conventions()
        )
        means.append(np.array([rank_systems(scores.sel(measure=name)).mean for name in scores.measures]))
    predicted, binary = means
    tau = np.array([kendall_tau_b(p, b) for p, b in zip(predicted, binary, strict=True)])
    return PredictedScores(tuple(map(str, texts)), runs.systems, predicted, binary, tau, model)


def prediction_document(
    model: PredictedRelevance, counted: RelevantResults | None, scored: PredictedScores | None = None
) -> Document:
    """What another assessor finds relevant of each grade, in a sentence; the grades, the results, the systems."""
    tables = [_grades(model)]
    tables += [] if model.by_band is None else [_bands(model.by_band)]
    tables += [] if counted is None else [_results(counted)]
    tables += [] if scored is None else [_scores(scored, m) for m in range(len(scored.measures))]

    def content() -> dict[str, Any]:
        content: dict[str, Any] = {"rows": model.to_frame().to_dict("records"), "coincidences": model.coincidences}
        content["ranks"] = model.ranks
        if model.by_band is not None:
            content["bands"] = model.by_band.to_frame().to_dict("records")
        if counted is not None:
            content["relevant_results"] = counted.to_frame().to_dict("records")
        if scored is not None:
            content["systems"] = [
                {"measure": text, "system": system, "predicted": predicted, "binary": binary}
                for text, *rows in zip(scored.measures, scored.predicted, scored.binary, strict=True)
                for system, predicted, binary in zip(scored.systems, *rows, strict=True)
            ]
            content["tau"] = dict(zip(scored.measures, scored.tau, strict=True))
        return content

    notes = [*_notes(model), *_gains(model if scored is None else scored.gains, of_systems=scored is not None)]
    return Document(_sentence(model), tuple(tables), tuple(notes), model.to_frame, content)


def _sentence(model: PredictedRelevance) -> str:
    known = [(g, p) for g, p in zip(model.grades[::-1], model.probability[::-1], strict=True) if not np.isnan(p)]
    shares = ", ".join(f"{percent(p, 0)} of what an assessor gave {g:g}" for g, p in known)
    where = "" if model.by_band is None else f" in the first {model.by_band.bands.cutoff} ranks"
    return f"Another assessor finds relevant ({model.rule}){where} {shares}."


def _grades(model: PredictedRelevance) -> Table:
    judgments = "judgments" if model.by_band is None else "judgments x systems"
    header = ["grade", "relevant", "p(R|i)", "standard error", "low", "high", judgments, "relevant to another"]
    columns = (model.grades, model.relevant, model.probability, model.standard_error, model.low, model.high)
    rows = [
        [f"{g:g}", "yes" if r else "no", *(number(x, 3) for x in (p, e, low, high)), f"{n:,.0f}", f"{found:,.1f}"]
        for g, r, p, e, low, high, n, found in zip(*columns, model.n, model.n_relevant, strict=True)
    ]
    where = "of all documents judged twice"
    if model.by_band is not None:
        bands = model.by_band.bands
        where = f"in the first {bands.cutoff} ranks of {bands.n_systems} systems, a result of each counting once"
    return Table(f"p(R|i): another assessor finds relevant what one gave grade i, {where}", header, rows[::-1])


def _bands(found: ByBand) -> Table:
    header = ["ranks", *(f"p(R|{grade:g})" for grade in found.grades[::-1]), "documents judged twice"]
    rows = [
        [label, *(number(p, 3) for p in chances[::-1]), f"{n:,}"]
        for label, chances, n in zip(found.bands.labels, found.probability, found.n_documents, strict=True)
    ]
    return Table("p(R|i) by band of ranks, as used for expected results", header, rows)


def _results(counted: RelevantResults) -> Table:
    frame = counted.to_frame().sort_values("predicted", ascending=False, kind="stable")
    names = ("predicted", "predicted_standard_error", "binary", "binary_standard_error")
    rows = [
        [system, *(number(value, 2) for value in values)]
        for system, *values in zip(frame["system"], *(frame[name] for name in names), strict=True)
    ]
    where = "among all judged documents" if counted.cutoff is None else f"in the first {counted.cutoff} ranks"
    title = f"relevant results of a topic {where}, expected by p(R|i) and counted, the mean over assessors"
    return Table(title, ["system", "expected", "standard error", "counted", "standard error of counted"], rows)


def _scores(scored: PredictedScores, m: int) -> Table:
    predicted, binary = scored.predicted[m], scored.binary[m]
    ranks = [1 + (values[None, :] > values[:, None]).sum(axis=1) for values in (predicted, binary)]
    rows = [
        [scored.systems[s], number(predicted[s]), str(ranks[0][s]), number(binary[s]), str(ranks[1][s])]
        for s in np.argsort(-predicted, kind="stable")
    ]
    title = (
        f"{scored.measures[m]}, predicted and binary relevance; tau-b of the two rankings {number(scored.tau[m], 3)}"
    )
    return Table(title, ["system", "predicted", "rank", "binary", "rank by binary"], rows)


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
    if data.n_repeats:
        n = count(data.n_repeats, "judgment repeats", "judgments repeat")
        yield Note("repeats", f"{n} one by the same assessor")
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
