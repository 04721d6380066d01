"""`qrowd report`: one page for those who decide."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from qrowd.cli.options import (
    CONVENTIONS,
    DATABASE,
    Campaign,
    ConventionRepeats,
    Database,
    Empty,
    Grades,
    MaybeJudgmentFiles,
    MinCoverage,
    Missing,
    Recode,
    RunFiles,
    Scales,
    ScoreDtype,
    Slots,
    Ties,
    Unjudged,
    Who,
    read_judgments,
)

FORMATS = {"html": ".html", "latex": ".tex", "csv": ".csv", "json": ".json"}


def report(
    runs: RunFiles,
    judgments: MaybeJudgmentFiles = None,
    measure: Annotated[str, typer.Option("-m", "--measure", help="That decides: nDCG@10, AP(rel=2), ...")] = "nDCG@10",
    baseline: Annotated[
        str | None, typer.Option(help="System all others are compared with; default: the best.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Assessor left out of the panel, with whom everyone is compared.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="File to write; without: report.html, or as --format has it.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="html: the page | latex, csv, json: its tables instead.")
    ] = "html",
    title: Annotated[str, typer.Option(help="Stands above the page.")] = "",
    campaign: Campaign = None,
    database: Database = DATABASE,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
    slots: Slots = None,
    alpha: Annotated[
        float, typer.Option(help="Systems with p below it are significantly different.", rich_help_panel=CONVENTIONS)
    ] = 0.05,
    replicates: Annotated[
        int, typer.Option(min=2, help="Replicates of the test of all pairs of systems.", rich_help_panel=CONVENTIONS)
    ] = 10_000,
    random_assessors: Annotated[
        int, typer.Option(min=1, help="Of each level, for AWARE.", rich_help_panel=CONVENTIONS)
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.", rich_help_panel=CONVENTIONS)] = 1,
    ties: Ties = "document",
    score_dtype: ScoreDtype = "float64",
    unjudged: Unjudged = "nonrelevant",
    missing: Missing = "zero",
    empty: Empty = "zero",
    min_coverage: MinCoverage = 0.1,
    repeats: ConventionRepeats = "first",
    grades: Grades = "as-is",
) -> None:
    """Which search system is better, how surely, and what judges differ on: one page to put before others."""
    import shlex
    from datetime import UTC, datetime

    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.errors import ArgumentError
    from qrowd.evaluation import measure as parse
    from qrowd.methods import evaluate_methods
    from qrowd.model.conventions import Conventions
    from qrowd.reports.comparison import Choices
    from qrowd.reports.document import RENDERERS
    from qrowd.reports.report import Provenance, input_files, report_document, report_summary
    from qrowd.reports.report_page import need_jinja, report_page

    # What can be wrong without reading a file is said before any file is read.
    conventions = Conventions(ties, score_dtype, unjudged, missing, empty, min_coverage, repeats, grades)  # type: ignore[arg-type]
    choices = Choices(alpha=alpha, replicates=replicates, seed=seed)
    wanted = parse(measure)
    if form not in FORMATS:
        raise ArgumentError(f"--format {form}: choose from {', '.join(FORMATS)}")
    if form == "html":
        need_jinja()
    target = output or f"report{FORMATS[form]}"
    given = read_judgments(judgments, assessor, recode, scale, slots=slots, campaign=campaign, database=database)
    loaded = files.read_runs(runs)
    command = shlex.join(["qrowd", *sys.argv[1:]])
    read = (
        *input_files("runs", runs),
        *input_files("judgments", judgments or []),
        *input_files("recoding", [recode] if recode else []),
    )
    with progress("comparing with random assessors") as advance:
        summary = report_summary(
            loaded,
            given,
            measure=wanted,
            baseline=baseline,
            reference=reference,
            conventions=conventions,
            choices=choices,
            evaluate_methods=evaluate_methods,
            random_assessors=random_assessors,
            title=title,
            provenance=Provenance(command, read, f"{datetime.now(UTC):%Y-%m-%d}"),
            progress=advance,
        )
    content = (
        report_page(summary).encode() if form == "html" else RENDERERS[FORMATS[form]](report_document(summary))
    )  # fmt: skip
    files.write_whole(target, content)
    typer.echo(f"{summary.answer.verdict}. {summary.answer.sentence}")
    typer.echo(f"Written: {target}")
