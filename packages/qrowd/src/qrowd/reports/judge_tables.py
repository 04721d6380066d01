"""What models answered, and the share of questions without a judgment, by model, system and topic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from math import isnan
from typing import TYPE_CHECKING

from qrowd.judge.exchange import Status
from qrowd.judge.outcome import STATUSES, Statuses, preferences_of, system_failures
from qrowd.model.result import Tables
from qrowd.preferences.position import PositionBias
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.order_effect import order_effects, order_notes, order_table
from qrowd.reports.phrases import count, percent
from qrowd.reports.table import Column, frame_table
from qrowd.reports.unanswered import counting_note, extremes, verdict

if TYPE_CHECKING:
    import pandas

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
    def sentence(self) -> str:
        """How many questions have a judgment, and for which system the largest share has none."""
        n = self.statuses.n_questions
        failed = self.statuses.n_failed
        if not n:
            return "No question has been asked."
        text = f"{n - failed:,} of {count(n, 'question')} {'has' if n - failed == 1 else 'have'} an answer"
        failures = system_failures(self.statuses, n_resamples=0)
        return f"{text}; {extremes(failures)}." if len(set(failures.shares.values())) > 1 else f"{text}."

    def _tables(self) -> Tables:
        return {**self.statuses._tables(), **self._tables_of(order=self.order_effects)}

    @cached_property
    def order_effects(self) -> PositionBias | None:
        """What the order of two documents does to the preferences of each assessor; None where none were asked for."""
        return order_effects(preferences_of(self.statuses.outcomes))

    def _document(self) -> Document:
        """A table by model, by system where there are runs, and by topic; .csv holds the first in full."""
        frames = {
            name: self.statuses.to_frame(what=name).sort_values("ok", kind="stable") for name in self.statuses._tables()
        }
        failing = frames["topic"][frames["topic"]["ok"] < 1]
        tables = [_table("questions by model", frames["model"])]
        notes = list(self.notes)
        if self.n_unasked:
            notes.insert(0, Note("not asked", f"{count(self.n_unasked, 'question')}; the same command goes on"))
        if self.order_effects is not None:
            tables.append(order_table(self.order_effects))
            notes += order_notes()
        if self.statuses.systems:
            failures = system_failures(self.statuses, rng=SEED)
            tables.append(_table("questions by system", frames["system"]))
            if not isnan(failures.p):
                notes.append(Note("systems", verdict(failures)))
            notes.append(counting_note(failures))
        if len(failing):
            tables.append(_table("topics with failures, the largest share first", failing.head(N_TOPICS)))
        if len(failing) > N_TOPICS:
            notes.append(Note("topics", f"{N_TOPICS} of {len(failing):,} with failures are shown; all: -o FILE.json"))
        return Document(self.sentence, tuple(tables), tuple(notes), self.to_frame, lambda: dict(self.records()))


COLUMNS: dict[str, Column] = {
    "model": Column("model"),
    "prompt": Column("prompt"),
    "system": Column("system"),
    "topic": Column("topic"),
    "questions": Column("questions", "{:,}".format),
    **{status: Column(NAMES.get(status, status), partial(percent, digits=1)) for status in STATUSES},
}


def _table(title: str, frame: pandas.DataFrame) -> Table:
    """Shares of the statuses that there are."""
    absent = [status for status in STATUSES if status != "ok" and not frame[status].any()]
    return frame_table(title, frame.drop(columns=absent), COLUMNS)
