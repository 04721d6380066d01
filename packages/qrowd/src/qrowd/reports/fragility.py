"""How many changes of judgments would reverse the differences that a comparison shows, as a table and in notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isinf, isnan
from typing import Annotated, Any

from qrowd.comparison.head_to_head import PANEL
from qrowd.errors import ArgumentError, MeasureError, ScaleError
from qrowd.influence.fragility import Fragility, fragility
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.reports.columns import Column, table_of
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import count, percent, signed, span


def _number(value: float) -> str:
    return "-" if isinf(value) or isnan(value) else f"{value:,.0f}"


def changes(low: float, high: float) -> str:
    """A number of changes, or its bounds: - for nan, none where it is proved that no number of them suffices.

    >>> from math import inf
    >>> changes(3.0, 3.0), changes(2.0, 5.0), changes(2.0, inf), changes(inf, inf)
    ('3', '2-5', '2 or more', 'none')
    """
    if isnan(low) or isnan(high):
        return "-"
    if isinf(low):
        return "none"
    return f"{low:,.0f} or more" if isinf(high) else span(low, high)


@dataclass(frozen=True)
class FragilityRow:
    """A difference and the changes that reverse it, as in `Fragility`. assessors : whose judgments can change."""

    assessors: str
    first: Annotated[str, Column("system")]
    second: Annotated[str, Column("compared with")]
    difference: Annotated[float, Column("difference", signed)]
    low: float
    high: float
    n_changes: Annotated[float, Column("normaliser fixed", _number)]
    n_changes_low: Annotated[float, Column("changes to reverse", changes, also=("n_changes_high",))]
    n_changes_high: float
    n_changes_interval: Annotated[float, Column("changes to include 0", _number)]


@dataclass(frozen=True, eq=False)
class ComparisonFragility:
    """How many changes by one grade would reverse the differences of a comparison, by one measure.

    to_baseline : of the differences of all systems to the baseline, by the judgments of `assessors`: the reference, or
    all ("panel"). pair : of the two systems that were asked about, by the panel. Both None where changes are not
    counted, for the `reason`.
    """

    measure: str
    assessors: str
    to_baseline: Fragility | None = None
    pair: Fragility | None = None
    reason: str = ""

    def rows(self) -> list[FragilityRow]:
        """One row per difference, the pair first."""
        parts = ((PANEL, self.pair), (self.assessors, self.to_baseline))
        of_parts = [(whose, part.to_frame().to_dict("records")) for whose, part in parts if part is not None]
        return [FragilityRow(whose, **record) for whose, records in of_parts for record in records]


def comparison_fragility(
    runs: Runs,
    judgments: Judgments | Preferences,
    measure: str,
    *,
    baseline: str,
    reference: str | None,
    pair: tuple[str, str] | None,
    conventions: Conventions,
    confidence: float,
    progress: Callable[[int, int], None] | None = None,
) -> ComparisonFragility:
    """The numbers for all differences to the baseline, and for the pair; or the reason why there are none.

    progress : called with (pairs done, pairs in all) of the baseline.
    """
    assessors = reference or PANEL
    try:
        judged = _on_one_scale(judgments, conventions)
        options: dict[str, Any] = {"conventions": conventions, "confidence": confidence}
        own = judged if reference is None else judged.select(assessors=[reference])
        to_baseline = fragility(runs, own, measure, baseline=baseline, progress=progress, **options)
        of_pair = None
        if pair is not None:
            others = [name for name in judged.assessors if name != reference] or list(judged.assessors)
            of_pair = fragility(
                runs, judged.select(assessors=others), measure, systems=pair, baseline=pair[1], **options
            )
    except (ArgumentError, MeasureError, ScaleError) as error:
        return ComparisonFragility(measure, assessors, reason=str(error))
    return ComparisonFragility(measure, assessors, to_baseline, of_pair)


def _on_one_scale(judgments: Judgments | Preferences, conventions: Conventions) -> Judgments:
    if isinstance(judgments, Preferences):
        raise MeasureError("preferences have no grades")
    if conventions.grades == "rescaled":
        raise ScaleError("grades='rescaled' leaves no whole grades")
    scale = judgments.shared_scale()
    if scale.kind not in ("binary", "graded"):
        raise ScaleError(f"the judgments are on the scale {scale}; whole grades are needed")
    return judgments


def fragility_table(part: ComparisonFragility, order: list[str]) -> Table:
    """The pair, and all systems in this order. order : names of the systems."""
    rows, place = part.rows(), {name: n for n, name in enumerate(order)}
    n_pair = len(part.pair.first) if part.pair is not None else 0
    rows = rows[:n_pair] + sorted(rows[n_pair:], key=lambda row: place[row.first])
    names = ["first", "second", "difference", "n_changes_low", "n_changes", "n_changes_interval"]
    if part.to_baseline is None or not part.to_baseline.moves_normaliser:
        names.remove("n_changes")
    return table_of(f"{part.measure}: judgments that would have to change, by one grade each time", rows, names)


def fragility_notes(parts: list[ComparisonFragility]) -> Iterator[Note]:
    """What is counted and with which conventions; and for which measures nothing is."""
    counted = next((part.to_baseline for part in parts if part.to_baseline is not None), None)
    if counted is not None:
        n = counted.n_judgments
        whose = "the panel" if parts[0].assessors == PANEL else parts[0].assessors
        yield Note(
            "changes to reverse",
            "least number of changes after which the other system is ahead; a change moves one judgment by one grade, "
            f"and a judgment can be moved several times; {count(n, 'judgment')} of {whose} can change, and documents "
            "without a judgment gain nothing; of two numbers, no fewer than the first suffice, and the second are "
            "shown to, by scoring again; none: it is proved that no changes suffice; this says how few could do it, "
            "not how likely they are",
        )
        if counted.moves_normaliser:
            yield Note("normaliser fixed", "the exact number if changes did not move the normaliser of a topic")
        yield Note(
            "changes to include 0",
            f"so many until the {percent(counted.confidence)} interval of the difference, by t over topics and for "
            "this pair alone, includes 0; an upper bound; 0: it does today",
        )
    for part in parts:
        if part.reason:
            yield Note("changes to reverse", f"not counted for {part.measure}: {part.reason}")
