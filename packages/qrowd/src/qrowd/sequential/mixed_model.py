"""A linear mixed model: columns that all documents share, and a level and a slope of each topic.

All coefficients are random, with a variance for each part of them; the variances are estimated by maximising the
marginal likelihood (Harville 1977, Maximum likelihood approaches to variance component estimation, J. Am. Stat. Assoc.
72(358); MacKay 1992, Bayesian interpolation, Neural Computation 4(3)). Coefficients of different topics depend on each
other only through the shared ones, so that the equations are solved topic by topic (Schur complement): the cost grows
linearly with the topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        marginal = posterior.own + np.einsum(
            "tak,kl,tbl->tab", posterior.loadings, posterior.covariance, posterior.loadings
        )
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
    own: Floats = np.linalg.inv(moments.within / noise + np.diag(1 / of_topics)).astype(np.float64)
    loadings = own @ (moments.crossed / noise)
    precision = moments.shared / noise + np.diag(1 / shared)
    precision -= np.einsum("tak,tal->kl", moments.crossed / noise, loadings)
    covariance: Floats = np.linalg.inv(precision).astype(np.float64)
    alone = np.einsum("tab,tb->ta", own, moments.values_within / noise)
    mean = covariance @ (moments.values / noise - np.einsum("tak,ta->k", moments.crossed / noise, alone))
    return Posterior(mean, covariance, alone - loadings @ mean, loadings, own)


def _values(rows: Rows, shared: Floats, of_topics: Floats) -> Floats:
    """(rows,) by shared coefficients and those of topics."""
    own = of_topics[rows.topic]
    return np.asarray(rows.dense @ shared + own[:, 0] + own[:, 1] * rows.slope)
