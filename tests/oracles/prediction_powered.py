"""Prediction-powered means in obvious loops: lists of scores in, numbers out.

Angelopoulos et al. (2023), Prediction-Powered Inference. Science 382; Angelopoulos, Duchi & Zrnic (2023), PPI++.
arXiv:2311.01453 (the tuned lambda of a mean).
"""

from math import sqrt
from statistics import mean, variance


def covariance(y, f):
    return sum((a - mean(y)) * (b - mean(f)) for a, b in zip(y, f, strict=True)) / (len(y) - 1)


def tuned_lambda(y, f, g, ratio):
    """cov(y, f) / ((1 + n/N) var), clipped; `ratio` is n/N, 0 where the model's mean is known."""
    spread = variance([*f, *g])
    return min(max(covariance(y, f) / ((1 + ratio) * spread), 0), 1) if spread > 0 else 0


def prediction_powered(y, f, g, lam):
    """theta and its standard error with one given lambda, for new topics."""
    theta = lam * mean(g) + mean(a - lam * b for a, b in zip(y, f, strict=True))
    rest = variance([a - lam * b for a, b in zip(y, f, strict=True)])
    return theta, sqrt(lam**2 * variance(g) / len(g) + rest / len(y))


def for_these_topics(y, f, g, lam):
    """The difference estimator of a finite population of n + N topics."""
    every = [*f, *g]
    theta = lam * mean(every) + mean(a - lam * b for a, b in zip(y, f, strict=True))
    rest = variance([a - lam * b for a, b in zip(y, f, strict=True)])
    return theta, sqrt((1 - len(y) / len(every)) * rest / len(y))


def satterthwaite(y, f, g):
    """Degrees of freedom of var(g) / N + var(y - f) / n; Satterthwaite (1946)."""
    one, other = variance(g) / len(g), variance([a - b for a, b in zip(y, f, strict=True)]) / len(y)
    squares = one**2 / (len(g) - 1) + other**2 / (len(y) - 1)
    return (one + other) ** 2 / squares if squares else len(y) - 1


def left_one_out(y, f, g):
    """theta, its standard error and the mean lambda, every topic's lambda being tuned on the others."""
    n, lams, parts = len(y), [], []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        lam = tuned_lambda([y[j] for j in others], [f[j] for j in others], g, n / len(g))
        lams.append(lam)
        parts.append(y[i] - lam * f[i] + lam * mean(g))
    return mean(parts), sqrt(mean(lams) ** 2 * variance(g) / len(g) + variance(parts) / n), mean(lams)
