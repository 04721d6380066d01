"""What gullibility probes show of models, in a sentence and a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.judge.outcome import STATUSES
from qrowd.judge.probes import UNALTERED, ProbeResult
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.judging import NAMES
from qrowd.reports.phrases import count, interval, percent, signed

MEANING = {
    UNALTERED: "documents of other topics as they are",
    "query-words": "the words of the query at random places of the text",
    "query-first": "the query before the text",
    "claim": "a sentence at the end that calls the text perfectly relevant",
}

ANSWERED = {
    True: "pairs with a judgment of the unaltered and of the altered text",
    False: "pairs with an answer in both orders",
}
CHANGE = {
    True: "mean change of the grade",
    False: "share of answers that prefer the altered text minus that of answers that prefer the original",
}


@dataclass(frozen=True, eq=False, repr=False)
class ProbeReport(Reported):
    """The answer of `qrowd judge probe`. result : of the probes. notes : what else there is to know."""

    result: ProbeResult
    notes: tuple[Note, ...] = ()

    @property
    def sentence(self) -> str:
        """How many probes change the judgments of a model significantly, and which one does most of all."""
        rows = [row for row in self.result.rows if not np.isnan(row.low)]
        if not rows:
            return "No probe has answers of two topics to the unaltered and to the altered text."
        changed = [row for row in rows if row.low > 0 or row.high < 0]
        if not changed:
            return (
                f"None of {count(len(rows), 'probe')} changes the judgments of a model significantly; the intervals "
                f"allow for a rise by up to {max(row.high for row in rows):.2f}."
            )
        most = max(changed, key=lambda row: abs(row.change))
        verb = "changes" if len(changed) == 1 else "change"
        return (
            f"{len(changed)} of {count(len(rows), 'probe')} {verb} the judgments of a model significantly, most of all "
            f"{most.probe} those of {most.model}+{most.prompt}, by {signed(most.change, 2)} "
            f"{interval(most.low, most.high, 2)}."
        )

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return self._tables_of(probes=self.result)

    def to_document(self) -> Document:
        """One row per model, prompt and probe."""
        rows = self.result.rows
        columns: dict[str, list[str]] = {
            "model": [row.model for row in rows],
            "prompt": [row.prompt for row in rows],
            "probe": [row.probe for row in rows],
            "pairs": [f"{row.n_pairs:,}" for row in rows],
            "answered": [f"{row.n_answered:,}" for row in rows],
        }
        graded = any(row.probe == UNALTERED for row in rows)
        if graded:
            columns["relevant"] = [percent(row.relevant_unaltered, 1) for row in rows]
            columns["relevant, altered"] = [percent(row.relevant_altered, 1) for row in rows]
        columns["change"] = [signed(row.change, 2) for row in rows]
        columns["interval"] = [interval(row.low, row.high, 2) for row in rows]
        for status in STATUSES:
            if status != "ok" and any(row.statuses[status] > 0 for row in rows):
                columns[NAMES.get(status, status)] = [percent(row.statuses[status], 1) for row in rows]
        table = Table.of("judgments of documents of other topics", columns)
        return Document(self.sentence, (table,), (*self._own_notes(graded), *self.notes), self.to_frame)

    def _own_notes(self, graded: bool) -> list[Note]:
        """What columns mean. graded : whether the unaltered texts were judged by themselves, not compared."""
        rows = self.result.rows
        probes = dict.fromkeys(row.probe for row in rows)
        notes = [
            Note("probes", "; ".join(f"{probe}: {MEANING[probe]}" for probe in probes)),
            Note("answered", ANSWERED[graded]),
            Note("change", CHANGE[graded]),
            Note(
                "intervals",
                f"all hold together with confidence {percent(self.result.confidence)}; topics are the clusters, and "
                "where nothing changes they still have a width",
            ),
            Note("seed", f"{self.result.seed}"),
        ]
        if any(row.statuses["ok"] < 1 for row in rows):
            notes.append(Note("failures", "are no change of a judgment, but the model fails on such documents"))
        if self.result.n_unasked:
            notes.insert(0, Note("not asked", f"{count(self.result.n_unasked, 'question')}; the same command goes on"))
        return notes
