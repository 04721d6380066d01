"""Campaigns as tables for a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import count

if TYPE_CHECKING:
    from pandas import DataFrame

    from qrowd_server.campaigns.results.campaign_progress import Progress
    from qrowd_server.campaigns.results.quality import AssessorQuality, Quality
    from qrowd_server.campaigns.running.question_batches import QuestionProgress
    from qrowd_server.store.accounts import Account


Column = str | Callable[[Any], str]  # an attribute, or how a cell is made of a row


def all_campaigns(campaigns: Sequence[Progress]) -> Document:
    """One row per campaign."""
    columns: dict[str, Column] = {
        "campaign": "campaign",
        "protocol": "collects",
        "status": "status",
        "done": lambda row: f"{row.share:.0%}",
        "slots": "slots",
        "answers": "answers",
        "last answer": lambda row: _when(row.last),
    }
    n = len(campaigns)
    sentence = f"{count(n, 'campaign')}." if n else "No campaign yet; qrowd campaign init writes a folder for one."
    return _document(sentence, table_of("campaigns", campaigns, columns), n)


def all_accounts(accounts: Sequence[Account]) -> Document:
    """One row per account."""
    columns: dict[str, Column] = {
        "account": "name",
        "role": "role",
        "state": lambda row: "active" if row.disabled is None else "disabled",
        "password": lambda row: "yes" if row.has_password else "no",
        "created": lambda row: _when(row.created),
    }
    n = len(accounts)
    sentence = f"{count(n, 'account')}." if n else "No account yet; qrowd account add NAME adds one."
    return _document(sentence, table_of("accounts", accounts, columns), n)


def _document(sentence: str, table: Table, n: int) -> Document:
    return Document(sentence, (table,) if n else (), (), table_frame(table))


def table_of(title: str, rows: Sequence[Any], columns: Mapping[str, Column]) -> Table:
    cells = {
        name: [column(row) if callable(column) else _dash(getattr(row, column)) for row in rows]
        for name, column in columns.items()
    }
    return Table.of(title, cells)


def one_campaign(progress: Progress, qualities: Sequence[Quality]) -> Document:
    """The progress of a campaign by topic and arm. qualities : of each arm, where the assessors are printed, too."""
    columns: dict[str, Column] = {"arm": "arm"} if progress.arms else {}
    columns |= {"topic": "label", "documents": "documents", "slots": "slots", "done": "completed"}
    columns |= {"answers": "answers", "least": "least", "most": "most"}
    topics = table_of("topics", progress.topics, columns)
    outcomes = [
        f"{n} {word}" for word in ("failed", "screened_out", "expired", "withdrawn") if (n := getattr(progress, word))
    ]
    statuses = (f"{n} {status}" for status, n in sorted(progress.assessors.items()))
    notes = [f"Assessors: {', '.join(statuses) or 'none yet'}.", progress.models_in_words]
    if outcomes:
        notes.append(f"Units with another outcome, kept but not counted: {', '.join(outcomes).replace('_', ' ')}.")
    if progress.uncounted:
        notes.append(f"{count(progress.uncounted, 'answer is', 'answers are')} kept but not counted.")
    if progress.expected_end:
        notes.append(f"Expected end: {progress.expected_end}.")
    notes.append(progress.waiting)
    sentence = (
        f"{progress.campaign} is {progress.status}: {progress.completed} of {count(progress.slots, 'unit')} done, "
        f"{progress.open} under way, {count(progress.answers, 'answer counts', 'answers count')}."
    )
    if progress.question is not None:
        sentence = f"{progress.campaign} is {progress.status}. {progress.question.sentence}"
        notes += _of_question(progress.question)
    for quality in qualities:
        notes.append(f"{quality.arm}: {_agreement(quality)}" if quality.arm else _agreement(quality))
    return Document(sentence, (topics, *map(_assessors, qualities)), tuple(filter(None, notes)), table_frame(topics))


def _of_question(question: QuestionProgress) -> list[str]:
    """How far a question is, beside its sentence."""
    notes = [f"Question: {question.text}, confidence {question.confidence:g}, {question.target}."]
    notes.append(f"Drawn: {count(question.n_drawn, 'document')} of {question.n_documents:,}.")
    if question.to_go is not None and not question.answer:
        low, median, high = question.to_go
        notes.append(f"Expected to go: about {count(median, 'document')} (80 % interval {low} to {high}).")
    if question.models:
        notes.append(f"Labels by {', '.join(question.models)} help to predict grades.")
    return notes


def _assessors(quality: Quality) -> Table:
    columns: dict[str, Column] = {
        "assessor": "name",
        "kind": "kind",
        "status": "status",
        "done": "completed",
        "failed": lambda row: str(row.failed + row.screened_out),
        "lost": "lost",
        "answers": "answers",
        "seconds": lambda row: _dash(row.seconds, ".0f"),
        "backs": "backs",
        "agreement": lambda row: _dash(row.agreement, "z.2f"),
    }
    if quality.has_gold:
        columns |= {"gold": _gold, "accuracy": _accuracy}
    columns["remark"] = lambda row: row.excluded or "; ".join(filter(None, [row.reasons, row.unanswered]))
    return table_of(f"assessors of {quality.arm}" if quality.arm else "assessors", quality.assessors, columns)


def _gold(row: AssessorQuality) -> str:
    return "0" if row.accuracy is None else f"{row.accuracy.n_right} of {row.accuracy.n}"


def _accuracy(row: AssessorQuality) -> str:
    accuracy = row.accuracy
    return "-" if accuracy is None else f"{accuracy.value:.3f} [{accuracy.low:.3f}, {accuracy.high:.3f}]"


def _agreement(quality: Quality) -> str:
    if quality.alpha is not None:
        return f"Krippendorff's alpha ({quality.alpha.level}) of the answers that count: {quality.alpha.value:.3f}."
    if quality.pairs_alike is not None:
        return f"Pairs ordered alike by two assessors: {quality.pairs_alike:.0%}."
    return f"Agreement cannot be computed: {quality.why_not}."


def _when(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _dash(value: float | str | None, how: str = "") -> str:
    return "-" if value is None else format(value, how)


def table_frame(table: Table) -> Callable[[], DataFrame]:
    """Makes a data frame of a table."""

    def frame() -> DataFrame:
        import pandas

        return pandas.DataFrame(table.rows, columns=table.header)

    return frame
