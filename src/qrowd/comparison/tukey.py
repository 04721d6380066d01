"""Which levels of a factor differ, all pairs of them held together: Tukey's honestly significant difference.

Tukey (1949), Comparing Individual Means in the Analysis of Variance. Biometrics 5(2); Kramer (1956), Extension of
Multiple Range Tests to Group Means with Unequal Numbers of Replications. Biometrics 12(3); Hochberg, Tamhane (1987),
Multiple Comparison Procedures, for the intervals. Equation 30: Ferrante, Ferro, Maistro (2017), AWARE. ACM TOIS 36(2).

Systems by topic: Tague-Sutcliffe, Blustein (1995), A Statistical Analysis of the TREC-3 Data. TREC-3, 385-398; Banks,
Over, Zhang (1999), Blind Men and Elephants: Six Approaches to TREC Data. Information Retrieval 1, 7-34.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.factors import Anova, anova
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.frames import make_frame
from qrowd.model.labels import number_of
from qrowd.model.scores import Floats, one_table

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Best = Literal["highest", "lowest"]


@dataclass(frozen=True, eq=False)
class Tukey:
    """The levels of a factor, and which of them differ; arrays are (levels,), best first.

    mean, n : response at each level. half_width : levels whose intervals mean +- half_width do not overlap differ
        (exact where all n are equal, else close: Hochberg and Tamhane).
    critical : of the studentized range. error_ms, error_df : the mean square all differences are held against.
    top : not distinguishable from the best level, which is the one with the `best` mean.
    groups : the largest runs of neighbouring levels of which no two differ, best first.
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
    confidence: float
    best: Best

    @property
    def letters(self) -> tuple[str, ...]:
        """For each level the letters of its groups, "a" being the best: levels that share none differ."""
        names = [_letters(g) for g in range(len(self.groups))]
        return tuple(
            "".join(name for name, group in zip(names, self.groups, strict=True) if level in group)
            for level in self.levels
        )

    def p(self, first: str | int, second: str | int) -> float:
        """Of the difference of two levels, held together with all others; takes some milliseconds."""
        from scipy.stats import studentized_range

        i, j = (number_of(name, self.levels, self.factor) for name in (first, second))
        error = _errors(self.n, self.error_ms)[i, j]
        difference = abs(self.mean[i] - self.mean[j])
        if error == 0:
            return float(difference == 0)
        return float(min(studentized_range.sf(difference / error, len(self.levels), self.error_df), 1.0))

    def pairs(self, *, p: bool = False, backend: str = "pandas") -> Any:
        """One row per pair of levels: difference of means with its simultaneous interval, and whether it is one.

        p : also that of every pair, 7 ms each: a minute for the 8,256 pairs of 129 systems.
        """
        i, j = np.triu_indices(len(self.levels), 1)
        names, difference = np.array(self.levels, object), self.mean[i] - self.mean[j]
        half = self.critical * _errors(self.n, self.error_ms)[i, j]
        columns: dict[str, NDArray[Any]] = {
            "first": names[i],
            "second": names[j],
            "difference": difference,
            "low": difference - half,
            "high": difference + half,
            "different": np.abs(difference) > half,
        }
        if p:
            columns["p"] = np.array([self.p(int(a), int(b)) for a, b in zip(i, j, strict=True)])
        return make_frame(columns, backend)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per level, best first."""
        return make_frame(
            {
                self.factor: np.array(self.levels, object),
                "mean": self.mean,
                "low": self.mean - self.half_width,
                "high": self.mean + self.half_width,
                "n": self.n,
                "groups": np.array(self.letters, object),
                "top": self.top,
            },
            backend,
        )


@dataclass(frozen=True, eq=False)
class SystemsAnova:
    """Topics and systems as the two factors of an analysis of variance, and Tukey's groups of systems.

    n_topics : analysed. n_left_out : topics that lack the score of some system.
    """

    anova: Anova
    tukey: Tukey
    n_topics: int
    n_left_out: int


def tukey_hsd(table: Anova, factor: str, *, confidence: float = 0.95, best: Best = "highest") -> Tukey:
    """All levels of a factor against each other, with the error of an analysis of variance.

    Two levels differ if |mean - other mean| > q sqrt(MS / 2 (1 / n + 1 / other n)), q being the `confidence` quantile of
    the studentized range for so many levels and the error's degrees of freedom (equation 30; Tukey-Kramer where n
    differ). The chance that any two levels that are the same come out different is 1 - confidence at most. Means are plain ones:
    in an unbalanced table other factors may have shifted them.

    best : "lowest" where small responses are good, as those of an RMSE.

    Raises
    ------
    ArgumentError
        What is no factor of the table; one level only; no degrees of freedom left for error.
    """
    effects = table.effects.of(factor)
    return tukey_of_means(
        effects.level,
        effects.mean,
        effects.n,
        table.error_ms,
        table.error_df,
        factor=factor,
        confidence=confidence,
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
    confidence: float = 0.95,
    best: Best = "highest",
) -> Tukey:
    """The same from what a paper prints: means, how many responses each rests on, and the error's mean square.

    >>> found = tukey_of_means(["a", "b", "c"], np.array([0.60, 0.58, 0.50]), np.array([50] * 3), 0.004, 98)
    >>> found.groups, round(found.critical, 3), found.letters
    ((('a', 'b'), ('c',)), 3.366, ('a', 'a', 'b'))
    """
    if best not in get_args(Best):
        raise ArgumentError(f"best={best!r}: choose highest or lowest")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a level between 0 and 1 was expected")
    if len(levels) < 2:
        raise ArgumentError(f"{factor}: {len(levels)} level(s); at least 2 are needed to compare")
    if error_df < 1 or np.isnan(error_ms):
        raise ArgumentError(f"{factor}: no degrees of freedom are left for error; leave out an interaction or a factor")
    sign = -1 if best == "highest" else 1
    order = np.argsort(sign * np.asarray(mean, np.float64), kind="stable")
    means, counts = np.asarray(mean, np.float64)[order], np.asarray(n, np.int64)[order]
    names = tuple(levels[i] for i in order)
    critical = _critical(confidence, len(names), error_df)
    least = critical * _errors(counts, error_ms)
    alike = np.abs(means[:, None] - means) <= least
    groups = tuple(names[a:b] for a, b in _runs(alike))
    half = _half_widths(least)
    return Tukey(
        factor, names, means, counts, half, alike[0], groups, critical, error_ms, error_df, confidence, best
    )  # fmt: skip


def systems_anova(scores: AnyScores, *, confidence: float = 0.95, best: Best = "highest") -> SystemsAnova:
    """Which systems differ once topics are accounted for, all pairs held together.

    scores : (topic, system) of one measure, for one assessor or a panel's mean. A topic that lacks a score of some
        system is left out; a system without any score is too.

    score = mean + topic + system + error; the error is the interaction of topic and system, so a difference counts
    against how much systems change places from topic to topic. Topics are the sample, the assessors are as they are.

    Raises
    ------
    NoOverlapError
        Fewer than two systems, or fewer than two topics with a score of every system.
    """
    values, (topics, systems) = one_table(scores)
    known = ~np.isnan(values)
    columns = known.any(axis=0)
    rows = known[:, columns].all(axis=1)
    if rows.sum() < 2 or columns.sum() < 2:
        raise NoOverlapError(
            f"scores: {int(columns.sum())} systems with scores share {int(rows.sum())} topics; an analysis of variance "
            "needs 2 of each"
        )
    whole = values[rows][:, columns]
    table: dict[str, Any] = {
        "score": whole.ravel(),
        "topic": np.repeat(np.array(topics, object)[rows], whole.shape[1]),
        "system": np.tile(np.array(systems, object)[columns], whole.shape[0]),
    }
    found = anova(table, "score", ("topic", "system"))
    tukey = tukey_hsd(found, "system", confidence=confidence, best=best)
    return SystemsAnova(found, tukey, int(rows.sum()), int((~rows).sum()))


@cache
def _critical(confidence: float, n_levels: int, error_df: int) -> float:
    """This quantile of the studentized range: a quarter of a second for many levels."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(confidence, n_levels, error_df))


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


def _runs(alike: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The longest runs a:b of levels in order of which all are alike, without those inside another."""
    runs: list[tuple[int, int]] = []
    end = 0
    for start in range(alike.shape[0]):
        # Runs that start later end no earlier, so the end only moves on.
        end = max(end, start + 1)
        while end < alike.shape[0] and alike[start : end + 1, start : end + 1].all():
            end += 1
        if not runs or end > runs[-1][1]:
            runs.append((start, end))
    return runs


def _letters(number: int) -> str:
    """a to z, then a1 to z1, and so on."""
    return "abcdefghijklmnopqrstuvwxyz"[number % 26] + (str(number // 26) if number >= 26 else "")
