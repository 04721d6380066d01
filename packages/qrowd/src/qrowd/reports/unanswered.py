"""Questions to models without an answer, beside the systems whose documents they leave unjudged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from qrowd.errors import ArgumentError
from qrowd.judge.outcome import SystemFailures, system_failures
from qrowd.model.chance import Rng
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import count, percent, probability

if TYPE_CHECKING:
    from qrowd.judge.outcome import Statuses
    from qrowd.model.runs import Runs
    from qrowd.paths import PathLike

SIGNIFICANT = 0.05  # p below which shares differ by more than chance


@dataclass(frozen=True)
class Unanswered:
    """Questions to models without an answer, of all models together. failures : by system."""

    sentence: str
    failures: SystemFailures

    @property
    def notes(self) -> tuple[Note, ...]:
        """What counts as a question of a system; and the sentence, where systems are not affected differently."""
        note = counting_note(self.failures)
        return (note,) if self.differs else (Note(note.kind, self.sentence), note)

    @property
    def differs(self) -> bool:
        """Whether the shares differ between systems by more than chance."""
        return self.failures.p < SIGNIFICANT

    def system_table(self, systems: Sequence[str]) -> Table:
        """The systems in this order."""
        shares, counts = self.failures.shares, self.failures.counts
        rows = [
            [system, f"{sum(counts[system].values()):,}", percent(shares[system], 1)]
            for system in systems
            if system in counts
        ]
        title = "questions to models on the documents of each system"
        return Table(title, ["system", "questions", "unanswered"], rows)


def unanswered(statuses: Statuses, *, rng: Rng = 1) -> Unanswered:
    """What `qrowd evaluate` says about questions without an answer.

    statuses : with the runs that are evaluated. rng : of the test whether shares differ between systems.

    Raises
    ------
    ArgumentError
        No run has a document that was asked about.
    """
    failures = system_failures(statuses, rng=rng)
    if not failures.counts:
        raise ArgumentError("the record has no question on documents of these runs; give the record of their judgments")
    return Unanswered(_sentence(statuses, failures), failures)


def read_unanswered(path: PathLike, runs: Runs, *, rng: Rng = 1) -> Unanswered:
    """The same of a record of `qrowd judge ask`."""
    from qrowd.judge.asking import answers_in

    return unanswered(answers_in(path, runs=runs).statuses, rng=rng)


def _sentence(statuses: Statuses, failures: SystemFailures) -> str:
    n = statuses.n_failed
    share = percent(n / statuses.n_questions, 1)
    have = "has" if n == 1 else "have"
    text = f"{n:,} of {count(statuses.n_questions, 'question')} to models ({share}) {have} no answer"
    if isnan(failures.p):
        return f"{text}."
    if failures.p >= SIGNIFICANT:
        return f"{text}; {verdict(failures)}."
    return f"{text}, and {verdict(failures)}: {extremes(failures)}."


def extremes(failures: SystemFailures) -> str:
    """For which systems the smallest and the largest share of questions has no answer."""
    shares = failures.shares
    low, high = (choose(shares, key=lambda one: shares[one]) for choose in (min, max))
    results = "documents" if failures.depth else "answers"
    return (
        f"{percent(shares[low], 1)} of the questions on {results} of {low} have none, and "
        f"{percent(shares[high], 1)} of those on {results} of {high}"
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
            f"; p: statuses permuted within each topic, {failures.n_resamples:,} times, so that it is small where "
            "failures go with the systems"
        )
    counted = f"with one of its documents at rank 1-{failures.depth}" if failures.depth else "whose answer it is about"
    text = f"what a question without an answer is about is unjudged; a question counts for each system {counted}{test}"
    return Note("unanswered", text)
