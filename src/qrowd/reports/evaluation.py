"""An evaluation as a document: the systems by every measure, the assessors, and every score behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.model.scores import DIMENSIONS, Scores, known_mean
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number, probability, span
from qrowd.reports.summary import MeasureSummary, Summary

if TYPE_CHECKING:
    pass

ASSESSORS_SHOWN = 30  # in tables; files of scores hold everyone


def evaluation_document(scores: Scores, summary: Summary) -> Document:
    """The summary's tables, and all scores in full."""
    return Document(
        summary.sentence,
        tuple(_tables(summary)),
        summary.notes,
        frame=scores.to_frame,
        content=lambda: _content(scores, summary),
    )


def topic_table(scores: Scores) -> Table:
    """The panel's mean and the range over assessors of every system on every topic."""
    rows = []
    for name in scores.measures:
        array = scores.of(name)
        mean, lowest, highest = known_mean(array, axis=0), np.fmin.reduce(array), np.fmax.reduce(array)
        rows += [
            [name, topic, system, number(mean[t, s]), number(lowest[t, s]), number(highest[t, s])]
            for t, topic in enumerate(scores.topics)
            for s, system in enumerate(scores.systems)
        ]
    return Table("by topic", ["measure", "topic", "system", "mean", "lowest", "highest"], rows)


def _content(scores: Scores, summary: Summary) -> dict[str, Any]:
    return {
        "systems": {part.measure: part.rows() for part in summary.measures},
        "agreement": {
            part.measure: dict(zip(summary.assessors, part.agreement, strict=True)) for part in summary.measures
        },
        "conventions": scores.attributes["conventions"],
        "scales": {name: str(scale) for name, scale in scores.attributes["scales"].items()},
        "dimensions": DIMENSIONS,
        "measure": scores.measures,
        "assessor": scores.assessors,
        "topic": scores.topics,
        "system": scores.systems,
        "scores": scores.values,
    }


def _tables(summary: Summary) -> list[Table]:
    """One per measure, and the assessors'."""
    tables = []
    for part in summary.measures:
        header = ["system", "mean", "s.e.", f"range over {summary.noun}s", "rank", f"ranks by {summary.noun}"]
        if part.against is not None:
            header += [f"vs {part.baseline}", "w/t/l", "p"]
        tables.append(Table(part.measure, header, [_row(part, row) for row in part.rows()]))
    if len(summary.assessors) > 1:
        tables.append(_agreement_table(summary))
    return tables


def _row(part: MeasureSummary, row: dict[str, Any]) -> list[str]:
    """One system as text."""
    cells = [
        row["system"],
        number(row["mean"]),
        number(row["standard_error"]),
        span(row["lowest"], row["highest"], digits=4),
        str(row["rank"] or "-"),
        span(row["best_rank"], row["worst_rank"]),
    ]
    if part.against is None:
        return cells
    if row["system"] == part.baseline:
        return [*cells, "", "", ""]
    return [*cells, f"{row['difference']:+.4f}", f"{row['wins']}/{row['ties']}/{row['losses']}", probability(row["p"])]


def _agreement_table(summary: Summary) -> Table:
    """The assessors' agreement with the others; of a crowd only those who agree least by the first measure."""
    title = f"tau-b of each {summary.noun}'s ranking with the panel's without that {summary.noun}"
    if summary.noun == "method":
        title = "tau-b of each method's ranking with the mean of the others"
    shown = list(range(len(summary.assessors)))
    if len(shown) > ASSESSORS_SHOWN:
        shown = np.argsort(summary.measures[0].agreement, kind="stable")[:ASSESSORS_SHOWN].tolist()
        title += f" (the {ASSESSORS_SHOWN} lowest of {len(summary.assessors)})"
    header = [summary.noun, *(part.measure for part in summary.measures)]
    rows = [[summary.assessors[a], *(number(part.agreement[a], 3) for part in summary.measures)] for a in shown]
    return Table(title, header, rows)
