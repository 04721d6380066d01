"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from typing import Annotated

from qrowd.cli.options import (
    Baseline,
    CombineScales,
    Data,
    Output,
    PerTopic,
    Runs,
    Scoring,
    Seed,
    check_output,
    deliver,
    measures,
    option,
)
from qrowd.model.conventions import Conventions


def evaluate(
    runs: Runs,
    data: Data,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10 AP P@10 RR")] = None,
    method: Annotated[
        list[str] | None,
        option(
            help="Methods that put the assessors together, several side by side: majority, dawid-skene(per=all), mace, "
            "mean, uniform, sgl_rmse_msd, predicted-relevance(rel=2), agreement-aware and others.",
            metavar="METHODS",
        ),
    ] = None,
    baseline: Baseline = None,
    per_topic: PerTopic = False,
    conventions: Scoring = Conventions(),
    combine_scales: CombineScales = "auto",
    seed: Seed = 1,
    output: Output = None,
) -> None:
    """Score each run by each assessor, and show whether the assessors agree on the best system."""
    from qrowd import files
    from qrowd.cli.show import progress, show_table
    from qrowd.evaluation import DEFAULT_MEASURES
    from qrowd.evaluation import measure as parse
    from qrowd.methods import parse_method
    from qrowd.reports.evaluation import evaluation_of, topic_table

    # What can be wrong without reading a file is said before any file is read.
    parsed = [parse(text) for text in measure or DEFAULT_MEASURES]
    methods = [str(parse_method(text)) for text in method or []]
    check_output(output)
    judgments = data.read()
    with progress("scoring") as advance:
        summary = evaluation_of(
            files.read_runs(runs),
            judgments,
            parsed,
            methods=methods,
            baseline=baseline,
            conventions=conventions,
            combine_scales=combine_scales,
            rng=seed,
            progress=advance,
        )
    deliver(summary.to_document(), output)
    if per_topic:
        show_table(topic_table(summary.scores))
