"""Scores of systems by the judgments of each topic and assessor, and what they become when judgments change.

A cell is a topic as one assessor judged it. The difference of two systems is the mean over topics of the means over the
assessors who have a score there, so that a cell has the share 1 / (topics x assessors of the topic).

The judgments of one assessor after each change are those of one more assessor, and `qrowd.evaluate` scores hundreds of
assessors at once. A change matters to its own topic alone, so that one such assessor takes a change of each topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, MeasureError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.measures.measure_kinds import ByGain, Scored, TopicView
from qrowd.model.alignment import align
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import number_of
from qrowd.model.measure import Measure
from qrowd.model.panel import Coded, Panel, Pool
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale

Change = Literal["grade", "panel"]
ROUNDING = 1e-12  # differences of less are 0
FIXED = ("ties", "unjudged", "missing", "empty", "duplicates")  # conventions that must have their default
AT_ONCE = 1 << 25  # judgments of all variants that are scored together
MOST_LEVELS = 255


@dataclass(frozen=True, eq=False)
class Cells:
    """Systems and judgments; cell t x assessors + a is topic t by assessor a.

    documents : (items,) labels of all judged documents, topic by topic. topic : (items,). level : (items, assessors)
    number of the value in `values`, -1 where not judged. lowest, highest : levels to which one judgment can change.
    gains : (assessors, levels) of the values, or the values where the measure is not made of gains. share : (cells,)
    what a unit of a score adds to a mean; 0 where the assessor has not scored all systems. score : (systems, cells)
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
    gains: Floats
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
    def n_topics(self) -> int:
        """Topics in which anybody has a score."""
        return int((self.share.reshape(-1, self.n_assessors) > 0).any(axis=1).sum())

    @cached_property
    def counts(self) -> Ints:
        """(topics, assessors) documents that each judged."""
        return np.add.reduceat(self.level >= 0, self.panel.pool.starts[:-1], axis=0, dtype=np.int64)

    @cached_property
    def judgment_gains(self) -> Floats:
        """(items, assessors) gains of the judgments; 0 where not judged."""
        gains = self.gains[np.arange(self.n_assessors), np.maximum(self.level, 0)]
        return np.where(self.level >= 0, gains, 0.0)

    @cached_property
    def means(self) -> Floats:
        """(systems,) means over topics of the means over assessors."""
        return np.asarray((self.score * self.share).sum(axis=1))

    def by_cell(self, first: int, second: int) -> Floats:
        """(cells,) what each cell adds to the difference of two systems."""
        return np.asarray((self.score[first] - self.score[second]) * self.share)

    def of_pair(self, first: int, second: int) -> Cells:
        """The cells of these two systems alone."""
        names = self.systems[first], self.systems[second]
        runs = self.runs.select(systems=lambda name: name in names)
        score = self.score[[self.systems.index(name) for name in runs.systems]]
        return replace(self, systems=runs.systems, runs=runs, score=score)

    def cell(self, items: Ints, assessors: Ints) -> Ints:
        """(judgments,) numbers of the cells of these assessors' judgments."""
        return np.asarray(self.topic[items] * self.n_assessors + assessors)

    def items_of(self, judgments: Judgments) -> Ints:
        """(rows,) numbers of the documents of judgments that were read as the cells' were."""
        numbers = self.topic * len(judgments.documents) + self.panel.pool.document
        return np.searchsorted(numbers, judgments.pair_numbers)

    @cached_property
    def is_ranked(self) -> Bools:
        """(items,) whether a system ranks the document where the measure looks."""
        lists = align(self.runs, self.panel.pool).lists
        cutoff = None if self.measure.values.get("judged_only") else self.measure.cutoff
        ranked = np.zeros(self.topic.size, bool)
        ranked[lists.row if cutoff is None else lists.row[lists.rank < cutoff]] = True
        return ranked

    def moved(self, items: Ints, assessors: Ints, levels: Ints) -> Floats:
        """(systems, changes) what the score of the cell changes by if this judgment alone had this level.

        levels : -1 for a judgment that is missing. Equal changes of documents that no system ranks are scored once.
        """
        n_levels = self.values.size + 1
        number = np.where(self.is_ranked[items], items, self.topic.size + self.topic[items])
        for more, n in (
            (assessors, self.n_assessors),
            (self.level[items, assessors] + 1, n_levels),
            (levels + 1, n_levels),
        ):
            number = number * n + more
        _, different, same = np.unique(number, return_index=True, return_inverse=True)
        items, assessors, levels = items[different], assessors[different], levels[different]
        scores = self.scores_after(items, assessors, levels, cumulated=False)
        return np.asarray(scores - self.score[:, self.cell(items, assessors)])[:, same]

    def scores_after(self, items: Ints, assessors: Ints, levels: Ints, *, cumulated: bool) -> Floats:
        """(systems, changes) score of the cell after each change of a judgment.

        cumulated : whether the changes of a cell stay for the next ones.
        """
        place = places(self.cell(items, assessors))
        scores = np.empty((len(self.systems), items.size))
        for a in np.unique(assessors).tolist():
            chosen = np.flatnonzero(assessors == a)
            item, at = items[chosen], place[chosen]
            after = np.repeat(self.level[:, [a]], int(at.max()) + 1, axis=1)
            if cumulated:
                for i, p, level in zip(item.tolist(), at.tolist(), levels[chosen].tolist(), strict=True):
                    after[i, p:] = level
            else:
                after[item, at] = levels[chosen]
            block = max(AT_ONCE // max(len(after), 1), 1)
            parts = [self._scores(a, after[:, n : n + block]) for n in range(0, after.shape[1], block)]
            scores[:, chosen] = np.concatenate(parts, axis=2)[:, self.topic[item], at]
        return scores

    def _scores(self, assessor: int, levels: Ints) -> Floats:
        """(systems, topics, columns) scores with the judgments of each column, which are of this assessor."""
        stored = np.append(self.values, np.nan)
        codes = np.where(levels < 0, self.values.size, levels)
        values = Coded(codes.astype(np.uint8), stored) if stored.size <= MOST_LEVELS else stored[codes]
        names = tuple(map(str, range(levels.shape[1])))
        panel = Panel(self.panel.pool, names, (self.panel.scales[assessor],) * len(names), values)
        return _raw_scores(self.runs, panel, self.measure, self.conventions)


def cells_of(
    runs: Runs,
    judgments: Judgments,
    measure: Measure,
    *,
    systems: Sequence[str] | None,
    change: Change | None,
    conventions: Conventions,
) -> Cells:
    """The cells of these systems. change : what a judgment can become; None: what it is, of any scale.

    Raises
    ------
    MeasureError
        A measure of preferences, one that joins the assessors, or by which no change matters.
    ArgumentError
        Judgments without grades, assessors on different scales for change="panel", fewer than two systems.
    """
    if systems is not None:
        for name in systems:
            number_of(name, runs.systems, "system")
        runs = runs.select(systems=lambda name: name in systems)
    if len(runs.systems) < 2:
        raise ArgumentError(f"runs: {len(runs.systems)} system(s); at least 2 are needed for a difference")
    if not isinstance(measure.definition, Scored):
        raise MeasureError(f"{measure}: is a measure of preferences; use one of grades such as nDCG@10 or AP")
    _check_conventions(measure, conventions)
    panel = conventions.graded(judgments).panel(repeats=conventions.repeats)
    scores = evaluate(runs, judgments, measure, conventions=conventions).values[0]
    has_score = ~np.isnan(scores).any(axis=2).T  # (topics, assessors), of all systems
    n_assessors = has_score.sum(axis=1, keepdims=True)
    n_topics = max(int((n_assessors > 0).sum()), 1)
    share = np.where(has_score, 1 / np.maximum(n_assessors, 1) / n_topics, 0.0)
    values, level, lowest, highest = _levels(panel, change)
    gains = _gains(measure, panel, values)
    if change is not None and (gains == gains[:, :1]).all():
        raise MeasureError(f"{measure}: gives every judgment the same gain, so that no change of one matters")
    pool = panel.pool
    return Cells(
        runs.systems,
        pool.topics,
        panel.assessors,
        tuple(pool.documents[d] for d in pool.document),
        pool.topic,
        values,
        level,
        lowest,
        highest,
        gains,
        share.ravel(),
        _raw_scores(runs, panel, measure, conventions).reshape(len(runs.systems), -1),
        runs,
        panel,
        measure,
        conventions,
    )


def _raw_scores(runs: Runs, panel: Panel, measure: Measure, conventions: Conventions) -> Floats:
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


def _check_conventions(measure: Measure, conventions: Conventions) -> None:
    """Refuse what joins assessors or topics, so that a judgment would not matter to its own topic alone."""
    if measure.values.get("recall_base") == "union":
        raise MeasureError(f"{measure}: recall_base='union' joins the assessors; write recall_base='own' or a number")
    for name in FIXED:
        if getattr(conventions, name) != getattr(Conventions(), name):
            raise ArgumentError(
                f"conventions: {name}={getattr(conventions, name)!r} is not supported here; leave {name} at its default"
            )


def check_panel(assessors: Sequence[str], scales: Sequence[Scale], argument: str) -> None:
    """Refuse a panel of one assessor, or of several scales. argument : what the message begins with."""
    kinds = {(scale.kind if scale.maximum != 1 else "up to 1", scale.maximum) for scale in scales}
    if len(assessors) < 2:
        raise ArgumentError(f"{argument}: the judgments are of one assessor; at least 2 are needed")
    if len(kinds) > 1:
        names = ", ".join(sorted({str(scale) for scale in scales}))
        raise ArgumentError(
            f"{argument}: the assessors judged on different scales ({names}); declare one scale for all, or "
            "divide grades by the maximum of their scale: grades='rescaled'"
        )


def _levels(panel: Panel, change: Change | None) -> tuple[Floats, Ints, Ints, Ints]:
    """The possible values, and of each judgment its level and the lowest and highest it can change to."""
    given = panel.values[~np.isnan(panel.values)]
    if change is None:
        values = np.unique(given) if given.size else np.zeros(1)
    elif change == "panel":
        check_panel(panel.assessors, panel.scales, "change='panel'")
        ends = [0.0, *(scale.maximum for scale in panel.scales if np.isfinite(scale.maximum))]
        values = np.unique(np.append(given, ends))
    else:
        for name, scale in zip(panel.assessors, panel.scales, strict=True):
            if scale.kind not in ("binary", "graded"):
                raise ArgumentError(f"{name} judged on the scale {scale}; whole grades are needed", "change", change)
        if (given % 1 != 0).any():
            raise ArgumentError(
                f"change={change!r}: a judgment is {given[given % 1 != 0][0]:g}, the mean of repeated ones; whole "
                "grades are needed, as with Conventions(repeats='first')"
            )
        values = np.arange(max(scale.maximum for scale in panel.scales) + 1.0)
    judged = ~np.isnan(panel.values)
    level = np.where(judged, np.searchsorted(values, np.where(judged, panel.values, values[0])), -1)
    if change == "panel":
        low = np.where(judged, level, values.size).min(axis=1, keepdims=True)
        high = level.max(axis=1, keepdims=True)
    elif change is None:
        low = high = level
    else:
        low, high = np.zeros((len(level), 1), np.int64), np.array([[int(scale.maximum) for scale in panel.scales]])
    return values, level, np.where(judged, low, -1), np.where(judged, high, -1)


def _gains(measure: Measure, panel: Panel, values: Floats) -> Floats:
    """(assessors, levels) gains of the values, or the values where the measure is not made of gains."""
    table = np.repeat(values[:, None], len(panel.assessors), axis=1)
    if not isinstance(measure.definition, ByGain):
        return np.ascontiguousarray(table.T)
    n = values.size
    pool = Pool(("",), tuple(map(str, range(n))), np.array([0, n]), np.arange(n, dtype=np.int32))
    view = TopicView(np.zeros((1, 1), np.int32), table, Panel(pool, panel.assessors, panel.scales, table))
    return np.ascontiguousarray(np.asarray(measure.definition.gains(measure, view), np.float64).T)
