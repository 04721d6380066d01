"""What a command has to say, in one shape for the terminal and for every kind of file.

A sentence, tables of text, notes; and behind them the numbers in full.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError, QrowdError

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Table:
    """A title, the names of the columns, and rows of text."""

    title: str
    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, eq=False)
class Document:
    """An answer.

    sentence : the answer itself; tables : what it rests on; notes : one line per convention that mattered.
    frame : every number in full, one row each, for .csv and .parquet.
    content : everything for .json besides sentence and notes; the frame's rows where nothing is given.
    """

    sentence: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    frame: Callable[[], pandas.DataFrame]
    content: Callable[[], dict[str, Any]] | None = None


def render(document: Document, path: str) -> bytes:
    """What goes into the file, by its ending.

    .csv, .parquet : the numbers in full, empty where there is none.
    .json : sentence, notes and the numbers. .md, .tex : sentence, tables and notes.

    Raises
    ------
    ArgumentError
        Any other ending.
    """
    check_ending(path)
    return RENDERERS[Path(path).suffix.lower()](document)


def check_ending(path: str) -> None:
    """Refuse a file name whose ending stands for no format."""
    if Path(path).suffix.lower() not in RENDERERS:
        raise ArgumentError(f"output {path}: the ending must be one of {', '.join(RENDERERS)}")


def _csv(document: Document) -> bytes:
    return document.frame().to_csv(index=False, lineterminator="\n").encode()


def _parquet(document: Document) -> bytes:
    buffer = BytesIO()
    try:
        document.frame().to_parquet(buffer, index=False)
    except ImportError:
        raise QrowdError("writing Parquet needs pyarrow; pip install 'qrowd[tables]', or write .csv") from None
    return buffer.getvalue()


def _json(document: Document) -> bytes:
    content = document.content() if document.content else {"rows": document.frame().to_dict("records")}
    whole = {"sentence": document.sentence, "notes": list(document.notes), **content}
    return (json.dumps(speakable(whole), ensure_ascii=False) + "\n").encode()


def speakable(value: Any) -> Any:
    """The same in words that JSON has: lists for arrays and tuples, None for nan."""
    if isinstance(value, dict):
        return {str(key): speakable(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return speakable(value.tolist())
    if isinstance(value, list | tuple):
        return [speakable(item) for item in value]
    if isinstance(value, np.generic):
        return speakable(value.item())
    return None if isinstance(value, float) and isnan(value) else value


def _markdown(document: Document) -> bytes:
    parts = [document.sentence, ""]
    for table in document.tables:
        parts += [f"**{table.title}**", "", _bars(table.header), _bars(["---", *["---:"] * (len(table.header) - 1)])]
        parts += [*(_bars([cell.replace("|", r"\|") for cell in row]) for row in table.rows), ""]
    parts += [f"- {note}" for note in document.notes]
    return ("\n".join(parts) + "\n").encode()


def _bars(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _latex(document: Document) -> bytes:
    parts = [f"% {document.sentence}", *(f"% {note}" for note in document.notes)]
    for table in document.tables:
        columns = "l" + "r" * (len(table.header) - 1)
        parts += [r"\begin{table}", rf"\caption{{{_tex(table.title)}}}", rf"\begin{{tabular}}{{{columns}}}", r"\hline"]
        parts += [" & ".join(map(_tex, cells)) + r" \\" for cells in (table.header, *table.rows)]
        parts[-len(table.rows) :] = [r"\hline", *parts[len(parts) - len(table.rows) :]]
        parts += [r"\hline", r"\end{tabular}", r"\end{table}", ""]
    return ("\n".join(parts) + "\n").encode()


def _tex(cell: str) -> str:
    """Text that LaTeX prints as it stands."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$"}
    return "".join(special.get(c, "\\" + c if c in "&%$#_{}" else c) for c in cell)


RENDERERS: dict[str, Callable[[Document], bytes]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": _json,
    ".md": _markdown,
    ".tex": _latex,
}
