"""What leaves a campaign, in which format: one table that the command, the pages and the API read alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.accuracy import PAYMENT, payment_rows
from qrowd.collect.campaigns.adjudication import CHOICES, Adjudicated, with_adjudications
from qrowd.collect.campaigns.archive import write_archive
from qrowd.collect.campaigns.collected import scale_of
from qrowd.collect.campaigns.lookup import find_arms
from qrowd.collect.campaigns.membership import record
from qrowd.collect.campaigns.question import design_content
from qrowd.collect.campaigns.state import read_settings
from qrowd.collect.campaigns.units import SESSION_GAP, UNITS, campaign_units
from qrowd.collect.protocols.events import Event
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.store import export, state, writers
from qrowd.collect.store.accounts import COMMAND_LINE
from qrowd.collect.store.gold import GOLD, gold_rows
from qrowd.errors import ArgumentError

Write = Callable[[Sequence[str], Iterator[tuple[Any, ...]]], Iterator[bytes]]


@dataclass(frozen=True)
class Format:
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
OF_UNITS, ARCHIVE, DESIGN = "units", "archive", "design"
LINES = 500  # of an archive, in a piece
OF_GOLD, PAYMENTS = "gold", "payment"
TABLES = (JUDGMENTS, PREFERENCES, DUPLICATES, OF_UNITS, REVISIONS, OF_GOLD, PAYMENTS)
OF_ANSWERS = (JUDGMENTS, PREFERENCES, DUPLICATES)  # tables that can have final answers of reviewers
WHOLE = (OF_UNITS, REVISIONS, OF_GOLD, PAYMENTS)  # tables that always hold everything
WHOLE_CAMPAIGN = (REVISIONS, PAYMENTS, ARCHIVE)  # never of one arm
OWN_FORMAT = (ARCHIVE, DESIGN)  # which have one format, of their own
FORMATS = {
    format.name: format
    for format in (
        Format("jsonl", ".jsonl", "application/jsonl", writers.json_lines, TABLES),
        Format("csv", ".csv", "text/csv", writers.csv, TABLES),
        Format("spreadsheet", ".csv", "text/csv", partial(writers.csv, for_spreadsheets=True), TABLES),
        Format("parquet", ".parquet", "application/vnd.apache.parquet", writers.parquet, TABLES),
        Format("qrels", ".qrels", "text/plain", partial(writers.qrels, assessor_in_column=True), (JUDGMENTS,), True),
        Format("prefs", ".prefs", "text/plain", partial(writers.prefs, definitely=True), (PREFERENCES,), True),
    )
}


@dataclass(frozen=True)
class File:
    """A file that can be made. write : of a connection, its bytes, piece by piece. refuses : as in `Format`."""

    name: str
    media_type: str
    refuses: bool
    write: Callable[[Connection], Iterator[bytes]]


def file_of(
    campaign: str,
    what: str,
    format: str,
    *,
    everything: bool = False,
    names: bool = False,
    adjudicated: Adjudicated = "without",
) -> File:
    """What `export_rows` writes, with a name for it.

    Raises
    ------
    ArgumentError
        There is no such kind or format, or the format cannot hold that kind.
    """
    _check(what, format)
    ending, media_type, refuses = ".archive", "application/jsonl", False
    if what == DESIGN:
        ending, media_type = ".json", "application/json"
    elif what != ARCHIVE:
        ending, media_type, refuses = FORMATS[format].ending, FORMATS[format].media_type, FORMATS[format].refuses
    further = f"{'-all' if everything else ''}{'-names' if names else ''}"
    further += {"without": "", "add": "-adjudicated", "replace": "-final"}.get(adjudicated, "")
    further += "-spreadsheet" if format == "spreadsheet" else ""
    stem = campaign.replace("/", "-")
    name = f"{stem}{'-names' if names else ''}" if what == ARCHIVE else f"{stem}-{what}{further}"

    def write(connection: Connection) -> Iterator[bytes]:
        return export_rows(
            connection, campaign, what, format, everything=everything, names=names, adjudicated=adjudicated
        )

    return File(name + ending, media_type, refuses, write)


def kinds_of(protocols: Collection[str], *, question: bool = False, gold: bool = False) -> list[str]:
    """What a campaign of these protocols has to give, the usual first.

    question : whether it carries one. gold : whether it has gold questions.

    >>> kinds_of(["grades"])
    ['judgments', 'units', 'codes', 'revisions', 'archive']
    """
    judgments = [] if set(protocols) == {PREFERENCE} else [JUDGMENTS]
    preferences = [PREFERENCES, DUPLICATES] if PREFERENCE in protocols else []
    design = [DESIGN] if question else []
    of_gold = [OF_GOLD, PAYMENTS] if gold else []
    return [*judgments, *preferences, OF_UNITS, *of_gold, REVISIONS, *design, ARCHIVE]


def export_rows(
    connection: Connection,
    campaign: str,
    what: str,
    format: str,
    *,
    everything: bool = False,
    names: bool = False,
    adjudicated: Adjudicated = "without",
    session_gap: float = SESSION_GAP,
) -> Iterator[bytes]:
    """The bytes of a file, piece by piece, always the same for the same campaign.

    campaign : its name, or CAMPAIGN/ARM for one of its arms; the tables of a campaign with arms have a column `arm`,
    and answers of one that was changed a column `version`: that of the page they were given on.
    what : judgments (each with the scale of its arm), preferences, duplicates (pairs that say the same), units (one row
    per assignment), gold (answers to gold questions), payment (one row per assessor: units, accuracy, bonus),
    revisions (all that ever happened), design (of a question, as `qrowd next` reads it) or archive.
    format : a name of FORMATS; design and archive have their own.
    everything : also what does not count, and columns that say why; answers to gold questions among it, at the end.
    names : people by name and with their ids on platforms; by pseudonym ("a1", "a2") and without ids, if False.
    adjudicated : of judgments, preferences and duplicates, the final answers of reviewers: "without" them, "add" them
        as one more assessor of the kind "adjudicator", or let them "replace" what assessors said of the same documents
        or pairs.
    session_gap : of the units; see `campaign_units`.

    Raises
    ------
    ArgumentError
        There is no such campaign, kind or format, the format cannot hold that kind, or the campaign has none of it.
    """
    row, protocols = find_arms(connection, campaign)
    _check(what, format)
    if adjudicated not in CHOICES or (adjudicated != "without" and what not in OF_ANSWERS):
        of = ", ".join(OF_ANSWERS)
        raise ArgumentError(f"adjudicated={adjudicated!r}: choose one of {', '.join(CHOICES)}, of {of} only")
    has_gold = row.settings.get("gold") is not None
    kinds = kinds_of(protocols.values(), question=row.settings.get("question") is not None, gold=has_gold)
    if what not in kinds:
        raise ArgumentError(f"{campaign}: it has no {what}; choose one of {', '.join(kinds)}")
    if what in WHOLE_CAMPAIGN and "/" in campaign:
        raise ArgumentError(f"{campaign}: {what} are of whole campaigns; ask for {row.name}")
    if what == ARCHIVE:
        return _together(write_archive(connection, campaign, names=names))
    if what == DESIGN:
        return iter([design_content(connection, row)])
    several, changed = "" not in protocols, row.version > 1
    arms = [arm for arm, protocol in protocols.items() if (protocol == PREFERENCE) == (what != JUDGMENTS)]
    if what == REVISIONS:
        revisions = export.revisions(connection, row.id, arms=arms if several else None, names=names, versions=changed)
        return FORMATS[format].write(
            (*export.REVISIONS, *(export.ARM if several else ()), *(export.VERSION if changed else ())), revisions
        )
    if what == OF_UNITS:
        units = campaign_units(connection, campaign, session_gap=session_gap, names=names)
        return FORMATS[format].write(UNITS, units.rows())
    if what == PAYMENTS:
        return FORMATS[format].write(PAYMENT, payment_rows(connection, campaign, names=names))
    by_label = {one.label: one.name for one in state.assessors_of(connection, row.id)} if names else {}
    if what == OF_GOLD:
        arm = campaign.partition("/")[2] or None
        return FORMATS[format].write(GOLD, _named(gold_rows(connection, row.id, arm=arm), GOLD, by_label))
    if len(arms) > 1 and FORMATS[format].refuses:
        choices = ", ".join(f"{row.name}/{arm}" for arm in arms)
        raise ArgumentError(f"{campaign}: format {format} holds one arm; choose {choices}")
    if everything and FORMATS[format].refuses:
        raise ArgumentError(f"format={format!r}: it cannot tell what counts from what does not; choose a table")
    read, columns = {
        JUDGMENTS: (export.judgments, export.JUDGMENTS),
        PREFERENCES: (export.preferences, export.PREFERENCES),
        DUPLICATES: (export.duplicates, export.DUPLICATES),
    }[what]
    further = (*(export.ARM if several else ()), *(export.STATUS if everything else ()))
    further = (*further, *(export.VERSION if changed else ()))
    rows = read(
        connection, row.id, arms=arms if several else None, everything=everything, names=names, versions=changed
    )
    if has_gold and everything and what != DUPLICATES:
        further = (*further, OF_GOLD)
        of_gold = _named(gold_rows(connection, row.id), GOLD, by_label)
        rows = _with_gold(of_gold, rows, columns, arms, several=several, changed=changed)
    if adjudicated != "without":
        rows = with_adjudications(connection, row.id, rows, (*columns, *further), adjudicated=adjudicated, arms=arms)
    if what != JUDGMENTS:
        return FORMATS[format].write((*columns, *further), rows)
    n, settings = len(columns), read_settings(row).arms
    scales = {arm: scale_of(settings[arm].settings) for arm in arms}
    with_scale = ((*cells[:n], scales[cells[n] if several else ""], *cells[n:]) for cells in rows)
    return FORMATS[format].write((*columns, *export.SCALE, *further), with_scale)


def _named(
    rows: Iterator[tuple[Any, ...]], columns: Sequence[str], names: Mapping[str, str]
) -> Iterator[tuple[Any, ...]]:
    """Rows with a name in place of each label that has one."""
    i = columns.index("assessor")
    return ((*cells[:i], names.get(cells[i], cells[i]), *cells[i + 1 :]) for cells in rows) if names else rows


def _with_gold(
    of_gold: Iterator[tuple[Any, ...]],
    rows: Iterator[tuple[Any, ...]],
    columns: Sequence[str],
    arms: Collection[str],
    *,
    several: bool,
    changed: bool,
) -> Iterator[tuple[Any, ...]]:
    """Rows with a further column "gold", then the answers to gold questions as rows that do not count.

    gold : "right", "wrong" or "cannot tell" of a gold question, None of any other answer.
    """
    for cells in rows:
        yield *cells, None
    for cells in of_gold:
        one = dict(zip(GOLD, cells, strict=True))
        if several and one["arm"] not in arms:
            continue
        better, answer = one["other"] is not None, one["answer"]
        if better != ("preferred" in columns):
            continue
        pair = (one["document"], one["other"]) if answer == "better" else (one["other"], one["document"])
        one |= {"preferred": pair[0], "other": pair[1], "strength": 1, "raw": answer}
        one["value"] = float(answer) if not better and answer else None
        status = False, one["status"], one["excluded"]
        said = {1: "right", 0: "wrong", None: "cannot tell"}[one["right"]]
        arm, version = [one["arm"]] if several else [], [None] if changed else []
        yield *(one.get(name) for name in columns), *arm, *status, *version, said


def note_names(
    connection: Connection, campaign: str, what: str, format: str, at: float, *, account: str = COMMAND_LINE
) -> None:
    """Write into the log that a file with names leaves a campaign. account : who takes it.

    Raises
    ------
    ArgumentError
        There is no such campaign, kind or format.
    """
    row, _ = find_arms(connection, campaign)
    _check(what, format)
    record(connection, row.id, Event("names_exported", {"what": what, "format": format}), at, account)


def _check(what: str, format: str) -> None:
    if what in OWN_FORMAT:
        return
    if what not in TABLES:
        raise ArgumentError(f"what={what!r}: choose one of {', '.join((*TABLES, DESIGN, ARCHIVE))}")
    if format not in FORMATS:
        raise ArgumentError(f"format={format!r}: choose one of {', '.join(FORMATS)}")
    if what not in FORMATS[format].of:
        able = ", ".join(name for name, one in FORMATS.items() if what in one.of)
        raise ArgumentError(f"format={format!r}: it cannot hold {what}; choose one of {able}")


def _together(lines: Iterator[bytes]) -> Iterator[bytes]:
    while part := list(islice(lines, LINES)):
        yield b"".join(part)
