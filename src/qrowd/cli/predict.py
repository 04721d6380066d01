"""`qrowd predict`: what random users find relevant, given what assessors said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.options import (
    DATA,
    CombineScales,
    JudgmentFiles,
    Output,
    Recode,
    Scales,
    Who,
    check_output,
    deliver,
    read_judgments,
)

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.runs import Runs
    from qrowd.predicted_relevance import PredictedRelevance, RelevantResults


def predict(
    judgments: JudgmentFiles,
    theta: Annotated[float | None, typer.Option(help="A user is satisfied from this grade on.")] = None,
    relevant: Annotated[str | None, typer.Option(help="Or by these grades: 2,3.")] = None,
    runs: Annotated[
        list[str] | None,
        typer.Option(help="Run files, to score with predicted and binary relevance.", rich_help_panel=DATA),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="nDCG@10, P@10, ERR, ...; without: nDCG@10")
    ] = None,
    depth: Annotated[int, typer.Option(help="Evaluate so many first ranks of a run.")] = 10,
    method: Annotated[str, typer.Option(help="symmetric (equation 5) | one-sided (equation 4)")] = "symmetric",
    first: Annotated[
        list[str] | None, typer.Option(help="Of one-sided: whose judgment predicts; without: who judged first.")
    ] = None,
    smoothing: Annotated[float, typer.Option(help="Prior counts added to each grade.")] = 0.0,
    ranks: Annotated[
        str, typer.Option(help="Learn expected results from bands of ranks, or from the whole pool: bands | pool")
    ] = "bands",
    resample: Annotated[
        str, typer.Option(help="Standard errors by drawing topics | documents, or binomial.")
    ] = "topics",
    bootstrap: Annotated[int, typer.Option(min=0, help="Replicates for standard errors; 0 for none.")] = 1000,
    qrels: Annotated[
        str | None, typer.Option(help="Write the judgments, as p(R|i) of the whole pool, as a qrels file.")
    ] = None,
    repeats: Annotated[str, typer.Option("--repeats", help="first | last | error")] = "first",
    seed: Annotated[int, typer.Option(min=0, help="The same number draws the same replicates.")] = 1,
    output: Output = None,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
    combine_scales: CombineScales = "auto",
) -> None:
    """What will users find relevant: the chance for every grade, learnt from documents that two or more judged."""
    from qrowd import files, trec
    from qrowd.evaluation import with_probabilities
    from qrowd.model.one_scale import on_one_scale
    from qrowd.predicted_relevance.estimation import Options, predicted_relevance
    from qrowd.reports.prediction import predicted_scores, prediction_document
    from qrowd.reports.scales import stated, what_was_done

    check_output(output)
    measures = [with_probabilities(text) for text in measure or ["nDCG@10"]]
    grades = None if relevant is None else grades_in(relevant)
    read = read_judgments(judgments, assessor, recode, scale)
    given = on_one_scale(read, combine_scales, "relevant")  # type: ignore[arg-type]
    done = what_was_done(read.scales, combine_scales, {"predicted relevance": "relevant"})  # type: ignore[arg-type]
    loaded = None if runs is None else files.read_runs(runs)
    options = Options(
        runs=loaded,
        ranks=ranks,  # type: ignore[typeddict-item]
        depth=depth,
        relevant=grades,
        method=method,  # type: ignore[typeddict-item]
        first=first or None,
        smoothing=smoothing,
        resample=resample,  # type: ignore[typeddict-item]
        bootstrap=bootstrap,
        rng=seed,
        repeats=repeats,  # type: ignore[typeddict-item]
    )
    model = predicted_relevance(given, theta, **options)
    counted = count(model, given, loaded, depth)
    whole = Options(**{**options, "ranks": "pool", "bootstrap": 0})  # gains do not depend on who is evaluated
    gains = predicted_relevance(given, theta, **whole)
    scored = None if loaded is None else predicted_scores(loaded, given, gains, measures)
    if qrels is not None:
        gained = gains.with_gains(given)
        files.write_whole(qrels, trec.format_qrels(gained, assessor_in_column=len(gained.assessors) > 1))
    deliver(stated(prediction_document(model, counted, scored), read, done), output)


def count(model: PredictedRelevance, judgments: Judgments, runs: Runs | None, depth: int) -> RelevantResults | None:
    """Relevant results; None without runs where some grade's chance is not known."""
    from qrowd.errors import ScaleError
    from qrowd.predicted_relevance import relevant_results

    try:
        return relevant_results(model, judgments, runs, depth=depth)
    except ScaleError:
        if runs is not None:
            raise
        return None


def grades_in(text: str) -> set[float]:
    """The grades of a list such as 2,3."""
    from qrowd.errors import ArgumentError

    try:
        return {float(part) for part in text.split(",")}
    except ValueError:
        raise ArgumentError(f"--relevant {text}: expected grades with commas between them, as in 2,3") from None
