"""`qrowd compare`: which systems may be the best, and do assessors agree on that."""

from __future__ import annotations

from typing import Annotated, Literal

from qrowd.cli.options import (
    Baseline,
    Confidence,
    Data,
    NResamples,
    Output,
    Reference,
    Runs,
    Scoring,
    Seed,
    Systems,
    check_output,
    convention,
    deliver,
    measures,
    pair_of,
)
from qrowd.model.conventions import Conventions


def compare(
    runs: Runs,
    data: Data,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10")] = None,
    baseline: Baseline = None,
    reference: Reference = None,
    systems: Systems = None,
    zeros: Annotated[
        Literal["wilcox", "pratt", "zsplit"],
        convention(help="Topics in which two systems score the same, in Wilcoxon's test: left out, ranked, or split."),
    ] = "wilcox",
    correction: Annotated[
        Literal["holm", "none"], convention(help="Correction of the p-values of Wilcoxon top sets for multiple tests.")
    ] = "none",
    sign_ties: Annotated[
        Literal["ignore", "half", "agree"],
        convention(help="Equal scores in the agreement of signs: left out, half an agreement, or an agreement."),
    ] = "ignore",
    conventions: Scoring = Conventions(),
    n_resamples: NResamples = 10_000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
    output: Output = None,
) -> None:
    """Show which systems may be the best, and whether the assessors agree on that."""
    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.evaluation import measure as parse
    from qrowd.reports.comparison import compare as compare_systems

    # What can be wrong without reading a file is said before any file is read.
    parsed = [parse(text) for text in measure or ["nDCG@10"]]
    pair = pair_of(systems)
    check_output(output)
    judgments = data.read()
    with progress("scoring") as advance:
        comparison = compare_systems(
            files.read_runs(runs),
            judgments,
            parsed,
            conventions=conventions,
            baseline=baseline,
            reference=reference,
            systems=pair,
            zeros=zeros,
            correction=correction,
            sign_ties=sign_ties,
            confidence=confidence,
            n_resamples=n_resamples,
            rng=seed,
            progress=advance,
        )
    deliver(comparison.to_document(), output)
