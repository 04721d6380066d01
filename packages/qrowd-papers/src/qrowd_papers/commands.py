"""The commands of `qrowd study`: one for each paper or simulation, declared as entry points in pyproject.toml."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from qrowd.cli import options
from qrowd.cli.magnitude import Units
from qrowd.cli.options import Seed, option
from qrowd.cli.processes import Workers
from qrowd.errors import ArgumentError, FileError
from qrowd.reports.plots.style import Figure
from qrowd_papers import papers
from qrowd_papers.written import Written


@dataclass(frozen=True)
class Sample:
    """Data and sizes of a recomputation."""

    data: Annotated[
        str | None,
        option(
            help="Folder of the real panels (dl19, dl21, trec-rf10).", metavar="FOLDER", show_default="simulated panels"
        ),
    ] = None
    quick: Annotated[bool, option("--quick", help="Use fewer samples (about one minute).")] = False
    seed: Seed = 1


def recompute(name: str, sample: Sample, written: Written, workers: Workers = Workers(), **settings: Any) -> None:
    """Show the page of a study, and write what is asked for.

    settings : what only this page takes.
    """
    from qrowd.cli.show import progress

    if sample.data is not None and not Path(sample.data).is_dir():
        raise FileError(sample.data, "there is no such folder")
    papers.check(name, figures=written.figures is not None)
    with workers.executor() as executor, progress(f"study {name}") as advance:
        document = papers.page(
            name,
            sample.data,
            quick=sample.quick,
            rng=sample.seed,
            executor=executor,
            progress=lambda _, done, total: advance(done, total),
            **settings,
        )
    drawn: Sequence[Figure] = ()
    if written.figures is not None:
        with progress(f"figures of {name}") as advance:
            drawn = papers.figures(
                name,
                sample.data,
                quick=sample.quick,
                rng=sample.seed,
                progress=lambda _, done, total: advance(done, total),
            )
    written.deliver(document, drawn)


def magnitude(
    judged: options.Data = options.Data(),
    compared: Units = Units(),
    runs: options.MaybeRuns = options.NO_RUNS,
    n_resamples: options.NResamples = 1000,
    sample: Sample = Sample(),
    written: Written = Written(),
) -> None:
    """Magnitude estimation, of --judgments or recomputed: distribution, units, agreement, gains and rankings."""
    if judged.judgments is None and judged.campaign is None:
        recompute("magnitude", sample, written)
        return
    from qrowd_papers.magnitude.analysis import MagnitudeAnalysis
    from qrowd_papers.magnitude.figures_of_files import figures_of_magnitudes
    from qrowd_papers.magnitude.sections import magnitude_document

    systems = runs.read(judged)
    data = compared.magnitudes(judged, MagnitudeAnalysis, runs=systems, n_resamples=n_resamples, rng=sample.seed)
    written.deliver(magnitude_document(data), figures_of_magnitudes(data) if written.figures else ())


def agreement(sample: Sample = Sample(), written: Written = Written()) -> None:
    """Agreement of assessors by topic, and measures that use it."""
    recompute("agreement", sample, written)


def predicted_relevance(
    judged: options.Data = options.Data(),
    runs: options.MaybeRuns = options.NO_RUNS,
    rel: options.Rel = None,
    types: Annotated[
        str | None, option(help="Table of topics and their types (topic, type).", panel="Data", metavar="FILE")
    ] = None,
    sample: Sample = Sample(),
    written: Written = Written(),
) -> None:
    """Probability that a user finds relevant what an assessor graded, of --judgments or recomputed."""
    if judged.judgments is None and judged.campaign is None:
        recompute("predicted-relevance", sample, written)
        return
    from qrowd import files
    from qrowd_papers.predicted_relevance.of_files import sensitivity_document

    judgments = judged.read()
    kinds = None if types is None else dict(zip(*files.read_labels(types, "topic", "type"), strict=True))
    if rel is None:
        raise ArgumentError("--rel: give the lowest grade that is relevant")
    written.deliver(sensitivity_document(judgments, rel, runs=runs.read(judged), types=kinds, rng=sample.seed))


def aware(
    tuples: Annotated[int, option(help="Number of tuples of assessors of each size.")] = 1000,
    random_assessors: Annotated[int, option(help="Number of random assessors of each kind.", min=1)] = 1000,
    folder: Annotated[
        str | None, option(help="Folder for finished parts, from which a later run goes on.", metavar="FOLDER")
    ] = None,
    sample: Sample = Sample(),
    workers: Workers = Workers(),
    written: Written = Written(),
) -> None:
    """AWARE: assessors weighted by their distance from random ones."""
    settings = {"n_tuples": tuples, "n_resamples": random_assessors, "folder": folder}
    recompute("aware", sample, written, workers, **settings)


def aware_weights(sample: Sample = Sample(), written: Written = Written()) -> None:
    """AWARE with weights and with equal weights."""
    recompute("aware-weights", sample, written)


def preferences(sample: Sample = Sample(), written: Written = Written()) -> None:
    """Preference judgments: agreement, transitivity, and how few answers are enough."""
    recompute("preferences", sample, written)


def coverage(sample: Sample = Sample(), workers: Workers = Workers(), written: Written = Written()) -> None:
    """Coverage of the intervals of differences and of ranks."""
    recompute("coverage", sample, written, workers)


def advice(sample: Sample = Sample(), workers: Workers = Workers(), written: Written = Written()) -> None:
    """Prediction of another panel, advice and power, in simulations."""
    recompute("advice", sample, written, workers)


def annotator_test(sample: Sample = Sample(), written: Written = Written()) -> None:
    """Error of the annotator test if a model fails on whole topics."""
    recompute("annotator-test", sample, written)


def skewed_grades(sample: Sample = Sample(), workers: Workers = Workers(), written: Written = Written()) -> None:
    """Aggregation methods where some grades are rare."""
    recompute("skewed-grades", sample, written, workers)


def topic_intervals(sample: Sample = Sample(), written: Written = Written()) -> None:
    """Intervals of alpha and of p(R|i): drawing topics or documents."""
    recompute("topic-intervals", sample, written)


def assessor_bias(sample: Sample = Sample(), written: Written = Written()) -> None:
    """Bias of a model assessor towards a group of systems."""
    recompute("assessor-bias", sample, written)


def prompt_panels(sample: Sample = Sample(), written: Written = Written()) -> None:
    """Disagreement of 27 prompts of three models, and what they are worth."""
    recompute("prompt-panels", sample, written)


def next_judgments(sample: Sample = Sample(), workers: Workers = Workers(), written: Written = Written()) -> None:
    """Replays of `qrowd next` on real panels, beside other designs."""
    recompute("next-judgments", sample, written, workers)
