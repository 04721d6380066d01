"""Kappa: agreement beyond chance of two assessors (Cohen) or many (Fleiss).

Cohen (1960), A Coefficient of Agreement for Nominal Scales. Educ. Psychol. Meas. 20(1), 37-46; Cohen (1968), Weighted
Kappa. Psychol. Bull. 70(4), 213-220; Fleiss (1971), Measuring Nominal Scale Agreement among Many Raters. Psychol. Bull.
76(5), 378-382; Fleiss, Cohen, Everitt (1969), Large Sample Standard Errors of Kappa and Weighted Kappa. Psychol. Bull.
72(5), 323-327.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from qrowd.agreement.document_counts import document_counts, need_two_assessors
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.kernels.counts import confusion
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.labels import number_of
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.result import Result

Weights = Literal["linear", "quadratic"]

MOST_VALUES = 1000


@dataclass(frozen=True)
class Kappa(Result):
    """Agreement of two assessors.

    value : (observed - expected) / (1 - expected); nan if expected agreement is 1.
    observed, expected : share of documents on which they agree, and on which they would agree by chance; with weights,
        a document on which they differ counts in part.
    standard_error : asymptotic, of the value; nan if the value is nan.
    n_documents : judged by both.
    weights : the option in force.
    """

    summary = "Agreement of two assessors"

    value: float
    observed: float
    expected: float
    standard_error: float
    n_documents: int
    weights: Weights | None

    _COLUMNS = ("value", "observed", "expected", "standard_error", "n_documents", "weights")


@dataclass(frozen=True)
class FleissKappa(Result):
    """Agreement of many assessors.

    value, expected : as for two assessors.
    observed : share of pairs of judgments of the same document that agree; every document has the same weight.
    standard_error : jackknife over documents, of the value; nan if a value without one of the documents is nan.
    n_documents, n_judgments : documents judged twice or more, and their judgments.
    fewest, most : judgments of a document. Fleiss assumes that they are equal; every document has the same weight
        anyway.
    weights : the option in force.
    """

    summary = "Agreement of many assessors"

    value: float
    observed: float
    expected: float
    standard_error: float
    n_documents: int
    n_judgments: int
    fewest: int
    most: int
    weights: Weights | None

    _COLUMNS = (*Kappa._COLUMNS[:-1], "n_judgments", "fewest", "most", "weights")


def cohen_kappa(
    judgments: Judgments,
    first: str,
    second: str,
    *,
    weights: Weights | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> Kappa:
    """Agreement of two assessors on the documents both judged, beyond chance.

    Parameters
    ----------
    weights : None: any difference is a full disagreement. "linear" or "quadratic": a difference weighs as much as the
        difference of the two values, or its square, over that of the lowest and highest value either assessor gave.
    repeats : which of an assessor's judgments of the same document counts.
    combine_scales : how values on unlike scales are combined: "auto" compares relevant or not, or with weights values
        divided by their scale's maximum; "as-is", "rescaled" and "relevant" do one of these with any weights.

    Raises
    ------
    ArgumentError
        No assessor has that name.
    NoOverlapError
        The two assessors judged no document in common.
    ScaleError
        Magnitudes beside another scale; "as-is" of scales that cannot be one.

    >>> grades = {"ann": (1, 1, 0, 0), "bob": (1, 0, 0, 0)}
    >>> judgments = Judgments.from_rows([("q", d, who, v) for who, row in grades.items() for d, v in zip("abcd", row)])
    >>> kappa = cohen_kappa(judgments, "ann", "bob")
    >>> kappa.value, kappa.observed, kappa.expected, kappa.n_documents
    (0.5, 0.75, 0.5, 4)
    """
    for name in (first, second):
        number_of(name, judgments.assessors, "assessor")
    if first == second:
        raise ArgumentError(f"{first!r} and {second!r} are the same assessor; name two")
    both = judgments.select(assessors=lambda name: name in (first, second))
    one = on_one_scale(both, combine_scales, unlike_with(weights)).single(repeats=repeats)
    pairs = one.pair_numbers
    rows = [np.flatnonzero((one.assessor == one.assessors.index(name)) & (one.value >= 0)) for name in (first, second)]
    _, i, j = np.intersect1d(pairs[rows[0]], pairs[rows[1]], assume_unique=True, return_indices=True)
    if not i.size:
        raise NoOverlapError(
            f"{first!r} and {second!r} judged no document in common, so they have no kappa; "
            "pairwise_agreement(judgments) shows which assessors do"
        )
    values, code = np.unique(np.concatenate([one.value[rows[0][i]], one.value[rows[1][j]]]), return_inverse=True)
    credit = credits(values, weights)
    share = confusion(code[: i.size], code[i.size :], values.size) / i.size
    of_first, of_second = share.sum(axis=1), share.sum(axis=0)
    observed, expected, value = map(float, kappas(share, credit))
    if values.size == 1:
        return Kappa(np.nan, observed, expected, np.nan, i.size, weights)
    # Fleiss, Cohen and Everitt (1969), equation 13, with weights of agreement, as the variance that it is.
    around = (credit @ of_second)[:, None] + (of_first @ credit)[None, :]
    part = credit - around * (1 - value)
    variance = (share * (part - (share * part).sum()) ** 2).sum()
    # Rounding would turn a variance of 0 into a standard error of 1e-8.
    error = np.sqrt((variance if variance > 1e-14 else 0.0) / i.size) / (1 - expected)
    return Kappa(value, observed, expected, float(error), i.size, weights)


def fleiss_kappa(
    judgments: Judgments,
    *,
    weights: Weights | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> FleissKappa:
    """Agreement of many assessors, whoever they are, on the documents judged at least twice, beyond chance.

    observed = mean over documents of sum_ij w_ij n_i (n_j - [i = j]) / (m (m - 1)); expected = sum_ij w_ij p_i p_j, p
    being the values' shares of all judgments; w = 1 for equal values, else 0 or, with weights, as for `cohen_kappa`.

    Parameters
    ----------
    weights, repeats, combine_scales : as in `cohen_kappa`.
    combine_scales : what becomes of unlike scales; as for `cohen_kappa`.

    Raises
    ------
    NoOverlapError
        Fewer than two assessors; no document judged often enough.
    """
    need_two_assessors(judgments)
    judgments = on_one_scale(judgments, combine_scales, unlike_with(weights))
    data = document_counts(judgments, level="nominal", repeats=repeats)
    (documents,) = data.groups
    values, size = documents.values, documents.size
    credit = credits(values, weights)
    counts = documents.counts if isinstance(documents.counts, np.ndarray) else documents.counts.toarray()
    agree = (((counts @ credit) * counts).sum(axis=1) - size) / (size * (size - 1))
    totals = counts.sum(axis=0)
    observed = float(agree.mean())
    expected = float(_by_chance(totals[None, :], credit)[0])
    value = error = np.nan
    n = size.size
    if values.size > 1:
        value = (observed - expected) / (1 - expected)
        if n > 1:
            chance = _by_chance(totals - counts, credit)
            chance[chance > 1 - 1e-12] = np.nan  # without that document all values are equal
            without = ((agree.sum() - agree) / (n - 1) - chance) / (1 - chance)
            error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    total = int(size.sum())
    return FleissKappa(value, observed, expected, error, n, total, int(size.min()), int(size.max()), weights)


def unlike_with(weights: Weights | None) -> Combined:
    """What "auto" compares on unlike scales: relevant or not; with weights, values over their scale's maximum."""
    return "relevant" if weights is None else "rescaled"


def credits(values: Floats, weights: Weights | None) -> Floats:
    """(values, values) credit for each pair of values, from 1 for equal ones down to 0."""
    check_choice("weights", weights, (None, *get_args(Weights)))
    if values.size > MOST_VALUES:
        raise ArgumentError(
            f"{values.size} distinct values are too many for kappa; krippendorff_alpha(judgments, 'interval') takes any"
        )
    if weights is None or values.size == 1:
        return np.eye(values.size)
    distance = np.abs(values[:, None] - values[None, :]) / (values[-1] - values[0])
    return np.asarray(1 - (distance if weights == "linear" else distance**2))


def kappas(counts: Floats, credit: Floats) -> tuple[Floats, Floats, Floats]:
    """(...) observed and expected agreement, and kappa, of tables (..., values, values) of two assessors' values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / counts.sum(axis=(-2, -1), keepdims=True)
        observed = (share * credit).sum(axis=(-2, -1))
        expected = ((share.sum(axis=-1) @ credit) * share.sum(axis=-2)).sum(axis=-1)
        value = np.where(1 - expected > 1e-12, (observed - expected) / (1 - expected), np.nan)
    return observed, expected, value


def _by_chance(counts: Floats, credit: Floats) -> Floats:
    """(rows,) expected agreement; counts : (rows, values) how often each value was given."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(((share @ credit) * share).sum(axis=1))
