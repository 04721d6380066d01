"""`qrowd measures`: what can be measured."""

from __future__ import annotations

from typing import Annotated

import typer


def measures(
    name: Annotated[str | None, typer.Argument(help="Everything about one measure.")] = None,
) -> None:
    """List every measure with its parameters, formula and source."""
    from qrowd.evaluation import DEFINITIONS, measure
    from qrowd.reports.reference import measure_entry, measure_page

    if name is None:
        typer.echo("\n\n".join(map(measure_entry, DEFINITIONS)))
        typer.echo("\n`qrowd measures NAME` tells everything about one.")
    else:
        named = [definition for definition in DEFINITIONS if definition.name.lower() == name.lower()]
        typer.echo(measure_page(named[0] if named else measure(name).definition))
