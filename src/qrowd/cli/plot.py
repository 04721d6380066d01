"""`qrowd plot`: one plot, ready for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.reports.plots.style import Figure

ENDINGS = (".svg", ".pdf", ".png", ".csv")


def plot(
    name: Annotated[str | None, typer.Argument(help="Plot that is drawn; default: list all plots.")] = None,
    data: Data = Data(),  # noqa: B008
    runs: MaybeRuns = None,
    measure: Annotated[list[str] | None, measures("depends on the plot")] = None,
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
    from dataclasses import replace

    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.evaluation import measure as parse
    from qrowd.methods import evaluate_methods, parse_method
    from qrowd.model.one_scale import on_one_scale
    from qrowd.reports.plots.registry import PLOTS, Options, plot_named
    from qrowd.reports.scales import scale_note

    if name is None:
        width = max(map(len, PLOTS))
        for each in PLOTS.values():
            typer.echo(f"{each.name:{width}}  {each.sentence} ({' and '.join(each.needs)})")
        return
    # What can be wrong without reading a file is said before any file is read.
    target = output or f"{name}.svg"
    check_target(target)
    chosen = plot_named(name)
    options = Options(
        measures=tuple(str(parse(text)) for text in measure or ()),
        conventions=conventions,
        top=top,
        depth=cutoff,
        methods=tuple(str(parse_method(text)) for text in method or ()),
        evaluate_methods=evaluate_methods,
        level=level,
        confidence=confidence,
        n=n_resamples,
        seed=seed,
    )
    if "runs" in chosen.needs and not runs:
        raise ArgumentError(f"plot {name}: it needs runs; give --runs FILES")
    judgments = data.read()
    scaled = judgments if combine_scales == "auto" else on_one_scale(judgments, combine_scales, "rescaled")
    loaded = files.read_runs(runs) if runs and "runs" in chosen.needs else None
    with progress("computing") as advance:
        figure = chosen(loaded, scaled, replace(options, progress=advance))
    write(figure, target)
    typer.echo(str(scale_note(judgments, done_by_plot(name, judgments, combine_scales, conventions.grades))))


def done_by_plot(name: str, judgments: Judgments, combine_scales: CombineScales, grades: str) -> str:
    """What became of values on unlike scales in this plot."""
    from qrowd.reports.scales import SCALE_RULES, scale_rules

    if grades == "rescaled":
        return SCALE_RULES["rescaled"]
    unlike = {"kappa": "relevant"} if name == "kappa" else {"values": "rescaled"}
    if name in ("kappa", "alpha", "assessors") or combine_scales != "auto":
        return scale_rules(judgments.scales, combine_scales, unlike)  # type: ignore[arg-type]
    return ""


def check_target(target: str) -> None:
    """Refuse what could not be written in the end, before any work is done."""
    from qrowd.reports.plots.style import styled

    ending = Path(target).suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(f"output {target}: the ending must be one of {', '.join(ENDINGS)}")
    if ending != ".csv":
        with styled():  # says where Matplotlib is missing
            pass


def write(figure: Figure, target: str) -> None:
    """The picture, or the data behind it, by the ending of the file; the caption is told."""
    from qrowd import files
    from qrowd.reports.plots.style import render

    ending = Path(target).suffix.lower()
    if ending == ".csv":
        files.write_whole(target, figure.frame().to_csv(index=False, lineterminator="\n"))
    else:
        files.write_whole(target, render(figure, ending[1:]))
    typer.echo(f"{target}: {figure.caption}")
