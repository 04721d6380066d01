"""Tables of judgments, preferences or runs: CSV, TSV, JSON, Parquet, Excel and exports, whose columns have names.

Cells of text tables stay text (topic 0012 stays 0012) until the model asks for a number, and every mistake is named by
its line.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from qrowd import readers
from qrowd.errors import ArgumentError, FileError, InputError, RowError
from qrowd.kernels.arrays import Codes
from qrowd.model.cells import Cells
from qrowd.model.headers import COLUMNS, DOCUMENT, PREFERENCE_COLUMNS, TOPIC, Kind, is_called, kind_of, roles_of
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.readers.tool_exports import records

if TYPE_CHECKING:
    from qrowd.model.frames import Frame

Whole = TypeVar("Whole", bound=Judgments | Preferences | Runs)

TABLES = (".csv", ".jsonl", ".ndjson", ".parquet", ".xlsx")
PARQUET_STARTS = b"PAR1"
ZIP_STARTS = b"PK\x03\x04"  # of Excel's workbooks
CHUNK = 1 << 22  # bytes of text that are split at a time
COMPARED = PREFERENCE_COLUMNS["other"] + PREFERENCE_COLUMNS["b"]  # no table of preferences is without these
FORMATS = {",": "CSV with commas", ";": "CSV with semicolons", "\t": "table with tabs", None: "table with blanks"}
NO_ROWS = "names columns but holds no row"


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns, and the line on which each row starts (None in Parquet, which has no lines).

    mistakes : lines that could not be split into cells; format : in words; notes : of a reader.
    """

    columns: Frame
    names: tuple[str, ...]
    lines: Sequence[int] | None
    mistakes: tuple[FileError, ...] = ()
    format: str = "export of another tool"
    notes: tuple[str, ...] = ()


def is_table(text: bytes, name: str) -> bool:
    """Whether a file is a table: by its ending, by how it starts, or because it begins with names of columns."""
    if _bare(name).endswith(TABLES) or text.startswith((PARQUET_STARTS, ZIP_STARTS)):
        return True
    if readers.reader_and_path(name)[0]:
        return True
    first = first_line(text)
    if first.startswith(("{", "[", "#")):
        return not first.startswith("#")
    separator = _separator(first)
    names = [cell.strip(' "') for cell in (first.split() if separator is None else first.split(separator))]
    return is_called(names, TOPIC) and (is_called(names, DOCUMENT + COMPARED) or kind_of(names) == "answers")


@dataclass(frozen=True)
class Outline:
    """What a table holds, its format in words, and {role: header} of the columns that are read."""

    kind: Kind
    format: str
    role_of: dict[str, str]


def outline_of(text: bytes, name: str, columns: Mapping[str, Sequence[str]] | None = None) -> Outline:
    """What a table seems to hold. columns : {role: headers} where they do not say.

    Raises
    ------
    FileError
        A table that is not readable; a column that is not there, or two for one role.
    """
    table = _table(text, name)
    named = columns or {}
    present = [role for role, headers in named.items() if set(table.names).intersection(headers)]
    kind = kind_of([*table.names, *present])
    try:
        role_of = roles_of(table.names, COLUMNS[kind], {role: named[role] for role in named if role in COLUMNS[kind]})
    except ArgumentError as error:
        raise FileError(name, str(error)) from None
    return Outline(kind, table.format, role_of)


def table_kind(text: bytes, name: str, columns: Collection[str] = ()) -> Kind:
    """What a table holds, by its columns. columns : roles that are named, too."""
    return kind_of([*_table(text, name).names, *columns])


def from_table(kind: type[Whole], text: bytes, name: str, **settings: Any) -> Whole:
    """The judgments, preferences or runs of a table. settings : as `kind.from_frame` takes them.

    Raises
    ------
    FileError
        What cannot be read, with the line.
    """
    table = _table(text, name)
    try:
        whole: Any = kind.from_frame(table.columns, **settings)
    except RowError as error:
        rows = ((error.row, error.problem), *error.more)
        raise with_more([*table.mistakes, *(_row_error(name, table, *row) for row in rows)]) from None
    except InputError as error:
        raise FileError(name, str(error)) from None
    if table.mistakes:
        raise with_more(table.mistakes)
    notes = (*table.notes, *whole.notes)
    noted: Whole = replace(whole, notes=tuple(type(note)(f"{name}: {note}") for note in notes))
    return noted


def _row_error(name: str, table: Table, row: int, problem: str) -> FileError:
    """A mistake in a row as one in the line where it starts; Parquet has no lines."""
    if table.lines is None:
        return FileError(name, f"row {row}: {problem}")
    return FileError(name, problem, table.lines[row - 1])


def read_table(text: bytes, name: str) -> Table:
    """A table as named columns; an empty cell is None.

    Raises
    ------
    FileError
        What cannot be read, with the line.
    """
    table = _table(text, name)
    if table.mistakes:
        raise with_more(table.mistakes)
    return table


def _table(text: bytes, name: str) -> Table:
    """As `read_table`, but lines that cannot be split into cells are left out and told."""
    reader = readers.reader_for(text, name)
    if reader is None:
        return _plain_table(text, name)
    export = reader.read(text, name)
    return Table(export, tuple(export), None, notes=export.notes)


def _plain_table(text: bytes, name: str) -> Table:
    bare = _bare(name)
    if bare.endswith(".parquet") or text.startswith(PARQUET_STARTS):
        return _parquet(text, name)
    if bare.endswith(".xlsx") or text.startswith(ZIP_STARTS):
        return _excel(text, name)
    if bare.endswith((".jsonl", ".ndjson")) or first_line(text).startswith("{"):
        numbered = list(json_rows(text.decode("utf-8-sig", "surrogateescape"), name))
        return _of_records([row for _, row in numbered], [line for line, _ in numbered], name, "JSON Lines")
    if first_line(text).startswith("["):
        return _of_records(records(text, name), None, name, "JSON")
    return _without_quotes(text, name) or _separated(text.decode("utf-8-sig", "surrogateescape"), name)


def _of_records(rows: Sequence[dict[str, Any]], lines: Sequence[int] | None, name: str, format: str) -> Table:
    if not rows:
        raise FileError(name, NO_ROWS)
    names = tuple(dict.fromkeys(column for row in rows for column in row))
    return Table({column: [row.get(column) for row in rows] for column in names}, names, lines, format=format)


def _without_quotes(text: bytes, name: str) -> Table | None:
    """As `_separated`, without a look at each line; None where one is needed."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    first, _, rest = text.partition(b"\n")
    words = first.decode("utf-8", "surrogateescape").removesuffix("\r")
    separator = _separator(words)
    if separator is None or not words.strip() or '"' in words:
        return None
    header = [column.strip() for column in words.split(separator)]
    columns: Any = split_cells(rest, separator, len(header))
    if columns is None:
        return None
    _check_headers(header, name, 1)
    lines = range(2, 2 + len(columns[0]))
    return Table(dict(zip(header, columns, strict=True)), tuple(header), lines, format=FORMATS[separator])


def split_cells(text: bytes, separator: str, n_columns: int) -> list[Cells] | None:
    """The columns of lines of cells, an empty cell as None; None where they need a closer look.

    That is where a cell is quoted, a line has more or fewer cells, or every cell of a line may be blank.
    """
    if b'"' in text or b"\0" in text:
        return None
    numbers = [defaultdict[str, int](count().__next__) for _ in range(n_columns)]
    codes: list[list[Codes]] = [[] for _ in range(n_columns)]
    start = 0
    text = text.rstrip(b"\r\n")
    while start < len(text):
        end = text.find(b"\n", min(start + CHUNK, len(text)))
        end = len(text) if end < 0 else end
        lines = text[start:end].removesuffix(b"\r").replace(b"\r\n", b"\n")
        ends = np.frombuffer(lines, np.uint8)
        ends = ends[(ends == 10) | (ends == ord(separator))]
        is_line = ends == 10
        n_lines = int(is_line.sum()) + 1
        if b"\r" in lines or ends.size + 1 != n_lines * n_columns or not is_line[n_columns - 1 :: n_columns].all():
            return None
        cells = lines.decode("utf-8", "surrogateescape").replace("\n", separator).split(separator)
        for i, number in enumerate(numbers):
            codes[i].append(np.fromiter(map(number.__getitem__, cells[i::n_columns]), np.int32, n_lines))
        start = end + 1
    if not start or not any(all(map(str.strip, number)) for number in numbers):
        return None
    columns = zip(numbers, codes, strict=True)
    return [Cells(np.concatenate(parts), [cell or None for cell in number]) for number, parts in columns]


def _separated(text: str, name: str) -> Table:
    """CSV, TSV or cells between blanks: whichever separates the column names."""
    rows = _cells(text, name)
    line, header = next(rows, (1, []))
    header = [column.strip() for column in header]
    _check_headers(header, name, line)
    lines: list[int] = []
    values: list[list[str]] = []
    mistakes: list[FileError] = []
    for line, cells in rows:
        if len(cells) != len(header):
            problem = f"expected {len(header)} cells, as many as columns, found {len(cells)}"
            mistakes.append(FileError(name, problem, line))
            continue
        lines.append(line)
        values.append(cells)
    if not lines:
        raise with_more(mistakes) if mistakes else FileError(name, NO_ROWS)
    columns = ([cell or None for cell in column] for column in zip(*values, strict=True))
    format = FORMATS[_separator(text[:10_000].lstrip().split("\n", 1)[0])]
    return Table(dict(zip(header, columns, strict=True)), tuple(header), lines, tuple(mistakes), format)


def with_more(mistakes: Sequence[FileError]) -> FileError:
    """The first of several mistakes of a file, which knows the others, in the order of lines."""
    first, *more = sorted(mistakes, key=lambda error: error.line or 0)
    return FileError(first.path, first.problem, first.line, tuple(more))


def _cells(words: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of every row that is not blank, and the line it starts on (a quoted cell may go over several)."""
    separator = _separator(words[:10_000].lstrip().split("\n", 1)[0])
    if separator is None:
        yield from ((i, line.split()) for i, line in enumerate(words.split("\n"), start=1) if line.strip())
        return
    yield from quoted_cells(words, name, separator)


def _separator(first: str) -> str | None:
    """What separates the names of columns: a tab, else the more frequent of comma and semicolon; None for blanks."""
    unquoted = re.sub(r'"[^"]*"', "", first)
    if "\t" in unquoted:
        return "\t"
    return max(",;", key=unquoted.count) if {",", ";"}.intersection(unquoted) else None


def quoted_cells(words: str, name: str, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Rows whose cells may be quoted, and then go over several lines, each with the line it starts on.

    Raises
    ------
    FileError
        Quotes that do not close, or stand in the middle of a cell.
    """
    reader = csv.reader(StringIO(words, newline=""), delimiter=separator, strict=True)
    start = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise FileError(name, f"not a readable row, perhaps a quotation mark is not closed: {error}", start) from None


def json_rows(words: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """One JSON object a line, with its line; blank lines are passed over.

    Raises
    ------
    FileError
        A line that is something else.
    """
    for number, line in enumerate(words.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FileError(name, f"not JSON: {error}", number) from None
        if not isinstance(row, dict):
            raise FileError(name, f"expected one JSON object a line, found {line[:60]!r}", number)
        yield number, row


def _parquet(text: bytes, name: str) -> Table:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise FileError(name, "reading Parquet needs pyarrow; pip install 'qrowd[tables]'") from None
    try:
        table = parquet.read_table(pyarrow.BufferReader(text))
    except (pyarrow.ArrowException, OSError) as error:
        raise FileError(name, f"not readable as Parquet: {' '.join(str(error).split())}") from None
    if not table.num_rows:
        raise FileError(name, NO_ROWS)
    return Table(table, tuple(table.column_names), None, format="Parquet")


def _excel(text: bytes, name: str) -> Table:
    """The first sheet of a workbook; its first row that is not blank names the columns."""
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError:
        raise FileError(name, "reading Excel files needs openpyxl; pip install 'qrowd[excel]'") from None
    try:
        book = openpyxl.load_workbook(BytesIO(text), read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises whatever its parsers do
        problem = " ".join(str(error).split())
        raise FileError(name, f"not readable as an Excel workbook (.xlsx): {problem}") from None
    rows = enumerate(book.worksheets[0].iter_rows(values_only=True), start=1)
    filled = [(line, cells) for line, cells in rows if any(cell is not None for cell in cells)]
    if len(filled) < 2:
        raise FileError(name, NO_ROWS if filled else "the sheet is empty")
    header = ["" if cell is None else str(cell).strip() for cell in filled[0][1]]
    places = [i for i, column in enumerate(header) if column]
    names = tuple(header[i] for i in places)
    _check_headers(names, name, filled[0][0])
    cells = [[_excel_cell(row[i]) for _, row in filled[1:]] for i in places]
    return Table(dict(zip(names, cells, strict=True)), names, [line for line, _ in filled[1:]], format="Excel")


def _excel_cell(cell: Any) -> Any:
    return str(cell) if hasattr(cell, "isoformat") else cell


def _check_headers(header: Sequence[str], name: str, line: int) -> None:
    if twice := [column for i, column in enumerate(header) if column in header[:i]]:
        raise FileError(name, f"two columns are called {twice[0]!r}; rename or remove one", line)


def _bare(name: str) -> str:
    return name.lower().removesuffix(".gz")


def first_line(text: bytes) -> str:
    """The first line that holds more than blanks, without a byte order mark."""
    return text[:10_000].decode("utf-8-sig", "replace").lstrip().split("\n", 1)[0]
