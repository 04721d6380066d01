"""`qrowd replace`: may this judge stand in for our assessors?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.options import (
    CONVENTIONS,
    DATA,
    ConventionRepeats,
    MinCoverage,
    Output,
    Recode,
    Scales,
    Unit,
    Who,
    check_output,
    deliver,
    read_judgments,
)

if TYPE_CHECKING:
    from qrowd.model.conventions import Conventions
    from qrowd.model.judgments import Judgments
    from qrowd.model.measure import Measure
    from qrowd.model.scores import Scores
    from qrowd.uncertainty.assessor_bias import AssessorBias

SHUFFLING = 1  # seed of the shuffles behind --group; their noise is far below what people differ


def replace(
    judgments: Annotated[
        list[str], typer.Option("--judgments", help="Files of the people's judgments.", rich_help_panel=DATA)
    ],
    model: Annotated[str, typer.Option("--model", help="File of the model's judgments.", rich_help_panel=DATA)],
    reference: Annotated[
        str | None,
        typer.Option(help="Judgments that score people and model as if they were systems.", rich_help_panel=DATA),
    ] = None,
    runs: Annotated[
        list[str] | None, typer.Option("--runs", help="Run files, for --group.", rich_help_panel=DATA)
    ] = None,
    measure: Annotated[
        str, typer.Option("-m", "--measure", help="Of the ceiling and of --group; nDCG@10, P@10, ...")
    ] = "nDCG@10",
    group: Annotated[
        list[str] | None, typer.Option("--group", help="Systems the model may favour: 'neural=neural_*'.")
    ] = None,
    eps: Annotated[float, typer.Option(help="What a person costs more: .2 experts, .15 skilled, .1 crowd.")] = 0.2,
    q: Annotated[float, typer.Option("--q", help="False discovery rate.", rich_help_panel=CONVENTIONS)] = 0.05,
    closeness: Annotated[
        str | None,
        typer.Option(help="accuracy | rmse | difference; without: by the scale", rich_help_panel=CONVENTIONS),
    ] = None,
    clusters: Annotated[
        str,
        typer.Option(help="Independent of each other: topics | documents (the paper)", rich_help_panel=CONVENTIONS),
    ] = "topics",
    fewest: Annotated[
        int, typer.Option(help="Documents a person needs to be tested.", rich_help_panel=CONVENTIONS)
    ] = 30,
    documents: Annotated[
        str, typer.Option(help="Ranked for the ceiling: pool | seen", rich_help_panel=CONVENTIONS)
    ] = "pool",
    output: Output = None,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
    unit: Unit = False,
    min_coverage: MinCoverage = 0.1,
    repeats: ConventionRepeats = "first",
) -> None:
    """May this model stand in for our assessors, does it reach their ceiling, and whom does it favour?"""
    from qrowd.evaluation import measure as parse
    from qrowd.model.conventions import Conventions
    from qrowd.reports.replacement import replacement_document, replacement_test
    from qrowd.uncertainty.ceiling import human_ceiling

    check_output(output)
    wanted = parse(measure)
    groups = _groups(group or [], runs)
    given = read_judgments([*judgments, model, *([reference] if reference else [])], assessor, recode, scale, unit)
    name = _one_of(given, model, "--model", assessor)
    truth = None if reference is None else _one_of(given, reference, "--reference", assessor)
    together = given.select(assessors=lambda who: who != truth)
    people = together.select(assessors=lambda who: who != name)
    test, line, kappas = replacement_test(
        together, name, eps=eps, q=q, closeness=closeness, clusters=clusters, fewest=fewest, repeats=repeats
    )
    ceiling = None
    if truth is not None:
        ceiling = human_ceiling(
            people,
            given.select(assessors=[truth]),
            wanted,
            model=together.select(assessors=[name]),
            documents=documents,  # type: ignore[arg-type]
            min_coverage=min_coverage,
            repeats=repeats,  # type: ignore[arg-type]
        )
    favour, scores = None, None
    if runs:
        conventions = Conventions(repeats=repeats, min_coverage=min_coverage)  # type: ignore[arg-type]
        favour, scores = _favour(runs, together, name, wanted, groups, conventions)
    deliver(replacement_document(test, line, kappas, ceiling, favour, scores), output)


def _favour(
    runs: list[str],
    judgments: Judgments,
    model: str,
    measure: Measure,
    groups: dict[str, list[str]],
    conventions: Conventions,
) -> tuple[AssessorBias, Scores]:
    """Whom the model favours, and the scores it was taken from."""
    from qrowd import files
    from qrowd.evaluation import evaluate
    from qrowd.uncertainty.assessor_bias import assessor_bias
    from qrowd.uncertainty.severity import expected_scores

    retrieved = files.read_runs(runs)
    scores = evaluate(retrieved, judgments, [measure], conventions=conventions)
    expected = expected_scores(retrieved, judgments, measure, model, conventions=conventions, rng=SHUFFLING)
    return assessor_bias(scores, groups, None, model, expected=expected), scores


def _groups(texts: list[str], runs: list[str] | None) -> dict[str, list[str]]:
    """{name: patterns}; a name given again holds the systems of both patterns."""
    from qrowd.errors import ArgumentError

    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, pattern = text.partition("=")
        if not (name and equals and pattern):
            raise ArgumentError(f"--group {text}: expected NAME=PATTERN, as in 'neural=neural_*'")
        found.setdefault(name, []).append(pattern)
    if found and not runs:
        raise ArgumentError("--group: whom a judge favours shows in scores of systems; give their --runs")
    if runs and not found:
        raise ArgumentError("--runs: scores of systems are for --group; name one, as in --group 'neural=neural_*'")
    return found


def _one_of(given: Judgments, path: str, option: str, assessor: str) -> str:
    """The one assessor of a file, whose judgments must all stand in that file."""
    from qrowd import files
    from qrowd.errors import ArgumentError

    own = files.read_judgments([path], assessor=assessor)
    if len(own.assessors) != 1:
        raise ArgumentError(f"{option} {path}: {len(own.assessors)} assessors; the judgments of one were expected")
    name = own.assessors[0]
    if len(given.select(assessors=[name])) != len(own):
        raise ArgumentError(f"{option} {path}: {name!r} also judges in another file; rename one with NAME=PATH")
    return name
