"""Scores and summaries as files: CSV, Parquet and JSON carry every score in full; Markdown and LaTeX the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, QrowdError
from qrowd.model.scores import DIMENSIONS, Scores, known_mean
from qrowd.reports.summary import MeasureSummary, Summary

if TYPE_CHECKING:
    import pandas


ASSESSORS_SHOWN = 30  # in tables; files of scores hold everyone


def render(scores: Scores, summary: Summary, path: str) -> bytes:
    """What goes into the file, by its ending.

    .csv, .parquet : one row per (measure, assessor, topic, system) with the score as a full double; empty where none.
    .json : the same as nested lists with labels and conventions, and the whole summary.
    .md, .tex : the summary's tables.

    Raises
    ------
    ArgumentError
        Any other ending.
    """
    check_ending(path)
    return RENDERERS[Path(path).suffix.lower()](scores, summary)


def check_ending(path: str) -> None:
    """Refuse a file name whose ending stands for no format."""
    if Path(path).suffix.lower() not in RENDERERS:
        raise ArgumentError(f"output {path}: the ending must be one of {', '.join(RENDERERS)}")


def long_frame(scores: Scores) -> pandas.DataFrame:
    """One row per (measure, assessor, topic, system)."""
    import pandas as pd

    labels = (scores.measures, scores.assessors, scores.topics, scores.systems)
    columns: dict[str, Any] = {
        dim: pd.Categorical.from_codes(codes.ravel(), pd.Index(names))
        for dim, names, codes in zip(DIMENSIONS, labels, np.indices(scores.values.shape, dtype=np.int32), strict=True)
    }
    return pd.DataFrame({**columns, "score": np.ascontiguousarray(scores.values).ravel()})


def _csv(scores: Scores, summary: Summary) -> bytes:
    return long_frame(scores).to_csv(index=False, lineterminator="\n").encode()


def _parquet(scores: Scores, summary: Summary) -> bytes:
    buffer = BytesIO()
    try:
        long_frame(scores).to_parquet(buffer, index=False)
    except ImportError:
        raise QrowdError("writing Parquet needs pyarrow; pip install 'qrowd[tables]', or write .csv") from None
    return buffer.getvalue()


def _json(scores: Scores, summary: Summary) -> bytes:
    content = {
        "sentence": summary.sentence,
        "notes": list(summary.notes),
        "systems": {part.measure: _without_nan(part.rows()) for part in summary.measures},
        "agreement": {
            part.measure: dict(zip(summary.assessors, _nested(part.agreement), strict=True))
            for part in summary.measures
        },
        "conventions": scores.attributes["conventions"],
        "scales": {name: str(scale) for name, scale in scores.attributes["scales"].items()},
        "dimensions": DIMENSIONS,
        "measure": scores.measures,
        "assessor": scores.assessors,
        "topic": scores.topics,
        "system": scores.systems,
        "scores": _nested(scores.values),
    }
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()


def _without_nan(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with None for nan."""
    return [{k: None if isinstance(v, float) and np.isnan(v) else v for k, v in row.items()} for row in rows]


def _nested(values: NDArray[np.float64]) -> Any:
    """Nested lists with None for nan, which JSON has no word for."""
    listed = values.astype(object)
    listed[np.isnan(values)] = None
    return listed.tolist()


def _markdown(scores: Scores, summary: Summary) -> bytes:
    parts = [summary.sentence, ""]
    for title, header, rows in summary_tables(summary):
        parts += [f"**{title}**", "", _line(header), _line(["---", *["---:"] * (len(header) - 1)])]
        parts += [*(_line([_escaped(cell, "|") for cell in row]) for row in rows), ""]
    parts += [f"- {note}" for note in summary.notes]
    return ("\n".join(parts) + "\n").encode()


def _latex(scores: Scores, summary: Summary) -> bytes:
    parts = [f"% {summary.sentence}", *(f"% {note}" for note in summary.notes)]
    for title, header, rows in summary_tables(summary):
        parts += [r"\begin{table}", rf"\caption{{{_tex(title)}}}", rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}"]
        parts += [r"\hline", " & ".join(map(_tex, header)) + r" \\", r"\hline"]
        parts += [
            *(" & ".join(map(_tex, row)) + r" \\" for row in rows),
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    return ("\n".join(parts) + "\n").encode()


RENDERERS: dict[str, Callable[[Any, Summary], bytes]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": _json,
    ".md": _markdown,
    ".tex": _latex,
}


def summary_tables(summary: Summary) -> list[tuple[str, list[str], list[list[str]]]]:
    """(title, header, rows of text) of every table in a summary: one per measure, and the assessors'."""
    tables: list[tuple[str, list[str], list[list[str]]]] = []
    for part in summary.measures:
        header = ["system", "mean", "s.e.", "range over assessors", "rank", "ranks"]
        if part.against is not None:
            header += [f"vs {part.baseline}", "w/t/l", "p"]
        tables.append((part.measure, header, [_row(part, row) for row in part.rows()]))
    if len(summary.assessors) > 1:
        tables.append(_agreement_table(summary))
    return tables


def _agreement_table(summary: Summary) -> tuple[str, list[str], list[list[str]]]:
    """The assessors' agreement with the others; of a crowd only those who agree least by the first measure."""
    title = "tau-b of each assessor's ranking with the panel's without that assessor"
    shown = list(range(len(summary.assessors)))
    if len(shown) > ASSESSORS_SHOWN:
        lowest = np.argsort(summary.measures[0].agreement, kind="stable")
        shown = lowest[:ASSESSORS_SHOWN].tolist()
        title += f" (the {ASSESSORS_SHOWN} lowest of {len(summary.assessors)})"
    header = ["assessor", *(part.measure for part in summary.measures)]
    rows = [[summary.assessors[a], *(_f(part.agreement[a], 3) for part in summary.measures)] for a in shown]
    return title, header, rows


def _row(part: MeasureSummary, record: dict[Any, Any]) -> list[str]:
    """One system of a measure's table as text."""
    row = [
        record["system"],
        _f(record["mean"]),
        _f(record["standard_error"]),
        "-" if np.isnan(record["lowest"]) else f"{_f(record['lowest'])}-{_f(record['highest'])}",
        str(record["rank"] or "-"),
        _span(record["best_rank"], record["worst_rank"]),
    ]
    if part.against is None:
        return row
    if record["system"] == part.baseline:
        return [*row, "", "", ""]
    counts = f"{record['wins']}/{record['ties']}/{record['losses']}"
    return [*row, f"{record['difference']:+.4f}", counts, _p(record["p"])]


def topic_rows(scores: Scores) -> list[list[str]]:
    """measure, topic, system, panel mean, lowest and highest over assessors, as text."""
    rows = []
    for name in scores.measures:
        array = scores.of(name)
        mean, lowest, highest = known_mean(array, axis=0), np.fmin.reduce(array), np.fmax.reduce(array)
        rows += [
            [name, topic, system, _f(mean[t, s]), _f(lowest[t, s]), _f(highest[t, s])]
            for t, topic in enumerate(scores.topics)
            for s, system in enumerate(scores.systems)
        ]
    return rows


def _f(value: float, digits: int = 4) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def _p(value: float) -> str:
    return "-" if np.isnan(value) else "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _span(best: float, worst: float) -> str:
    return "-" if np.isnan(best) else f"{best:.0f}" if best == worst else f"{best:.0f}-{worst:.0f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(cell: str, character: str) -> str:
    return cell.replace(character, "\\" + character)


def _tex(cell: str) -> str:
    """Text that LaTeX prints as it stands."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$"}
    return "".join(special.get(c, "\\" + c if c in "&%$#_{}" else c) for c in cell)
