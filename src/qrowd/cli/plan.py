"""`qrowd plan`: more topics or more assessors, and what a budget buys."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.cli.output import Output, ShortNames, deliver
from qrowd.cli.values import numbers, pair_of
from qrowd.model.conventions import Conventions

COSTS = "Costs, in one currency"


def plan(
    runs: options.MaybeRuns,
    data: options.Data,
    files: options.Files = None,
    measure: options.Measure = "nDCG@10",
    design: Annotated[
        Literal["auto", "crossed", "nested"],
        option(help="Design of the judgments: the same assessors in all topics (crossed), or not (nested)."),
    ] = "auto",
    planned: Annotated[
        Literal["crossed", "nested"] | None,
        option(help="Design of the planned judgments.", show_default="the design of the judgments"),
    ] = None,
    target: Annotated[
        Literal["generalizability", "dependability"], option(help="Coefficient that the best design maximises.")
    ] = "generalizability",
    topics: Annotated[
        str | None, option(help="Numbers of topics in the table of designs, as in 25,50,100.", metavar="NUMBERS")
    ] = None,
    assessors: Annotated[
        str | None,
        option(help="Numbers of assessors per topic in the table of designs, as in 1,2,3.", metavar="NUMBERS"),
    ] = None,
    systems: options.Systems = None,
    difference: Annotated[
        float | None,
        option(
            help="Difference between the two systems that is to be detected.",
            show_default="the observed difference",
        ),
    ] = None,
    power: Annotated[float, option(help="Probability with which the difference is to be detected.")] = 0.8,
    max_topics: Annotated[int, option(help="Largest number of topics that is considered.")] = 1000,
    max_assessors: Annotated[int, option(help="Largest number of assessors per topic that is considered.")] = 20,
    budget: Annotated[float | None, option(help="Total budget.", panel=COSTS)] = None,
    topic_cost: Annotated[float, option(help="Fixed cost of one topic, before judging.", panel=COSTS)] = 0.0,
    judgment_cost: Annotated[float, option(help="Cost of one judgment.", panel=COSTS)] = 0.0,
    documents_per_topic: Annotated[
        float | None,
        option(
            help="Documents that each assessor judges per topic.",
            panel=COSTS,
            show_default="the mean size of the pool",
        ),
    ] = None,
    conventions: options.Scoring = Conventions(),
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Plan how many topics and assessors to judge, and how to spend a budget."""
    from qrowd.cli.show import progress
    from qrowd.reports.planning import plan as plan_judging
    from qrowd.reports.planning import pool_size

    rows, columns = numbers("--topics", topics), numbers("--assessors", assessors)
    pair = pair_of(systems)
    run_files, of_panel = options.by_position(files, runs, data)
    judgments = of_panel.read(in_slots=False)
    pool = pool_size(judgments) if documents_per_topic is None else documents_per_topic
    if data.slots is not None:
        judgments = judgments.slots(data.slots)
    rankings = run_files.read(of_panel)
    with progress("scoring") as advance:
        result = plan_judging(
            rankings,
            judgments,
            measure,
            conventions=conventions,
            design=design,
            planned=planned,
            topics=rows,
            assessors=columns,
            systems=pair,
            difference=difference,
            power=power,
            target=target,
            max_topics=max_topics,
            max_assessors=max_assessors,
            budget=budget,
            topic_cost=topic_cost,
            judgment_cost=judgment_cost,
            documents_per_topic=pool,
            progress=advance,
        )
    deliver(result.to_document().shown(rankings.systems, short_names=short_names), output)
