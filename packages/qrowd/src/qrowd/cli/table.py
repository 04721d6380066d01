"""`qrowd table`: the table for a paper."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import convention, measures, methods, option
from qrowd.cli.output import Output, ShortNames, Top, is_standard_output, name_with_ending, write_output
from qrowd.cli.processes import Workers
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions


def table(
    runs: options.MaybeRuns,
    data: options.Data,
    files: options.Files = None,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10 AP P@10 RR")] = None,
    per_assessor: Annotated[
        bool, option("--per-assessor", help="Show one measure by each assessor and by the panel, not several measures.")
    ] = False,
    method: Annotated[
        list[str] | None,
        methods("Methods that put the assessors together, as further columns of assessors."),
    ] = None,
    baseline: options.Baseline = None,
    marks: Annotated[
        Literal["baseline", "pairs", "none"] | None,
        option(
            help="Marks of significant differences: from the baseline, of all pairs of systems, or none.",
            show_default="baseline, where one is named",
        ),
    ] = None,
    test: Annotated[
        Literal["max-t", "t", "wilcoxon"],
        convention(help="Test of differences: max-t is of all pairs together, over topics and assessors."),
    ] = "max-t",
    correction: Annotated[
        Literal["holm", "benjamini-hochberg", "none"] | None,
        convention(
            help="Correction of the p-values of t and wilcoxon for multiple tests.", show_default="holm; max-t has none"
        ),
    ] = None,
    conventions: options.Scoring = Conventions(),
    combine_scales: options.CombineScales = "auto",
    sampling: options.Sampling = options.Sampling(10_000),
    workers: Workers = Workers(),
    intervals: Annotated[
        bool, option("--intervals", help="Print half of the interval behind each mean.", panel="Output")
    ] = False,
    digits: Annotated[int, option(help="Number of decimals.", panel="Output", min=0, max=12)] = 3,
    top: Top = None,
    short_names: ShortNames = False,
    caption: Annotated[
        str, option(help="Caption of the table.", panel="Output", metavar="TEXT", show_default="what it shows")
    ] = "",
    label: Annotated[
        str,
        option(
            help="Label of the table in LaTeX.",
            panel="Output",
            metavar="LABEL",
            show_default="tab: and the name of the file, or tab:systems",
        ),
    ] = "",
    full_width: Annotated[
        bool, option("--full-width", help="In LaTeX, use the full width of a page with two columns.", panel="Output")
    ] = False,
    output: Output = None,
) -> None:
    """Print systems by measures or by assessors as a paper does: the best in bold, with marks of significance."""
    import shlex
    from pathlib import Path

    from qrowd.cli.show import progress, show
    from qrowd.evaluation import DEFAULT_MEASURES, evaluate
    from qrowd.methods import evaluate_methods
    from qrowd.reports.paper_table import paper_table

    names = list(measure or (DEFAULT_MEASURES[:1] if per_assessor else DEFAULT_MEASURES))
    if per_assessor and len(names) > 1:
        raise ArgumentError(
            f"--per-assessor: the table is of one measure, but {len(names)} were given: use "
            f"-m {shlex.quote(names[0])}, and write a table for each of the others"
        )
    run_files, data = options.by_position(files, runs, data)
    judgments, rankings = data.read(), run_files.read(data)
    with workers.executor() as executor, progress("scoring") as advance:
        scores = evaluate(rankings, judgments, names, conventions=conventions, progress=advance)
        by_method = None
        if method:
            by_method = evaluate_methods(
                rankings,
                judgments,
                names,
                methods=method,
                conventions=conventions,
                combine_scales=combine_scales,
                rng=sampling.seed,
                executor=executor,
            )
    paper = paper_table(
        scores,
        methods=by_method,
        per_assessor=per_assessor,
        baseline=baseline,
        marks=marks,
        test=test,
        correction=correction,
        **sampling.arguments,
        intervals=intervals,
        digits=digits,
        top=top,
        short_names=short_names,
        caption=caption,
    )
    if output is not None:
        name = name_with_ending(output)
        if name.lower().endswith(".tex"):
            label = label or ("tab:systems" if is_standard_output(output) else f"tab:{Path(name).stem}")
            write_output(output, paper.to_latex(label=label, full_width=full_width))
        else:
            write_output(output, paper.content(name))
    if output is None or not is_standard_output(output):
        show(paper.to_document() if short_names else paper.to_document().shown(rankings.systems))
