"""`qrowd assessors`: one row per assessor."""

from __future__ import annotations

from qrowd.cli import options
from qrowd.cli.output import Output, deliver


def assessors(
    data: options.Data,
    files: options.JudgmentFiles = None,
    gold: options.Gold = None,
    level: options.Level = None,
    repeats: options.Repeats = "first",
    combine_scales: options.CombineScales = "auto",
    output: Output = None,
) -> None:
    """Describe each assessor: grades, severity, agreement with others, drift and speed."""
    from qrowd.reports.agreement import assessors_of

    judgments, names = options.judgments_by_position(files, data).read_with(gold=gold)
    document = assessors_of(
        judgments, gold=names.get("gold"), level=level, repeats=repeats, combine_scales=combine_scales
    )
    deliver(document, output)
