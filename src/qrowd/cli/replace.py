"""`qrowd replace`: may a model replace our assessors?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from qrowd.cli import options
from qrowd.cli.options import convention, option
from qrowd.cli.output import Output, deliver
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions


def replace(
    data: options.Data,
    model: Annotated[
        list[str],
        option(
            help="Models, each tested alone: assessors of the judgments, or files.", panel="Data", metavar="NAMES|FILES"
        ),
    ],
    gold: options.Gold = None,
    runs: options.MaybeRuns = options.NO_RUNS,
    measure: options.Measure = "nDCG@10",
    group: Annotated[
        list[str] | None,
        option(
            help="Group of systems that the model may be biased towards, as in 'neural=neural_*'; needs --runs.",
            metavar="NAME=PATTERN",
        ),
    ] = None,
    eps: Annotated[
        float,
        option(help="Cost margin epsilon of the alternative annotator test: 0.2 for experts, 0.15 skilled, 0.1 crowd."),
    ] = 0.2,
    q: Annotated[float, convention(help="False discovery rate over all assessors.")] = 0.05,
    closeness: Annotated[
        Literal["accuracy", "rmse", "difference"] | None,
        convention(help="How close a judgment is to those of the others.", show_default="by the scale"),
    ] = None,
    clusters: Annotated[
        Literal["topics", "documents"],
        convention(help="Independent units of the test: topics, or documents as in the paper."),
    ] = "topics",
    min_documents: Annotated[int, convention(help="Smallest number of documents on which an assessor is tested.")] = 30,
    documents: Annotated[
        Literal["pool", "seen"],
        convention(
            help="Documents that are ranked for the ceiling: all that --gold judged, or those that others judged, too."
        ),
    ] = "pool",
    min_coverage: options.MinCoverage = 0.1,
    repeats: options.Repeats = "first",
    grades: options.Grades = "as-is",
    seed: options.Seed = 1,
    output: Output = None,
) -> None:
    """Test whether a model may replace assessors, and whether it favours some systems."""
    from qrowd.reports.replacement import replacements

    groups = systems_by_group(group or [], runs.runs)
    models: dict[str, Any] = {f"model {i}": text for i, text in enumerate(model)}
    judgments, names = data.read_with(**models, gold=gold)
    result = replacements(
        judgments,
        [names[f"model {i}"] for i in range(len(model))],
        gold=names.get("gold"),
        runs=runs.read(data),
        groups=groups,
        measure=measure,
        eps=eps,
        q=q,
        closeness=closeness,
        clusters=clusters,
        min_documents=min_documents,
        documents=documents,
        conventions=Conventions(min_coverage=min_coverage, repeats=repeats, grades=grades),
        rng=seed,
    )
    deliver(result.to_document(), output)


def systems_by_group(texts: list[str], runs: list[str] | None) -> dict[str, list[str]]:
    """{name: patterns}; a name that is given twice holds the systems of both patterns."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, equals, pattern = text.partition("=")
        if not (name and equals and pattern):
            raise ArgumentError(f"--group {text}: expected NAME=PATTERN, as in 'neural=neural_*'")
        groups.setdefault(name, []).append(pattern)
    if groups and not runs:
        raise ArgumentError("--group: bias is estimated from scores of systems; give their --runs")
    if runs and not groups:
        raise ArgumentError(
            "--runs: scores of systems are for --group; name one, as in --group 'neural=neural_*', or ask "
            "`qrowd compare --reference ASSESSOR` whether systems rank alike"
        )
    return groups
