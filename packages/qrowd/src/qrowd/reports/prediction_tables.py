"""The tables and notes of `qrowd predict`: p(R|i), expected results, systems, and what was asked for besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.predicted_relevance import (
    PosteriorRelevance,
    PredictedRelevance,
    PredictedRelevanceByType,
    RelevantResults,
    SensitivityToRank,
    SensitivityToSampleSize,
)
from qrowd.predicted_relevance.bands import LEAST_JUDGMENTS
from qrowd.predicted_relevance.model import NEGLIGIBLE, ByBand
from qrowd.reports.document import Note, Table, repeats_note
from qrowd.reports.phrases import cells, count, number, percent
from qrowd.reports.user_models import UserModel

RANKS_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def grades_table(model: PredictedRelevance) -> Table:
    """p(R|i) of each grade, with its interval and counts."""
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


def bands_table(by_band: ByBand) -> Table:
    """p(R|i) of each band of ranks."""
    by_grade = zip(by_band.grades[::-1], by_band.probability.T[::-1], strict=True)
    columns = {
        "ranks": list(by_band.bands.labels),
        **{f"p(R|{grade:g})": cells(number, chances, digits=3) for grade, chances in by_grade},
        "documents judged twice": cells("{:,}".format, by_band.n_documents),
    }
    return Table.of("p(R|i) by band of ranks, as used for expected results", columns)


def results_table(results: RelevantResults, user: UserModel) -> Table:
    """Expected and counted relevant results of each system."""
    frame = results.to_frame().sort_values("predicted", ascending=False, kind="stable")
    columns = {
        "system": frame["system"].tolist(),
        "expected": cells(number, frame["predicted"], digits=2),
        "standard error": cells(number, frame["predicted_standard_error"], digits=2),
        "counted": cells(number, frame["binary"], digits=2),
        "standard error of counted": cells(number, frame["binary_standard_error"], digits=2),
    }
    where = "among all judged documents" if results.cutoff is None else f"in the first {results.cutoff} ranks"
    title = f"relevant results of a topic {where}, expected by {user.words} and counted, the mean over assessors"
    return Table.of(title, columns)


def scores_table(measure: str, systems: tuple[str, ...], predicted: Floats, binary: Floats, tau: float) -> Table:
    """Systems by predicted and by binary relevance, by one measure."""
    order = np.argsort(-predicted, kind="stable")
    columns = {
        "system": [systems[s] for s in order],
        "predicted": cells(number, predicted[order]),
        "rank": cells(str, (1 + (predicted > predicted[:, None]).sum(axis=1))[order]),
        "binary": cells(number, binary[order]),
        "rank by binary": cells(str, (1 + (binary > binary[:, None]).sum(axis=1))[order]),
    }
    return Table.of(f"{measure}, predicted and binary relevance; tau-b of the two rankings {number(tau, 3)}", columns)


def types_table(by_type: PredictedRelevanceByType) -> Table:
    """p(R|i) of each type of topic, with its standard error."""
    grades = sorted({grade for _, model in by_type for grade in model.grades.tolist()}, reverse=True)
    columns: dict[str, list[str]] = {"grade": [f"{grade:g}" for grade in grades]}
    for label, model in by_type:
        place = {grade: i for i, grade in enumerate(model.grades.tolist())}
        for name, values in ((f"p(R|i) {label}", model.probability), (f"standard error {label}", model.standard_error)):
            columns[name] = [number(values[place[grade]], 3) if grade in place else "-" for grade in grades]
    topics = ", ".join(f"{label} {model.data.n_topics}" for label, model in by_type)
    return Table.of(f"p(R|i) by type of topic; topics with double judgments: {topics}", columns)


def sample_size_table(curve: SensitivityToSampleSize) -> Table:
    """For each two neighbouring grades, how many double judgments separate them."""
    last, sd = curve.mean[-1], curve.sd[-1]
    pairs = range(len(last) - 1, 0, -1)
    columns = {
        "grades": [f"{curve.grades[i - 1]:g} and {curve.grades[i]:g}" for i in pairs],
        "difference": [number(last[i] - last[i - 1], 3) for i in pairs],
        "sd of both": [number(sd[i] + sd[i - 1], 3) for i in pairs],
        "double judgments needed": [
            "more" if np.isnan(curve.size_needed[i - 1]) else f"{curve.size_needed[i - 1]:,.0f}" for i in pairs
        ],
    }
    title = f"how many double judgments separate two grades; there are {curve.size[-1]:,}"
    return Table.of(title, columns)


def ranks_table(curve: SensitivityToRank) -> Table:
    """p(R|i) of the documents down to some ranks."""
    rows = [int(np.flatnonzero(curve.rank <= rank)[-1]) for rank in RANKS_SHOWN if (curve.rank <= rank).any()]
    rows = sorted({*rows, len(curve.rank) - 1})
    by_grade = zip(curve.grades[::-1], curve.probability.T[::-1], strict=True)
    columns = {
        "down to rank": [f"{curve.rank[row]:g}" for row in rows],
        **{f"p(R|{grade:g})": cells(number, values[rows], digits=3) for grade, values in by_grade},
        "documents judged twice": [f"{curve.n_documents[row]:,}" for row in rows],
    }
    return Table.of("p(R|i) of documents down to the best rank by any system", columns)


def posterior_table(posterior: PosteriorRelevance) -> Table:
    """The probabilities by number of judgments."""
    sizes = np.unique(posterior.n)
    groups = [posterior.probability[posterior.n == size] for size in sizes]
    columns = {
        "judgments": [f"{size}" for size in sizes],
        "documents": [f"{group.size:,}" for group in groups],
        "probability": [number(group.mean(), 3) for group in groups],
        "sd": [number(group.std(ddof=1) if group.size > 1 else np.nan, 3) for group in groups],
    }
    return Table.of(f"p(R | all judgments) of documents, combined as {posterior.combine}", columns)


# ---------------------------------------------------------------------- notes


def gains_notes(models: Mapping[str, PredictedRelevance], user: UserModel, *, of_systems: bool) -> Iterator[Note]:
    """The gains that systems are scored with, and their known defects.

    models : {type of topic: its model}, "" for all topics together.
    """
    for label, model in models.items():
        gains = model.probability if user.plain else user.gains(model)
        name = f"gains of systems, {label}" if label else "gains of systems"
        if of_systems and model.by_band is not None:
            yield Note(name, "p(R|i) by band of ranks, which depends on the systems that are evaluated")
        elif of_systems:
            by_grade = zip(model.grades[::-1], gains[::-1], strict=True)
            listed = ", ".join(f"{number(p, 3)} for a {grade:g}" for grade, p in by_grade)
            yield Note(name, f"{user.words} of all documents judged twice, whatever is evaluated: {listed}")
        zero = gains[model.grades == 0]
        if zero.size and zero[0] > NEGLIGIBLE:
            yield Note(
                f"p(R|0), {label}" if label else "p(R|0)",
                f"{zero[0]:.3f}, above {NEGLIGIBLE:g}: as a gain it favours judged documents, since unjudged ones gain "
                "0; --unjudged condensed compares on judged documents",
            )


def model_notes(model: PredictedRelevance) -> Iterator[Note]:
    """What the probabilities rest on, and how they were estimated."""
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
