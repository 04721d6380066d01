"""Names of systems on the page: short, different where the names are, and explained in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qrowd.reports.document import Note
from qrowd.reports.phrases import count
from qrowd.reports.report_content import ReportContent
from qrowd.reports.report_influence import Influence
from qrowd.reports.report_systems import Answer
from qrowd.reports.short_names import labels_of, renamed

LONGEST = 30  # letters of a label


class Labels:
    """{name: label} of the systems whose label differs, applied to what a report holds."""

    def __init__(self, systems: Sequence[str]) -> None:
        pairs = zip(systems, labels_of(systems, LONGEST), strict=True)
        self.names: Mapping[str, str] = {name: label for name, label in pairs if name != label}

    def of(self, name: str) -> str:
        """The label of a system; any other text as it is."""
        return self.names.get(name, name)

    def of_all(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self.of, names))

    def within(self, text: str) -> str:
        """The text with labels in place of names."""
        return renamed(text, self.names)

    def notes(self, notes: Sequence[Note]) -> tuple[Note, ...]:
        return tuple(Note(note.kind, self.within(note.text)) for note in notes)

    @property
    def note(self) -> str:
        """What was shortened, with an example; empty where nothing was."""
        if not self.names:
            return ""
        name = max(self.names, key=lambda name: len(name) - len(self.names[name]))
        return (
            f"Names of {count(len(self.names), 'system')} are shortened on this page by what they share or by their "
            f"middle, as in {self.names[name]} for {name}. Files keep the full names."
        )


def with_labels(report: ReportContent, labels: Labels) -> ReportContent:
    """The report with labels in place of the names of systems; names of files and the command stay."""
    if not labels.names:
        return report
    return replace(
        report,
        compared_with=labels.of(report.compared_with),
        baseline=None if report.baseline is None else labels.of(report.baseline),
        answer=_answer(report.answer, labels),
        systems=tuple(replace(row, system=labels.of(row.system)) for row in report.systems),
        pairs=tuple(replace(row, first=labels.of(row.first), second=labels.of(row.second)) for row in report.pairs),
        assessors=replace(
            report.assessors,
            rows=tuple(replace(row, best=labels.of(row.best)) for row in report.assessors.rows),
        ),
        methods=replace(
            report.methods,
            systems=labels.of_all(report.methods.systems),
            skipped=tuple((name, labels.within(reason)) for name, reason in report.methods.skipped),
            notes=tuple(map(labels.within, report.methods.notes)),
        ),
        notes=tuple(note if note.kind == "files" else labels.notes([note])[0] for note in report.notes),
        influence=None if report.influence is None else _influence(report.influence, labels),
        by_measure=None
        if report.by_measure is None
        else replace(
            report.by_measure,
            systems=labels.of_all(report.by_measure.systems),
            notes=labels.notes(report.by_measure.notes),
        ),
        related=None
        if report.related is None
        else replace(
            report.related,
            sentence=labels.within(report.related.sentence),
            rows=tuple(row | {"system": labels.of(row["system"])} for row in report.related.rows),
        ),
        unanswered=None
        if report.unanswered is None
        else replace(
            report.unanswered,
            sentence=labels.within(report.unanswered.sentence),
            systems=tuple(row | {"system": labels.of(row["system"])} for row in report.unanswered.systems),
        ),
    )


def _answer(answer: Answer, labels: Labels) -> Answer:
    return replace(
        answer,
        verdict=labels.within(answer.verdict),
        sentence=labels.within(answer.sentence),
        advice=labels.within(answer.advice),
        best_set=labels.within(answer.best_set),
        first=labels.of(answer.first),
        second=labels.of(answer.second),
        equals=labels.of_all(answer.equals),
        may_be_best=labels.of_all(answer.may_be_best),
    )


def _influence(one: Influence, labels: Labels) -> Influence:
    return replace(
        one,
        first=labels.of(one.first),
        second=labels.of(one.second),
        short=labels.within(one.short),
        sentence=labels.within(one.sentence),
        notes=tuple(map(labels.within, one.notes)),
    )
