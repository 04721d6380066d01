"""`qrowd trec-eval`: what trec_eval prints, for scripts that read it."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli import options
from qrowd.cli.commands import OneValueCommand
from qrowd.cli.completion import trec_eval_measures
from qrowd.cli.options import option

CLASS = OneValueCommand


def trec_eval(
    qrels: Annotated[list[str], typer.Argument(help="Qrels files; of several, each is one assessor.", metavar="QRELS")],
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
    assessor: options.Assessor = "file",
) -> None:
    """Print what trec_eval prints, of one file of judgments or of each assessor."""
    from pathlib import Path

    from qrowd.files import read_bytes, read_judgments
    from qrowd.reports.trec_eval_output import TrecEvalOptions, run_and_tag, trec_eval_text

    chosen = TrecEvalOptions(
        tuple(measure or ["official"]),
        rel=rel,
        per_topic=per_topic,
        summary=not no_summary,
        complete=complete,
        judged_only=judged_only,
        depth=depth,
    )
    judgments = read_judgments(qrels, assessor=assessor)
    several = assessor == "column" or len(judgments.assessors) > 1
    text = trec_eval_text(judgments, *run_and_tag(read_bytes(Path(run)), run), chosen, by_assessor=several)
    typer.echo(text.encode("utf-8", "surrogateescape"), nl=False)
