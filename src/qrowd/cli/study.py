"""`qrowd study`: a paper, recomputed."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, Literal

import typer

from qrowd.cli.options import Output, Seed, check_output, deliver, option
from qrowd.errors import QrowdError


def study(
    name: Annotated[str, typer.Argument(help="Paper, such as magnitude or aware; a wrong name lists all of them.")],
    data: Annotated[
        str | None,
        option(
            None,
            "Folder of the real panels (dl19, dl21, trec-rf10).",
            metavar="FOLDER",
            show_default="simulated panels",
        ),
    ] = None,
    quick: Annotated[bool, option(None, "Use fewer samples (about one minute).", "--quick")] = False,
    tuples: Annotated[int, option(None, "aware: tuples of assessors of every size.")] = 1000,
    random_assessors: Annotated[int, option(None, "aware: random assessors of each kind.")] = 1000,
    folder: Annotated[
        str | None,
        option(None, "aware: folder for finished parts, from which a later run goes on.", metavar="FOLDER"),
    ] = None,
    seed: Seed = 1,
    figures: Annotated[str | None, option("Output", "Folder for the figures of the paper.", metavar="FOLDER")] = None,
    format: Annotated[Literal["svg", "pdf", "png"], option("Output", "Format of the figures.")] = "svg",
    output: Output = None,
) -> None:
    """Recompute the tables and figures of a paper, on real data and on simulated panels of its size."""
    from qrowd.cli.show import progress

    papers = recomputed_papers()
    check_output(output)
    papers.check(name, figures=figures is not None)
    settings: dict[str, Any] = {}
    if name == "aware":
        settings = {"n_tuples": tuples, "n": random_assessors, "folder": folder}
    with progress(f"study {name}") as advance:
        document = papers.page(
            name, data, quick=quick, rng=seed, progress=lambda _, done, total: advance(done, total), **settings
        )
    deliver(document, output)
    if figures is not None:
        with progress(f"figures of {name}") as advance:
            n = papers.write_figures(name, data, figures, format=format, quick=quick, rng=seed, progress=advance)
        typer.echo(f"{n} figures with their data in {figures}")


def recomputed_papers() -> Any:
    """The recomputed papers, a package of its own.

    Raises
    ------
    QrowdError
        It is not installed.
    """
    try:
        return import_module("qrowd_papers.papers")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "qrowd_papers":
            raise
        raise QrowdError(
            "the recomputed papers are not installed; clone the repository of qrowd and run: pip install ./papers"
        ) from None
