"""`qrowd simulate`: a panel with known true grades, as files."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import Seed


def simulate(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="New or empty folder for the files.")], seed: Seed = 2
) -> None:
    """Write a simulated panel with known true grades: runs, texts, judgments, magnitudes, preferences."""
    from qrowd.reports.simulated import write_simulation

    for line in write_simulation(directory, seed):
        typer.echo(line)
    typer.echo(f"try: qrowd evaluate --runs '{directory}/runs/*' --judgments '{directory}/judges/*' --baseline bm25")
