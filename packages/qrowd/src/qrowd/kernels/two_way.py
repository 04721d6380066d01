"""Topics by assessors: mean squares of a two-way table.

Henderson (1953), Estimation of Variance and Covariance Components. Biometrics 9(2), method III, for tables with holes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Codes, Floats


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Mean squares of topics, assessors and error, and what each adds to the variance of the mean.

    mean : (columns,) mean over topics of the topics' means over assessors.
    ms : (3, columns) mean squares of topics (assessors held fixed), of assessors (topics held fixed), of error; or
        (3, columns, columns) mean products.
    df : (3,) their degrees of freedom.
    weights : (3,) variance of the mean = weights[0] max(MS_t - MS_e, 0) + weights[1] max(MS_a - MS_e, 0)
        + weights[2] MS_e; all are 1 / (T A) in a full table.
    per : (2,) MS_t - MS_e and MS_a - MS_e over these are the components; A and T in a full table.
    """

    mean: Floats
    ms: Floats
    df: Floats
    weights: Floats
    per: Floats

    def components(self) -> Floats:
        """(3, columns) of topics, assessors and error; negative ones are 0."""
        above = np.maximum(self.ms[:2] - self.ms[2], 0.0) / self.per[:, None]
        return np.concatenate([above, self.ms[2:]])

    def variance(self) -> tuple[Floats, Floats]:
        """(columns,) variance of the mean over topics and assessors, and its degrees of freedom (Satterthwaite 1946).

        The variance is a sum of mean squares c_i MS_i; df = (sum c_i MS_i)^2 / sum (c_i MS_i)^2 / df_i. Without any
        variance df are nan.
        """
        positive = self.ms[:2] > self.ms[2]
        own = np.where(positive, self.weights[:2, None], 0.0)
        parts = np.concatenate([own, self.weights[2:, None] - own.sum(axis=0, keepdims=True)]) * self.ms
        variance = parts.sum(axis=0)
        squares = (parts**2 / self.df[:, None]).sum(axis=0)
        df = np.divide(variance**2, squares, out=np.full_like(variance, np.nan), where=squares > 0)
        return np.asarray(variance), np.asarray(df)


def two_way(values: Floats, *, products: bool = False) -> TwoWay:
    """Of a full table (topics, assessors, columns), two or more of each.

    products : `ms` is (3, columns, columns), the mean products of each two columns.
    """
    n_topics, n_assessors = values.shape[:2]
    sums = _products if products else _squares
    mean = values.mean(axis=(0, 1))
    centred = values - mean
    by_topic, by_assessor = centred.mean(axis=1), centred.mean(axis=0)
    rest = centred - by_topic[:, None] - by_assessor
    df = np.array([n_topics - 1, n_assessors - 1, (n_topics - 1) * (n_assessors - 1)], np.float64)
    squares = np.stack([n_assessors * sums(by_topic), n_topics * sums(by_assessor), sums(rest)])
    weights = np.full(3, 1.0 / (n_topics * n_assessors))
    return TwoWay(mean, _over(squares, df), df, weights, np.array([n_assessors, n_topics], np.float64))


def two_way_with_holes(values: Floats, known: NDArray[np.bool_], *, products: bool = False) -> TwoWay | None:
    """The same where only the `known` (topics, assessors) cells count: sums of squares from fitting constants.

    Where topics fall into groups with assessors of their own (pairs of assessors, say, each with topics of its own),
    every mean square is within groups. None where a mean square has no degrees of freedom: assessors nested in topics.
    """
    sums = _products if products else _squares
    n_topics, n_assessors = known.shape
    present, turn, incidence, df, inverse = _swept(known.tobytes(), n_topics)
    if inverse is None:
        return None
    n, per_topic = present.sum(), present.sum(axis=1)
    kept, swept = incidence.sum(axis=0), incidence.sum(axis=1)
    filled = np.where(known[:, :, None], values, 0.0)
    mean = (filled.sum(axis=1) / per_topic[:, None]).mean(axis=0)
    filled = np.where(known[:, :, None], values - mean, 0.0)
    topic_sum, assessor_sum = filled.sum(axis=1), filled.sum(axis=0)
    kept_sum, swept_sum = (topic_sum, assessor_sum) if turn else (assessor_sum, topic_sum)
    right = kept_sum - (incidence / swept[:, None]).T @ swept_sum
    effect = inverse @ right
    adjusted = sums(effect, right)  # of what is kept, what is swept out held fixed
    of_mean = sums(filled.sum(axis=(0, 1))[None] / np.sqrt(n))
    swept_alone = sums(swept_sum / np.sqrt(swept)[:, None]) - of_mean
    kept_alone = sums(kept_sum / np.sqrt(kept)[:, None]) - of_mean
    other = swept_alone + adjusted - kept_alone
    error = sums(filled) - of_mean - swept_alone - adjusted
    squares = np.stack([adjusted, other, error] if turn else [other, adjusted, error])
    if not products:
        squares = np.maximum(squares, 0.0)
    share = present / per_topic[:, None] / n_topics
    per = np.array([(n - n_assessors) / df[0], (n - n_topics) / df[1]])
    weights = np.array([1 / n_topics / per[0], (share.sum(axis=0) ** 2).sum() / per[1], (share**2).sum()])
    return TwoWay(mean, _over(squares, df), df, weights, per)


def of_clusters(values: Floats, known: NDArray[np.bool_], cluster: Codes) -> tuple[Floats, NDArray[np.bool_]]:
    """(clusters, assessors, columns) values that stand for those of topics in clusters, and where they are known.

    They are pseudo-values of the jackknife that leaves out one cluster at a time, made to have the mean of the topics:
    mean + (C - 1) / (T - T_c) times the sum over the T_c topics of the cluster of what lies above the mean, less the
    mean of this. So their mean is that over topics, and the variance of the mean is the jackknife's, which does not
    take topics of one cluster as independent. An assessor weighs in a cluster as in its topics; in a full table, what
    lies above an assessor's own mean counts.

    values : (topics, assessors, columns); known : (topics, assessors); cluster : (topics,) numbers from 0.
    Cameron, Gelbach, Miller (2011), Robust Inference with Multiway Clustering. J. Bus. Econ. Stat. 29(2).
    """
    n_clusters = int(cluster.max()) + 1
    members = (cluster == np.arange(n_clusters)[:, None]).astype(np.float64)
    weight = known / known.sum(axis=1)[:, None]
    mean = (weight[:, :, None] * values).sum(axis=1).mean(axis=0)
    centre = values.mean(axis=0) if known.all() else np.broadcast_to(mean, values.shape[1:])
    present = np.asarray(members @ known > 0)
    sums = np.tensordot(members, weight[:, :, None] * (values - centre), axes=1)
    factor = (n_clusters - 1) * present.sum(axis=1) / (cluster.size - members.sum(axis=1))
    above = factor[:, None, None] * sums
    above -= above.mean(axis=0) if known.all() else (above.sum(axis=1) / present.sum(axis=1)[:, None]).mean(axis=0)
    return np.where(present[:, :, None], centre + above, 0.0), present


def fitted(values: Floats) -> Floats:
    """(assessors, topics, systems) scores in which the holes of a table (nan) are filled so that means are comparable.

    A cell (assessor, topic) is a block of an incomplete block design: score = cell + system + error is fitted by least
    squares, each cell weighted by 1 / the number of assessors of its topic. A score becomes the fitted value plus what
    the cell adds to the systems' effects by the jackknife over topics: T - 1 times the change of the effects if its
    topic is left out. So the mean over topics is that of the fit, and the mean squares are those of its error. A table
    without holes stays as it is.

    Holes stay where a system has scores on fewer than 2 topics or is not connected with the others by shared cells.
    """
    if not np.isnan(values[~np.isnan(values).all(axis=2)]).any():
        return values
    chosen = _connected(~np.isnan(values))
    if chosen.sum() < 2:
        return values
    some = values[:, :, chosen]
    has = ~np.isnan(some)
    cells = np.asarray(has.any(axis=2))
    n = np.maximum(has.sum(axis=2, keepdims=True), 1)
    weight = has / np.maximum(cells.sum(axis=0), 1)[:, None]
    # (topics, systems, systems): the normal equations of each topic, the cells' effects swept out.
    equations = np.stack([np.diag(w.sum(axis=0)) - (w / k).T @ h for w, k, h in _by_topic(weight, n, has)])
    right = weight * (np.where(has, some, 0.0) - np.nansum(some, axis=2, keepdims=True) / n)
    effect = np.linalg.pinv(equations.sum(axis=0), hermitian=True) @ right.sum(axis=(0, 1))
    fit = effect + np.where(has, some - effect, 0.0).sum(axis=2, keepdims=True) / n
    rest = np.where(has, some - fit, 0.0)
    with_scores = np.flatnonzero(cells.any(axis=0))
    for t in with_scores:
        without = np.linalg.pinv(equations.sum(axis=0) - equations[t], hermitian=True)
        rest[:, t] = (with_scores.size - 1) * rest[:, t] @ without
    mean = rest.sum(axis=0)[with_scores] / cells.sum(axis=0)[with_scores, None]
    out = values.copy()
    out[:, :, chosen] = np.where(cells[:, :, None], fit + rest - mean.mean(axis=0), np.nan)
    return out


def _by_topic(*arrays: NDArray[Any]) -> Iterator[tuple[NDArray[Any], ...]]:
    return zip(*(array.swapaxes(0, 1) for array in arrays), strict=True)


def _connected(has: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(systems,) those on two topics or more, in the largest group that shared cells connect; has : (..., systems)."""
    from scipy.sparse.csgraph import connected_components

    cells = has.reshape(-1, has.shape[-1]).astype(np.int64)
    enough = has.any(axis=0).sum(axis=0) > 1
    _, group = connected_components(cells.T @ cells)
    return np.asarray((group == np.bincount(group, enough).argmax()) & enough)


@lru_cache(maxsize=4)
def _swept(cells: bytes, n_topics: int) -> tuple[Floats, bool, Floats, Floats, Floats | None]:
    """What the known cells alone decide: systems compared pair by pair have the same ones again and again.

    Returns 1 for each known cell (topics, assessors); whether assessors are swept out; the same cells, those that are
    kept in columns; the degrees of freedom; and the inverse of the equations of what is kept, None where a mean square
    has no degrees of freedom.
    """
    present = np.frombuffer(cells, bool).reshape(n_topics, -1).astype(np.float64)
    n_assessors = present.shape[1]
    # The assessors' equations once topics are swept out, or the other way: whichever are fewer.
    turn = n_topics < n_assessors
    incidence = present.T if turn else present
    kept, swept = incidence.sum(axis=0), incidence.sum(axis=1)
    matrix = np.diag(kept) - incidence.T @ (incidence / swept[:, None])
    # Groups of topics and assessors that share nothing: what differs between groups is left to neither.
    groups = kept.size - int(np.linalg.matrix_rank(matrix, tol=1e-9 * float(kept.max())))
    df = np.array([n_topics - groups, n_assessors - groups, present.sum() - n_topics - n_assessors + groups])
    inverse = None if (df < 1).any() else np.linalg.pinv(matrix, hermitian=True)
    return present, turn, incidence, df, inverse


def _squares(left: Floats, right: Floats | None = None) -> Floats:
    """(columns,) sums over rows of the products of the same columns of both, or of the squares of one."""
    left, right = _rows(left), _rows(left if right is None else right)
    return np.asarray((left * right).sum(axis=0))


def _products(left: Floats, right: Floats | None = None) -> Floats:
    """(columns, columns) sums over rows of the products of each column of one and each of the other."""
    left, right = _rows(left), _rows(left if right is None else right)
    return left.T @ right


def _rows(values: Floats) -> Floats:
    return values.reshape(-1, values.shape[-1])


def _over(squares: Floats, df: Floats) -> Floats:
    return squares / df.reshape(-1, *[1] * (squares.ndim - 1))
