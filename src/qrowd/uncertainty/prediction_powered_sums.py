"""The sums of prediction-powered means, for many systems at once: arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from qrowd.comparison.interval_widths import check_confidence
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.labels import plural

Method = Literal["classical", "ppi", "ppi++"]
Target = Literal["new topics", "these topics"]
Quantile = Literal["t", "normal"]
Variance = Literal["sample", "population"]
CHOICES = {"method": Method, "target": Target, "quantile": Quantile, "variance": Variance}


@dataclass(frozen=True)
class Fit:
    """The result of `Rule.fit`; each array is (systems,)."""

    estimate: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    lam: Floats
    df: Floats
    classical_standard_error: Floats


@dataclass(frozen=True)
class Rule:
    """The options of `prediction_powered`, checked, and the computation on arrays."""

    method: Method = "ppi++"
    target: Target = "new topics"
    folds: int | None = None
    quantile: Quantile = "t"
    variance: Variance = "sample"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        if self.folds is not None and self.folds < 1:
            raise ArgumentError(f"folds={self.folds!r}: 1 or more were expected, or None to leave out one at a time")
        check_confidence(self.confidence)

    @property
    def ddof(self) -> int:
        """The number subtracted from the number of topics in a variance."""
        return 1 if self.variance == "sample" else 0

    def seed(self, rng: Rng) -> Seed | None:
        """The seed of the folds, where folds are drawn."""
        return seed_of(rng) if self.method == "ppi++" and self.folds is not None and self.folds > 1 else None

    def fit(self, y: Floats, f: Floats, g: Floats, seed: Seed | None = None) -> Fit:
        """Estimates of every column of y and f (n, systems) and g (N, systems)."""
        n, n_only = y.shape[0], g.shape[0]
        if n < 2:
            raise ArgumentError(f"assessor: {plural(n, 'topic')} judged by assessors; 2 or more are needed")
        if n_only < 2 and self.method != "classical":
            raise ArgumentError(
                f"model: {plural(n_only, 'topic')} scored by the model alone; 2 or more are needed, "
                'or method="classical"'
            )
        lam = self.lam(y, f, g, seed)
        mean_lam = lam.mean(axis=0)
        left, share = np.zeros(y.shape[1]), 1.0
        if self.target == "these topics":
            middle = np.concatenate([f, g]).mean(axis=0)  # known: the model scored every topic
            share = n_only / (n + n_only)
        else:
            middle = g.mean(axis=0) if n_only else f.mean(axis=0)
            if n_only > 1:
                left = mean_lam**2 * g.var(axis=0, ddof=self.ddof) / n_only
        # Around the model's mean, so that topics of folds with another lam remain comparable.
        corrected = y - lam * (f - middle)
        right = share * corrected.var(axis=0, ddof=self.ddof) / n
        standard_error = np.sqrt(left + right)
        df = self.degrees(left, right, n, n_only)
        half = self.quantiles(df) * standard_error
        estimate = corrected.mean(axis=0)
        classical = np.sqrt(share * y.var(axis=0, ddof=self.ddof) / n)
        return Fit(estimate, standard_error, estimate - half, estimate + half, mean_lam, df, classical)

    def lam(self, y: Floats, f: Floats, g: Floats, seed: Seed | None = None) -> Floats:
        """(n, systems) weight of the model on each topic."""
        n = y.shape[0]
        if self.method != "ppi++":
            return np.full(y.shape, 0.0 if self.method == "classical" else 1.0)
        weight = self.weight(n, g.shape[0])
        if self.folds == 1:
            return np.broadcast_to(self.tuned(y, f, g, weight), y.shape)
        of = np.arange(n)
        if self.folds is not None:
            of = np.random.default_rng(seed).permutation(n) % self.folds
        lam = np.zeros(y.shape)
        for fold in np.unique(of):
            rest = of != fold
            if rest.sum() > 1:  # one topic has no covariance: lam stays 0
                lam[~rest] = self.tuned(y[rest], f[rest], g, weight)
        return lam

    def weight(self, n: int, n_only: int) -> float:
        """The divisor of lam for the variance of the mean of g; 1 where the mean of all topics is known."""
        return 1.0 if self.target == "these topics" else 1 + n / n_only

    def tuned(self, y: Floats, f: Floats, g: Floats, weight: float) -> Floats:
        """(systems,) cov(y, f) / (weight var), clipped to [0, 1]; 0 where the model gives all topics one score."""
        together = np.concatenate([f, g])
        covariance = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).sum(axis=0) / (y.shape[0] - self.ddof)
        spread = together.var(axis=0, ddof=1)
        constant = spread <= 1e-24 * np.square(together).max(axis=0)
        return np.where(constant, 0.0, np.clip(covariance / np.where(constant, 1.0, weight * spread), 0.0, 1.0))

    def degrees(self, left: Floats, right: Floats, n: int, n_only: int) -> Floats:
        """(systems,) Satterthwaite's degrees of freedom of a sum of two variances of means."""
        if self.quantile == "normal":
            return np.full(left.shape, np.inf)
        down = left**2 / max(n_only - 1, 1) + right**2 / (n - 1)
        # 0 / 0 where nothing varies; squares that vanish beside others that do are harmless
        return np.where(down > 0, (left + right) ** 2 / np.where(down > 0, down, 1.0), float(n - 1))

    def quantiles(self, df: Floats) -> Floats:
        """Half the interval's width in standard errors."""
        from scipy.special import ndtri, stdtrit

        upper = 0.5 + self.confidence / 2
        return np.asarray(np.where(np.isinf(df), ndtri(upper), stdtrit(np.where(np.isinf(df), 1.0, df), upper)))


def effective_topics(n: int, classical: Floats, standard_error: Floats) -> Floats:
    """(systems,) number of topics that assessors alone would need for this standard error; inf where it is 0."""
    with np.errstate(divide="ignore"):
        unlimited = np.full(standard_error.shape, np.inf)
        ratio = np.divide(classical, standard_error, out=unlimited, where=standard_error > 0)
    return np.asarray(np.where(classical == standard_error, float(n), n * np.square(ratio)))
