"""`qrowd study`: papers and simulations recomputed, and analyses that only readers of one paper look for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.input_files import data_option, of_campaigns
from qrowd.cli.magnitude import Checks, read_magnitudes
from qrowd.cli.processes import Workers
from qrowd.errors import ArgumentError, FileError
from qrowd.reports.plots.style import Figure
from qrowd_papers import papers
from qrowd_papers.written import Written

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences


def recompute(
    name: Annotated[str | None, typer.Argument(help="Paper or simulation; default: list them all.")] = None,
    data: Annotated[
        str | None,
        data_option(
            help="Folder of the real panels (dl19, dl21, trec-rf10).", metavar="FOLDER", show_default="simulated panels"
        ),
    ] = None,
    quick: Annotated[bool, options.option("--quick", help="Use fewer samples (about one minute).")] = False,
    seed: options.Seed = 1,
    results: Annotated[
        str | None,
        options.option(help="aware: folder for finished parts, from which a later run goes on.", metavar="FOLDER"),
    ] = None,
    workers: Workers = Workers(),
    written: Written = Written(),
) -> None:
    """Recompute a paper or a simulation, on simulated panels and on real ones."""
    from qrowd.cli.progress import progress

    if name is None:
        width = max(map(len, papers.PAGES))
        for study_name, (_, sentence) in papers.PAGES.items():
            typer.echo(f"{study_name:{width}}  {sentence}")
        return
    papers.check(name, figures=written.figures is not None)
    if data is not None and not Path(data).is_dir():
        raise FileError(data, "there is no such folder")
    if results is not None and name != "aware":
        raise ArgumentError(f"--results {results}: only the study aware keeps finished parts")
    further = {} if results is None else {"folder": results}
    with workers.executor() as executor, progress(f"study {name}") as advance:
        document = papers.page(
            name,
            data,
            quick=quick,
            rng=seed,
            executor=executor,
            progress=lambda _, done, total: advance(done, total),
            **further,
        )
    drawn: Sequence[Figure] = ()
    if written.figures is not None:
        with progress(f"figures of {name}") as advance:
            drawn = papers.figures(
                name, data, quick=quick, rng=seed, progress=lambda _, done, total: advance(done, total)
            )
    written.deliver(document, drawn)


def magnitude(
    judged: options.Data,
    gold: options.Gold = None,
    checks: Checks = None,
    runs: options.Runs = options.NO_RUNS,
    n_resamples: options.NResamples = 1000,
    seed: options.Seed = 1,
    written: Written = Written(),
) -> None:
    """Analyse magnitudes as the paper does: distribution, units, agreement, gains and rankings."""
    from qrowd.reports.magnitude_tables import magnitude_document
    from qrowd_papers.magnitude.analysis import MagnitudeAnalysis
    from qrowd_papers.magnitude.figures_of_files import figures_of_magnitudes
    from qrowd_papers.magnitude.sections import SECTIONS

    systems = runs.read(judged)
    data: MagnitudeAnalysis = read_magnitudes(
        judged, gold, checks, MagnitudeAnalysis, runs=systems, n_resamples=n_resamples, rng=seed
    )
    written.deliver(magnitude_document(data, SECTIONS), figures_of_magnitudes(data) if written.figures else ())


def predicted_relevance(
    judged: options.Data,
    runs: options.Runs = options.NO_RUNS,
    rel: options.Rel = None,
    types: Annotated[
        str | None, data_option(help="Table of topics and their types (topic, type).", metavar="FILE")
    ] = None,
    seed: options.Seed = 1,
    written: Written = Written(),
) -> None:
    """Show what the probability depends on that a user finds relevant what an assessor graded."""
    from qrowd import files
    from qrowd_papers.predicted_relevance.of_files import sensitivity_document

    judgments = judged.read()
    kinds = None if types is None else dict(zip(*files.read_labels(types, "topic", "type"), strict=True))
    if rel is None:
        raise ArgumentError("--rel: give the lowest grade that is relevant")
    written.deliver(sensitivity_document(judgments, rel, runs=runs.read(judged), types=kinds, rng=seed))


def arms(
    arm: Annotated[
        list[str] | None,
        data_option(help="Arms that are compared: tables of preferences or of judgments.", metavar="NAME=FILE"),
    ] = None,
    units: Annotated[
        str | None,
        data_option(help="Table of the units of these arms, as a campaign exports it.", metavar="FILE"),
    ] = None,
    campaign: options.Campaign = None,
    database: options.Database = options.DATABASE,
    tie_rate: Annotated[
        float, options.convention(help="Rate at which two equal grades agree with a preference; .5: by a coin.")
    ] = 0.5,
    confidence: options.Confidence = 0.95,
    written: Written = Written(),
) -> None:
    """Compare ways of judging the same topics: agreement, time, feedback and use of context."""
    from qrowd import files
    from qrowd_papers.arms.arm_plots import arms_figure
    from qrowd_papers.arms.compared_arms import compare_arms

    answers: dict[str, Judgments | Preferences] = {}
    table: Any = None
    if campaign is not None and not arm:
        answers, table = of_campaigns("arms", campaign)(database, campaign)
    else:
        options.refuse_campaign(campaign)
        for text in arm or ():
            name, equals, path = text.partition("=")
            if not equals or not name or not path:
                raise ArgumentError(f"--arm {text}: expected NAME=FILE, as in absolute=grades.csv")
            if name in answers:
                raise ArgumentError(f"--arm {text}: there are two arms of this name; rename one")
            answers[name] = files.read_answers(path)
        table = None if units is None else files.read_columns(units)
    report = compare_arms(answers, table, tie_rate=tie_rate, confidence=confidence)
    written.deliver(report.to_document(), [arms_figure(report)] if written.figures else ())


study = command_group(
    "Recompute a paper, or apply its analyses to files.", recompute, magnitude, predicted_relevance, arms
)
