"""A lower bound of the number of changes where each change moves the normaliser too.

Let D be the difference in the direction of its sign, the sum over cells c of share x X / N: X the sum of weight x gain
of the first system minus that of the second, N the normaliser. Say k changes fall into cell c.

1. Each change takes from X at most its slope on the concave curve of its judgment, so that k changes take at most S(k),
   the sum of the k largest slopes of the cell.
2. N is the sum over levels v of (step of the gain at v) x C(n_v), where n_v documents have the level v or a higher one
   and C(n) is the sum of the first n weights of the ideal ranking. C rises, ever less steeply. A change by one grade
   moves one n_v by one; any other change moves each n_v by at most one. With k changes N is thus at most `largest` and
   at least `smallest`, where the n_v are free of each other (which allows more than there is).
3. So the cell is left with at least (X - S(k)) / largest if X - S(k) is 0 or more, and with at least
   (X - S(k)) / smallest if not; and never with less than -1, because scores lie between 0 and 1. Let F(k) be share x
   what this takes from the cell: at most so much can k changes in the cell take from D.
4. To reverse the sign, the changes must take more than D. For any price p > 0, k changes, however they are divided over
   the cells, take at most p k + sum over cells of max_j (F(j) - p j), because F(k_c) = p k_c + (F(k_c) - p k_c). So
   p k + sum of max > D, that is k > (D - sum of max) / p. Every price gives a lower bound, and the largest is taken:
   that of the concave hulls of all F, combined by steepness.

If n changes are known to reverse the sign, only F(0) to F(n) matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qrowd.influence.cells import Cells, Change, normalisers
from qrowd.influence.steps import Ordered
from qrowd.kernels.arrays import Floats

PRICES = 12  # that are tried for each pair
MOST = 128  # changes of a cell that are told one from another
AT_ONCE = 1 << 18  # numbers of a group of pairs


@dataclass(frozen=True, eq=False)
class NormaliserLimits:
    """(cells, changes + 1) the smallest and the largest normaliser after 0, 1, 2, ... changes of a cell."""

    smallest: Floats
    largest: Floats


def normaliser_limits(cells: Cells, change: Change, n: int) -> NormaliserLimits:
    """The limits for up to n changes of a cell."""
    today = cells.normaliser[:, None]
    if cells.ideal is None:
        return NormaliserLimits(*(np.repeat(today, n + 1, axis=1) for _ in range(2)))
    gains = np.tile(cells.gains, (len(cells.topics), 1))[:, None, :]
    k = np.arange(n + 1)[None, :, None]
    fewest = np.maximum(cells.counts[:, None, :] - k, cells.least[:, None, :])
    most = np.minimum(cells.counts[:, None, :] + k, cells.most[:, None, :])
    if change != "grade":
        return NormaliserLimits(normalisers(cells.ideal, gains, fewest), normalisers(cells.ideal, gains, most))
    steps = np.diff(gains, axis=2, prepend=0.0)
    added = np.diff(steps * cells.ideal[most], axis=1).reshape(len(today), -1)
    added = -np.sort(-added, axis=1)[:, :n]
    largest = today + np.concatenate([np.zeros_like(today), np.cumsum(added, axis=1)], axis=1)
    lost = steps * (cells.ideal[cells.counts][:, None, :] - cells.ideal[fewest])
    total = lost[..., 0]
    for v in range(1, lost.shape[2]):
        before, total = total, total.copy()
        for j in range(1, n + 1):
            np.maximum(total[:, j:], before[:, : n + 1 - j] + lost[:, j, v][:, None], out=total[:, j:])
    return NormaliserLimits(np.maximum(today - total, 0.0), largest)


def reductions(cells: Cells, limits: NormaliserLimits, pairs: Sequence[Ordered], by_cell: Floats, n: int) -> Floats:
    """(pairs, cells, n + 1) F: the most that 0 to n changes of a cell can take from the difference.

    by_cell : (pairs, cells). Steps that are left out of a pair have at most the slope `rest`.
    """
    n_cells = cells.share.size
    slopes = np.empty((len(pairs), n_cells, n + 1))
    slopes[...] = np.array([one.rest for one in pairs])[:, None, None]
    slopes[..., 0] = 0.0
    key = np.concatenate([p * n_cells + one.cell for p, one in enumerate(pairs)])
    bound = np.concatenate([one.bound for one in pairs])
    by = np.argsort(key, kind="stable")
    key = key[by]
    starts = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if key.size else np.empty(0, np.int64)
    place = np.arange(key.size) - np.repeat(starts, np.diff(np.append(starts, key.size)))
    inside = place < n
    slopes.reshape(-1, n + 1)[key[inside], place[inside] + 1] = bound[by][inside]
    rest = by_cell[..., None] - np.cumsum(slopes, axis=2, out=slopes)
    if cells.ideal is None:
        return np.asarray(by_cell[..., None] - rest)
    today, share = cells.normaliser[:, None], cells.share[:, None]
    smallest, largest = limits.smallest[:, : n + 1], limits.largest[:, : n + 1]
    up = today / np.where(largest > 0, largest, 1.0)
    down = np.minimum(today / np.where(smallest > 0, smallest, 1e-300), 1e300)
    left = np.where(rest >= 0, rest * up, np.maximum(rest * down, -share))
    left = np.where((today <= 0) & (largest > 0), -share, left)
    left[..., 0] = by_cell
    return np.asarray(by_cell[..., None] - left)


def least_by_prices(reduction: Floats, difference: Floats) -> Floats:
    """(pairs,) the least number of changes that the reductions allow; inf where even all of them are too few.

    reduction : (pairs, cells, changes + 1). difference : (pairs,) above 0.
    """
    n = reduction.shape[2] - 1
    number = np.arange(n + 1.0)
    enough = reduction.max(axis=2).sum(axis=1) > difference
    highest = np.maximum(reduction[:, :, 1:].max(axis=(1, 2)), 1e-300) if n else np.full(len(reduction), 1e-300)
    low, high = np.log(highest) - 14.0, np.log(highest)
    least = np.ones(len(reduction))
    for _ in range(PRICES):
        price = np.exp((low + high) / 2)
        values = reduction - price[:, None, None] * number
        maxima = values.max(axis=2)
        needed = (difference - maxima.sum(axis=1)) / price
        least = np.maximum(least, np.floor(needed - 1e-9 * (1 + np.abs(needed))) + 1)
        taken = maxima.sum(axis=1) + price * values.argmax(axis=2).sum(axis=1)
        low, high = (
            np.where(taken > difference, (low + high) / 2, low),
            np.where(taken > difference, high, (low + high) / 2),
        )
    return np.where(enough, least, np.inf)
