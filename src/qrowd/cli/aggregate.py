"""`qrowd aggregate`: many labels to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.options import (
    DATABASE,
    Campaign,
    CombineScales,
    Database,
    MaybeJudgmentFiles,
    Output,
    Recode,
    Repeats,
    Scales,
    Who,
    check_output,
    deliver,
    read_judgments,
)

if TYPE_CHECKING:
    from qrowd.aggregation import Aggregate
    from qrowd.model.judgments import Judgments

METHODS = "majority | dawid-skene | mace | mean | median | geometric-mean"


def aggregate(
    judgments: MaybeJudgmentFiles = None,
    method: Annotated[str, typer.Option(help=METHODS)] = "majority",
    qrels: Annotated[str | None, typer.Option(help="Write the merged judgments as a qrels file.")] = None,
    ties: Annotated[str, typer.Option(help="coin | lowest | highest | fractional")] = "coin",
    start: Annotated[str, typer.Option(help="Of dawid-skene: majority | shares | honest")] = "majority",
    per: Annotated[str, typer.Option(help="Of dawid-skene: topic | all")] = "topic",
    prior: Annotated[
        str, typer.Option(help="Of mace, how frequent grades are: fitted | uniform (the paper)")
    ] = "fitted",
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    seed: Annotated[int, typer.Option(min=0, help="The same number gives the same coins and starts.")] = 1,
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
) -> None:
    """What do the assessors say together: one merged judgment per document, and how sure it is."""
    from qrowd import files, trec
    from qrowd.reports.aggregation import aggregate_document
    from qrowd.reports.scales import stated, what_was_done

    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale, campaign=campaign, database=database)
    options = {"ties": ties, "start": start, "per": per, "prior": prior, "repeats": repeats}
    options["combine_scales"] = combine_scales
    merged = merge(given, method, options, seed)
    if qrels is not None:
        files.write_whole(qrels, trec.format_qrels(merged.judgments))
    unlike = {method: "relevant" if merged.grades.size else "unit"}
    done = what_was_done(given.scales, combine_scales, unlike)  # type: ignore[arg-type]
    deliver(stated(aggregate_document(merged), given, done), output)


def merge(judgments: Judgments, method: str, options: dict[str, str], seed: int) -> Aggregate:
    """The method of that name with those of the options that it takes."""
    from inspect import signature
    from typing import Any
    from warnings import catch_warnings

    from qrowd import aggregation
    from qrowd.errors import ArgumentError

    methods: dict[str, Any] = {
        "majority": aggregation.majority_vote,
        "dawid-skene": aggregation.dawid_skene,
        "mace": aggregation.mace,
        "mean": aggregation.mean,
        "median": aggregation.median,
        "geometric-mean": aggregation.geometric_mean,
    }
    if method not in methods:
        raise ArgumentError(f"--method {method}: choose one of {', '.join(methods)}")
    takes = signature(methods[method]).parameters
    chosen = {name: value for name, value in {**options, "rng": seed}.items() if name in takes}
    with catch_warnings(action="ignore"):  # the document says what did not converge
        merged: Aggregate = methods[method](judgments, **chosen)
    return merged
