"""`qrowd aware`: the mean of the scores by every assessor, weighted by how far the assessor is from random ones."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import (
    ConventionRepeats,
    Grades,
    JudgmentFiles,
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

RANDOM = "Random assessors"


def aware(
    runs: RunFiles,
    judgments: JudgmentFiles,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="nDCG@10, AP(rel=2), ...; without: nDCG@10 AP")
    ] = None,
    estimator: Annotated[
        str, typer.Option(help="sgl|tpc _ fro|rmse|kld|tau|apc _ md|msd|med, or uniform.")
    ] = "sgl_rmse_md",
    gold: Annotated[
        str | None, typer.Option(help="Weigh by similarity to this file's assessor, where it judged.")
    ] = None,
    across: Annotated[str, typer.Option(help="own: accuracies per measure | all: one for all measures")] = "own",
    polarity: Annotated[
        str, typer.Option(help="dissimilarity | printed (as the paper's equations have it)", rich_help_panel=RANDOM)
    ] = "dissimilarity",
    replicates: Annotated[int, typer.Option("-n", help="Of each level.", rich_help_panel=RANDOM)] = 1000,
    level: Annotated[
        list[float] | None,
        typer.Option(help="How often they say relevant; without: .05 .5 .95.", rich_help_panel=RANDOM),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same number, the same assessors.", rich_help_panel=RANDOM)] = 1,
    output: Output = None,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
    slots: Slots = None,
    ties: Ties = "document",
    score_dtype: ScoreDtype = "float64",
    unjudged: Unjudged = "nonrelevant",
    missing: Missing = "zero",
    min_coverage: MinCoverage = 0.1,
    repeats: ConventionRepeats = "first",
    grades: Grades = "as-is",
) -> None:
    """Which system is better, if assessors who judge like chance count for less (AWARE)?"""
    from qrowd import files
    from qrowd.aware import LEVELS, assessor_similarities
    from qrowd.aware import estimator as known_estimator
    from qrowd.cli.show import progress
    from qrowd.evaluation import measure as parse
    from qrowd.model.conventions import Conventions
    from qrowd.reports.aware import aware_document

    conventions = Conventions(ties, score_dtype, unjudged, missing, "nan", min_coverage, repeats, grades)  # type: ignore[arg-type]
    check_output(output)
    known_estimator(estimator)
    wanted = [parse(text) for text in measure or ("nDCG@10", "AP")]
    given = read_judgments(judgments, assessor, recode, scale, slots=slots)
    loaded = files.read_runs(runs)
    levels = LEVELS if not level else {f"{p:g}": p for p in level}
    with progress("comparing with random assessors") as advance:
        similarities = assessor_similarities(
            loaded,
            given,
            wanted,
            gold=None if gold is None else read_judgments([gold], assessor, recode, scale),
            n_resamples=replicates,
            levels=levels,
            conventions=conventions,
            rng=seed,
            progress=advance,
        )
    deliver(aware_document(similarities, given, estimator, polarity, across, repeats=repeats), output)  # type: ignore[arg-type]
