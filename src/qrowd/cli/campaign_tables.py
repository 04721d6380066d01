"""Campaigns as tables for a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import count

if TYPE_CHECKING:
    from pandas import DataFrame

    from qrowd.collect.campaigns.progress import Progress
    from qrowd.collect.campaigns.quality import Quality


def all_campaigns(campaigns: Sequence[Progress]) -> Document:
    """One row per campaign."""
    columns = {
        "campaign": [one.campaign for one in campaigns],
        "protocol": [one.protocol for one in campaigns],
        "status": [one.status for one in campaigns],
        "done": [f"{one.share:.0%}" for one in campaigns],
        "slots": [str(one.slots) for one in campaigns],
        "answers": [str(one.answers) for one in campaigns],
        "last answer": [_when(one.last) for one in campaigns],
    }
    table, n = Table.of("campaigns", columns), len(campaigns)
    sentence = f"{count(n, 'campaign')}." if n else "No campaign yet; qrowd campaign create makes one."
    return Document(sentence, (table,) if n else (), (), _frame(table))


def one_campaign(progress: Progress, quality: Quality | None) -> Document:
    """The progress of a campaign by topic; with `quality`, its assessors too."""
    columns = {
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
    notes = [
        f"Assessors: {', '.join(f'{n} {status}' for status, n in sorted(progress.assessors.items())) or 'none yet'}."
    ]
    if outcomes:
        notes.append(f"Units with another outcome, kept but not counted: {', '.join(outcomes).replace('_', ' ')}.")
    if progress.uncounted:
        notes.append(f"{count(progress.uncounted, 'answer is', 'answers are')} kept but not counted.")
    if progress.ends is not None:
        notes.append(f"Expected end: {_when(progress.ends)}.")
    if quality is not None:
        tables.append(_assessors(quality))
        notes.append(_agreement(quality))
    sentence = (
        f"{progress.campaign} is {progress.status}: {progress.completed} of {count(progress.slots, 'unit')} done, "
        f"{progress.open} under way, {count(progress.answers, 'answer counts', 'answers count')}."
    )
    return Document(sentence, tuple(tables), tuple(notes), _frame(topics))


def _assessors(quality: Quality) -> Table:
    assessors = quality.assessors
    columns = {
        "assessor": [one.name for one in assessors],
        "status": [one.status for one in assessors],
        "done": [str(one.completed) for one in assessors],
        "failed": [str(one.failed + one.screened_out) for one in assessors],
        "lost": [str(one.lost) for one in assessors],
        "answers": [str(one.answers) for one in assessors],
        "seconds": [_dash(one.seconds, ".0f") for one in assessors],
        "fast": [_dash(one.fast, ".0%") for one in assessors],
        "backs": [str(one.backs) for one in assessors],
        "agreement": [_dash(one.agreement, ".2f") for one in assessors],
        "remark": [one.excluded or one.reasons for one in assessors],
    }
    return Table.of("assessors", columns)


def _agreement(quality: Quality) -> str:
    if quality.alpha is not None:
        return f"Krippendorff's alpha ({quality.alpha.level}) of the answers that count: {quality.alpha.value:.3f}."
    if quality.pairs_alike is not None:
        return f"Pairs ordered alike by two assessors: {quality.pairs_alike:.0%}."
    return f"Agreement cannot be computed: {quality.why_not}"


def _when(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _dash(value: float | None, how: str = "") -> str:
    return "-" if value is None else format(value, how)


def _frame(table: Table) -> Callable[[], DataFrame]:
    def frame() -> DataFrame:
        import pandas

        return pandas.DataFrame(table.rows, columns=table.header)

    return frame
