"""`qrowd aware`: mean scores over assessors, weighted by how different each assessor is from random ones."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli import options
from qrowd.cli.options import conventions_named, measures, option
from qrowd.cli.output import Output, ShortNames, Top, deliver
from qrowd.cli.processes import Workers
from qrowd.model.conventions import Conventions


def checked_estimator(name: str) -> str:
    """An estimator of accuracy that there is."""
    from qrowd.aware import estimator

    estimator(name)
    return name


def aware(
    runs: options.MaybeRuns,
    data: options.Data,
    files: options.Files = None,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10 AP")] = None,
    estimator: Annotated[
        str,
        option(
            help="Estimator of accuracy: sgl or tpc, then fro, rmse, kld, tau or apc, then md, msd or med; or uniform.",
            callback=checked_estimator,
        ),
    ] = "sgl_rmse_md",
    gold: options.Gold = None,
    across: Annotated[
        Literal["own", "all"], option(help="One accuracy for each measure (own), or one for all measures (all).")
    ] = "own",
    polarity: Annotated[
        Literal["dissimilarity", "printed"],
        option(help="Weights that grow with the dissimilarity to random assessors, or as printed in the paper."),
    ] = "dissimilarity",
    random_level: Annotated[
        list[float] | None,
        option(
            help="Probability with which a random assessor calls a document relevant.",
            show_default="0.05 0.5 0.95",
            metavar="PROBABILITIES",
        ),
    ] = None,
    level_sd: Annotated[
        float,
        option(
            help="Standard deviation of that probability among random assessors; 0: the same for all.", min=0, max=1
        ),
    ] = 0.0,
    conventions: Annotated[
        Conventions,
        conventions_named(
            "ties", "score_dtype", "unjudged", "missing", "min_coverage", "repeats", "grades", "duplicates"
        ),
    ] = Conventions(empty="nan"),
    n_resamples: options.NResamples = 1000,
    seed: options.Seed = 1,
    workers: Workers = Workers(),
    top: Top = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Weight the assessors by how different they are from random assessors (AWARE)."""
    from qrowd.aware import LEVELS
    from qrowd.cli.show import progress
    from qrowd.reports.aware import aware_of

    run_files, data = options.by_position(files, runs, data)
    judgments, names = data.read_with(gold=gold)
    rankings = run_files.read(data)
    with workers.executor() as executor, progress("comparing with random assessors") as advance:
        summary = aware_of(
            rankings,
            judgments,
            measure or ["nDCG@10", "AP"],
            estimator=estimator,
            gold=names.get("gold"),
            polarity=polarity,
            across=across,
            levels={f"{p:g}": p for p in random_level} if random_level else LEVELS,
            level_sd=level_sd,
            conventions=conventions,
            n_resamples=n_resamples,
            rng=seed,
            executor=executor,
            progress=advance,
        )
    deliver(summary.to_document().shown(rankings.systems, top=top, short_names=short_names), output)
