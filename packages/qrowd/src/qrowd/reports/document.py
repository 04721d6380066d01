"""The answer of a command in one form for the terminal and for each kind of file.

A sentence, tables of text and notes; and behind them the numbers in full.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from io import BytesIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError, QrowdError
from qrowd.model.result import Result, Tables
from qrowd.reports.latex import PACKAGES, latex_table
from qrowd.reports.phrases import count
from qrowd.reports.short_names import renamed
from qrowd.reports.short_names import short_names as without_common_words
from qrowd.reports.table import Records, html_table, markdown_table
from qrowd.reports.table import Table as Table
from qrowd.reports.table import columns_of as columns_of

if TYPE_CHECKING:
    import pandas

ROWS_IN_NOTEBOOK = 30  # of a table
UNITS = {"document": "unit", "documents": "units"}  # words about answers
EXCEL_ROWS = 1_048_575  # of a sheet, below the header
HTML_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70em; margin: 1em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; margin: 1.5em 0; border-block: 2px solid; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; font-weight: bold; padding-bottom: .4em; }}
thead tr {{ border-bottom: 1px solid; }}
th, td {{ padding: .2em .7em; }}
tbody th {{ font-weight: normal; }}
figure {{ margin: 1.5em 0; }}
figure svg {{ max-width: 100%; }}
</style></head>
<body>
{body}
</body>
</html>
"""


@dataclass(frozen=True)
class Note:
    """What a reader must know before believing the numbers. kind : what it is about; text : what there is to know."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def repeats_note(n: int, rule: str = "") -> Iterator[Note]:
    """That n judgments are repeats, where there are any. rule : which of them count, after a semicolon."""
    if n:
        repeats = count(n, "judgment repeats", "judgments repeat")
        yield Note("repeats", f"{repeats} one by the same assessor{rule}")


@dataclass(frozen=True, eq=False)
class Document:
    """The answer of a command.

    sentence : the answer itself; tables : what it rests on; notes : one for each convention that mattered.
    frame : every number in full, one row each, for .csv and .parquet.
    content : everything for .json besides sentence and notes; default: the rows of the frame.
    title : the heading of a page (.html, .md); empty: none. figure : of a page (.html), as HTML.
    signature : the last line, of a result; empty: none. not_computed : statistics that it does not name.
    """

    sentence: str
    tables: tuple[Table, ...]
    notes: tuple[Note | str, ...]
    frame: Callable[[], pandas.DataFrame]
    content: Callable[[], dict[str, Any]] | None = None
    title: str = ""
    figure: str = ""
    signature: str = ""
    not_computed: tuple[str, ...] = ()

    def shown(
        self, systems: Sequence[str] = (), *, top: int | None = None, short_names: bool = False, units: bool = False
    ) -> Document:
        """The document with fewer systems in its tables, or shorter names; the numbers behind it stay as they are.

        systems : names of all systems. top : number of rows of tables of systems. short_names : whether words that all
        systems begin or end with are left out. units : whether it is about units of answers, not documents.
        """
        tables = self.tables
        if top is not None:
            tables = tuple(table.first(top) if table.header[0] == "system" else table for table in tables)
        names = dict(zip(systems, without_common_words(systems), strict=True)) if short_names else {}
        if units:
            names |= UNITS
        return replace(
            self,
            sentence=renamed(self.sentence, names),
            tables=tuple(table.renamed(names) for table in tables),
            notes=tuple(renamed(str(note), names) for note in self.notes),
        )

    def __str__(self) -> str:
        """The document as plain text."""
        tables = ["\n".join([table.title, *table.lines(), ""]) for table in self.tables]
        return "\n".join([self.sentence, "", *tables, *self.remarks()])

    def remarks(self) -> list[str]:
        """The notes, and the signature as the last line, where there is one."""
        return list(filter(None, [*map(str, self.notes), self.signature]))


@dataclass(frozen=True)
class Section:
    """A section of a page: what it says, and the tables that this rests on.

    name : its anchor. headline : what the first screen says of it. tables : {name: table}, each also a file. values :
    the numbers of the sentence, for files.
    """

    name: str
    title: str
    sentence: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    notes: tuple[Note | str, ...] = ()
    headline: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


class Reported(Result, ABC):
    """A result that is also printed and written to a file. sentence : the answer in short."""

    if TYPE_CHECKING:  # a field in some results, derived in others

        @property
        def sentence(self) -> str: ...

    def to_document(self) -> Document:
        """The sentence, the tables, the notes and the signature."""
        return replace(self._document(), signature=self.signature)

    @abstractmethod
    def _document(self) -> Document:
        """The sentence, the tables and the notes."""

    def _tables_of(self, **parts: Result | None) -> Tables:
        """The tables of the parts that there are, for `_tables`."""
        return {name: partial(_columns, part) for name, part in parts.items() if part is not None}

    def write(self, path: str | Path) -> None:
        """Write the result to a file: .csv, .parquet, .xlsx, .json, .txt, .md, .tex or .html; see `render`."""
        from qrowd.files import write_whole

        write_whole(path, self.content(path))

    def content(self, path: str | Path) -> bytes:
        """What `write` writes to a file of this name."""
        return render(self.to_document(), str(path))

    def _repr_html_(self) -> str:
        """The sentence, the first rows of the tables and the notes, for notebooks."""
        document = self.to_document()
        tables = "".join(html_table(table.first(ROWS_IN_NOTEBOOK)) for table in document.tables)
        notes = "".join(f"<li>{escape(note)}</li>" for note in document.remarks())
        return f'<div class="qrowd-result"><p>{escape(document.sentence)}</p>{tables}<ul>{notes}</ul></div>'

    def records(self) -> dict[str, Records]:
        """{table: its rows} of all tables of `to_frame`."""
        return {name: self.to_frame(what=name).to_dict("records") for name in self._tables()}

    def __str__(self) -> str:
        return str(self.to_document())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sentence!r})"


def _columns(part: Result) -> dict[str, Any]:
    return dict(part.to_frame())


def render(document: Document, path: str) -> bytes:
    """The content of the file, by its ending.

    .csv, .parquet, .xlsx : the numbers in full, empty where there is none.
    .json : sentence, notes and the numbers. .txt, .md, .tex, .html : sentence, tables and notes; a table in LaTeX
    needs booktabs and graphicx.

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
        raise ArgumentError(
            f"output {path}: the ending must be one of {', '.join(RENDERERS)}; qrowd aggregate --qrels writes "
            "qrels, of labels without blanks"
        )


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
    notes = list(map(str, document.notes))
    whole = {"sentence": document.sentence, "notes": notes, "signature": document.signature, **content}
    return (json.dumps(json_value(whole), ensure_ascii=False) + "\n").encode()


def json_value(value: Any) -> Any:
    """The same in types that JSON has: lists for arrays and tuples, None for nan."""
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.where(np.isnan(value), np.array(None), value).tolist()
    if isinstance(value, np.ndarray):
        return json_value(value.tolist())
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, np.generic):
        return json_value(value.item())
    if isinstance(value, Note):
        return str(value)
    return None if isinstance(value, float) and isnan(value) else value


def _excel(document: Document) -> bytes:
    """The rows of the frame on one sheet, sentence and notes on another."""
    import pandas as pd

    frame = document.frame()
    buffer = BytesIO()
    if len(frame) > EXCEL_ROWS:
        raise QrowdError(f"output: a sheet of .xlsx holds {EXCEL_ROWS:,} rows, not {len(frame):,}; write .csv")
    text = pd.DataFrame({"text": [document.sentence, *document.remarks()]})
    try:
        with pd.ExcelWriter(buffer, engine="openpyxl") as book:
            frame.to_excel(book, sheet_name="rows", index=False)
            text.to_excel(book, sheet_name="notes", index=False, header=False)
    except ImportError:
        raise QrowdError("writing .xlsx needs openpyxl; pip install 'qrowd[excel]', or write .csv") from None
    return buffer.getvalue()


def _text(document: Document) -> bytes:
    return f"{document}\n".encode()


def _markdown(document: Document) -> bytes:
    parts = [*([f"# {document.title}", ""] if document.title else []), document.sentence, ""]
    for table in document.tables:
        parts += [*markdown_table(table), ""]
    parts += [f"- {note}" for note in document.remarks()]
    return ("\n".join(parts) + "\n").encode()


def _html(document: Document) -> bytes:
    notes = "".join(f"<li>{escape(note)}</li>\n" for note in document.remarks())
    body = "\n".join(
        [
            *([f"<h1>{escape(document.title)}</h1>"] if document.title else []),
            f"<p>{escape(document.sentence)}</p>",
            *([document.figure] if document.figure else []),
            *map(html_table, document.tables),
            *([f"<ul>\n{notes}</ul>"] if notes else []),
        ]
    )
    return HTML_PAGE.format(title=escape(document.title or "qrowd"), body=body).encode()


def _latex(document: Document) -> bytes:
    comments = "\n".join([document.sentence, *document.remarks()]).splitlines()
    parts = [PACKAGES, *(f"% {line}" for line in comments)]
    for n, table in enumerate(document.tables, 1):
        parts += ["", *latex_table(table, label=f"tab:qrowd-{n}")]
    return ("\n".join(parts) + "\n").encode()


RENDERERS: dict[str, Callable[[Document], bytes]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".xlsx": _excel,
    ".json": _json,
    ".txt": _text,
    ".md": _markdown,
    ".tex": _latex,
    ".html": _html,
}
