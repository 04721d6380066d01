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
    from qrowd.agreement.assessors import assessor_profiles
    from qrowd.agreement.document_counts import unlike_at
    from qrowd.reports.agreement import assessors_document
    from qrowd.reports.scales import scale_rules, with_scale_note

    check_output(output)
    judgments, names = data.read_with(gold=gold)
    profiles = assessor_profiles(
        judgments, gold=names.get("gold"), level=level, repeats=repeats, combine_scales=combine_scales
    )
    unlike = {"severity and agreement": unlike_at(profiles.level if level else None)}
    rules = scale_rules(judgments.scales, combine_scales, unlike)
    deliver(with_scale_note(assessors_document(profiles), judgments, rules), output)
