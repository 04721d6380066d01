"""How many judgments would have to change for a difference of two systems to reverse its sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import inf, isinf, isnan, nan

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.errors import ArgumentError, check_choice
from qrowd.evaluation import measure as parsed_measure
from qrowd.influence.change_bounds import (
    SingleChanges,
    least_by_cells,
    normaliser_limits,
    reductions_by_scoring,
    reductions_of_sums,
    search,
    single_changes,
)
from qrowd.influence.score_cells import ROUNDING, Cells, Change, cells_of
from qrowd.influence.weighted_sums import (
    NOTHING,
    Trace,
    WeightedSums,
    first_beyond,
    least_number,
    steps_of,
    trace_of,
    weighted_sums,
)
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.labels import number_of
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Result

WIDE = 1.25  # times the number for a fixed normaliser: from there on other changes are searched


@dataclass(frozen=True, eq=False)
class FragilityChanges(Result):
    """Changes of judgments that reverse a difference, in the order in which they are applied; arrays are (changes,).

    topics, documents, assessors : of the judgment. before, after : its value. difference : first minus second after
    this change and those above it, as scoring again gives it.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    assessors: tuple[str, ...]
    before: Floats
    after: Floats
    difference: Floats

    _COLUMNS = ("topics", "documents", "assessors", "before", "after", "difference")


@dataclass(frozen=True, eq=False)
class Fragility(Result):
    """The least number of judgments that would have to change to reverse each difference; arrays are (pairs,).

    first, second : names of the systems. difference : first minus second. low, high : its interval, t over topics of
    the mean over assessors.
    n_changes_low, n_changes_high : bounds of the least number of changes after which the other system is ahead: no
    fewer than the first can do it, and the second do, as scoring again shows. The second is inf where no changes were
    found that do it, the first where it is proved that there are none. They are equal for P, DCG and RBP.
    n_changes_fixed : the least number if the normaliser of each topic stayed as it is today; as changes move that of
    nDCG, it may lie outside the bounds. nan for measures that are no weighted sums of gains, as AP.
    n_changes_interval : an upper bound of the least number that makes the interval include 0; nan without interval.
    Numbers are nan where the difference is 0.
    """

    systems: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    difference: Floats
    low: Floats
    high: Floats
    n_changes_low: Floats
    n_changes_high: Floats
    n_changes_fixed: Floats
    n_changes_interval: Floats
    measure: str
    change: Change
    confidence: float
    n_topics: int
    n_judgments: int
    _changes: tuple[FragilityChanges, ...] = field(repr=False)

    _COLUMNS = (
        "first",
        "second",
        "difference",
        "low",
        "high",
        "n_changes_low",
        "n_changes_high",
        "n_changes_fixed",
        "n_changes_interval",
    )

    @property
    def exact(self) -> bool:
        """Whether the bounds are the exact numbers."""
        return bool(np.array_equal(self.n_changes_low, self.n_changes_high, equal_nan=True))

    def _sentence(self) -> str:
        n = len(self.first)
        pairs = "1 pair" if n == 1 else f"{n} pairs"
        low, high = (np.nanmedian(bound) for bound in (self.n_changes_low, self.n_changes_high))
        return f"{pairs} by {self.measure}, change={self.change!r}: medians of the bounds {low:g} and {high:g}."

    def changes(self, first: str, second: str) -> FragilityChanges:
        """The changes of a pair, in order, until the sign is reversed or none is left that reduces the difference."""
        for name in (first, second):
            number_of(name, self.systems, "system")
        if first == second:
            raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
        pairs = list(zip(self.first, self.second, strict=True))
        if (first, second) in pairs:
            return self._changes[pairs.index((first, second))]
        changes = self._changes[pairs.index((second, first))]
        return replace(changes, difference=-changes.difference)


def fragility(
    runs: AnyRuns,
    judgments: AnyJudgments,
    measure: object = "nDCG@10",
    *,
    systems: Sequence[str] | None = None,
    change: Change = "grade",
    confidence: float = 0.95,
    conventions: Conventions = Conventions(),
    progress: Callable[[int, int], None] | None = None,
) -> Fragility:
    """The least number of judgments that would have to change to reverse the difference of each pair of systems.

    The difference is that of the means over topics of the means over assessors, so that a judgment of one of m
    assessors weighs 1 / m. Documents that an assessor did not judge gain nothing, and do not change.

    Parameters
    ----------
    measure
        Any measure of judgments.
    systems
        Those whose pairs are taken; default: all.
    change
        "grade": a change moves one judgment by one grade of its assessor's scale, which is the whole scale between yes
        and no; a judgment can be moved several times. "panel": a change replaces one judgment by what another assessor
        of the panel gave the document.
    confidence
        Of the interval.
    conventions
        Those of scoring; ties, unjudged, missing, empty and duplicates must have their defaults.
    progress
        Called with (pairs done, pairs in all).

    Notes
    -----
    For P, DCG, RBP and other weighted sums of gains without a normaliser that judgments move, the number is exact
    (`qrowd.influence.weighted_sums`). For every other measure there are bounds. The upper one is shown: changes, in
    the order of their effects, are applied one after the other, and topics scored again after each. The lower one holds
    for any changes of this kind to any judgments (`qrowd.influence.change_bounds`).

    Raises
    ------
    MeasureError
        A measure of preferences, or one that joins the assessors.
    ArgumentError
        Judgments without grades, one assessor or several scales with change="panel", fewer than two systems, a
        convention that is not supported.

    >>> import qrowd
    >>> runs = {"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d2": 2, "d1": 1}}}
    >>> result = qrowd.fragility(runs, {"t": {"d1": 3, "d2": 1}}, "DCG@1")
    >>> result.n_changes_high.tolist()
    [3.0]
    >>> result.changes("a", "b").to_frame()[["document", "before", "after"]].values.tolist()
    [['d1', 3.0, 2.0], ['d1', 2.0, 1.0], ['d1', 1.0, 0.0]]
    """
    check_choice("change", change, Change)
    check_confidence(confidence)
    parsed, rankings = parsed_measure(measure), as_runs(runs)
    cells = cells_of(rankings, as_judgments(judgments), parsed, systems=systems, change=change, conventions=conventions)
    panel = _Changeable(cells, change)
    names = cells.systems
    pairs = list(combinations(range(len(names)), 2))
    rows, changes = [], []
    for done, pair in enumerate(pairs, start=1):
        row, of_pair = _counted(panel, *pair, confidence)
        rows.append(row)
        changes.append(of_pair)
        if progress:
            progress(done, len(pairs))
    difference, half, fixed, low, high, interval = np.array(rows).T
    return Fragility(
        names,
        tuple(names[first] for first, _ in pairs),
        tuple(names[second] for _, second in pairs),
        difference,
        difference - half,
        difference + half,
        low,
        high,
        fixed,
        interval,
        str(parsed),
        change,
        confidence,
        cells.n_topics,
        int(panel.counting.sum()),
        tuple(changes),
    )


@dataclass(frozen=True, eq=False)
class _Changeable:
    """Judgments that can change, and what is computed of them once, where it is needed."""

    cells: Cells
    change: Change

    @cached_property
    def sums(self) -> WeightedSums | None:
        return weighted_sums(self.cells)

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        assert self.sums is not None
        return normaliser_limits(self.sums, self.change)

    @cached_property
    def singles(self) -> SingleChanges:
        return single_changes(self.cells, self.change)

    @property
    def counting(self) -> NDArray[np.bool_]:
        """(items, assessors) judgments; of a weighted sum those of documents that a system ranks within the cut-off."""
        judged = self.cells.level >= 0
        return judged if self.sums is None else judged & (self.sums.weight != 0).any(axis=0)[:, None]


def _counted(panel: _Changeable, first: int, second: int, confidence: float) -> tuple[list[float], FragilityChanges]:
    """Difference, half width, exact number, bounds, and number for the interval of a pair; and its changes."""
    by_cell = panel.cells.by_cell(first, second)
    sign = -1.0 if by_cell.sum() < 0 else 1.0
    by_cell = sign * by_cell
    by_topic = by_cell.reshape(-1, panel.cells.n_assessors).sum(axis=1)
    difference = float(by_cell.sum())
    cells, trace = panel.cells, NOTHING
    fixed = low = high = nan
    if difference > ROUNDING:
        fixed, low, trace = _bounded(panel, first, second, sign, by_cell)
        high = _n_to_reverse(trace, difference)
        trace = trace.first(int(min(high, len(trace))))
        if panel.sums is not None and panel.sums.ideal is None:
            high = fixed
    lost = np.zeros((len(trace), by_topic.size))
    lost[np.arange(len(trace)), trace.cell // cells.n_assessors] = trace.lost
    after = by_topic - np.concatenate([np.zeros((1, by_topic.size)), np.cumsum(lost, axis=0)])
    left, half = after.sum(axis=1), _half_widths(after, cells.n_topics, confidence)
    interval = nan if isnan(half[0]) else first_beyond(half - np.abs(left), -ROUNDING) - 1
    changes = FragilityChanges(
        tuple(cells.topics[topic] for topic in cells.topic[trace.item]),
        tuple(cells.documents[item] for item in trace.item),
        tuple(cells.assessors[a] for a in trace.assessor),
        cells.values[trace.before],
        cells.values[trace.after],
        sign * left[1:],
    )
    return [sign * difference, half[0], fixed, low, high, interval], changes


def _bounded(panel: _Changeable, first: int, second: int, sign: float, by_cell: Floats) -> tuple[float, float, Trace]:
    """Exact number, lower bound, and the changes of those that were tried that reverse the difference soonest.

    by_cell : (cells,) what each adds to sign x (first - second).
    """
    cells, sums, difference = panel.cells, panel.sums, float(by_cell.sum())
    fixed, low, trace = nan, 1.0, NOTHING
    if sums is not None:
        steps = steps_of(sums, sign * (sums.weight[first] - sums.weight[second]), panel.change)
        fixed = least_number(steps, difference)
        n = len(steps) if sums.ideal is None or isinf(fixed) else min(int(4 * fixed) + 20, len(steps))
        trace = trace_of(sums, steps, by_cell, n)
        if sums.ideal is None:
            return fixed, fixed, trace
        low = least_by_cells(reductions_of_sums(sums, panel.limits, steps, by_cell), difference)
        n_trace = _n_to_reverse(trace, difference)
        if n_trace < inf and n_trace <= WIDE * fixed + 1:
            return fixed, low, trace
    singles = panel.singles
    taken = -sign * (singles.moved[first] - singles.moved[second]) * cells.share[singles.cell]
    low = max(low, least_by_cells(reductions_by_scoring(cells, singles, taken, by_cell), difference))
    searched = search(cells, singles, panel.change, (first, second), sign, taken)
    return fixed, low, min(trace, searched, key=lambda changes: _n_to_reverse(changes, difference))


def _n_to_reverse(trace: Trace, difference: float) -> float:
    return first_beyond(np.cumsum(trace.lost), difference + ROUNDING)


def _half_widths(by_topic: Floats, n_topics: int, confidence: float) -> Floats:
    """(rows,) half the width of each interval, t over topics; nan for fewer than two.

    by_topic : (rows, topics) what each topic adds to the difference; 0 where nobody has a score.
    """
    from scipy.special import stdtrit

    if n_topics < 2:
        return np.full(len(by_topic), nan)
    squares = (by_topic**2).sum(axis=1) - by_topic.sum(axis=1) ** 2 / n_topics
    variance = np.maximum(squares, 0.0) * n_topics / (n_topics - 1)
    return np.asarray(stdtrit(n_topics - 1, (1 + confidence) / 2) * np.sqrt(variance))
