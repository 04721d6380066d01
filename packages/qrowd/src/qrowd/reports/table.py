"""A table of text with its title: as lines, in Markdown and in HTML; and the columns that results declare.

A column is declared once, at the field of its rows: its heading, how a cell is written, what it means. A row is a
frozen data class. Its fields are the columns of data frames and files; those that are annotated with a `Column` are the
columns of tables on the terminal, in LaTeX and on pages, too.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from io import StringIO
from math import isnan, nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import numpy as np

from qrowd import display
from qrowd.display import text_lines
from qrowd.reports.phrases import interval, number, probability
from qrowd.reports.short_names import renamed

if TYPE_CHECKING:
    import pandas

Records = list[dict[str, Any]]  # rows, each {column: cell}
Columns = dict[str, list[Any]]  # {column: cells}
TEXT_COLUMNS = (  # set from the left
    *("system", "assessor", "scale", "values", "measure", "topic", "method", "source"),
    *("item", "cause", "code", "about", "followed by", "model", "prompt"),
)


@dataclass(frozen=True, eq=False)
class Table:
    """A title, the names of the columns, and rows of text.

    bold, marks : of cells, by the numbers of their row and column; a mark stands behind the cell. note : what marks
        mean.
    meanings : {name of a column: what it means}. keys : {name of a column of numbers: the numbers}, by which a page
        sorts. records : the rows in full, for a file.
    """

    title: str
    header: list[str]
    rows: list[list[str]]
    bold: frozenset[tuple[int, int]] = frozenset()
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    note: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, Sequence[float]] = field(default_factory=dict)
    records: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, title: str, columns: Mapping[str, Iterable[Any]], digits: int = 4) -> Table:
        """A table from {name of a column: its values}.

        Text stands as it is, numbers with so many digits, whole ones with commas, a pair of numbers as an interval, and
        those of the column p as .023.
        """
        cells = [[_cell(value, name, digits) for value in values] for name, values in columns.items()]
        return cls(title, list(columns), list(map(list, zip(*cells, strict=True))))

    def csv(self) -> str:
        """The rows in full as a CSV file; cells of numbers that are not known are empty."""
        rows = [{k: "" if isinstance(v, float) and isnan(v) else v for k, v in row.items()} for row in self.records]
        out = StringIO()
        if rows:
            writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return out.getvalue()

    def holds_text(self, column: int) -> bool:
        """Whether a column is set from the left."""
        return self.header[column] in TEXT_COLUMNS

    def lines(self) -> list[str]:
        """The header and the rows, their columns aligned; a star stands before what is bold, the note below."""
        columns = [[name, *self.plain_cells(j)] for j, name in enumerate(self.header)]
        is_text = [self.holds_text(j) for j in range(len(columns))]
        notes = [self.note.replace("Bold:", "*:")] if self.note else []
        return [*text_lines(columns, is_text), *notes]

    def first(self, n: int) -> Table:
        """The first n rows; the title says how many there are."""
        if len(self.rows) <= n:
            return self
        shown = "the first" if n == 1 else f"the first {n}"
        title = f"{self.title} ({shown} of {len(self.rows):,} {self.header[0]}s)"
        return replace(self, title=title, rows=self.rows[:n])

    def renamed(self, names: Mapping[str, str]) -> Table:
        """The table with other names of systems and columns. names : {name: label}."""
        places = [j for j, name in enumerate(self.header) if name.endswith("system")]
        rows = [[names.get(cell, cell) if j in places else cell for j, cell in enumerate(row)] for row in self.rows]
        header = [names.get(name, name) for name in self.header]
        return replace(self, title=renamed(self.title, names), header=header, rows=rows, note=renamed(self.note, names))

    def plain_cells(self, j: int) -> list[str]:
        """The cells of a column with their marks, which take the same room in each row."""
        marks = [self.marks.get((i, j), "") for i in range(len(self.rows))]
        widest = max(map(len, marks), default=0)
        stars = ["*" if (i, j) in self.bold else "" for i in range(len(self.rows))]
        return [star + row[j] + mark.ljust(widest) for star, row, mark in zip(stars, self.rows, marks, strict=True)]


def _cell(value: Any, column: str, digits: int) -> str:
    if isinstance(value, str):
        return value
    if column == "p":
        return probability(value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, tuple):
        low, high = value
        return interval(low, high, digits)
    return number(value, digits)


def markdown_table(table: Table) -> Iterator[str]:
    """The lines of a table with its title above, and what its marks mean below."""
    sides = [":---" if j == 0 or table.holds_text(j) else "---:" for j in range(len(table.header))]
    yield from (f"**{table.title}**", "", _bars(table.header), _bars(sides))
    for i, row in enumerate(table.rows):
        yield _bars([_markdown_cell(table, i, j) for j in range(len(row))])
    yield from (["", table.note] if table.note else [])


def _markdown_cell(table: Table, i: int, j: int) -> str:
    cell = table.rows[i][j].replace("|", r"\|")
    mark = table.marks.get((i, j), "")
    cell = f"**{cell}**" if (i, j) in table.bold else cell
    return f"{cell}<sup>{mark}</sup>" if mark else cell


def _bars(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def html_table(table: Table) -> str:
    """A table with its caption, and what its marks mean below."""

    def cell(i: int, j: int) -> str:
        text = escape(table.rows[i][j])
        mark = table.marks.get((i, j), "")
        text = f"<strong>{text}</strong>" if (i, j) in table.bold else text
        return f"{text}<sup>{escape(mark)}</sup>" if mark else text

    columns = range(len(table.header))
    rows = [[cell(i, j) for j in columns] for i in range(len(table.rows))]
    is_text = [j == 0 or table.holds_text(j) for j in columns]
    note = f"\n<p>{escape(table.note)}</p>" if table.note else ""
    return display.html_table(table.title, table.header, rows, is_text) + note


# ---------------------------------------------------------------------- columns


@dataclass(frozen=True)
class Column:
    """What tables show of a field, as in `mean: Annotated[float, Column("mean", number)]`.

    text : writes a cell. meaning : what a page says below the heading. also : further fields that the same cell shows,
    such as the other end of an interval.
    """

    heading: str
    text: Callable[..., str] = str
    meaning: str = ""
    also: tuple[str, ...] = ()


def columns_of_tables(kind: type) -> dict[str, Column]:
    """{field: its column} of a class of rows, in their order."""
    marks = {name: get_args(hint)[1:] for name, hint in get_type_hints(kind, include_extras=True).items()}
    return {name: mark for name, of_field in marks.items() for mark in of_field if isinstance(mark, Column)}


def _cell_of(row: object, name: str, column: Column) -> str:
    """A cell; an unknown number is nan."""
    values = [getattr(row, field) for field in (name, *column.also)]
    return column.text(*(nan if value is None else value for value in values))


def table_of(
    title: str,
    rows: Sequence[Any],
    names: Sequence[str] = (),
    *,
    headings: Mapping[str, str] = MappingProxyType({}),
    meanings: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """The rows as a table.

    names : the fields that are shown; default: all columns of which any cell is known. headings, meanings : {field:
    text} in place of the declared ones, where these depend on the result.
    """
    if not rows:
        return Table(title, [], [])
    declared = columns_of_tables(type(rows[0]))
    shown = [name for name in names or declared if any(getattr(row, name) is not None for row in rows)]
    heading = {name: headings.get(name, declared[name].heading) for name in shown}
    values = {name: [getattr(row, name) for row in rows] for name in shown}
    return Table(
        title,
        list(heading.values()),
        [[_cell_of(row, name, declared[name]) for name in shown] for row in rows],
        meanings={heading[name]: meanings.get(name, declared[name].meaning) for name in shown},
        keys={heading[name]: list(map(_key, values[name])) for name in shown if all(map(_is_number, values[name]))},
        records=records_of(rows),
    )


def frame_table(title: str, frame: pandas.DataFrame, columns: Mapping[str, Column]) -> Table:
    """The columns of a frame of which any value is known. columns : {name in the frame: how it is shown}."""
    shown = {name: column for name, column in columns.items() if name in frame and frame[name].notna().any()}
    rows = [
        [column.text(*(row[part] for part in (name, *column.also))) for name, column in shown.items()]
        for row in frame.to_dict("records")
    ]
    return Table(title, [column.heading for column in shown.values()], rows)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _key(value: float | None) -> float:
    return nan if value is None else value


def records_of(rows: Sequence[Any], **common: Any) -> Records:
    """The rows as dictionaries, without the fields that are None in all of them. common : values that all have."""
    names = [one.name for one in fields(rows[0])] if rows else []
    known = [name for name in names if any(getattr(row, name) is not None for row in rows)]
    return [common | {name: getattr(row, name) for name in known} for row in rows]


def columns_of(records: Sequence[Mapping[str, Any]]) -> Columns:
    """{column: cells} of records that all have the same keys."""
    return {name: [record[name] for record in records] for name in records[0]} if records else {}
