"""`qrowd assessors`: one row per assessor."""

from __future__ import annotations

from qrowd.cli.options import CombineScales, Data, Gold, Level, Output, Repeats, check_output, deliver


def assessors(
    data: Data,
    gold: Gold = None,
    level: Level = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    output: Output = None,
) -> None:
    """Describe each assessor: grades, severity, agreement with others, drift and speed."""
    from qrowd.reports.agreement import assessors_of

    check_output(output)
    judgments, names = data.read_with(gold=gold)
    document = assessors_of(
        judgments, gold=names.get("gold"), level=level, repeats=repeats, combine_scales=combine_scales
    )
    deliver(document, output)
