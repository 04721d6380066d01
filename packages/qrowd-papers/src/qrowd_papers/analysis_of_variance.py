"""What makes scores vary: analysis of variance of any response by any factors, and the size of each effect.

Equations 28, 29 and 31 of Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple
Assessors. ACM TOIS 36(2), sections 6 and 7; omega squared after Olejnik, Algina (2003), Generalized Eta and Omega
Squared Statistics. Psychol. Methods 8(4), 434-447.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result

if TYPE_CHECKING:
    import pandas

Term = tuple[int, ...]  # numbers of factors: one for a main effect, two for an interaction


@dataclass(frozen=True, eq=False)
class _Coded:
    """Responses that are not nan, and the level each factor has there.

    response : (rows,). codes : (factors, rows) numbers into levels. levels : of each factor, in order of appearance.
    """

    response: Floats
    factors: tuple[str, ...]
    codes: NDArray[np.int64]
    levels: tuple[tuple[str, ...], ...]

    def cells(self, factors: tuple[int, ...]) -> NDArray[np.int64]:
        """(rows,) number of the combination of levels of some of the factors."""
        cells = np.zeros(self.response.size, np.int64)
        for i in factors:
            cells = cells * len(self.levels[i]) + self.codes[i]
        return cells


@dataclass(frozen=True, eq=False)
class MainEffects(Result):
    """Mean response at every level of every factor; one row each.

    standard_error : of the mean, from the spread of the responses at that level; nan for a single one.
    """

    response: str
    factor: tuple[str, ...]
    level: tuple[str, ...]
    mean: Floats
    standard_error: Floats
    n: NDArray[np.int64]

    _COLUMNS = ("factor", "level", "mean", "standard_error", "n")

    def of(self, factor: str) -> MainEffects:
        """The levels of one factor."""
        rows = [i for i, name in enumerate(self.factor) if name == factor]
        if not rows:
            raise ArgumentError(f"factor {factor!r}: choose from {', '.join(dict.fromkeys(self.factor))}")
        names = tuple(self.factor[i] for i in rows), tuple(self.level[i] for i in rows)
        return MainEffects(self.response, *names, self.mean[rows], self.standard_error[rows], self.n[rows])


@dataclass(frozen=True, eq=False)
class InteractionEffects(Result):
    """Mean response in every cell of two factors; arrays are (levels of the first, levels of the second).

    A cell without any response has mean nan and n 0.
    """

    response: str
    factors: tuple[str, str]
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    mean: Floats
    standard_error: Floats
    n: NDArray[np.int64]

    def _columns(self) -> dict[str, Any]:
        first, second = self.levels
        return {
            self.factors[0]: np.repeat(np.array(first, object), len(second)),
            self.factors[1]: np.tile(np.array(second, object), len(first)),
            **{name: getattr(self, name).ravel() for name in ("mean", "standard_error", "n")},
        }


@dataclass(frozen=True, eq=False)
class Anova(Result):
    """An analysis of variance; every array is (sources,), the last two being error and total.

    sources : the factors, the interactions as "a*b", "Error", "Total".
    ss, df, ms : sum of squares, degrees of freedom, mean square.
    f, p : against the error's mean square; nan where there is none to hold against. inf where nothing is left to error.
    omega_squared : size of the effect, negative ones counting as 0; .01 to .06 is small, to .14 medium, above large.
    n : responses analysed. effects : mean response at every level.
    """

    response: str
    sources: tuple[str, ...]
    ss: Floats
    df: NDArray[np.int64]
    ms: Floats
    f: Floats
    p: Floats
    omega_squared: Floats
    n: int
    effects: MainEffects

    _COLUMNS = ("sources", "ss", "df", "ms", "f", "p", "omega_squared")

    @property
    def error_ms(self) -> float:
        """Mean square of the error."""
        return float(self.ms[-2])

    @property
    def error_df(self) -> int:
        """Degrees of freedom of the error."""
        return int(self.df[-2])


def omega_squared(f: float, df: float, n: int) -> float:
    """Size of an effect from its F, its degrees of freedom and the number n of responses (total df + 1).

    df (F - 1) / (df (F - 1) + n) (equation 29). An effect with F below 1 would be negative and counts as 0, as in the
    paper.

    >>> round(omega_squared(171.8716, 33, 5916), 4)
    0.488
    """
    if np.isinf(f):
        return 1.0
    size = df * (f - 1) / (df * (f - 1) + n)
    return 0.0 if size < 0 else float(size)


def anova(
    table: Mapping[str, Sequence[Any]] | pandas.DataFrame,
    response: str,
    factors: Sequence[str],
    interactions: Iterable[Sequence[str]] = (),
) -> Anova:
    """Analysis of variance of a response by main effects and chosen interactions of two factors, all fixed.

    table : columns by name, one row per response. Rows without a response are left out.

    y = mean + sum of main effects + sum of interactions + error (equations 28 and 31). A subject that is measured
    repeatedly (the paper's K-tuple size, a topic) is one of the factors.

    Raises
    ------
    ArgumentError
        A column that is not there; several factors whose combinations do not occur equally often.

    >>> columns = {"y": [1.0, 2, 3, 5], "topic": ["p", "p", "q", "q"], "system": ["a", "b", "a", "b"]}
    >>> table = anova(columns, "y", ["topic", "system"])
    >>> table.sources, table.ss.tolist()
    (('topic', 'system', 'Error', 'Total'), [6.25, 2.25, 0.25, 8.75])
    """
    from scipy.special import fdtrc

    names = tuple(dict.fromkeys(factors))
    data = _coded(table, response, names)
    terms: list[Term] = [(i,) for i in range(len(names))]
    terms += [(names.index(one), names.index(other)) for one, other in interactions]
    y = data.response
    centred = y - y.mean()
    if len(names) > 1 and not _balanced(data):
        raise ArgumentError(
            f"{response}: the combinations of {', '.join(names)} do not occur equally often; leave out levels"
        )
    model = _crossed(data, terms, centred)
    ss = np.array([*model.ss, model.residual @ model.residual, centred @ centred])
    df = np.array([*model.df, y.size - model.rank, y.size - 1])
    # What rounding leaves where nothing varies.
    ss[ss <= y.size * (16 * np.finfo(float).eps * np.abs(y).max()) ** 2] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ms = ss / df
        f = ms / ms[-2]
    f[-2:] = ms[-1] = np.nan
    sizes = np.array([omega_squared(value, k, y.size) for value, k in zip(f, df, strict=True)])
    p = np.array([0.0 if np.isinf(value) else fdtrc(k, df[-2], value) for value, k in zip(f, df, strict=True)])
    sources = (*("*".join(names[i] for i in term) for term in terms), "Error", "Total")
    effects = _main_effects(data, response)
    return Anova(response, sources, ss, df, ms, f, p, sizes, y.size, effects)


def main_effects(
    table: Mapping[str, Sequence[Any]] | pandas.DataFrame, response: str, factors: Sequence[str]
) -> MainEffects:
    """Mean response at every level of every factor, over everything else.

    table : as in `anova`. These are plain means, which other factors may have shifted in an unbalanced table.
    """
    return _main_effects(_coded(table, response, tuple(dict.fromkeys(factors))), response)


def interaction_effects(
    table: Mapping[str, Sequence[Any]] | pandas.DataFrame, response: str, first: str, second: str
) -> InteractionEffects:
    """Mean response in every cell of two factors: do the levels of one change places with those of the other?"""
    data = _coded(table, response, (first, second))
    shape = len(data.levels[0]), len(data.levels[1])
    cells = data.codes[0] * shape[1] + data.codes[1]
    mean, error, n = _means(cells, shape[0] * shape[1], data.response)
    levels = data.levels[0], data.levels[1]
    return InteractionEffects(
        response, (first, second), levels, mean.reshape(shape), error.reshape(shape), n.reshape(shape)
    )


# ---------------------------------------------------------------------- sums of squares


class Fit(NamedTuple):
    """Sums of squares and degrees of freedom of every term; rank of the model with its mean; what it leaves."""

    ss: list[float]
    df: list[int]
    rank: int
    residual: Floats


def _crossed(data: _Coded, terms: list[Term], centred: Floats) -> Fit:
    """From means of cells, which are equally full, and of what they are made of."""
    ss, df = [], []
    residual = centred.copy()
    deviation: dict[Term, Floats] = {}
    for term in terms:
        sizes = [len(data.levels[i]) for i in term]
        cells = data.cells(term)
        mean = _means(cells, prod(sizes), centred)[0].reshape(sizes)
        if len(term) == 2:
            first, second = ((term[0],), (term[1],))
            mean = mean - deviation[first][:, None] - deviation[second]
        deviation[term] = mean
        effect = mean.ravel()[cells]
        residual -= effect
        ss.append(float(effect @ effect))
        df.append(prod(size - 1 for size in sizes))
    return Fit(ss, df, 1 + sum(df), residual)


def _balanced(data: _Coded) -> bool:
    """Whether every combination of the factors' levels occurs, and equally often."""
    if prod(len(levels) for levels in data.levels) > data.response.size:
        return False
    counts = np.bincount(data.cells(tuple(range(len(data.factors)))))
    return counts.size == prod(len(levels) for levels in data.levels) and bool((counts == counts[0]).all())


def _main_effects(data: _Coded, response: str) -> MainEffects:
    parts = [_means(codes, len(levels), data.response) for codes, levels in zip(data.codes, data.levels, strict=True)]
    mean, error, n = (np.concatenate(part) for part in zip(*parts, strict=True))
    factor = tuple(name for name, levels in zip(data.factors, data.levels, strict=True) for _ in levels)
    return MainEffects(response, factor, tuple(level for levels in data.levels for level in levels), mean, error, n)


def _means(cells: NDArray[np.int64], n_cells: int, y: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean, its standard error and the number of responses of every cell."""
    n = np.bincount(cells, minlength=n_cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(cells, y, n_cells) / n
        squares = np.bincount(cells, (y - mean[cells]) ** 2, n_cells)
        error = np.where(n > 1, np.sqrt(squares / (n - 1) / n), np.nan)
    return mean, error, n


# ---------------------------------------------------------------------- columns


def _coded(table: Mapping[str, Sequence[Any]] | pandas.DataFrame, response: str, factors: tuple[str, ...]) -> _Coded:
    """The response and the factors by their names; rows without a response are left out.

    Raises
    ------
    ArgumentError
        A column that is not there.
    """
    import pandas as pd

    frame = pd.DataFrame(table)
    if missing := [name for name in (response, *factors) if name not in frame]:
        raise ArgumentError(f"no column {missing[0]!r} among {', '.join(map(str, frame.columns))}")
    values = frame[response].to_numpy(np.float64, na_value=np.nan)
    has_response = ~np.isnan(values)
    coded = [pd.factorize(frame.loc[has_response, name].astype(str)) for name in factors]
    codes = np.array([numbers for numbers, _ in coded], np.int64)
    levels = tuple(tuple(names) for _, names in coded)
    return _Coded(values[has_response], factors, codes, levels)
