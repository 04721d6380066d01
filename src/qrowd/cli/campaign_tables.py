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
    rows = [
        [one.campaign, one.protocol, one.status, f"{one.share:.0%}", str(one.slots), str(one.answers), _when(one.last)]
        for one in campaigns
    ]
    table = Table("campaigns", ["campaign", "protocol", "status", "done", "slots", "answers", "last answer"], rows)
    n = len(campaigns)
    sentence = f"{count(n, 'campaign')}." if n else "No campaign yet; qrowd campaign create makes one."
    return Document(sentence, (table,) if n else (), (), _frame(table))


def one_campaign(progress: Progress, quality: Quality | None) -> Document:
    """The progress of a campaign by topic; with `quality`, its assessors too."""
    topics = Table(
        "topics",
        ["topic", "documents", "slots", "done", "answers", "least", "most"],
        [
            [t.label, str(t.documents), str(t.slots), str(t.completed), str(t.answers), _dash(t.least), _dash(t.most)]
            for t in progress.topics
        ],
    )
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
    return Table(
        "assessors",
        ["assessor", "status", "done", "failed", "lost", "answers", "seconds", "fast", "backs", "agreement", "remark"],
        [
            [
                one.name, one.status, str(one.completed), str(one.failed + one.screened_out), str(one.lost),
                str(one.answers), _dash(one.seconds, ".0f"), _dash(one.fast, ".0%"), str(one.backs),
                _dash(one.agreement, ".2f"), one.excluded or one.reasons,
            ]
            for one in quality.assessors
        ],
    )  # fmt: skip


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
