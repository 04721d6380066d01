"""What leaves a campaign, in which format: one table that the command, the pages and the API read alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.people.membership import record
from qrowd_server.campaigns.results.accuracy import PAYMENT, payment_rows
from qrowd_server.campaigns.results.adjudication import CHOICES, Adjudicated, with_adjudications
from qrowd_server.campaigns.results.archive import write_archive
from qrowd_server.campaigns.results.units import SESSION_GAP, UNITS, campaign_units
from qrowd_server.campaigns.running.collected import scale_of
from qrowd_server.campaigns.running.lookup import find_arms
from qrowd_server.campaigns.running.question import design_content
from qrowd_server.campaigns.running.state import read_settings
from qrowd_server.protocols.events import Event
from qrowd_server.protocols.registry import PREFERENCE
from qrowd_server.store import export, state, writers
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.gold import GOLD, gold_rows
from qrowd_server.store.materials import CampaignRow

Rows = Iterator[tuple[Any, ...]]
Write = Callable[[Sequence[str], Rows], Iterator[bytes]]
LINES = 500  # of an archive, in a piece


@dataclass(frozen=True)
class Format:
    """One way to write a table.

    ending : of files. media_type : for the web. refuses : whether it cannot hold everything, and says so only when it
    meets it.
    """

    ending: str
    media_type: str
    write: Write
    refuses: bool = False


FORMATS = {
    "jsonl": Format(".jsonl", "application/jsonl", writers.json_lines),
    "csv": Format(".csv", "text/csv", writers.csv),
    "spreadsheet": Format(".csv", "text/csv", partial(writers.csv, for_spreadsheets=True)),
    "parquet": Format(".parquet", "application/vnd.apache.parquet", writers.parquet),
    "qrels": Format(".qrels", "text/plain", partial(writers.qrels, assessor_in_column=True), refuses=True),
    "prefs": Format(".prefs", "text/plain", partial(writers.prefs, definitely=True), refuses=True),
}
TABLES = ("jsonl", "csv", "spreadsheet", "parquet")


# ---- what is asked for


@dataclass(frozen=True)
class Asked:
    """An export that is asked for. campaign : as it was named. arms : {arm: protocol}, "" without arms."""

    connection: Connection
    campaign: str
    row: CampaignRow
    arms: Mapping[str, str]
    everything: bool
    names: bool
    adjudicated: Adjudicated
    session_gap: float

    @property
    def has_arms(self) -> bool:
        """Whether rows have a column `arm`."""
        return "" not in self.arms

    def arms_with(self, preferences: bool) -> list[str]:
        """The arms that collect preferences, or those that collect judgments."""
        return [arm for arm, protocol in self.arms.items() if (protocol == PREFERENCE) == preferences]


@dataclass(frozen=True)
class Table:
    """The columns and the rows of a table."""

    columns: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True)
class Export:
    """A kind of export.

    columns : of its table, those that depend on the campaign aside; none of a file. content : the table, or the pieces
    of a file. formats : of tables; "" for a file, which has an ending and media_type of its own. of_arms : whether one
    arm can be asked for. of_answers : whether answers that do not count can be asked for.
    """

    columns: tuple[str, ...]
    content: Callable[[Asked], Table | Iterator[bytes]]
    formats: tuple[str, ...] = TABLES
    of_arms: bool = True
    of_answers: bool = False
    ending: str = ""
    media_type: str = ""


def _judgments(asked: Asked) -> Table:
    arms = asked.arms_with(preferences=False)
    table = _answers(asked, export.judgments, export.JUDGMENTS, arms)
    if asked.adjudicated != "without":
        rows = with_adjudications(
            asked.connection, asked.row.id, table.rows, table.columns, adjudicated=asked.adjudicated, arms=arms
        )
        table = Table(table.columns, rows)
    n, settings = len(export.JUDGMENTS), read_settings(asked.row).arms
    scales = {arm: scale_of(settings[arm].settings) for arm in arms}
    with_scale = ((*cells[:n], scales[cells[n] if asked.has_arms else ""], *cells[n:]) for cells in table.rows)
    return Table((*table.columns[:n], *export.SCALE, *table.columns[n:]), with_scale)


def _preferences(asked: Asked) -> Table:
    return _answers(asked, export.preferences, export.PREFERENCES, asked.arms_with(preferences=True))


def _duplicates(asked: Asked) -> Table:
    arms = asked.arms_with(preferences=True)
    return _answers(asked, export.duplicates, export.DUPLICATES, arms, gold=False)


def _answers(
    asked: Asked, read: Callable[..., Rows], columns: tuple[str, ...], arms: list[str], *, gold: bool = True
) -> Table:
    """Answers of these arms; with everything, also those that do not count, and those to gold questions at the end."""
    further = (*(export.ARM if asked.has_arms else ()), *(export.STATUS if asked.everything else ()))
    of_arms = arms if asked.has_arms else None
    rows = read(asked.connection, asked.row.id, arms=of_arms, everything=asked.everything, names=asked.names)
    if gold and asked.everything and asked.row.settings.get("gold") is not None:
        further = (*further, "gold")
        rows = _with_gold(_gold(asked, of_arm=False).rows, rows, columns, arms, has_arms=asked.has_arms)
    return Table((*columns, *further), rows)


def _units(asked: Asked) -> Table:
    units = campaign_units(asked.connection, asked.campaign, session_gap=asked.session_gap, names=asked.names)
    return Table(UNITS, units.rows())


def _gold(asked: Asked, *, of_arm: bool = True) -> Table:
    """Answers to gold questions; of the arm that was named, if one was."""
    arm = asked.campaign.partition("/")[2] or None if of_arm else None
    rows = gold_rows(asked.connection, asked.row.id, arm=arm)
    if not asked.names:
        return Table(GOLD, rows)
    names = {one.label: one.name for one in state.assessors_of(asked.connection, asked.row.id)}
    i = GOLD.index("assessor")
    return Table(GOLD, ((*cells[:i], names.get(cells[i], cells[i]), *cells[i + 1 :]) for cells in rows))


def _payment(asked: Asked) -> Table:
    return Table(PAYMENT, payment_rows(asked.connection, asked.campaign, names=asked.names))


def _revisions(asked: Asked) -> Table:
    further = export.ARM if asked.has_arms else ()
    arms = list(asked.arms) if asked.has_arms else None
    rows = export.revisions(asked.connection, asked.row.id, arms=arms, names=asked.names)
    return Table((*export.REVISIONS, *further), rows)


def _design(asked: Asked) -> Iterator[bytes]:
    return iter([design_content(asked.connection, asked.row)])


def _archive(asked: Asked) -> Iterator[bytes]:
    lines = write_archive(asked.connection, asked.campaign, names=asked.names)
    while part := list(islice(lines, LINES)):
        yield b"".join(part)


EXPORTS: dict[str, Export] = {
    "judgments": Export((*export.JUDGMENTS, *export.SCALE), _judgments, (*TABLES, "qrels"), of_answers=True),
    "preferences": Export(export.PREFERENCES, _preferences, (*TABLES, "prefs"), of_answers=True),
    "duplicates": Export(export.DUPLICATES, _duplicates, of_answers=True),
    "units": Export(UNITS, _units),
    "gold": Export(GOLD, _gold),
    "payment": Export(PAYMENT, _payment, of_arms=False),
    "revisions": Export(export.REVISIONS, _revisions, of_arms=False),
    "design": Export((), _design, (), ending=".json", media_type="application/json"),
    "archive": Export((), _archive, (), of_arms=False, ending=".archive", media_type="application/jsonl"),
}
JUDGMENTS, ARCHIVE, DESIGN = "judgments", "archive", "design"


def kinds_of(protocols: Collection[str], *, question: bool = False, gold: bool = False) -> list[str]:
    """What a campaign of these protocols has to give, the usual first.

    question : whether it carries one. gold : whether it has gold questions.

    >>> kinds_of(["grades"])
    ['judgments', 'units', 'revisions', 'archive']
    """
    pairs = PREFERENCE in protocols
    has = {
        "judgments": set(protocols) != {PREFERENCE},
        "preferences": pairs,
        "duplicates": pairs,
        "gold": gold,
        "payment": gold,
        "design": question,
    }
    return [kind for kind in EXPORTS if has.get(kind, True)]


# ---- files


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
    kind, written = _kind(what, format)
    stem, with_names = campaign.replace("/", "-"), "-names" if names else ""
    further = f"{'-all' if everything else ''}{with_names}"
    further += {"without": "", "add": "-adjudicated", "replace": "-final"}.get(adjudicated, "")
    further += "-spreadsheet" if format == "spreadsheet" else ""
    name = f"{stem}{with_names}" if what == ARCHIVE else f"{stem}-{what}{further}"

    def write(connection: Connection) -> Iterator[bytes]:
        return export_rows(
            connection, campaign, what, format, everything=everything, names=names, adjudicated=adjudicated
        )

    if written is None:
        return File(name + kind.ending, kind.media_type, False, write)
    return File(name + written.ending, written.media_type, written.refuses, write)


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

    campaign : its name, or CAMPAIGN/ARM for one of its arms; the tables of a campaign with arms have a column `arm`.
    what : a key of EXPORTS: judgments (each with the scale of its arm), preferences, duplicates (pairs that say the
    same), units (one row per assignment), gold (answers to gold questions), payment (one row per assessor: units,
    accuracy, bonus), revisions (all that ever happened), design (of a question, as `qrowd next` reads it) or archive.
    format : a key of FORMATS; design and archive have their own.
    everything : also what does not count, and columns that say why; answers to gold questions among it, at the end.
    names : people by name and with their ids on platforms; by pseudonym ("a1", "a2") and without ids, if False.
    adjudicated : of judgments, the final answers of owners: "without" them, "add" them as one more assessor of the kind
        "adjudicator", or let them "replace" what assessors said of the same documents.
    session_gap : of the units; see `campaign_units`.

    Raises
    ------
    ArgumentError
        There is no such campaign, kind or format, the format cannot hold that kind, or the campaign has none of it.
    """
    row, arms = find_arms(connection, campaign)
    kind, written = _kind(what, format)
    if adjudicated not in CHOICES or (adjudicated != "without" and what != JUDGMENTS):
        raise ArgumentError(f"choose one of {', '.join(CHOICES)}, of judgments only", "adjudicated", adjudicated)
    has_question, has_gold = (row.settings.get(key) is not None for key in ("question", "gold"))
    kinds = kinds_of(arms.values(), question=has_question, gold=has_gold)
    if what not in kinds:
        raise ArgumentError(f"{campaign}: it has no {what}; choose one of {', '.join(kinds)}")
    if "/" in campaign and not kind.of_arms:
        raise ArgumentError(f"{campaign}: {what} are of whole campaigns; ask for {row.name}")
    asked = Asked(connection, campaign, row, arms, everything, names, adjudicated, session_gap)
    if written is not None and written.refuses:
        of_kind = asked.arms_with(preferences=what != JUDGMENTS)
        if len(of_kind) > 1:
            choices = ", ".join(f"{row.name}/{arm}" for arm in of_kind)
            raise ArgumentError(f"{campaign}: format {format} holds one arm; choose {choices}")
        if everything:
            raise ArgumentError("it cannot tell what counts from what does not; choose a table", "format", format)
    content = kind.content(asked)
    if isinstance(content, Table):
        assert written is not None  # as every table has formats
        return written.write(content.columns, content.rows)
    return content


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
    _kind(what, format)
    record(connection, row.id, Event("names_exported", {"what": what, "format": format}), at, account)


def _kind(what: str, format: str) -> tuple[Export, Format | None]:
    """A kind of export, and the format of its table; None for a file."""
    if what not in EXPORTS:
        raise ArgumentError(f"choose one of {', '.join(EXPORTS)}", "what", what)
    kind = EXPORTS[what]
    if not kind.formats:
        return kind, None
    if format not in FORMATS:
        raise ArgumentError(f"choose one of {', '.join(FORMATS)}", "format", format)
    if format not in kind.formats:
        raise ArgumentError(f"it cannot hold {what}; choose one of {', '.join(kind.formats)}", "format", format)
    return kind, FORMATS[format]


def _with_gold(gold: Rows, rows: Rows, columns: Sequence[str], arms: Collection[str], *, has_arms: bool) -> Rows:
    """Rows with a further column "gold", then the answers to gold questions as rows that do not count.

    gold : "right", "wrong" or "cannot tell" of a gold question, None of any other answer.
    """
    for cells in rows:
        yield *cells, None
    of_pairs = "preferred" in columns
    for cells in gold:
        known = dict(zip(GOLD, cells, strict=True))
        if (has_arms and known["arm"] not in arms) or (known["other"] is not None) != of_pairs:
            continue
        answer = known["answer"]
        chose_better = answer == "better"
        pair = (known["document"], known["other"]) if chose_better else (known["other"], known["document"])
        known |= {"preferred": pair[0], "other": pair[1], "strength": 1, "raw": answer}
        known["value"] = float(answer) if not of_pairs and answer else None
        status = False, known["status"], known["excluded"]
        said = {1: "right", 0: "wrong", None: "cannot tell"}[known["right"]]
        yield *(known.get(name) for name in columns), *([known["arm"]] if has_arms else []), *status, said
