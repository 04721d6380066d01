"""Questions to models without an answer, beside the systems whose documents they leave unjudged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from qrowd.errors import ArgumentError
from qrowd.judge.failures import SystemFailures, system_failures, totals
from qrowd.model.chance import Rng
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import count, percent, probability

if TYPE_CHECKING:
    from qrowd.judge.exchange import Status
    from qrowd.judge.outcome import Statuses
    from qrowd.model.runs import Runs
    from qrowd.paths import PathLike

SIGNIFICANT = 0.05  # p below which shares differ by more than chance
Row = dict[str, Any]


@dataclass(frozen=True)
class Unanswered:
    """Questions to models without an answer, as plain data.

    models : a row per model and prompt. topics, systems : of all models together, the largest share first. Rows hold
    the share without an answer, and that of each status that there is. p : that of `system_failures`.
    """

    sentence: str
    note: Note
    models: tuple[Row, ...]
    topics: tuple[Row, ...]
    systems: tuple[Row, ...]
    p: float

    @property
    def notes(self) -> tuple[Note, ...]:
        """What counts as a question of a system; and the sentence, where systems are not affected differently."""
        return (self.note,) if self.differs else (Note(self.note.kind, self.sentence), self.note)

    @property
    def differs(self) -> bool:
        """Whether the shares differ between systems by more than chance."""
        return self.p < SIGNIFICANT

    def system_table(self, systems: Sequence[str]) -> Table:
        """The systems in this order."""
        rows = {row["system"]: row for row in self.systems}
        shown = [rows[system] for system in systems if system in rows]
        cells = cells_of(self.systems)
        return Table.of(
            "questions to models on the documents of each system",
            {title_of(name): [text(row) for row in shown] for name, text in cells.items()},
        )


def cells_of(rows: Sequence[Row]) -> dict[str, Callable[[Row], str]]:
    """{field: its text} of rows of models, topics or systems."""

    def text(name: str) -> Callable[[Row], str]:
        if name == "questions":
            return lambda row: f"{row[name]:,}"
        return lambda row: row[name] if isinstance(row[name], str) else percent(row[name], 1)

    return {name: text(name) for name in rows[0]} if rows else {}


def title_of(name: str) -> str:
    """The header of a column."""
    return name.replace("_", " ")


def unanswered(statuses: Statuses, *, n_resamples: int = 1000, rng: Rng = None) -> Unanswered:
    """What the report and `qrowd evaluate` say about questions without an answer.

    statuses : with the runs that are evaluated. n_resamples, rng : of the test whether shares differ between systems.

    Raises
    ------
    ArgumentError
        No run has a document that was asked about.
    """
    failures = system_failures(statuses, n_resamples=n_resamples, rng=rng)
    if not failures.counts:
        raise ArgumentError("the record has no question on documents of these runs; give the record of their judgments")
    by_topic = totals(statuses, "topic")
    by_model = statuses.counts(by="model")
    present = [status for status in next(iter(by_model.values())) if status != "ok"]
    present = [status for status in present if any(row[status] for row in by_model.values())]
    return Unanswered(
        _sentence(statuses, failures),
        counting_note(failures),
        tuple({"model": model, "prompt": prompt, **_shares(row, present)} for (model, prompt), row in by_model.items()),
        tuple(sorted(({"topic": topic, **_shares(row, present)} for topic, row in by_topic.items()), key=_largest)),
        tuple(sorted(({"system": s, **_shares(row, present)} for s, row in failures.counts.items()), key=_largest)),
        failures.p,
    )


def read_unanswered(path: PathLike, runs: Runs, *, rng: Rng = None) -> Unanswered:
    """The same of a record of `qrowd judge ask`."""
    from qrowd.judge.asked import outcomes_in
    from qrowd.judge.outcome import Statuses

    return unanswered(Statuses(tuple(outcomes_in(path)[0]), runs), rng=rng)


def _shares(row: Mapping[Status, int], present: Sequence[Status]) -> Row:
    n = sum(row.values())
    return {"questions": n, "unanswered": 1 - row["ok"] / n} | {status: row[status] / n for status in present}


def _largest(row: Row) -> float:
    return -float(row["unanswered"])


def _sentence(statuses: Statuses, failures: SystemFailures) -> str:
    n, shares = statuses.n_failed, failures.shares
    share, have = percent(n / statuses.n_questions, 1), "has" if n == 1 else "have"
    text = f"{n:,} of {count(statuses.n_questions, 'question')} to models ({share}) {have} no answer"
    if isnan(failures.p):
        return f"{text}."
    if failures.p >= SIGNIFICANT:
        return f"{text}; {verdict(failures)}."
    low, high = min(shares, key=lambda one: shares[one]), max(shares, key=lambda one: shares[one])
    return (
        f"{text}, and {verdict(failures)}: {percent(shares[low], 1)} of the questions on documents "
        f"of {low}, {percent(shares[high], 1)} of those on documents of {high}."
    )


def verdict(failures: SystemFailures) -> str:
    """Whether the shares differ between systems by more than chance."""
    p = f"p = {probability(failures.p)}".replace("= <", "< ")
    if failures.p < SIGNIFICANT:
        return f"systems are affected differently ({p})"
    return f"there is no sign that systems are affected differently ({p})"


def counting_note(failures: SystemFailures) -> Note:
    """Which questions count for a system, and what p is."""
    test = ""
    if not isnan(failures.p):
        test = (
            f"; p: statuses permuted among the documents of each topic, {failures.n_resamples:,} times, so that it is "
            "small where failures go with the systems that retrieve a document"
        )
    return Note(
        "unanswered",
        "a document whose question has no answer is unjudged; a question counts for each system with one of its "
        f"documents at rank 1-{failures.depth}{test}",
    )
