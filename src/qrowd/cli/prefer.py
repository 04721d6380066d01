"""`qrowd prefer`: preferences between documents, instead of grades."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from qrowd.cli.commands import command_group
from qrowd.cli.options import (
    Baseline,
    Confidence,
    MaybeRuns,
    NResamples,
    Output,
    PerTopic,
    PreferenceData,
    Runs,
    Seed,
    check_output,
    convention,
    convention_named,
    deliver,
    measures,
    option,
)
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions


def evaluate(
    runs: Runs,
    data: PreferenceData,
    measure: Annotated[list[str] | None, measures("ppref@10 wpref compatibility")] = None,
    baseline: Baseline = None,
    per_topic: PerTopic = False,
    conventions: Annotated[
        Conventions, convention_named("score_dtype", "unjudged", "missing", "empty", "min_coverage")
    ] = Conventions(),
    seed: Seed = 1,
    output: Output = None,
) -> None:
    """Which system ranks the preferred documents above the others, and do the assessors agree on that?"""
    from qrowd import files
    from qrowd.cli.show import progress, show_table
    from qrowd.evaluation import DEFAULT_PREFERENCE_MEASURES
    from qrowd.evaluation import evaluate as evaluate_assessors
    from qrowd.evaluation import measure as parse
    from qrowd.reports.evaluation import summarise, topic_table

    parsed = [parse(text) for text in measure or DEFAULT_PREFERENCE_MEASURES]
    check_output(output)
    preferences = data.read()
    with progress("scoring") as advance:
        scores = evaluate_assessors(
            files.read_runs(runs), preferences, parsed, conventions=conventions, progress=advance
        )
    summary = summarise(scores, baseline=baseline, rng=seed)
    deliver(summary.to_document(), output)
    if per_topic:
        show_table(topic_table(summary.scores))


def agree(
    data: PreferenceData,
    judgments: Annotated[
        list[str] | None,
        option("Data", "Judgment files whose grades are compared with the preferences.", metavar="FILES"),
    ] = None,
    separate_strong: Annotated[
        bool, option(None, "Distinguish strong preferences from others.", "--separate-strong")
    ] = False,
    chains: Annotated[
        bool, option(None, "Also count the preferences that follow from others by transitivity.", "--chains")
    ] = False,
    output: Output = None,
) -> None:
    """Are the assessors consistent, and do they prefer the same documents?"""
    from qrowd import files
    from qrowd.reports.preferences import preference_document

    check_output(output)
    grades = None if judgments is None else files.read_judgments(judgments)
    document = preference_document(data.read(), grades, separate_strong=separate_strong, chains=chains)
    deliver(document, output)


def bradley_terry(
    data: PreferenceData,
    assessor_weights: Annotated[
        bool,
        option(None, "Estimate a weight of each assessor; a weight below 0 means the opposite.", "--assessor-weights"),
    ] = False,
    position: Annotated[
        bool,
        option(None, "Estimate how strongly each assessor favours the document shown first.", "--position"),
    ] = False,
    ridge: Annotated[float, convention("Penalty: ridge * sum of squared log-worths.")] = 0.1,
    ties: Annotated[
        Literal["half", "davidson"],
        convention("Ties between two documents: half a preference for each, or Davidson's model."),
    ] = "half",
    strong: Annotated[float, convention("Weight of a strong preference; others weigh 1.")] = 1.0,
    resample: Annotated[Literal["pairs", "assessors", "both"], option("Sampling", "What is resampled.")] = "pairs",
    n_resamples: NResamples = 200,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
    output: Output = None,
) -> None:
    """How much better is each document than the others, by the model of Bradley and Terry?"""
    from warnings import catch_warnings

    from qrowd.preferences import bradley_terry as fit
    from qrowd.reports.preferences import worth_document

    check_output(output)
    preferences = data.read()
    with catch_warnings(action="ignore"):  # the document says what did not converge
        worths = fit(
            preferences,
            ridge=ridge,
            assessor_weights=assessor_weights,
            ties=ties,
            strong=strong,
            position=position,
            n_resamples=n_resamples,
            resample=resample,
            confidence=confidence,
            rng=seed,
        )
    deliver(worth_document(worths), output)


def simulate(
    data: PreferenceData,
    runs: MaybeRuns = None,
    systems: Annotated[
        list[str] | None,
        option(None, "Systems of the runs that are compared.", metavar="SYSTEMS", show_default="all"),
    ] = None,
    order: Annotated[
        list[str] | None,
        option(
            None,
            "Orders of asking: all, kept, random, merge, insertion, heap, utility, settled, printed or top.",
            metavar="ORDERS",
            show_default="those of Figure 2 of the paper",
        ),
    ] = None,
    stop: Annotated[
        bool, option(None, "Stop as soon as the order of the systems is known.", "--stop/--no-stop")
    ] = True,
    sure: Annotated[float, option(None, "Stop when the order is known with this probability; 1 means proven.")] = 1.0,
    depth: Annotated[int, option(None, "Number of top documents of each system that are judged.")] = 5,
    weight: Annotated[
        Literal["none", "lower", "upper", "upper-log2"],
        option(None, "Weights of the ranks: none as in ppref, or one of those of wpref."),
    ] = "none",
    n_topics: Annotated[int, option("Simulated preferences", "Number of topics.", min=1)] = 100,
    n_systems: Annotated[int, option("Simulated preferences", "Number of systems.", min=2)] = 3,
    bad: Annotated[float, option("Simulated preferences", "Share of documents that are Bad.")] = 0.2,
    seed: Seed = 1,
    output: Output = None,
) -> None:
    """How many judgments are needed, if pairs are asked in a certain order until the result is known?"""
    from qrowd import files
    from qrowd.reports.answers import replayed_preferences, simulated_preferences

    check_output(output)
    rule: dict[str, Any] = {
        "order": order,
        "sure": sure if stop else None,
        "depth": depth,
        "weight": weight,
        "rng": seed,
    }
    if data.preferences is None and data.campaign is None:
        document = simulated_preferences(n_topics=n_topics, n_systems=n_systems, bad=bad, **rule)
    elif runs is None:
        raise ArgumentError("--preferences: give the --runs that they compare")
    else:
        document = replayed_preferences(data.read(), files.read_runs(runs), systems=systems, **rule)
    deliver(document, output)


prefer = command_group(
    "Which system is better, by preferences between two documents?", evaluate, agree, bradley_terry, simulate
)
