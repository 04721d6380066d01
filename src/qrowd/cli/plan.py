"""`qrowd plan`: more topics or more assessors, and what a budget buys."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import (
    Empty,
    Grades,
    JudgmentFiles,
    MinCoverage,
    Missing,
    Output,
    Recode,
    Repeats,
    RunFiles,
    Scales,
    ScoreDtype,
    Slots,
    Ties,
    Unjudged,
    Who,
    check_output,
    deliver,
    read_judgments,
)

COSTS = "Costs, in one currency"


def plan(
    runs: RunFiles,
    judgments: JudgmentFiles,
    measure: Annotated[str, typer.Option("-m", "--measure", help="nDCG@10, AP(rel=2), ...")] = "nDCG@10",
    design: Annotated[
        str, typer.Option(help="Of the judgments: auto | crossed (the same assessors in all topics) | nested")
    ] = "auto",
    planned: Annotated[str | None, typer.Option(help="Of what is planned: crossed | nested; without: alike.")] = None,
    target: Annotated[str, typer.Option(help="What is made largest: reliability | dependability")] = "reliability",
    topics: Annotated[str | None, typer.Option(help="Numbers of topics to look at: 25,50,100.")] = None,
    assessors: Annotated[str | None, typer.Option(help="Numbers of assessors per topic to look at: 1,2,3.")] = None,
    systems: Annotated[
        list[str] | None, typer.Option(help="Two systems to plan for (default: the two that lead).")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="Size of their difference that is to be found (default: the observed one).")
    ] = None,
    power: Annotated[float, typer.Option(help="Probability with which a difference is to be found.")] = 0.8,
    max_topics: Annotated[int, typer.Option(help="Largest number of topics considered.")] = 1000,
    max_assessors: Annotated[int, typer.Option(help="Largest number of assessors per topic considered.")] = 20,
    budget: Annotated[float | None, typer.Option(help="Total budget.", rich_help_panel=COSTS)] = None,
    topic_cost: Annotated[
        float, typer.Option(help="Fixed cost of one topic, before judging.", rich_help_panel=COSTS)
    ] = 0.0,
    judgment_cost: Annotated[float, typer.Option(help="Cost of one judgment.", rich_help_panel=COSTS)] = 0.0,
    documents: Annotated[
        float | None,
        typer.Option(help="Documents each assessor judges per topic (default: mean pool size).", rich_help_panel=COSTS),
    ] = None,
    output: Output = None,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
    slots: Slots = None,
    ties: Ties = "document",
    score_dtype: ScoreDtype = "float64",
    unjudged: Unjudged = "nonrelevant",
    missing: Missing = "zero",
    empty: Empty = "zero",
    min_coverage: MinCoverage = 0.1,
    repeats: Repeats = "first",
    grades: Grades = "as-is",
) -> None:
    """More topics or more assessors: what would help, and what does a budget buy?"""
    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.errors import ArgumentError
    from qrowd.evaluation import evaluate
    from qrowd.evaluation import measure as parse
    from qrowd.model.conventions import Conventions
    from qrowd.reports.planning import Costs, plan_document, plan_judging, pool_size

    # What can be wrong without reading a file is said before any file is read.
    conventions = Conventions(ties, score_dtype, unjudged, missing, empty, min_coverage, repeats, grades)  # type: ignore[arg-type]
    wanted = parse(measure)
    rows, columns = counted("topics", topics), counted("assessors", assessors)
    if systems and len(systems) != 2:
        raise ArgumentError(f"--systems {' '.join(systems)}: two systems were expected, found {len(systems)}")
    if budget is not None and topic_cost == judgment_cost == 0:
        raise ArgumentError("--budget: give --topic-cost, --judgment-cost or both")
    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale)
    pool = pool_size(given) if documents is None else documents
    if slots is not None:
        given = given.slots(slots)
    with progress("scoring") as advance:
        scores = evaluate(files.read_runs(runs), given, [wanted], conventions=conventions, progress=advance)
    found = plan_judging(
        scores,
        design=design,  # type: ignore[arg-type]
        study_as=planned,  # type: ignore[arg-type]
        costs=Costs(budget, topic_cost, judgment_cost, pool),
        topics=rows,
        assessors=columns,
        pair=(systems[0], systems[1]) if systems else None,
        size=difference,
        power=power,
        target=target,  # type: ignore[arg-type]
        max_topics=max_topics,
        max_assessors=max_assessors,
    )
    deliver(plan_document(found), output)


def counted(name: str, text: str | None) -> list[int] | None:
    """Whole numbers above 0, between commas."""
    from qrowd.errors import ArgumentError

    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise ArgumentError(f"--{name} {text}: whole numbers above 0 were expected, as in 25,50,100")
    return numbers
