"""`qrowd prefer`: agreement and worths of documents, by preferences instead of grades."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.inputs import PreferenceInputs
from qrowd.cli.library import command
from qrowd.cli.options import convention, option
from qrowd.cli.output import Output, ResultOutput, deliver
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
    ties: Annotated[
        Literal["half", "davidson"],
        convention(help="Ties between two documents: half a preference for each, or Davidson's model."),
    ] = "half",
    resample: Annotated[
        Literal["pairs", "assessors", "both"], option(help="What is resampled.", panel="Sampling")
    ] = "pairs",
    sampling: options.Sampling = options.Sampling(200),
    output: Output = None,
) -> None:
    """Estimate how much better each document is, by the model of Bradley and Terry."""
    from warnings import catch_warnings

    from qrowd.preferences import bradley_terry as fit
    from qrowd.reports.preference_tables import worth_document

    preferences = data.read()
    with catch_warnings(action="ignore"):  # the document says what did not converge
        worths = fit(
            preferences,
            assessor_weights=assessor_weights,
            ties=ties,
            position=position,
            resample=resample,
            **sampling.arguments,
        )
    deliver(worth_document(worths), output)


agree = command(preference_document, PreferenceInputs, ResultOutput, name="agree")
prefer = command_group("Study preferences between two documents.", agree, bradley_terry)
