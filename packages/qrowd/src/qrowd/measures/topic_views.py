"""What measures read: one topic, or several topics at once by their documents' gains alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import frexp, prod
from threading import local

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import MeasureError
from qrowd.kernels import gains as kernels
from qrowd.kernels import ranking
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.alignment import PooledLists
from qrowd.model.measure import Measure
from qrowd.model.panel import Coded, Panel


@dataclass(eq=False)
class TopicView:
    """One topic as measures read it.

    rows : (systems, depth) int32, row of `values` at each rank, -1 for unpooled documents and beyond the list's end.
    values : (documents, assessors) float64, nan where not judged.
    panel : the assessors these values are of, with their scales.
    tied : (systems, depth) bool, True where a document shares the score of the one above; given for expected scores.
    everyone : the view of the whole panel where this one shows only some assessors; recall_base='union' asks it.
    lengths : (systems,) how many documents each system returned; default: as many as there are columns.
    """

    rows: Codes
    values: Floats
    panel: Panel
    tied: Bools | None = None
    everyone: TopicView | None = None
    lengths: Ints | None = None
    _memo: dict[object, Floats] = field(default_factory=dict)
    _alone: dict[int, TopicView] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        return int(self.rows.shape[1])

    def length(self, system: int) -> int:
        """How many documents the system returned."""
        return self.depth if self.lengths is None else int(self.lengths[system])

    def remember(self, key: object, make: Callable[[], Floats]) -> Floats:
        """make() the first time; measures of one evaluation share what they read."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    @cached_property
    def part(self) -> Part:
        """The topic as a part of its own."""
        return Part.of_topic(self)

    def condensed(self, assessor: int) -> TopicView:
        """One assessor's view with the documents he or she has not judged taken out of every ranking (Sakai 2007)."""
        if assessor in self._alone:
            return self._alone[assessor]
        values = np.ascontiguousarray(self.values[:, [assessor]])
        ties = np.zeros(self.rows.shape, bool) if self.tied is None else self.tied
        rows, tied = ranking.condensed(self.rows, ties, ~np.isnan(values[:, 0]))
        panel = self.panel.part(slice(assessor, assessor + 1))
        self._alone[assessor] = TopicView(
            rows,
            values,
            panel,
            None if self.tied is None else tied,
            self.everyone or self,
            (rows >= 0).sum(axis=1),
        )
        return self._alone[assessor]

    def judged(self) -> Floats:
        """(documents, assessors) 1 where judged, else 0."""
        return self.remember("judged", lambda: np.equal(self.values, self.values, out=np.empty_like(self.values)))

    def grades(self) -> Floats:
        """(documents, assessors) values, 0 where not judged."""
        return self.remember("grades", lambda: np.fmax(self.values, 0.0))

    def probabilities(self, measure: Measure) -> Floats:
        """(documents, assessors) probability that a user finds the document relevant, the value; 0 where not judged."""
        return self.checked_probabilities(measure, self.grades(), of="relevance", option="relevance")

    def checked_probabilities(self, measure: Measure, grades: Floats, *, of: str, option: str) -> Floats:
        """The (documents, assessors) grades if none is above 1.

        of, option : for the message, what they are probabilities of and the parameter that says so.
        """
        highest = grades.max(axis=0, initial=0.0)
        if (highest > 1).any():
            who = self.panel.assessors[int(highest.argmax())]
            raise MeasureError(
                f"{measure}: assessor {who} gives {highest.max():g}, which is no probability of {of}; recode it "
                f"to 1 or below, or leave {option} out"
            )
        return grades

    def relevant(self, measure: Measure) -> Floats:
        """(documents, assessors) 1 where the value reaches the measure's `rel`, else 0."""
        return self.remember(
            ("relevant", measure["rel"]),
            lambda: np.greater_equal(self.values, self.lowest_relevant(measure), out=np.empty_like(self.values)),
        )

    def n_relevant(self, measure: Measure) -> Floats:
        """(assessors,) how many documents reach the measure's `rel`."""
        relevant = self.relevant(measure)
        return self.remember(("n_relevant", measure["rel"]), lambda: np.asarray(relevant.sum(axis=0)))

    def lowest_relevant(self, measure: Measure) -> Floats:
        """(assessors,) from which value on a document is relevant: `rel`, else what each scale says."""
        rel = measure["rel"]
        lowest = self.panel.rel
        if rel is not None:
            return np.full(lowest.size, float(rel))  # type: ignore[arg-type]
        if np.isnan(lowest).any():
            raise MeasureError(
                f"{measure}: assessor {self.panel.assessors[int(np.isnan(lowest).argmax())]} gives magnitudes, so "
                f"nothing says what counts as relevant; write {measure.definition.name}(rel=...), or take nDCG@10"
            )
        return lowest

    def maximum(self, measure: Measure, grades: Floats) -> Floats:
        """(assessors,) the highest grade possible: the measure's `max_rel`, else each scale's maximum.

        max_rel="topic": of a scale without a maximum, the highest grade of the assessor in this topic.
        """
        max_rel = measure["max_rel"]
        name = measure.definition.name
        highest = grades.max(axis=0, initial=0.0)
        if max_rel is None:
            maximum = self.panel.maximum
        elif max_rel == "topic":
            maximum = np.where(np.isinf(self.panel.maximum), np.where(highest > 0, highest, 1.0), self.panel.maximum)
        else:
            maximum = np.full(grades.shape[1], float(max_rel))  # type: ignore[arg-type]
        wrong = np.isinf(maximum) | (highest > maximum)
        if wrong.any():
            a = int(wrong.argmax())
            assessor = self.panel.assessors[a]
            if np.isinf(maximum[a]):
                raise MeasureError(
                    f"{measure}: assessor {assessor} gives magnitudes, which have no maximum; "
                    f"write {name}(max_rel=topic), {name}(max_rel=...) or recode them"
                )
            raise MeasureError(
                f"{measure}: assessor {assessor} gives {highest[a]:g}, above the maximum {maximum[a]:g}; "
                f"write {name}(max_rel={highest[a]:g}) or recode"
            )
        return maximum


class _Scratch(local):
    """Memory of each thread that parts take one after the other, because new memory costs more than filling it."""

    def __init__(self) -> None:
        self._blocks: list[Floats] = []

    def array(self, number: int, shape: tuple[int, ...]) -> Floats:
        """An array of this shape in the block of that number."""
        size = prod(shape)
        if number == len(self._blocks):
            self._blocks.append(np.empty(0))
        if self._blocks[number].size < size:
            self._blocks[number] = np.empty(size)
        return self._blocks[number][:size].reshape(shape)


_scratch = _Scratch()


@dataclass(eq=False)
class Levels:
    """The values that a panel's codes stand for, as a topic of one document per value and one assessor per scale."""

    coded: Coded
    view: TopicView
    of_assessor: Ints  # (assessors,) column of `view`

    @classmethod
    def of(cls, panel: Panel) -> Levels | None:
        """None for a panel without codes."""
        if panel.coded is None:
            return None
        objects = {id(scale): scale for scale in panel.scales}  # most assessors share one, and comparing takes longer
        number: dict[object, int] = {}
        number_of = {key: number.setdefault(scale, len(number)) for key, scale in objects.items()}
        of_assessor = np.array([number_of[id(scale)] for scale in panel.scales], np.int64)
        first = [int(np.argmax(of_assessor == k)) for k in range(len(number))]
        values = np.repeat(panel.coded.levels[:, None], len(first), axis=1)
        if len(first) > 1:
            for k in range(len(first)):
                used = np.bincount(panel.coded.codes[:, of_assessor == k].ravel(), minlength=len(values))
                values[used == 0, k] = np.nan
        few = Panel(panel.pool, tuple(panel.assessors[a] for a in first), tuple(panel.scales[a] for a in first), values)
        return cls(panel.coded, TopicView(np.empty((0, 0), np.int32), values, few), of_assessor)


@dataclass(eq=False)
class Part:
    """Some topics of a panel, for measures to which a document is its gain: a function of its value and the scale.

    lists : the rankings of these topics.
    view : the documents of all these topics as if they were of one; not read where there are levels.
    levels : of a panel with codes, codes : (documents, assessors) of these topics.
    everyone : the same topics for the whole panel, where this part shows only some assessors.
    reuses : whether its gains are kept in memory of the thread, which the next such part overwrites.
    """

    lists: PooledLists
    view: TopicView
    levels: Levels | None = None
    codes: NDArray[np.uint8] | None = None
    everyone: Part | None = None
    reuses: bool = False
    _n_arrays: int = 0
    _memo: dict[object, Gains] = field(default_factory=dict)
    _matrices: dict[bytes, Floats] = field(default_factory=dict)

    @classmethod
    def of_topic(cls, view: TopicView) -> Part:
        """A topic as a part of its own."""
        everyone = None if view.everyone is None else cls.of_topic(view.everyone)
        rows, tied = view.rows, view.tied
        system, rank = np.nonzero(rows >= 0)
        starts = np.append(0, np.cumsum(np.bincount(system, minlength=rows.shape[0])))
        documents = np.array([0, view.values.shape[0]])
        lists = PooledLists(starts, rank.astype(np.int32), rows[system, rank], documents, rows.shape[0])
        if tied is not None:
            depth = rows.shape[1]
            heads = np.append(np.flatnonzero(~tied), tied.size)
            group = (np.cumsum(~tied) - 1)[system * depth + rank]
            first = heads[group] - system * depth
            last = heads[group + 1] - 1 - system * depth
            lists = replace(lists, first=first.astype(np.int32), last=last.astype(np.int32))
        return cls(lists, view, everyone=everyone)

    @classmethod
    def of_panel(
        cls, lists: PooledLists, panel: Panel, pairs: slice, levels: Levels | None, *, reuses: bool = False
    ) -> Part:
        """The pairs of a panel that are of some topics."""
        none = np.empty((0, 0), np.int32)
        if levels is None:
            values = np.ascontiguousarray(panel.values[pairs])
            return cls(lists, TopicView(none, values, panel))
        return cls(lists, levels.view, levels, np.ascontiguousarray(levels.coded.codes[pairs]), reuses=reuses)

    @property
    def n_assessors(self) -> int:
        return int((self.view.values if self.codes is None else self.codes).shape[1])

    def memory(self, shape: tuple[int, int]) -> Floats:
        """An array for gains, not filled in."""
        self._n_arrays += 1
        return _scratch.array(self._n_arrays - 1, shape) if self.reuses else np.empty(shape)

    def gains(self, read: Callable[[TopicView], Floats]) -> Gains:
        """What `read` makes of each value; measures that make the same of them share it."""
        values = read(self.view)
        key = id(values) if self.levels is None else values.tobytes()
        if key not in self._memo:
            self._memo[key] = Gains(self, values)
        return self._memo[key]

    def matrix(self, table: Floats) -> Floats:
        """(documents, assessors) what a table (levels, scales) makes of each code."""
        assert self.levels is not None
        assert self.codes is not None
        key = table.tobytes()
        if key not in self._matrices:
            matrix = self._matrices[key] = self.memory(self.codes.shape)
            kernels.look_up(self.codes, np.ascontiguousarray(table.T), self.levels.of_assessor, matrix)
        return self._matrices[key]

    def coverage(self) -> Floats:
        """(topics, assessors) share of the documents of each topic that the assessor judged."""
        judged = self.gains(TopicView.judged).totals
        return judged / np.diff(self.lists.documents)[:, None]

    @cached_property
    def counts(self) -> Codes:
        """(topics, levels, assessors) how many documents have each code."""
        assert self.levels is not None
        assert self.codes is not None
        shape = self.lists.n_topics, self.levels.coded.levels.size, self.n_assessors
        counts = np.zeros(shape, np.int32)
        kernels.level_counts(self.codes, self.lists.documents, counts)
        return counts


@dataclass(eq=False)
class Gains:
    """Gains of the documents of a part.

    values : (documents, assessors), or for a part with levels (levels, scales).
    """

    part: Part
    values: Floats

    @cached_property
    def matrix(self) -> Floats:
        """(documents, assessors)."""
        return self.values if self.part.levels is None else self.part.matrix(self.values)

    @cached_property
    def unit(self) -> float:
        """A power of two to divide gains by, so that yes and no gain 1 and 0 by every measure; 1 without levels."""
        highest = 0.0 if self.part.levels is None else float(self.values.max(initial=0.0))
        return 2.0 ** (frexp(highest)[1] - 1) if highest else 1.0

    @cached_property
    def in_units(self) -> Floats:
        """(documents, assessors) gains divided by `unit`, which is exact; measures share it more often than gains."""
        return self.values if self.part.levels is None else self.part.matrix(self.values / self.unit)

    @cached_property
    def totals(self) -> Floats:
        """(topics, assessors) sum over the documents of each topic."""
        return self._sums(self.values)

    @cached_property
    def n_positive(self) -> Floats:
        """(topics, assessors) how many documents of each topic gain anything."""
        return self._sums((self.values > 0).astype(np.float64))

    def ideal(self, coefficients: Floats) -> Floats:
        """(topics, assessors) the weighted sum of gains sorted from the highest, for non-increasing coefficients."""
        part = self.part
        cumulated = np.concatenate([[0.0], np.cumsum(coefficients)])
        best = np.empty((part.lists.n_topics, part.n_assessors))
        if part.levels is not None:
            order = np.ascontiguousarray(np.argsort(-self.values, axis=0, kind="stable").T)
            table = np.ascontiguousarray(self.values.T)
            kernels.ideal_of_counts(part.counts, table, order, part.levels.of_assessor, cumulated, best)
            return best
        kernels.ideal_sums(self.values, part.lists.documents, cumulated, best)
        for t, a in np.argwhere(np.isnan(best)).tolist():
            own = self.values[part.lists.documents[t] : part.lists.documents[t + 1], a]
            ordered = np.sort(own)[::-1][: coefficients.size]
            best[t, a] = coefficients[: ordered.size] @ ordered
        return best

    def _sums(self, values: Floats) -> Floats:
        part = self.part
        if part.levels is None:
            return kernels.topic_sums(part.lists.documents, values)
        sums = np.empty((part.lists.n_topics, part.n_assessors))
        kernels.sums_of_counts(part.counts, np.ascontiguousarray(values.T), part.levels.of_assessor, sums)
        return sums
