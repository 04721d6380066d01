"""The likelihood of log-worths: stable where it is steep, and every step of it what its formula says."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import bradley_terry as oracle
from qrowd.kernels import bradley_terry as kernels
from qrowd.kernels import log_worths

etas = st.floats(-30, 30)
nus = st.sampled_from([0.0, 0.3, 2.0])


@given(etas, nus)
def test_outcomes_are_the_shares_of_three_weights(eta, nu):
    first, second, tie, log_total = kernels.outcome(eta, nu)
    total = exp(eta / 2) + exp(-eta / 2) + nu
    assert (first, second, tie) == pytest.approx((exp(eta / 2) / total, exp(-eta / 2) / total, nu / total))
    assert log_total == pytest.approx(log(total))


@pytest.mark.parametrize("eta", [1e4, -1e4])
def test_nothing_overflows_where_one_side_is_certain(eta):
    first, second, tie, log_total = kernels.outcome(eta, 1.0)
    assert (max(first, second), min(first, second), tie, log_total) == (1, 0, 0, 5000)


def some_rows(seed, n=25, n_documents=4, n_assessors=2):
    random = np.random.default_rng(seed)
    first = random.integers(n_documents - 1, size=n).astype(np.int32)
    second = (first + 1 + random.integers(n_documents - 1, size=n)).astype(np.int32) % n_documents
    keep = first != second
    side = random.choice([-1.0, 0.0, 1.0], n)
    who = random.integers(n_assessors, size=n).astype(np.int32)
    counts = random.integers(4, size=(3, n)).astype(float)
    return kernels.Rows(*(column[keep] for column in (first, second.astype(np.int32), who, side, *counts)))


def test_the_log_likelihood_is_the_oracles():
    rows = some_rows(1)
    s, r, c, theta = np.array([0.5, -1, 0.2, 0.3]), np.array([1.2, -0.4]), np.array([0.3, -0.1]), np.array([-0.7])
    data = [
        (i, j, a, x, out, n)
        for i, j, a, x, *counts in zip(*rows, strict=True)
        for out, n in zip(("one", "two", "tie"), counts, strict=True)
        if n
    ]
    wanted = -oracle.objective(data, s, r, c, -0.7, 0, 0, True)
    assert kernels.log_likelihood(rows, kernels.Parameters(s, r, c, theta)) == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(5))
def test_slopes_and_curvature_are_differences_of_the_objective(seed):
    rows = some_rows(seed)
    r, c, nu, ridge, h = np.array([1.2, -0.4]), np.array([0.3, -0.1]), 0.5, 0.2, 1e-5
    s = np.random.default_rng(seed).normal(size=4)
    scale, shift = r[rows.assessor], c[rows.assessor] * rows.side

    def value(at):
        likelihood = kernels.log_likelihood(rows, kernels.Parameters(at, r, c, np.array([log(nu)])))
        return ridge * (at @ at) - likelihood

    def slopes(at):
        return log_worths.slopes(rows, scale, shift, nu, ridge, at)

    shifts = np.eye(4) * h
    assert slopes(s) == pytest.approx([(value(s + d) - value(s - d)) / (2 * h) for d in shifts], abs=1e-6)
    bent = log_worths.curvature(rows, scale, shift, nu, ridge, s)
    assert bent == pytest.approx(np.array([(slopes(s + d) - slopes(s - d)) / (2 * h) for d in shifts]), abs=1e-6)


@given(st.floats(-5, 5), st.sampled_from([1.0, -0.7, 3.0]), st.sampled_from([0.5, 1.0, 4.0]), nus)
def test_one_more_preference_is_exact_where_all_before_is_gaussian(gap, scale, weight, nu):
    covariance = np.array([[6.0, 1.0, 0.5], [1.0, 4.0, 0.2], [0.5, 0.2, 2.0]])
    s = np.array([gap, 0.0, 1.0])
    found, spread = log_worths.one_more(covariance, s, 0, 1, scale, 0.1, weight, nu)
    precision = np.linalg.inv(covariance)
    p, q, _, _ = kernels.outcome(scale * (found[0] - found[1]) + 0.1, nu)
    pull = 0.5 * weight * scale * (1 - p + q)
    assert precision @ (found - s) == pytest.approx(pull * np.array([1.0, -1.0, 0.0]), abs=1e-8)
    bend = 0.25 * weight * scale**2 * (p + q - (p - q) ** 2)
    way = np.array([1.0, -1.0, 0.0])
    assert np.linalg.inv(spread) == pytest.approx(precision + bend * np.outer(way, way), abs=1e-8)


def test_topics_are_fitted_one_by_one_and_say_how_it_went():
    once = some_rows(2)
    n, s, steps, steepest = once.first.size, np.zeros(8), np.zeros(2, np.int64), np.zeros(2)
    moved = once._replace(first=once.first + np.int32(4), second=once.second + np.int32(4))
    rows = kernels.Rows(*map(np.concatenate, zip(once, moved, strict=True)))
    parameters = kernels.Parameters(s, np.ones(2), np.zeros(2), np.array([-np.inf]))
    kernels.fit_topics(np.array([0, n, 2 * n]), np.array([0, 4, 8]), rows, parameters, 0.2, 1e-9, 100, steps, steepest)
    assert s[:4] == pytest.approx(s[4:])
    assert (steepest <= 1e-9).all()
    assert steps[0] == steps[1] > 0
