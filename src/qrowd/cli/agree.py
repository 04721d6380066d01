"""`qrowd agree`: how far assessors agree."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import deliver, option


def agree(
    data: options.Data,
    per_topic: options.PerTopic = False,
    level: options.Level = None,
    repeats: options.Repeats = "first",
    combine_scales: options.CombineScales = "auto",
    resample: Annotated[
        Literal["topics", "documents", "deviations"],
        option(help="What is resampled: topics, documents, or deviations (Hayes and Krippendorff).", panel="Sampling"),
    ] = "topics",
    sampling: options.Sampling = options.Sampling(1000),
    output: options.Output = None,
) -> None:
    """Measure how well assessors agree: Krippendorff's alpha, and Cohen's kappa of each pair."""
    from qrowd.reports.agreement import agreement_of

    judgments = data.read()
    document = agreement_of(
        judgments,
        per_topic=per_topic,
        level=level,
        repeats=repeats,
        combine_scales=combine_scales,
        resample=resample,
        **sampling.arguments,
    )
    deliver(document, output)
