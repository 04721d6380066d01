"""`qrowd prefer`: agreement and worths of documents, by preferences instead of grades."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.inputs import PreferenceInputs
from qrowd.cli.library import command
from qrowd.cli.options import convention, option
from qrowd.cli.output import Output, ResultOutput, deliver
from qrowd.errors import ArgumentError
from qrowd.reports.preference_tables import preference_document


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
    across_topics: Annotated[
        bool,
        option("--across-topics", help="Rank systems, which have the same names on all topics, over all topics."),
    ] = False,
    ties: Annotated[
        Literal["half", "davidson"] | None,
        convention(
            help="Ties between two documents: half a preference for each, or Davidson's model.",
            show_default="half; davidson across topics",
        ),
    ] = None,
    resample: Annotated[
        Literal["pairs", "assessors", "topics", "both"] | None,
        option(
            help="What is resampled; both: pairs and assessors. Across topics: topics, or topics and assessors (both).",
            panel="Sampling",
            show_default="pairs; both across topics",
        ),
    ] = None,
    n_resamples: Annotated[
        int | None,
        option(
            help="Number of resamples; of documents, 0: no interval.",
            panel="Sampling",
            min=0,
            show_default="200; 10000 across topics",
        ),
    ] = None,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 1,
    output: Output = None,
) -> None:
    """Estimate how much better each document, or system, is, by the model of Bradley and Terry."""
    from warnings import catch_warnings

    from qrowd.preferences import bradley_terry as fit
    from qrowd.reports.preference_tables import battle_document, worth_document

    preferences = data.read()
    given = {"ties": ties, "resample": resample, "n_resamples": n_resamples, "confidence": confidence, "rng": seed}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if across_topics:
        deliver(battle_document(preferences, **chosen), output)
        return
    if resample == "topics":
        raise ArgumentError(
            "documents are ranked within a topic; rank systems by --across-topics", "resample", resample
        )
    chosen = {"n_resamples": 200, "assessor_weights": assessor_weights, "position": position, **chosen}
    with catch_warnings(action="ignore"):  # the document says what did not converge
        worths = fit(preferences, **chosen)
    deliver(worth_document(worths), output)


agree = command(preference_document, PreferenceInputs, ResultOutput, name="agree")
prefer = command_group("Study preferences between two documents.", agree, bradley_terry)
