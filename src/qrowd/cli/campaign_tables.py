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


def all_campaigns(found: Sequence[Progress]) -> Document:
    """Every campaign in a line."""
    rows = [
        [one.campaign, one.protocol, one.status, f"{one.share:.0%}", str(one.slots), str(one.answers), _when(one.last)]
        for one in found
    ]
    table = Table("campaigns", ["campaign", "protocol", "status", "done", "slots", "answers", "last answer"], rows)
    n = len(found)
    sentence = f"{count(n, 'campaign')}." if n else "No campaign yet; qrowd campaign create makes one."
    return Document(sentence, (table,) if n else (), (), _frame(table))


def one_campaign(found: Progress, quality: Quality | None) -> Document:
    """How far a campaign is, topic by topic; with `quality`, its assessors too."""
    topics = Table(
        "topics",
        ["topic", "documents", "slots", "done", "answers", "least", "most"],
        [
            [t.label, str(t.documents), str(t.slots), str(t.completed), str(t.answers), _dash(t.least), _dash(t.most)]
            for t in found.topics
        ],
    )
    tables = [topics]
    ended = [
        f"{n} {word}" for word in ("failed", "screened_out", "expired", "withdrawn") if (n := getattr(found, word))
    ]
    notes = [f"Assessors: {', '.join(f'{n} {status}' for status, n in sorted(found.assessors.items())) or 'none yet'}."]
    if ended:
        notes.append(f"Units that ended otherwise, kept and not counted: {', '.join(ended).replace('_', ' ')}.")
    if found.uncounted:
        notes.append(f"{count(found.uncounted, 'answer is', 'answers are')} kept and not counted.")
    if found.ends is not None:
        notes.append(f"At this pace it ends about {_when(found.ends)}.")
    if quality is not None:
        tables.append(_assessors(quality))
        notes.append(_agreement(quality))
    sentence = (
        f"{found.campaign} is {found.status}: {found.completed} of {count(found.slots, 'unit')} done, "
        f"{found.open} under way, {count(found.answers, 'answer counts', 'answers count')}."
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
        return f"Krippendorff's alpha ({quality.alpha.level}) of what counts: {quality.alpha.value:.3f}."
    if quality.pairs_alike is not None:
        return f"Pairs that two assessors ordered alike: {quality.pairs_alike:.0%}."
    return f"No agreement to tell: {quality.why_not}"


def _when(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _dash(value: float | None, how: str = "") -> str:
    return "-" if value is None else format(value, how)


def _frame(table: Table) -> Callable[[], DataFrame]:
    def made() -> DataFrame:
        import pandas

        return pandas.DataFrame(table.rows, columns=table.header)

    return made
