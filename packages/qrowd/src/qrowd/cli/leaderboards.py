"""`qrowd leaderboards`: compare the leaderboards of several judges."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from qrowd.cli import input_files as reading
from qrowd.cli import options
from qrowd.cli.input_files import data_option
from qrowd.cli.options import Top, option
from qrowd.cli.output import Output, ShortNames, deliver


def leaderboards(
    scores: Annotated[
        list[str],
        typer.Argument(help="Leaderboards of TREC AutoJudge or trec_eval -q: an assessor each.", metavar="FILES"),
    ],
    format: Annotated[
        Literal["auto", "trec_eval", "tot", "ir_measures", "ranking", "jsonl"],
        data_option(help="Format of the leaderboards."),
    ] = "auto",
    measure: Annotated[
        list[str] | None,
        option("-m", "--measure", help="Measures of the leaderboards.", metavar="MEASURE", show_default="all"),
    ] = None,
    missing: Annotated[
        Literal["skip", "zero"],
        data_option(help="A system that a file does not name on a topic has no score there, or 0."),
    ] = "skip",
    clusters: reading.Clusters = None,
    baseline: options.Baseline = None,
    reference: options.Reference = None,
    sampling: options.Sampling = options.Sampling(10_000),
    top: Top = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Show whether leaderboards agree on the systems, such as those of models with that of people."""
    from qrowd import files
    from qrowd.model.chance import seed_of
    from qrowd.reports.comparison import Choices, compare_scores

    whole = reading.in_clusters(files.read_scores(scores, format=format), clusters)
    whole = whole.with_zeros() if missing == "zero" else whole
    chosen = whole if measure is None else whole.sel(measure=measure)
    document = compare_scores(
        chosen,
        baseline=baseline,
        reference=reference,
        choices=Choices(sampling.confidence, n_resamples=sampling.n_resamples, seed=seed_of(sampling.seed)),
    ).to_document()
    deliver(document.shown(whole.systems, top=top, short_names=short_names), output)
