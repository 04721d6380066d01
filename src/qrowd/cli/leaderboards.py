"""`qrowd leaderboards`: compare the leaderboards of several judges, or write one in another format."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.cli.output import ShortNames, Top, check_output, deliver, output_file, write_output
from qrowd.errors import ArgumentError


def leaderboards(
    scores: Annotated[
        list[str],
        option(
            "--scores",
            help="Leaderboards of TREC AutoJudge or trec_eval -q: an assessor each.",
            panel="Data",
            metavar="FILES",
        ),
    ],
    format: Annotated[
        Literal["auto", "trec_eval", "tot", "ir_measures", "ranking", "jsonl"],
        option(help="Format of the leaderboards.", panel="Data"),
    ] = "auto",
    measure: Annotated[
        list[str] | None,
        option("-m", "--measure", help="Measures of the leaderboards.", metavar="MEASURE", show_default="all"),
    ] = None,
    baseline: options.Baseline = None,
    reference: options.Reference = None,
    sampling: options.Sampling = options.Sampling(10_000),
    convert: Annotated[
        Literal["trec_eval", "tot", "ir_measures", "ranking", "jsonl"] | None,
        option(help="Write the scores of one leaderboard in this format instead.", panel="Output"),
    ] = None,
    top: Top = None,
    short_names: ShortNames = False,
    output: Annotated[
        str | None,
        output_file("File for the result, as in other commands, or for the leaderboard of --convert."),
    ] = None,
) -> None:
    """Show whether leaderboards agree on the systems, such as those of models with that of people."""
    from qrowd import files
    from qrowd.leaderboards import format_leaderboard
    from qrowd.model.chance import seed_of
    from qrowd.reports.comparison import Choices, compare_scores

    if convert is None:
        check_output(output)
    whole = files.read_scores(scores, format=format)
    chosen = whole if measure is None else whole.sel(measure=measure)
    if convert is not None:
        if len(chosen.assessors) > 1:
            raise ArgumentError(f"--convert {convert}: one leaderboard was expected, found {len(chosen.assessors)}")
        write_output(output or "-", format_leaderboard(chosen, format=convert))
        return
    choices = Choices(sampling.confidence, n_resamples=sampling.n_resamples, seed=seed_of(sampling.seed))
    comparison = compare_scores(chosen, baseline=baseline, reference=reference, choices=choices)
    systems = [row.system for row in comparison.measures[0].rows]
    deliver(comparison.to_document().shown(systems, top=top, short_names=short_names), output)
