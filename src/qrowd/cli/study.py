"""`qrowd study`: a paper, recomputed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from qrowd.cli.options import Seed, option
from qrowd.cli.output import Output, deliver, write_output
from qrowd.cli.processes import Workers
from qrowd.errors import ArgumentError, FileError, QrowdError


def study(
    name: Annotated[str | None, typer.Argument(help="Paper that is recomputed; default: list all papers.")] = None,
    data: Annotated[
        str | None,
        option(
            help="Folder of the real panels (dl19, dl21, trec-rf10).", metavar="FOLDER", show_default="simulated panels"
        ),
    ] = None,
    quick: Annotated[bool, option("--quick", help="Use fewer samples (about one minute).")] = False,
    tuples: Annotated[int, option(help="aware: number of tuples of assessors of each size.")] = 1000,
    random_assessors: Annotated[int, option(help="Number of random assessors of each kind, for AWARE.", min=1)] = 1000,
    folder: Annotated[
        str | None, option(help="aware: folder for finished parts, from which a later run goes on.", metavar="FOLDER")
    ] = None,
    seed: Seed = 1,
    workers: Workers = Workers(),
    figure: Annotated[
        str | None, option(help="Draw only this figure, such as magnitude-5.", panel="Output", metavar="FIGURE")
    ] = None,
    figures: Annotated[
        str | None, option(help="Folder for the figures of the paper.", panel="Output", metavar="FOLDER")
    ] = None,
    format: Annotated[Literal["svg", "pdf", "png"], option(help="Format of the figures.", panel="Output")] = "svg",
    tables: Annotated[
        str | None, option(help="Folder for the tables as CSV files.", panel="Output", metavar="FOLDER")
    ] = None,
    output: Output = None,
) -> None:
    """Recompute the tables and figures of a paper."""
    from qrowd.cli.show import progress

    if data is not None and not Path(data).is_dir():
        raise FileError(data, "there is no such folder")
    papers = recomputed_papers()
    if name is None:
        typer.echo("\n".join(papers.PAGES))
        return
    papers.check(name, figures=figures is not None or figure is not None)
    if workers != Workers() and (figure is not None or figures is not None):
        raise ArgumentError("--processes and --dask: figures are computed in one process; leave them out")
    if figure is not None:
        from qrowd.reports.plots.drawing import plot_content

        drawn = papers.figure(name, figure, data, quick=quick, rng=seed)
        write_output(f"{figure}.{format}", plot_content(drawn, f"{figure}.{format}"))
        typer.echo(drawn.caption)
        return
    settings: dict[str, Any] = {}
    if name == "aware":
        settings = {"n_tuples": tuples, "n_resamples": random_assessors, "folder": folder}
    with workers.executor() as executor, progress(f"study {name}") as advance:
        document = papers.page(
            name, data, quick=quick, rng=seed, executor=executor,
            progress=lambda _, done, total: advance(done, total), **settings,
        )  # fmt: skip
    deliver(document, output)
    if tables is not None:
        typer.echo(f"{len(papers.write_tables(document.tables, tables))} files of tables in {tables}")
    if figures is not None:
        with progress(f"figures of {name}") as advance:
            n = papers.write_figures(
                name, data, figures, format=format, quick=quick, rng=seed,
                progress=lambda _, done, total: advance(done, total),
            )  # fmt: skip
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
