"""`qrowd compare`: which systems may be the best, and do assessors agree on that."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options, reading
from qrowd.cli.options import convention, measures, option
from qrowd.cli.output import Output, ShortNames, Top, deliver
from qrowd.cli.values import pair_of, related_of
from qrowd.model.conventions import Conventions


def compare(
    runs: options.MaybeRuns,
    data: options.Data,
    files: options.Files = None,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10")] = None,
    baseline: options.Baseline = None,
    reference: options.Reference = None,
    systems: options.Systems = None,
    related: reading.Related = None,
    fragility: Annotated[
        bool,
        option(
            "--fragility",
            help="Count how many judgments would have to change by one grade to reverse each difference.",
        ),
    ] = False,
    cutoff: Annotated[
        int, convention(min=2, metavar="K", help="Number of the reference's best systems that tau@K compares.")
    ] = 10,
    zeros: Annotated[
        Literal["wilcox", "pratt", "zsplit"],
        convention(help="Topics in which two systems score the same, in Wilcoxon's test: left out, ranked, or split."),
    ] = "wilcox",
    correction: Annotated[
        Literal["holm", "none"], convention(help="Correction of the p-values of Wilcoxon top sets for multiple tests.")
    ] = "none",
    sign_ties: Annotated[
        Literal["ignore", "half", "agree"],
        convention(help="Equal scores in the agreement of signs: left out, half an agreement, or an agreement."),
    ] = "ignore",
    conventions: options.Scoring = Conventions(),
    sampling: options.Sampling = options.Sampling(10_000),
    top: Top = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Show which systems may be the best, and whether the assessors agree on that."""
    from qrowd.cli.show import progress
    from qrowd.reports.comparison import compare as compare_systems

    pair, relatives = pair_of(systems), related_of(related)
    run_files, data = options.by_position(files, runs, data)
    judgments, rankings = data.read(), run_files.read(data)
    with progress("scoring") as advance:
        comparison = compare_systems(
            rankings,
            judgments,
            measure or "nDCG@10",
            conventions=conventions,
            baseline=baseline,
            reference=reference,
            systems=pair,
            related=relatives,
            fragility=fragility,
            cutoff=cutoff,
            zeros=zeros,
            correction=correction,
            sign_ties=sign_ties,
            **sampling.arguments,
            progress=advance,
        )
    systems_compared = [row.system for row in comparison.measures[0].rows]
    deliver(comparison.to_document().shown(systems_compared, top=top, short_names=short_names), output)
