"""The report on what the difference of the two leading systems rests on: how few judgments, and which documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, isinf, isnan, nan
from typing import Annotated, Any

import numpy as np

from qrowd.agreement.split_documents import Grade
from qrowd.errors import QrowdError
from qrowd.influence.cells import ROUNDING
from qrowd.influence.decomposition import DecomposedDifference, decompose_difference
from qrowd.influence.disagreements import disagreements
from qrowd.influence.fragility import Fragility, fragility
from qrowd.model.alignment import RankedTopic, align
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Panel
from qrowd.model.runs import Runs
from qrowd.reports.phrases import count, number, signed
from qrowd.reports.table import Column

DOCUMENTS = 10  # of each list


def grades_text(grades: Sequence[Grade]) -> str:
    """The grade of each assessor: ann 3, bob 0."""
    return ", ".join(f"{grade.assessor} {grade.value:g}" for grade in grades)


def _rank(rank: int) -> str:
    return str(rank or "-")


@dataclass(frozen=True, kw_only=True)
class DocumentRow:
    """A document of the difference of the two systems.

    part : what its judgments add to first minus second; nan where it is ranked by neither within the cut-off.
    rank_first, rank_second : its ranks in both lists; 0 where it is not in the list.
    sd : disagreement, of the gains of its judgments. effect : change of the difference between all assessors giving the
    lowest of its grades and all giving the highest; both nan where assessors agree, or where that is not computed.
    """

    topic: Annotated[str, Column("topic")]
    document: Annotated[str, Column("document")]
    part: Annotated[float, Column("part", signed)]
    rank_first: Annotated[int, Column("rank by first", _rank)]
    rank_second: Annotated[int, Column("rank by second", _rank)]
    sd: Annotated[
        float, Column("sd", partial(number, digits=2), "standard deviation of the gains of its judgments")
    ] = nan
    effect: float = nan
    difference_lowest: Annotated[
        float, Column("lowest", signed, "difference if all assessors gave its lowest grade")
    ] = nan
    difference_highest: Annotated[float, Column("highest", signed, "difference if all gave its highest")] = nan
    grades: Annotated[tuple[Grade, ...], Column("grades", grades_text)] = ()


@dataclass(frozen=True)
class ChangeRow:
    """A judgment that is moved by one grade. difference : first minus second after it and all above it."""

    topic: Annotated[str, Column("topic")]
    document: Annotated[str, Column("document")]
    assessor: Annotated[str, Column("assessor")]
    before: Annotated[float, Column("grade", "{:g}".format)]
    after: Annotated[float, Column("moved to", "{:g}".format)]
    difference: Annotated[float, Column("difference", signed, "after this change and those above it, scored again")]


@dataclass(frozen=True)
class Influence:
    """What the difference of the two systems rests on.

    short : the number of changes that reverse it, for the first screen; empty where it is not counted. sentence : the
    same with its conventions, or why it is not counted. fragility : the numbers behind it; None where not counted.
    changes : changes that do it, the largest effect first. documents : those with the largest parts of the difference.
    n_documents : those with a part. disagreements : those on which assessors disagree, by sd x effect. notes : how that
    was computed, or why not.
    """

    first: str
    second: str
    short: str
    sentence: str
    fragility: Fragility | None = None
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
        whole = decompose_difference(pair, judgments, first, second, measure, conventions=conventions)
    except QrowdError as error:
        return Influence(first, second, "", f"What the difference rests on is not shown: {error}.")
    if abs(whole.difference) <= ROUNDING:
        sentence = f"By {measure}, {first} and {second} are level, so that no change reverses their difference."
        counted = Influence(first, second, "", sentence)
    else:
        counted = _counted(pair, judgments, measure, first, second, conventions)
    if whole.documents.part is None:  # no sum over judgments, but bounds by scoring again
        why = f"By {measure} a difference is no sum over judgments, so that no document has a part of it."
        return replace(counted, sentence=f"{counted.sentence} {why}".strip())
    lists = _Lists.of(pair, judgments, conventions, first, second)
    labels = zip(whole.documents.topics or (), whole.documents.documents or (), strict=True)
    part_of = {
        label: part for label, part in zip(labels, whole.documents.part.tolist(), strict=True) if abs(part) > ROUNDING
    }
    if abs(whole.difference) > ROUNDING:
        counted = replace(counted, sentence=f"{counted.sentence} {_concentration(whole)}")
    effects, note = _disagreements(pair, judgments, measure, first, conventions)
    return replace(
        counted,
        documents=tuple(lists.row(label, part=part_of[label]) for label in list(part_of)[:DOCUMENTS]),
        n_documents=len(part_of),
        disagreements=tuple(
            lists.row(label, part=part_of.get(label, 0.0), **values) for label, values in effects.items()
        ),
        notes=note,
    )


# ---------------------------------------------------------------------- documents


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


def _concentration(whole: DecomposedDifference) -> str:
    """How many documents have a part, and the least number of them that adds up to the difference."""
    n, n_enough = whole.n_documents, whole.n_documents_enough
    return (
        f"{count(n, 'judged document')} {'adds' if n == 1 else 'add'} to the difference of {whole.first} and "
        f"{whole.second} by {whole.measure}, {signed(whole.difference, 3)}; "
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
        differing = disagreements(runs, judgments, measure, conventions=conventions)
    except QrowdError as error:
        return {}, (f"disagreements are not shown: {error}",)
    sign = 1 if differing.systems[0] == first else -1
    rows = range(min(DOCUMENTS, int((differing.product > 0).sum())))
    return {
        (differing.topics[row], differing.documents[row]): {
            "sd": float(differing.sd[row]),
            "effect": float(differing.effect[row]),
            "difference_lowest": sign * float(differing.difference_lowest[row]),
            "difference_highest": sign * float(differing.difference_highest[row]),
        }
        for row in rows
    }, note


# ---------------------------------------------------------------------- judgments that reverse the difference


def _counted(
    runs: Runs, judgments: Judgments, measure: str, first: str, second: str, conventions: Conventions
) -> Influence:
    """How few changes of judgments reverse the difference."""
    empty = Influence(first, second, "", "")
    try:
        fragile = fragility(runs, judgments, measure, conventions=conventions)
    except QrowdError as error:
        why = str(error).removeprefix("change='grade': ")
        return replace(empty, sentence=f"How few judgments would reverse the difference is not counted: {why}.")
    behind = fragile.second[0] if fragile.difference[0] > 0 else fragile.first[0]
    changes = fragile.changes(first, second)
    rows = zip(
        changes.topics,
        changes.documents,
        changes.assessors,
        changes.before.tolist(),
        changes.after.tolist(),
        changes.difference.tolist(),
        strict=True,
    )
    return replace(
        empty,
        short=_reversal(fragile, behind),
        sentence=_counted_sentence(fragile, behind),
        fragility=fragile,
        changes=tuple(ChangeRow(*row) for row in rows) if isfinite(fragile.n_changes_high[0]) else (),
    )


def _reversal(fragile: Fragility, behind: str) -> str:
    """The number of changes in short."""
    low, high = float(fragile.n_changes_low[0]), float(fragile.n_changes_high[0])
    of = f"in {count(fragile.n_judgments, 'judgment')}"
    if isinf(low):
        return f"No changes by one grade each would put {behind} ahead."
    if low == high == 1:
        return f"1 change by one grade {of} would put {behind} ahead."
    number = f"{low:,.0f}" if low == high else f"{low:,.0f} or more" if isinf(high) else f"{low:,.0f} to {high:,.0f}"
    return f"It would take {number} changes by one grade {of} to put {behind} ahead."


def _counted_sentence(fragile: Fragility, behind: str) -> str:
    """The same with what is shown, what is proved, and what is exact."""
    fixed, low, high = (
        float(numbers[0]) for numbers in (fragile.n_changes, fragile.n_changes_low, fragile.n_changes_high)
    )
    of = f"in {count(fragile.n_judgments, 'judgment')} of documents that count for either system"
    if isinf(low):
        text = f"Changing judgments by one grade each, however many times {of}, does not put {behind} ahead."
    elif isinf(high):
        text = f"Fewer than {low:,.0f} changes by one grade {of} cannot put {behind} ahead; how many can is not known."
    else:
        puts = "1 change by one grade" if high == 1 else f"{high:,.0f} changes by one grade"
        fewer = f"; fewer than {low:,.0f} cannot" if low < high else ", and no fewer can" if high > 1 else ""
        text = f"{puts} {of} put{'s' if high == 1 else ''} {behind} ahead, as scoring again shows{fewer}."
    if fixed != high and isfinite(fixed):
        text += f" With the normaliser of each topic fixed at today's, {fixed:,.0f} is the least number."
    interval = float(fragile.n_changes_interval[0])
    if (fragile.low[0] > 0 or fragile.high[0] < 0) and isfinite(interval):
        text += f" After {interval:,.0f} of these changes the interval of the difference over topics includes 0."
    return f"{text} That says how few could do it, not how likely it is."
