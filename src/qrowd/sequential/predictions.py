"""What people would say of documents that nobody judged yet, from cheap labels, the runs, and what people said so far.

A linear mixed model of people's gains: their difference from the mean label depends on the mean label (linearly and
smoothly), on the label of each cheap assessor, on where the runs return the document, on the topic, and on the mean
label within the topic. The coefficients of each of these are random with a variance of their own. The variances start
from declared values and are estimated from the answers by maximising the marginal likelihood (Harville 1977, Maximum
likelihood approaches to variance component estimation, J. Am. Stat. Assoc. 72(358); MacKay 1992, Bayesian
interpolation, Neural Computation 4(3)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats

NO_LABELS = 0.4  # expected gain of a document without labels, as a share of the highest
# variances before the first answer, in squares of the range of gains
NOISE = 0.055  # of the error that nothing explains
DECLARED = {
    "level": 0.033,
    "mean label": 0.033,
    "smooth": 0.003,
    "labels": 0.0055,
    "runs": 0.011,
    "topic": 0.022,
    "topic x mean label": 0.003,
}
OF_LABELS = {"mean label", "smooth", "labels"}
PRIOR_N = 4.0  # coefficients, or judgments, that a declared variance counts for
N_STEPS = 12  # of the maximisation; further ones change the expected gains by less than the answers do
N_LATER = 4  # with the noise of each document
SHAPE, SHAPE_N = 0.75, 5.0  # how much the noise depends on the expected gain, and the weight of this declaration
MOST = 0.85  # of that dependence
MOST_LEVERAGE = 0.99  # of a judgment on its own prediction
CENTRES = np.linspace(-1.5, 2.5, 6)  # of the smooth functions of the mean label, in its standard deviations
WIDTH = 0.5  # of each, as a variance


@dataclass(frozen=True, eq=False)
class LabelFeatures:
    """Labels of cheap assessors, standardised; they stay the same from answer to answer.

    standardised : (documents, assessors) labels, the mean where an assessor did not judge. mean : (documents,) mean
    label as a share of the highest, `NO_LABELS` where there is none.
    """

    standardised: Floats
    mean: Floats


@dataclass(frozen=True, eq=False)
class Features:
    """What the model reads of documents.

    dense : (documents, columns), in parts. parts : name and number of columns of each. topic : (documents,) codes from
    0. slope : (documents,) standardised mean label, 0 where there are no labels. start : (documents,) expected gain
    before the first answer, as a share of the highest.
    """

    dense: Floats
    parts: tuple[tuple[str, int], ...]
    topic: NDArray[np.int64]
    slope: Floats
    start: Floats

    @property
    def n_topics(self) -> int:
        return int(self.topic.max(initial=-1)) + 1

    @property
    def has_labels(self) -> bool:
        return any(name in OF_LABELS for name, _ in self.parts)

    @cached_property
    def without_labels(self) -> Features:
        """The features without those of labels."""
        kept = np.concatenate([np.full(n, name not in OF_LABELS) for name, n in self.parts])
        parts = tuple((name, n) for name, n in self.parts if name not in OF_LABELS)
        start = np.full_like(self.start, NO_LABELS)
        return Features(self.dense[:, kept], parts, self.topic, np.zeros_like(self.slope), start)

    def rows(self, documents: NDArray[np.integer]) -> Floats:
        """(rows, coefficients) of some documents: dense columns, topics, topics x mean label."""
        one_hot = (self.topic[documents, None] == np.arange(self.n_topics)).astype(np.float64)
        return np.hstack([self.dense[documents], one_hot, one_hot * self.slope[documents, None]])


@dataclass(frozen=True, eq=False)
class Predictions:
    """Expected gains.

    expected : (documents,) of a judged document without its own judgment. spread : (documents,) standard deviation of
    the error. variances : of the coefficients of each part of the model and of the noise, in squares of gains.
    features : that were read. coefficients, posterior : of the model, for gains as shares of their range, and their
    covariance.
    """

    expected: Floats
    spread: Floats
    variances: dict[str, float]
    features: Features
    coefficients: Floats
    posterior: Floats


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
    return LabelFeatures(np.where(present, standard, mean[:, None]), plain)


def features_of(labels: LabelFeatures, topics: NDArray[np.integer], retrieved: Floats) -> Features:
    """What the model reads: labels, topics, and where the runs return the documents.

    topics : (documents,) codes. retrieved : (documents, columns) numbers about the ranks; there may be none.
    """
    n = labels.mean.size
    parts: dict[str, Floats] = {"level": np.ones((n, 1))}
    slope = _standardised(labels.mean[:, None])[:, 0]
    if labels.standardised.shape[1]:
        smooth = np.exp(-((slope[:, None] - CENTRES) ** 2) / (2 * WIDTH))
        parts |= {"mean label": slope[:, None], "smooth": smooth - smooth.mean(axis=0), "labels": labels.standardised}
    if retrieved.shape[1]:
        parts["runs"] = _standardised(retrieved)
    return Features(
        np.hstack(list(parts.values())),
        tuple((name, part.shape[1]) for name, part in parts.items()),
        np.unique(topics, return_inverse=True)[1].astype(np.int64),
        slope,
        labels.mean,
    )


def predict_gains(features: Features, gains: Floats, *, lowest: float, highest: float) -> Predictions:
    """Expected gains of documents from their features and the gains known so far.

    gains : (documents,) of people, nan where not judged. lowest, highest : possible gain. Labels are not read where
    judged documents are predicted better without them, each without its own judgment: useless labels cost nothing then.
    """
    with_labels, squares = _predicted(features, gains, lowest, highest)
    if features.has_labels:
        without, squares_without = _predicted(features.without_labels, gains, lowest, highest)
        if squares_without < squares:
            return without
    return with_labels


def _predicted(features: Features, gains: Floats, lowest: float, highest: float) -> tuple[Predictions, float]:
    """Predictions, and the sum of squared errors of judged documents, each predicted without its own judgment."""
    judged = np.flatnonzero(~np.isnan(gains))
    span = highest - lowest
    names, group, declared = _groups(features)
    known = features.rows(judged)
    error = (gains[judged] - lowest) / span - features.start[judged]
    start = declared, NOISE
    relative = np.ones(gains.size)  # variance of the noise of each document over the mean one
    for steps in (N_STEPS, N_LATER):
        root = np.sqrt(relative[judged])
        variances, noise, posterior = _fitted(known / root[:, None], error / root, group, declared, start, steps)
        coefficients = posterior @ (known.T @ (error / relative[judged])) / noise
        of_judged = ((known @ posterior) * known).sum(axis=1)
        others = 1 / (1 - np.minimum(of_judged / (noise * relative[judged]), MOST_LEVERAGE))
        residual = (error - known @ coefficients) * others  # without the document's own judgment
        correction = _product(features, coefficients)
        correction[judged] = error - residual
        expected = np.clip(features.start + correction, 0.0, 1.0)
        if steps == N_STEPS:
            relative = _relative_noise(expected, judged, residual)
            start = variances, noise
    values = dict(zip(names, (variances * span**2).tolist(), strict=True)) | {"noise": noise * span**2}
    variance = np.maximum(_quadratic(features, posterior), 0.0)
    variance[judged] = of_judged * others
    spread = span * np.sqrt(noise * relative + variance)
    result = Predictions(lowest + span * expected, spread, values, features, coefficients, posterior)
    return result, float(((gains[judged] - result.expected[judged]) ** 2).sum())


def simulated_gains(
    predictions: Predictions, gains: Floats, n: int, *, levels: Floats, rng: np.random.Generator
) -> Floats:
    """(n, documents) gains that people might give, by the coefficients' distribution; those that are judged stay.

    levels : possible gains, ascending. An expected gain between two levels is one of them, with the probability that
    keeps its mean.
    """
    features, root = predictions.features, np.linalg.cholesky(predictions.posterior)
    coefficients = predictions.coefficients + rng.normal(size=(n, root.shape[0])) @ root.T
    shares = np.array([features.start + _product(features, one) for one in coefficients])
    expected = levels[0] + (levels[-1] - levels[0]) * np.clip(shares, 0.0, 1.0)
    below = np.clip(np.searchsorted(levels, expected, side="right") - 1, 0, levels.size - 2)
    step = (expected - levels[below]) / (levels[below + 1] - levels[below])
    drawn = np.where(rng.random(step.shape) < step, levels[below + 1], levels[below])
    return np.where(np.isnan(gains), drawn, gains)


def _relative_noise(expected: Floats, judged: NDArray[np.int64], residual: Floats) -> Floats:
    """(documents,) variance of the noise over its mean: smaller near the lowest and the highest gain.

    1 - c + c q, q being u (1 - u) over its mean for the expected share u, and c the slope of the squared residuals,
    shrunk towards `SHAPE`.
    """
    bow = expected * (1 - expected)
    middle = bow[judged].mean() if judged.size else 1 / 6
    q = bow / max(middle, 1e-3)
    of_answers = q[judged] - 1
    squares = residual**2
    deviation = squares / squares.mean() - 1 if squares.sum() > 0 else np.zeros(0)
    slope = (deviation @ of_answers + SHAPE * SHAPE_N if deviation.size else SHAPE * SHAPE_N) / (
        of_answers @ of_answers + SHAPE_N
    )
    c = float(np.clip(slope, 0.0, MOST))
    return np.asarray(1 - c + c * q)


def _fitted(
    known: Floats,
    error: Floats,
    group: NDArray[np.int64],
    declared: Floats,
    start: tuple[Floats, float],
    steps: int,
) -> tuple[Floats, float, Floats]:
    """(groups,) variances of the coefficients, the variance of the noise, and the posterior covariance.

    known : (answers, coefficients). error : (answers,). group : (coefficients,) the group of each. start : variances.
    """
    sizes = np.bincount(group)
    squares, products = known.T @ known, known.T @ error
    variances, noise = start
    for step in range(steps):
        posterior = np.linalg.inv(squares / noise + np.diag(1 / variances[group]))
        if step == steps - 1 or not error.size:
            break
        coefficients = posterior @ products / noise
        effective = sizes - np.bincount(group, np.diag(posterior)) / variances
        variances = (np.bincount(group, coefficients**2) + PRIOR_N * declared) / (effective + PRIOR_N)
        residual = error - known @ coefficients
        noise = (residual @ residual + PRIOR_N * NOISE) / (error.size - effective.sum() + PRIOR_N)
    return variances, float(noise), np.asarray(posterior, np.float64)


def _groups(features: Features) -> tuple[list[str], NDArray[np.int64], Floats]:
    """The names of the groups of coefficients, (coefficients,) the group of each, and (groups,) declared variances."""
    parts = [*features.parts, ("topic", features.n_topics), ("topic x mean label", features.n_topics)]
    names = [name for name, _ in parts]
    sizes = [n for _, n in parts]
    shared = {"labels", "runs"}  # whose declared variance all columns share
    declared = [DECLARED[name] / (n if name in shared else 1) for name, n in parts]
    return names, np.repeat(np.arange(len(parts)), sizes), np.array(declared)


def _product(features: Features, coefficients: Floats) -> Floats:
    """(documents,) product of all rows with coefficients."""
    k, n = features.dense.shape[1], features.n_topics
    of_topic, of_slope = coefficients[k : k + n], coefficients[k + n :]
    return np.asarray(
        features.dense @ coefficients[:k] + of_topic[features.topic] + of_slope[features.topic] * features.slope
    )


def _quadratic(features: Features, matrix: Floats) -> Floats:
    """(documents,) quadratic form of each row in a symmetric matrix."""
    dense, slope, topic = features.dense, features.slope, features.topic
    k, n = dense.shape[1], features.n_topics
    levels, tilts = slice(k, k + n), slice(k + n, None)
    row = np.arange(topic.size)
    result = np.einsum("ij,ij->i", dense @ matrix[:k, :k], dense)
    result += 2 * ((dense @ matrix[:k, levels])[row, topic] + (dense @ matrix[:k, tilts])[row, topic] * slope)
    of_levels, of_both, of_tilts = (
        np.diag(one)[topic] for one in (matrix[levels, levels], matrix[levels, tilts], matrix[tilts, tilts])
    )
    return np.asarray(result + of_levels + 2 * of_both * slope + of_tilts * slope**2)


def _standardised(columns: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1, or 0 where all values are the same."""
    sd = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(sd > 1e-12, sd, 1.0))
