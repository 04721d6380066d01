"""`qrowd assessors`: one row an assessor."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import (
    DATABASE,
    Campaign,
    Database,
    Level,
    MaybeJudgmentFiles,
    Output,
    Recode,
    Repeats,
    Scales,
    Unit,
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
    unit: Unit = False,
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
) -> None:
    """Who are the assessors: grades given, severity, agreement with the others and with themselves, drift, speed."""
    from qrowd.agreement.assessors import assessor_profiles
    from qrowd.reports.agreement import assessors_document

    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale, unit, campaign=campaign, database=database)
    deliver(assessors_document(assessor_profiles(given, gold, level=level, repeats=repeats)), output)  # type: ignore[arg-type]
