"""Tables of judgments, preferences or runs: CSV, TSV, JSON Lines and Parquet, whose columns have names.

Cells of text tables stay text (topic 0012 stays 0012) until the model asks for a number, and every mistake is named by
its line.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeVar

from qrowd.errors import ArgumentError, FileError, InputError, RowError
from qrowd.model.duplicates import Duplicates
from qrowd.model.frames import DOCUMENT, JUDGMENT_COLUMNS, PREFERENCE_COLUMNS, RUN_COLUMNS, TOPIC, label_columns
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale

if TYPE_CHECKING:
    from qrowd.model.frames import Frame

Result = TypeVar("Result")

PARQUET_STARTS = b"PAR1"
COMPARED = PREFERENCE_COLUMNS["other"] + PREFERENCE_COLUMNS["b"]  # no table of preferences is without these
NO_ROWS = "names columns but holds no row"


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns, and the line on which each row starts (None in Parquet, which has no lines)."""

    columns: Frame
    names: tuple[str, ...]
    lines: Sequence[int] | None


def is_table(text: bytes, name: str) -> bool:
    """Whether a file is a table: by its ending, by how it starts, or because it begins with names of columns."""
    if _bare(name).endswith((".csv", ".jsonl", ".ndjson", ".parquet")) or text.startswith(PARQUET_STARTS):
        return True
    first = _first_line(text)
    if first.startswith(("{", "#")):
        return first.startswith("{")
    names = set(re.split(r'[\s,"]+', first))
    crowd = "task" in names and names.intersection(JUDGMENT_COLUMNS["assessor"])
    return bool(crowd or (names.intersection(TOPIC) and names.intersection(DOCUMENT + COMPARED)))


def holds_runs(text: bytes, name: str) -> bool:
    """Whether a table's columns are those of runs: a system or a rank, or nothing but a score, and no assessor."""
    names = set(read_table(text, name).names)
    if names.intersection(JUDGMENT_COLUMNS["assessor"]):
        return False
    if names.intersection(RUN_COLUMNS["system"] + RUN_COLUMNS["rank"]):
        return True
    return not names.intersection(set(JUDGMENT_COLUMNS["value"]).difference(RUN_COLUMNS["score"]))


def judgments_from_table(
    text: bytes, name: str, *, assessor: str | None = None, scales: Mapping[str, Scale | str] | None = None
) -> Judgments:
    """Judgments of every assessor in the table; `assessor` names the one of a table without an assessor column."""
    return _read(text, name, lambda columns: Judgments.from_frame(columns, assessor=assessor, scales=scales))


def preferences_from_table(text: bytes, name: str, *, assessor: str | None = None) -> Preferences:
    """Preferences of every assessor in the table; `assessor` names the one of a table without an assessor column."""
    return _read(text, name, lambda columns: Preferences.from_frame(columns, assessor=assessor))


def runs_from_table(text: bytes, name: str, *, system: str) -> Runs:
    """The runs in the table; `system` names the one of a table without a system column."""
    return _read(text, name, lambda columns: Runs.from_frame(columns, system=system))


def duplicates_from_table(text: bytes, name: str) -> Duplicates:
    """Groups of documents that say the same: rows (topic, document, group), or pairs (topic, one, same_as)."""
    table = read_table(text, name)
    duplicates = _read(text, name, lambda columns: _duplicates(columns, table.names))
    if not duplicates.groups:
        raise FileError(name, "no group holds two documents of a topic; documents that say the same share a group")
    return duplicates


def _duplicates(columns: Frame, names: Sequence[str]) -> Duplicates:
    if "same_as" in names:
        return Duplicates.from_pairs(zip(*label_columns(columns, "topic", "one", "same_as"), strict=True))
    if "group" not in names:
        raise ArgumentError(
            "no column group; duplicates are a table of topic, document and group, or the pairs that qrowd campaign "
            "export --what duplicates writes"
        )
    return Duplicates.from_groups(zip(*label_columns(columns, "topic", "document", "group"), strict=True))


def _read(text: bytes, name: str, make: Callable[[Frame], Result]) -> Result:
    """make(columns of the table), with the file and the line named in what goes wrong."""
    table = read_table(text, name)
    try:
        return make(table.columns)
    except RowError as error:
        if table.lines is None:
            raise FileError(name, str(error)) from None
        raise FileError(name, error.problem, table.lines[error.row - 1]) from None
    except InputError as error:
        raise FileError(name, str(error)) from None


def read_table(text: bytes, name: str) -> Table:
    """A table as named columns; an empty cell is None.

    Raises
    ------
    FileError
        What cannot be read, with the line.
    """
    bare = _bare(name)
    if bare.endswith(".parquet") or text.startswith(PARQUET_STARTS):
        return _parquet(text, name)
    json_lines = bare.endswith((".jsonl", ".ndjson")) or _first_line(text).startswith("{")
    words = text.decode("utf-8-sig", "surrogateescape")
    return _json_lines(words, name) if json_lines else _separated(words, name)


def _separated(words: str, name: str) -> Table:
    """CSV, TSV or cells between blanks: whichever separates the column names."""
    rows = _cells(words, name)
    line, header = next(rows)
    header = [column.strip() for column in header]
    if twice := [column for i, column in enumerate(header) if column in header[:i]]:
        raise FileError(name, f"two columns are called {twice[0]!r}; rename or remove one", line)
    lines: list[int] = []
    values: list[list[str]] = []
    for line, cells in rows:
        if len(cells) != len(header):
            raise FileError(name, f"expected {len(header)} cells, as many as columns, found {len(cells)}", line)
        lines.append(line)
        values.append(cells)
    if not lines:
        raise FileError(name, NO_ROWS)
    columns = ([cell or None for cell in column] for column in zip(*values, strict=True))
    return Table(dict(zip(header, columns, strict=True)), tuple(header), lines)


def _cells(words: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of every row that is not blank, and the line it starts on (a quoted cell may go over several)."""
    first = words[:10_000].lstrip().split("\n", 1)[0]
    separator = "\t" if "\t" in first else "," if "," in first else None
    if separator is None:
        yield from ((i, line.split()) for i, line in enumerate(words.split("\n"), start=1) if line.strip())
        return
    yield from quoted_cells(words, name, separator)


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
        raise FileError(name, f"not a readable row: {error}", start) from None


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


def _json_lines(words: str, name: str) -> Table:
    numbered = list(json_rows(words, name))
    lines, rows = [line for line, _ in numbered], [row for _, row in numbered]
    names = tuple(dict.fromkeys(column for row in rows for column in row))
    return Table({column: [row.get(column) for row in rows] for column in names}, names, lines)


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
    return Table(table, tuple(table.column_names), None)


def _bare(name: str) -> str:
    return name.lower().removesuffix(".gz")


def _first_line(text: bytes) -> str:
    return text[:10_000].decode("utf-8-sig", "replace").lstrip().split("\n", 1)[0]
