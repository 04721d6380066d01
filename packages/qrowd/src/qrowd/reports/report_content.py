"""What the report holds: plain data, its tables, and the page that is drawn from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qrowd.reports.document import Note, Reported
from qrowd.reports.kinship import RelatedAssessors
from qrowd.reports.report_assessors import Assessors, Topics
from qrowd.reports.report_documents import Texts
from qrowd.reports.report_influence import Influence
from qrowd.reports.report_methods import SystemRankings
from qrowd.reports.report_systems import Answer, PairRow
from qrowd.reports.systems import SystemRow

if TYPE_CHECKING:
    from qrowd.reports.report_choices import PageData
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
    related : what related assessors change; None where none were declared. preferences : the agreement of assessors who
    prefer; None for grades. data : what the page computes with when a reader chooses assessors, topics or measure.
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
    methods: SystemRankings
    facts: Mapping[str, Any]
    notes: tuple[Note, ...]
    conventions: Mapping[str, Any]
    choices: Mapping[str, Any]
    versions: Mapping[str, str]
    provenance: Provenance
    influence: Influence
    data: PageData
    by_measure: SystemRankings | None = None
    related: RelatedAssessors | None = None
    preferences: PreferenceAgreement | None = None
    texts: Texts = field(default_factory=Texts)

    @property
    def documents_shown(self) -> set[tuple[str, str]]:
        """(topic, document) of the documents that are shown with their grades."""
        influence = (*self.influence.documents, *self.influence.disagreements)
        splits = {(row.topic, row.document) for row in self.topics.splits}
        return splits | {(row.topic, row.document) for row in influence}

    @property
    def sentence(self) -> str:
        """The answer in short."""
        kinship = "" if self.related is None else self.related.sentence
        parts = (f"{self.answer.verdict}.", self.answer.sentence.strip(), self.influence.short, kinship)
        return " ".join(filter(None, parts))
