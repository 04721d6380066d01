"""`qrowd trec-eval`: what trec_eval prints, for scripts that read it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from qrowd.cli import options
from qrowd.cli.commands import OneValueCommand
from qrowd.cli.completion import trec_eval_measures
from qrowd.cli.options import CONVENTIONS, option
from qrowd.model.conventions import ScoreDtype

CLASS = OneValueCommand


def trec_eval(
    qrels: Annotated[str, typer.Argument(help="File of judgments.", metavar="QRELS")],
    run: Annotated[str, typer.Argument(help="Run file, or - for standard input.", metavar="RUN")],
    measure: Annotated[
        list[str] | None,
        option(
            "-m",
            "--measure",
            help="Measure or group of trec_eval, with parameters after a dot: ndcg_cut.10,20. May be repeated.",
            show_default="official",
            metavar="MEASURE",
            autocompletion=trec_eval_measures,
        ),
    ] = None,
    per_topic: Annotated[bool, option("-q", "--per-topic", help="Print the scores of each topic too.")] = False,
    complete: Annotated[
        bool, option("-c", "--complete", help="Average over all topics of the judgments, also those the run lacks.")
    ] = False,
    rel: Annotated[int, option("-l", "--rel", help="Lowest grade that counts as relevant.")] = 1,
    no_summary: Annotated[bool, option("-n", "--no-summary", help="Print no summary of all topics.")] = False,
    judged_only: Annotated[
        bool, option("-J", "--judged-only", help="Leave documents without a judgment out of the run.")
    ] = False,
    depth: Annotated[
        int | None, option("-M", "--depth", help="Documents of each list that count.", show_default="all", metavar="N")
    ] = None,
    n_collection: Annotated[
        int, option("-N", "--n-collection", help="Number of documents in the collection, for utility.")
    ] = 0,
    format: Annotated[
        Literal["qrels", "qrels_jg", "prefs", "qrels_prefs"], option("-R", "--format", help="Format of the judgments.")
    ] = "qrels",
    run_format: Annotated[
        Literal["trec_results"], option("-T", "--run-format", help="Format of the run.")
    ] = "trec_results",
    z_scores: Annotated[
        str | None,
        option("-Z", "--z-scores", help="File of means and standard deviations for z scores.", metavar="FILE"),
    ] = None,
    assessor: options.Assessor = "file",
    score_dtype: Annotated[ScoreDtype, CONVENTIONS["score_dtype"]] = "float64",
) -> None:
    """Print what trec_eval prints, of one file of judgments or of each assessor in it."""
    from pathlib import Path

    from qrowd.files import read_bytes
    from qrowd.reports.trec_eval import TrecEvalOptions, parsed_run, parsed_z_scores, trec_eval_text

    chosen = TrecEvalOptions(
        tuple(measure or ["official"]),
        format=format,
        rel=rel,
        per_topic=per_topic,
        summary=not no_summary,
        complete=complete,
        judged_only=judged_only,
        n_collection=n_collection,
        depth=depth,
        score_dtype=score_dtype,
    )
    judgments = read_bytes(Path(qrels))
    text = trec_eval_text(
        judgments,
        parsed_run(read_bytes(Path(run)), run),
        chosen,
        name=qrels,
        z_scores=None if z_scores is None else parsed_z_scores(read_bytes(Path(z_scores)), z_scores),
        by_assessor=assessor == "column",
    )
    typer.echo(text.encode("utf-8", "surrogateescape"), nl=False)
