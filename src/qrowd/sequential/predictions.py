"""What people would say of documents that nobody judged yet, from cheap labels and from what people said so far.

Ridge regression of people's gains on the labels of each cheap assessor, on their mean, and on the topic: assessors are
stricter in some topics than in others. Coefficients shrink towards what was declared before the first answer. The
predictions are a mean over penalties, and over using the labels at all or not, weighted by the likelihood of their
leave-one-out errors: choosing one of them predicts worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats

FEWEST = 6  # judgments, before which what was declared is used as it is
PENALTIES = (30.0, 100.0, 300.0)  # of the coefficient of a cheap assessor, in variances of the error
TOPIC_PENALTIES = (1.0, 2.0, 8.0)
PRIOR_N = 5.0  # judgments that the declared variance counts for
NO_LABELS = 0.4  # expected gain of a document without labels, as a share of the highest


@dataclass(frozen=True, eq=False)
class Predictions:
    """Expected gains.

    expected : (documents,) of a judged document without its own judgment. spread : (documents,) standard deviation of
    the error. penalties : of the labels (inf where they are not used) and of the topics, those
    with the largest weight.
    """

    expected: Floats
    spread: Floats
    penalties: tuple[float, float]


@dataclass(frozen=True, eq=False)
class LabelFeatures:
    """Labels of cheap assessors as a regression reads them; they stay the same from answer to answer.

    standardised : (documents, assessors + 1) labels and their mean, none without assessors. mean : (documents,) mean
    label, .4 where there is none.
    """

    standardised: Floats
    mean: Floats


def predict_gains(
    labels: Floats | LabelFeatures, topics: NDArray[np.integer], gains: Floats, *, lowest: float, highest: float
) -> Predictions:
    """Expected gains of documents from labels, topics and the gains known so far.

    labels : (documents, assessors) gains of cheap assessors as shares of what is highest on their scales, nan where
    they did not judge, or their features; there may be no assessor. topics : (documents,) codes. gains : (documents,)
    of people, nan where not judged. lowest, highest : possible gain.
    """
    of_labels = labels if isinstance(labels, LabelFeatures) else label_features(labels)
    n = of_labels.mean.size
    judged = np.flatnonzero(~np.isnan(gains))
    declared = ((highest - lowest) / 3.6) ** 2
    start = lowest + (highest - lowest) * of_labels.mean
    if judged.size < FEWEST:
        return Predictions(np.clip(start, lowest, highest), np.full(n, np.sqrt(declared)), (np.nan, np.nan))
    names, code = np.unique(topics, return_inverse=True)
    limits = (lowest, highest)
    no_labels = np.full(n, lowest + (highest - lowest) * NO_LABELS)
    fits = [_ridge(np.zeros((n, 0)), code, names.size, gains, no_labels, judged, (np.inf,), limits)]
    if of_labels.standardised.shape[1]:
        fits.append(_ridge(of_labels.standardised, code, names.size, gains, start, judged, PENALTIES, limits))
    squares = np.concatenate([fit[0] for fit in fits])
    chance = np.exp((squares.min() - squares) / (2 * (squares.min() / judged.size + 1e-12)))
    expected = (chance / chance.sum()) @ np.concatenate([fit[1] for fit in fits])
    penalties = [pair for fit in fits for pair in fit[2]][int(np.argmin(squares))]
    variance = (((gains[judged] - expected[judged]) ** 2).sum() + PRIOR_N * declared) / (judged.size + PRIOR_N)
    return Predictions(expected, np.full(n, np.sqrt(variance)), penalties)


def _ridge(
    features: Floats,
    topic: NDArray[np.integer],
    n_topics: int,
    gains: Floats,
    start: Floats,
    judged: NDArray[np.integer],
    penalties: tuple[float, ...],
    limits: tuple[float, float],
) -> tuple[Floats, Floats, list[tuple[float, float]]]:
    """(penalties,) leave-one-out sums of squares, (penalties, documents) expected gains, and the penalties."""
    n_labels = features.shape[1]
    one_hot = (topic[judged, None] == np.arange(n_topics)).astype(np.float64)
    known = np.hstack([np.ones((judged.size, 1)), features[judged], one_hot])
    error = gains[judged] - start[judged]
    pairs = list(product(penalties, TOPIC_PENALTIES))
    diagonal = np.full((len(pairs), known.shape[1]), 2.0)
    for row, (of_labels, of_topics) in zip(diagonal, pairs, strict=True):
        if n_labels:
            row[1:n_labels], row[n_labels] = of_labels, of_labels / 10
        row[1 + n_labels :] = of_topics
    inverses = np.linalg.inv(known.T @ known + diagonal[:, :, None] * np.eye(known.shape[1]))
    coefficients = inverses @ (known.T @ error)
    leverages = ((known @ inverses) * known).sum(axis=2)
    residuals = (error - coefficients @ known.T) / (1 - leverages)
    left_out = np.clip(gains[judged] - residuals, *limits)
    of_features, of_topic = coefficients[:, 1 : 1 + n_labels], coefficients[:, 1 + n_labels :]
    expected = start + coefficients[:, :1] + of_features @ features.T + of_topic[:, topic]
    expected = np.clip(expected, *limits)
    expected[:, judged] = left_out
    return ((gains[judged] - left_out) ** 2).sum(axis=1), expected, pairs


def label_features(labels: Floats) -> LabelFeatures:
    """The features of labels, (documents, assessors) shares of what is highest on their scales, nan where missing."""
    n, m = labels.shape
    if m == 0:
        return LabelFeatures(np.zeros((n, 0)), np.full(n, NO_LABELS))
    present = ~np.isnan(labels)
    counts = present.sum(axis=1)
    plain = np.where(counts > 0, np.where(present, labels, 0.0).sum(axis=1) / np.maximum(counts, 1), NO_LABELS)
    centre = np.where(present.any(axis=0), np.nansum(labels, axis=0) / np.maximum(present.sum(axis=0), 1), 0.0)
    deviations = np.where(present, labels - centre, 0.0)
    scale = np.sqrt((deviations**2).sum(axis=0) / np.maximum(present.sum(axis=0), 1))
    standard = np.where(present, deviations / np.where(scale > 0, scale, 1.0), np.nan)
    mean = np.where(counts > 0, np.where(present, standard, 0.0).sum(axis=1) / np.maximum(counts, 1), 0.0)
    filled = np.where(present, standard, mean[:, None])
    return LabelFeatures(np.column_stack([filled, mean]), plain)
