"""What people would say of documents that nobody judged yet, from cheap labels, the runs, and what people said so far.

A linear mixed model of people's gains: their difference from the mean label depends on the mean label (linearly and
smoothly), on the label of each cheap assessor, on where the runs return the document, on the topic, and on the mean
label within the topic. All coefficients are random, with a variance for each part of them, which starts from a
declared value and is estimated by maximising the marginal likelihood of the answers (Harville 1977, Maximum likelihood
approaches to variance component estimation, J. Am. Stat. Assoc. 72(358); MacKay 1992, Bayesian interpolation, Neural
Computation 4(3)). Coefficients of different topics depend on each other only through the shared ones, so that the
equations are solved topic by topic (Schur complement): the cost grows linearly with the topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats


@dataclass(frozen=True, eq=False)
class Rows:
    """Documents as the model reads them.

    dense : (rows, columns) shared by all topics. topic : (rows,) codes. slope : (rows,) of which each topic has a
    coefficient, beside its level.
    """

    dense: Floats
    topic: NDArray[np.int64]
    slope: Floats

    def some(self, rows: NDArray[np.integer]) -> Rows:
        """Some of the rows."""
        return Rows(self.dense[rows], self.topic[rows], self.slope[rows])


@dataclass(frozen=True, eq=False)
class Posterior:
    """Normal distribution of the coefficients after the answers.

    mean, covariance : (columns,) and (columns, columns) of the shared ones. of_topics : (topics, 2) means of level and
    slope. loadings : (topics, 2, columns) by which they fall with the errors of the shared ones. own : (topics, 2, 2)
    covariance given the shared ones.
    """

    mean: Floats
    covariance: Floats
    of_topics: Floats
    loadings: Floats
    own: Floats

    def expected(self, rows: Rows) -> Floats:
        """(rows,) expected values."""
        return _values(rows, self.mean, self.of_topics)

    def variances(self, rows: Rows) -> Floats:
        """(rows,) variance of each row's expected value."""
        topic, slope = rows.topic, rows.slope
        left = rows.dense - self.loadings[topic, 0] - slope[:, None] * self.loadings[topic, 1]
        own = self.own[topic]
        of_topics = own[:, 0, 0] + 2 * slope * own[:, 0, 1] + slope**2 * own[:, 1, 1]
        return np.asarray(np.einsum("ij,ij->i", left @ self.covariance, left) + of_topics)

    def draws(self, rows: Rows, n: int, rng: np.random.Generator) -> Floats:
        """(n, rows) values by coefficients drawn from their distribution."""
        shared = rng.normal(size=(n, self.mean.size)) @ np.linalg.cholesky(self.covariance).T
        roots = np.linalg.cholesky(self.own)
        own = np.einsum("tab,ntb->nta", roots, rng.normal(size=(n, len(roots), 2)))
        of_topics = self.of_topics + own - np.einsum("tak,nk->nta", self.loadings, shared)
        values = (self.mean + shared) @ rows.dense.T
        values += of_topics[:, rows.topic, 0]
        values += of_topics[:, rows.topic, 1] * rows.slope
        return np.asarray(values)


@dataclass(frozen=True, eq=False)
class Fit:
    """variances : of the parts, the last two being levels and slopes of topics. noise : variance of the errors."""

    variances: Floats
    noise: float
    posterior: Posterior


def fit_mixed_model(
    rows: Rows,
    values: Floats,
    relative: Floats,
    *,
    sizes: Sequence[int],
    n_topics: int,
    declared: Floats,
    declared_noise: float,
    prior_n: float,
    n_steps: int,
    start: Fit | None = None,
) -> Fit:
    """Estimate the variances and the coefficients.

    values : (rows,). relative : (rows,) variance of each error over `noise`. sizes : columns of each part. declared :
    (parts + 2,) variances that count for `prior_n` coefficients, and `declared_noise` for as many values. n_steps : of
    the maximisation. start : variances to begin with; default: the declared ones.
    """
    moments = _moments(rows, values, 1 / relative, n_topics)
    part = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.array([*sizes, n_topics, n_topics], np.float64)
    variances, noise = (declared, declared_noise) if start is None else (start.variances, start.noise)
    for step in range(n_steps):
        posterior = _posterior(moments, variances[part], variances[-2:], noise)
        if step == n_steps - 1 or not values.size:
            break
        marginal = posterior.own + posterior.loadings @ posterior.covariance @ posterior.loadings.transpose(0, 2, 1)
        traces = [*np.bincount(part, np.diag(posterior.covariance)), marginal[:, 0, 0].sum(), marginal[:, 1, 1].sum()]
        squares = [*np.bincount(part, posterior.mean**2), *(posterior.of_topics**2).sum(axis=0)]
        effective = counts - np.array(traces) / variances
        variances = (np.array(squares) + prior_n * declared) / (effective + prior_n)
        errors = values - posterior.expected(rows)
        noise = (errors**2 @ (1 / relative) + prior_n * declared_noise) / (values.size - effective.sum() + prior_n)
    return Fit(variances, float(noise), posterior)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Sums over the rows: of products of shared columns, of these with level and slope of topics, and of the values."""

    shared: Floats  # (columns, columns)
    crossed: Floats  # (topics, 2, columns)
    within: Floats  # (topics, 2, 2)
    values: Floats  # (columns,)
    values_within: Floats  # (topics, 2)


def _moments(rows: Rows, values: Floats, weight: Floats, n_topics: int) -> _Moments:
    weighted = rows.dense * weight[:, None]
    units = np.stack([np.ones_like(rows.slope), rows.slope], axis=1)
    crossed = np.zeros((n_topics, 2, rows.dense.shape[1]))
    np.add.at(crossed, rows.topic, units[:, :, None] * weighted[:, None, :])
    within = np.zeros((n_topics, 2, 2))
    np.add.at(within, rows.topic, weight[:, None, None] * units[:, :, None] * units[:, None, :])
    values_within = np.zeros((n_topics, 2))
    np.add.at(values_within, rows.topic, (weight * values)[:, None] * units)
    return _Moments(weighted.T @ rows.dense, crossed, within, weighted.T @ values, values_within)


def _posterior(moments: _Moments, shared: Floats, of_topics: Floats, noise: float) -> Posterior:
    """The distribution of the coefficients. shared : (columns,) variances. of_topics : of levels and slopes."""
    own = np.linalg.inv(moments.within / noise + np.diag(1 / of_topics)).astype(np.float64)
    crossed = moments.crossed / noise
    loadings = own @ crossed
    precision = moments.shared / noise + np.diag(1 / shared) - np.tensordot(crossed, loadings, ((0, 1), (0, 1)))
    covariance = np.linalg.inv(precision).astype(np.float64)
    alone = np.einsum("tab,tb->ta", own, moments.values_within / noise)
    mean = covariance @ (moments.values / noise - np.einsum("tak,ta->k", crossed, alone))
    return Posterior(mean, covariance, alone - loadings @ mean, loadings, own)


def _values(rows: Rows, shared: Floats, of_topics: Floats) -> Floats:
    """(rows,) by shared coefficients and those of topics."""
    own = of_topics[rows.topic]
    return np.asarray(rows.dense @ shared + own[:, 0] + own[:, 1] * rows.slope)


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
OF_TOPICS = ["topic", "topic x mean label"]
SHARED_VARIANCE = {"labels", "runs"}  # parts whose declared variance all columns share
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
    label as a share of the highest, `NO_LABELS` where there is none. labelled : (documents,) whether there is one.
    """

    standardised: Floats
    mean: Floats
    labelled: NDArray[np.bool_]


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

    @property
    def rows(self) -> Rows:
        return Rows(self.dense, self.topic, self.slope)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Expected gains.

    expected : (documents,) of a judged document without its own judgment. spread : (documents,) standard deviation of
    the error. noise : variance of the error that nothing explains. features : that were read. fit : of gains as shares
    of their range.
    """

    expected: Floats
    spread: Floats
    noise: float
    features: Features
    fit: Fit


def label_features(labels: Floats) -> LabelFeatures:
    """The features of labels, (documents, assessors) shares of what is highest on their scales, nan where missing."""
    n, m = labels.shape
    if m == 0:
        return LabelFeatures(np.zeros((n, 0)), np.full(n, NO_LABELS), np.zeros(n, bool))
    present = ~np.isnan(labels)
    counts = present.sum(axis=1)
    plain = np.where(counts > 0, np.where(present, labels, 0.0).sum(axis=1) / np.maximum(counts, 1), NO_LABELS)
    centre = np.where(present.any(axis=0), np.nansum(labels, axis=0) / np.maximum(present.sum(axis=0), 1), 0.0)
    deviations = np.where(present, labels - centre, 0.0)
    scale = np.sqrt((deviations**2).sum(axis=0) / np.maximum(present.sum(axis=0), 1))
    standard = np.where(present, deviations / np.where(scale > 0, scale, 1.0), np.nan)
    mean = np.where(counts > 0, np.where(present, standard, 0.0).sum(axis=1) / np.maximum(counts, 1), 0.0)
    return LabelFeatures(np.where(present, standard, mean[:, None]), plain, counts > 0)


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
    judged, span = np.flatnonzero(~np.isnan(gains)), highest - lowest
    shares = (gains[judged] - lowest) / span
    fitted = _fitted(features, judged, shares)
    if features.has_labels:
        without = _fitted(features.without_labels, judged, shares)
        if ((shares - without.last.expected) ** 2).sum() < ((shares - fitted.last.expected) ** 2).sum():
            features, fitted = features.without_labels, without
    fit = fitted.last.fit
    relative = _relative_noise(fitted.first.of_all(features, judged), fitted.shape)
    variance = fit.posterior.variances(features.rows)
    variance[judged] = fitted.last.variance
    return Predictions(
        lowest + span * fitted.last.of_all(features, judged),
        span * np.sqrt(fit.noise * relative + variance),
        fit.noise * span**2,
        features,
        fit,
    )


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """A fit, and for each judged document its expected share, the error and its variance, without its own judgment."""

    fit: Fit
    expected: Floats
    residual: Floats
    variance: Floats

    @classmethod
    def of(cls, fit: Fit, features: Features, judged: NDArray[np.int64], shares: Floats, relative: Floats) -> _LeftOut:
        known, error = features.rows.some(judged), shares - features.start[judged]
        variance = fit.posterior.variances(known)
        others = 1 / (1 - np.minimum(variance / (fit.noise * relative), MOST_LEVERAGE))
        residual = (error - fit.posterior.expected(known)) * others
        return cls(fit, np.clip(shares - residual, 0.0, 1.0), residual, variance * others)

    def of_all(self, features: Features, judged: NDArray[np.int64]) -> Floats:
        """(documents,) expected shares."""
        expected = np.clip(features.start + self.fit.posterior.expected(features.rows), 0.0, 1.0)
        expected[judged] = self.expected
        return expected


@dataclass(frozen=True, eq=False)
class _Fitted:
    """first : with the same noise for all documents. shape : of the noise after it. last : with this noise."""

    first: _LeftOut
    shape: tuple[float, float]
    last: _LeftOut


def _fitted(features: Features, judged: NDArray[np.int64], shares: Floats) -> _Fitted:
    """The model of the judged documents. shares : (judged,) gains as shares of their range."""
    known, error = features.rows.some(judged), shares - features.start[judged]
    declared = [DECLARED[name] / (n if name in SHARED_VARIANCE else 1) for name, n in features.parts]

    def fit(relative: Floats, n_steps: int, start: Fit | None) -> _LeftOut:
        result = fit_mixed_model(
            known,
            error,
            relative,
            sizes=[n for _, n in features.parts],
            n_topics=features.n_topics,
            declared=np.array([*declared, *(DECLARED[name] for name in OF_TOPICS)]),
            declared_noise=NOISE,
            prior_n=PRIOR_N,
            n_steps=n_steps,
            start=start,
        )
        return _LeftOut.of(result, features, judged, shares, relative)

    first = fit(np.ones(judged.size), N_STEPS, None)
    shape = _noise_shape(first)
    return _Fitted(first, shape, fit(_relative_noise(first.expected, shape), N_LATER, first.fit))


def simulated_gains(
    predictions: Predictions,
    gains: Floats,
    n: int,
    *,
    levels: Floats,
    rng: np.random.Generator,
    topic_sd: float = 0.0,
) -> Floats:
    """(n, documents) gains that people might give, by the coefficients' distribution; those that are judged stay.

    levels : possible gains, ascending. An expected gain between two levels is one of them, with the probability that
    keeps its mean. topic_sd : standard deviation of the logarithm of a factor, with mean 1, of all gains of a topic.
    """
    features = predictions.features
    shares = features.start + predictions.fit.posterior.draws(features.rows, n, rng)
    factors = np.exp(topic_sd * rng.normal(size=(n, features.n_topics)) - topic_sd**2 / 2)
    shares = np.clip(np.clip(shares, 0.0, 1.0) * factors[:, features.topic], 0.0, 1.0)
    expected = levels[0] + (levels[-1] - levels[0]) * shares
    below = np.clip(np.searchsorted(levels, expected, side="right") - 1, 0, levels.size - 2)
    step = (expected - levels[below]) / (levels[below + 1] - levels[below])
    drawn = np.where(rng.random(step.shape) < step, levels[below + 1], levels[below])
    return np.where(np.isnan(gains), drawn, gains)


def _noise_shape(fit: _LeftOut) -> tuple[float, float]:
    """The mean of u (1 - u) over the judged documents, u being the expected share, and how the noise depends on it.

    That is the slope of the squared errors, over their mean, on u (1 - u) over its mean, shrunk towards `SHAPE`.
    """
    if not fit.expected.size:
        return 1 / 6, SHAPE
    bow = fit.expected * (1 - fit.expected)
    middle = max(float(bow.mean()), 1e-3)
    deviation, squares = bow / middle - 1, fit.residual**2
    relative = squares / squares.mean() - 1 if squares.any() else np.zeros(squares.size)
    slope = (relative @ deviation + SHAPE * SHAPE_N) / (deviation @ deviation + SHAPE_N)
    return middle, float(np.clip(slope, 0.0, MOST))


def _relative_noise(expected: Floats, shape: tuple[float, float]) -> Floats:
    """(documents,) variance of the noise over its mean: smaller near the lowest and the highest gain."""
    middle, slope = shape
    return np.asarray(1 - slope + slope * expected * (1 - expected) / middle)


def _standardised(columns: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1, or 0 where all values are the same."""
    sd = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(sd > 1e-12, sd, 1.0))
