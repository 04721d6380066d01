"""Results as text and as HTML: a sentence, the first rows of the tables, and dots with intervals where they help.

`print(result)` writes the text; a notebook shows the HTML. The HTML takes the colours of the page around it, needs no
file besides itself, and its style reaches nothing outside of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from itertools import islice, pairwise
from math import ceil, floor, isfinite, log10
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = Sequence[float] | NDArray[np.float64]

N_ROWS = 10  # of a table
N_DOTS = 15  # of a chart
LONGEST = 80  # letters of a cell: names of systems stay whole, comments are cut
WIDEST = 120  # letters of a line of text
FEW = 6  # members of a tuple that a repr lists

NUMBER = re.compile(r"[-+\u2212<>]?[.\d][^A-Za-z]*$|-?$|\[")  # text that stands to the right, as numbers do

STYLE = """
.qrowd-result { max-width: 60em; line-height: 1.4; }
.qrowd-result p { margin: .4em 0; }
.qrowd-result .rows { overflow-x: auto; margin: .6em 0; }
.qrowd-result table { border-collapse: collapse; margin: 0; font-size: .92em; color: inherit; }
.qrowd-result caption { caption-side: top; text-align: left; padding: .2em 0; color: inherit; font-weight: 600; }
.qrowd-result :is(th, td) { padding: .15em .6em; text-align: right; color: inherit; background: transparent;
  border: 0; border-bottom: 1px solid rgba(128, 128, 128, .35); vertical-align: top; white-space: nowrap; }
.qrowd-result tbody th { font-weight: 400; }
.qrowd-result :is(th, td):is(.text, [align="left"]) { text-align: left; }
.qrowd-result svg { display: block; max-width: 100%; height: auto; margin: .4em 0; }
.qrowd-result svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
.qrowd-result svg .axis { stroke: rgba(128, 128, 128, .45); }
.qrowd-result svg .bar { stroke: #2f7fc1; stroke-width: 2.5; }
.qrowd-result svg .dot { fill: #2f7fc1; stroke: #2f7fc1; }
""".replace("\n  ", " ")


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

    def rest(self) -> str:
        """How many rows are not among the first, as a sentence; empty where there are none."""
        shown = len(next(iter(self.columns.values()), ()))
        more = self.n_rows - shown
        return f"... and {more:,} more {'row' if more == 1 else 'rows'}" if more > 0 else ""


@dataclass(frozen=True)
class Dots:
    """A chart: one row per label with a dot at its value and a bar from low to high, where these are numbers."""

    title: str
    labels: Sequence[str]
    values: Values
    low: Values = ()
    high: Values = ()


@dataclass(frozen=True)
class Display:
    """What a result shows of itself. kind : what the result is; sentence : its counts and its answer.

    html_table : a table in HTML that a notebook shows in place of `tables`.
    """

    kind: str
    sentence: str
    tables: tuple[Rows, ...] = ()
    notes: tuple[str, ...] = ()
    dots: Dots | None = None
    html_table: str = ""

    def text(self) -> str:
        """A sentence and tables for a terminal."""
        parts = [self.sentence, *("\n".join(_lines(table)) for table in self.tables)]
        return "\n\n".join([*parts, *(["\n".join(self.notes)] if self.notes else [])])

    def html(self) -> str:
        """The same for a notebook, with the chart."""
        parts = [f"<p><strong>{escape(self.kind)}</strong>: {escape(self.sentence)}</p>"]
        if self.dots is not None:
            parts.append(dots_svg(self.dots))
        written = [f'<div class="rows">{self.html_table}</div>'] if self.html_table else []
        parts += written or [_table_html(table) for table in self.tables]
        if self.notes:
            items = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
            parts.append(f"<details><summary>Conventions in force</summary><ul>{items}</ul></details>")
        return f'<div class="qrowd-result"><style>{STYLE}</style>{"".join(parts)}</div>'


class Displayed:
    """A mixin for results: `print` writes a sentence and a table, a notebook shows them, `repr` stays one line."""

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
        named = ((one.name, getattr(self, one.name)) for one in fields(self) if one.repr)  # type: ignore[arg-type]
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


def _column_text(cells: Sequence[Any]) -> list[str]:
    """The cells of a column; where one number has decimals, all have."""
    numbers = [float(cell) for cell in cells if isinstance(cell, float | np.floating) and isfinite(cell)]
    plain = bool(numbers) and any(one != int(one) for one in numbers)
    if plain and all(one == 0 or 0.001 <= abs(one) < 1000 for one in numbers):
        return [
            f"{cell:.4f}" if isinstance(cell, float | np.floating) and isfinite(cell) else cell_text(cell)
            for cell in cells
        ]
    return [cell_text(cell) for cell in cells]


def _cells(value: Any) -> Sequence[Any] | NDArray[Any] | None:
    """The cells of a column, None where it is a single value."""
    if isinstance(value, np.ndarray):
        return value if value.ndim else None
    if value is None or isinstance(value, str | float | int | np.generic) or not hasattr(value, "__len__"):
        return None
    return value if isinstance(value, Sequence) else list(value)


def _lines(table: Rows) -> Iterator[str]:
    """The table as text; columns that would not fit into the line are left out, and counted."""
    if table.title:
        yield table.title
    rows = [table.header, *table.cells()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    ends = np.cumsum([width + 2 for width in widths]) if widths else np.empty(0)
    shown = max(1, int((ends <= WIDEST + 2).sum()))
    left = table.text_columns()
    for row in rows:
        placed = [
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row[:shown], widths, left, strict=False)
        ]
        yield "  ".join(placed).rstrip()
    if table.rest():
        yield table.rest()
    if shown < len(widths):
        yield f"... and the columns {', '.join(table.header[shown:])}"


def _table_html(table: Rows) -> str:
    left = ["text" if text else "" for text in table.text_columns()]

    def cell(text: str, place: int, tag: str = "td", scope: str = "") -> str:
        kind = f' class="{left[place]}"' if left[place] else ""
        return f"<{tag}{scope}{kind}>{escape(text)}</{tag}>"

    of_row = ' scope="row"'
    head = "".join(cell(name, i, "th", ' scope="col"') for i, name in enumerate(table.header))
    body = "".join(
        f"<tr>{cell(row[0], 0, 'th', of_row)}{''.join(cell(text, i) for i, text in enumerate(row) if i)}</tr>"
        for row in table.cells()
    )
    title = escape(table.title or "rows")
    rest = f"<p>{escape(table.rest())}</p>" if table.rest() else ""
    return (
        f'<div class="rows" role="group" tabindex="0" aria-label="{title}"><table><caption>{title}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{rest}"
    )


def dots_svg(dots: Dots) -> str:
    """The chart as SVG. Of many rows, the first where they are in order, else the highest. Empty without a number."""
    n = len(dots.labels)
    sides = [[float(value) for value in side] for side in (dots.values, dots.low, dots.high)]
    ordered = all(a >= b for a, b in pairwise(sides[0])) or all(a <= b for a, b in pairwise(sides[0]))
    highest = np.argsort(-np.array(sides[0]), kind="stable").tolist()  # nan last
    shown = (list(range(n)) if ordered or n <= N_DOTS else highest)[:N_DOTS]
    values, low, high = ([side[i] for i in shown] if side else [sides[0][i] for i in shown] for side in sides)
    numbers = [value for side in (values, low, high) for value in side if isfinite(value)]
    if not numbers:
        return ""
    names = [cell_text(dots.labels[i]) for i in shown]
    left = 14.0 + 7.2 * max(map(len, names))
    width = max(640, round(left) + 400)
    right = width - 16.0
    smallest, largest = min(numbers), max(numbers)
    if largest - smallest < 1e-9:
        smallest, largest = smallest - 0.05, largest + 0.05
    step = _step((largest - smallest) / 5)
    start, end = floor(smallest / step) * step, ceil(largest / step) * step
    bottom = 22 * len(shown) + 4

    def x(value: float) -> float:
        return left + (right - left) * (value - start) / (end - start)

    parts = []
    for k in range(round((end - start) / step) + 1):
        at = start + k * step
        parts.append(f'<line class="axis" x1="{x(at):.1f}" x2="{x(at):.1f}" y1="0" y2="{bottom}"/>')
        parts.append(f'<text x="{x(at):.1f}" y="{bottom + 14}" text-anchor="middle">{round(at, 10):g}</text>')
    for i, (name, value, lower, upper) in enumerate(zip(names, values, low, high, strict=True)):
        y = 22 * i + 13
        parts.append(f'<text x="{left - 8:.1f}" y="{y}" dy=".35em" text-anchor="end">{escape(name)}</text>')
        if isfinite(lower) and isfinite(upper):
            parts.append(f'<line class="bar" x1="{x(lower):.1f}" x2="{x(upper):.1f}" y1="{y}" y2="{y}"/>')
        if isfinite(value):
            parts.append(f'<circle class="dot" cx="{x(value):.1f}" cy="{y}" r="4"/>')
    rest = f"; the {'first' if ordered else 'highest'} {len(shown)} of {n}" if len(shown) < n else ""
    name = escape(f"{dots.title}{rest}")
    return (
        f'<svg role="img" aria-label="{name}; the numbers are in the table" viewBox="0 0 {width} {bottom + 34}" '
        f'width="{width}">{"".join(parts)}<text x="{width / 2:.1f}" y="{bottom + 30}" '
        f'text-anchor="middle">{name}</text></svg>'
    )


def _step(raw: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below `raw`."""
    power = 10.0 ** floor(log10(raw))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= raw * (1 - 1e-9))
