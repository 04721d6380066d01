"""`qrowd simulate`: a panel with a known truth, as files."""

from __future__ import annotations

from typing import Annotated

import typer


def simulate(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Where to write; a new or an empty folder.")],
    seed: Annotated[int, typer.Option(min=0, help="The same number gives the same files.")] = 2,
) -> None:
    """Write a simulated panel as TREC files: 12 runs, 8 assessors, magnitudes, preferences and the truth."""
    from qrowd.reports.simulated import write_simulation

    for line in write_simulation(directory, seed):
        typer.echo(line)
    typer.echo(f"try: qrowd evaluate --runs '{directory}/runs/*' --judgments '{directory}/judges/*' --baseline bm25")
