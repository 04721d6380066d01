"""Columns of tables as codes: every distinct cell once, and its number for each row.

Everything that has to be known of cells (whether one is missing, which label or number it is) is asked of the distinct
ones. Categories of pandas and Polars and dictionaries of Arrow are taken over; text of Arrow and Polars is encoded by
Arrow, where it is installed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.model.labels import Codes, first_rows, renumbered

if TYPE_CHECKING:
    from narwhals import Series

Column: TypeAlias = "Series[Any] | NDArray[Any] | Sequence[object] | Cells"
CHUNK = 1 << 22  # bytes of text that are split at a time


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of a table.

    codes : (n,) number of each row's cell; distinct : the cells by number, in order of appearance, None where a cell is
    missing. A cell may stand twice among them.
    """

    codes: Codes
    distinct: Sequence[Any]

    @classmethod
    def of(cls, codes: NDArray[np.integer], cells: Sequence[Any]) -> Cells:
        """From codes into cells in any order, of which some may be in no row."""
        return cls(*renumbered(codes, cells))

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, row: int) -> Any:
        return self.distinct[self.codes[row]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def to_list(self) -> list[Any]:
        """The cell of each row."""
        return list(map(self.distinct.__getitem__, self.codes.tolist()))

    def take(self, places: NDArray[np.int64]) -> Cells:
        """The cells of these rows."""
        return Cells.of(self.codes[places], self.distinct)

    def rows_with(self, chosen: NDArray[np.bool_]) -> list[tuple[int, Any]]:
        """(row from 0, cell) of the rows that have a chosen one of the distinct cells."""
        places = np.flatnonzero(chosen[self.codes]) if chosen.any() else np.empty(0, np.int64)
        return [(row, self.distinct[self.codes[row]]) for row in places.tolist()]


def constant(cell: object, n: int) -> Cells:
    """A column of n times the same cell."""
    return Cells(np.zeros(n, np.int32), [cell])


def encoded(cells: Sequence[Any]) -> Cells:
    """A column of Python objects. Equal cells of different types, such as 1 and True, are different cells."""
    try:
        column = _numbered(cells, len(cells))
        if set(map(type, column.distinct)) <= {str, NoneType} or len(set(map(type, cells))) == 1:
            return column
        by_type = _numbered(zip(map(type, cells), cells, strict=True), len(cells))
        return Cells(by_type.codes, [cell for _, cell in by_type.distinct])
    except TypeError:  # cells that have no hash, such as lists
        return Cells(np.arange(len(cells), dtype=np.int32), cells)


def _numbered(cells: Iterable[Any], n: int) -> Cells:
    number: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(number.__getitem__, cells), np.int32, n)
    return Cells(codes, list(number))


def split_cells(text: bytes, separator: str, n_columns: int) -> list[Cells] | None:
    """The columns of lines of cells, an empty cell as None; None where they need a closer look.

    That is where a cell is quoted, a line has more or fewer cells, or every cell of a line may be blank.
    """
    if b'"' in text or b"\0" in text:
        return None
    numbers = [defaultdict[str, int](count().__next__) for _ in range(n_columns)]
    codes: list[list[Codes]] = [[] for _ in range(n_columns)]
    start, text = 0, text.rstrip(b"\r\n")
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


# ---------------------------------------------------------------------- columns of frames


def columns_of(frame: Any) -> Mapping[str, Column]:
    """{header: column} of a data frame, or of {column: cells}, whose columns may be series or arrays."""
    if isinstance(frame, Mapping):
        return {name: _column(cells) for name, cells in frame.items()}
    import narwhals as nw

    opened = nw.from_native(frame, eager_only=True)
    return {name: opened[name] for name in opened.columns}


def _column(cells: Any) -> Column:
    if isinstance(cells, list | tuple | np.ndarray | Cells):
        return cells
    import narwhals as nw

    series: Any = nw.from_native(cells, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else list(series)


def ordered_categories(column: Column) -> tuple[str, ...]:
    """The categories of a column from the lowest, where they are in an order; none where it has no such categories."""
    if not hasattr(column, "implementation"):
        return ()
    import narwhals as nw

    dtype, native = column.dtype, column.to_native()  # type: ignore[union-attr]
    if isinstance(dtype, nw.Enum):
        return tuple(map(str, dtype.categories))
    if len(native) and getattr(getattr(native, "type", None), "ordered", False):  # a dictionary of Arrow
        return tuple(map(str, native.unify_dictionaries().chunk(0).dictionary.to_pylist()))
    return ()


def label_cells(column: Column) -> Cells:
    """A column whose cells are labels."""
    if isinstance(column, Cells):
        return column
    if not hasattr(column, "implementation"):
        is_integers = isinstance(column, np.ndarray) and column.dtype.kind in "iu"
        return _of_integers(column) if is_integers else encoded(_python_objects(column))  # type: ignore[arg-type]
    import narwhals as nw

    series: Any = column
    native, of_pandas = series.to_native(), series.implementation.is_pandas_like()
    if of_pandas and hasattr(native, "cat") and hasattr(native.dtype, "categories"):
        return _of_codes(native.cat.codes.to_numpy(), native.cat.categories.tolist())
    if series.dtype.is_integer() and not series.null_count():
        return _of_integers(series.to_numpy())
    if series.implementation.is_polars() and isinstance(series.dtype, nw.Categorical | nw.Enum):
        return _of_polars(native)
    is_text = isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum)
    if is_text and not (of_pandas and native.dtype == object) and _has_arrow():
        return _of_arrow(series.to_arrow())
    return encoded(_python_objects(series))


def number_cells(column: Column) -> Cells | Floats:
    """A column whose cells are numbers: doubles, nan where one is missing, unless they are still to be read."""
    if isinstance(column, Cells):
        return column
    if hasattr(column, "implementation"):
        import narwhals as nw

        series: Any = column
        if series.dtype.is_integer() or series.dtype.is_float():
            return _doubles(series.to_numpy())
        if isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum):
            return label_cells(series)
    elif isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return _doubles(column)
    cells = _python_objects(column)
    if set(map(type, cells)) <= {int, float, bool}:
        try:
            return np.fromiter(map(float, cells), np.float64, len(cells))
        except OverflowError:  # which is a mistake in its row
            pass
    return encoded(cells)


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


def _doubles(numbers: NDArray[Any]) -> Floats:
    """A copy, since judgments are not changed with the frame that they come from."""
    return np.array(numbers, np.float64)


def _of_integers(numbers: NDArray[np.integer]) -> Cells:
    """Whole numbers, which are codes themselves where they are close together."""
    low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    if high - low > 4 * numbers.size:
        return encoded(numbers.tolist())
    return Cells.of(numbers - numbers.dtype.type(low) if low else numbers, range(low, high + 1))


def _of_codes(codes: NDArray[np.integer], cells: list[Any]) -> Cells:
    """From codes that are negative where a cell is missing."""
    if codes.size and codes.min() < 0:
        codes, cells = np.where(codes < 0, np.int32(len(cells)), codes), [*cells, None]
    return Cells.of(codes, cells)


def _of_polars(column: Any) -> Cells:
    """From categories, whose numbers may be those of all categories that the process knows."""
    numbers = column.to_physical()
    low, high = (numbers.min() or 0), (numbers.max() or 0)
    size, codes = high - low + 1, numbers.to_numpy()
    if column.null_count():
        codes, size = np.where(np.isnan(codes), size, codes - low).astype(np.int64), size + 1
    elif low:
        codes = codes - codes.dtype.type(low)
    rows = first_rows(codes, size)
    number = np.zeros(size, np.int32)
    number[codes[rows]] = np.arange(rows.size)
    return Cells(number[codes], column.gather(rows).to_list())


def _has_arrow() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def _of_arrow(column: Any) -> Cells:
    column = column.dictionary_encode()
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    codes, cells = column.indices, column.dictionary.to_pylist()
    if not codes.null_count:
        return Cells.of(codes.to_numpy(), cells)
    missing = codes.is_null().to_numpy(zero_copy_only=False)
    numbers = codes.fill_null(0).to_numpy().astype(np.int32)
    return _of_codes(np.where(missing, np.int32(-1), numbers), cells)
