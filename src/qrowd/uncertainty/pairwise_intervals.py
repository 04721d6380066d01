"""Agreement of pairs of assessors with intervals over topics: equal judgments, Cohen's kappa, Krippendorff's alpha."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from qrowd.agreement import krippendorff_alpha
from qrowd.agreement.kappa import Weights, credits, kappas
from qrowd.comparison.interval_widths import check_confidence
from qrowd.errors import NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.labels import number_of
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result
from qrowd.uncertainty.topic_jackknife import jackknife_interval, jackknife_mean


@dataclass(frozen=True, eq=False)
class PairwiseIntervals(Result):
    """Agreement of pairs of assessors on the documents both judged; arrays are (pairs,).

    first, second : names of the assessors. n_documents, n_topics : that both judged.
    agreement : share of equal judgments. kappa : Cohen's, with `weights`. alpha : Krippendorff's, at the level of the
        assessors' scale. Each with the ends of its interval over topics. Shares of equal judgments and kappa are nan
        for fractions and magnitudes, which are no categories.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    n_documents: Ints
    n_topics: Ints
    agreement: Floats
    agreement_low: Floats
    agreement_high: Floats
    kappa: Floats
    kappa_low: Floats
    kappa_high: Floats
    alpha: Floats
    alpha_low: Floats
    alpha_high: Floats
    weights: Weights | None
    confidence: float
    n_resamples: int
    seed: Seed

    _COLUMNS = (
        "first",
        "second",
        "n_documents",
        "n_topics",
        "agreement",
        "agreement_low",
        "agreement_high",
        "kappa",
        "kappa_low",
        "kappa_high",
        "alpha",
        "alpha_low",
        "alpha_high",
    )


def pairwise_intervals(
    judgments: Judgments,
    *,
    reference: str | None = None,
    weights: Weights | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    rng: Rng = None,
) -> PairwiseIntervals:
    """Agreement of each pair of assessors who judged documents in common, with intervals over topics.

    reference : only pairs with this assessor, who stands second; default: all pairs.
    weights, combine_scales : as in `cohen_kappa`, but "auto" makes unlike scales relevant or not for all three.
    confidence : of the intervals. Those of equal judgments and kappa leave out one topic at a time; that of alpha is of
        `krippendorff_alpha`, with `n_resamples` drawn by `rng`.

    Raises
    ------
    NoOverlapError
        No pair judged a document in common.
    """
    check_confidence(confidence)
    if reference is not None:
        number_of(reference, judgments.assessors, "assessor")
    one = on_one_scale(judgments, combine_scales, "relevant").single(repeats=repeats)
    panel = one.panel()
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    pairs = list(combinations(panel.assessors, 2))
    if reference is not None:
        pairs = [pair if pair[1] == reference else pair[::-1] for pair in pairs if reference in pair]
    seed = seed_of(rng)
    column = {name: panel.values[:, i] for i, name in enumerate(panel.assessors)}
    categories = not any(scale.kind in ("fractions", "magnitude") for scale in panel.scales)
    rows: list[tuple[Any, ...]] = []
    for first, second in pairs:
        both = ~np.isnan(column[first]) & ~np.isnan(column[second])
        if not both.any():
            continue
        x, y = column[first][both], column[second][both]
        of_topic = np.unique(topic[both], return_inverse=True)[1]
        shares = _agreement(x, y, of_topic, weights, confidence) if categories else (np.nan,) * 6
        alone = one.select(assessors=lambda name, pair=(first, second): name in pair)
        alpha = krippendorff_alpha(
            alone, n_resamples=n_resamples, confidence=confidence, rng=seed, combine_scales="as-is"
        ).item()
        rows.append((first, second, x.size, int(of_topic[-1]) + 1, *shares, alpha.value, alpha.low, alpha.high))
    if not rows:
        raise NoOverlapError("no pair of assessors judged a document in common, so there is no agreement to compute")
    columns: dict[str, Any] = dict(zip(PairwiseIntervals._COLUMNS, zip(*rows, strict=True), strict=True))
    numbers = {name: np.array(column) for name, column in columns.items() if name not in ("first", "second")}
    options: dict[str, Any] = {
        "weights": weights, "confidence": confidence, "n_resamples": n_resamples, "seed": seed
    }  # fmt: skip
    return PairwiseIntervals(**{**columns, **numbers, **options})


def _agreement(x: Floats, y: Floats, topic: Ints, weights: Weights | None, confidence: float) -> tuple[float, ...]:
    """Share of equal judgments and kappa, each with its interval; topic : (documents,) from 0, without gaps."""
    values, code = np.unique(np.concatenate([x, y]), return_inverse=True)
    n_topics, size = int(topic[-1]) + 1, values.size
    cell = (topic * size + code[: x.size]) * size + code[x.size :]
    counts = np.bincount(cell, minlength=n_topics * size**2).reshape(n_topics, size, size).astype(np.float64)
    n = counts.sum(axis=(1, 2))
    equal = jackknife_mean(np.trace(counts, axis1=1, axis2=2), n, confidence, bounds=(0.0, 1.0))
    credit = credits(values, weights)
    (_, _, value), (_, _, without) = kappas(counts.sum(axis=0), credit), kappas(counts.sum(axis=0) - counts, credit)
    return (
        *map(float, equal),
        float(value),
        *map(float, jackknife_interval(value, without, n, confidence, bounds=(-1.0, 1.0))),
    )
