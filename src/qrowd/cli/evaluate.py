"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from qrowd.model.scores import Scores
    from qrowd.reports.summary import Summary

DATA = "Data"
CONVENTIONS = "Conventions that change numbers"


def evaluate(
    runs: Annotated[
        list[str],
        typer.Option(help="Run files: paths, patterns, folders, NAME=PATH, - for stdin.", rich_help_panel=DATA),
    ],
    judgments: Annotated[
        list[str], typer.Option(help="Judgment files, one assessor each (or a table).", rich_help_panel=DATA)
    ],
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="nDCG@10, AP(rel=2), ...; without: nDCG@10 AP P@10 RR")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Compare every system with this one.")] = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="Print the scores of every topic.")] = False,
    output: Annotated[
        str | None, typer.Option(help="All scores as .csv, .parquet or .json; the tables as .md or .tex.")
    ] = None,
    assessor: Annotated[
        str, typer.Option(help="Who judged: the 'file', or 'column' 2 of the qrels.", rich_help_panel=DATA)
    ] = "file",
    recode: Annotated[
        str | None, typer.Option(help="TOML file of grades to replace, by assessor.", rich_help_panel=DATA)
    ] = None,
    scale: Annotated[
        list[str] | None, typer.Option(help="Declare a scale: 'umbrela-*=0-3'.", rich_help_panel=DATA)
    ] = None,
    slots: Annotated[
        int | None,
        typer.Option(help="Take the first N judgments of each document as N assessors.", rich_help_panel=DATA),
    ] = None,
    ties: Annotated[str, typer.Option(help="document | expected", rich_help_panel=CONVENTIONS)] = "document",
    score_dtype: Annotated[str, typer.Option(help="float64 | float32", rich_help_panel=CONVENTIONS)] = "float64",
    unjudged: Annotated[str, typer.Option(help="nonrelevant | condensed", rich_help_panel=CONVENTIONS)] = "nonrelevant",
    missing: Annotated[str, typer.Option(help="zero | skip | interpolate", rich_help_panel=CONVENTIONS)] = "zero",
    empty: Annotated[str, typer.Option(help="zero | nan", rich_help_panel=CONVENTIONS)] = "zero",
    min_coverage: Annotated[
        float, typer.Option(help="Least share of a topic's pool that counts.", rich_help_panel=CONVENTIONS)
    ] = 0.1,
    repeats: Annotated[str, typer.Option(help="first | last | mean | error", rich_help_panel=CONVENTIONS)] = "first",
    grades: Annotated[str, typer.Option(help="as-is | unit", rich_help_panel=CONVENTIONS)] = "as-is",
) -> None:
    """Which system is better, and do the assessors agree on that?"""
    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.evaluation import DEFAULT_MEASURES, Conventions, score
    from qrowd.evaluation import measure as parse
    from qrowd.measures import residual_of
    from qrowd.reports.export import check_ending, render
    from qrowd.reports.summary import summarise

    # What can be wrong without reading a file is said before any file is read.
    conventions = Conventions(ties, score_dtype, unjudged, missing, empty, min_coverage, repeats, grades)  # type: ignore[arg-type]
    wanted = [parse(text) for text in measure or DEFAULT_MEASURES]
    if output is not None:
        check_ending(output)
    given = files.read_judgments(judgments, assessor=assessor, scales=dict(map(_pattern_and_scale, scale or [])))
    if recode is not None:
        given = given.recode(files.read_recoding(recode))
    if slots is not None:
        given = given.slots(slots)
    loaded = files.read_runs(runs)
    residuals = [m for m in map(residual_of, wanted) if m is not None and m not in wanted]
    with progress("scoring") as advance:
        scores = score(loaded, given, [*wanted, *residuals], conventions, progress=advance)
    summary = summarise(scores, baseline=baseline, also=tuple(map(str, residuals)))
    asked = scores.only(tuple(map(str, wanted)))
    if output is not None:
        files.write_whole(output, render(asked, summary, output))
    show_summary(summary)
    if per_topic:
        show_topics(asked)


def _pattern_and_scale(text: str) -> tuple[str, str]:
    from qrowd.errors import ArgumentError

    pattern, equals, scale = text.rpartition("=")
    if not equals:
        raise ArgumentError(f"--scale {text}: expected PATTERN=SCALE, as in 'umbrela-*=0-3'")
    return pattern, scale


def show_summary(summary: Summary) -> None:
    """The sentence, the tables, the notes."""
    from qrowd.cli.show import console, show_table
    from qrowd.reports.export import summary_tables

    out = console()
    out.print(summary.sentence, style="bold", markup=False)
    out.print()
    for title, header, rows in summary_tables(summary):
        show_table(out, title, header, rows)
    for note in summary.notes:
        out.print(note, markup=False, soft_wrap=not out.is_terminal)


def show_topics(scores: Scores) -> None:
    """One row per measure, topic and system: the panel's mean and the range over assessors."""
    from qrowd.cli.show import console, show_table
    from qrowd.reports.export import topic_rows

    out = console()
    out.print()
    show_table(out, "by topic", ["measure", "topic", "system", "mean", "lowest", "highest"], topic_rows(scores))
