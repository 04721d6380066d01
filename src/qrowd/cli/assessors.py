"""`qrowd assessors`: one row an assessor."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import (
    DATABASE,
    Campaign,
    CombineScales,
    Database,
    Level,
    MaybeJudgmentFiles,
    Output,
    Recode,
    Repeats,
    Scales,
    Who,
    check_output,
    deliver,
    read_judgments,
)


def assessors(
    judgments: MaybeJudgmentFiles = None,
    gold: Annotated[str | None, typer.Option(help="The assessor who is right, by name.")] = None,
    level: Level = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
) -> None:
    """Who are the assessors: grades given, severity, agreement with the others and with themselves, drift, speed."""
    from qrowd.agreement.assessors import assessor_profiles
    from qrowd.agreement.reliability import unlike_at
    from qrowd.reports.agreement import assessors_document
    from qrowd.reports.scales import stated, what_was_done

    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale, campaign=campaign, database=database)
    options = {"level": level, "repeats": repeats, "combine_scales": combine_scales}
    profiles = assessor_profiles(given, gold, **options)  # type: ignore[arg-type]
    unlike = {"severity and agreement": unlike_at(profiles.level if level else None)}
    done = what_was_done(given.scales, combine_scales, unlike)  # type: ignore[arg-type]
    deliver(stated(assessors_document(profiles), given, done), output)
