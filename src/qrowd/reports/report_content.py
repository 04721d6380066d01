"""What the report holds, as plain data and as tables; `qrowd.reports.report` computes it, `report_page` draws it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from qrowd.reports.document import Document, Note, Reported, Table, columns_of
from qrowd.reports.phrases import interval, number, probability, signed
from qrowd.reports.report_assessors import Assessors, Topics
from qrowd.reports.report_methods import Methods
from qrowd.reports.report_systems import Answer, PairRow
from qrowd.reports.systems import SystemRow, system_columns, system_table


@dataclass(frozen=True)
class InputFile:
    """A file that was read. role : runs, judgments ...; sha256 : of its bytes as they lie on disk."""

    role: str
    path: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """How to make the same page again. command : as typed; empty where a program asked. date : of the page, if any."""

    command: str = ""
    files: tuple[InputFile, ...] = ()
    date: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class ReportContent(Reported):
    """What the page shows.

    compared_with : the system that all others are compared with, the baseline or the leader. reference : an assessor
    who is not part of the panel and with whom all assessors are compared.
    notes : one for each convention that mattered. facts : sizes of the data.
    """

    title: str
    measure: str
    compared_with: str
    baseline: str | None
    reference: str | None
    answer: Answer
    systems: tuple[SystemRow, ...]
    pairs: tuple[PairRow, ...]
    assessors: Assessors
    topics: Topics
    methods: Methods
    facts: Mapping[str, Any]
    notes: tuple[Note, ...]
    conventions: Mapping[str, Any]
    choices: Mapping[str, Any]
    versions: Mapping[str, str]
    provenance: Provenance

    @property
    def sentence(self) -> str:  # type: ignore[override]
        """The answer in short."""
        return f"{self.answer.verdict}. {self.answer.sentence}"

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """One row per system, pair of leading systems, assessor, topic, or system and method."""
        return {
            "systems": self._system_columns,
            "pairs": lambda: columns_of([vars(row) for row in self.pairs]),
            "assessors": lambda: columns_of([vars(row) for row in self.assessors.rows]),
            "topics": lambda: columns_of([vars(row) for row in self.topics.rows]),
            "methods": lambda: columns_of(self.methods.records()),
        }

    def _system_columns(self) -> dict[str, Any]:
        """The table of systems, with their ranks by each method."""
        columns = system_columns(self.systems)
        for ranking in self.methods.rankings:
            ranks = dict(zip(self.methods.systems, ranking.ranks, strict=True))
            name = f"rank_by_{ranking.name.replace(' ', '_').replace('-', '_').lower()}"
            columns[name] = [ranks[row.system] for row in self.systems]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """All of it as dictionaries, tuples and numbers."""
        return asdict(self) | {"notes": list(map(str, self.notes))}

    def to_document(self) -> Document:
        """The tables for papers and programs: .csv holds one row per system, .json everything."""
        notes = (*self.assessors.weight_notes, *self.notes)
        return Document(self.sentence, tuple(_tables(self)), notes, self.to_frame, self.to_dict)


# ---------------------------------------------------------------------- as tables


def _tables(report: ReportContent) -> Iterable[Table]:
    """Systems, pairs, assessors, topics, ranks by method."""
    columns = ["system", "mean", "interval", "difference", "interval of difference", "p", "rank interval"]
    yield system_table(
        f"{report.measure}: systems, compared with {report.compared_with}",
        report.systems,
        [*columns, "may be the best", "first for"],
        baseline=report.compared_with,
    )
    yield Table(
        f"{report.measure}: each pair of the leading systems",
        ["system", "ahead of", "difference", "interval", "p", "assessors who agree", "another panel would agree"],
        [
            [
                row.first,
                row.second,
                signed(row.difference),
                interval(row.low, row.high),
                probability(row.p),
                f"{row.ahead_for} of {row.n_ranking}",
                number(row.another_panel, 2),
            ]
            for row in report.pairs
        ],
    )
    yield Table(
        "assessors",
        [
            "assessor",
            "scale",
            "judgments",
            "topics",
            "agreement",
            "severity",
            "same again",
            "seconds",
            "tau-b",
            "AWARE",
        ],
        [
            [
                row.assessor,
                row.scale,
                f"{row.n_judgments:,}",
                str(row.n_topics),
                number(row.agreement, 3),
                signed(row.severity, 3),
                number(row.consistency, 2),
                number(row.seconds, 1),
                number(row.tau_b, 3),
                number(row.accuracy, 3),
            ]
            for row in report.assessors.rows
        ],
    )
    yield Table(
        "topics",
        ["topic", "alpha", "mean score", "documents", "assessors"],
        [
            [row.topic, number(row.alpha, 3), number(row.ease, 3), str(row.n_documents), str(row.n_assessors)]
            for row in report.topics.rows
        ],
    )
    yield Table(
        f"{report.measure}: ranks by each method that combines the assessors",
        ["system", *(ranking.name for ranking in report.methods.rankings)],
        [
            [system, *(str(ranking.ranks[s] or "-") for ranking in report.methods.rankings)]
            for s, system in enumerate(report.methods.systems)
        ],
    )
