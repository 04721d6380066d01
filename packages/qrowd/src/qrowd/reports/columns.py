"""A column of a table is declared once, at the field of its rows: its heading, how a cell is written, what it means.

A row is a frozen data class. Its fields are the columns of data frames and files; those that are annotated with a
`Column` are the columns of tables on the terminal, in LaTeX and on pages, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from qrowd.reports.table import Table

if TYPE_CHECKING:
    import pandas


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


def cell(row: object, name: str, column: Column) -> str:
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
        [[cell(row, name, declared[name]) for name in shown] for row in rows],
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


def records_of(rows: Sequence[Any], **common: Any) -> list[dict[str, Any]]:
    """The rows as dictionaries, without the fields that are None in all of them. common : values that all have."""
    names = [one.name for one in fields(rows[0])] if rows else []
    known = [name for name in names if any(getattr(row, name) is not None for row in rows)]
    return [common | {name: getattr(row, name) for name in known} for row in rows]


def columns_of(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """{column: cells} of records that all have the same keys."""
    return {name: [record[name] for record in records] for name in records[0]} if records else {}
