"""`qrowd agree`: how far assessors agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.options import (
    DATABASE,
    Campaign,
    CombineScales,
    Database,
    Level,
    MaybeJudgmentFiles,
    Output,
    Recode,
    Repeats,
    Scales,
    Who,
    check_output,
    deliver,
    read_judgments,
)

if TYPE_CHECKING:
    from qrowd.agreement.pairwise import PairwiseAgreement
    from qrowd.model.judgments import Judgments


def agree(
    judgments: MaybeJudgmentFiles = None,
    level: Level = None,
    by_topic: Annotated[bool, typer.Option("--by-topic", help="Also one alpha per topic.")] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="Replicates for the interval; 0 for none.")] = 1000,
    resample: Annotated[
        str, typer.Option(help="Draw topics | documents, or deviations (Hayes & Krippendorff).")
    ] = "topics",
    slots: Annotated[int | None, typer.Option(help="Only the first N judgments of each document.")] = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    seed: Annotated[int, typer.Option(min=0, help="The same number draws the same replicates.")] = 1,
    output: Output = None,
    campaign: Campaign = None,
    database: Database = DATABASE,
    assessor: Who = "file",
    recode: Recode = None,
    scale: Scales = None,
) -> None:
    """How far do the assessors agree: Krippendorff's alpha, and Cohen's kappa of every two."""
    from qrowd.agreement.alpha import Options, krippendorff_alpha
    from qrowd.agreement.reliability import unlike_at
    from qrowd.reports.agreement import agreement_document
    from qrowd.reports.scales import stated, what_was_done

    check_output(output)
    given = read_judgments(judgments, assessor, recode, scale, campaign=campaign, database=database)
    options = Options(
        bootstrap=bootstrap,
        resample=resample,  # type: ignore[typeddict-item]
        slots=slots,
        repeats=repeats,  # type: ignore[typeddict-item]
        rng=seed,
        combine_scales=combine_scales,  # type: ignore[typeddict-item]
    )
    overall = krippendorff_alpha(given, level, **options)  # type: ignore[arg-type]
    topics = krippendorff_alpha(given, level, by="topic", **options) if by_topic else None  # type: ignore[arg-type]
    unlike = {"alpha": unlike_at(overall.level if level else None), "kappa": "relevant"}
    done = what_was_done(given.scales, combine_scales, unlike)  # type: ignore[arg-type]
    document = agreement_document(overall, topics, pairs_of(given, repeats, combine_scales))
    deliver(stated(document, given, done), output)


def pairs_of(judgments: Judgments, repeats: str, combine_scales: str) -> PairwiseAgreement | None:
    """Agreement of every two assessors; None where kappa says nothing: free numbers, or no shared document."""
    from qrowd.agreement.pairwise import pairwise_agreement
    from qrowd.errors import NoOverlapError

    if any(scale.kind == "magnitude" for scale in judgments.scales):
        return None
    try:
        return pairwise_agreement(judgments, repeats=repeats, combine_scales=combine_scales)  # type: ignore[arg-type]
    except NoOverlapError:
        return None
