"""How many judgments would have to change for a difference of two systems to reverse its sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf, isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.errors import ArgumentError, check_choice
from qrowd.evaluation import measure as parsed_measure
from qrowd.influence import normaliser_bounds
from qrowd.influence.cells import ROUNDING as ROUNDING
from qrowd.influence.cells import Cells, Change, cells_of, is_weighted_sum
from qrowd.influence.demonstrations import demonstration, single_changes
from qrowd.influence.normaliser_bounds import NormaliserLimits, least_by_prices, normaliser_limits, reductions
from qrowd.influence.rescored import Rescored, by_moving_effect, rescored
from qrowd.influence.scored import ScoredCells, scored_cells
from qrowd.influence.steps import Ordered, Steps, beyond, least_fixed, steps_of
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.labels import number_of
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Result

Normaliser = Literal["fixed", "moving"]
FEW = 192  # steps of a pair that are put in order at first
WIDE = 1.25  # times the number for a fixed normaliser: from there on another order is tried


@dataclass(frozen=True, eq=False)
class FragilityChanges(Result):
    """Changes of judgments that reverse a difference, in the order in which they are applied; arrays are (changes,).

    topics, documents, assessors : of the judgment. before, after : its value. fixed_difference : first minus second
    after this change and those above it, with today's normaliser; nan where `n_changes` is. difference :
    the same with the normaliser that the changes leave, as scoring again gives it.
    """

    first: str
    second: str
    measure: str
    change: Change
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    assessors: tuple[str, ...]
    before: Floats
    after: Floats
    fixed_difference: Floats
    difference: Floats

    _COLUMNS = ("topics", "documents", "assessors", "before", "after", "fixed_difference", "difference")

    def seen_from(self, first: str) -> FragilityChanges:
        """The same with this system, one of the two, as the first."""
        if first == self.first:
            return self
        fixed, difference = -self.fixed_difference, -self.difference
        return replace(self, first=self.second, second=self.first, fixed_difference=fixed, difference=difference)


@dataclass(frozen=True, eq=False)
class Fragility(Result):
    """The least number of judgments that would have to change to reverse each difference; arrays are (pairs,).

    first, second : names of the systems. difference : first minus second. low, high : its interval, t over topics of
    the mean over assessors.
    n_changes : least number of changes after which the other system is ahead, with the normaliser of each topic fixed
    at today's: exact.
    n_changes_low, n_changes_high : bounds of the same number where the normaliser moves with the judgments: no fewer
    than the first can do it, and the second is shown by applying changes and scoring again. Equal to n_changes for
    measures without such a normaliser. Of measures that are no weighted sums of gains, as AP, there are only bounds,
    and n_changes is nan.
    n_changes_interval : so many changes, applied in the same order with the normaliser moving, make the interval
    include 0: an upper bound of the least number. 0 where it includes 0 today.
    Numbers are inf where no changes of this kind suffice (upper bounds: where those tried do not), and nan where the
    difference is 0; n_changes_interval is nan where there is no interval.
    """

    systems: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    difference: Floats
    low: Floats
    high: Floats
    n_changes: Floats
    n_changes_low: Floats
    n_changes_high: Floats
    n_changes_interval: Floats
    measure: str
    change: Change
    max_grades: int | None
    confidence: float
    n_topics: int
    n_judgments: int
    _steps: Steps | None = field(repr=False)
    _reordered: NDArray[np.bool_] = field(repr=False)  # (pairs,) whether the changes count what the normaliser does
    _demonstrated: tuple[FragilityChanges, ...] = field(
        default=(), repr=False
    )  # of each pair, where there are no steps

    _COLUMNS = (
        "first",
        "second",
        "difference",
        "low",
        "high",
        "n_changes",
        "n_changes_low",
        "n_changes_high",
        "n_changes_interval",
    )

    def _sentence(self) -> str:
        n = len(self.first)
        pairs = "1 pair" if n == 1 else f"{n} pairs"
        if self._steps is None:
            low, high = (np.nanmedian(one) for one in (self.n_changes_low, self.n_changes_high))
            return f"{pairs} by {self.measure}, change={self.change!r}: medians of the bounds {low:g} and {high:g}."
        known = self.n_changes[np.isfinite(self.n_changes)]
        number = f"a median of {np.median(known):g} changes reverses a difference" if known.size else "nothing reverses"
        return f"{pairs} by {self.measure}, change={self.change!r}, normaliser fixed: {number}."

    def _row(self, first: str, second: str) -> int:
        """The row of a pair, in either direction."""
        for row, pair in enumerate(zip(self.first, self.second, strict=True)):
            if pair in ((first, second), (second, first)):
                return row
        raise ArgumentError(f"systems {first!r} and {second!r}: this pair was not counted; leave baseline out")

    def changes(self, first: str, second: str, *, normaliser: Normaliser = "moving") -> FragilityChanges:
        """The changes of a pair, in order, until the sign is reversed or no change is left.

        normaliser : "moving": those of `n_changes_high`. "fixed": the largest effect first, with today's normaliser;
        where the gains of the grades rise ever more steeply, as 2^g - 1, they can be more than `n_changes`.
        """
        check_choice("normaliser", normaliser, Normaliser)
        i, j = (number_of(name, self.systems, "system") for name in (first, second))
        if i == j:
            raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
        row = self._row(first, second)
        if self._steps is None:
            if normaliser == "fixed":
                raise ArgumentError(f"normaliser='fixed': {self.measure} is not a weighted sum of gains")
            return self._demonstrated[row].seen_from(first)
        cells = self._steps.cells
        pair = _Pair.of(self._steps, i, j)
        if normaliser == "moving" and self._reordered[row]:
            pair = pair.reordered(cells)
        ordered = pair.ordered
        n = len(ordered) if pair.difference > ROUNDING else 0
        fixed = pair.difference - np.cumsum(ordered.effect[:n])
        moving = rescored(cells, ordered, pair.by_cell, n).difference if n else np.zeros(0)
        n = int(min(_first((fixed if normaliser == "fixed" else moving) < -_rounding(pair)), n))
        item, assessor = ordered.item[:n], ordered.assessor[:n]
        return FragilityChanges(
            first,
            second,
            self.measure,
            self.change,
            tuple(cells.topics[t] for t in cells.topic[item]),
            tuple(cells.documents[d] for d in item),
            tuple(cells.assessors[a] for a in assessor),
            cells.values[ordered.source(cells)[:n]],
            cells.values[ordered.target[:n]],
            pair.sign * fixed[:n],
            pair.sign * moving[:n],
        )


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two systems in the direction of their difference: by_cell (cells,) sums to `difference`, which is 0 or more."""

    sign: float
    difference: float
    by_cell: Floats
    ordered: Ordered

    @classmethod
    def of(cls, steps: Steps, first: int, second: int, n: int | None = None) -> _Pair:
        cells = steps.cells
        by_cell = (cells.numerator[first] - cells.numerator[second]) * cells.scale
        total = float(by_cell.sum())
        sign = -1.0 if total < 0 else 1.0
        return cls(sign, sign * total, sign * by_cell, steps.ordered(first, second, sign, n))

    def reordered(self, cells: Cells) -> _Pair:
        """The pair with its steps in an order that counts what they do to the normaliser."""
        return replace(self, ordered=by_moving_effect(cells, self.ordered, self.by_cell))


def fragility(
    runs: AnyRuns,
    judgments: AnyJudgments,
    measure: object = "nDCG@10",
    *,
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    change: Change = "grade",
    max_grades: int | None = None,
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
        nDCG, DCG, P, R, RBP or another weighted sum of gains by rank; of other measures, as AP, RR and ERR, there are
        bounds alone.
    systems
        Those whose pairs are taken; default: all.
    baseline
        One of the systems: only the differences of the others to it are taken.
    change
        "grade": a change moves one judgment by one grade, and a judgment can be moved several times. "judgment": a
        change replaces one judgment by any grade of its scale. "panel": a change replaces one judgment by what another
        assessor of the panel gave the document.
    max_grades
        With change="grade": the most grades by which one judgment may move; default: to the ends of its scale.
    confidence
        Of the interval.
    conventions
        Those of scoring; ties, unjudged, missing, empty and duplicates must have their defaults.
    progress
        Called with (pairs done, pairs in all).

    Notes
    -----
    **Normaliser fixed.** The difference is then a sum over judgments, and a change takes from it an amount that
    depends on no other judgment. With "judgment" and "panel" each judgment has one largest amount. Any k changes take
    at most the sum of the k largest of these amounts, and taking these k judgments reaches it. So the least number is
    the first k at which the sum of the k largest exceeds the difference: taking the largest first is optimal. With
    "grade" and gains linear in grades each step of a judgment takes the same amount, so that steps can be chosen as if
    they were judgments of their own, and the same holds; also where a further step of a judgment never takes more than
    the one before, because the steps are then taken in their order by themselves. Where a further step can take more,
    as with 2^g - 1 upwards or where only one grade makes a document relevant, the least concave curves above the
    judgments' own give a lower bound, taking steps in order an upper one, and where these differ a dynamic programme
    decides between them.

    **Normaliser moving.** The upper bound is a demonstration: the changes above are applied in order, and topics scored
    again after each; where this takes many more, also in an order that counts what each change does to the normaliser.
    The lower bound holds for any changes of this kind to any judgments; the proof is in
    `qrowd.influence.normaliser_bounds`.

    **Other measures.** Every change of a single judgment is scored. The upper bound is a demonstration, too: changes
    in the order of their effects, scored again after each, in the best of several orders. The proof of the lower bound
    is in `qrowd.influence.demonstrations`, and a sharper one for AP in `qrowd.influence.average_precision`.

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
    >>> result.n_changes.tolist()
    [3.0]
    >>> result.changes("a", "b").to_frame()[["document", "before", "after"]].values.tolist()
    [['d1', 3.0, 2.0], ['d1', 2.0, 1.0], ['d1', 1.0, 0.0]]
    """
    check_choice("change", change, Change)
    check_confidence(confidence)
    if max_grades is not None and (change != "grade" or max_grades < 1):
        raise ArgumentError(f"max_grades={max_grades}: 1 or more was expected, with change='grade'")
    parsed = parsed_measure(measure)
    rankings, rows = as_runs(runs), as_judgments(judgments)
    options: dict[str, Any] = {"systems": systems, "change": change, "conventions": conventions}
    if not is_weighted_sum(parsed):
        scored = scored_cells(rankings, rows, parsed, max_grades=max_grades, **options)
        return _demonstrated(scored, change, max_grades, _pairs(scored.systems, baseline), confidence, progress)
    cells = cells_of(rankings, rows, parsed, max_grades=max_grades, **options)
    steps = steps_of(cells, change)
    pairs = _pairs(cells.systems, baseline)
    table = np.full((len(pairs), 7), nan)  # difference, half width, fixed, low, high, interval, sign
    t = _t_quantile(cells.n_topics, confidence)
    reordered = np.zeros(len(pairs), bool)
    waiting = _Waiting(cells, change, table)
    for row, (i, j) in enumerate(pairs):
        pair = _Pair.of(steps, i, j, FEW)
        n_fixed = least_fixed(pair.ordered, pair.difference)
        if isnan(n_fixed):
            pair = _Pair.of(steps, i, j)
            n_fixed = least_fixed(pair.ordered, pair.difference)
        squares = float((pair.by_cell.reshape(-1, cells.n_assessors).sum(axis=1) ** 2).sum())
        half = float(_half_width(np.array(pair.difference), np.array(squares), cells.n_topics, t))
        table[row, :2] = pair.sign * pair.difference, half
        if pair.difference > ROUNDING:
            n_high, n_interval = _by_scoring(cells, pair, n_fixed, squares, t)
            if pair.ordered.rest > 0 and (n_high == inf or n_interval == inf):
                pair = _Pair.of(steps, i, j)
                n_high, n_interval = _by_scoring(cells, pair, n_fixed, squares, t)
            if cells.ideal is not None and n_high > WIDE * n_fixed + 1:
                other = _Pair.of(steps, i, j).reordered(cells)
                numbers = _by_scoring(cells, other, n_fixed, squares, t)
                if numbers[0] < n_high:
                    reordered[row], pair = True, _Pair.of(steps, i, j)
                    n_high, n_interval = numbers
            n_low = n_fixed if cells.ideal is None else nan
            table[row, 2:6] = n_fixed, n_low, n_fixed if cells.ideal is None else n_high, n_interval
            if cells.ideal is not None:
                waiting.add(row, pair, n_high)
        elif np.isfinite(half):
            table[row, 5] = 0.0
        if progress:
            progress(row + 1, len(pairs))
    waiting.finish()
    return Fragility(
        cells.systems,
        tuple(cells.systems[i] for i, _ in pairs),
        tuple(cells.systems[j] for _, j in pairs),
        table[:, 0],
        table[:, 0] - table[:, 1],
        table[:, 0] + table[:, 1],
        table[:, 2],
        table[:, 3],
        table[:, 4],
        table[:, 5],
        str(parsed_measure(measure)),
        change,
        max_grades,
        confidence,
        cells.n_topics,
        int((cells.level >= 0).sum()),
        steps,
        reordered,
    )


def _pairs(systems: tuple[str, ...], baseline: str | None) -> list[tuple[int, int]]:
    """Numbers of the systems of each pair; with a baseline the pairs of the others with it."""
    if baseline is None:
        return list(combinations(range(len(systems)), 2))
    second = number_of(baseline, systems, "system")
    return [(first, second) for first in range(len(systems)) if first != second]


def _demonstrated(
    cells: ScoredCells,
    change: Change,
    max_grades: int | None,
    pairs: list[tuple[int, int]],
    confidence: float,
    progress: Callable[[int, int], None] | None,
) -> Fragility:
    """Bounds by scoring again."""
    singles = single_changes(cells, change)
    t = _t_quantile(cells.n_topics, confidence)
    table = np.full((len(pairs), 5), nan)  # difference, half width, low, high, interval
    traces = []
    for row, (i, j) in enumerate(pairs):
        shown = demonstration(cells, singles, change, i, j)
        difference = np.append(shown.difference, shown.differences)
        half = _half_width(difference, np.append(shown.squares, shown.squares_after), cells.n_topics, t)
        table[row, :2] = shown.sign * shown.difference, half[0]
        n_high = _first(shown.differences < -ROUNDING)
        if shown.difference > ROUNDING:
            n_interval = _first(np.abs(difference) <= half) - 1 if np.isfinite(half).any() else nan
            table[row, 2:] = shown.low, n_high, n_interval
        elif np.isfinite(half[0]):
            table[row, 4] = 0.0
        n = int(min(n_high, shown.item.size)) if shown.difference > ROUNDING else 0
        item, assessor = shown.item[:n], shown.assessor[:n]
        traces.append(
            FragilityChanges(
                cells.systems[i],
                cells.systems[j],
                str(cells.measure),
                change,
                tuple(cells.topics[topic] for topic in cells.topic[item]),
                tuple(cells.documents[d] for d in item),
                tuple(cells.assessors[a] for a in assessor),
                cells.values[shown.before[:n]],
                cells.values[shown.after[:n]],
                np.full(n, nan),
                shown.sign * shown.differences[:n],
            )
        )
        if progress:
            progress(row + 1, len(pairs))
    return Fragility(
        cells.systems,
        tuple(cells.systems[i] for i, _ in pairs),
        tuple(cells.systems[j] for _, j in pairs),
        table[:, 0],
        table[:, 0] - table[:, 1],
        table[:, 0] + table[:, 1],
        np.full(len(pairs), nan),
        table[:, 2],
        table[:, 3],
        table[:, 4],
        str(cells.measure),
        change,
        max_grades,
        confidence,
        cells.n_topics,
        cells.n_judgments,
        None,
        np.zeros(len(pairs), bool),
        tuple(traces),
    )


def _by_scoring(cells: Cells, pair: _Pair, n_fixed: float, today: float, t: float) -> tuple[float, float]:
    """So many changes reverse the sign, and make the interval include 0, when they are applied in order.

    today : sum over topics of their squared parts of the difference.
    """
    whole = len(pair.ordered)
    n = whole if n_fixed == inf else min(int(1.5 * n_fixed) + 20, whole)
    while True:
        after = rescored(cells, pair.ordered, pair.by_cell, n) if n else Rescored(np.zeros(0), np.zeros(0))
        n_high = _first(after.difference < -_rounding(pair))
        difference, squares = np.append(pair.difference, after.difference), np.append(today, after.squares)
        half = _half_width(difference, squares, cells.n_topics, t)
        n_interval = _first(np.abs(difference) <= half) - 1 if np.isfinite(half).any() else nan
        if n == whole or (n_high < inf and n_interval != inf):
            return n_high, n_interval
        n = whole


def _first(hits: Any) -> float:
    """Number of the first that is true, from 1; inf if none is."""
    return float(np.argmax(hits)) + 1 if np.any(hits) else inf


def _rounding(pair: _Pair) -> float:
    return beyond(pair.difference, float(pair.ordered.bound[0]) if len(pair.ordered) else 0.0) - pair.difference


def _t_quantile(n_topics: int, confidence: float) -> float:
    """The quantile of t over topics; nan for fewer than two."""
    from scipy.special import stdtrit

    return float(stdtrit(n_topics - 1, (1 + confidence) / 2)) if n_topics > 1 else nan


def _half_width(difference: Floats, squares: Floats, n_topics: int, t: float) -> Floats:
    """Half the width of the interval. squares : sum over topics of (difference of the topic / n_topics)^2."""
    variance = np.maximum(squares - difference**2 / n_topics, 0.0) * n_topics / max(n_topics - 1, 1)
    return np.asarray(t * np.sqrt(variance))


class _Waiting:
    """Pairs whose lower bound is computed together, those of few changes apart from those of many."""

    def __init__(self, cells: Cells, change: Change, table: Floats) -> None:
        self.cells, self.change, self.table = cells, change, table
        self.pairs: dict[int, list[tuple[int, _Pair]]] = {}
        self.limits: NormaliserLimits | None = None

    def add(self, row: int, pair: _Pair, n_high: float) -> None:
        """Put a pair beside those of as many changes; a full group is computed at once."""
        n = 8
        while n < min(n_high, normaliser_bounds.MOST):
            n *= 2
        group = self.pairs.setdefault(n, [])
        group.append((row, pair))
        if len(group) * self.cells.share.size * n >= normaliser_bounds.AT_ONCE:
            self._compute(n, self.pairs.pop(n))

    def finish(self) -> None:
        for n, group in self.pairs.items():
            self._compute(n, group)
        self.pairs = {}

    def _compute(self, n: int, group: list[tuple[int, _Pair]]) -> None:
        """Bounds from reductions of up to n changes of a cell; beyond, a cell can lose all that it has, and its share.

        The last is left out where a pair is known to take n changes or fewer.
        """
        cells = self.cells
        if self.limits is None:
            self.limits = normaliser_limits(cells, self.change, normaliser_bounds.MOST)
        rows = np.array([row for row, _ in group])
        by_cell = np.array([one.by_cell for _, one in group])
        table = reductions(cells, self.limits, [one.ordered for _, one in group], by_cell, n)
        if (self.table[rows, 4] > n).any():
            table = np.concatenate([table, (by_cell + cells.share)[..., None]], axis=2)
        difference = np.array([one.difference for _, one in group])
        self.table[rows, 3] = least_by_prices(table, difference)
