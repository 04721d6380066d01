"""Strengths a second time: the penalised likelihood as it is written down, minimised by SciPy without derivatives."""

from math import exp, log

import numpy as np
from scipy.optimize import minimize


def log_probability(outcome, s_one, s_two, assessor_weight=1.0, lean=0.0, nu=0.0):
    """log P of "one", "two" or "tie"; lean : what sides add for the first."""
    eta = assessor_weight * (s_one - s_two) + lean
    weights = {"one": exp(eta / 2), "two": exp(-eta / 2), "tie": nu}
    return log(weights[outcome] / sum(weights.values()))


def objective(data, log_worth, assessor_weight, intercept, log_nu, ridge, shrinkage, ties):
    """data : [(one, two, assessor, side, outcome, weight)], all by number or name of an outcome."""
    nu = exp(log_nu) if ties else 0.0
    total = sum(
        w * log_probability(out, log_worth[i], log_worth[j], assessor_weight[a], intercept[a] * side, nu)
        for i, j, a, side, out, w in data
    )
    penalty = ridge * (sum(x**2 for x in log_worth) + sum(x**2 for x in intercept) + (log_nu**2 if ties else 0.0))
    return penalty + shrinkage * sum((r - 1) ** 2 for r in assessor_weight) - total


def fitted(data, n, n_assessors, ridge, *, shrinkage=1.0, ties=False, position=False, assessor_weights=False):
    """(log_worth, assessor_weight, intercept, nu, objective) at the minimum."""

    def unpacked(x):
        s, r, c, t = np.split(x, [n, n + n_assessors, n + 2 * n_assessors])
        r = r * np.sqrt(n_assessors / (r @ r)) if assessor_weights else np.ones(n_assessors)
        return s, r, c if position else np.zeros(n_assessors), float(t[0])

    def value(x):
        s, r, c, log_nu = unpacked(x)
        return objective(data, s, r, c, log_nu, ridge, shrinkage, ties)

    start = np.concatenate([np.zeros(n), np.ones(n_assessors), np.zeros(n_assessors + 1)])
    best = minimize(value, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 10_000})
    best = minimize(value, best.x, method="BFGS", options={"gtol": 1e-9, "maxiter": 10_000})
    s, r, c, log_nu = unpacked(best.x)
    return s, r, c, exp(log_nu) if ties else 0.0, best.fun
