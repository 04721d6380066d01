"""Campaigns as tables for a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import count

if TYPE_CHECKING:
    from pandas import DataFrame

    from qrowd_server.campaigns.results.progress import Progress
    from qrowd_server.campaigns.results.quality import AssessorQuality, Quality
    from qrowd_server.campaigns.running.question import QuestionProgress
    from qrowd_server.store.accounts import Account


def all_campaigns(campaigns: Sequence[Progress]) -> Document:
    """One row per campaign."""
    columns = {
        "campaign": [one.campaign for one in campaigns],
        "protocol": [one.collects for one in campaigns],
        "status": [one.status for one in campaigns],
        "done": [f"{one.share:.0%}" for one in campaigns],
        "slots": [str(one.slots) for one in campaigns],
        "answers": [str(one.answers) for one in campaigns],
        "last answer": [_when(one.last) for one in campaigns],
    }
    table, n = Table.of("campaigns", columns), len(campaigns)
    sentence = f"{count(n, 'campaign')}." if n else "No campaign yet; qrowd campaign init writes a folder for one."
    return Document(sentence, (table,) if n else (), (), table_frame(table))


def all_accounts(accounts: Sequence[Account]) -> Document:
    """One row per account."""
    columns = {
        "account": [one.name for one in accounts],
        "role": [str(one.role) for one in accounts],
        "state": ["active" if one.disabled is None else "disabled" for one in accounts],
        "password": ["yes" if one.has_password else "no" for one in accounts],
        "providers": [", ".join(one.providers) for one in accounts],
        "created": [_when(one.created) for one in accounts],
    }
    table, n = Table.of("accounts", columns), len(accounts)
    sentence = f"{count(n, 'account')}." if n else "No account yet; qrowd account add NAME adds one."
    return Document(sentence, (table,) if n else (), (), table_frame(table))


def one_campaign(progress: Progress, qualities: Sequence[Quality]) -> Document:
    """The progress of a campaign by topic and arm. qualities : of each arm, where the assessors are printed, too."""
    arms = {"arm": [topic.arm for topic in progress.topics]} if progress.arms else {}
    columns = {
        **arms,
        "topic": [topic.label for topic in progress.topics],
        "documents": [str(topic.documents) for topic in progress.topics],
        "slots": [str(topic.slots) for topic in progress.topics],
        "done": [str(topic.completed) for topic in progress.topics],
        "answers": [str(topic.answers) for topic in progress.topics],
        "least": [_dash(topic.least) for topic in progress.topics],
        "most": [_dash(topic.most) for topic in progress.topics],
    }
    topics = Table.of("topics", columns)
    tables = [topics]
    outcomes = [
        f"{n} {word}" for word in ("failed", "screened_out", "expired", "withdrawn") if (n := getattr(progress, word))
    ]
    statuses = (f"{n} {_in_words(status)}" for status, n in sorted(progress.assessors.items()))
    notes = [f"Assessors: {', '.join(statuses) or 'none yet'}."]
    if progress.models:
        notes.append(f"{count(progress.models, 'assessor is a model', 'assessors are models')}.")
    if outcomes:
        notes.append(f"Units with another outcome, kept but not counted: {', '.join(outcomes).replace('_', ' ')}.")
    if progress.uncounted:
        notes.append(f"{count(progress.uncounted, 'answer is', 'answers are')} kept but not counted.")
    if progress.ends is not None:
        notes.append(f"Expected end: {_when(progress.ends)}.")
    if progress.question is not None:
        notes += _of_question(progress.question)
    for quality in qualities:
        tables.append(_assessors(quality))
        notes.append(f"{quality.arm}: {_agreement(quality)}" if quality.arm else _agreement(quality))
    if progress.question is not None:
        sentence = f"{progress.campaign} is {progress.status}. {progress.question.sentence}"
        return Document(sentence, tuple(tables), tuple(notes), table_frame(topics))
    sentence = (
        f"{progress.campaign} is {progress.status}: {progress.completed} of {count(progress.slots, 'unit')} done, "
        f"{progress.open} under way, {count(progress.answers, 'answer counts', 'answers count')}."
    )
    return Document(sentence, tuple(tables), tuple(notes), table_frame(topics))


def _of_question(question: QuestionProgress) -> list[str]:
    """How far a question is, beside its sentence."""
    notes = [f"Question: {question.text}, confidence {question.confidence:g}, {question.target}."]
    notes.append(f"Drawn: {count(question.n_drawn, 'document')} of {question.n_documents:,}.")
    if question.to_go is not None and not question.answer:
        low, median, high = question.to_go
        notes.append(f"Expected to go: about {count(median, 'judgment')} (80 % interval {low} to {high}).")
    if question.models:
        notes.append(f"Labels by {', '.join(question.models)} help to predict grades.")
    return notes


def _assessors(quality: Quality) -> Table:
    assessors = quality.assessors
    columns = {
        "assessor": [one.name for one in assessors],
        "kind": [one.kind for one in assessors],
        "status": [one.status for one in assessors],
        "done": [str(one.completed) for one in assessors],
        "failed": [str(one.failed + one.screened_out) for one in assessors],
        "lost": [str(one.lost) for one in assessors],
        "answers": [str(one.answers) for one in assessors],
        "seconds": [_dash(one.seconds, ".0f") for one in assessors],
        "fast": [_dash(one.fast, ".0%") for one in assessors],
        "backs": [str(one.backs) for one in assessors],
        "agreement": [_dash(one.agreement, ".2f") for one in assessors],
        **(_of_gold(assessors) if quality.has_gold else {}),
        "remark": [one.excluded or one.reasons for one in assessors],
    }
    return Table.of(f"assessors of {quality.arm}" if quality.arm else "assessors", columns)


def _of_gold(assessors: Sequence[AssessorQuality]) -> dict[str, list[str]]:
    """Gold questions answered, and the accuracy with its 95 % interval."""
    accuracies = [one.accuracy for one in assessors]
    return {
        "gold": ["0" if one is None else f"{one.n_right} of {one.n}" for one in accuracies],
        "accuracy": ["-" if one is None else f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in accuracies],
    }


def _agreement(quality: Quality) -> str:
    if quality.alpha is not None:
        return f"Krippendorff's alpha ({quality.alpha.level}) of the answers that count: {quality.alpha.value:.3f}."
    if quality.pairs_alike is not None:
        return f"Pairs ordered alike by two assessors: {quality.pairs_alike:.0%}."
    return f"Agreement cannot be computed: {quality.why_not}"


def _in_words(status: str) -> str:
    """The status of an assessor; "practised" also holds where no practice is asked for."""
    return "ready to judge" if status == "practised" else status.replace("_", " ")


def _when(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _dash(value: float | None, how: str = "") -> str:
    return "-" if value is None else format(value, how)


def table_frame(table: Table) -> Callable[[], DataFrame]:
    """Makes a data frame of a table."""

    def frame() -> DataFrame:
        import pandas

        return pandas.DataFrame(table.rows, columns=table.header)

    return frame
