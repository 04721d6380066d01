"""What leaves a campaign, in which form: one table that the command, the pages and the API read alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.admin import find
from qrowd.collect.campaigns.archive import write_archive
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.store import export, writers
from qrowd.errors import ArgumentError

Write = Callable[[Sequence[str], Iterator[tuple[Any, ...]]], Iterator[bytes]]


@dataclass(frozen=True)
class Form:
    """One way to write what was collected.

    ending : of files. media_type : for the web. of : what it can hold. refuses : whether it cannot hold everything of
    that, and says so only when it meets it.
    """

    name: str
    ending: str
    media_type: str
    write: Write
    of: tuple[str, ...]
    refuses: bool = False


JUDGMENTS, PREFERENCES, DUPLICATES, REVISIONS = "judgments", "preferences", "duplicates", "revisions"
ARCHIVE = "archive"
LINES = 500  # of an archive, in a piece
TABLES = (JUDGMENTS, PREFERENCES, DUPLICATES, REVISIONS)
FORMS = {
    form.name: form
    for form in (
        Form("jsonl", ".jsonl", "application/jsonl", writers.json_lines, TABLES),
        Form("csv", ".csv", "text/csv", writers.csv, TABLES),
        Form("spreadsheet", ".csv", "text/csv", partial(writers.csv, for_spreadsheets=True), TABLES),
        Form("parquet", ".parquet", "application/vnd.apache.parquet", writers.parquet, TABLES),
        Form("qrels", ".qrels", "text/plain", partial(writers.qrels, assessor_in_column=True), (JUDGMENTS,), True),
        Form("prefs", ".prefs", "text/plain", partial(writers.prefs, definitely=True), (PREFERENCES,), True),
    )
}


@dataclass(frozen=True)
class File:
    """A file that can be made. write : of a connection, its bytes, piece by piece. refuses : as in `Form`."""

    name: str
    media_type: str
    refuses: bool
    write: Callable[[Connection], Iterator[bytes]]


def file_of(campaign: str, what: str, form: str, *, everything: bool = False) -> File:
    """What `export_rows` writes, with a name for it.

    Raises
    ------
    ArgumentError
        There is no such kind or form, or the form cannot hold that kind.
    """
    _check(what, form)
    ending, media_type, refuses = ".archive", "application/jsonl", False
    if what != ARCHIVE:
        ending, media_type, refuses = FORMS[form].ending, FORMS[form].media_type, FORMS[form].refuses
    further = f"{'-all' if everything else ''}{'-spreadsheet' if form == 'spreadsheet' else ''}"
    name = campaign if what == ARCHIVE else f"{campaign}-{what}{further}"
    return File(
        name + ending, media_type, refuses, lambda c: export_rows(c, campaign, what, form, everything=everything)
    )


def kinds_of(protocol: str) -> list[str]:
    """What a campaign has to give, the usual first.

    >>> kinds_of("grades")
    ['judgments', 'revisions', 'archive']
    """
    what = PREFERENCES if protocol == PREFERENCE else JUDGMENTS
    return [what, *([DUPLICATES] if what == PREFERENCES else []), REVISIONS, ARCHIVE]


def export_rows(
    connection: Connection, campaign: str, what: str, form: str, *, everything: bool = False
) -> Iterator[bytes]:
    """The bytes of a file, piece by piece, always the same for the same campaign.

    what : judgments, preferences, duplicates (pairs that say the same), revisions (all that ever happened) or archive.
    form : a name of FORMS; an archive has its own. everything : also what does not count, and columns that say why.

    Raises
    ------
    ArgumentError
        There is no such campaign, kind or form, the form cannot hold that kind, or the campaign has none of it.
    """
    row = find(connection, campaign)
    _check(what, form)
    if what not in kinds_of(row.protocol):
        raise ArgumentError(f"{campaign}: it has no {what}; choose one of {', '.join(kinds_of(row.protocol))}")
    if what == ARCHIVE:
        return _together(write_archive(connection, campaign))
    if what == REVISIONS:
        return FORMS[form].write(export.REVISIONS, export.revisions(connection, row.id))
    if everything and FORMS[form].refuses:
        raise ArgumentError(f"form={form!r}: it cannot tell what counts from what does not; choose a table")
    read, columns = {
        JUDGMENTS: (export.judgments, export.JUDGMENTS),
        PREFERENCES: (export.preferences, export.PREFERENCES),
        DUPLICATES: (export.duplicates, export.DUPLICATES),
    }[what]
    further = export.STATUS if everything else ()
    return FORMS[form].write((*columns, *further), read(connection, row.id, everything=everything))


def _check(what: str, form: str) -> None:
    if what == ARCHIVE:
        return
    if what not in TABLES:
        raise ArgumentError(f"what={what!r}: choose one of {', '.join((*TABLES, ARCHIVE))}")
    if form not in FORMS:
        raise ArgumentError(f"form={form!r}: choose one of {', '.join(FORMS)}")
    if what not in FORMS[form].of:
        able = ", ".join(name for name, one in FORMS.items() if what in one.of)
        raise ArgumentError(f"form={form!r}: it cannot hold {what}; choose one of {able}")


def _together(lines: Iterator[bytes]) -> Iterator[bytes]:
    while part := list(islice(lines, LINES)):
        yield b"".join(part)
