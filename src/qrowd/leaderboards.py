"""Leaderboards of scores as text, in the five formats of TREC AutoJudge.

    trec_eval     measure topic value, a file per system
    tot           system measure topic value
    ir_measures   system topic measure value
    ranking       topic Q0 system rank value measure
    jsonl         {"run_id": system, "topic_id": topic, "measure": measure, "value": value}

The topic `all` holds a summary: it is left out where there are other topics, and written as the mean over topics.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Literal, get_args

import numpy as np

from qrowd.errors import ArgumentError, FileError, check_choice
from qrowd.model.labels import number_in
from qrowd.model.scores import DIMENSIONS, Scores

LeaderboardFormat = Literal["auto", "trec_eval", "tot", "ir_measures", "ranking", "jsonl"]
ALL = "all"
FIELDS: dict[str, tuple[str, ...]] = {
    "trec_eval": ("measure", "topic", "value"),
    "tot": ("system", "measure", "topic", "value"),
    "ir_measures": ("system", "topic", "measure", "value"),
    "ranking": ("topic", "Q0", "system", "rank", "value", "measure"),
}
KEYS = {"system": "run_id", "topic": "topic_id", "measure": "measure", "value": "value"}
HEADERS = {"run", "run_id", "runid", "runtag", "system", "topic", "topic_id", "query_id", "measure", "metric"}


@dataclass(frozen=True)
class Entry:
    """One score."""

    assessor: str
    system: str
    topic: str
    measure: str
    value: float


def parse_leaderboard(
    text: bytes, name: str, *, assessor: str, system: str, format: LeaderboardFormat = "auto"
) -> Iterator[Entry]:
    """The scores in a file. system : the one of a file in trec_eval's format, which names none.

    format : "auto" recognises it; "tot" and "ir_measures" differ in where the topic `all` stands.

    Raises
    ------
    FileError
        A line that does not fit the format, with its number, or a file whose format is not clear.
    """
    check_choice("format", format, LeaderboardFormat)
    words = text.decode("utf-8-sig", "surrogateescape")
    lines = [(i, line) for i, line in enumerate(words.split("\n"), start=1) if line.strip() and line[0] != "#"]
    if format == "auto":
        format = _format_of([line for _, line in lines], name)
    for number, line in lines:
        cells = _json_cells(line, name, number) if format == "jsonl" else _cells(line, name, number, FIELDS[format])
        value = number_in(cells["value"])
        if isnan(value):
            if cells["measure"] == "runid" or (number == lines[0][0] and HEADERS & set(line.lower().split())):
                continue  # trec_eval names the run; a header names the columns
            raise FileError(name, f"expected a number as value, found {cells['value']!r}", number)
        yield Entry(assessor, str(cells.get("system", system)), str(cells["topic"]), str(cells["measure"]), value)


def _format_of(lines: Sequence[str], name: str) -> LeaderboardFormat:
    if not lines:
        raise FileError(name, "holds no score")
    if lines[0].lstrip().startswith("{"):
        return "jsonl"
    rows = [line.split() for line in lines]
    n = max((n_rows, n) for n, n_rows in Counter(map(len, rows)).items())[1]
    if n == 4:
        second, third = (any(len(row) == 4 and row[i] == ALL for row in rows) for i in (1, 2))
        if second == third:
            raise FileError(
                name, "four fields may be tot (system measure topic value) or ir_measures (system topic measure "
                "value); say which with format='tot' or 'ir_measures'"
            )  # fmt: skip
        return "ir_measures" if second else "tot"
    formats: dict[int, LeaderboardFormat] = {3: "trec_eval", 6: "ranking"}
    if n not in formats:
        raise FileError(name, f"expected 3, 4 or 6 fields, or JSON, found {n} fields")
    return formats[n]


def _cells(line: str, name: str, number: int, fields: Sequence[str]) -> dict[str, Any]:
    cells = line.split()
    if len(cells) != len(fields):
        raise FileError(name, f"expected '{' '.join(fields)}', found {len(cells)} fields", number)
    return dict(zip(fields, cells, strict=True))


def _json_cells(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
        return {field: row[key] for field, key in KEYS.items()}
    except (ValueError, KeyError, TypeError):
        keys = ", ".join(KEYS.values())
        raise FileError(name, f"expected a JSON object with {keys}, found {line[:60]!r}", number) from None


def scores_of_entries(entries: Iterable[Entry]) -> Scores:
    """The entries as scores, nan where there is none; summaries (topic `all`) only where there is nothing else.

    Raises
    ------
    ArgumentError
        No entry, or a score that stands twice.
    """
    import xarray

    listed = list(entries)
    rows = [entry for entry in listed if entry.topic != ALL] or listed
    if not rows:
        raise ArgumentError("leaderboards: there are no scores")
    places: dict[str, dict[str, int]] = {dim: {} for dim in DIMENSIONS}
    index = [tuple(places[dim].setdefault(getattr(row, dim), len(places[dim])) for dim in DIMENSIONS) for row in rows]
    values = np.full([len(places[dim]) for dim in DIMENSIONS], nan)
    for place, row in zip(index, rows, strict=True):
        if not isnan(values[place]):
            raise ArgumentError(
                f"leaderboards: {row.measure} of {row.system} on topic {row.topic} by {row.assessor} stands twice; "
                "leave one file out, or give names as NAME=PATH"
            )
        values[place] = row.value
    return Scores.from_xarray(
        xarray.DataArray(values, dims=DIMENSIONS, coords={dim: list(places[dim]) for dim in DIMENSIONS})
    )


def format_leaderboard(scores: Scores, *, format: LeaderboardFormat = "jsonl") -> str:
    """The scores of one assessor as text, with the mean over topics as topic `all`. Missing scores are left out.

    Raises
    ------
    ArgumentError
        Several assessors, or several systems where the format is trec_eval's.
    """
    check_choice("format", format, [choice for choice in get_args(LeaderboardFormat) if choice != "auto"])
    if len(scores.assessors) > 1:
        raise ArgumentError(
            f"scores of {len(scores.assessors)} assessors; choose one with scores.sel(assessor=...), or use "
            "scores.panel_mean()"
        )
    if format == "trec_eval" and len(scores.systems) > 1:
        raise ArgumentError("the format trec_eval holds one system a file; choose it with scores.sel(system=...)")
    lines: list[str] = []
    for s, system in enumerate(scores.systems):
        for m, measure in enumerate(scores.measures):
            column = scores.values[m, 0, :, s]
            known = column[~np.isnan(column)]
            means = [(ALL, float(known.mean()))] if known.size and ALL not in scores.topics else []
            for topic, value in [*zip(scores.topics, column.tolist(), strict=True), *means]:
                if not isnan(value):
                    cells = {"system": system, "measure": measure, "topic": topic, "value": value}
                    lines.append(_line(cells, format))
    return "".join(lines)


def _line(cells: dict[str, Any], format: LeaderboardFormat) -> str:
    if format == "jsonl":
        return json.dumps({key: cells[field] for field, key in KEYS.items()}) + "\n"
    return "\t".join(str((cells | {"Q0": "Q0", "rank": 0})[field]) for field in FIELDS[format]) + "\n"
