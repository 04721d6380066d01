"""`qrowd prefer`: preferences between documents, instead of grades."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.options import convention, conventions_named, measures, option
from qrowd.cli.output import Output, ShortNames, Top, deliver
from qrowd.model.conventions import Conventions


def evaluate(
    runs: options.Runs,
    data: options.PreferenceData,
    measure: Annotated[list[str] | None, measures(show_default="ppref@10 wpref compatibility")] = None,
    baseline: options.Baseline = None,
    conventions: Annotated[
        Conventions, conventions_named("score_dtype", "unjudged", "missing", "empty", "min_coverage")
    ] = Conventions(),
    seed: options.Seed = 1,
    top: Top = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Score each run by preference measures, and show whether the assessors agree on the best system."""
    from qrowd.cli.show import progress
    from qrowd.evaluation import DEFAULT_PREFERENCE_MEASURES
    from qrowd.reports.evaluation import evaluation_of

    preferences = data.read()
    rankings = runs.read(data)
    with progress("scoring") as advance:
        summary = evaluation_of(
            rankings,
            preferences,
            measure or DEFAULT_PREFERENCE_MEASURES,
            baseline=baseline,
            conventions=conventions,
            rng=seed,
            progress=advance,
        )
    deliver(summary.to_document().shown(rankings.systems, top=top, short_names=short_names), output)


def agree(
    data: options.PreferenceData,
    judgments: Annotated[
        list[str] | None,
        option(help="Judgment files whose grades are compared with the preferences.", panel="Data", metavar="FILES"),
    ] = None,
    confidence: options.Confidence = 0.95,
    output: Output = None,
) -> None:
    """Show whether the assessors are consistent, and whether they agree."""
    from qrowd import files
    from qrowd.reports.preferences import preference_document

    grades = None if judgments is None else files.read_judgments(judgments)
    deliver(preference_document(data.read(), grades, confidence=confidence), output)


def bradley_terry(
    data: options.PreferenceData,
    assessor_weights: Annotated[
        bool,
        option(
            "--assessor-weights",
            help="Estimate a weight of each assessor; below 0: the assessor tends to prefer the worse document.",
        ),
    ] = False,
    position: Annotated[
        bool, option("--position", help="Estimate how strongly each assessor favours the document shown first.")
    ] = False,
    ridge: Annotated[float, convention(help="Penalty: ridge * sum of squared log-worths.", min=0)] = 0.1,
    ties: Annotated[
        Literal["half", "davidson"],
        convention(help="Ties between two documents: half a preference for each, or Davidson's model."),
    ] = "half",
    strong: Annotated[float, convention(help="Weight of a strong preference; others weigh 1.")] = 1.0,
    resample: Annotated[
        Literal["pairs", "assessors", "both"], option(help="What is resampled.", panel="Sampling")
    ] = "pairs",
    sampling: options.Sampling = options.Sampling(200),
    output: Output = None,
) -> None:
    """Estimate how much better each document is, by the model of Bradley and Terry."""
    from warnings import catch_warnings

    from qrowd.preferences import bradley_terry as fit
    from qrowd.reports.preferences import worth_document

    preferences = data.read()
    with catch_warnings(action="ignore"):  # the document says what did not converge
        worths = fit(
            preferences,
            ridge=ridge,
            assessor_weights=assessor_weights,
            ties=ties,
            strong=strong,
            position=position,
            resample=resample,
            **sampling.arguments,
        )
    deliver(worth_document(worths), output)


prefer = command_group("Evaluate systems by preferences between two documents.", evaluate, agree, bradley_terry)
