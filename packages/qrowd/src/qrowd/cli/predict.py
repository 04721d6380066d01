"""`qrowd predict`: which documents random users find relevant, given what assessors said."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import convention, conventions_named, measures, option
from qrowd.cli.output import Output, Qrels, ShortNames, Top, deliver, write_qrels
from qrowd.cli.values import grades_of, m_of_n, utilities_of
from qrowd.errors import FileError
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
    types: Annotated[
        str | None,
        option(
            help="Table of topics and their types (topic, type): probabilities are estimated for each type.",
            panel="Users and topics",
            metavar="FILE",
        ),
    ] = None,
    user_model: Annotated[
        Literal["random", "disagreement", "utility"],
        option(
            help="Gain of a grade: relevance to a random user; to at least one of assessor and user (disagreement); "
            "or expected fractional utility.",
            panel="Users and topics",
        ),
    ] = "random",
    at_least: Annotated[
        str | None,
        option(
            help="Gain of a grade: relevance to at least M of N users, as in 2/3.",
            panel="Users and topics",
            metavar="M/N",
            show_default="one user",
        ),
    ] = None,
    utility: Annotated[
        str | None,
        option(
            help="Utility of each grade to the user who gives it, as in 0=0,1=0.3,2=1, for --user-model utility.",
            panel="Users and topics",
            metavar="GRADE=UTILITY,...",
            show_default="the grade over the highest",
        ),
    ] = None,
    posterior: Annotated[
        Literal["linear", "independent"] | None,
        option(
            help="Combine all judgments of a document into its probability, and score systems by it.",
            panel="Users and topics",
            show_default="each assessor alone",
        ),
    ] = None,
    priors: Annotated[
        str | None,
        option(
            help="Table of probabilities before any judgment (topic, or topic and document, and probability); with "
            "--posterior.",
            panel="Users and topics",
            metavar="FILE",
        ),
    ] = None,
    sensitivity: Annotated[
        bool, option("--sensitivity", help="Also show how many double judgments are enough, and p(R|i) by rank.")
    ] = False,
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
    ranks: Annotated[
        Literal["bands", "pool"],
        option(
            help="Documents from which probabilities are estimated: by bands of ranks, or the whole pool.",
            panel="Estimation",
        ),
    ] = "bands",
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
    from qrowd.reports.user_models import UserModel

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
        ranks=ranks,
        repeats=repeats,
        combine_scales=combine_scales,
        types=None if types is None else types_of(types),
        user=UserModel(user_model, m_of_n(at_least), utilities_of(utility)),
        sensitivity=sensitivity,
        posterior=posterior,
        priors=None if priors is None else priors_of(priors),
        conventions=conventions,
        resample=resample,
        **sampling.arguments,
    )
    gains = prediction.gains
    if qrels is not None and gains is not None:
        write_qrels(qrels, gains, assessor_in_column=len(gains.assessors) > 1)
    systems = () if rankings is None else rankings.systems
    deliver(prediction.to_document().shown(systems, top=top, short_names=short_names), output)


def types_of(path: str) -> dict[str, str]:
    """{topic: type} of a table."""
    from qrowd import files

    topics, types = files.read_labels(path, "topic", "type")
    return dict(zip(topics, types, strict=True))


def priors_of(path: str) -> dict[str, float] | dict[tuple[str, str], float]:
    """{topic: probability}, or {(topic, document): probability}, of a table."""
    from qrowd import files

    by_document = "document" in files.read_columns(path)
    names = ("topic", "document") if by_document else ("topic",)
    *keys, texts = files.read_labels(path, *names, "probability")
    try:
        values = [float(text) for text in texts]
    except ValueError:
        raise FileError(path, "the column probability holds something that is no number") from None
    if by_document:
        return dict(zip(zip(*keys, strict=True), values, strict=True))
    return dict(zip(keys[0], values, strict=True))
