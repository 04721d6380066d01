"""A response and its factors as numbers, from any data frame, plain columns, or the dimensions of a DataArray."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.scores import Floats

if TYPE_CHECKING:
    import xarray

    from qrowd.model.frames import Frame


@dataclass(frozen=True, eq=False)
class Coded:
    """Responses that are not nan, and the level each factor has there.

    response : (rows,). codes : (factors, rows) numbers into levels. levels : of each factor, in order of appearance.
    """

    response: Floats
    factors: tuple[str, ...]
    codes: NDArray[np.int64]
    levels: tuple[tuple[str, ...], ...]
    n_left_out: int

    def cells(self, factors: tuple[int, ...]) -> NDArray[np.int64]:
        """(rows,) number of the combination of levels of some of the factors."""
        cells = np.zeros(self.response.size, np.int64)
        for i in factors:
            cells = cells * len(self.levels[i]) + self.codes[i]
        return cells


def coded(table: Frame | xarray.DataArray, response: str, factors: tuple[str, ...]) -> Coded:
    """The response and the factors by their names; rows without a response are left out.

    Raises
    ------
    ArgumentError
        A column that is not there, or not as long as the others; a response that is no number.
    """
    if hasattr(table, "dims"):
        values, found = _of_array(table, factors)
    else:
        columns = _columns(table)
        missing = [name for name in (response, *factors) if name not in columns]
        if missing:
            raise ArgumentError(f"no column {missing[0]!r} among {', '.join(columns)}")
        try:
            values = np.array([np.nan if v is None else v for v in columns[response]()], np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(f"column {response!r} holds more than numbers, so it is no response") from None
        found = [_numbered(columns[name]()) for name in factors]
        for name, (codes, _) in zip(factors, found, strict=True):
            if codes.size != values.size:
                raise ArgumentError(f"column {name!r} has {codes.size} rows, {response!r} has {values.size}")
    if np.isinf(values).any():
        raise ArgumentError(f"column {response!r} holds an infinite response; leave it out or make it nan")
    known = ~np.isnan(values)
    levels, codes = [], np.empty((len(factors), int(known.sum())), np.int64)
    for i, (numbers, names) in enumerate(found):
        # Levels without any response are none.
        used, codes[i] = np.unique(numbers[known], return_inverse=True)
        levels.append(tuple(names[level] for level in used))
    return Coded(values[known], factors, codes, tuple(levels), int((~known).sum()))


def _of_array(array: Any, factors: tuple[str, ...]) -> tuple[Floats, list[tuple[NDArray[np.int64], tuple[str, ...]]]]:
    missing = [name for name in factors if name not in array.dims]
    if missing:
        raise ArgumentError(f"no dimension {missing[0]!r} among {', '.join(map(str, array.dims))}")
    numbers = np.indices(array.shape)
    found = [(numbers[array.dims.index(dim)].ravel(), tuple(map(str, array[dim].values))) for dim in factors]
    return np.asarray(array.values, np.float64).ravel(), found


def _columns(table: Any) -> dict[str, Any]:
    """By name, a function that gives the cells of the column."""
    if isinstance(table, Mapping):
        return {str(name): lambda name=name: list(table[name]) for name in table}
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    return {name: lambda name=name: frame[name].to_list() for name in frame.columns}


def _numbered(cells: list[Any]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Numbers in order of appearance, and the labels they stand for."""
    number: dict[str, int] = {}
    codes = np.fromiter((number.setdefault(str(cell), len(number)) for cell in cells), np.int64, len(cells))
    return codes, tuple(number)
