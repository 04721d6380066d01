"""Leaderboards of scores as text, in the five formats of TREC AutoJudge.

    trec_eval     measure topic value, a file per system
    tot           system measure topic value
    ir_measures   system topic measure value
    ranking       topic Q0 system rank value measure
    jsonl         {"run_id": system, "topic_id": topic, "measure": measure, "value": value}

The topic `all` holds a summary: it is left out where there are other topics.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError, FileError, check_choice
from qrowd.model.labels import number_in
from qrowd.model.scores import DIMENSIONS, Scores

LeaderboardFormat = Literal["auto", "trec_eval", "tot", "ir_measures", "ranking", "jsonl"]
ALL = "all"
FIELDS: dict[LeaderboardFormat, tuple[str, ...]] = {
    "trec_eval": ("measure", "topic", "value"),
    "tot": ("system", "measure", "topic", "value"),
    "ir_measures": ("system", "topic", "measure", "value"),
    "ranking": ("topic", "Q0", "system", "rank", "value", "measure"),
}
MEASURE = re.compile(
    r"(n?dcg|map|ap|mrr|rr|recip_rank|recall|success|err|rbp|bpref|judged|rprec|alpha_ndcg|num_q|num_ret|num_rel|gm_map"
    r"|runid|iprec\w*|set_\w+|infap|(p|r|recall|success|ndcg_cut|map_cut)_\d+|(p|r)@\d+)([@(].*)?",
    re.IGNORECASE,
)  # names that no document and no tag of a run has
KEYS = {"system": "run_id", "topic": "topic_id", "measure": "measure", "value": "value"}


@dataclass(frozen=True)
class Entry:
    """One score."""

    measure: str
    assessor: str
    topic: str
    system: str
    value: float


def parse_leaderboard(
    text: bytes, name: str, *, file: str, assessor: str | None, format: LeaderboardFormat = "auto"
) -> Iterator[Entry]:
    """The scores in a file. file : its name without endings, which is the assessor where no other is given.

    In trec_eval's format the file is the system, and the assessor is "scores".
    format : "auto" recognises it by the number of fields; "tot" and "ir_measures" have as many and must be named.

    Raises
    ------
    FileError
        A line that does not fit the format, with its number, or a file whose format is not clear.
    """
    check_choice("format", format, LeaderboardFormat)
    words = text.decode("utf-8-sig", "surrogateescape")
    lines = [(i, line) for i, line in enumerate(words.split("\n"), start=1) if line.strip() and line[0] != "#"]
    if format == "auto":
        format = _format_of(lines[0][1] if lines else "", name)
    who = assessor or ("scores" if format == "trec_eval" else file)
    for number, line in lines:
        cells = _json_cells(line, name, number) if format == "jsonl" else _cells(line, name, number, FIELDS[format])
        if cells["measure"] == "runid":
            continue  # trec_eval names the run
        value = number_in(cells["value"])
        if isnan(value):
            raise FileError(name, f"expected a number as value, found {cells['value']!r}", number)
        yield Entry(str(cells["measure"]), who, str(cells["topic"]), str(cells.get("system", file)), value)


def leaderboard_format(first: str, name: str) -> LeaderboardFormat | None:
    """The format of a leaderboard with this first line, by its keys, its file's name, or the names of measures."""
    if first.startswith("{"):
        return "jsonl" if all(f'"{key}"' in first for key in KEYS.values()) else None
    cells = first.split()
    formats = [format for format, fields in FIELDS.items() if len(fields) == len(cells)]
    measured = [format for format in formats if MEASURE.fullmatch(cells[FIELDS[format].index("measure")])]
    by_name = formats if re.search(r"\.(eval|tot)\b|leaderboard", name) else []
    return next(iter(measured or by_name), None)


def _format_of(first: str, name: str) -> LeaderboardFormat:
    """The format of a file with this first line."""
    if (format := leaderboard_format(first, name)) is not None:
        return format
    if first.lstrip().startswith("{"):
        return "jsonl"
    n = len(first.split())
    formats = [format for format, fields in FIELDS.items() if len(fields) == n]
    if len(formats) == 1:
        return formats[0]
    if formats:
        raise FileError(
            name,
            "four fields may be tot (system measure topic value) or ir_measures (system topic measure value); say "
            "which with format='tot' or 'ir_measures'",
        )
    raise FileError(name, f"expected 3, 4 or 6 fields, or JSON, found {n} fields" if n else "holds no score")


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
    import pandas as pd
    import xarray

    listed = list(entries)
    rows = [entry for entry in listed if entry.topic != ALL] or listed
    if not rows:
        raise ArgumentError("leaderboards: there are no scores")
    table = pd.DataFrame(rows, dtype=object)  # labels may hold bytes that are no text, which pandas' strings refuse
    for row in np.flatnonzero(table.duplicated(list(DIMENSIONS))).tolist():
        again = rows[row]
        raise ArgumentError(
            f"leaderboards: {again.measure} of {again.system} on topic {again.topic} by {again.assessor} stands twice; "
            "leave one file out, or give names as NAME=PATH"
        )
    places, labels = zip(*(pd.factorize(table[dim]) for dim in DIMENSIONS), strict=True)
    values = np.full(list(map(len, labels)), nan)
    values[places] = table["value"]
    return Scores.from_xarray(
        xarray.DataArray(values, dims=DIMENSIONS, coords=dict(zip(DIMENSIONS, map(list, labels), strict=True)))
    )
