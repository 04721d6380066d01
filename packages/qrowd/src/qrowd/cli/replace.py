"""`qrowd replace`: may a model replace our assessors?"""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.input_files import JudgmentFiles, data_option
from qrowd.cli.options import convention, option
from qrowd.cli.output import Output, ShortNames, deliver
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions


def replace(
    data: options.Data,
    model: Annotated[
        list[str],
        data_option(
            help="Models, each tested alone: assessors of the judgments, files, or folders of one file per model.",
            metavar="NAMES|FILES",
        ),
    ],
    files: JudgmentFiles = None,
    runs: options.Runs = options.NO_RUNS,
    measure: options.Measure = None,
    group: Annotated[
        list[str] | None,
        option(
            help="Group of systems that the model may be biased towards, as in 'neural=neural_*'; needs --runs.",
            metavar="NAME=PATTERN",
            show_default="rankings are compared, no bias",
        ),
    ] = None,
    eps: Annotated[
        float,
        option(help="Cost margin epsilon of the alternative annotator test: 0.2 for experts, 0.15 skilled, 0.1 crowd."),
    ] = 0.2,
    closeness: Annotated[
        Literal["accuracy", "rmse"] | None,
        convention(help="How close a judgment is to those of the others.", show_default="by the scale"),
    ] = None,
    independent: Annotated[
        Literal["topics", "documents"],
        convention(help="Independent units of the test: topics, or documents as in the paper."),
    ] = "topics",
    min_coverage: options.MinCoverage = 0.1,
    repeats: options.Repeats = "first",
    combine_scales: options.CombineScales = "auto",
    rel: options.Rel = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Compare models with assessors: may they replace them, and what do their grades mean."""
    from qrowd.reports.replacement import replacement_report

    data = options.judgments_by_position(files, data)
    groups = options.patterns_by_name(group, "group", "NAME=PATTERN, as in 'neural=neural_*'")
    judgments, models = data.read_with("model", model)
    rankings = runs.read(data)
    if groups and rankings is None:
        raise ArgumentError("bias cannot be estimated without --runs", "group", group)
    result = replacement_report(
        judgments,
        models,
        runs=rankings,
        groups=groups or None,
        measure=options.measure_for(rankings, measure),
        eps=eps,
        closeness=closeness,
        independent=independent,
        combine_scales=combine_scales,
        rel=rel,
        conventions=Conventions(min_coverage=min_coverage, repeats=repeats),
    )
    systems = () if rankings is None else rankings.systems
    deliver(result.to_document().shown(systems, short_names=short_names, units=judgments.criterion is not None), output)
