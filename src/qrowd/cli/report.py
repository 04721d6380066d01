"""`qrowd report`: one page for those who decide."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from qrowd.cli.options import Baseline, Confidence, Data, Measure, NResamples, Runs, Scoring, Seed, check_output, option
from qrowd.model.conventions import Conventions


def report(
    runs: Runs,
    data: Data,
    measure: Measure = "nDCG@10",
    baseline: Baseline = None,
    reference: Annotated[
        str | None,
        option(
            help="Assessor that is left out of the panel and with whom all others are compared.", metavar="ASSESSOR"
        ),
    ] = None,
    conventions: Scoring = Conventions(),
    n_resamples: NResamples = 10_000,
    confidence: Confidence = 0.95,
    random_assessors: Annotated[
        int, option(help="Number of random assessors of each kind, for AWARE.", panel="Sampling", min=1)
    ] = 200,
    seed: Seed = 1,
    title: Annotated[str, option(help="Title of the page.", panel="Output", metavar="TITLE")] = "",
    output: Annotated[
        str,
        option(
            "-o",
            "--output",
            help="File for the page (.html), or for its tables (.csv, .parquet, .json, .md or .tex).",
            panel="Output",
            metavar="FILE",
        ),
    ] = "report.html",
) -> None:
    """Write one page: which system is better, how certain that is, and on what the assessors disagree."""
    import shlex
    from datetime import UTC, datetime

    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.evaluation import measure as parse
    from qrowd.reports.report import input_files
    from qrowd.reports.report import report as report_on
    from qrowd.reports.report_content import Provenance
    from qrowd.reports.report_page import check_jinja

    # What can be wrong without reading a file is said before any file is read.
    parsed = parse(measure)
    if output.lower().endswith((".html", ".htm")):
        check_jinja()
    else:
        check_output(output)
    judgments = data.read()
    inputs = (
        *input_files("runs", runs),
        *input_files("judgments", data.judgments or []),
        *input_files("recoding", [data.recode] if data.recode else []),
    )
    with progress("comparing with random assessors") as advance:
        page = report_on(
            files.read_runs(runs),
            judgments,
            parsed,
            conventions=conventions,
            baseline=baseline,
            reference=reference,
            confidence=confidence,
            n_resamples=n_resamples,
            random_assessors=random_assessors,
            rng=seed,
            title=title,
            provenance=Provenance(shlex.join(["qrowd", *sys.argv[1:]]), inputs, f"{datetime.now(UTC):%Y-%m-%d}"),
            progress=advance,
        )
    page.write(output)
    typer.echo(page.sentence)
    typer.echo(f"Written: {output}")
