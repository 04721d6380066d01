"""`qrowd simulate`: a panel with known true grades, as files."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import Seed, option


def simulate(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="New or empty folder for the files.")],
    answers: Annotated[
        bool, option("--answers", help="Write answers that were judged nugget by nugget, instead of rankings.")
    ] = False,
    seed: Seed = 2,
) -> None:
    """Write a simulated panel with known true grades: runs, texts, judgments, magnitudes, preferences; or answers."""
    from qrowd.reports.simulated import write_answers, write_simulation

    for line in (write_answers if answers else write_simulation)(directory, seed):
        typer.echo(line)
    if answers:
        typer.echo(f"try: qrowd compare '{directory}/answers.csv'")
        return
    typer.echo(f"try: qrowd evaluate --runs '{directory}/runs/*' --judgments '{directory}/judges/*' --baseline bm25")
