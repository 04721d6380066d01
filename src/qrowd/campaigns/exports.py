"""What leaves a campaign, in which form: one table that the command, the pages and the API read alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection

from qrowd.campaigns.archive import write_archive
from qrowd.campaigns.office import find
from qrowd.errors import ArgumentError
from qrowd.store import export, writers

Write = Callable[[Sequence[str], Iterator[tuple[Any, ...]]], Iterator[bytes]]


@dataclass(frozen=True)
class Form:
    """One way to write what was collected. ending : of files. media_type : for the web. of : what it can hold."""

    name: str
    ending: str
    media_type: str
    write: Write
    of: tuple[str, ...]


JUDGMENTS, PREFERENCES, DUPLICATES, REVISIONS = "judgments", "preferences", "duplicates", "revisions"
ARCHIVE = "archive"
TABLES = (JUDGMENTS, PREFERENCES, DUPLICATES, REVISIONS)
FORMS = {
    form.name: form
    for form in (
        Form("jsonl", ".jsonl", "application/jsonl", writers.json_lines, TABLES),
        Form("csv", ".csv", "text/csv", writers.csv, TABLES),
        Form("spreadsheet", ".csv", "text/csv", partial(writers.csv, for_spreadsheets=True), TABLES),
        Form("parquet", ".parquet", "application/vnd.apache.parquet", writers.parquet, TABLES),
        Form("qrels", ".qrels", "text/plain", partial(writers.qrels, assessor_in_column=True), (JUDGMENTS,)),
        Form("prefs", ".prefs", "text/plain", partial(writers.prefs, definitely=True), (PREFERENCES,)),
    )
}


def export_rows(
    connection: Connection, campaign: str, what: str, form: str, *, everything: bool = False
) -> Iterator[bytes]:
    """The bytes of a file, piece by piece, always the same for the same campaign.

    what : judgments, preferences, duplicates (pairs that say the same), revisions (all that ever happened) or archive.
    form : a name of FORMS; an archive has its own. everything : also what does not count, and two columns that say why.

    Raises
    ------
    ArgumentError
        There is no such campaign, kind or form, or the form cannot hold that kind.
    """
    row = find(connection, campaign)
    if what == ARCHIVE:
        return write_archive(connection, campaign)
    if what not in TABLES:
        raise ArgumentError(f"what={what!r}: choose one of {', '.join((*TABLES, ARCHIVE))}")
    if form not in FORMS:
        raise ArgumentError(f"form={form!r}: choose one of {', '.join(FORMS)}")
    if what not in FORMS[form].of:
        able = ", ".join(name for name, one in FORMS.items() if what in one.of)
        raise ArgumentError(f"form={form!r}: it cannot hold {what}; choose one of {able}")
    if what == REVISIONS:
        return FORMS[form].write(export.REVISIONS, export.revisions(connection, row.id))
    read, columns = {
        JUDGMENTS: (export.judgments, export.JUDGMENTS),
        PREFERENCES: (export.preferences, export.PREFERENCES),
        DUPLICATES: (export.duplicates, export.DUPLICATES),
    }[what]
    further = export.STATUS if everything else ()
    return FORMS[form].write((*columns, *further), read(connection, row.id, everything=everything))


def usual(protocol: str) -> str:
    """What a protocol collects: judgments or preferences."""
    return PREFERENCES if protocol == "preference" else JUDGMENTS
