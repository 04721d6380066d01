"""`qrowd predict`: which documents random users find relevant, given what assessors said."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import convention, deliver, measures, option
from qrowd.errors import ArgumentError


def predict(
    data: options.Data,
    runs: options.MaybeRuns = None,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10")] = None,
    rel: options.Rel = None,
    relevant_grades: Annotated[
        str | None, option(help="Grades that count as relevant, as in 2,3; instead of --rel.", metavar="GRADES")
    ] = None,
    cutoff: options.Cutoff = 10,
    method: Annotated[
        Literal["symmetric", "one-sided"],
        option(
            help="Each judgment predicts all others of its document (symmetric), or those of --first do (one-sided)."
        ),
    ] = "symmetric",
    first: Annotated[
        list[str] | None,
        option(
            help="one-sided: assessors whose judgments predict those of the others.",
            metavar="ASSESSORS",
            show_default="who judged first",
        ),
    ] = None,
    smoothing: Annotated[
        float, option(help="Count that is added to each pair of grades before probabilities are estimated.")
    ] = 0.0,
    ranks: Annotated[
        Literal["bands", "pool"],
        option(help="Documents from which probabilities are estimated: by bands of ranks, or the whole pool."),
    ] = "bands",
    repeats: Annotated[
        Literal["first", "last", "error"],
        convention(help="Judgment that counts where an assessor judged a document several times."),
    ] = "first",
    combine_scales: options.CombineScales = "auto",
    resample: Annotated[
        Literal["topics", "documents", "binomial"],
        option(help="Standard errors by resampling topics or documents, or by the binomial formula.", panel="Sampling"),
    ] = "topics",
    sampling: options.Sampling = options.Sampling(1000),
    qrels: options.Qrels = None,
    output: options.Output = None,
) -> None:
    """Predict which documents users find relevant, from documents that two or more assessors judged."""
    from qrowd import files, trec
    from qrowd.reports.prediction import predict_relevance

    grades = None if relevant_grades is None else grades_of(relevant_grades)
    prediction = predict_relevance(
        data.read(),
        rel=rel,
        runs=None if runs is None else files.read_runs(runs),
        measures=measure or ["nDCG@10"],
        relevant_grades=grades,
        cutoff=cutoff,
        method=method,
        first=first,
        smoothing=smoothing,
        ranks=ranks,
        repeats=repeats,
        combine_scales=combine_scales,
        resample=resample,
        **sampling.arguments,
    )
    gains = prediction.gains
    if qrels is not None and gains is not None:
        files.write_whole(qrels, trec.format_qrels(gains, assessor_in_column=len(gains.assessors) > 1))
    deliver(prediction.to_document(), output)


def grades_of(text: str) -> set[float]:
    """The grades of a list such as 2,3."""
    try:
        return {float(part) for part in text.split(",")}
    except ValueError:
        raise ArgumentError(f"--relevant-grades {text}: grades separated by commas were expected, as in 2,3") from None
