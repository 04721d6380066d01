"""`qrowd plan`: more topics or more assessors, and what a budget buys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.cli.output import Output, ShortNames, deliver
from qrowd.cli.processes import Workers
from qrowd.cli.question import (
    QUESTION,
    Costs,
    Disagreement,
    DocumentCosts,
    Model,
    NewTopics,
    People,
    Tolerance,
    cost,
    people_and_models,
    read_costs,
)
from qrowd.cli.question import judgment_cost as cost_of
from qrowd.cli.reading import Factors
from qrowd.cli.values import numbers, pair_of
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions


def plan(
    runs: options.MaybeRuns,
    data: People,
    files: options.Files = None,
    measure: options.Measure = "nDCG@10",
    question: Annotated[str | None, QUESTION] = None,
    model: Model = None,
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
    factors: Factors = None,
    difference: Annotated[
        str | None,
        option(
            help="Difference between the two systems that is to be detected; with --question: true differences, a row "
            "each, as in .01,.02,.05.",
            metavar="NUMBERS",
            show_default="the observed difference; with --question: .01,.02,.05,.1",
        ),
    ] = None,
    power: Annotated[float, option(help="Probability with which the difference is to be detected.")] = 0.8,
    max_topics: Annotated[int, option(help="Largest number of topics that is considered.")] = 1000,
    max_assessors: Annotated[int, option(help="Largest number of assessors per topic that is considered.")] = 20,
    correlation: Annotated[
        float | None,
        option(
            help="With --question: correlation between what is predicted from models and what people say.",
            show_default="by the judgments so far",
        ),
    ] = None,
    people_per_document: Annotated[
        int, option(help="With --question: number of people who judge each document.", min=1)
    ] = 1,
    tolerance: Tolerance = 0.0,
    new_topics: NewTopics = False,
    disagreement: Disagreement = False,
    budget: Annotated[float | None, cost(help="Total budget.")] = None,
    topic_cost: Annotated[float, cost(help="Fixed cost of one topic, before judging.")] = 0.0,
    judgment_cost: Costs = None,
    document_cost: DocumentCosts = None,
    documents_per_topic: Annotated[
        float | None,
        cost(help="Documents that each assessor judges per topic.", show_default="the mean size of the pool"),
    ] = None,
    n_simulations: Annotated[
        int, option(help="With --question: number of simulations of each row.", panel="Sampling", min=1)
    ] = 200,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 1,
    workers: Workers = Workers(),
    conventions: options.Scoring = Conventions(),
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Plan how many topics and assessors to judge, and how to spend a budget; or what a question will take."""
    sizes = _differences(difference)
    _check_kind(question, locals())
    if question is not None:
        _plan_question(
            files,
            runs,
            data,
            model,
            short_names,
            output,
            workers,
            {
                "question": question,
                "measure": measure,
                "differences": sizes,
                "correlation": correlation,
                "people_per_document": people_per_document,
                "budget": budget,
                "judgment_cost": cost_of(judgment_cost),
                "document_costs": read_costs(document_cost),
                "confidence": confidence,
                "tolerance": tolerance,
                "target": "new topics" if new_topics else "these topics",
                "disagreement": disagreement,
                "n_simulations": n_simulations,
                "rng": seed,
            },
        )
        return
    from qrowd.cli.show import progress
    from qrowd.reports.planning import plan as plan_judging
    from qrowd.reports.planning import pool_size
    from qrowd.sequential.costs import JudgmentCost

    if sizes is not None and len(sizes) > 1:
        raise ArgumentError(f"--difference {difference}: one number was expected; several need --question")
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
            factors=factors,
            difference=None if sizes is None else sizes[0],
            power=power,
            target=target,
            max_topics=max_topics,
            max_assessors=max_assessors,
            budget=budget,
            topic_cost=topic_cost,
            judgment_cost=JudgmentCost.of(cost_of(judgment_cost)).mean,
            documents_per_topic=pool,
            progress=advance,
        )
    deliver(result.to_document().shown(rankings.systems, short_names=short_names), output)


def _plan_question(
    files: list[str] | None,
    runs: options.MaybeRuns,
    data: People,
    model: list[str] | None,
    short_names: bool,
    output: str | None,
    workers: Workers,
    settings: dict[str, Any],
) -> None:
    """Show what a question is expected to take. settings : of `plan_question`."""
    from qrowd.cli.show import progress
    from qrowd.reports.question_plan import QuestionPlanReport
    from qrowd.sequential.planning import plan_question

    if files or not runs.runs:
        raise ArgumentError("missing option '--runs': give the files of runs, with --question not by position")
    rankings = options.Runs(runs.runs, runs.system).read(data)
    people, models, scale = people_and_models(data, model or [])
    with workers.executor() as executor, progress("simulating") as advance:
        result = plan_question(
            rankings, people, models=models, scale=scale, executor=executor, progress=advance, **settings
        )
    deliver(QuestionPlanReport(result).to_document().shown(rankings.systems, short_names=short_names), output)


OF_QUESTIONS = {  # option: its default
    "model": None,
    "correlation": None,
    "people_per_document": 1,
    "tolerance": 0.0,
    "new_topics": False,
    "disagreement": False,
    "document_cost": None,
    "n_simulations": 200,
    "workers": Workers(),
    "confidence": 0.95,
    "seed": 1,
}
OF_DESIGNS = {
    "design": "auto",
    "planned": None,
    "target": "generalizability",
    "topics": None,
    "assessors": None,
    "systems": None,
    "factors": None,
    "power": 0.8,
    "max_topics": 1000,
    "max_assessors": 20,
    "topic_cost": 0.0,
    "documents_per_topic": None,
    "conventions": Conventions(),
}


GROUPS = {"conventions": "the conventions of scoring", "workers": "--processes and --dask"}


def _check_kind(question: str | None, values: Mapping[str, Any]) -> None:
    """Refuse options of the other kind of plan. values : {option: value}."""
    others, rule = (OF_QUESTIONS, "needs --question") if question is None else (OF_DESIGNS, "not with --question")
    for name, default in others.items():
        if values[name] != default:
            option = GROUPS.get(name, f"--{name.replace('_', '-')}")
            raise ArgumentError(f"{option}: {rule}; see qrowd plan --help")


def _differences(text: str | None) -> list[float] | None:
    """The numbers of --difference."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ArgumentError(f"--difference {text}: numbers above 0 were expected, as in .01,.02,.05") from None
