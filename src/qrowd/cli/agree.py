"""`qrowd agree`: how far assessors agree."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli.options import (
    CombineScales,
    Confidence,
    Data,
    Level,
    NResamples,
    Output,
    PerTopic,
    Repeats,
    Seed,
    check_output,
    deliver,
    option,
)


def agree(
    data: Data,
    per_topic: PerTopic = False,
    level: Level = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    resample: Annotated[
        Literal["topics", "documents", "deviations"],
        option(help="What is resampled: topics, documents, or deviations (Hayes and Krippendorff).", panel="Sampling"),
    ] = "topics",
    n_resamples: NResamples = 1000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
    output: Output = None,
) -> None:
    """Measure how well assessors agree: Krippendorff's alpha, and Cohen's kappa of each pair."""
    from qrowd.reports.agreement import agreement_of

    check_output(output)
    judgments = data.read()
    document = agreement_of(
        judgments,
        per_topic=per_topic,
        level=level,
        repeats=repeats,
        combine_scales=combine_scales,
        resample=resample,
        n_resamples=n_resamples,
        confidence=confidence,
        rng=seed,
    )
    deliver(document, output)
