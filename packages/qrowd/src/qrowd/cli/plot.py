"""`qrowd plot`: one plot, ready for a paper."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from qrowd.cli import options
from qrowd.cli.commands import is_written
from qrowd.cli.completion import plot_names
from qrowd.cli.options import convention, measures, methods, option
from qrowd.cli.output import ShortNames, is_standard_output, name_with_ending, output_file, write_output
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions


def plot(
    ctx: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Plot that is drawn; default: list all plots.", autocompletion=plot_names)
    ] = None,
    data: options.Data = options.Data(),
    runs: options.Runs = options.NO_RUNS,
    measure: Annotated[list[str] | None, measures(show_default="depends on the plot")] = None,
    method: Annotated[
        list[str] | None,
        methods("bump: methods that put the assessors together, as in qrowd evaluate."),
    ] = None,
    top: Annotated[
        int | None, option(help="Number of systems, topics, documents or assessors that are shown.", min=1)
    ] = None,
    cutoff: options.Cutoff = 10,
    test: Annotated[
        Literal["nemenyi", "max-t"],
        convention(
            help="Test of all pairs of systems in critical-difference: of mean ranks over topics (nemenyi), or of mean "
            "scores over topics and assessors (max-t)."
        ),
    ] = "nemenyi",
    conventions: options.Scoring = Conventions(),
    combine_scales: options.CombineScales = "auto",
    sampling: options.Sampling = options.Sampling(10_000),
    short_names: ShortNames = False,
    output: Annotated[
        str | None,
        output_file(
            "File for the plot (.svg, .pdf or .png) or for its data (.csv); - for standard output, -.png for another "
            "format than SVG there.",
            show_default="NAME.svg",
        ),
    ] = None,
) -> None:
    """Draw one plot as SVG, PDF or PNG, ready for a paper."""
    from qrowd.cli.progress import progress
    from qrowd.reports.phrases import listed
    from qrowd.reports.plots.registry import PLOTS, Options, check_plot_file, draw, plot_content, plot_named

    if name is None:
        width = max(map(len, PLOTS))
        for each in PLOTS.values():
            typer.echo(f"{each.name:{width}}  {each.sentence} ({listed(each.needs)})")
        return
    # What can be wrong without reading a file is said before any file is read.
    target = output or f"{name}.svg"
    format = name_with_ending(target, ".svg")
    check_plot_file(format)
    for given, value in ctx.params.items():
        if is_written(ctx, given) and plot_named(name).ignores(given):
            raise ArgumentError(f"plot {name} does not use it; leave it out", given, value)
    with progress("computing") as advance:
        loaded = runs.read_needed(data) if "runs" in plot_named(name).needs else None
        judgments = data.read()
        settings = Options(
            measures=tuple(measure or filter(None, [options.measure_for(loaded, None, None)])),
            conventions=conventions,
            top=top,
            cutoff=cutoff,
            test=test,
            methods=tuple(method or ()),
            short_names=short_names,
            **sampling.arguments,
            progress=advance,
        )
        figure, note = draw(name, loaded, judgments, settings, combine_scales=combine_scales)
    write_output(target, plot_content(figure, format))
    typer.echo(figure.caption, err=is_standard_output(target))
    typer.echo(str(note), err=is_standard_output(target))
