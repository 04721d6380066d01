"""`qrowd plot`: a figure, ready for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.options import (
    CONVENTIONS,
    DATA,
    DATABASE,
    Campaign,
    CombineScales,
    ConventionRepeats,
    Database,
    Empty,
    Grades,
    Level,
    MaybeJudgmentFiles,
    MinCoverage,
    Missing,
    Recode,
    Scales,
    ScoreDtype,
    Slots,
    Ties,
    Unjudged,
    Who,
    read_judgments,
)

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.reports.plots.style import Figure

ENDINGS = (".svg", ".pdf", ".png", ".csv")


def plot(
    name: Annotated[str | None, typer.Argument(help="Which figure; without: all of them, a line each.")] = None,
    runs: Annotated[
        list[str] | None,
        typer.Option("--runs", help="Run files, where the figure shows systems.", rich_help_panel=DATA),
    ] = None,
    judgments: MaybeJudgmentFiles = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="nDCG@10, AP(rel=2), ...; without: the figure's own.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="A .svg, .pdf or .png; .csv for the data. Without: NAME.svg")
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="Show so many systems, topics, documents or assessors.")
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="Of rankings, in the figure coverage.")] = 10,
    method: Annotated[
        list[str] | None, typer.Option(help="Of the figure bump: majority, dawid-skene(per=all), uniform, ...")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Of a paper's figure: the folder of the real panels, as for qrowd study.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Of a paper's figure: from less.")] = False,
    campaign: Campaign = None,
    database: Database = DATABASE,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
    slots: Slots = None,
    combine_scales: CombineScales = "auto",
    level: Level = None,
    ties: Ties = "document",
    score_dtype: ScoreDtype = "float64",
    unjudged: Unjudged = "nonrelevant",
    missing: Missing = "zero",
    empty: Empty = "zero",
    min_coverage: MinCoverage = 0.1,
    repeats: ConventionRepeats = "first",
    grades: Grades = "as-is",
    confidence: Annotated[float, typer.Option(help="Of intervals.", rich_help_panel=CONVENTIONS)] = 0.95,
    replicates: Annotated[
        int, typer.Option(min=2, help="Of a bootstrap, where there is one.", rich_help_panel=CONVENTIONS)
    ] = 2000,
    seed: Annotated[
        int, typer.Option(min=0, help="The same number, the same picture.", rich_help_panel=CONVENTIONS)
    ] = 1,
) -> None:
    """One figure as SVG, PDF or PNG, ready for a paper; also those of the papers, such as magnitude-5."""
    from dataclasses import replace

    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.cli.study import recomputed_papers
    from qrowd.errors import ArgumentError
    from qrowd.evaluation import measure as parse
    from qrowd.methods import evaluate_methods, parse_method
    from qrowd.model.conventions import Conventions
    from qrowd.model.one_scale import on_one_scale
    from qrowd.reports.plots.registry import PLOTS, Options, plot_named
    from qrowd.reports.scales import scale_note

    if name is None:
        width = max(map(len, PLOTS))
        for one in PLOTS.values():
            typer.echo(f"{one.name:{width}}  {one.sentence} ({' and '.join(one.needs)})")
        return
    # What can be wrong without reading a file is said before any file is read.
    target = output or f"{name}.svg"
    check_target(target)
    if name not in PLOTS and (papers := recomputed_papers()).is_figure(name):
        write_figure(papers.figure(name, data, quick=quick, rng=seed), target)
        return
    chosen = plot_named(name)
    options = Options(
        measures=tuple(str(parse(text)) for text in measure or ()),
        conventions=Conventions(ties, score_dtype, unjudged, missing, empty, min_coverage, repeats, grades),  # type: ignore[arg-type]
        top=top,
        depth=depth,
        methods=tuple(str(parse_method(text)) for text in method or ()),
        evaluate_methods=evaluate_methods,
        level=level,  # type: ignore[arg-type]
        confidence=confidence,
        n=replicates,
        seed=seed,
    )
    if "runs" in chosen.needs and not runs:
        raise ArgumentError(f"figure {name}: it needs runs; give --runs FILES")
    read = read_judgments(judgments, assessor, recode, scale, slots=slots, campaign=campaign, database=database)
    given = read if combine_scales == "auto" else on_one_scale(read, combine_scales, "unit")  # type: ignore[arg-type]
    loaded = files.read_runs(runs) if runs and "runs" in chosen.needs else None
    with progress("computing") as advance:
        figure = chosen(loaded, given, replace(options, progress=advance))
    write_figure(figure, target)
    typer.echo(str(scale_note(read, done_by_figure(name, read, combine_scales, grades))))


def done_by_figure(name: str, judgments: Judgments, combine_scales: str, grades: str) -> str:
    """What became of values on unlike scales in this figure."""
    from qrowd.reports.scales import SCALE_RULES, scale_rules

    if grades == "unit":
        return SCALE_RULES["unit"]
    unlike = {"kappa": "relevant"} if name == "kappa" else {"values": "unit"}
    if name in ("kappa", "alpha", "assessors") or combine_scales != "auto":
        return scale_rules(judgments.scales, combine_scales, unlike)  # type: ignore[arg-type]
    return ""


def check_target(target: str) -> None:
    """Refuse what could not be written in the end, before any work is done."""
    from pathlib import Path

    from qrowd.errors import ArgumentError
    from qrowd.reports.plots.style import styled

    ending = Path(target).suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(f"output {target}: the ending must be one of {', '.join(ENDINGS)}")
    if ending != ".csv":
        with styled():  # says where Matplotlib is missing
            pass


def write_figure(figure: Figure, target: str) -> None:
    """The picture, or the data behind it, by the ending of the file; the caption is told."""
    from pathlib import Path

    from qrowd import files
    from qrowd.reports.plots.style import render

    ending = Path(target).suffix.lower()
    if ending == ".csv":
        files.write_whole(target, figure.frame().to_csv(index=False, lineterminator="\n"))
    else:
        files.write_whole(target, render(figure, ending[1:]))
    typer.echo(f"{target}: {figure.caption}")
