"""Options that several commands share, and what they do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from qrowd.collect.store.base import Store
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences
    from qrowd.reports.document import Document

DATA = "Data"
CONVENTIONS = "Conventions that change numbers"

JudgmentFiles = Annotated[
    list[str], typer.Option("--judgments", help="Judgment files, one assessor each (or a table).", rich_help_panel=DATA)
]
MaybeJudgmentFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--judgments", help="Judgment files, one assessor each (or a table); or --campaign.", rich_help_panel=DATA
    ),
]
Campaign = Annotated[
    str | None,
    typer.Option("--campaign", help="Instead of files: what this campaign collected so far.", rich_help_panel=DATA),
]
Database = Annotated[
    str,
    typer.Option(
        "--database",
        help="Where campaigns are: a SQLite file or postgresql://...",
        envvar="QROWD_DATABASE",
        rich_help_panel=DATA,
    ),
]
DATABASE = "judgments.db"
Who = Annotated[
    str, typer.Option("--assessor", help="Who judged: the 'file', or 'column' 2 of the qrels.", rich_help_panel=DATA)
]
Recode = Annotated[
    str | None, typer.Option("--recode", help="TOML file of grades to replace, by assessor.", rich_help_panel=DATA)
]
Scales = Annotated[
    list[str] | None, typer.Option("--scale", help="Declare a scale: 'umbrela-*=0-3'.", rich_help_panel=DATA)
]
Repeats = Annotated[str, typer.Option("--repeats", help="first | last | mean | error")]
CombineScales = Annotated[
    str,
    typer.Option(
        "--combine-scales",
        help="Values on unlike scales: auto | as-is | unit (over the scale's maximum) | relevant (or not).",
        rich_help_panel=CONVENTIONS,
    ),
]
Unit = Annotated[bool, typer.Option("--unit", help="Divide every value by its scale's maximum first.")]
Level = Annotated[
    str | None,
    typer.Option("--level", help="nominal | ordinal | interval | ratio; without: what the scale allows."),
]
RunFiles = Annotated[
    list[str],
    typer.Option("--runs", help="Run files: paths, patterns, folders, NAME=PATH, - for stdin.", rich_help_panel=DATA),
]
Slots = Annotated[
    int | None,
    typer.Option("--slots", help="Take the first N judgments of each document as N assessors.", rich_help_panel=DATA),
]
Ties = Annotated[str, typer.Option("--ties", help="document | expected", rich_help_panel=CONVENTIONS)]
ScoreDtype = Annotated[str, typer.Option("--score-dtype", help="float64 | float32", rich_help_panel=CONVENTIONS)]
Unjudged = Annotated[str, typer.Option("--unjudged", help="nonrelevant | condensed", rich_help_panel=CONVENTIONS)]
Missing = Annotated[str, typer.Option("--missing", help="zero | skip | interpolate", rich_help_panel=CONVENTIONS)]
Empty = Annotated[str, typer.Option("--empty", help="zero | nan", rich_help_panel=CONVENTIONS)]
MinCoverage = Annotated[
    float,
    typer.Option("--min-coverage", help="Least share of a topic's pool that counts.", rich_help_panel=CONVENTIONS),
]
ConventionRepeats = Annotated[
    str, typer.Option("--repeats", help="first | last | mean | error", rich_help_panel=CONVENTIONS)
]
Grades = Annotated[str, typer.Option("--grades", help="as-is | unit", rich_help_panel=CONVENTIONS)]
Output = Annotated[
    str | None,
    typer.Option("--output", help="All numbers as .csv, .parquet or .json; the tables as .md or .tex."),
]


def read_judgments(
    paths: list[str] | None,
    assessor: str,
    recode: str | None,
    scales: list[str] | None,
    unit: bool = False,
    slots: int | None = None,
    campaign: str | None = None,
    database: str = DATABASE,
) -> Judgments:
    """Read, declare scales, recode, and where wanted bring everyone onto 0 to 1, or make a crowd a few assessors."""
    from qrowd import files
    from qrowd.errors import ArgumentError
    from qrowd.model.preferences import Preferences

    declared = dict(map(_pattern_and_scale, scales or []))
    if paths:
        if campaign is not None:
            raise ArgumentError(f"--campaign {campaign}: give either files or a campaign")
        given = files.read_judgments(paths, assessor=assessor, scales=declared)
    else:
        collected = read_campaign(campaign, database)
        if isinstance(collected, Preferences):
            raise ArgumentError(f"--campaign {campaign}: it collects preferences; give it to qrowd prefer evaluate")
        given = collected.with_scales(declared) if declared else collected
    if recode is not None:
        given = given.recode(files.read_recoding(recode))
    if slots is not None:
        given = given.slots(slots)
    return given.unit_grades() if unit else given


def read_campaign(name: str | None, database: str) -> Judgments | Preferences:
    """What a campaign collected so far; it may be served meanwhile."""
    from qrowd.errors import ArgumentError

    if name is None:
        raise ArgumentError("nothing to read: give --judgments FILES, or --campaign NAME")
    with server_extra():
        from qrowd.collect.campaigns.collected import collected
    with open_campaigns(database) as store:
        return store.read(lambda connection: collected(connection, name))


def open_campaigns(database: str, *, write: bool = False) -> Store:
    """The store; one that is only looked at may be served meanwhile."""
    with server_extra():
        from qrowd.collect.store.engine import open_store
    return open_store(database, create=write, read_only=not write)


def _pattern_and_scale(text: str) -> tuple[str, str]:
    from qrowd.errors import ArgumentError

    pattern, equals, scale = text.rpartition("=")
    if not equals:
        raise ArgumentError(f"--scale {text}: expected PATTERN=SCALE, as in 'umbrela-*=0-3'")
    return pattern, scale


def check_output(output: str | None) -> None:
    """Refuse a file that could not be written in the end, before any work is done."""
    from qrowd.reports.document import check_ending

    if output is not None:
        check_ending(output)


def deliver(document: Document, output: str | None) -> None:
    """Write the file, if one is wanted, and show the document."""
    from qrowd import files
    from qrowd.cli.show import show
    from qrowd.reports.document import render

    if output is not None:
        files.write_whole(output, render(document, output))
    show(document)


@contextmanager
def server_extra() -> Iterator[None]:
    """Around imports of what collects judgments: says how to install it where it is missing."""
    from qrowd.errors import QrowdError

    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("qrowd"):
            raise
        raise QrowdError(f"this needs {error.name}; pip install 'qrowd[server]'") from None
