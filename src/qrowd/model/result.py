"""Result: what a function found, as a frozen dataclass that gives its rows as a data frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import check_choice
from qrowd.model.frames import make_frame


class Result:
    """A mixin that gives a dataclass `to_frame`.

    A class says in one of three ways what its columns are:

    - `_COLUMNS` names fields, properties or methods in the order of the columns. Arrays and tuples hold one cell per
      row, a single value is repeated in each row, and a tuple of labels loses its plural: `systems` becomes the column
      `system`. Without `_COLUMNS` the frame has one row, with every field that is a number or text.
    - `_columns` returns {column: cells}, where cells are computed. It may start from `super()._columns()`.
    - `_tables` returns {name: function that returns {column: cells}} where there are several tables, of which
      `to_frame(what=...)` chooses one; default: the first.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Ranking(Result):
    ...     systems: tuple[str, ...]
    ...     mean: tuple[float, ...]
    ...     _COLUMNS = ("systems", "mean")
    >>> Ranking(("bm25", "dense"), (0.4, 0.5)).to_frame().columns.tolist()
    ['system', 'mean']
    """

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
        columns = {column: _cells(values) for column, values in tables[name]().items()}
        n_rows = max((cells.size for cells in columns.values() if cells.ndim), default=1)
        return make_frame({column: np.broadcast_to(cells, n_rows) for column, cells in columns.items()}, backend)

    def _tables(self) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        return {"rows": self._columns}

    def _columns(self) -> Mapping[str, Any]:
        if not self._COLUMNS:
            values = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
            return {name: value for name, value in values.items() if isinstance(value, str | float | int | np.generic)}
        columns = {}
        for name in self._COLUMNS:
            value = getattr(self, name)
            value = value() if callable(value) else value
            labels = isinstance(value, tuple) and name.endswith("s") and all(isinstance(cell, str) for cell in value)
            columns[name.removesuffix("s") if labels else name] = value
        return columns


def _cells(values: Any) -> NDArray[Any]:
    """An array of cells, or of one cell for all rows; text and other Python values stay what they are."""
    if isinstance(values, np.ndarray):
        return values
    one = isinstance(values, str | float | int | np.generic) or values is None
    cells = [values] if one else list(values)
    numeric = bool(cells) and all(isinstance(cell, float | int | np.number) for cell in cells)
    array: NDArray[Any] = np.array(cells) if numeric else np.empty(len(cells), object)
    if not numeric:
        array[:] = cells
    return array.reshape(()) if one else array
