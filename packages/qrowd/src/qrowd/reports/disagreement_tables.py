"""Documents on which assessors disagree, with what that changes and all grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from qrowd.influence.disputed_documents import Disagreements
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.result import Tables
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.phrases import cells, number, signed

Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, eq=False, repr=False)
class DisagreementsReport(Reported):
    """The answer of `qrowd disagreements`. topics, documents : texts, where there are any. n_documents : shown."""

    result: Disagreements
    topics: Texts = field(default_factory=dict)
    documents: Texts = field(default_factory=dict)
    n_documents: int = 20

    @property
    def signature(self) -> str:
        """That of the result."""
        return self.result.signature

    @property
    def sentence(self) -> str:
        """How many documents, and how many of them matter."""
        return (
            self.result._sentence()
            if self.result.n_judged
            else "No document was judged by two assessors: let a second assessor judge some of the documents."
        )

    def _tables(self) -> Tables:
        """A row for each document, with its texts; a row for each judgment."""
        tables = self.result._tables()
        return {"documents": self._of_documents, "judgments": lambda: dict(tables["judgments"]())}

    def _of_documents(self) -> dict[str, Any]:
        one = self.result
        columns = dict(one._tables()["documents"]())
        if self.topics:
            columns["query"] = [self.topics.get(topic, {}).get("title", "") for topic in one.topics]
        if self.documents:
            for name in ("title", "text"):
                columns[name] = [self.documents.get(document, {}).get(name, "") for document in one.documents]
        return columns

    def _document(self) -> Document:
        """The first documents; .csv holds all of them, with texts where there are any."""
        one, n = self.result, self.n_documents
        title = f"documents on which assessors disagree (the first {min(n, len(one.topics))} of {len(one.topics):,})"
        columns = {
            "topic": one.topics[:n],
            "document": one.documents[:n],
            "sd": cells(number, one.sd[:n], digits=2),
            "effect": one.effect[:n],
            **({} if len(one.systems) < 3 else {"first system": one.first[:n], "second system": one.second[:n]}),
            "lowest": cells(signed, one.difference_lowest[:n]),
            "highest": cells(signed, one.difference_highest[:n]),
            "reversed": one.n_reversed[:n],
            "grades": one.grades[:n],
        }
        return Document(self.sentence, (Table.of(title, columns),), tuple(self._notes()), self.to_frame, self.records)

    def _notes(self) -> list[Note]:
        one = self.result
        several = "first minus second system, of the pair with the largest"
        which = several if len(one.systems) > 2 else " minus ".join(one.systems)
        return [
            *([Note("grades", "divided by the maximum of their scale, as scales differ")] if one.rescaled else []),
            Note("order", "by sd x effect; sd: standard deviation of the gains of the judgments of a document"),
            Note(
                "effect",
                f"change of the difference, {which}, between all assessors of the document giving its lowest grade and "
                "all giving its highest",
            ),
            Note("reversed", "pairs of systems of which another is ahead between the two"),
        ]


def on_shared_scale(conventions: Conventions, judgments: Judgments) -> Conventions:
    """Conventions that divide grades by the maximum of their scale where assessors judge on several."""
    return conventions if alike(judgments.scales) else replace(conventions, grades="rescaled")
