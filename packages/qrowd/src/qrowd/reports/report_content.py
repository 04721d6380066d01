"""What the report holds, as plain data. `report_tables` describes its tables, `report_page` draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from qrowd.reports.columns import records_of
from qrowd.reports.document import Note, Reported, columns_of
from qrowd.reports.kinship import RelatedAssessors
from qrowd.reports.report_assessors import Assessors, Topics
from qrowd.reports.report_influence import Influence, influence_records
from qrowd.reports.report_measures import ByMeasure
from qrowd.reports.report_methods import Methods
from qrowd.reports.report_systems import Answer, PairRow
from qrowd.reports.report_texts import Texts
from qrowd.reports.systems import SystemRow
from qrowd.reports.unanswered import Unanswered

if TYPE_CHECKING:
    from qrowd.reports.report_preferences import PreferenceAgreement


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
    influence : what the difference of the leader and the next system rests on.
    by_measure : rankings by several measures; None for one. texts : of topics and of the documents that are shown.
    related : what related assessors change; None where none were declared. unanswered : questions to models without an
    answer; None where no record was given. preferences : the agreement of assessors who prefer; None for grades.
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
    influence: Influence | None = None
    by_measure: ByMeasure | None = None
    related: RelatedAssessors | None = None
    unanswered: Unanswered | None = None
    preferences: PreferenceAgreement | None = None
    texts: Texts = field(default_factory=Texts)

    @property
    def documents_shown(self) -> set[tuple[str, str]]:
        """(topic, document) of the documents that are shown with their grades."""
        one = self.influence
        shown = {(row.topic, row.document) for row in self.topics.splits}
        return shown | {(row.topic, row.document) for row in (*one.documents, *one.disagreements)} if one else shown

    @property
    def sentence(self) -> str:
        """The answer in short."""
        influence = f" {self.influence.short}" if self.influence and self.influence.short else ""
        kinship = "" if self.related is None else f" {self.related.sentence}"
        failures = f" {self.unanswered.sentence}" if self.unanswered and self.unanswered.differs else ""
        return f"{self.answer.verdict}. {self.answer.sentence}{influence}{kinship}{failures}"

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """One row per system, leading pair, assessor, topic, system and method, document, judgment or system."""
        return {
            "systems": self._system_columns,
            "pairs": lambda: columns_of([vars(row) for row in self.pairs]),
            "assessors": lambda: columns_of([vars(row) for row in self.assessors.rows]),
            "topics": lambda: columns_of([vars(row) for row in self.topics.rows]),
            "methods": lambda: columns_of(self.methods.records()),
            **({"measures": partial(columns_of, self.by_measure.records())} if self.by_measure else {}),
            **({name: partial(columns_of, rows) for name, rows in influence_records(self.influence).items()}),
            **({"kinship": partial(columns_of, list(self.related.rows))} if self.related else {}),
            **({"unanswered": partial(columns_of, self.unanswered.systems)} if self.unanswered else {}),
        }

    def _system_columns(self) -> dict[str, Any]:
        """The table of systems, with their ranks by each method."""
        columns = columns_of(records_of(self.systems))
        for ranking in self.methods.rankings:
            ranks = dict(zip(self.methods.systems, ranking.ranks, strict=True))
            name = f"rank_by_{ranking.name.replace(' ', '_').replace('-', '_').lower()}"
            columns[name] = [ranks[row.system] for row in self.systems]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """All of it as dictionaries, tuples and numbers."""
        content = asdict(replace(self, preferences=None)) | {"notes": list(map(str, self.notes))}
        return content | {"preferences": None if self.preferences is None else self.preferences.to_dict()}
