"""Columns of tables as codes, and their cells as labels and numbers, or mistakes: one for each row that cannot be read.

A column holds every distinct cell once, and its number for each row. Whatever has to be known of cells (whether one is
missing, which label or number it is) is asked of the distinct ones. pandas numbers the cells of its frames; text of
other libraries is numbered by Arrow, where it is installed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, RowError
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.labels import factorize, first_of, number_in, plural, renumbered

if TYPE_CHECKING:
    from narwhals import Series

Column: TypeAlias = "Series[Any] | NDArray[Any] | Sequence[object] | Cells"
Encoded = tuple[Codes, tuple[str, ...]]
"""The number of each row's label, and the labels in order of appearance."""
Rows = range | Ints
"""The number of each row in its table, from 1."""
IncompleteRows = Literal["refuse", "drop"]
IdenticalRows = Literal["keep", "drop"]
WordLabels = str | Sequence[object]
"""Word labels from the lowest to the highest: a sequence, or text such as `Irrelevant<Complement<Exact`."""

NO_VALUE = frozenset(("nan", "na", "n/a", "<na>", "null"))


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of a table.

    codes : (n,) number of each row's cell; distinct : the cells by number, in order of appearance, None where a cell is
    missing. A cell may stand twice among them.
    """

    codes: Codes
    distinct: Sequence[Any]

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, row: int) -> Any:
        return self.distinct[self.codes[row]]

    def __iter__(self) -> Iterator[Any]:
        return map(self.distinct.__getitem__, self.codes.tolist())

    def take(self, places: Ints) -> Cells:
        """The cells of these rows."""
        return Cells(*renumbered(self.codes[places], self.distinct))

    def rows_with(self, chosen: Bools) -> list[tuple[int, Any]]:
        """(row from 0, cell) of the rows that have a chosen one of the distinct cells."""
        places = np.flatnonzero(chosen[self.codes]) if chosen.any() else np.empty(0, np.int64)
        return [(row, self[row]) for row in places.tolist()]


def constant(cell: object, n: int) -> Cells:
    """A column of n times the same cell."""
    return Cells(np.zeros(n, np.int32), [cell])


# ---------------------------------------------------------------------- columns of frames


def columns_of(frame: Any) -> Mapping[str, Column]:
    """{header: column} of a data frame, or of {column: cells}, whose columns may be series or arrays."""
    import narwhals as nw

    if not isinstance(frame, Mapping):
        opened = nw.from_native(frame, eager_only=True)
        return {name: opened[name] for name in opened.columns}
    columns: dict[str, Column] = {}
    for name, cells in frame.items():
        series: Any = nw.from_native(cells, series_only=True, pass_through=True)
        known = isinstance(series, nw.Series | list | tuple | np.ndarray | Cells)
        columns[name] = series if known else list(series)
    return columns


def ordered_categories(column: Column) -> tuple[str, ...]:
    """The categories of a column from the lowest, where they are in an order; none where it has no such categories."""
    import narwhals as nw

    dtype = getattr(column, "dtype", None)
    return tuple(map(str, dtype.categories)) if isinstance(dtype, nw.Enum) else ()


def label_cells(column: Column) -> Cells:
    """A column whose cells are labels."""
    import narwhals as nw

    if isinstance(column, Cells):
        return column
    series: Any = column
    if not isinstance(series, nw.Series):
        return _encoded(_python_objects(column))
    if series.implementation.is_pandas_like():
        native = series.to_native()
        codes, cells = (native.cat.codes, native.cat.categories) if hasattr(native, "cat") else native.factorize()
        return _with_missing(np.asarray(codes), cells.tolist())
    is_text = isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum)
    if (is_text or series.dtype.is_integer()) and find_spec("pyarrow") is not None:
        return _of_arrow(series.to_arrow().dictionary_encode())
    return _encoded(series.to_list())


def number_cells(column: Column) -> Cells | Floats:
    """A column whose cells are numbers: doubles, nan where one is missing, unless they are still to be read."""
    import narwhals as nw

    if isinstance(column, Cells):
        return column
    series: Any = column
    if isinstance(series, nw.Series):
        if series.dtype.is_numeric():
            return np.array(series.to_numpy(), np.float64)  # a copy: judgments do not change with their frame
        if isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum):
            return label_cells(series)
    elif isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return np.array(column, np.float64)
    cells = _python_objects(column)
    if set(map(type, cells)) <= {int, float, bool}:
        try:
            return np.fromiter(map(float, cells), np.float64, len(cells))
        except OverflowError:  # which is a mistake in its row
            pass
    return _encoded(cells)


def objects(column: Column) -> NDArray[np.object_]:
    """The cells as Python objects; None where one is missing."""
    cells = np.fromiter(_python_objects(column), object, len(column))
    series: Any = column
    if hasattr(column, "implementation") and series.null_count():
        cells[series.is_null().to_numpy().astype(bool)] = None
    return cells


def _python_objects(column: Column) -> list[Any]:
    """The cells, with whatever the library of the frame has for a missing one."""
    if isinstance(column, np.ndarray):
        return column.tolist() if column.dtype.kind in "iufbUSO" else list(column)
    series: Any = column
    cells: list[Any] = series.to_list() if hasattr(column, "to_list") else list(column)
    return cells


def _encoded(cells: Sequence[Any]) -> Cells:
    """A column of Python objects."""
    number: defaultdict[Any, int] = defaultdict(count().__next__)
    try:
        codes = np.fromiter(map(number.__getitem__, cells), np.int32, len(cells))
    except TypeError:  # cells that have no hash, such as lists
        return Cells(np.arange(len(cells), dtype=np.int32), cells)
    return Cells(codes, list(number))


def _with_missing(codes: NDArray[np.integer], cells: list[Any]) -> Cells:
    """From codes that are negative where a cell is missing."""
    if codes.size and codes.min() < 0:
        codes = np.where(codes < 0, len(cells), codes)
        cells = [*cells, None]
    return Cells(*renumbered(codes, cells))


def _of_arrow(column: Any) -> Cells:
    """From an array of dictionaries, or from several with one dictionary each."""
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    codes = column.indices.cast("int32").fill_null(-1).to_numpy()
    return _with_missing(codes, column.dictionary.to_pylist())


# ---------------------------------------------------------------------- cells as labels and numbers


@dataclass
class Mistakes:
    """The mistakes of a table, by row (from 1)."""

    rows: list[tuple[int, str]] = field(default_factory=list)

    def add(self, row: int, problem: str) -> None:
        self.rows.append((row, problem))

    def check(self) -> None:
        """Raise the first mistake, which knows the others."""
        if self.rows:
            (row, problem), *more = sorted(set(self.rows))
            raise RowError(row, problem, more=tuple(more))


def is_missing(cell: object) -> bool:
    """Whether a cell holds nothing: None, an empty text, or a number that is none (`nan`, pandas' NA and NaT)."""
    if isinstance(cell, str):
        return not cell.strip()
    is_nan = isinstance(cell, float | np.floating) and isnan(cell)
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def missing_cells(column: Cells | Floats, *, value: bool = False) -> Bools | None:
    """(n,) where a cell is missing, None where none is; a value is also missing where text says so (`NaN`, `null`)."""
    if not isinstance(column, Cells):
        missing = np.isnan(column)
        return missing if missing.any() else None
    cells = column.distinct
    if set(map(type, cells)) == {str} and not value and all(map(str.strip, cells)):  # as most columns are
        return None
    missing = np.fromiter(map(is_missing, cells), bool, len(cells))
    if value:
        missing |= np.array([isinstance(cell, str) and cell.strip().lower() in NO_VALUE for cell in cells], bool)
    return missing[column.codes] if missing.any() else None


def labels_in(column: Cells, name: str, rows: Rows, mistakes: Mistakes) -> Encoded:
    """Cells as labels: the number of each row's label, and the labels. Whole numbers become text, 1.0 as 1.

    rows : the number of each one's row.
    """
    labels: list[Any] = [cell if type(cell) is str else _label(cell) for cell in column.distinct]
    if None in labels:
        for row, cell in column.rows_with(np.array([label is None for label in labels], bool)):
            mistakes.add(int(rows[row]), f"{name} is {cell!r}; give labels as text or whole numbers")
    if len(set(labels)) == len(labels):
        return column.codes, tuple(labels)
    new, distinct = factorize(labels)
    return new[column.codes], distinct


def _label(cell: object) -> str | None:
    """A cell as a label; None where it may be written in several ways."""
    if isinstance(cell, bytes):
        return None
    if isinstance(cell, float | np.floating):
        whole = float(cell).is_integer() and abs(float(cell)) < 2**53
        return str(int(cell)) if whole else None
    return str(cell)


def numbers_in(column: Cells | Floats, name: str, rows: Rows, mistakes: Mistakes, *, required: bool = True) -> Floats:
    """Cells as doubles, nan where one may be missing."""
    if not isinstance(column, Cells):
        wrong = ~np.isfinite(column) if required else np.isinf(column)
        for row in np.flatnonzero(wrong).tolist():
            mistakes.add(int(rows[row]), f"expected a finite number as {name}, found {float(column[row])!r}")
        return column
    numbers = _parsed(column.distinct)
    wrong = ~np.isfinite(numbers)
    if wrong.any() and not required:
        wrong &= ~np.fromiter(map(is_missing, column.distinct), bool)
    for row, cell in column.rows_with(wrong):
        point = " (decimals stand after a point)" if isinstance(cell, str) and "," in cell else ""
        mistakes.add(int(rows[row]), f"expected a finite number as {name}, found {cell!r}{point}")
    return numbers[column.codes]


def _parsed(cells: Sequence[Any]) -> Floats:
    """(n,) cells as numbers, nan where one is none. Plain numbers in text are read without a look at each."""
    if set(map(type, cells)) == {str}:
        text = "".join(cells)
        if text.isascii() and "_" not in text:  # which Python reads as numbers, too
            try:
                return np.fromiter(map(float, cells), np.float64, len(cells))
            except ValueError:
                pass
    return np.array([nan if is_missing(cell) else number_in(cell) for cell in cells], np.float64)


# ---------------------------------------------------------------------- word labels


def ordered_labels(labels: WordLabels) -> tuple[str, ...]:
    """Word labels from the lowest to the highest.

    >>> ordered_labels("Irrelevant < Partially relevant < Relevant")
    ('Irrelevant', 'Partially relevant', 'Relevant')

    Raises
    ------
    ArgumentError
        Fewer than two words, or a word twice (letter case aside).
    """
    words = tuple(str(word).strip() for word in (labels.split("<") if isinstance(labels, str) else labels))
    text = "<".join(words)
    if len(words) < 2 or not all(words):
        raise ArgumentError("two words or more were expected, from the lowest, as in 'low<high'", "labels", text)
    if len({word.casefold() for word in words}) < len(words):
        raise ArgumentError("a word stands twice", "labels", text)
    return words


def grades_in(column: Cells | Floats, order: tuple[str, ...] | None, rows: Rows, mistakes: Mistakes) -> Floats | None:
    """Grades 0, 1, ... of word labels, letter case aside; None for numbers. Words that `order` lacks are mistakes."""
    if not isinstance(column, Cells) or (order is None and str not in set(map(type, column.distinct))):
        return None
    texts = [str(cell).strip().casefold() for cell in column.distinct]
    words = [text for text in dict.fromkeys(texts) if isnan(number_in(text)) and any(map(str.isalpha, text))]
    if order is None:
        if len(words) < len(set(texts)) or not words:
            return None  # numbers, or numbers and what is not among them
        like = "<".join(words[:12]) if len(words) > 1 else f"low<{words[0]}"
        mistakes.add(
            int(rows[0]),
            f"values are words ({first_of(words, 12)}), not numbers; give their order from the lowest to the highest, "
            f"as in --labels {like!r} (the order in the file, to be corrected; in Python labels= of read_judgments, or "
            "of Judgments.from_frame for a data frame)",
        )
        return np.zeros(len(column))
    grade_of = {word.casefold(): grade for grade, word in enumerate(order)}
    grades = np.array([grade_of.get(text, -1) for text in texts], np.float64)
    if not words and (grades < 0).any():
        return None
    for row, cell in column.rows_with(grades < 0):
        mistakes.add(int(rows[row]), f"value {str(cell).strip()!r} is not among the labels {'<'.join(order)}")
    return grades[column.codes]


# ---------------------------------------------------------------------- rows


def complete_rows(
    columns: Mapping[str, Cells | Floats], incomplete: IncompleteRows, mistakes: Mistakes
) -> tuple[Ints | None, list[str]]:
    """Numbers (from 0) of the rows that have all cells, None where all do, and a note about the others."""
    by_name = {name: missing_cells(column, value=name == "value") for name, column in columns.items()}
    missing = {name: rows for name, rows in by_name.items() if rows is not None}
    if not missing:
        return None, []
    some = np.logical_or.reduce(list(missing.values()))
    n = int(some.sum())
    if n == some.size and incomplete == "drop":
        raise ArgumentError(f"no row is complete: {next(iter(missing))} is missing")
    for row in np.flatnonzero(some).tolist() if incomplete == "refuse" else ():
        name = next(name for name in missing if missing[name][row])
        hint = (
            f" ({plural(n, 'such row')}); --incomplete-rows drop leaves them out; in Python incomplete_rows='drop' "
            "does, of read_judgments, or of Judgments.from_frame for a data frame"
        )
        mistakes.add(row + 1, f"{name} is missing" + (hint if row == some.argmax() else ""))
    were = "was" if n == 1 else "were"
    return np.flatnonzero(~some), [f"{plural(n, 'row')} with a missing cell ({', '.join(missing)}) {were} left out"]
