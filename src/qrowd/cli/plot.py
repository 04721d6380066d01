"""`qrowd plot`: one plot, ready for a paper."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import (
    CombineScales,
    Confidence,
    Cutoff,
    Data,
    Level,
    MaybeRuns,
    NResamples,
    Scoring,
    Seed,
    measures,
    option,
)
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions


def plot(
    name: Annotated[str | None, typer.Argument(help="Plot that is drawn; default: list all plots.")] = None,
    data: Data = Data(),  # noqa: B008
    runs: MaybeRuns = None,
    measure: Annotated[list[str] | None, measures(show_default="depends on the plot")] = None,
    method: Annotated[
        list[str] | None,
        option(help="bump: methods that put the assessors together, as in qrowd evaluate.", metavar="METHODS"),
    ] = None,
    top: Annotated[
        int | None, option(help="Number of systems, topics, documents or assessors that are shown.", min=1)
    ] = None,
    cutoff: Cutoff = 10,
    level: Level = None,
    conventions: Scoring = Conventions(),
    combine_scales: CombineScales = "auto",
    n_resamples: NResamples = 2000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
    output: Annotated[
        str | None,
        option(
            "-o",
            "--output",
            help="File for the plot (.svg, .pdf or .png) or for its data (.csv).",
            panel="Output",
            metavar="FILE",
            show_default="NAME.svg",
        ),
    ] = None,
) -> None:
    """Draw one plot as SVG, PDF or PNG, ready for a paper."""
    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.evaluation import measure as parse
    from qrowd.methods import parse_method
    from qrowd.reports.plots.drawing import check_plot_file, draw, write_plot
    from qrowd.reports.plots.registry import PLOTS, Options, plot_named

    if name is None:
        width = max(map(len, PLOTS))
        for each in PLOTS.values():
            typer.echo(f"{each.name:{width}}  {each.sentence} ({' and '.join(each.needs)})")
        return
    # What can be wrong without reading a file is said before any file is read.
    target = output or f"{name}.svg"
    check_plot_file(target)
    needs_runs = "runs" in plot_named(name).needs
    if needs_runs and not runs:
        raise ArgumentError(f"plot {name}: it needs runs; give --runs FILES")
    parsed = tuple(str(parse(text)) for text in measure or ())
    methods = tuple(str(parse_method(text)) for text in method or ())
    with progress("computing") as advance:
        options = Options(
            measures=parsed,
            conventions=conventions,
            top=top,
            cutoff=cutoff,
            methods=methods,
            level=level,
            confidence=confidence,
            n_resamples=n_resamples,
            rng=seed,
            progress=advance,
        )
        judgments = data.read()
        loaded = files.read_runs(runs) if runs and needs_runs else None
        figure, note = draw(name, loaded, judgments, options, combine_scales=combine_scales)
    write_plot(figure, target)
    typer.echo(f"{target}: {figure.caption}")
    typer.echo(str(note))
