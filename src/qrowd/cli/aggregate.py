"""`qrowd aggregate`: many labels to one."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.cli.output import Output, Qrels, deliver, write_qrels


def aggregate(
    data: options.Data,
    files: options.JudgmentFiles = None,
    method: Annotated[
        Literal["majority", "dawid-skene", "mace", "mean", "sum", "median", "geometric-mean"],
        option(help="Method that merges the judgments of a document."),
    ] = "majority",
    ties: Annotated[
        Literal["coin", "lowest", "highest", "fractional"],
        option(help="majority: which of several most frequent grades wins; coin draws one at random."),
    ] = "coin",
    start: Annotated[
        Literal["majority", "shares", "honest"], option(help="dawid-skene: the first estimate of the iteration.")
    ] = "majority",
    per: Annotated[
        Literal["topic", "all"], option(help="dawid-skene: estimate assessors in each topic, or over all topics.")
    ] = "topic",
    prior: Annotated[
        Literal["fitted", "uniform"],
        option(help="mace: frequencies of the grades, fitted to the judgments or uniform as in the paper."),
    ] = "fitted",
    repeats: options.Repeats = "first",
    combine_scales: options.CombineScales = "auto",
    seed: options.Seed = 1,
    qrels: Qrels = None,
    output: Output = None,
) -> None:
    """Merge the judgments of several assessors into one judgment per document."""
    from qrowd.reports.aggregation import aggregation_document, merge

    judgments = options.judgments_by_position(files, data).read()
    settings = {"ties": ties, "start": start, "per": per, "prior": prior}
    merged = merge(judgments, method, settings, repeats=repeats, combine_scales=combine_scales, rng=seed)
    if qrels is not None:
        write_qrels(qrels, merged.judgments)
    words = data.labels.split("<") if data.labels and data.recode is None else []
    deliver(aggregation_document(merged, judgments, combine_scales, words=words), output)
