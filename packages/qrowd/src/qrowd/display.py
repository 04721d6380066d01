"""Results as text and as HTML: a sentence and the first rows of the tables.

`print(result)` writes the text; a notebook shows the HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_ROWS = 10  # of a table
LONGEST = 80  # letters of a cell: names of systems stay whole, comments are cut
WIDEST = 120  # letters of a value in a repr
FEW = 6  # members of a tuple that a repr lists

NUMBER = re.compile(r"[-+\u2212<>]?[.\d][^A-Za-z]*$|-?$|\[")  # text that stands to the right, as numbers do


def text_lines(columns: Sequence[Sequence[str]], is_text: Sequence[bool]) -> Iterator[str]:
    """The lines of a table. columns : their cells, below their headings. is_text : whether a column starts left."""
    aligned = []
    for cells, text in zip(columns, is_text, strict=True):
        width = max(map(len, cells))
        aligned.append([cell.ljust(width) if text else cell.rjust(width) for cell in cells])
    for row in zip(*aligned, strict=True):
        yield "  ".join(row).rstrip()


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], is_text: Sequence[bool]) -> str:
    """A table with its caption. rows : cells in HTML. is_text : whether a column starts left."""
    sides = ["left" if text else "right" for text in is_text]
    names = zip(header, sides, strict=True)
    head = "".join(f'<th scope="col" align="{side}">{escape(name)}</th>' for name, side in names)
    lines = ["<table>", f"<caption>{escape(title)}</caption>", f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    for first, *others in rows:
        numbers = "".join(f'<td align="{side}">{cell}</td>' for cell, side in zip(others, sides[1:], strict=True))
        lines.append(f'<tr><th scope="row" align="{sides[0]}">{first}</th>{numbers}</tr>')
    return "\n".join([*lines, "</tbody>", "</table>"])


@dataclass(frozen=True)
class Rows:
    """The first rows of a table: {column: cells}, and how many rows the table has in all."""

    title: str
    columns: Mapping[str, Sequence[Any]]
    n_rows: int

    @classmethod
    def of(cls, title: str, columns: Mapping[str, Any], *, limit: int = N_ROWS) -> Rows:
        """The first rows of {column: cells}; a single value stands in every row."""
        cells = {name: _cells(value) for name, value in columns.items()}
        several = [len(value) for value in cells.values() if value is not None]
        n_rows = max(several, default=1 if cells else 0)
        shown = min(n_rows, limit)
        first = {
            name: [columns[name]] * shown if value is None else list(islice(value, shown))
            for name, value in cells.items()
        }
        return cls(title, first, n_rows)

    def upright(self) -> Rows:
        """The same table, but a single row of many columns as one line per column."""
        if self.n_rows != 1 or len(self.columns) <= 4:
            return self
        return Rows(
            self.title, {"what": self.header, "value": [cells[0] for cells in self.columns.values()]}, len(self.columns)
        )

    @property
    def header(self) -> list[str]:
        return list(map(str, self.columns))

    def text_columns(self) -> list[bool]:
        """Whether each column holds text."""
        return [any(map(_is_text, cells)) for cells in self.columns.values()]

    def cells(self) -> list[list[str]]:
        """The rows as text."""
        columns = [_column_text(cells) for cells in self.columns.values()]
        return [list(row) for row in zip(*columns, strict=True)]

    def text(self) -> str:
        """The title, the first rows and how many others there are."""
        lines = text_lines(list(zip(self.header, *self.cells(), strict=True)), self.text_columns())
        return "\n".join(filter(None, [self.title, *lines, self.rest()]))

    def html(self) -> str:
        """The same as a table of HTML."""
        rows = [list(map(escape, row)) for row in self.cells()]
        table = html_table(self.title or "rows", self.header, rows, self.text_columns())
        return f"{table}<p>{escape(self.rest())}</p>" if self.rest() else table

    def rest(self) -> str:
        """How many rows are not among the first, as a sentence; empty where there are none."""
        shown = len(next(iter(self.columns.values()), ()))
        more = self.n_rows - shown
        return f"... and {more:,} more {'row' if more == 1 else 'rows'}" if more > 0 else ""


@dataclass(frozen=True)
class Display:
    """What a result shows of itself. sentence : its counts and its answer."""

    sentence: str
    tables: tuple[Rows, ...] = ()

    def text(self) -> str:
        """The sentence and the tables for a terminal."""
        return "\n\n".join([self.sentence, *map(Rows.text, self.tables)])

    def html(self) -> str:
        """The same for a notebook."""
        return f'<div class="qrowd-result"><p>{escape(self.sentence)}</p>{"".join(map(Rows.html, self.tables))}</div>'


class Displayed:
    """A mixin for results: `print` writes a sentence and tables, a notebook shows them, `repr` stays one line."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            # Set here, because @dataclass leaves a class's own __repr__ alone: arrays would fill the screen.
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def _display(self) -> Display:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._display().text()

    def _repr_html_(self) -> str:
        return self._display().html()

    def __repr__(self) -> str:
        named = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={short_repr(value)}' for name, value in named)})"


def short_repr(value: Any) -> str:
    """A value in one line; an array by its shape, a long tuple by its ends.

    >>> short_repr(np.zeros((3, 4))), short_repr(tuple("abcdefgh"))
    ('array(3, 4)', "('a', ..., 'h': 8)")
    """
    if isinstance(value, np.ndarray):
        return f"array({', '.join(map(str, value.shape))})"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, tuple | list):
        if len(value) > FEW:
            return f"({short_repr(value[0])}, ..., {short_repr(value[-1])}: {len(value)})"
        left, right = "()" if isinstance(value, tuple) else "[]"
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"{left}{', '.join(map(short_repr, value))}{comma}{right}"
    if isinstance(value, Mapping):
        if len(value) > FEW:
            return f"{{{len(value)} entries}}"
        return f"{{{', '.join(f'{key!r}: {short_repr(item)}' for key, item in value.items())}}}"
    text = " ".join(repr(value).split())
    if len(text) > WIDEST and not isinstance(value, Displayed) and is_dataclass(value):
        return f"{type(value).__name__}(...)"
    return text


def cell_text(value: Any) -> str:
    """One cell as text; - where there is nothing.

    >>> cell_text(0.123456), cell_text(12345), cell_text(float("nan")), cell_text(1e-7)
    ('0.1235', '12,345', '-', '1e-07')
    """
    if value is None:
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        return _float_text(float(value))
    text = ", ".join(map(cell_text, value)) if isinstance(value, tuple | list | np.ndarray) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 16]}...{text[-13:]}"


def _is_text(cell: Any) -> bool:
    """Whether a cell is text that is no number; a report's numbers are text already."""
    return isinstance(cell, tuple | list) or (isinstance(cell, str) and not NUMBER.match(cell))


def _float_text(value: float) -> str:
    if not isfinite(value):
        return "-" if value != value else str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4f}" if 0.001 <= abs(value) < 1000 else f"{value:.4g}"


def _is_finite(cell: Any) -> bool:
    return isinstance(cell, float | np.floating) and isfinite(cell)


def _column_text(cells: Sequence[Any]) -> list[str]:
    """The cells of a column; where one number has decimals, all have."""
    numbers = [float(cell) for cell in cells if _is_finite(cell)]
    plain = bool(numbers) and any(number != int(number) for number in numbers)
    if plain and all(number == 0 or 0.001 <= abs(number) < 1000 for number in numbers):
        return [f"{cell:.4f}" if _is_finite(cell) else cell_text(cell) for cell in cells]
    return [cell_text(cell) for cell in cells]


def _cells(value: Any) -> Sequence[Any] | NDArray[Any] | None:
    """The cells of a column, None where it is a single value."""
    if isinstance(value, np.ndarray):
        return value if value.ndim else None
    if value is None or isinstance(value, str | float | int | np.generic) or not hasattr(value, "__len__"):
        return None
    return value if isinstance(value, Sequence) else list(value)
