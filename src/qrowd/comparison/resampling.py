"""A panel's scores as topics by assessors, and its bootstrap over topics, or over topics and assessors.

Owen (2007), The Pigeonhole Bootstrap. Annals of Applied Statistics 1(2), 386-411: topics and assessors are drawn with
replacement, independently of each other, and a cell counts as often as its topic times as often as its assessor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.two_way import two_way, two_way_with_holes, weighted_means
from qrowd.model.chance import Chance, Rng
from qrowd.model.labels import number_of
from qrowd.model.scores import Floats, Names, one_measure
from qrowd.threads import in_threads

if TYPE_CHECKING:
    from qrowd.kernels.two_way import TwoWay
    from qrowd.model.scores import AnyScores

Over = Literal["both", "topics"]
Design = Literal["crossed", "partly crossed", "nested", "mostly nested", "one assessor"]
BLOCK = 500  # replicates of one stream: what a thread does at a time, so that threads change no figure


@dataclass(frozen=True, eq=False)
class Panel:
    """The cells (topic, assessor) in which every system at hand has a score.

    values : (topics, assessors, systems), 0 where not known. known : (topics, assessors).
    n_left_out : cells that lack the score of some system but not of all.
    """

    topics: Names
    assessors: Names
    systems: Names
    values: Floats = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)
    n_left_out: int

    @property
    def design(self) -> Design:
        """How assessors meet topics: all cells are there, or which holes there are."""
        if len(self.assessors) == 1:
            return "one assessor"
        if self.known.all():
            return "crossed"
        if two_way_with_holes(self.values[:, :, :1], self.known) is not None:
            return "partly crossed"
        return "nested" if (self.known.sum(axis=0) == 1).all() else "mostly nested"

    @property
    def components_known(self) -> bool:
        """Whether topics and assessors can be told apart."""
        return self.design in ("crossed", "partly crossed")

    @property
    def assessor_df(self) -> int:
        """Degrees of freedom between assessors: one fewer than there are, or than there are in all groups together."""
        return int(self.squares(self.values[:, :, :1]).df[1]) if self.components_known else 0

    def by_topic(self, values: Floats) -> Floats:
        """(topics, columns) means over the assessors of (topics, assessors, columns) values, 0 where not known."""
        return np.asarray(values.sum(axis=1) / self.known.sum(axis=1)[:, None])

    def squares(self, values: Floats, *, products: bool = False) -> TwoWay:
        """Mean squares, or mean products, of (topics, assessors, columns) values; the design has components."""
        if self.known.all():
            found: TwoWay | None = two_way(values, products=products)
        else:
            found = two_way_with_holes(values, self.known, products=products)
        if found is None:
            raise NoOverlapError("scores: topics and assessors cannot be told apart; method='topics' needs no more")
        return found


def panel_of(scores: AnyScores, systems: tuple[str | int, ...] = ()) -> Panel:
    """The panel of some systems, all of them by default; (assessor, topic, system) scores of one measure.

    Raises
    ------
    ArgumentError
        A system nobody has.
    NoOverlapError
        No cell, or one topic only, in which all the systems have scores.
    """
    values, (assessors, topics, names) = one_measure(scores)
    if systems:
        which = [number_of(name, names, "system") for name in systems]
        values, names = values[:, :, which], tuple(names[i] for i in which)
    has: NDArray[np.bool_] = np.asarray(~np.isnan(values))
    known: NDArray[np.bool_] = np.asarray(has.all(axis=2))
    left_out = int((np.asarray(has.any(axis=2)) & ~known).sum())
    rows, columns = np.flatnonzero(known.any(axis=0)), np.flatnonzero(known.any(axis=1))
    if rows.size < 2:
        empty = [name for s, name in enumerate(names) if not has[:, :, s].any()]
        culprit = f"system {empty[0]!r} has no score" if empty else f"the systems share {rows.size} topic(s)"
        raise NoOverlapError(f"scores: {culprit}; 2 topics in which all {len(names)} systems have scores are needed")
    kept = known[columns][:, rows].T
    table = np.where(kept[:, :, None], values[columns][:, rows].transpose(1, 0, 2), 0.0)
    topics, assessors = tuple(topics[t] for t in rows), tuple(assessors[a] for a in columns)
    return Panel(topics, assessors, names, np.ascontiguousarray(table), kept, left_out)


def replicate_means(panel: Panel, n_resamples: int, over: Over, rng: Rng, threads: int | None = None) -> Floats:
    """(n_resamples, systems) means of the panel under n_resamples draws of topics, and of assessors too where over="both".

    The mean runs over assessors within each topic first, over topics then; a topic none of whose assessors was drawn is
    left out of its replicate. Every block of 500 replicates has a stream of its own, so that the number of threads
    changes no bit.
    """
    if n_resamples < 2:
        raise ArgumentError(f"n_resamples={n_resamples}: at least 2 replicates were expected")
    chance = Chance.of(rng)

    def block(number: int) -> Floats:
        random, rows = chance.stream("two-way", number), min(BLOCK, n_resamples - number * BLOCK)
        topics = drawn(len(panel.topics), rows, random)
        assessors = (
            drawn(len(panel.assessors), rows, random) if over == "both" else np.ones((rows, panel.known.shape[1]))
        )
        while over == "both" and (empty := ~((topics > 0) @ panel.known * (assessors > 0)).any(axis=1)).any():
            topics[empty] = drawn(len(panel.topics), int(empty.sum()), random)
            assessors[empty] = drawn(len(panel.assessors), int(empty.sum()), random)
        return weighted_means(panel.values, panel.known, topics, assessors)

    return np.concatenate(list(in_threads(block, range(-(-n_resamples // BLOCK)), threads)))


def drawn(kinds: int, rows: int, random: np.random.Generator) -> Floats:
    """(rows, kinds) how often each comes up when as many are drawn with replacement as there are."""
    which = random.integers(kinds, size=(rows, kinds)) + kinds * np.arange(rows)[:, None]
    return np.bincount(which.ravel(), minlength=rows * kinds).reshape(rows, kinds).astype(np.float64)
