"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import (
    CONVENTIONS,
    DATABASE,
    Campaign,
    CombineScales,
    ConventionRepeats,
    Database,
    Empty,
    Grades,
    MaybeJudgmentFiles,
    MinCoverage,
    Missing,
    Output,
    Recode,
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


def evaluate(
    runs: RunFiles,
    judgments: MaybeJudgmentFiles = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="nDCG@10, AP(rel=2), ...; without: nDCG@10 AP P@10 RR")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Put the assessors together: majority, dawid-skene(per=all), mean, uniform, sgl_rmse_msd, "
            "predicted-relevance(rel=2), agreement-aware ... Several stand side by side."
        ),
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Compare every system with this one.")] = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="Print the scores of every topic.")] = False,
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
    slots: Slots = None,
    ties: Ties = "document",
    score_dtype: ScoreDtype = "float64",
    unjudged: Unjudged = "nonrelevant",
    missing: Missing = "zero",
    empty: Empty = "zero",
    min_coverage: MinCoverage = 0.1,
    repeats: ConventionRepeats = "first",
    grades: Grades = "as-is",
    combine_scales: CombineScales = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Random seed.", rich_help_panel=CONVENTIONS)] = 1,
) -> None:
    """Which system is better, and do the assessors agree on that?"""
    from qrowd import files
    from qrowd.cli.show import console, progress, show_table
    from qrowd.evaluation import DEFAULT_MEASURES, evaluate
    from qrowd.evaluation import measure as parse
    from qrowd.measures import residual_of
    from qrowd.model.conventions import Conventions
    from qrowd.reports.evaluation import summarise, topic_table

    # What can be wrong without reading a file is said before any file is read.
    conventions = Conventions(ties, score_dtype, unjudged, missing, empty, min_coverage, repeats, grades)  # type: ignore[arg-type]
    wanted = [parse(text) for text in measure or DEFAULT_MEASURES]
    methods = named(method or [])
    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale, slots=slots, campaign=campaign, database=database)
    loaded = files.read_runs(runs)
    residuals = [m for m in map(residual_of, wanted) if m is not None and m not in wanted and not methods]
    with progress("scoring") as advance:
        if methods:
            from qrowd.methods import evaluate_methods

            scores = evaluate_methods(
                loaded,
                given,
                wanted,
                methods=methods,
                conventions=conventions,
                rng=seed,
                progress=lambda _, done, n: advance(done, n),
                combine_scales=combine_scales,  # type: ignore[arg-type]
            )
        else:
            scores = evaluate(loaded, given, [*wanted, *residuals], conventions=conventions, progress=advance)
    summary = summarise(scores, baseline=baseline, also=tuple(map(str, residuals)), rng=seed)
    deliver(summary.to_document(), output)
    if per_topic:
        out = console()
        out.print()
        show_table(out, topic_table(summary.scores))


def named(methods: list[str]) -> list[str]:
    """The methods in full, wrong ones refused."""
    if not methods:
        return []
    from qrowd.methods import parse_method

    return [str(parse_method(text)) for text in methods]
