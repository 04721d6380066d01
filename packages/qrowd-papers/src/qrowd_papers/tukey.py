"""Tukey's honestly significant difference: which levels of a factor differ, testing all pairs together.

Tukey (1949), Comparing Individual Means in the Analysis of Variance. Biometrics 5(2); Kramer (1956), Extension of
Multiple Range Tests to Group Means with Unequal Numbers of Replications. Biometrics 12(3); Hochberg, Tamhane (1987),
Multiple Comparison Procedures, for the intervals. Equation 30: Ferrante, Ferro, Maistro (2017), AWARE. ACM TOIS 36(2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.mean_ranks import longest_runs
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result
from qrowd_papers.analysis_of_variance import Anova

Best = Literal["highest", "lowest"]
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Tukey(Result):
    """The levels of a factor, and which of them differ; arrays are (levels,), best first.

    mean, n : response at each level. half_width : levels whose intervals mean +- half_width do not overlap differ
        (exact where all n are equal, else close: Hochberg and Tamhane).
    critical : quantile of the studentized range. error_ms, error_df : mean square of the error, and its degrees of
        freedom.
    top : not significantly different from the best level, which is the one with the `best` mean.
    groups : the longest runs of neighbouring levels of which no two differ significantly, best first.

    `to_frame(what=...)`: "levels", or "pairs" with simultaneous intervals.
    """

    factor: str
    levels: tuple[str, ...]
    mean: Floats
    n: NDArray[np.int64]
    half_width: Floats
    top: NDArray[np.bool_]
    groups: tuple[tuple[str, ...], ...]
    critical: float
    error_ms: float
    error_df: int
    best: Best

    @property
    def letters(self) -> tuple[str, ...]:
        """For each level the letters of its groups, "a" being the best: levels without a common letter differ."""
        names = [_letters(g) for g in range(len(self.groups))]
        return tuple(
            "".join(name for name, group in zip(names, self.groups, strict=True) if level in group)
            for level in self.levels
        )

    def _tables(self) -> dict[str, Any]:
        return {"levels": self._levels, "pairs": self._pairs}

    def _levels(self) -> dict[str, Any]:
        return {
            self.factor: np.array(self.levels, object),
            "mean": self.mean,
            "low": self.mean - self.half_width,
            "high": self.mean + self.half_width,
            "n": self.n,
            "groups": np.array(self.letters, object),
            "top": self.top,
        }

    def _pairs(self) -> dict[str, Any]:
        i, j = np.triu_indices(len(self.levels), 1)
        names, difference = np.array(self.levels, object), self.mean[i] - self.mean[j]
        half = self.critical * _errors(self.n, self.error_ms)[i, j]
        return {
            "first": names[i],
            "second": names[j],
            "difference": difference,
            "low": difference - half,
            "high": difference + half,
            "different": np.abs(difference) > half,
        }


def tukey_hsd(table: Anova, factor: str, *, best: Best = "highest") -> Tukey:
    """Compare all levels of a factor with each other, with the error of an analysis of variance.

    Two levels differ if |mean - other mean| > q sqrt(MS / 2 (1 / n + 1 / other n)), q being the 95 %
    quantile of the studentized range for this number of levels and the error's degrees of freedom (equation 30;
    Tukey-Kramer where n differ). The probability that any two equal levels are declared different is at most
    .05. Means are plain means: in an unbalanced table other factors may have shifted them.

    best : "lowest" where small responses are good, as those of an RMSE.

    Raises
    ------
    ArgumentError
        An unknown factor; no degrees of freedom left for error.
    """
    effects = table.effects.of(factor)
    return tukey_of_means(
        effects.level,
        effects.mean,
        effects.n,
        table.error_ms,
        table.error_df,
        factor=factor,
        best=best,
    )


def tukey_of_means(
    levels: Sequence[str],
    mean: Floats,
    n: NDArray[np.int64],
    error_ms: float,
    error_df: int,
    *,
    factor: str = "level",
    best: Best = "highest",
) -> Tukey:
    """The same from the numbers that a paper prints: means, the responses of each, and the error's mean square.

    >>> found = tukey_of_means(["a", "b", "c"], np.array([0.60, 0.58, 0.50]), np.array([50] * 3), 0.004, 98)
    >>> found.groups, round(found.critical, 3), found.letters
    ((('a', 'b'), ('c',)), 3.366, ('a', 'a', 'b'))
    """
    if error_df < 1 or np.isnan(error_ms):
        raise ArgumentError(f"{factor}: no degrees of freedom are left for error; leave out an interaction or a factor")
    sign = -1 if best == "highest" else 1
    order = np.argsort(sign * np.asarray(mean, np.float64), kind="stable")
    means, counts = np.asarray(mean, np.float64)[order], np.asarray(n, np.int64)[order]
    names = tuple(levels[i] for i in order)
    critical = _critical(len(names), error_df)
    least = critical * _errors(counts, error_ms)
    alike = np.abs(means[:, None] - means) <= least
    groups = tuple(names[a:b] for a, b in longest_runs(alike))
    half = _half_widths(least)
    return Tukey(factor, names, means, counts, half, alike[0], groups, critical, error_ms, error_df, best)


@cache
def _critical(n_levels: int, error_df: int) -> float:
    """The quantile of the studentized range: a quarter of a second for many levels."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(CONFIDENCE, n_levels, error_df))


def _errors(n: NDArray[np.int64], error_ms: float) -> Floats:
    """(levels, levels) standard error that differences of two means are divided by for the studentized range."""
    inverse = 1.0 / n
    return np.asarray(np.sqrt(error_ms / 2 * (inverse[:, None] + inverse)))


def _half_widths(least: Floats) -> Floats:
    """(levels,) w with w_i + w_j near the least significant difference of i and j (Hochberg and Tamhane 1987)."""
    k = least.shape[0]
    if k == 2:
        return np.full(2, least[0, 1] / 2)
    apart = least - np.diag(np.diag(least))
    return np.asarray(((k - 1) * apart.sum(axis=1) - apart.sum() / 2) / ((k - 1) * (k - 2)))


def _letters(number: int) -> str:
    """a to z, then a1 to z1, and so on."""
    return "abcdefghijklmnopqrstuvwxyz"[number % 26] + (str(number // 26) if number >= 26 else "")
