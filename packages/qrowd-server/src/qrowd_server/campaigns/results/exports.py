"""What leaves a campaign, in which format: one table that the command, the pages and the API read alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.archive import write_archive
from qrowd_server.campaigns.results.campaign_progress import states_of
from qrowd_server.campaigns.results.quality import accuracies
from qrowd_server.campaigns.running import collected
from qrowd_server.campaigns.running.campaign_settings import find_arms, read_settings
from qrowd_server.campaigns.running.collected import judgment_rows, scale_of
from qrowd_server.campaigns.running.question_batches import design_content
from qrowd_server.protocols import PREFERENCE
from qrowd_server.store import event_log as events
from qrowd_server.store import export, writers
from qrowd_server.store import progress_counts as counts
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.answer_rows import GOLD, gold_rows
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.schema import COMPLETED, MODEL, PERSON

Rows = Iterator[tuple[Any, ...]]
LINES = 500  # of an archive, in a piece
UNITS = (
    "assessor", "topic", "unit", "arm", "protocol", "status", "counts", "documents", "answers", "seconds", "started",
    "ended", "backs", "fails", "wrong", "looked_up", "confidence", "understanding", "comment", "assignment",
    "kind",
)  # fmt: skip
PAYMENT = (
    "assessor", "provider", "external_id", "status", "excluded", "units", "answers", "gold_answers", "gold_right",
    "accuracy", "accuracy_low", "accuracy_high", "bonus", "kind",
)  # fmt: skip


@dataclass(frozen=True)
class Format:
    """One way to write a table. ending : of files. media_type : for the web."""

    ending: str
    media_type: str
    write: Callable[..., Iterator[bytes]]


FORMATS = {
    "jsonl": Format(".jsonl", "application/jsonl", writers.json_lines),
    "csv": Format(".csv", "text/csv", writers.csv),
    "spreadsheet": Format(".csv", "text/csv", partial(writers.csv, for_spreadsheets=True)),
    "parquet": Format(".parquet", "application/vnd.apache.parquet", writers.parquet),
    "qrels": Format(".qrels", "text/plain", writers.qrels),
}
OTHER_ENDINGS = (".xlsx", ".json", ".txt", ".md", ".tex", ".html")  # of what other commands write
TABLES = ("jsonl", "csv", "spreadsheet", "parquet")


# ---- what is asked for


@dataclass(frozen=True)
class Asked:
    """An export that is asked for, as by `export_rows`. arms : {arm: protocol}, "" without arms."""

    connection: Connection
    campaign: str
    row: CampaignRow
    arms: Mapping[str, str]
    everything: bool
    names: bool
    at: float

    @property
    def has_arms(self) -> bool:
        """Whether rows have a column `arm`."""
        return "" not in self.arms

    def arms_with(self, preferences: bool) -> list[str]:
        """The arms that collect preferences, or those that collect judgments."""
        return [arm for arm, protocol in self.arms.items() if (protocol == PREFERENCE) == preferences]


Table = tuple[tuple[str, ...], Rows]  # columns and rows


@dataclass(frozen=True)
class Export:
    """A kind of export.

    content : the table, or the pieces of a file. formats : of tables; none of a file, whose form is its own. of_arms :
    whether one arm can be asked for. of_answers : whether answers that do not count can be asked for.
    """

    content: Callable[[Asked], Any]
    formats: tuple[str, ...] = TABLES
    of_arms: bool = True
    of_answers: bool = False
    own: Format | None = None


def _judgments(asked: Asked) -> Table:
    arms = asked.arms_with(preferences=False)
    columns, rows = _answers(asked, judgment_rows, collected.JUDGMENTS, arms)
    n, settings = len(collected.JUDGMENTS), read_settings(asked.row).arms
    scales = {arm: scale_of(settings[arm].settings) for arm in arms}
    with_scale = ((*cells[:n], scales[cells[n] if asked.has_arms else ""], *cells[n:]) for cells in rows)
    return (*columns[:n], *export.SCALE, *columns[n:]), with_scale


def _preferences(asked: Asked) -> Table:
    return _answers(asked, export.preferences, export.PREFERENCES, asked.arms_with(preferences=True))


def _duplicates(asked: Asked) -> Table:
    return _answers(asked, export.duplicates, export.DUPLICATES, asked.arms_with(preferences=True))


def _answers(asked: Asked, read: Callable[..., Rows], columns: tuple[str, ...], arms: list[str]) -> Table:
    """Answers of these arms; with everything, also those that do not count."""
    further = (*(export.ARM if asked.has_arms else ()), *(export.STATUS if asked.everything else ()))
    of_arms = arms if asked.has_arms else None
    rows = read(asked.connection, asked.row.id, arms=of_arms, everything=asked.everything, names=asked.names)
    return (*columns, *further), rows


def _units(asked: Asked) -> Table:
    return UNITS, iter(unit_rows(asked.connection, asked.campaign, names=asked.names))


def _gold(asked: Asked) -> Table:
    arm = asked.campaign.partition("/")[2] or None
    return GOLD, gold_rows(asked.connection, asked.row.id, arm=arm, names=asked.names)


def _payment(asked: Asked) -> Table:
    return PAYMENT, payment_rows(asked.connection, asked.row, asked.at, names=asked.names)


def _design(asked: Asked) -> Iterator[bytes]:
    return iter([design_content(asked.connection, asked.row)])


def _archive(asked: Asked) -> Iterator[bytes]:
    lines = write_archive(asked.connection, asked.campaign, names=asked.names)
    while part := list(islice(lines, LINES)):
        yield b"".join(part)


EXPORTS: dict[str, Export] = {
    "judgments": Export(_judgments, (*TABLES, "qrels"), of_answers=True),
    "preferences": Export(_preferences, TABLES, of_answers=True),
    "duplicates": Export(_duplicates, of_answers=True),
    "units": Export(_units),
    "gold": Export(_gold),
    "payment": Export(_payment, of_arms=False),
    "design": Export(_design, (), own=Format(".json", "application/json", iter)),
    "archive": Export(_archive, (), of_arms=False, own=Format(".archive", "application/jsonl", iter)),
}
JUDGMENTS, ARCHIVE, DESIGN = "judgments", "archive", "design"


def kinds_of(protocols: Collection[str], *, question: bool = False, gold: bool = False) -> list[str]:
    """What a campaign of these protocols has to give, the usual first.

    question : whether it carries one. gold : whether it has gold questions.

    >>> kinds_of(["grades"])
    ['judgments', 'units', 'payment', 'archive']
    """
    pairs = PREFERENCE in protocols
    has = {
        "judgments": set(protocols) != {PREFERENCE},
        "preferences": pairs,
        "duplicates": pairs,
        "gold": gold,
        "design": question,
    }
    return [kind for kind in EXPORTS if has.get(kind, True)]


# ---- files


def format_of(file: str, what: str) -> str:
    """The format that the ending of a file stands for, else JSON Lines; endings of other formats are refused."""
    ending = Path(file).suffix.lower()
    if ending in OTHER_ENDINGS and (ending != ".json" or EXPORTS[what].own is None):
        problem = "the ending must be one of .jsonl, .csv, .parquet, .qrels; or name a --format"
        raise ArgumentError(problem, "output", file)
    return next((name for name, one in FORMATS.items() if one.ending == ending), "jsonl")


def name_of_file(campaign: str, what: str, format: str, *, everything: bool, names: bool) -> tuple[str, str]:
    """The name of the file that `export_rows` writes, and its media type."""
    _, written = _kind(what, format)
    parts = {what: what != ARCHIVE, "all": everything, "names": names, "spreadsheet": format == "spreadsheet"}
    stem = "-".join([campaign.replace("/", "-"), *(part for part, is_in in parts.items() if is_in)])
    return stem + written.ending, written.media_type


def export_rows(
    connection: Connection,
    campaign: str,
    what: str,
    format: str,
    *,
    everything: bool = False,
    names: bool = False,
    at: float = 0.0,
) -> Iterator[bytes]:
    """The bytes of a file, piece by piece, always the same for the same campaign and time.

    campaign : its name, or CAMPAIGN/ARM for one of its arms; the tables of a campaign with arms have a column `arm`.
    what : a key of EXPORTS: judgments (each with the scale of its arm), preferences, duplicates (pairs that say the
    same), units (one row per assignment), gold (answers to gold questions), payment (one row per assessor: units,
    accuracy, bonus), design (of a question, as `qrowd next` reads it) or archive.
    format : a key of FORMATS; design and archive have their own, and no other is taken for them.
    everything : also what does not count, and columns that say why.
    names : people by name and with their ids on platforms; by pseudonym ("a1", "a2") and without ids, if False.
    at : now, for who is judging.
    """
    row, arms = find_arms(connection, campaign)
    has_question, has_gold = (row.settings.get(key) is not None for key in ("question", "gold"))
    kinds = kinds_of(arms.values(), question=has_question, gold=has_gold)
    if what not in kinds:
        raise ArgumentError(f"{campaign}: it has no {what}; choose one of {', '.join(kinds)}")
    kind, written = _kind(what, format)
    if "/" in campaign and not kind.of_arms:
        raise ArgumentError(f"{campaign}: {what} are of whole campaigns; ask for {row.name}")
    asked = Asked(connection, campaign, row, arms, everything, names, at)
    if kind.own is not None:
        return written.write(kind.content(asked))
    if format == "qrels":
        of_kind = asked.arms_with(preferences=what != JUDGMENTS)
        if len(of_kind) > 1:
            choices = ", ".join(f"{row.name}/{arm}" for arm in of_kind)
            raise ArgumentError(f"{campaign}: format {format} holds one arm; choose {choices}")
        if everything:
            raise ArgumentError("it cannot tell what counts from what does not; choose a table", "format", format)
    return written.write(*kind.content(asked))


def note_names(
    connection: Connection, campaign: str, what: str, format: str, at: float, *, account: str = COMMAND_LINE
) -> None:
    """Write into the log that a file with names leaves a campaign. account : who takes it."""
    row, _ = find_arms(connection, campaign)
    _kind(what, format)
    events.note(connection, row.id, "names_exported", {"what": what, "format": format}, at, account=account)


def _kind(what: str, format: str) -> tuple[Export, Format]:
    """A kind of export, and its format."""
    kind = EXPORTS[what]
    choices = kind.formats or ("jsonl",)
    if format not in choices and (kind.own is None or format in FORMATS):
        raise ArgumentError(f"it cannot hold the {what}; choose one of {', '.join(choices)}", "format", format)
    return kind, kind.own or FORMATS[format]


# ---- units and payment


def unit_rows(connection: Connection, name: str, *, names: bool = False) -> list[tuple[Any, ...]]:
    """Tuples of the columns UNITS, one for each assignment, also those that failed, were lost or are not finished.

    Rows come topic by topic, then by unit, slot and assessor. name : of the campaign, or CAMPAIGN/ARM. names : people
    by name, not by pseudonym.

    counts : whether its answers are part of the result. answers : documents or pairs with an answer, "cannot tell" and
    Bad marks included; seconds : the sum over these, by the server's clock. ended : when its assessor last did
    something in it. backs : steps back, or preferences undone. fails : submissions that failed a check. wrong : wrong
    answers to the question about the topic. looked_up : how often the context was opened. What is missing is None.
    """
    row, protocols = find_arms(connection, name)
    rows = []
    for one in counts.assignment_totals(connection, row.id, names=names):
        if one["arm"] in protocols:
            cells = {"fails": 0, "wrong": 0, "comment": "", **one, "protocol": protocols[one["arm"]]}
            rows.append(tuple(cells.get(column) for column in UNITS))
    return rows


def payment_rows(connection: Connection, row: CampaignRow, at: float, *, names: bool = False) -> Rows:
    """Tuples of the columns PAYMENT, one for each assessor in the order in which they came.

    units, answers : completed, and given, whether they count or not. bonus : by the rule of [gold]; 0 without one, and
    for somebody who is excluded. names : people by name, with their ids on platforms; by pseudonym, without, if False.
    """
    accuracy = accuracies(connection, row.id, read_settings(row).gold)
    answers, completed = Counter[int](), Counter[int]()
    for unit in counts.assignment_totals(connection, row.id):
        answers[unit["assessor_id"]] += unit["answers"]
        completed[unit["assessor_id"]] += unit["status"] == COMPLETED
    for one, status in states_of(connection, row, at):
        own = accuracy.get(one.id)
        of_gold = (0, 0, None, None, None) if own is None else (own.n, own.n_right, own.value, own.low, own.high)
        bonus = own.bonus if own is not None and one.excluded is None else 0.0
        yield (
            one.name if names else one.label, one.provider, one.external_id if names or one.is_model else None,
            status, one.excluded, completed[one.id], answers[one.id], *of_gold, bonus,
            MODEL if one.is_model else PERSON,
        )  # fmt: skip
