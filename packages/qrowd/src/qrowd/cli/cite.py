"""`qrowd cite`: what to cite, as BibTeX."""

from __future__ import annotations

from typing import Annotated

import typer


def cite(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Measures, methods and statistics, or the signature of a result in quotes.",
            metavar="NAMES",
            show_default="qrowd alone, and the names that there are",
        ),
    ] = None,
) -> None:
    """Print BibTeX entries of qrowd, and of the papers behind measures, methods and statistics."""
    from qrowd.reports.citations import citations, references

    typer.echo(citations(names or []), nl=False)
    if not names:
        known = sorted({word for words in references().values() for word in words} - {""}, key=str.lower)
        typer.echo(f"\n% qrowd cite NAMES prints the papers behind {', '.join(known)}")
