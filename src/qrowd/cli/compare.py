"""`qrowd compare`: which systems may be the best, and do assessors agree on that."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import (
    CONVENTIONS,
    DATABASE,
    Campaign,
    Database,
    Empty,
    Grades,
    MaybeJudgmentFiles,
    MinCoverage,
    Missing,
    Output,
    Recode,
    Repeats,
    RunFiles,
    Scales,
    ScoreDtype,
    Slots,
    Ties,
    Unjudged,
    Who,
    check_output,
    deliver,
    read_judgments,
)


def compare(
    runs: RunFiles,
    judgments: MaybeJudgmentFiles = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="nDCG@10, AP(rel=2), ...; without: nDCG@10")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Assessor all others are compared with; default: the panel.")
    ] = None,
    systems: Annotated[list[str] | None, typer.Option(help="Two systems to look at by themselves.")] = None,
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
    slots: Slots = None,
    alpha: Annotated[
        float, typer.Option(help="Systems with p below it are significantly different.", rich_help_panel=CONVENTIONS)
    ] = 0.05,
    zeros: Annotated[
        str,
        typer.Option(
            help="Topics without a difference, in Wilcoxon tests: wilcox | pratt | zsplit", rich_help_panel=CONVENTIONS
        ),
    ] = "wilcox",
    correction: Annotated[
        str, typer.Option(help="Of p in Wilcoxon top sets, for many systems: none | holm", rich_help_panel=CONVENTIONS)
    ] = "none",
    sign_ties: Annotated[
        str, typer.Option(help="Equal scores, in signs: ignore | half | agree", rich_help_panel=CONVENTIONS)
    ] = "ignore",
    replicates: Annotated[
        int,
        typer.Option(
            help="Replicates of the test of all pairs of systems, and of the bootstrap of a difference.",
            rich_help_panel=CONVENTIONS,
        ),
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.", rich_help_panel=CONVENTIONS)] = 1,
    ties: Ties = "document",
    score_dtype: ScoreDtype = "float64",
    unjudged: Unjudged = "nonrelevant",
    missing: Missing = "zero",
    empty: Empty = "zero",
    min_coverage: MinCoverage = 0.1,
    repeats: Repeats = "first",
    grades: Grades = "as-is",
) -> None:
    """Which systems may be the best, and do the assessors agree on that?"""
    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.errors import ArgumentError
    from qrowd.evaluation import evaluate
    from qrowd.evaluation import measure as parse
    from qrowd.model.conventions import Conventions
    from qrowd.reports.comparison import Choices, compare_systems, comparison_document

    # What can be wrong without reading a file is said before any file is read.
    conventions = Conventions(ties, score_dtype, unjudged, missing, empty, min_coverage, repeats, grades)  # type: ignore[arg-type]
    choices = Choices(alpha, zeros, correction, sign_ties, replicates, seed)  # type: ignore[arg-type]
    wanted = [parse(text) for text in measure or ["nDCG@10"]]
    if systems and len(systems) != 2:
        raise ArgumentError(f"--systems {' '.join(systems)}: two systems were expected, found {len(systems)}")
    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale, slots=slots, campaign=campaign, database=database)
    with progress("scoring") as advance:
        scores = evaluate(files.read_runs(runs), given, wanted, conventions=conventions, progress=advance)
    pair = (systems[0], systems[1]) if systems else None
    deliver(comparison_document(compare_systems(scores, reference=reference, pair=pair, choices=choices)), output)
