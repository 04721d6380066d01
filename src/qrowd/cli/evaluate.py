"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from typing import Annotated

from qrowd.cli import options
from qrowd.cli.options import measures, methods
from qrowd.cli.output import Output, deliver
from qrowd.model.conventions import Conventions


def evaluate(
    runs: options.Runs,
    data: options.Data,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10 AP P@10 RR")] = None,
    method: Annotated[
        list[str] | None,
        methods(
            "Methods that put the assessors together, several side by side: majority, dawid-skene(per=all), mace, "
            "mean, uniform, sgl_rmse_msd, predicted-relevance(rel=2), agreement-aware and others."
        ),
    ] = None,
    baseline: options.Baseline = None,
    per_topic: options.PerTopic = False,
    conventions: options.Scoring = Conventions(),
    combine_scales: options.CombineScales = "auto",
    seed: options.Seed = 1,
    output: Output = None,
) -> None:
    """Score each run by each assessor, and show whether the assessors agree on the best system."""
    from qrowd.cli.show import progress, show_table
    from qrowd.evaluation import DEFAULT_MEASURES
    from qrowd.reports.evaluation import evaluation_of, topic_table

    judgments = data.read()
    rankings = runs.read(data)
    with progress("scoring") as advance:
        summary = evaluation_of(
            rankings,
            judgments,
            measure or DEFAULT_MEASURES,
            methods=method or [],
            baseline=baseline,
            conventions=conventions,
            combine_scales=combine_scales,
            rng=seed,
            progress=advance,
        )
    deliver(summary.to_document(), output)
    if per_topic:
        show_table(topic_table(summary.scores))
