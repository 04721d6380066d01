"""Scores: what every system scored, for every assessor, on every topic, by every measure.

To users they are an xarray.DataArray; `Scores` is the same as plain arrays, for code on the way there and for the
command line, which would spend more time on importing xarray than on scoring. A cell is nan where an assessor has no
score. Means over a panel go over assessors within each topic first and over topics then, so that a topic many people
judged weighs no more than one that few did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]
DIMENSIONS = ("measure", "assessor", "topic", "system")


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores with their labels and how they came about.

    values : (measures, assessors, topics, systems).
    relevant : (measures, assessors, topics) how many documents the measure could have rewarded.
    coverage : (assessors, topics) share of the topic's pool the assessor judged.
    attributes : the conventions in force and the facts behind them; `attrs` of the DataArray.
    """

    measures: tuple[str, ...]
    assessors: tuple[str, ...]
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    values: Floats
    relevant: Floats
    coverage: Floats
    attributes: Mapping[str, Any]

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """(measures, assessors, topics) where the assessor has a score."""
        return np.asarray(~np.isnan(self.values).all(axis=3))

    def of(self, measure: str) -> Floats:
        """(assessors, topics, systems) scores of one measure."""
        return np.asarray(self.values[self.measures.index(measure)])

    def only(self, measures: tuple[str, ...]) -> Scores:
        """Some of the measures."""
        rows = [self.measures.index(name) for name in measures]
        return replace(self, measures=measures, values=self.values[rows], relevant=self.relevant[rows])

    def to_xarray(self) -> xarray.DataArray:
        """A DataArray (measure, assessor, topic, system) with coordinates `relevant` and `coverage`."""
        import xarray

        labels = (self.measures, self.assessors, self.topics, self.systems)
        coords: dict[str, Any] = {dim: list(names) for dim, names in zip(DIMENSIONS, labels, strict=True)}
        coords["relevant"] = (DIMENSIONS[:3], self.relevant)
        coords["coverage"] = (DIMENSIONS[1:3], self.coverage)
        return xarray.DataArray(self.values, dims=DIMENSIONS, coords=coords, name="score", attrs=dict(self.attributes))

    @classmethod
    def from_xarray(cls, scores: xarray.DataArray) -> Scores:
        """Back from what `to_xarray` made, or from any array with these four dimensions."""
        ordered = scores.transpose(*DIMENSIONS)
        measures, assessors, topics, systems = (tuple(map(str, ordered[dim].values)) for dim in DIMENSIONS)
        known = ~np.isnan(ordered.values)
        relevant = ordered.coords["relevant"].values if "relevant" in ordered.coords else np.ones(known.shape[:3])
        coverage = (
            ordered.coords["coverage"].values
            if "coverage" in ordered.coords
            else known.any(axis=(0, 3)).astype(np.float64)
        )
        return cls(measures, assessors, topics, systems, ordered.values, relevant, coverage, ordered.attrs)


def known_mean(values: Floats, axis: int) -> Floats:
    """Mean over an axis of the values that are not nan; nan where none is."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def known_error(values: Floats, axis: int) -> Floats:
    """Standard error of `known_mean`; nan for fewer than two values."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    mean = np.expand_dims(known_mean(values, axis=axis), axis)
    squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(count > 1, np.sqrt(squares / (count - 1) / count), np.nan))


def rankable(scores: Floats) -> Floats:
    """Scores to 12 decimals: those that differ by rounding are no two ranks."""
    return np.ascontiguousarray(np.round(scores, 12), np.float64)


def interpolated(table: Floats) -> Floats:
    """Missing scores (nan) of (topics, systems, ...) replaced by the mean of the topic's and the system's others.

    A score stays missing where its topic and its system have no other. Maddalena, Roitero, Demartini & Mizzaro (2017),
    Considering Assessor Agreement in IR Evaluation. ICTIR, section 3.3.
    """
    known = ~np.isnan(table)
    filled = np.where(known, table, 0.0)
    total = filled.sum(axis=1, keepdims=True) + filled.sum(axis=0, keepdims=True)
    count = known.sum(axis=1, keepdims=True) + known.sum(axis=0, keepdims=True)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return np.asarray(np.where(known, table, mean))


def panel_mean(scores: xarray.DataArray) -> xarray.DataArray:
    """Mean over the assessors that have a score, topic by topic: (..., topic, system)."""
    return scores.mean("assessor", skipna=True)
