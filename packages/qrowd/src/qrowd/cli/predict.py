"""`qrowd predict`: which documents random users find relevant, given what assessors said."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import convention, conventions_named, grades_of, measures, option
from qrowd.cli.output import Output, Qrels, ShortNames, Top, deliver, write_qrels
from qrowd.model.conventions import Conventions


def predict(
    data: options.Data,
    runs: options.MaybeRuns = options.NO_RUNS,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10")] = None,
    rel: options.Rel = None,
    relevant_grades: Annotated[
        str | None, option(help="Grades that count as relevant, as in 2,3; instead of --rel.", metavar="GRADES")
    ] = None,
    cutoff: options.Cutoff = 10,
    method: Annotated[
        Literal["symmetric", "one-sided"],
        option(
            help="Each judgment predicts all others of its document (symmetric), or those of --first do (one-sided).",
            panel="Estimation",
        ),
    ] = "symmetric",
    first: Annotated[
        list[str] | None,
        option(
            help="one-sided: assessors whose judgments predict those of the others.",
            panel="Estimation",
            metavar="ASSESSORS",
            show_default="who judged first",
        ),
    ] = None,
    smoothing: Annotated[
        float,
        option(
            help="Count that is added to each pair of grades before probabilities are estimated.", panel="Estimation"
        ),
    ] = 0.0,
    repeats: Annotated[
        Literal["first", "last", "error"],
        convention(help="Judgment that counts where an assessor judged a document several times."),
    ] = "first",
    combine_scales: options.CombineScales = "auto",
    conventions: Annotated[Conventions, conventions_named("unjudged", "duplicates")] = Conventions(),
    resample: Annotated[
        Literal["topics", "documents", "binomial"],
        option(help="Standard errors by resampling topics or documents, or by the binomial formula.", panel="Sampling"),
    ] = "topics",
    sampling: options.Sampling = options.Sampling(1000),
    qrels: Qrels = None,
    top: Top = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Predict which documents users find relevant, from documents that two or more assessors judged."""
    from qrowd.reports.prediction import predict_relevance

    grades = None if relevant_grades is None else grades_of(relevant_grades)
    judgments, rankings = data.read(), runs.read(data)
    prediction = predict_relevance(
        judgments,
        rel=rel,
        runs=rankings,
        measures=measure or ["nDCG@10"],
        relevant_grades=grades,
        cutoff=cutoff,
        method=method,
        first=first,
        smoothing=smoothing,
        repeats=repeats,
        combine_scales=combine_scales,
        conventions=conventions,
        resample=resample,
        **sampling.arguments,
    )
    gains = prediction.gains
    if qrels is not None:
        write_qrels(qrels, gains, assessor_in_column=len(gains.assessors) > 1)
    systems = () if rankings is None else rankings.systems
    deliver(prediction.to_document().shown(systems, top=top, short_names=short_names), output)
