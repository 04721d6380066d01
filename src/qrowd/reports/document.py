"""The answer of a command in one form for the terminal and for each kind of file.

A sentence, tables of text and notes; and behind them the numbers in full.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError, QrowdError
from qrowd.model.result import Result
from qrowd.reports.phrases import count

if TYPE_CHECKING:
    import pandas

TEXT_COLUMNS = (  # set from the left
    *("system", "assessor", "scale", "values", "measure", "topic", "method", "source"),
    *("item", "cause", "code", "about", "followed by"),
)


@dataclass(frozen=True)
class Note:
    """What a reader must know before believing the numbers. kind : what it is about; text : what there is to know."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def repeats_note(n: int, rule: str = "", noun: str = "judgment") -> Iterator[Note]:
    """That n judgments are repeats, where there are any. rule : which of them count, after a semicolon."""
    if n:
        repeats = count(n, f"{noun} repeats", f"{noun}s repeat")
        yield Note("repeats", f"{repeats} one by the same assessor{rule}")


@dataclass(frozen=True, eq=False)
class Table:
    """A title, the names of the columns, and rows of text."""

    title: str
    header: list[str]
    rows: list[list[str]]

    @classmethod
    def of(cls, title: str, columns: Mapping[str, Iterable[str]]) -> Table:
        """A table from {name of a column: its cells}."""
        return cls(title, list(columns), list(map(list, zip(*columns.values(), strict=True))))

    def lines(self) -> list[str]:
        """The header and the rows, their columns aligned."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]

        def line(cells: Sequence[str]) -> str:
            placed = (
                cell.ljust(width) if name in TEXT_COLUMNS else cell.rjust(width)
                for name, cell, width in zip(self.header, cells, widths, strict=True)
            )
            return "  ".join(placed).rstrip()

        return [line(self.header), *map(line, self.rows)]


@dataclass(frozen=True, eq=False)
class Document:
    """The answer of a command.

    sentence : the answer itself; tables : what it rests on; notes : one for each convention that mattered.
    frame : every number in full, one row each, for .csv and .parquet.
    content : everything for .json besides sentence and notes; default: the rows of the frame.
    """

    sentence: str
    tables: tuple[Table, ...]
    notes: tuple[Note | str, ...]
    frame: Callable[[], pandas.DataFrame]
    content: Callable[[], dict[str, Any]] | None = None

    def __str__(self) -> str:
        """The document as plain text."""
        tables = ["\n".join([table.title, *table.lines(), ""]) for table in self.tables]
        return "\n".join([self.sentence, "", *tables, *map(str, self.notes)])


class Reported(Result, ABC):
    """A result that is also printed and written to a file. sentence : the answer in short."""

    if TYPE_CHECKING:  # a field in some results, derived in others

        @property
        def sentence(self) -> str: ...

    @abstractmethod
    def to_document(self) -> Document:
        """The sentence, the tables and the notes."""

    def _tables_of(self, **parts: Result | None) -> dict[str, Callable[[], dict[str, Any]]]:
        """The tables of the parts that there are, for `_tables`."""
        return {name: partial(_columns, part) for name, part in parts.items() if part is not None}

    def write(self, path: str | Path) -> None:
        """Write the result to a file: .csv, .parquet, .json, .md or .tex; see `render`."""
        from qrowd.files import write_whole

        write_whole(path, render(self.to_document(), str(path)))

    def records(self) -> dict[str, list[dict[str, Any]]]:
        """{table: its rows} of all tables of `to_frame`."""
        return {name: self.to_frame(what=name).to_dict("records") for name in self._tables()}

    def __str__(self) -> str:
        return str(self.to_document())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sentence!r})"


def _columns(part: Result) -> dict[str, Any]:
    return dict(part.to_frame())


def columns_of(records: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """{column: cells} of records that all have the same keys."""
    return {name: [record[name] for record in records] for name in records[0]} if records else {}


def render(document: Document, path: str) -> bytes:
    """The content of the file, by its ending.

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
    whole = {"sentence": document.sentence, "notes": list(map(str, document.notes)), **content}
    return (json.dumps(json_value(whole), ensure_ascii=False) + "\n").encode()


def json_value(value: Any) -> Any:
    """The same in types that JSON has: lists for arrays and tuples, None for nan."""
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return json_value(value.tolist())
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, np.generic):
        return json_value(value.item())
    if isinstance(value, Note):
        return str(value)
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
