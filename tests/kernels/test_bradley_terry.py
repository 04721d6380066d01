"""The likelihood of log-worths: stable where it is steep, and every step of it what its formula says."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import bradley_terry as oracle
from qrowd.kernels import worths as kernels

etas = st.floats(-30, 30)
nus = st.sampled_from([0.0, 0.3, 2.0])


@given(etas, nus)
def test_outcomes_are_the_shares_of_three_weights(eta, nu):
    first, second, log_total = kernels.outcomes(np.array([eta]), nu)
    total = exp(eta / 2) + exp(-eta / 2) + nu
    assert (first[0], second[0]) == pytest.approx((exp(eta / 2) / total, exp(-eta / 2) / total))
    assert log_total[0] == pytest.approx(log(total))


@pytest.mark.parametrize("eta", [1e4, -1e4])
def test_nothing_overflows_where_one_side_is_certain(eta):
    first, second, log_total = kernels.outcomes(np.array([eta]), 1.0)
    assert (max(first, second), min(first, second), log_total) == (1, 0, 5000)


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


@pytest.mark.parametrize("moving", [(True, False, False, False), (True, True, True, True), (False, True, False, True)])
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_are_differences_of_the_objective(seed, moving):
    rows, h = some_rows(seed), 1e-5
    random = np.random.default_rng(seed)
    objective = kernels.Objective(rows, 4, 0.2, 1.0, np.array([1.0, 2.0]), np.array(moving))
    x = objective.normalised(np.concatenate([random.normal(size=8), [-0.7]]))
    if not moving[1]:
        x[4:6] = 1.2, -0.4

    def value(x):
        return objective.value(objective.normalised(x.copy()))

    def gradient(x):
        radius = np.sqrt((objective.times @ x[4:6] ** 2) / objective.times.sum()) if moving[1] else 1.0
        slopes = objective.differentiate(objective.normalised(x.copy())).gradient
        slopes[4:6] /= radius
        return slopes

    moves, derivatives = np.repeat(moving, [4, 2, 2, 1]), objective.differentiate(x)
    shifts = np.eye(9) * h
    slopes = np.array([(value(x + d) - value(x - d)) / (2 * h) for d in shifts])
    assert derivatives.gradient == pytest.approx(np.where(moves, slopes, 0), abs=1e-6)
    for d in shifts[moves]:
        bent = (gradient(x + d) - gradient(x - d)) / (2 * h)
        assert derivatives.product(d / h) == pytest.approx(np.where(moves, bent, 0), abs=1e-5)
