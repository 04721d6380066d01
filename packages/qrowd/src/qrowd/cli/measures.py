"""`qrowd measures`: which measures there are."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.completion import measure_names


def measures(
    name: Annotated[
        str | None, typer.Argument(help="Measure that is described in full.", autocompletion=measure_names)
    ] = None,
) -> None:
    """List all measures, or describe one with its parameters, formula and source."""
    from qrowd.evaluation import added_measures, measure
    from qrowd.evaluation import definitions as own_definitions
    from qrowd.reports.measure_reference import example, measure_page

    every = (*own_definitions(), *added_measures())
    if name is None:
        typer.echo("\n".join(f"{example(definition)}: {definition.sentence}" for definition in every))
        typer.echo("\n`qrowd measures NAME` describes one measure in full.")
    else:
        definitions = [definition for definition in every if definition.name.lower() == name.lower()]
        typer.echo(measure_page(definitions[0] if definitions else measure(name).definition))
