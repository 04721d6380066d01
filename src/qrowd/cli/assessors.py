"""`qrowd assessors`: one row an assessor."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import JudgmentFiles, Output, Recode, Scales, Who, check_output, deliver, read_judgments


def assessors(
    judgments: JudgmentFiles,
    gold: Annotated[str | None, typer.Option(help="The assessor who is right, by name.")] = None,
    level: Annotated[
        str | None, typer.Option(help="nominal | ordinal | interval | ratio; without: what the scale allows.")
    ] = None,
    repeats: Annotated[str, typer.Option(help="first | last | mean | error")] = "first",
    unit: Annotated[bool, typer.Option("--unit", help="Divide every value by its scale's maximum first.")] = False,
    output: Output = None,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
) -> None:
    """Who are the assessors: grades given, severity, agreement with the others and with themselves, drift, speed."""
    from qrowd.agreement.assessors import assessor_profiles
    from qrowd.reports.agreement import assessors_document

    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale)
    if unit:
        given = given.unit_grades()
    deliver(assessors_document(assessor_profiles(given, gold, level=level, repeats=repeats)), output)  # type: ignore[arg-type]
