"""What models answered, and the share of questions without a judgment, by model, system and topic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qrowd.judge.exchange import Status
from qrowd.judge.outcome import STATUSES, Statuses
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.phrases import count, percent

NAMES: dict[Status, str] = {"cut_off": "cut off", "out_of_scale": "out of scale", "text_missing": "text missing"}
N_TOPICS = 10  # with the largest shares of failures, that the table shows


@dataclass(frozen=True, eq=False, repr=False)
class JudgingReport(Reported):
    """The answer of `qrowd judge ask` and `qrowd judge status`.

    statuses : of all questions. n_unasked : questions that have not been asked. notes : what else there is to know.
    """

    statuses: Statuses
    n_unasked: int = 0
    notes: tuple[Note, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems of the runs."""
        return () if self.statuses.runs is None else self.statuses.runs.systems

    @property
    def sentence(self) -> str:
        """How many questions have a judgment, and for which system the largest share has none."""
        n, failed = self.statuses.n_questions, self.statuses.n_failed
        if not n:
            return "No question has been asked."
        text = f"{n - failed:,} of {count(n, 'question')} {'has' if n - failed == 1 else 'have'} an answer"
        shares = self._failed_by_system()
        if failed and shares:
            low, high = min(shares, key=lambda one: shares[one]), max(shares, key=lambda one: shares[one])
            if shares[high] > shares[low]:
                text += (
                    f"; {percent(shares[low], 1)} of the questions on documents of {low} have none, and "
                    f"{percent(shares[high], 1)} of those on documents of {high}"
                )
        return f"{text}."

    def _failed_by_system(self) -> dict[str, float]:
        totals: dict[str, list[int]] = {}
        for key, row in self.statuses.counts(by="system").items():
            total = totals.setdefault(key[-1], [0, 0])
            total[0] += sum(row.values()) - row["ok"]
            total[1] += sum(row.values())
        return {system: failed / n for system, (failed, n) in totals.items()}

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return dict(self.statuses._tables())

    def to_document(self) -> Document:
        """A table by model, by system where there are runs, and by topic; .csv holds the first in full."""
        tables = [self._table("model", "questions by model")]
        if self.statuses.runs is not None:
            tables.append(self._table("system", "questions on the documents of each system"))
        tables.append(
            self._table("topic", f"topics with failures, the {N_TOPICS} with the largest share first", N_TOPICS)
        )
        notes = list(self.notes)
        if self.n_unasked:
            notes.insert(0, Note("not asked", f"{count(self.n_unasked, 'question')}; the same command goes on"))
        if self.statuses.runs is not None:
            notes.append(
                Note(
                    "systems",
                    f"a question counts for each system with one of its documents at rank 1-{self.statuses.depth}",
                )
            )
        shown = tuple(table for table in tables if table.rows)
        return Document(self.sentence, shown, tuple(notes), self.to_frame, lambda: dict(self.records()))

    def _table(self, by: str, title: str, most: int | None = None) -> Table:
        """Shares of all statuses that there are; of topics only those with failures."""
        counts = self.statuses.counts(by=by)
        present = [status for status in STATUSES if status == "ok" or any(row[status] for row in counts.values())]
        rows = [(key, row, sum(row.values())) for key, row in counts.items()]
        if most is not None:
            failed = [one for one in rows if one[1]["ok"] < one[2]]
            rows = sorted(failed, key=lambda one: one[1]["ok"] / one[2])[:most]
        columns = {} if by == "model" else {by: [key[-1] for key, _, _ in rows]}
        columns |= {"model": [key[0] for key, _, _ in rows], "prompt": [key[1] for key, _, _ in rows]}
        columns["questions"] = [f"{n:,}" for _, _, n in rows]
        for status in present:
            columns[NAMES.get(status, status)] = [percent(row[status] / n, 1) for _, row, n in rows]
        return Table.of(title, columns)
