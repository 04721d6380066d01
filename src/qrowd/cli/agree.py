"""`qrowd agree`: how far assessors agree."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.cli.output import Output, deliver


def agree(
    data: options.Data,
    files: options.JudgmentFiles = None,
    coefficient: Annotated[
        list[str] | None,
        option(
            help="Coefficients besides alpha: kappa (Cohen's, of each pair), fleiss (kappa of all), icc (intraclass "
            "correlation), dispersion (variance, standard deviation and entropy of documents).",
            metavar="COEFFICIENTS",
            show_default="alpha kappa",
        ),
    ] = None,
    per_topic: options.PerTopic = False,
    level: options.Level = None,
    repeats: options.Repeats = "first",
    combine_scales: options.CombineScales = "auto",
    resample: Annotated[
        Literal["topics", "documents", "deviations"],
        option(help="What is resampled: topics, documents, or deviations (Hayes and Krippendorff).", panel="Sampling"),
    ] = "topics",
    sampling: options.Sampling = options.Sampling(1000),
    output: Output = None,
) -> None:
    """Measure how well assessors agree: Krippendorff's alpha, Cohen's kappa of each pair, and other coefficients."""
    from qrowd.reports.agreement import agreement_of

    judgments = options.judgments_by_position(files, data).read()
    document = agreement_of(
        judgments,
        coefficients=coefficient or ("alpha", "kappa"),
        per_topic=per_topic,
        level=level,
        repeats=repeats,
        combine_scales=combine_scales,
        resample=resample,
        **sampling.arguments,
    )
    deliver(document, output)
