"""Agreement of each pair of assessors, and the table of one assessor's values given another's.

The label table: Carterette, Bennett, Chickering, Dumais (2008), Here or There: Preference Judgments for Relevance.
ECIR, Tables 1 to 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from qrowd.agreement.document_counts import document_counts, need_two_assessors
from qrowd.agreement.kappa import Weights, credits, unlike_with
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.counts import coincidences
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result, Tables


@dataclass(frozen=True, eq=False)
class PairwiseAgreement(Result):
    """Agreement of each pair of assessors on the documents both judged.

    assessors : labels of the rows and columns of all matrices, which are symmetric.
    n : documents both judged (on the diagonal: judged by the assessor).
    agreement : share of documents on which they agree; with weights, a difference counts in part.
    expected : agreement by chance, from the values each gave to these documents.
    kappa : (agreement - expected) / (1 - expected).

    Entries are nan where they are undefined, and on the diagonal of kappa and expected.
    """

    summary = "Agreement of each pair of assessors on the documents both judged"

    assessors: tuple[str, ...]
    n: Ints
    agreement: Floats
    expected: Floats
    kappa: Floats
    weights: Weights | None

    @property
    def mean_agreement(self) -> float:
        """Share of agreeing pairs of judgments over all pairs of assessors; each pair of judgments counts once."""
        return self._mean(self.agreement)

    @property
    def mean_kappa(self) -> float:
        """Mean kappa of the pairs of assessors that have one, weighted by the documents both judged."""
        return self._mean(self.kappa)

    def _mean(self, matrix: Floats) -> float:
        upper = np.triu_indices(len(self.assessors), 1)
        value = matrix[upper]
        n = self.n[upper]
        defined = ~np.isnan(value)
        return float(np.average(value[defined], weights=n[defined])) if defined.any() else np.nan

    def _tables(self) -> Tables:
        matrices = {name: partial(self._matrix, name) for name in ("agreement", "expected", "kappa", "n")}
        return {"pairs": self._pairs, **matrices}

    def _pairs(self) -> dict[str, Any]:
        i, j = np.nonzero(np.triu(self.n, 1))
        names = np.array(self.assessors, object)
        return {
            "first": names[i],
            "second": names[j],
            "n_documents": self.n[i, j],
            "agreement": self.agreement[i, j],
            "expected": self.expected[i, j],
            "kappa": self.kappa[i, j],
        }

    def _matrix(self, name: str) -> dict[str, Any]:
        return {"assessor": self.assessors, **dict(zip(self.assessors, getattr(self, name).T, strict=True))}


def pairwise_agreement(
    judgments: Judgments,
    *,
    weights: Weights | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> PairwiseAgreement:
    """Share of agreement and Cohen's kappa of each pair of assessors, on the documents both judged.

    Parameters
    ----------
    weights : None, "linear" or "quadratic", as in `cohen_kappa`; lowest and highest value are those of all assessors.
    repeats : which of an assessor's judgments of the same document counts.
    combine_scales : as in `cohen_kappa`; all pairs are compared in the same way.

    Raises
    ------
    NoOverlapError
        Fewer than two assessors; no pair of them shares a document.
    ScaleError
        Magnitudes beside another scale; "as-is" of scales that cannot be one.
    """
    need_two_assessors(judgments)
    document, who, value = _coded(on_one_scale(judgments, combine_scales, unlike_with(weights)), repeats)
    values = np.unique(value)
    credits(values, weights)
    n, disagreement, by_chance = _sums(document, who, value, values, len(judgments.assessors), weights)
    if not np.triu(n, 1).any():
        raise NoOverlapError("no pair of assessors judged a document in common, so there is no agreement to compute")
    scale = 1.0 if weights is None else float(np.ptp(values)) ** (2 if weights == "quadratic" else 1)
    scale = scale or 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.where(n > 0, 1 - disagreement / scale / n, np.nan)
        expected = np.where(n > 0, 1 - by_chance / scale / n, np.nan)
        # Expected agreement is 1 if both assessors gave one and the same value throughout.
        kappa = np.where(1 - expected > 1e-12, (observed - expected) / (1 - expected), np.nan)
    np.fill_diagonal(expected, np.nan)
    np.fill_diagonal(kappa, np.nan)
    return PairwiseAgreement(judgments.assessors, n.astype(np.int64), observed, expected, kappa, weights)


def _sums(
    document: Ints, who: Ints, value: Floats, values: Floats, n_assessors: int, weights: Weights | None
) -> tuple[Floats, Floats, Floats]:
    """(assessors, assessors) documents both judged, and sums of differences: between the two, and as chance would have.

    document, who, value : of each judgment, at most one for each document and assessor. values : distinct, ascending.

    Agreement on grades is a sum of agreements on yes or no: over values, or with linear weights over thresholds.
    """
    from scipy.sparse import csc_array

    code = np.searchsorted(values, value)
    shape = (int(document.max(initial=-1)) + 1, n_assessors)

    def table(weight: Floats) -> Any:
        used = weight != 0
        return csc_array((weight[used], (document[used], who[used])), shape=shape)

    def product(first: Any, second: Any) -> Floats:
        return np.asarray((first.T @ second).toarray(), np.float64)

    judged = table(np.ones(code.size))
    n = product(judged, judged)
    disagreement = np.zeros(n.shape)
    by_chance = np.zeros(n.shape)
    with np.errstate(invalid="ignore"):
        if weights == "quadratic":
            x = values[code] - values.mean()
            sums = product(table(x), judged)
            squares = product(table(x**2), judged)
            both = squares + squares.T
            return n, both - 2 * product(table(x), table(x)), both - 2 * sums * sums.T / n
        steps = np.diff(values) if weights == "linear" else np.full(values.size, 0.5)
        for k, step in enumerate(steps.tolist()):
            yes = table((code > k if weights == "linear" else code == k).astype(np.float64))
            counts = product(yes, judged)
            disagreement += step * (counts + counts.T - 2 * product(yes, yes))
            by_chance += step * (counts + counts.T - 2 * counts * counts.T / n)
    return n, disagreement, by_chance


def _coded(judgments: Judgments, repeats: Repeats) -> tuple[Ints, Ints, Floats]:
    """(judgments,) number of the document, number of the assessor, and value; at most one per document and assessor."""
    one = judgments.single(repeats=repeats)
    judged = one.value >= 0
    _, document = np.unique(one.pair_numbers[judged], return_inverse=True)
    number = {name: i for i, name in enumerate(judgments.assessors)}
    who = np.array([number[name] for name in one.assessors], np.int64)[one.assessor[judged]]
    return document, who, one.value[judged]


# ------------------------------------------------------------------ values of one assessor given those of another


@dataclass(frozen=True, eq=False)
class LabelTable(Result):
    """How often one assessor gives the column's value to a document to which another gives the row's.

    values : of rows and columns.
    counts : (values, values), symmetric: each pair of judgments is counted in both directions.
    n_documents, n_pairs : number of documents and of pairs, each pair counted once.
    """

    summary = "How often one assessor gives the column's value to a document to which another gives the row's"

    values: tuple[Any, ...]
    counts: Floats
    n_documents: int
    n_pairs: int

    @property
    def total(self) -> Floats:
        """(values,) sums of the rows."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def share(self) -> Floats:
        """(values,) share of each value among the judgments."""
        return np.asarray(self.total / self.counts.sum())

    @property
    def probability(self) -> Floats:
        """(values, values) probability of the column's value given the row's; rows sum to 1."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.counts / self.total[:, None])

    @property
    def agreement(self) -> float:
        """Share of pairs that agree."""
        return float(self.counts.trace() / self.counts.sum())

    def _columns(self) -> dict[str, Any]:
        names = [f"{value:g}" if isinstance(value, float) else str(value) for value in self.values]
        columns = dict(zip(names, self.probability.T, strict=True))
        first = {"value": np.array(names, object)}
        return {**first, **columns, "total": self.total, "share": self.share}


def label_table(
    judgments: Judgments,
    *,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> LabelTable:
    """Distribution of one assessor's value given another's value for the same document (the paper's Table 1).

    Parameters
    ----------
    repeats : which of an assessor's judgments of the same document counts.
    combine_scales : how values on unlike scales are combined: "auto" makes them relevant or not.

    Raises
    ------
    NoOverlapError
        Fewer than two assessors; no document judged twice.
    """
    need_two_assessors(judgments)
    data = document_counts(judgments, level="nominal", repeats=repeats, combine_scales=combine_scales)
    (documents,) = data.groups
    if not isinstance(documents.counts, np.ndarray):
        raise ArgumentError(f"{documents.values.size} distinct values are too many for a table; recode them to levels")
    counts = coincidences(documents.counts, np.ones(documents.size.size))
    n_pairs = int((documents.size * (documents.size - 1)).sum()) // 2
    return LabelTable(tuple(documents.values.tolist()), counts, documents.size.size, n_pairs)
