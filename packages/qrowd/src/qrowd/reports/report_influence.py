"""The report on what the difference of the two leading systems rests on: how few judgments, and which documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, isinf
from textwrap import shorten
from typing import Annotated

from qrowd.errors import QrowdError
from qrowd.influence.decomposition import DecomposedDifference, decompose_difference
from qrowd.influence.disputed_documents import disagreements
from qrowd.influence.fragility import Fragility, fragility
from qrowd.influence.score_cells import ROUNDING
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.reports.disagreement_tables import DisagreementsReport, on_shared_scale
from qrowd.reports.document import Note, Section, Table
from qrowd.reports.phrases import count, signed, span
from qrowd.reports.table import Column, table_of

DOCUMENTS = 10  # of each list


@dataclass(frozen=True)
class DocumentRow:
    """A document of the difference of the two systems."""

    topic: Annotated[str, Column("topic")]
    document: Annotated[str, Column("document")]
    n_judgments: Annotated[int, Column("judgments")]
    part: Annotated[float, Column("part", signed, "what its judgments add to the difference")]
    text: Annotated[str | None, Column("text", partial(shorten, width=300, placeholder=" …"))]


@dataclass(frozen=True)
class ChangeRow:
    """A judgment that is moved by one grade of its assessor's scale.

    difference : first minus second after it and all above it.
    """

    topic: Annotated[str, Column("topic")]
    document: Annotated[str, Column("document")]
    assessor: Annotated[str, Column("assessor")]
    before: Annotated[float, Column("grade", "{:g}".format)]
    after: Annotated[float, Column("moved to", "{:g}".format)]
    difference: Annotated[float, Column("difference", signed, "after this change and those above it, scored again")]


def influence_section(
    runs: Runs,
    judgments: Judgments,
    measure: str,
    first: str,
    second: str,
    texts: Mapping[str, str],
    conventions: Conventions,
) -> Section:
    """How few changes of judgments reverse the difference of two systems, and the documents that matter for it."""
    section = Section("evidence", "What the difference rests on", "")
    pair = runs.select(systems=lambda name: name in (first, second))
    try:
        whole = decompose_difference(pair, judgments, first, second, measure, conventions=conventions)
    except QrowdError as error:
        return replace(section, sentence=f"What the difference rests on is not shown: {error}.")
    tables: dict[str, Table] = {}
    notes: list[Note | str] = []
    sentences: list[str] = []
    headline = ""
    if abs(whole.difference) <= ROUNDING:
        sentences.append(f"By {measure}, {first} and {second} are level, so that no change reverses their difference.")
    else:
        try:
            fragile = fragility(pair, judgments, measure, conventions=conventions)
        except QrowdError as error:
            why = str(error).removeprefix("change='grade': ")
            sentences.append(f"How few judgments would reverse the difference is not counted: {why}.")
        else:
            headline = _reversal(fragile, conventions.graded(judgments))
            sentences.append(f"{headline} That says how few could do it, not how likely it is.")
            tables["changes"] = _changes(fragile, first, second)
    if whole.documents is None:  # no sum over judgments, but bounds by scoring again
        sentences.append(f"By {measure} a difference is no sum over judgments, so that no document has a part of it.")
    else:
        if abs(whole.difference) > ROUNDING:
            sentences.append(_concentration(whole))
        tables["documents"] = _documents(whole, texts)
        try:
            shared = on_shared_scale(conventions, judgments)
            disputed = disagreements(pair, judgments, measure, systems=(first, second), conventions=shared)
        except QrowdError as error:
            notes.append(Note("disagreements", f"not shown: {error}"))
        else:
            differing = DisagreementsReport(disputed, n_documents=DOCUMENTS).to_document()
            tables["disagreements"] = differing.tables[0]
            notes += differing.notes
    return replace(
        section,
        sentence=" ".join(sentences),
        headline=headline,
        tables={name: table for name, table in tables.items() if table.rows},
        notes=tuple(notes),
        values={"n_documents": whole.n_documents},
    )


def _reversal(fragile: Fragility, judgments: Judgments) -> str:
    """How few changes of judgments put the system ahead that is behind, and how many of them take a whole scale."""
    behind = fragile.second[0] if fragile.difference[0] > 0 else fragile.first[0]
    low = float(fragile.n_changes_low[0])
    high = float(fragile.n_changes_high[0])
    where = count(fragile.n_judgments, "judgment")
    if isinf(low):
        return f"No changes by one grade each would put {behind} ahead."
    if isinf(high):
        return f"No changes by one grade in {where} were found that put {behind} ahead; at least {low:,.0f} are needed."
    changes = "1 change" if low == high == 1 else f"{span(low, high)} changes"
    scales = dict(zip(judgments.assessors, judgments.scales, strict=True))
    listed = fragile.changes(fragile.first[0], fragile.second[0]).assessors
    n = sum(scales[name].maximum == 1 for name in listed)
    whole = f"; between yes and no, a whole scale: {n:,} of the {len(listed):,} listed" if n else ""
    return f"It would take {changes} by one grade in {where} to put {behind} ahead{whole}."


def _changes(fragile: Fragility, first: str, second: str) -> Table:
    """The judgments that are changed, in order; none where no changes do it."""
    possible = isfinite(fragile.n_changes_high[0])
    rows = [ChangeRow(**record) for record in fragile.changes(first, second)._records()] if possible else []
    return table_of("Changes of judgments that reverse the difference", rows)


def _concentration(whole: DecomposedDifference) -> str:
    """How many documents have a part, and the least number of them that adds up to the difference."""
    n, n_enough = whole.n_documents, whole.n_documents_enough
    return (
        f"{count(n, 'judged document')} {'adds' if n == 1 else 'add'} to the difference of {whole.first} and "
        f"{whole.second} by {whole.measure}, {signed(whole.difference, 3)}; "
        f"{count(n_enough, 'of them alone adds', 'of them alone add')} as much."
    )


def _documents(whole: DecomposedDifference, texts: Mapping[str, str]) -> Table:
    """The documents with the largest parts."""
    assert whole.documents is not None
    records = whole.documents._records()[: min(DOCUMENTS, whole.n_documents)]
    rows = [DocumentRow(**record, text=texts.get(record["document"])) for record in records]
    return table_of(f"Documents with the largest parts of {whole.first} minus {whole.second}", rows)
