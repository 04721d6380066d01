"""`qrowd magnitude`: free numbers above 0 instead of grades."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.options import option
from qrowd.cli.output import Output, deliver
from qrowd.cli.values import MERGE, Merging

CHECKS = option(
    help="Table of the check documents of each topic, with the columns topic, H and N.",
    panel="Data",
    metavar="FILE",
    show_default="those that gold implies",
)
Checks = Annotated[str | None, CHECKS]
By = Annotated[
    Literal["unit", "assessor"] | None,
    options.convention(
        help="What a unit is: the unit column, or all judgments of an assessor for a topic.",
        show_default="unit where there is such a column",
    ),
]


def summary(
    data: options.Data,
    gold: options.Gold = None,
    runs: options.MaybeRuns = options.NO_RUNS,
    checks: Checks = None,
    by: By = None,
    n_resamples: options.NResamples = 1000,
    seed: options.Seed = 1,
    output: Output = None,
) -> None:
    """Show all that the judgments allow: every table of the other commands."""
    from qrowd.reports.magnitude import summary as section

    magnitudes = _magnitudes(data, gold, checks, by, runs, n_resamples=n_resamples, seed=seed)
    deliver(section(magnitudes).to_document(), output)


def distribution(data: options.Data, checks: Checks = None, by: By = None, output: Output = None) -> None:
    """Show how magnitudes are distributed: log-normal fit, by topic, round numbers, digits of ratios."""
    from qrowd.reports.magnitude import distribution as section

    deliver(section(_magnitudes(data, None, checks, by)).to_document(), output)


def units(
    data: options.Data,
    gold: options.Gold = None,
    checks: Checks = None,
    by: By = None,
    equal: Annotated[
        Literal["fails", "passes"], options.convention(help="Units that give H and N the same magnitude.")
    ] = "fails",
    min_seconds: Annotated[
        float | None,
        options.convention(help="Least time per document of a unit that passes.", show_default="none"),
    ] = None,
    output: Output = None,
) -> None:
    """Count units by topic and assessor; show which pass the checks, and which are narrow or wide."""
    from qrowd.reports.magnitude import units as section

    magnitudes = _magnitudes(data, gold, checks, by)
    deliver(section(magnitudes, equal=equal, min_seconds=min_seconds).to_document(), output)


def agreement(
    data: options.Data,
    gold: options.Gold = None,
    checks: Checks = None,
    by: By = None,
    sampling: options.Sampling = options.Sampling(1000),
    output: Output = None,
) -> None:
    """Measure how well assessors agree: alpha before and after normalisation, dispersion, order of gold."""
    from qrowd.reports.magnitude import agreement as section

    magnitudes = _magnitudes(data, gold, checks, by, seed=sampling.seed)
    part = section(magnitudes, slots=data.slots, n_resamples=sampling.n_resamples, confidence=sampling.confidence)
    deliver(part.to_document(), output)


def effort(
    data: options.Data,
    checks: Checks = None,
    by: By = None,
    redundancy: Annotated[int, option(help="Judgments of each document.", min=1)] = 10,
    unit_size: Annotated[int, option(help="Documents of a unit, check documents included.", min=1)] = 8,
    n_checks: Annotated[int, option(help="Check documents of a unit.", min=0)] = 2,
    pay: Annotated[float | None, option(help="Pay for one unit.", show_default="no cost is shown")] = None,
    fee: Annotated[float, option(help="Fee of the platform, as a share of the pay.")] = 0.0,
    confidence: options.Confidence = 0.95,
    output: Output = None,
) -> None:
    """Show how many assessors and units the documents need, and at what cost."""
    from qrowd.reports.magnitude import effort as section

    part = section(
        _magnitudes(data, None, checks, by),
        pay=pay,
        fee=fee,
        redundancy=redundancy,
        unit_size=unit_size,
        n_checks=n_checks,
        confidence=confidence,
    )
    deliver(part.to_document(), output)


def levels(
    data: options.Data,
    gold: options.Gold = None,
    checks: Checks = None,
    by: By = None,
    values: Annotated[
        Literal["logs", "magnitudes"], options.convention(help="Values that are tested by t-tests.")
    ] = "logs",
    variances: Annotated[
        Literal["unequal", "equal"], options.convention(help="Variances of two levels in a t-test.")
    ] = "unequal",
    output: Output = None,
) -> None:
    """Test whether documents of higher gold levels have higher magnitudes."""
    from qrowd.reports.magnitude_gold import levels as section

    deliver(section(_magnitudes(data, gold, checks, by), values=values, variances=variances).to_document(), output)


def gains(
    data: options.Data,
    gold: options.Gold = None,
    checks: Checks = None,
    by: By = None,
    output: Output = None,
) -> None:
    """Show the gain of each gold level by the magnitudes."""
    from qrowd.reports.magnitude_gold import gains as section

    deliver(section(_magnitudes(data, gold, checks, by)).to_document(), output)


def conflicts(
    data: options.Data,
    gold: options.Gold = None,
    checks: Checks = None,
    by: By = None,
    merge: Annotated[
        Merging,
        options.convention(help="How the judgments of a document are merged."),
    ] = "median",
    min_distance: Annotated[
        int, options.convention(help="Least distance between gold's level and the nearest one.", min=1)
    ] = 2,
    output: Output = None,
) -> None:
    """List documents whose magnitudes contradict their gold level; a file has each judgment with its comment."""
    from qrowd.reports.magnitude_gold import conflicts as section

    magnitudes = _magnitudes(data, gold, checks, by)
    deliver(section(magnitudes, merge=MERGE[merge], min_distance=min_distance).to_document(), output)


def rankings(
    runs: options.Runs,
    data: options.Data,
    gold: options.Gold = None,
    checks: Checks = None,
    by: By = None,
    n_resamples: options.NResamples = 1000,
    seed: options.Seed = 1,
    output: Output = None,
) -> None:
    """Rank systems with magnitudes and with gold grades as gains; compare magnitudes with the ease of topics."""
    from qrowd.reports.magnitude_gold import rankings as section

    magnitudes = _magnitudes(data, gold, checks, by, runs, n_resamples=n_resamples, seed=seed)
    deliver(section(magnitudes).to_document(), output)


def normalise(
    data: options.Data,
    gold: options.Gold = None,
    checks: Checks = None,
    by: By = None,
    standardise: Annotated[
        bool,
        option(
            "--standardise",
            panel="Conventions",
            help="Also give the logarithms of all units of a topic one standard deviation.",
        ),
    ] = False,
    output: Output = None,
) -> None:
    """Bring the magnitudes of all assessors onto one scale, and write them for other tools."""
    from qrowd.reports.magnitude import normalised

    deliver(normalised(_magnitudes(data, gold, checks, by), standardise=standardise), output)


def _magnitudes(
    data: options.Data,
    gold: str | None,
    checks: str | None,
    by: Literal["unit", "assessor"] | None,
    runs: options.Runs | options.MaybeRuns = options.NO_RUNS,
    *,
    n_resamples: int = 1000,
    seed: int = 1,
) -> Any:
    """The magnitudes as written, and what they are compared with."""
    from qrowd import files
    from qrowd.reports.magnitude_data import magnitude_data

    # As written, and not in slots, which have no units; alpha alone takes slots.
    judgments, names = replace(data, slots=None).read_with(gold=gold, normalise=False)
    return magnitude_data(
        judgments,
        names.get("gold"),
        runs.read(data),
        checks=None if checks is None else files.read_checks(checks),
        scheme=data.normalise or "geometric-mean",
        by=by,
        n_resamples=n_resamples,
        rng=seed,
    )


magnitude = command_group(
    "Analyse magnitudes: free numbers above 0 instead of grades.",
    summary,
    distribution,
    units,
    agreement,
    effort,
    levels,
    gains,
    conflicts,
    rankings,
    normalise,
)
