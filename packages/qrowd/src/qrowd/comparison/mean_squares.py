"""The scores of a panel as topics by assessors, and mean squares of their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.two_way import TwoWay, fitted, of_clusters, two_way, two_way_with_holes
from qrowd.model.scores import Names, clusters_in, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Over = Literal["both", "topics"]
Design = Literal["crossed", "partly crossed", "nested", "mostly nested", "one assessor"]


@dataclass(frozen=True, eq=False)
class Panel:
    """The cells (topic, assessor) in which systems have scores.

    Where topics are in clusters, these are the cells (cluster, assessor), `of_clusters`, and clusters stand for topics.

    values : (topics, assessors, systems), 0 where not known; `fitted` where more than two systems have holes. known :
    (topics, assessors).
    n_left_out : cells that lack the score of one of two systems.
    sampled : "topic" or "cluster". nested : the design of topics where it does not separate them from assessors.
    """

    topics: Names
    assessors: Names
    systems: Names
    values: Floats = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)
    n_left_out: int
    sampled: str = "topic"
    nested: Design | None = None

    @cached_property
    def design(self) -> Design:
        """How assessors and topics are crossed: completely, partly, or not at all."""
        if self.nested:
            return self.nested
        if len(self.assessors) == 1:
            return "one assessor"
        if self.known.all():
            return "crossed"
        if self._squares_of_one is not None:
            return "partly crossed"
        return "nested" if (self.known.sum(axis=0) == 1).all() else "mostly nested"

    @cached_property
    def components_known(self) -> bool:
        """Whether the variance components of topics and assessors can be separated."""
        return self.design in ("crossed", "partly crossed")

    @cached_property
    def assessor_df(self) -> int:
        """Degrees of freedom between assessors: their number less one, or less one for each connected group of them."""
        if self.design == "partly crossed" and self._squares_of_one is not None:
            return int(self._squares_of_one.df[1])
        return len(self.assessors) - 1 if self.design == "crossed" else 0

    @cached_property
    def _squares_of_one(self) -> TwoWay | None:
        """Mean squares of the first system in a table with holes; None where they cannot be separated."""
        return two_way_with_holes(self.values[:, :, :1], self.known)

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.topics)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.known.sum())

    @property
    def is_complete(self) -> bool:
        """Whether every assessor has every topic."""
        return bool(self.known.all())

    @cached_property
    def mean(self) -> Floats:
        """(systems,) mean over topics of the means over assessors."""
        return np.asarray(self.by_topic(self.values).mean(axis=0))

    @cached_property
    def scale(self) -> float:
        """What is smaller than this is rounding."""
        return 1e-12 * float(np.abs(self.values).max(initial=0.0))

    def pair_squares(self, first: Ints, second: Ints, *, topics: bool) -> TwoWay:
        """Mean squares of differences of systems, `first` and `second` (pairs,); `topics` as in `squares_of`."""
        return squares_of(self, self.values[:, :, first] - self.values[:, :, second], topics=topics)

    def centred_squares(self, *, topics: bool) -> TwoWay:
        """Mean squares of each system minus the mean of all; `topics` as in `squares_of`."""
        centred = np.where(self.known[:, :, None], self.values - self.values.mean(axis=2, keepdims=True), 0.0)
        return squares_of(self, centred, topics=topics)

    def by_topic(self, values: Floats) -> Floats:
        """(topics, columns) means over the assessors of (topics, assessors, columns) values, 0 where not known."""
        return np.asarray(values.sum(axis=1) / self.known.sum(axis=1)[:, None])

    def squares(self, values: Floats, *, products: bool = False) -> TwoWay:
        """Mean squares, or mean products, of (topics, assessors, columns) values; the design has components."""
        if self.known.all():
            squares: TwoWay | None = two_way(values, products=products)
        else:
            squares = two_way_with_holes(values, self.known, products=products)
        if squares is None:
            raise NoOverlapError(
                "scores: the effects of topics and assessors cannot be separated; method='topics' does not need it"
            )
        return squares


def panel_of(scores: AnyScores, systems: Sequence[int] = ()) -> Panel:
    """The panel of some systems, given by their numbers (default: all), by one measure.

    Two systems have the cells that they share. The holes of more are filled by an additive fit (`fitted`).

    Raises
    ------
    NoOverlapError
        Fewer than two topics; a system with scores on fewer than two topics, or that shares cells with no other.
    """
    values, (assessors, topics, names) = one_measure(scores)
    if systems:
        values, names = values[:, :, systems], tuple(names[i] for i in systems)
    values = fitted(values) if len(names) > 2 else values
    has: NDArray[np.bool_] = np.asarray(~np.isnan(values))
    known: NDArray[np.bool_] = np.asarray(has.all(axis=2))
    left_out = int((np.asarray(has.any(axis=2)) & ~known).sum())
    rows, columns = np.flatnonzero(known.any(axis=0)), np.flatnonzero(known.any(axis=1))
    if rows.size < 2:
        empty = [name for s, name in enumerate(names) if not has[:, :, s].any()]
        culprit = f"system {empty[0]!r} has no score" if empty else f"the systems share {rows.size} topic(s)"
        raise NoOverlapError(f"scores: {culprit}; 2 topics in which all {len(names)} systems have scores are needed")
    cells = known[columns][:, rows].T
    table = np.where(cells[:, :, None], values[columns][:, rows].transpose(1, 0, 2), 0.0)
    topics, assessors = tuple(topics[t] for t in rows), tuple(assessors[a] for a in columns)
    panel = Panel(topics, assessors, names, np.ascontiguousarray(table), cells, left_out)
    clusters = clusters_in(scores, rows)
    if clusters is None:
        return panel
    nested = None if panel.components_known else panel.design
    table, cells = of_clusters(panel.values, cells, clusters[0])
    return Panel(clusters[1], assessors, names, table, cells, left_out, "cluster", nested)


def squares_of(panel: Panel, values: Floats, *, topics: bool = False) -> TwoWay:
    """Mean squares of differences, 0 where only rounding is left; with `topics`, those of the topics' means alone."""
    if topics:
        by_topic = panel.by_topic(values)
        n_topics = by_topic.shape[0]
        ms = np.zeros((3, by_topic.shape[1]))
        ms[0] = by_topic.var(axis=0, ddof=1)
        squares = TwoWay(
            by_topic.mean(axis=0), ms, np.array([n_topics - 1.0, 1.0, 1.0]), np.full(3, 1 / n_topics), np.ones(2)
        )
    else:
        squares = panel.squares(values)
    return without_rounding(squares, panel.scale)


def without_rounding(squares: TwoWay, scale: float) -> TwoWay:
    """The same with 0 where only rounding is left."""
    mean = np.where(np.abs(squares.mean) <= scale, 0.0, squares.mean)
    ms = np.where(squares.ms <= scale**2, 0.0, squares.ms)
    return TwoWay(mean, ms, squares.df, squares.weights, squares.per)
