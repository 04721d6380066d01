"""How far apart values are: the squared differences of Krippendorff's alpha, summed over many pairs at once.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, step 4:
nominal 0 if equal, else 1; ordinal (judgments ranked between, the ends counting half)^2; interval (x - y)^2;
ratio ((x - y) / (x + y))^2, 0 for two zeros.

Ordinal differences are those of mid-ranks, so ordinal disagreement is interval disagreement of mid-ranks.
"""

from __future__ import annotations

from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.compiled import kernel
from qrowd.kernels.counts import FEW_VALUES, Counts

Level = Literal["nominal", "ordinal", "interval", "ratio"]

NOMINAL, INTERVAL, RATIO = 0, 1, 2
CODES = {"nominal": NOMINAL, "interval": INTERVAL, "ratio": RATIO}
BLOCK = 1 << 16  # pairs drawn at once


def squared_differences(x: Floats, y: Floats, level: int) -> Floats:
    """Of the values of two arrays, level being NOMINAL, INTERVAL or RATIO."""
    if level == NOMINAL:
        return np.asarray(x != y, np.float64)
    if level == INTERVAL:
        return np.asarray((x - y) ** 2)
    total = x + y
    return np.asarray(np.divide(x - y, total, out=np.zeros(total.shape), where=total != 0) ** 2)


@kernel("int64[:], float64[:], float64[:], int, float64[:]")
def to_the_others(starts: Ints, value: Floats, count: Floats, level: int, out: Floats) -> None:
    """out[i] = mean squared difference of a judgment in row i from the other judgments of its document; nan if alone.

    starts : (documents + 1,); value, count, out : (rows,), document by document; a row stands for `count` judgments of
        that value.
    """
    size = np.diff(starts)
    document = np.repeat(np.arange(size.size), size)
    others = np.bincount(document, count)[document] - 1.0
    total = np.zeros(value.size)
    for step in range(size.max(initial=0)):
        row = np.flatnonzero(size[document] > step)
        other = starts[document[row]] + step
        total[row] += count[other] * squared_differences(value[row], value[other], level)
    out[:] = np.divide(total, others, out=np.full(value.size, np.nan), where=others > 0.0)


def mean_drawn_difference(
    starts: Ints, document: NDArray[np.int32], value: Floats, level: int, draws: int, rng: np.random.Generator
) -> float:
    """Mean squared difference of pairs drawn with replacement: any judgment, then another of its document.

    document : (judgments,) number of each judgment's document. Every document has at least two judgments.

    So a pair comes up in proportion to its share of the coincidence matrix, 1 / (m - 1).
    """
    total = 0.0
    for first in range(0, draws, BLOCK):
        uniform = rng.random((min(BLOCK, draws - first), 2))
        total = _sum_drawn_differences(starts, document, value, level, uniform, total)
    return total / draws


@kernel("int64[:], int32[:], float64[:], int, float64[:,:], float", numbers="float")
def _sum_drawn_differences(
    starts: Ints, document: NDArray[np.int32], value: Floats, level: int, uniform: Floats, total: float
) -> float:
    """`total` and the squared differences of the pairs that `mean_drawn_difference` draws.

    uniform : (draws, 2) random numbers from 0 to 1.
    """
    i = (uniform[:, 0] * value.size).astype(np.int64)
    begin, end = starts[document[i]], starts[document[i] + 1]
    j = begin + (uniform[:, 1] * (end - begin - 1)).astype(np.int64)
    j += j >= i
    return float(np.cumsum(np.append(total, squared_differences(value[i], value[j], level)))[-1])


def mid_ranks(counts: Floats) -> Floats:
    """(..., values) rank of each value among all judgments, equal ones sharing their middle; counts : (..., values)."""
    return np.asarray(np.cumsum(counts, axis=-1) - counts / 2)


class Difference:
    """Squared differences at one level, over a fixed set of values, for any number of judgments.

    values : (values,) ascending, without repeats. For the ordinal level give mid-ranks as values and "interval".
    """

    def __init__(self, values: Floats, level: Level) -> None:
        self.values, self.level = values, level
        self.code = CODES[level]
        self._matrix = matrix_of_differences(values, level) if values.size <= FEW_VALUES else None
        self._ratios = Ratios(values) if self._matrix is None and level == "ratio" else None

    def between(self, first: Floats, second: Floats) -> Floats:
        """(rows,) sum over all values i, j of first[r, i] * second[r, j] * squared difference of i and j."""
        if self._matrix is not None:
            return np.asarray(((first @ self._matrix) * second).sum(axis=1))
        n, m = first.sum(axis=1), second.sum(axis=1)
        if self.level == "nominal":
            return np.asarray(n * m - (first * second).sum(axis=1))
        if self._ratios is not None:
            return self._ratios.between(first, second)
        # Around the middle, so that large numbers with small differences keep their digits.
        x = self.values - (first.sum(axis=0) @ self.values) / max(first.sum(), 1.0)
        total: Floats = n * (second @ x**2) + m * (first @ x**2) - 2 * (first @ x) * (second @ x)
        return total

    def within(self, counts: Counts) -> Floats:
        """(documents,) observed disagreement: sum over judgments of the mean squared difference to the others."""
        if self._matrix is not None:
            return np.asarray(((counts @ self._matrix) * counts).sum(axis=1) / (counts.sum(axis=1) - 1))
        out = np.empty(counts.data.size)
        starts = counts.indptr.astype(np.int64)
        to_the_others(starts, self.values[counts.indices], counts.data, self.code, out)
        return np.asarray(np.add.reduceat(counts.data * out, starts[:-1]))


def matrix_of_differences(values: Floats, level: Level) -> Floats:
    """(values, values) squared differences."""
    return squared_differences(values[:, None], values, CODES[level])


class Ratios:
    """Ratio differences of many distinct values without looking at every pair of them.

    ((x - y) / (x + y))^2 = tanh^2((log x - log y) / 2) depends on the difference of logarithms alone and is smooth: its
    nearest poles lie at a distance of pi. On bins of logarithms at most 1 wide, 16 Chebyshev points a bin therefore
    stand in for any number of values to the last digits of a double. Points more than 40 apart differ by exactly 1.
    """

    POINTS = 16
    FAR = 40

    def __init__(self, values: Floats) -> None:
        from scipy.sparse import csr_array

        positive = np.flatnonzero(values > 0)
        self._zeros = np.flatnonzero(values == 0)
        logs = np.log(values[positive])
        low, spread = float(logs.min()), float(np.ptp(logs))
        self.n_bins = max(ceil(spread), 1)
        self._width = spread / self.n_bins or 1.0
        k = np.arange(self.POINTS)
        self._points = -np.cos((k + 0.5) * np.pi / self.POINTS) * self._width / 2
        bins = np.minimum((logs - low) // self._width, self.n_bins - 1).astype(np.int64)
        at = logs - low - (bins + 0.5) * self._width
        share = _lagrange(self._points, at)
        rows = np.repeat(positive, self.POINTS)
        columns = (bins[:, None] * self.POINTS + k).ravel()
        shape = (values.size, self.n_bins * self.POINTS)
        self._stand_in = csr_array((share.ravel(), (rows, columns)), shape=shape)

    def between(self, first: Floats, second: Floats) -> Floats:
        """(rows,) as `Difference.between`."""
        a, b = first @ self._stand_in, second @ self._stand_in
        total = np.zeros(first.shape[0])
        whole = b.sum(axis=1)
        for g in range(self.n_bins):
            here = slice(g * self.POINTS, (g + 1) * self.POINTS)
            near = range(max(g - self.FAR, 0), min(g + self.FAR + 1, self.n_bins))
            beside = slice(near.start * self.POINTS, near.stop * self.POINTS)
            apart = (np.array(near)[:, None] - g) * self._width + self._points
            squares = np.tanh((apart.ravel()[None, :] - self._points[:, None]) / 2) ** 2
            total += ((a[:, here] @ squares) * b[:, beside]).sum(axis=1)
            total += a[:, here].sum(axis=1) * (whole - b[:, beside].sum(axis=1))
        if self._zeros.size:
            zero_a, zero_b = first[:, self._zeros].sum(axis=1), second[:, self._zeros].sum(axis=1)
            total += zero_a * whole + zero_b * a.sum(axis=1)
        return total


def _lagrange(points: Floats, at: Floats) -> Floats:
    """(at, points) value of every point's Lagrange polynomial, by the barycentric formula (Berrut, Trefethen 2004)."""
    k = np.arange(points.size)
    weight = (-1.0) ** k * np.sin((k + 0.5) * np.pi / points.size)
    apart = at[:, None] - points
    exact = apart == 0
    terms = weight / np.where(exact, 1.0, apart)
    share = terms / terms.sum(axis=1, keepdims=True)
    return np.asarray(np.where(exact.any(axis=1, keepdims=True), exact, share))
