"""Result: what a function computed, as a frozen dataclass that gives its rows as a data frame and shows itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qrowd.display import Display, Displayed, Rows, cell_text
from qrowd.errors import check_choice
from qrowd.model.frames import make_frame
from qrowd.model.signature import signature_of

N_NUMBERS = 8  # in the sentence of a result
SHORT = 20  # letters of a text there
Single = str | float | int | np.generic
Tables = dict[str, Callable[[], dict[str, Any]]]
"""The tables of a result by name: functions that compute {column: cells}."""


class Result(Displayed):
    """A mixin that gives a dataclass `to_frame`, and shows it as a sentence and a table in terminals and notebooks.

    A class says in one of three ways what its columns are:

    - `_COLUMNS` names fields, properties or methods in the order of the columns. Arrays and tuples hold one cell per
      row, a single value is repeated in each row, and a tuple of labels loses its plural: `systems` becomes the column
      `system`. Without `_COLUMNS` the frame has one row, with every field that is a number or text.
    - `_columns` returns {column: cells}, where cells are computed. It may start from `super()._columns()`.
    - `_tables` returns {name: function that returns {column: cells}} where there are several tables, of which
      `to_frame(what=...)` chooses one; default: the first.

    What is shown is the first of these tables and `_sentence`: by default `summary`, or the name of the class, and the
    single numbers.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Ranking(Result):
    ...     systems: tuple[str, ...]
    ...     mean: tuple[float, ...]
    ...     _COLUMNS = ("systems", "mean")
    >>> Ranking(("bm25", "dense"), (0.4, 0.5)).to_frame().columns.tolist()
    ['system', 'mean']
    """

    summary: ClassVar[str] = ""
    _COLUMNS: ClassVar[tuple[str, ...]] = ()

    def to_frame(self, backend: str = "pandas", *, what: str | None = None) -> Any:
        """The rows as a data frame of pandas, polars or pyarrow; `what` chooses a table where there are several.

        Raises
        ------
        ArgumentError
            A table that there is not; a library that is unknown or not installed.
        """
        tables = self._tables()
        name = next(iter(tables)) if what is None else what
        check_choice("what", name, tables)
        return make_frame(_whole_columns(tables[name]()), backend)

    @cached_property
    def signature(self) -> str:
        """One line for a paper: the version, what was evaluated, the options in force, and the seed."""
        return signature_of(self)

    def _records(self) -> list[dict[str, Any]]:
        """The rows of the first table as {column: cell}, without a data frame."""
        columns = _whole_columns(next(iter(self._tables().values()))())
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _display(self) -> Display:
        name, columns = next((name, make()) for name, make in self._tables().items())
        title = words(type(self).__name__) if name == "rows" else name.replace("_", " ")
        return Display(self._sentence(), (Rows.of(title, columns).upright(),))

    def _sentence(self) -> str:
        numbers = [" ".join(pair) for pair in _numbers(self)]
        what = self.summary or words(type(self).__name__)
        return f"{what}: {', '.join(numbers[:N_NUMBERS])}." if numbers else f"{what}."

    def _tables(self) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        return {"rows": self._columns}

    def _columns(self) -> Mapping[str, Any]:
        if not self._COLUMNS:
            values = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
            return {name: value for name, value in values.items() if isinstance(value, Single)}
        columns = {}
        for name in self._COLUMNS:
            value = getattr(self, name)
            value = value() if callable(value) else value
            labels = isinstance(value, tuple) and name.endswith("s") and all(isinstance(cell, str) for cell in value)
            columns[name.removesuffix("s") if labels else name] = value
        return columns


def _whole_columns(table: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Columns of one length; a single value is repeated in each row."""
    columns = {column: _cells(values) for column, values in table.items()}
    n_rows = max((cells.size for cells in columns.values() if cells.ndim), default=1)
    return {column: np.broadcast_to(cells, n_rows) for column, cells in columns.items()}


def _cells(values: Any) -> NDArray[Any]:
    """An array of cells, or of one cell for all rows; text and other Python values stay what they are."""
    if isinstance(values, np.ndarray):
        return values
    one = isinstance(values, Single) or values is None
    cells = [values] if one else list(values)
    numeric = bool(cells) and all(isinstance(cell, float | int | np.number) for cell in cells)
    array: NDArray[Any] = np.array(cells) if numeric else np.empty(len(cells), object)
    if not numeric:
        array[:] = cells
    return array.reshape(()) if one else array


def _numbers(result: Result) -> Iterator[tuple[str, str]]:
    """A result's counts, as 5 systems, its numbers, as value 0.5, and its short texts."""
    values = {field.name: getattr(result, field.name) for field in fields(result) if field.repr}  # type: ignore[arg-type]
    seen = set()
    for name, value in values.items():
        noun = name.removeprefix("n_").replace("_", " ")
        if isinstance(value, tuple) and name.endswith("s") and value and all(isinstance(cell, str) for cell in value):
            number = str(len(value))
            count = True
        elif isinstance(value, Single) and not isinstance(value, bool | np.bool_):
            number = cell_text(value)
            count = name.startswith("n_")
        else:
            continue
        if count and noun not in seen:
            seen.add(noun)
            yield number, noun.removesuffix("s") if number == "1" else noun
        elif not count and name != "seed" and number not in ("", "-") and len(number) <= SHORT:
            yield noun, number


def words(name: str) -> str:
    """A class name as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()
