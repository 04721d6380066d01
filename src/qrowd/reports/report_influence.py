"""The report on what the difference of the two leading systems rests on: how few judgments, and which documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np

from qrowd.errors import MeasureError, QrowdError
from qrowd.evaluation import measure as parsed_measure
from qrowd.influence.cells import Cells, cells_of
from qrowd.influence.disagreements import disagreements
from qrowd.influence.fragility import ROUNDING, Fragility, fragility
from qrowd.kernels.arrays import Floats
from qrowd.model.alignment import RankedTopic, align
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Panel
from qrowd.model.runs import Runs
from qrowd.reports.phrases import count, signed
from qrowd.reports.report_assessors import Grade

DOCUMENTS = 10  # of each list


@dataclass(frozen=True, kw_only=True)
class DocumentRow:
    """A document of the difference of the two systems.

    part : what its judgments add to first minus second; nan where it is ranked by neither within the cut-off.
    rank_first, rank_second : its ranks in both lists; 0 where it is not in the list.
    sd : disagreement, of the gains of its judgments. effect : change of the difference between all assessors giving the
    lowest of its grades and all giving the highest; both nan where assessors agree, or where that is not computed.
    """

    topic: str
    document: str
    part: float
    rank_first: int
    rank_second: int
    sd: float = nan
    effect: float = nan
    difference_lowest: float = nan
    difference_highest: float = nan
    grades: tuple[Grade, ...] = ()


@dataclass(frozen=True)
class ChangeRow:
    """A judgment that is moved by one grade. difference : first minus second after it and all above it."""

    topic: str
    document: str
    assessor: str
    before: float
    after: float
    difference: float


@dataclass(frozen=True)
class Influence:
    """What the difference of the two systems rests on.

    short : the number of judgments that reverse it, for the first screen; empty where it is not counted. sentence : the
    same with its conventions, or why it is not counted.
    n_changes : least number of judgments which, each moved by one grade, put the other system ahead, with the
    normaliser of each topic fixed; n_changes_low, n_changes_high : bounds where it moves; inf : none suffice; nan : not
    counted. n_judgments : of documents that either system ranks within the cut-off.
    changes : judgments that do it, the largest effect first. documents : those with the largest parts of the
    difference. n_documents : those with a part. disagreements : those on which assessors disagree, by sd x effect.
    notes : how that was computed, or why not.
    """

    first: str
    second: str
    short: str
    sentence: str
    n_changes: float = nan
    n_changes_low: float = nan
    n_changes_high: float = nan
    n_judgments: int = 0
    changes: tuple[ChangeRow, ...] = ()
    documents: tuple[DocumentRow, ...] = ()
    n_documents: int = 0
    disagreements: tuple[DocumentRow, ...] = ()
    notes: tuple[str, ...] = ()


def influence_of(
    runs: Runs, judgments: Judgments, measure: str, first: str, second: str, *, conventions: Conventions
) -> Influence:
    """Of the difference of two systems by the panel."""
    pair = runs.select(systems=lambda name: name in (first, second))
    try:
        cells = cells_of(pair, judgments, parsed_measure(measure), systems=None, change=None, conventions=conventions)
    except MeasureError:  # no sum over judgments, but bounds by scoring again
        counted = _counted(pair, judgments, measure, first, second, conventions)
        why = f"By {measure} a difference is no sum over judgments, so that no document has a part of it."
        return replace(counted, sentence=f"{counted.sentence} {why}".strip())
    except QrowdError as error:
        return Influence(first, second, "", f"What the difference rests on is not shown: {error}.")
    i, j = (cells.systems.index(name) for name in (first, second))
    parts, lists = _parts(cells, i, j), _Lists.of(pair, judgments, conventions, first, second)
    order = np.argsort(-np.abs(parts), kind="stable")
    order = order[np.abs(parts[order]) > ROUNDING]
    labels = [(cells.topics[cells.topic[item]], cells.documents[item]) for item in order.tolist()]
    part_of = dict(zip(labels, parts[order].tolist(), strict=True))
    total = float(parts.sum())
    if abs(total) > ROUNDING:
        counted = _counted(pair, judgments, measure, first, second, conventions)
        sentence = f"{counted.sentence} {_concentration(first, second, measure, total, parts[order])}"
    else:
        counted = Influence(first, second, "", "")
        sentence = _level(first, second, measure)
    effects, note = _disagreements(pair, judgments, measure, first, conventions)
    return replace(
        counted,
        sentence=sentence,
        documents=tuple(lists.row(pair, part=part_of[pair]) for pair in labels[:DOCUMENTS]),
        n_documents=len(labels),
        disagreements=tuple(lists.row(pair, part=part_of.get(pair, 0.0), **values) for pair, values in effects.items()),
        notes=(*counted.notes, *note),
    )


# ---------------------------------------------------------------------- documents


def _parts(cells: Cells, first: int, second: int) -> Floats:
    """(items,) what the judgments of each document add to the difference, as `qrowd.decompose_difference` has it."""
    scale = cells.scale.reshape(len(cells.topics), cells.n_assessors)
    weight = cells.weight[first] - cells.weight[second]
    return np.asarray(weight * (cells.own_gains * scale[cells.topic]).sum(axis=1))


@dataclass(frozen=True)
class _Lists:
    """The judged documents in both lists."""

    panel: Panel
    topics: tuple[RankedTopic, ...]
    systems: tuple[int, int]

    @classmethod
    def of(cls, runs: Runs, judgments: Judgments, conventions: Conventions, first: str, second: str) -> _Lists:
        panel = judgments.panel(repeats=conventions.repeats)
        topics = tuple(align(runs, panel.pool, conventions.score_dtype).topics)
        return cls(panel, topics, (runs.systems.index(first), runs.systems.index(second)))

    def row(self, pair: tuple[str, str], **values: Any) -> DocumentRow:
        """A (topic, document) with its ranks and grades."""
        pool, maximum = self.panel.pool, self.panel.maximum
        t, d = pool.topics.index(pair[0]), pool.documents.index(pair[1])
        place = int(np.flatnonzero(pool.document[pool.rows(t)] == d)[0])
        of_panel = self.panel.values[pool.rows(t)][place]
        ranks = [np.flatnonzero(self.topics[t].rows[s] == place) for s in self.systems]
        rank_first, rank_second = (int(rank[0]) + 1 if rank.size else 0 for rank in ranks)
        known = np.flatnonzero(~np.isnan(of_panel)).tolist()
        shares = np.where(np.isinf(maximum), nan, of_panel / maximum)
        grades = [Grade(self.panel.assessors[a], float(of_panel[a]), float(shares[a])) for a in known]
        grades.sort(key=lambda one: (-(one.value if isnan(one.share) else one.share), one.assessor))
        return DocumentRow(
            topic=pair[0],
            document=pair[1],
            rank_first=rank_first,
            rank_second=rank_second,
            grades=tuple(grades),
            **values,
        )


def _concentration(first: str, second: str, measure: str, total: float, parts: Floats) -> str:
    """How many documents have a part, and the least number of them that adds up to the difference. parts : by size."""
    for_leader = np.sort(np.sign(total) * parts)[::-1]
    n_enough = int(np.argmax(np.cumsum(for_leader) >= abs(total) - ROUNDING)) + 1
    return (
        f"{count(len(parts), 'judged document')} {'adds' if len(parts) == 1 else 'add'} to the difference of "
        f"{first} and {second} by {measure}, {signed(total, 3)}; "
        f"{count(n_enough, 'of them alone adds', 'of them alone add')} as much."
    )


def _disagreements(
    runs: Runs, judgments: Judgments, measure: str, first: str, conventions: Conventions
) -> tuple[dict[tuple[str, str], dict[str, float]], tuple[str, ...]]:
    """The documents on which assessors disagree and that change the difference, most first; or why there are none."""
    note: tuple[str, ...] = ()
    if len(judgments.assessors) > 1 and not alike(judgments.scales) and conventions.grades == "as-is":
        conventions = replace(conventions, grades="rescaled")
        note = ("disagreements: every grade is divided by the maximum of its assessor's scale, as scales differ",)
    try:
        found = disagreements(runs, judgments, measure, conventions=conventions)
    except QrowdError as error:
        return {}, (f"disagreements are not shown: {error}",)
    sign = 1 if found.systems[0] == first else -1
    rows = range(min(DOCUMENTS, int((found.product > 0).sum())))
    return {
        (found.topics[row], found.documents[row]): {
            "sd": float(found.sd[row]),
            "effect": float(found.effect[row]),
            "difference_lowest": sign * float(found.difference_lowest[row]),
            "difference_highest": sign * float(found.difference_highest[row]),
        }
        for row in rows
    }, note


# ---------------------------------------------------------------------- judgments that reverse the difference


def _counted(
    runs: Runs, judgments: Judgments, measure: str, first: str, second: str, conventions: Conventions
) -> Influence:
    """How few judgments reverse the difference."""
    empty = Influence(first, second, "", "")
    try:
        found = fragility(runs, judgments, measure, max_grades=1, conventions=conventions)
    except QrowdError as error:
        why = str(error).removeprefix("change='grade': ")
        return replace(empty, sentence=f"How few judgments would reverse the difference is not counted: {why}.")
    if abs(found.difference[0]) <= ROUNDING:
        return replace(empty, sentence=_level(first, second, measure))
    fixed, low, high = (float(column[0]) for column in (found.n_changes, found.n_changes_low, found.n_changes_high))
    behind = found.second[0] if found.difference[0] > 0 else found.first[0]
    changes = found.changes(first, second)
    return replace(
        empty,
        short=_reversal(low, high, found.n_judgments, behind),
        sentence=_counted_sentence(found, fixed, low, high, behind),
        n_changes=fixed,
        n_changes_low=low,
        n_changes_high=high,
        n_judgments=found.n_judgments,
        changes=tuple(
            ChangeRow(topic, document, assessor, before, after, difference)
            for topic, document, assessor, before, after, difference in zip(
                changes.topics,
                changes.documents,
                changes.assessors,
                changes.before.tolist(),
                changes.after.tolist(),
                changes.difference.tolist(),
                strict=True,
            )
        )
        if isfinite(high)
        else (),
    )


def _level(first: str, second: str, measure: str) -> str:
    return f"By {measure}, {first} and {second} are level, so that no change reverses their difference."


def _reversal(low: float, high: float, n: int, behind: str) -> str:
    """The number of judgments in short. low, high : bounds of the least number."""
    of = f"of {count(n, 'judgment')}"
    if low == high == inf:
        return f"No change of judgments by one grade each would put {behind} ahead."
    if high == inf:
        return f"It would take {low:,.0f} {of} or more, each moved by one grade, to put {behind} ahead."
    if low == high == 1:
        return f"1 {of}, moved by one grade, would put {behind} ahead."
    if low == high:
        return f"It would take {high:,.0f} {of}, each moved by one grade, to put {behind} ahead."
    return f"It would take {low:,.0f} to {high:,.0f} {of}, each moved by one grade, to put {behind} ahead."


def _counted_sentence(found: Fragility, fixed: float, low: float, high: float, behind: str) -> str:
    """The same with what is exact and what moves."""
    of = f"of {count(found.n_judgments, 'judgment')} of documents that count for either system"
    each = "by one grade" if high == 1 else "by one grade each"
    if low == high == inf:
        text = f"Moving judgments {each}, however many {of}, does not put {behind} ahead."
    elif high == inf:
        text = f"Moving fewer than {low:,.0f} {of} {each} cannot put {behind} ahead; how many can is not known."
    else:
        text = f"Moving {high:,.0f} {of} {each} puts {behind} ahead, as scoring again shows; "
        text += (
            "one is enough."
            if high == 1
            else "no fewer can."
            if low == high
            else f"fewer than {low:,.0f} cannot, whichever they are."
        )
    if fixed != high and isfinite(fixed):
        text += f" With the normaliser of each topic fixed at today's, {fixed:,.0f} is the least number."
    if found.low[0] > 0 or found.high[0] < 0:
        n = found.n_changes_interval[0]
        if isfinite(n):
            text += f" After {n:,.0f} of these changes the interval of the difference over topics includes 0."
    return f"{text} That says how few could do it, not how likely it is."


# ---------------------------------------------------------------------- tables


def influence_records(one: Influence | None) -> dict[str, list[dict[str, Any]]]:
    """{table: its rows}, of the tables that have any."""
    if one is None:
        return {}
    tables: dict[str, Sequence[DocumentRow | ChangeRow]] = {
        "documents": one.documents,
        "disagreements": one.disagreements,
        "changes": one.changes,
    }
    return {name: [_record(row) for row in rows] for name, rows in tables.items() if rows}


def _record(row: DocumentRow | ChangeRow) -> dict[str, Any]:
    values = dict(vars(row))
    return values | {"grades": grades_text(row.grades)} if isinstance(row, DocumentRow) else values


def grades_text(grades: Sequence[Grade]) -> str:
    """The grade of each assessor: ann 3, bob 0."""
    return ", ".join(f"{grade.assessor} {grade.value:g}" for grade in grades)
