"""Scores by any measure after changes of single judgments, computed by scoring again.

The judgments of one assessor after each change are those of one more assessor, and `qrowd.evaluate` scores hundreds of
assessors at once. A change matters to its own topic alone, so that one such assessor takes a change of each topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from qrowd.errors import MeasureError
from qrowd.evaluation import evaluate
from qrowd.influence.cells import Change, cell_shares, check_conventions, gains_of_levels, levels_of, selected
from qrowd.kernels.arrays import Floats, Ints
from qrowd.measures.scoring import ByGain, Scored
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.panel import Coded, Panel
from qrowd.model.runs import Runs

AT_ONCE = 1 << 25  # judgments of all variants that are scored together
MOST_LEVELS = 255


@dataclass(frozen=True, eq=False)
class ScoredCells:
    """Scores of systems by any measure; cell t x assessors + a is topic t by assessor a.

    documents : (items,) labels of all judged documents, topic by topic. topic : (items,). level : (items, assessors)
    number of the value in `values`, -1 where not judged. lowest, highest : levels to which one judgment can change.
    share : (cells,) what a unit of a score adds to a mean; 0 where the assessor has no score. score : (systems, cells)
    today's, also of assessors who judged too few documents to have one; 0 where they judged none.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    assessors: tuple[str, ...]
    documents: tuple[str, ...]
    topic: Ints
    values: Floats
    level: Ints
    lowest: Ints
    highest: Ints
    share: Floats
    score: Floats
    runs: Runs
    panel: Panel
    measure: Measure
    conventions: Conventions

    @property
    def n_assessors(self) -> int:
        return len(self.assessors)

    @property
    def scale(self) -> Floats:
        """(cells,) what a unit of the score of a cell adds to a difference."""
        return self.share

    @cached_property
    def normaliser(self) -> Floats:
        """(cells,) what a score is still divided by: 1."""
        return np.ones(self.share.size)

    @cached_property
    def counts(self) -> Ints:
        """(cells, 1) documents that the assessor judged."""
        starts = self.panel.pool.starts[:-1]
        judged = np.add.reduceat(self.level >= 0, starts, axis=0, dtype=np.int64)
        return np.asarray(judged.reshape(-1, 1))

    @property
    def n_topics(self) -> int:
        """Topics in which anybody has a score."""
        return int((self.share.reshape(-1, self.n_assessors) > 0).any(axis=1).sum())

    @property
    def n_judgments(self) -> int:
        return int((self.level >= 0).sum())

    @cached_property
    def own_gains(self) -> Floats:
        """(items, assessors) gains of the judgments, or the values of a measure that is not made of gains."""
        gains = np.tile(self.values, (self.n_assessors, 1))
        if isinstance(self.measure.definition, ByGain):
            gains = gains_of_levels(self.measure, self.panel, self.values)
        own = gains[np.arange(self.n_assessors), np.maximum(self.level, 0)]
        return np.where(self.level >= 0, own, 0.0)

    @cached_property
    def means(self) -> Floats:
        """(systems,) means over topics of the means over assessors."""
        return np.asarray((self.score * self.share).sum(axis=1))

    def by_cell(self, first: int, second: int) -> Floats:
        """(cells,) what each cell adds to the difference of two systems."""
        return np.asarray((self.score[first] - self.score[second]) * self.share)

    def of_pair(self, first: int, second: int) -> ScoredCells:
        """The cells of these two systems alone."""
        names = self.systems[first], self.systems[second]
        runs = self.runs.select(systems=lambda name: name in names)
        score = self.score[[self.systems.index(name) for name in runs.systems]]
        return replace(self, systems=runs.systems, runs=runs, score=score)

    def cell(self, items: Ints, assessor: int) -> Ints:
        """(items,) numbers of the cells of this assessor's judgments."""
        return np.asarray(self.topic[items] * self.n_assessors + assessor)

    def moved(self, assessor: int, items: Ints, levels: Ints) -> Floats:
        """(systems, changes) what the score of the cell changes by if this judgment alone had this level.

        levels : -1 for a judgment that is missing.
        """
        place = places(self.topic[items])
        after = np.repeat(self.level[:, [assessor]], int(place.max(initial=-1)) + 1, axis=1)
        after[items, place] = levels
        scores = self.scores(assessor, after)[:, self.topic[items], place]
        return np.asarray(scores - self.score[:, self.cell(items, assessor)])

    def scores(self, assessor: int, levels: Ints) -> Floats:
        """(systems, topics, columns) scores of the assessor's topics with the judgments of each column.

        levels : (items, columns).
        """
        block = max(AT_ONCE // max(len(levels), 1), 1)
        parts = [self._scores(assessor, levels[:, begin : begin + block]) for begin in range(0, levels.shape[1], block)]
        return np.concatenate(parts, axis=2) if parts else np.zeros((len(self.systems), len(self.topics), 0))

    def _scores(self, assessor: int, levels: Ints) -> Floats:
        n = levels.shape[1]
        stored = np.append(self.values, np.nan)
        codes = np.where(levels < 0, self.values.size, levels)
        values = Coded(codes.astype(np.uint8), stored) if stored.size <= MOST_LEVELS else stored[codes]
        panel = Panel(self.panel.pool, tuple(map(str, range(n))), (self.panel.scales[assessor],) * n, values)
        return raw_scores(self.runs, panel, self.measure, self.conventions)


def scored_cells(
    runs: Runs,
    judgments: Judgments,
    measure: Measure,
    *,
    systems: Sequence[str] | None,
    change: Change | None,
    conventions: Conventions,
) -> ScoredCells:
    """The cells of these systems; arguments and errors as of `cells_of`, but for any measure of judgments."""
    chosen = selected(runs, systems)
    if not isinstance(measure.definition, Scored):
        raise MeasureError(f"{measure}: is a measure of preferences; use one of grades such as nDCG@10 or AP")
    check_conventions(measure, conventions)
    panel = conventions.graded(judgments).panel(repeats=conventions.repeats)
    share = cell_shares(evaluate(chosen, judgments, measure, conventions=conventions))
    pool = panel.pool
    return ScoredCells(
        chosen.systems,
        pool.topics,
        panel.assessors,
        tuple(pool.documents[d] for d in pool.document),
        np.repeat(np.arange(len(pool.topics)), np.diff(pool.starts)),
        *levels_of(panel, change),
        share,
        raw_scores(chosen, panel, measure, conventions).reshape(len(chosen.systems), -1),
        chosen,
        panel,
        measure,
        conventions,
    )


def raw_scores(runs: Runs, panel: Panel, measure: Measure, conventions: Conventions) -> Floats:
    """(systems, topics, assessors) scores, however few documents an assessor judged; 0 where there is none."""
    conventions = replace(conventions, min_coverage=0.0, grades="as-is")
    scores = evaluate(runs, panel, measure, conventions=conventions).values[0]
    return np.asarray(np.nan_to_num(scores.transpose(2, 1, 0)))


def places(groups: Ints) -> Ints:
    """(rows,) how many rows of the same group came before each."""
    by = groups.argsort(kind="stable")
    ordered = groups[by]
    heads = np.flatnonzero(np.diff(ordered, prepend=-1))
    place = np.empty(groups.size, np.int64)
    place[by] = np.arange(groups.size) - np.repeat(heads, np.diff(np.append(heads, groups.size)))
    return place
