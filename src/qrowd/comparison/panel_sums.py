"""Mean squares of differences from sums over topics: what `Panel` computes from all scores.

Sums of squares are differences of large numbers. They are computed as fractions, so that nothing cancels, and rounded
once. With x of a cell, X of a topic and Y of an assessor summed over the cells of each, Z over all N cells, m the
number of assessors of a topic and k the number of topics of an assessor:

    complete table:  SS_topic = sum X^2 / A - Z^2 / N, SS_assessor = sum Y^2 / T - Z^2 / N,
                     SS_error = sum x^2 - sum X^2 / A - sum Y^2 / T + Z^2 / N
    with holes:      SS_assessor given topics = r' C^- r with r = Y - sum over topics of X / m and
                     C = diag(k) - sum over topics of n n' / m, n being 1 for the topic's assessors;
                     SS_topic given assessors = sum X^2 / m + r' C^- r - sum Y^2 / k,
                     SS_error = sum x^2 - sum X^2 / m - r' C^- r

Henderson (1953), Estimation of Variance and Covariance Components. Biometrics 9(2), method III.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from qrowd.comparison.exact_sums import array_of
from qrowd.comparison.measure_sums import MOST_PATTERNS, MOST_REPLICATED, MeasureSums, PatternSums
from qrowd.comparison.resampling import Design, bootstrap_counts, without_rounding
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.two_way import TwoWay
from qrowd.model.chance import Chance, Seed
from qrowd.model.scores import Names

Exact = Any  # an array of fractions


@dataclass(frozen=True)
class _Pairs:
    """The columns of a table are differences of two systems; arrays are (pairs,)."""

    first: Ints
    second: Ints

    def linear(self, sums: Exact) -> Exact:
        """(..., pairs) from (..., systems)."""
        return sums[..., self.first] - sums[..., self.second]

    def quadratic(self, products: Exact) -> Exact:
        """(pairs,) sums of squares from (systems, systems) sums of products."""
        own = np.diagonal(products)
        return own[self.first] + own[self.second] - 2 * products[self.first, self.second]


@dataclass(frozen=True)
class _Centred:
    """The columns of a table are the systems, minus the mean of all."""

    n_systems: int

    def linear(self, sums: Exact) -> Exact:
        """(..., systems) from (..., systems)."""
        return sums - sums.sum(axis=-1, keepdims=True) / self.n_systems

    def quadratic(self, products: Exact) -> Exact:
        """(systems,) sums of squares from (systems, systems) sums of products."""
        of_system, of_all = products.sum(axis=1), products.sum()
        return np.diagonal(products) - 2 * of_system / self.n_systems + of_all / self.n_systems**2


@dataclass(frozen=True, eq=False)
class PanelSums:
    """The cells (topic, assessor) in which every system has a score, as sums; fields and methods as in `Panel`.

    weights : of assessors in replicates come from the seed of the sums.
    """

    assessors: Names
    systems: Names
    sums: MeasureSums
    patterns: Mapping[tuple[int, ...], PatternSums]
    seed: Seed | None

    @classmethod
    def of(cls, sums: MeasureSums, assessors: Names, systems: Names, seed: Seed | None) -> PanelSums:
        """The panel of all systems.

        Raises
        ------
        NoOverlapError
            Fewer than two topics in which all systems have scores.
        ArgumentError
            Too many sets of assessors.
        """
        if sums.patterns is None:
            raise ArgumentError(
                f"sums: more than {MOST_PATTERNS:,} different sets of assessors judged the same topics, too many to "
                "separate assessors from topics; use the scores (qrowd.evaluate)"
            )
        # Numbers among those who have a cell, in a fixed order.
        used = sorted({a for members in sums.patterns for a in members})
        place = {a: i for i, a in enumerate(used)}
        patterns = {tuple(place[a] for a in members): sums.patterns[members] for members in sorted(sums.patterns)}
        panel = cls(tuple(assessors[a] for a in used), systems, sums, patterns, seed)
        if panel.n_topics < 2:
            empty = [name for name, n in zip(systems, sums.n_scores.sum(axis=0), strict=True) if not n]
            culprit = f"system {empty[0]!r} has no score" if empty else f"the systems share {panel.n_topics} topic(s)"
            raise NoOverlapError(
                f"scores: {culprit}; 2 topics in which all {len(systems)} systems have scores are needed"
            )
        return panel

    @property
    def n_left_out(self) -> int:
        return self.sums.n_left_out

    @cached_property
    def n_topics(self) -> int:
        return sum(own.n_topics for own in self.patterns.values())

    @cached_property
    def n_cells(self) -> int:
        return sum(len(members) * own.n_topics for members, own in self.patterns.items())

    @property
    def is_complete(self) -> bool:
        return self.n_cells == self.n_topics * len(self.assessors)

    @cached_property
    def scale(self) -> float:
        return 1e-12 * self.sums.largest

    @cached_property
    def design(self) -> Design:
        if len(self.assessors) == 1:
            return "one assessor"
        if self.is_complete:
            return "crossed"
        if (self._df >= 1).all():
            return "partly crossed"
        # Every assessor has one topic.
        return "nested" if self.n_cells == len(self.assessors) else "mostly nested"

    @property
    def components_known(self) -> bool:
        return self.design in ("crossed", "partly crossed")

    @property
    def assessor_df(self) -> int:
        return int(self._df[1]) if self.design == "partly crossed" else self._crossed_assessor_df

    @property
    def _crossed_assessor_df(self) -> int:
        return len(self.assessors) - 1 if self.design == "crossed" else 0

    @cached_property
    def _df(self) -> Floats:
        """(3,) degrees of freedom of topics, assessors and error, within groups that share nothing."""
        groups: list[set[int]] = []
        for members in self.patterns:
            joined = set(members).union(*(group for group in groups if group & set(members)))
            groups = [group for group in groups if not group & joined] + [joined]
        n_topics, n_assessors = self.n_topics, len(self.assessors)
        return np.array([
            n_topics - len(groups),
            n_assessors - len(groups),
            self.n_cells - n_topics - n_assessors + len(groups),
        ], np.float64)  # fmt: skip

    # ------------------------------------------------------------------ exact sums

    @cached_property
    def by_assessor(self) -> Exact:
        """(assessors, systems) sums over topics."""
        total = array_of([Fraction(0)] * (len(self.assessors) * len(self.systems)), (-1, len(self.systems)))
        for members, own in self._by_pattern.items():
            total[list(members)] += own
        return total

    @cached_property
    def of_cells(self) -> Exact:
        """(systems, systems) sums over cells of products."""
        return self.sums.of_cells.fractions()

    def of_topics(self, power: int) -> Exact:
        """(systems, systems) sums over topics of X X' / m^power."""
        if power not in self._computed:
            tables = [own.fractions() / Fraction(size) ** power for size, own in sorted(self.sums.of_topics.items())]
            self._computed[power] = np.sum(tables, axis=0)
        return self._computed[power]

    @cached_property
    def _computed(self) -> dict[int, Exact]:
        """What `of_topics` has computed."""
        return {}

    @cached_property
    def _by_pattern(self) -> dict[tuple[int, ...], Exact]:
        """(assessors, systems) sums over the topics of each pattern."""
        return {members: own.by_assessor.fractions() for members, own in self.patterns.items()}

    @cached_property
    def _total(self) -> Exact:
        """(systems,) sums over topics of the means over assessors."""
        return np.sum([own.sum(axis=0) / len(members) for members, own in self._by_pattern.items()], axis=0)

    # ------------------------------------------------------------------ statistics

    @cached_property
    def mean(self) -> Floats:
        return _rounded(self._total / self.n_topics)

    def pair_squares(self, first: Ints, second: Ints, *, topics: bool) -> TwoWay:
        """As `Panel.pair_squares`."""
        return self._squares(_Pairs(first, second), topics)

    def centred_squares(self, *, topics: bool) -> TwoWay:
        """As `Panel.centred_squares`."""
        return self._squares(_Centred(len(self.systems)), topics)

    def replicate_means(self) -> Floats:
        """(replicates, systems) means of topics and assessors that are both resampled.

        A topic counts as often as its weight says (`topic_weights`), an assessor as often as drawn with replacement.
        Replicates without any cell are left out.

        Raises
        ------
        ArgumentError
            Sums without replicates.
        """
        kept = [own.weights is not None for own in self.patterns.values()]
        if self.seed is None:
            raise ArgumentError(
                "method='pigeonhole': these sums have no replicates; give n_resamples to qrowd.score_sums"
            )
        if not all(kept):
            raise ArgumentError(
                f"method='pigeonhole': {len(kept)} different sets of assessors judged the same topics, and sums of "
                f"replicates are kept for {MOST_REPLICATED}; use the scores (qrowd.evaluate)"
            )
        n = next(own.weights.size for own in self.patterns.values() if own.weights is not None)
        drawn = bootstrap_counts(len(self.assessors), n, Chance.of(self.seed).stream("assessors"))
        total, topics = np.zeros((n, len(self.systems))), np.zeros(n)
        for members, own in self.patterns.items():
            assert own.replicates is not None
            assert own.weights is not None
            counts = drawn[:, list(members)]
            weight = counts.sum(axis=1)
            sums = (own.replicates.floats() * counts[:, :, None]).sum(axis=1)
            total += np.divide(sums, weight[:, None], out=np.zeros_like(sums), where=weight[:, None] > 0)
            topics += np.where(weight > 0, own.weights, 0)
        return total[topics > 0] / topics[topics > 0, None]

    def _squares(self, columns: _Pairs | _Centred, topics: bool) -> TwoWay:
        if topics:
            return without_rounding(self._of_topics(columns), self.scale)
        return without_rounding(self._crossed(columns) if self.is_complete else self._fitted(columns), self.scale)

    def _of_topics(self, columns: _Pairs | _Centred) -> TwoWay:
        """Of the topics' means alone."""
        n, total = self.n_topics, columns.linear(self._total)
        variance = (columns.quadratic(self.of_topics(2)) - total**2 / n) / (n - 1)
        ms = np.zeros((3, total.size))
        ms[0] = _rounded(variance)
        return TwoWay(_rounded(total / n), ms, np.array([n - 1.0, 1.0, 1.0]), np.full(3, 1 / n), np.ones(2))

    def _crossed(self, columns: _Pairs | _Centred) -> TwoWay:
        """Of a complete table, as `two_way`."""
        n_topics, n_assessors = self.n_topics, len(self.assessors)
        n = n_topics * n_assessors
        by_assessor = columns.linear(self.by_assessor)
        total = by_assessor.sum(axis=0)
        of_mean = total**2 / n
        of_topics = columns.quadratic(self.of_topics(1)) - of_mean
        of_assessors = (by_assessor**2).sum(axis=0) / n_topics - of_mean
        of_error = columns.quadratic(self.of_cells) - of_mean - of_topics - of_assessors
        df = [n_topics - 1, n_assessors - 1, (n_topics - 1) * (n_assessors - 1)]
        ms = np.array([_rounded(ss / d) for ss, d in zip((of_topics, of_assessors, of_error), df, strict=True)])
        per = np.array([n_assessors, n_topics], np.float64)
        return TwoWay(_rounded(total / n), ms, np.array(df, np.float64), np.full(3, 1.0 / n), per)

    def _fitted(self, columns: _Pairs | _Centred) -> TwoWay:
        """Of a table with holes, as `two_way_with_holes`."""
        df, n, n_topics, n_assessors = self._df, self.n_cells, self.n_topics, len(self.assessors)
        if (df < 1).any():
            raise NoOverlapError(
                "scores: the effects of topics and assessors cannot be separated; method='topics' does not need it"
            )
        kept = np.zeros(n_assessors, np.int64)
        matrix, share = np.zeros((n_assessors, n_assessors)), np.zeros(n_assessors)
        right = columns.linear(self.by_assessor).copy()
        for members, own in self._by_pattern.items():
            rows, size, count = list(members), len(members), self.patterns[members].n_topics
            kept[rows] += count
            share[rows] += count / size / n_topics
            matrix[np.ix_(rows, rows)] -= count / size
            right[rows] -= columns.linear(own.sum(axis=0)) / size
        matrix += np.diag(kept)
        exact_right = _rounded(right)
        adjusted = (exact_right * (np.linalg.pinv(matrix, hermitian=True) @ exact_right)).sum(axis=0)
        of_topics = columns.quadratic(self.of_topics(1))
        of_assessors = (columns.linear(self.by_assessor) ** 2 / kept[:, None].astype(object)).sum(axis=0)
        squares = np.stack([
            _rounded(of_topics - of_assessors) + adjusted,
            adjusted,
            _rounded(columns.quadratic(self.of_cells) - of_topics) - adjusted,
        ])  # fmt: skip
        per = np.array([(n - n_assessors) / df[0], (n - n_topics) / df[1]])
        of_cells = sum(own.n_topics / len(members) for members, own in self.patterns.items()) / n_topics**2
        weights = np.array([1 / n_topics / per[0], (share**2).sum() / per[1], of_cells])
        mean = _rounded(columns.linear(self._total) / n_topics)
        return TwoWay(mean, np.maximum(squares, 0.0) / df[:, None], df, weights, per)


def _rounded(exact: Exact) -> Floats:
    """Every fraction as the nearest float."""
    return np.asarray(exact.astype(np.float64))
