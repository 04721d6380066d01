"""Scores of one measure with their names: a DataArray brings them, a plain array gets numbers or is given them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.model.labels import closest
from qrowd.model.scores import Floats

Names = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Named:
    """A plain array and the labels of its dimensions, in order: what a DataArray is, without the time xarray takes."""

    values: Floats
    names: Mapping[str, Names]


if TYPE_CHECKING:
    import xarray

    OneMeasure: TypeAlias = xarray.DataArray | Floats | Named


def labelled(scores: OneMeasure, *dimensions: str) -> tuple[Floats, tuple[Names, ...]]:
    """The scores as an array with these dimensions, and the labels of each; numbers from 0 for a plain array.

    A DataArray may have its dimensions in any order, and further ones of length 1.

    Raises
    ------
    ArgumentError
        Other dimensions than these.
    """
    wanted = ", ".join(dimensions)
    if isinstance(scores, Named):
        values, names = scores.values, tuple(scores.names[dim] for dim in dimensions)
    elif hasattr(scores, "dims"):
        array: Any = scores
        array = array.squeeze([dim for dim in array.dims if dim not in dimensions and array.sizes[dim] == 1])
        if set(array.dims) != set(dimensions):
            found = ", ".join(map(str, array.dims))
            raise ArgumentError(
                f"scores have the dimensions {found}; {wanted} were expected: take one measure with "
                'scores.sel(measure="AP"), the panel with qrowd.panel_mean(scores)'
            )
        array = array.transpose(*dimensions)
        values = np.asarray(array.values, np.float64)
        names = tuple(tuple(map(str, array[dim].values)) for dim in dimensions)
    else:
        values = np.asarray(scores, np.float64)
        if values.ndim != len(dimensions):
            raise ArgumentError(f"scores of shape {values.shape}: an array ({wanted}) was expected")
        names = tuple(tuple(map(str, range(size))) for size in values.shape)
    return values, names


def number_of(name: str | int, names: Names, what: str) -> int:
    """Which one of the names, or of their numbers, this is."""
    if isinstance(name, str):
        if name in names:
            return names.index(name)
        raise ArgumentError(f"{what} {name!r} is not among the {what}s; {closest(name, names, what)}")
    if not 0 <= name < len(names):
        raise ArgumentError(f"{what} {name}: a number below {len(names)} was expected")
    return int(name)
