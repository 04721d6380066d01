"""`qrowd prefer`: preferences between documents, instead of grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.options import (
    DATA,
    DATABASE,
    Campaign,
    Database,
    Empty,
    MinCoverage,
    Missing,
    Output,
    RunFiles,
    ScoreDtype,
    Unjudged,
    check_output,
    deliver,
    read_campaign,
)

if TYPE_CHECKING:
    from qrowd.model.preferences import Preferences

prefer = typer.Typer(
    help="Which system is better, by which of two documents is better?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

PreferenceFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--preferences",
        help="Preference files: `topic preferred other` and others, or tables; or --campaign.",
        rich_help_panel=DATA,
    ),
]
Form = Annotated[str, typer.Option("--form", help="auto | pairs | winner | prefs | qrels_prefs", rich_help_panel=DATA)]
Who = Annotated[
    str,
    typer.Option("--assessor", help="Who judged: the 'file', or its judgment groups ('column').", rich_help_panel=DATA),
]


def read(
    paths: list[str] | None, form: str, assessor: str, campaign: str | None = None, database: str = DATABASE
) -> Preferences:
    """The preferences of all files, or of a campaign."""
    from qrowd import files
    from qrowd.errors import ArgumentError
    from qrowd.model.preferences import Preferences

    if paths:
        if campaign is not None:
            raise ArgumentError(f"--campaign {campaign}: give either files or a campaign")
        return files.read_preferences(paths, form=form, assessor=assessor)  # type: ignore[arg-type]
    if campaign is None:
        raise ArgumentError("nothing to read: give --preferences FILES, or --campaign NAME")
    collected = read_campaign(campaign, database)
    if not isinstance(collected, Preferences):
        raise ArgumentError(f"--campaign {campaign}: it collects judgments; give it to qrowd evaluate")
    return collected


@prefer.command()
def evaluate(
    runs: RunFiles,
    preferences: PreferenceFiles = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m", "--measure", help="ppref@10, wpref, compatibility ...; without: ppref@10 wpref compatibility"
        ),
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Compare every system with this one.")] = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="Print the scores of every topic.")] = False,
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    form: Form = "auto",
    assessor: Who = "file",
    score_dtype: ScoreDtype = "float64",
    unjudged: Unjudged = "nonrelevant",
    missing: Missing = "zero",
    empty: Empty = "zero",
    min_coverage: MinCoverage = 0.1,
) -> None:
    """Which system puts the preferred documents above the others, and do the assessors agree on that?"""
    from qrowd import files
    from qrowd.cli.show import console, progress, show_table
    from qrowd.evaluation import DEFAULT_PREFERENCE_MEASURES, evaluate
    from qrowd.evaluation import measure as parse
    from qrowd.model.conventions import Conventions
    from qrowd.reports.evaluation import evaluation_document, topic_table
    from qrowd.reports.summary import summarise

    conventions = Conventions("document", score_dtype, unjudged, missing, empty, min_coverage)  # type: ignore[arg-type]
    wanted = [parse(text) for text in measure or DEFAULT_PREFERENCE_MEASURES]
    check_output(output)
    given = read(preferences, form, assessor, campaign, database)
    loaded = files.read_runs(runs)
    with progress("scoring") as advance:
        scores = evaluate(loaded, given, wanted, conventions=conventions, progress=advance)
    deliver(evaluation_document(scores, summarise(scores, baseline=baseline)), output)
    if per_topic:
        out = console()
        out.print()
        show_table(out, topic_table(scores))


@prefer.command()
def agree(
    preferences: PreferenceFiles = None,
    judgments: Annotated[
        list[str] | None,
        typer.Option("--judgments", help="Grades to compare the preferences with.", rich_help_panel=DATA),
    ] = None,
    definite: Annotated[bool, typer.Option("--definite", help="Tell definite preferences from others.")] = False,
    chains: Annotated[bool, typer.Option("--chains", help="Count what follows over chains too.")] = False,
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    form: Form = "auto",
    assessor: Who = "file",
) -> None:
    """Are the assessors consistent, and do they prefer the same documents?"""
    from qrowd import files
    from qrowd.reports.preferences import preference_document

    check_output(output)
    given = read(preferences, form, assessor, campaign, database)
    grades = None if judgments is None else files.read_judgments(judgments)
    deliver(preference_document(given, grades, separate_strong=definite, chains=chains), output)


@prefer.command()
def strength(
    preferences: PreferenceFiles = None,
    reliability: Annotated[
        bool, typer.Option("--reliability", help="Estimate each assessor's; below 0 for an adversary.")
    ] = False,
    position: Annotated[
        bool, typer.Option("--position", help="Estimate how far each favours the document shown first.")
    ] = False,
    ridge: Annotated[float, typer.Option(help="What is subtracted: ridge * sum of squared log-worths.")] = 0.1,
    ties: Annotated[str, typer.Option(help="half | davidson")] = "half",
    definite: Annotated[float, typer.Option(help="What a definite preference weighs.")] = 1.0,
    bootstrap: Annotated[int, typer.Option(min=0, help="Replicates for intervals; 0 for none.")] = 200,
    over: Annotated[str, typer.Option(help="What is drawn: pairs | assessors | both")] = "pairs",
    seed: Annotated[int, typer.Option(min=0, help="The same number draws the same replicates.")] = 1,
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    form: Form = "auto",
    assessor: Who = "file",
) -> None:
    """How much better is each document, and whom do the preferences bear out? (Bradley-Terry)"""
    from warnings import catch_warnings

    from qrowd.preferences import bradley_terry
    from qrowd.reports.preferences import worth_document

    check_output(output)
    given = read(preferences, form, assessor, campaign, database)
    with catch_warnings(action="ignore"):  # the document says what did not converge
        found = bradley_terry(
            given,
            ridge=ridge,
            assessor_weights=reliability,
            ties=ties,  # type: ignore[arg-type]
            strong=definite,
            position=position,
            n_resamples=bootstrap,
            resample=over,  # type: ignore[arg-type]
            rng=seed,
        )
    deliver(worth_document(found), output)


@prefer.command()
def simulate(
    preferences: Annotated[
        list[str] | None,
        typer.Option("--preferences", help="Answers to replay; without, simulated ones.", rich_help_panel=DATA),
    ] = None,
    runs: Annotated[
        list[str] | None, typer.Option("--runs", help="The systems that those answers compare.", rich_help_panel=DATA)
    ] = None,
    systems: Annotated[
        list[str] | None, typer.Option("--systems", help="Only these of the runs.", rich_help_panel=DATA)
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(help="all | kept | random | merge | insertion | heap | utility | settled | printed | top"),
    ] = None,
    stop: Annotated[bool, typer.Option("--stop/--no-stop", help="Stop as soon as the systems' order is sure.")] = True,
    sure: Annotated[float, typer.Option(help="1: proven; below: as likely as that.")] = 1.0,
    depth: Annotated[int, typer.Option(help="First documents of each system that are judged.")] = 5,
    topics: Annotated[int, typer.Option(min=1, help="Simulated topics.")] = 100,
    n_systems: Annotated[int, typer.Option(min=2, help="Simulated systems.")] = 3,
    bad: Annotated[float, typer.Option(help="Share of simulated documents that are Bad.")] = 0.2,
    weight: Annotated[str, typer.Option(help="none (ppref) | lower | upper | upper-log2 (wpref)")] = "none",
    seed: Annotated[int, typer.Option(min=0, help="The same number, the same topics and orders.")] = 1,
    output: Output = None,
    form: Form = "auto",
    assessor: Who = "file",
) -> None:
    """How many judgments does it take, if one asks in this order and stops when it is clear?"""
    from qrowd import files
    from qrowd.errors import ArgumentError
    from qrowd.preferences.scheduling import (
        FIGURE_2,
        Condition,
        StopRule,
        judgments_needed,
        real_topics,
        simulate_topic,
    )
    from qrowd.reports.scheduling import curves_document

    check_output(output)
    rule = StopRule(sure=sure) if stop else None
    chosen = [Condition(name, name, stop=rule) for name in order] if order else list(FIGURE_2)
    if preferences is None:
        asked = [
            simulate_topic(systems=n_systems, depth=depth, bad=bad, weight=weight, rng=[seed, number])  # type: ignore[arg-type]
            for number in range(topics)
        ]
        about = f"topics: {topics:,} simulated, {n_systems} systems' first {depth}, {100 * bad:g} % Bad"
    elif runs is None:
        raise ArgumentError("--preferences: give the --runs that they compare")
    else:
        given = read(preferences, form, assessor)
        loaded = files.read_runs(runs)
        asked = list(real_topics(given, loaded, systems=systems, depth=depth, weight=weight, rng=seed))  # type: ignore[arg-type]
        covered = sum(topic.answers.coverage for topic in asked) / len(asked)
        about = (
            f"topics: {len(asked):,}, first {depth} of {asked[0].systems.n} systems; {100 * covered:.0f} % of pairs "
            "were really judged, the others filled in by the share of pairs that each document won"
        )
    deliver(curves_document(judgments_needed(asked, chosen, rng=seed), about), output)
