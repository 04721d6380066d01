"""What models answered, and the share of questions without a judgment, by model, system and topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import Any

from qrowd.judge.exchange import Status
from qrowd.judge.failures import system_failures, totals
from qrowd.judge.outcome import STATUSES, Statuses, preferences_of
from qrowd.preferences.position import PositionBias
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.order_effect import order_effects, order_notes, order_table
from qrowd.reports.phrases import count, percent
from qrowd.reports.unanswered import counting_note, verdict

SEED = 1  # of the permutations behind p
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
        shares = system_failures(self.statuses, n_resamples=0).shares if self.systems else {}
        if failed and shares:
            low, high = min(shares, key=lambda one: shares[one]), max(shares, key=lambda one: shares[one])
            if shares[high] > shares[low]:
                text += (
                    f"; {percent(shares[low], 1)} of the questions on documents of {low} have none, and "
                    f"{percent(shares[high], 1)} of those on documents of {high}"
                )
        return f"{text}."

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {**self.statuses._tables(), **self._tables_of(order=self.order_effects)}

    @cached_property
    def order_effects(self) -> PositionBias | None:
        """What the order of two documents does to the preferences of each assessor; None where none were asked for."""
        return order_effects(preferences_of(self.statuses.outcomes))

    def to_document(self) -> Document:
        """A table by model, by system where there are runs, and by topic; .csv holds the first in full."""
        tables = [self._model_table()]
        notes = list(self.notes)
        if self.n_unasked:
            notes.insert(0, Note("not asked", f"{count(self.n_unasked, 'question')}; the same command goes on"))
        together = ", all models together" if len(self.statuses.counts(by="model")) > 1 else ""
        if self.order_effects is not None:
            tables.append(order_table(self.order_effects))
            notes += order_notes()
        if self.statuses.runs is not None:
            failures = system_failures(self.statuses, rng=SEED)
            tables.append(_table("system", f"questions on the documents of each system{together}", failures.counts))
            if not isnan(failures.p):
                notes.append(Note("systems", verdict(failures)))
            notes.append(counting_note(failures))
        topics = {topic: row for topic, row in totals(self.statuses, "topic").items() if row["ok"] < sum(row.values())}
        table = _table("topic", f"topics with failures{together}, the largest share first", topics)
        tables.append(replace(table, rows=table.rows[:N_TOPICS]))
        if len(topics) > N_TOPICS:
            notes.append(Note("topics", f"{N_TOPICS} of {len(topics):,} with failures are shown; all: -o FILE.json"))
        shown = tuple(table for table in tables if table.rows)
        return Document(self.sentence, shown, tuple(notes), self.to_frame, lambda: dict(self.records()))

    def _model_table(self) -> Table:
        """Counts and shares of all statuses that there are."""
        counts = self.statuses.counts(by="model")
        columns: dict[str, list[str]] = {"model": [key[0] for key in counts], "prompt": [key[1] for key in counts]}
        columns["questions"] = [f"{sum(row.values()):,}" for row in counts.values()]
        for status in _present(counts.values()):
            shares = [percent(row[status] / sum(row.values()), 1) for row in counts.values()]
            cells = zip(counts.values(), shares, strict=True)
            columns[NAMES.get(status, status)] = [f"{row[status]:,} ({share})" for row, share in cells]
        return Table.of("questions by model", columns)


def _table(noun: str, title: str, counts: Mapping[str, Mapping[Status, int]]) -> Table:
    """Shares of all statuses that there are, the largest share of failures first."""
    rows = sorted(
        ((name, row, sum(row.values())) for name, row in counts.items()), key=lambda one: one[1]["ok"] / one[2]
    )
    columns = {noun: [name for name, _, _ in rows], "questions": [f"{n:,}" for _, _, n in rows]}
    for status in _present(counts.values()):
        columns[NAMES.get(status, status)] = [percent(row[status] / n, 1) for _, row, n in rows]
    return Table.of(title, columns)


def _present(rows: Iterable[Mapping[Status, int]]) -> list[Status]:
    """The statuses that there are, in the order of the documentation."""
    counts = list(rows)
    return [status for status in STATUSES if status == "ok" or any(row[status] for row in counts)]
