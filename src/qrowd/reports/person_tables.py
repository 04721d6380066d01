"""Sentences, tables and notes of a model compared with one assessor or two, for one model or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.reports.document import Note, Table
from qrowd.reports.person_comparison import PersonComparison
from qrowd.reports.phrases import cells, count, interval, listed, number, percent, signed
from qrowd.uncertainty.calibration import Calibration
from qrowd.uncertainty.ceiling import CHANCE
from qrowd.uncertainty.prediction_powered import PredictionPoweredMeans

MOST_SYSTEMS = 10  # of the table of estimates

SAMPLE = 0.9  # share of the documents below which the assessors may have judged a sample

Rows = list[list[str]]


def comparison_sentences(one: PersonComparison) -> Iterator[str]:
    """How far the model agrees with each assessor, the two assessors with each other, and how severe the model is."""
    if one.agreement is not None:
        a = one.agreement
        pairs = list(zip(a.first, a.second, strict=True))
        parts = [_agreement_text(one, i) for i, pair in enumerate(pairs) if pair[0] == one.model]
        if parts:
            yield f"Its judgments equal {listed(parts)}."
        between = [i for i, pair in enumerate(pairs) if one.model not in pair]
        for i in between:
            tau = [one.rankings.tau_b[-1]] if one.rankings is not None and len(one.rankings.first) > 2 else []
            ranked = f" and tau-b {number(tau[0], 3)}" if tau else ""
            yield f"Between {a.first[i]} and {a.second[i]} kappa is {number(a.kappa[i], 3)}{ranked}."
    own = [each for each in one.calibrations if each.model == one.model]
    known = [each for each in own if not np.isnan(each.difference)]
    if known:
        texts = [
            f"{signed(each.difference, 2)} {interval(each.difference_low, each.difference_high, 2)} from "
            f"{each.assessors[0]}'s"
            for each in known
        ]
        yield f"Its mean grade differs by {listed(texts)}, on a scale up to {known[0].maximum:g}."


def _agreement_text(one: PersonComparison, i: int) -> str:
    a = one.agreement
    assert a is not None
    n = count(a.n_documents[i], "document")
    if np.isnan(a.agreement[i]):
        return f"{a.second[i]}'s on {n} with alpha {number(a.alpha[i], 3)}"
    return f"{a.second[i]}'s on {percent(float(a.agreement[i]))} of {n} (kappa {number(a.kappa[i], 3)})"


def worth_sentence(one: PersonComparison) -> str:
    """How many topics of the assessors the model stands for; empty where nothing is known."""
    worth = one.worth
    if worth is None:
        return ""
    topics = f"{worth.n[0]:,} topics of {listed(one.assessors)}"
    gained = _gained(worth.topics_gained[0])
    if worth.planned:
        return f"Beside {topics} it would be worth {gained} further topics."
    return f"Beside the {topics} it is worth {gained} further topics."


def _gained(topics: float) -> str:
    return signed(round(float(topics), 1) + 0.0, 1)


def comparison_tables(comparisons: Sequence[PersonComparison]) -> list[Table]:
    """The tables, with rows for all models; what two assessors have in common stands there once."""
    people = listed(comparisons[0].assessors)
    tables = [
        _agreement_table(comparisons),
        _error_table(comparisons),
        _grades_table(comparisons, people),
        _rankings_table(comparisons),
        _worth_table(comparisons, people),
        _estimates_table(comparisons, people),
        _ceiling_table(comparisons),
    ]
    return [table for table in tables if table.rows]


def _agreement_table(comparisons: Sequence[PersonComparison]) -> Table:
    rows: Rows = []
    for n, one in enumerate(comparisons):
        a = one.agreement
        for i in range(0 if a is None else len(a.first)):
            assert a is not None
            if n and one.model not in (a.first[i], a.second[i]):
                continue
            row = [a.first[i], a.second[i], f"{a.n_documents[i]:,}", f"{a.n_topics[i]:,}"]
            for name in ("agreement", "kappa", "alpha"):
                row += _with_interval(vars(a), name, i)
            rows.append(row)
    header = ["assessor", "other assessor", "documents", "topics", "equal", "interval of equal", "kappa",
              "interval of kappa", "alpha", "interval of alpha"]  # fmt: skip
    return Table("agreement on the documents both judged", header, rows)


def _with_interval(columns: dict[str, Any], name: str, i: int) -> list[str]:
    return [number(columns[name][i], 3), interval(columns[f"{name}_low"][i], columns[f"{name}_high"][i])]


def _calibrations(comparisons: Sequence[PersonComparison]) -> Iterator[Calibration]:
    for n, one in enumerate(comparisons):
        yield from (each for each in one.calibrations if each.model == one.model or n == 0)


def _error_table(comparisons: Sequence[PersonComparison]) -> Table:
    """Models first, then assessors."""
    models = {one.model for one in comparisons}
    calibrations = sorted(_calibrations(comparisons), key=lambda one: one.model not in models)
    rows = [
        [
            one.model,
            one.assessors[0],
            signed(one.difference, 3),
            interval(one.difference_low, one.difference_high),
            *cells(number, [one.calibration_error, one.calibration_error_after, one.rmse, one.rmse_after], digits=3),
        ]
        for one in calibrations
    ]
    header = ["assessor", "other assessor", "mean difference", "interval", "calibration error", "after recoding",
              "RMSE", "RMSE after recoding"]  # fmt: skip
    return Table("error of grades as the other assessor's, before and after recoding", header, rows)


def _grades_table(comparisons: Sequence[PersonComparison], people: str) -> Table:
    own = [each for one in comparisons for each in one.calibrations if each.model == one.model]
    return grades_table(own, people)


def grades_table(calibrations: Sequence[Calibration], people: str) -> Table:
    """A row per grade of a model: what it means to the assessors."""
    rows: Rows = []
    for one in calibrations:
        whole = bool((one.grade % 1 == 0).all())
        for i in range(one.grade.size):
            grade = f"{one.grade[i]:g}" if whole else f"{one.grade[i]:.3g}"
            ends = interval(one.low[i], one.high[i]) if one.low[i] < one.high[i] else "-"  # where nothing varies
            numbers = [number(one.relevant[i], 3), number(one.calibrated[i], 3)]
            n, mean = f"{one.n_documents[i]:,}", number(one.mean[i], 3)
            rows.append([one.model, listed(one.assessors, 3), grade, n, mean, ends, *numbers])
    header = ["model", "assessor", "its grade", "documents", "mean grade", "interval", "relevant", "recoded to"]
    return Table(f"calibration: what a grade of the model means in grades of {people}", header, rows)


def _rankings_table(comparisons: Sequence[PersonComparison]) -> Table:
    rows: Rows = []
    measure = ""
    for n, one in enumerate(comparisons):
        r = one.rankings
        for i in range(0 if r is None else len(r.first)):
            assert r is not None
            measure = f"{r.measure}: "
            if n and r.first[i] != one.model:
                continue
            calibrated = "-"
            if r.calibrated_rank[i]:
                calibrated = f"{r.calibrated_best[i]} ({r.calibrated_rank[i]})"
            rows.append([
                r.first[i], r.second[i], number(r.tau_b[i], 3), interval(r.low[i], r.high[i]),
                f"{r.best[i]} ({r.rank[i]})" if r.rank[i] else "-",
                f"{r.in_both[i]} of {r.top_set[i]} and {r.other_top_set[i]}",
                number(r.calibrated_tau_b[i], 3), calibrated,
            ])  # fmt: skip
    header = ["assessor", "other assessor", "tau-b", "interval", "best system (its rank by the other)",
              "top sets in common", "tau-b recoded", "best system recoded"]  # fmt: skip
    return Table(f"{measure}systems ranked by each of two assessors", header, rows)


def _worth_table(comparisons: Sequence[PersonComparison], people: str) -> Table:
    rows = [
        [one.model, f"{one.worth.n[i]:,}", *cells(number, [one.worth.classical_width[i], one.worth.width[i]], digits=3),
         _gained(one.worth.topics_gained[i])]
        for one in comparisons if one.worth is not None for i in range(one.worth.n.size)
    ]  # fmt: skip
    header = ["model", f"topics of {people}", "width of interval", "width with the model", "topics gained"]
    return Table("prediction-powered means of systems: what the model adds (medians over systems)", header, rows)


def _estimates_table(comparisons: Sequence[PersonComparison], people: str) -> Table:
    """A row per system, the best by the first model's estimate first."""
    estimated = [(one.model, one.alone, one.estimates) for one in comparisons if one.alone and one.estimates]
    if not estimated:
        return Table("", ["system"], [])
    _, alone, best = estimated[0]
    order = np.argsort(-best.estimate, kind="stable")[:MOST_SYSTEMS]
    columns = {"system": [best.systems[s] for s in order], f"{people} alone": _texts(alone, order)}
    columns |= {f"with {model}": _texts(estimates, order) for model, _, estimates in estimated}
    n = len(best.assessor_topics)
    title = f"mean of each system by {people}, from {n:,} topics and the model's other topics"
    shown = f"; the first {MOST_SYSTEMS} of {len(best.systems)}" if len(best.systems) > MOST_SYSTEMS else ""
    return Table.of(title + shown, columns)


def _texts(means: PredictionPoweredMeans, order: NDArray[np.int64]) -> list[str]:
    return [f"{means.estimate[s]:.3f} {interval(means.low[s], means.high[s])}" for s in order]


def _ceiling_table(comparisons: Sequence[PersonComparison]) -> Table:
    rows: Rows = []
    measure = ""
    for n, one in enumerate(comparisons):
        for ceiling in one.ceilings:
            measure = ceiling.measure
            kinds = ("model",) if n else ("assessor", "model", "chance")
            for i in (i for i, kind in enumerate(ceiling.kinds) if kind in kinds):
                numbers = cells(number, [ceiling.mean[i], ceiling.standard_error[i]])
                rows.append([ceiling.gold, ceiling.lines[i], *numbers, str(ceiling.n_topics[i])])
    rows.sort(key=lambda row: (row[0], row[1] == CHANCE))
    header = ["reference", "source", "mean", "standard error", "topics"]
    return Table(f"ceiling: {measure} of documents ranked by grades, the other assessor as reference", header, rows)


def comparison_notes(comparisons: Sequence[PersonComparison]) -> Iterator[Note]:
    """How the numbers were computed."""
    first = comparisons[0]
    if first.agreement is not None:
        yield Note(
            "agreement",
            f"share of equal judgments; Cohen's kappa, weights={first.agreement.weights}; Krippendorff's alpha; 95 % "
            "intervals over topics",
        )
    if first.calibrations:
        yield Note(
            "calibration",
            "grades are recoded to the other assessor's mean grades, in order (isotonic regression); errors after "
            "recoding, and systems ranked by recoded grades, are of topics that the recoding did not see; documents "
            "without a judgment still gain 0",
        )
    if first.rankings is not None:
        yield Note(
            "rankings",
            "by the systems' means over the topics that both scored; the interval is of tau-b on many topics (basic "
            "bootstrap), on few tau-b is too low; top sets: not significantly below the best (Wilcoxon)",
        )
    worth = first.worth
    if worth is not None:
        rule = "on random topics, the others left to the model" if worth.planned else "from all topics there are"
        yield Note(
            "topics gained",
            f"topics that the assessor alone would have to judge besides for the same standard error; {rule}",
        )
    for one in comparisons:
        if one.judged < SAMPLE:
            yield Note(
                "sample",
                f"{percent(one.judged, 0)} of the documents that {one.model} judged in these topics were judged by "
                f"{listed(one.assessors)}; from a random sample of documents, prediction_powered_documents(...) "
                "estimates the scores of systems",
            )
    if len(first.assessors) == 2:
        yield Note("ceiling", "what one assessor reaches with the other as reference is the most to expect of a model")
