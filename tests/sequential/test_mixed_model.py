"""The mixed model beside the equations written out, with all coefficients in one matrix."""

from __future__ import annotations

import numpy as np
import pytest

from qrowd.kernels.arrays import Floats
from qrowd.sequential.predictions import Fit, Rows, fit_mixed_model

DECLARED = np.array([0.5, 0.2, 0.3, 0.1])  # of two parts, levels and slopes


def rows_of(n: int, rng: np.random.Generator) -> Rows:
    return Rows(rng.normal(size=(n, 5)), rng.integers(0, 6, n), rng.normal(size=n))


def fitted(rows: Rows, values: Floats, relative: Floats, n_steps: int = 1) -> Fit:
    return fit_mixed_model(
        rows,
        values,
        relative,
        sizes=[2, 3],
        n_topics=6,
        declared=DECLARED,
        declared_noise=0.4,
        prior_n=4.0,
        n_steps=n_steps,
    )


def written_out(rows: Rows) -> Floats:
    """(rows, coefficients)."""
    one_hot = (rows.topic[:, None] == np.arange(6)).astype(float)
    return np.hstack([rows.dense, one_hot, one_hot * rows.slope[:, None]])


@pytest.mark.parametrize("n", [0, 4, 60])
def test_topic_by_topic_is_the_solution_of_all_equations_at_once(n: int) -> None:
    rng = np.random.default_rng(1)
    known, others = rows_of(n, rng), rows_of(20, rng)
    values, relative = rng.normal(size=n), rng.uniform(0.3, 2, n)
    fit = fitted(known, values, relative)
    matrix, prior = written_out(known), np.repeat(DECLARED, [2, 3, 6, 6])
    covariance = np.linalg.inv((matrix.T / (0.4 * relative)) @ matrix + np.diag(1 / prior))
    mean = covariance @ (matrix.T @ (values / (0.4 * relative)))
    new = written_out(others)
    np.testing.assert_allclose(fit.posterior.expected(others), new @ mean, atol=1e-12)
    np.testing.assert_allclose(fit.posterior.variances(others), ((new @ covariance) * new).sum(axis=1), atol=1e-12)


def test_variances_increase_the_marginal_likelihood() -> None:
    rng = np.random.default_rng(2)
    known = rows_of(200, rng)
    own = rng.normal(0, 1.5, 6)
    values = known.dense[:, 2:] @ np.array([0.3, -0.2, 0.1]) + own[known.topic] + rng.normal(0, 0.5, 200)

    def negative_log(fit: Fit) -> float:
        matrix, variances = written_out(known), np.repeat(fit.variances, [2, 3, 6, 6])
        covariance = (matrix * variances) @ matrix.T + fit.noise * np.eye(200)
        return float(np.linalg.slogdet(covariance)[1] + values @ np.linalg.solve(covariance, values))

    steps = [negative_log(fitted(known, values, np.ones(200), n)) for n in (1, 3, 12)]
    assert steps[2] < steps[1] < steps[0]
    assert fitted(known, values, np.ones(200), 12).noise == pytest.approx(0.25, rel=0.25)


def test_drawn_coefficients_have_their_distribution() -> None:
    rng = np.random.default_rng(3)
    known, others = rows_of(30, rng), rows_of(10, rng)
    posterior = fitted(known, rng.normal(size=30), np.ones(30)).posterior
    drawn = posterior.draws(others, 20_000, rng)
    np.testing.assert_allclose(drawn.mean(axis=0), posterior.expected(others), atol=0.03)
    np.testing.assert_allclose(drawn.var(axis=0), posterior.variances(others), rtol=0.05)
    both = drawn[:, 0] + drawn[:, 1]
    pair = Rows(others.dense[:2], others.topic[:2], others.slope[:2])
    matrix, prior = written_out(known), np.repeat(DECLARED, [2, 3, 6, 6])
    covariance = np.linalg.inv(matrix.T @ matrix / 0.4 + np.diag(1 / prior))
    total = written_out(pair).sum(axis=0)
    assert both.var() == pytest.approx(total @ covariance @ total, rel=0.05)
