"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import (
    DATA,
    JudgmentFiles,
    Output,
    Recode,
    Scales,
    Who,
    check_output,
    deliver,
    read_judgments,
)

CONVENTIONS = "Conventions that change numbers"


def evaluate(
    runs: Annotated[
        list[str],
        typer.Option(help="Run files: paths, patterns, folders, NAME=PATH, - for stdin.", rich_help_panel=DATA),
    ],
    judgments: JudgmentFiles,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="nDCG@10, AP(rel=2), ...; without: nDCG@10 AP P@10 RR")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Compare every system with this one.")] = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="Print the scores of every topic.")] = False,
    output: Output = None,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
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
    from qrowd.cli.show import console, progress, show_table
    from qrowd.evaluation import DEFAULT_MEASURES, Conventions, score
    from qrowd.evaluation import measure as parse
    from qrowd.measures import residual_of
    from qrowd.reports.evaluation import evaluation_document, topic_table
    from qrowd.reports.summary import summarise

    # What can be wrong without reading a file is said before any file is read.
    conventions = Conventions(ties, score_dtype, unjudged, missing, empty, min_coverage, repeats, grades)  # type: ignore[arg-type]
    wanted = [parse(text) for text in measure or DEFAULT_MEASURES]
    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale)
    if slots is not None:
        given = given.slots(slots)
    loaded = files.read_runs(runs)
    residuals = [m for m in map(residual_of, wanted) if m is not None and m not in wanted]
    with progress("scoring") as advance:
        scores = score(loaded, given, [*wanted, *residuals], conventions, progress=advance)
    summary = summarise(scores, baseline=baseline, also=tuple(map(str, residuals)))
    asked = scores.only(tuple(map(str, wanted)))
    deliver(evaluation_document(asked, summary), output)
    if per_topic:
        out = console()
        out.print()
        show_table(out, topic_table(asked))
