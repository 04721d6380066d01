"""How far each assessor agrees with the others, and with gold, beyond chance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.rows import Rows
from qrowd.kernels.counts import value_counts
from qrowd.kernels.disagreement import NOMINAL, RATIO, Difference, Level, mid_ranks, to_the_others

Floats = NDArray[np.float64]

CELLS_AT_ONCE = 4_000_000


class BeyondChance:
    """Agreement beyond chance, with the others and with gold, at a level of measurement."""

    def __init__(self, rows: Rows, level: Level) -> None:
        self.rows = rows
        known = ~np.isnan(rows.gold)
        values = np.unique(np.concatenate([rows.value, rows.gold[known]]))
        self.values, self.code = values, np.searchsorted(values, rows.value)
        self.size = np.diff(rows.starts)
        self.counts = value_counts(rows.starts, self.code.astype(np.int32), values.size)
        said = np.bincount(self.code, minlength=values.size).astype(np.float64)
        self.x = mid_ranks(said) if level == "ordinal" else values
        self.difference = Difference(self.x, "interval" if level == "ordinal" else level)
        others = np.repeat(self.size, self.size) - 1
        self.weight = np.divide(1.0, others, out=np.zeros(others.size), where=others > 0)

    def with_others(self) -> tuple[Floats, Floats]:
        """(assessors,) agreement and its standard error."""
        out = np.empty(self.rows.who.size)
        to_the_others(self.rows.starts, self.x[self.code], np.ones(out.size), self.difference.code, out)
        shared = self.weight > 0
        own = self._table(np.where(shared, 1.0, 0.0), self.code)
        return self._beyond_chance(out, own, self._others())

    def with_gold(self) -> tuple[Floats, Floats]:
        """(assessors,) agreement and its standard error; nan without gold."""
        known = ~np.isnan(self.rows.gold)
        gold = np.searchsorted(self.values, np.where(known, self.rows.gold, self.values[0]))
        a, b = self.x[self.code], self.x[gold]
        if self.difference.code == NOMINAL:
            apart = (a != b).astype(np.float64)
        elif self.difference.code == RATIO:
            apart = np.divide(a - b, a + b, out=np.zeros(a.size), where=a + b > 0) ** 2
        else:
            apart = (a - b) ** 2
        ones = known.astype(np.float64)
        return self._beyond_chance(
            np.where(known, apart, np.nan), self._table(ones, self.code), self._table(ones, gold)
        )

    def share_of_others(self, grades: Floats) -> Floats:
        """(assessors, grades) how often the others gave each grade to the documents that the assessor judged."""
        if not grades.size:
            return np.zeros((len(self.rows.assessors), 0))
        table = self._others().toarray()[:, np.searchsorted(self.values, grades)]
        with np.errstate(invalid="ignore"):
            return np.asarray(table / table.sum(axis=1, keepdims=True))

    def _others(self) -> Any:
        """(assessors, values) how often others gave each value to an assessor's documents, each document weighing 1."""
        from scipy.sparse import csr_array

        document = np.repeat(np.arange(self.size.size), self.size)
        shape = (len(self.rows.assessors), self.size.size)
        mine = csr_array((self.weight, (self.rows.who, document)), shape=shape)
        return csr_array(mine @ csr_array(self.counts)) - self._table(self.weight, self.code)

    def _table(self, weight: Floats, code: NDArray[np.integer]) -> Any:
        """(assessors, values) sparse sums of weights by assessor and value."""
        from scipy.sparse import csr_array

        return csr_array((weight, (self.rows.who, code)), shape=(len(self.rows.assessors), self.values.size))

    def _beyond_chance(self, apart: Floats, own: Any, others: Any) -> tuple[Floats, Floats]:
        observed, error = self.rows.mean(apart)
        n = self.rows.number(~np.isnan(apart))
        expected = np.empty(n.size)
        step = max(1, CELLS_AT_ONCE // self.values.size)
        for a in range(0, n.size, step):
            here = slice(a, a + step)
            expected[here] = self.difference.between(own[here].toarray(), others[here].toarray())
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = expected / n.astype(np.float64) ** 2
            known = expected > 0
            return np.where(known, 1 - observed / expected, np.nan), np.where(known, error / expected, np.nan)
