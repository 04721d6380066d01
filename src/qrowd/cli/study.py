"""`qrowd study`: a paper, recomputed."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from qrowd.cli.options import Output, check_output, deliver


def study(
    name: Annotated[
        str,
        typer.Argument(
            help="magnitude | agreement | predicted-relevance | aware | aware-weights | preferences | coverage | "
            "advice | annotator-test | skewed-grades | topic-intervals | favour | true-scores | evaluated-ranks"
        ),
    ],
    data: Annotated[
        str | None, typer.Option(help="Folder of the real panels (dl19, dl21, trec-rf10); without: simulated ones.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A minute's version.")] = False,
    figures: Annotated[str | None, typer.Option(help="Write the paper's figures into this folder, too.")] = None,
    form: Annotated[str, typer.Option(help="Of figures: svg | pdf | png")] = "svg",
    tuples: Annotated[int, typer.Option(help="aware: tuples of assessors of every size.")] = 1000,
    replicates: Annotated[int, typer.Option("-n", help="aware: random assessors of each level.")] = 1000,
    folder: Annotated[
        str | None, typer.Option(help="aware: keep what is finished here, and go on from it when run again.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same number, the same page.")] = 1,
    output: Output = None,
) -> None:
    """A paper's tables and figures, recomputed on real data and on simulated panels of its size."""
    from qrowd.cli.show import progress

    papers = recomputed_papers()

    check_output(output)
    papers.check(name, figures=figures is not None, form=form)
    further: dict[str, Any] = {"n_tuples": tuples, "n": replicates, "folder": folder} if name == "aware" else {}
    with progress(f"study {name}") as advance:

        def told(_: str, done: int, total: int) -> None:
            advance(done, total)

        document = papers.page(name, data, quick=quick, rng=seed, progress=told, **further)
    deliver(document, output)
    if figures is not None:
        with progress(f"figures of {name}") as advance:
            written = papers.write_figures(name, data, figures, form=form, quick=quick, rng=seed, progress=advance)
        typer.echo(f"{written} figures with their data in {figures}")


def recomputed_papers() -> Any:
    """The recomputed papers, a package of its own.

    Raises
    ------
    QrowdError
        It is not installed.
    """
    from qrowd.errors import QrowdError

    try:
        return import_module("qrowd_papers.papers")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "qrowd_papers":
            raise
        raise QrowdError(
            "the recomputed papers are not installed; clone the repository of qrowd and run: pip install ./papers"
        ) from None
