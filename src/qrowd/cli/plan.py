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
    budget: Annotated[float | None, typer.Option(help="All there is to spend.", rich_help_panel=COSTS)] = None,
    topic_cost: Annotated[float, typer.Option(help="Of one topic before anyone judges.", rich_help_panel=COSTS)] = 0.0,
    judgment_cost: Annotated[float, typer.Option(help="Of one judgment.", rich_help_panel=COSTS)] = 0.0,
    documents: Annotated[
        float | None,
        typer.Option(
            help="An assessor judges in a topic; without: the documents anyone judged, per topic.",
            rich_help_panel=COSTS,
        ),
    ] = None,
    max_topics: Annotated[int, typer.Option(help="Look no further.", rich_help_panel=COSTS)] = 1000,
    max_assessors: Annotated[int, typer.Option(help="Per topic; look no further.", rich_help_panel=COSTS)] = 20,
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
    from qrowd.evaluation import Conventions, score
    from qrowd.evaluation import measure as parse
    from qrowd.reports.planning import Costs, plan_document, plan_judging, pool_size

    # What can be wrong without reading a file is said before any file is read.
    conventions = Conventions(ties, score_dtype, unjudged, missing, empty, min_coverage, repeats, grades)  # type: ignore[arg-type]
    wanted = parse(measure)
    rows, columns = counted("topics", topics), counted("assessors", assessors)
    if budget is not None and topic_cost == judgment_cost == 0:
        raise ArgumentError("--budget: give --topic-cost, --judgment-cost or both")
    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale)
    pool = pool_size(given) if documents is None else documents
    if slots is not None:
        given = given.slots(slots)
    with progress("scoring") as advance:
        scores = score(files.read_runs(runs), given, [wanted], conventions, progress=advance)
    found = plan_judging(
        scores,
        design=design,  # type: ignore[arg-type]
        study_as=planned,  # type: ignore[arg-type]
        costs=Costs(budget, topic_cost, judgment_cost, pool),
        topics=rows,
        assessors=columns,
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
