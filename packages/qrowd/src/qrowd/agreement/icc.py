"""Intraclass correlation: the share of the variance of judgments that is between documents.

Shrout & Fleiss (1979), Intraclass Correlations: Uses in Assessing Rater Reliability. Psychol. Bull. 86(2), cases 1 and
2. With missing judgments the components of variance are those of Henderson (1953), Estimation of Variance and
Covariance Components. Biometrics 9(2), method 1; of a complete table both are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qrowd.agreement.document_counts import By, grouped, need_two_assessors
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.resample import resampled, tail
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result

Resample = Literal["topics", "documents"]

FORMS = ("one-way", "one-way average", "two-way", "two-way average")
CELLS_AT_ONCE = 2_000_000  # of a block of resamples


@dataclass(frozen=True, eq=False)
class IntraclassCorrelation(Result):
    """Intraclass correlations of every group, or of all judgments as the group "all"; arrays are (groups, FORMS).

    by : what the groups are. labels : one per group.
    value : "one-way", ICC(1, 1): assessors differ from document to document, and their severity is error; "two-way",
        ICC(2, 1): the assessors are a sample of assessors, and their severity is estimated. Both are of a single
        judgment; "average" is of the mean of `k` judgments. Values below 0 are possible; nan where not defined.
    low, high : percentile interval at level `confidence`; nan without resamples.
    k : (groups,) judgments per document, (N - sum n_d^2 / N) / (D - 1); their number where all have the same.
    variance : (groups, 3) components of the two-way form: documents, assessors, error.
    n_documents, n_judgments, n_assessors : (groups,) of documents judged twice or more.
    n_resamples, resample, seed : as of `Alpha`.
    """

    summary = "Intraclass correlations of every group, or of all judgments as the group 'all'"

    by: str
    labels: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    k: Floats
    variance: Floats
    n_documents: Ints
    n_judgments: Ints
    n_assessors: Ints
    confidence: float
    n_resamples: int
    resample: Resample
    seed: Seed | None

    def _columns(self) -> dict[str, Any]:
        """One row per group and form."""
        n = len(FORMS)
        each = {name: np.repeat(getattr(self, name), n) for name in ("k", "n_documents", "n_judgments", "n_assessors")}
        return {
            self.by or "group": np.repeat(np.array(self.labels, object), n),
            "form": np.tile(np.array(FORMS, object), len(self.labels)),
            **{name: getattr(self, name).ravel() for name in ("value", "low", "high")},
            **each,
        }


def intraclass_correlation(
    judgments: Judgments,
    *,
    by: By = None,
    n_resamples: int = 0,
    resample: Resample = "topics",
    confidence: float = 0.95,
    rng: Rng = 1,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> IntraclassCorrelation:
    """Intraclass correlation of assessors, who need not have judged all documents.

    Values are taken as numbers on an interval scale. Options : as of `krippendorff_alpha`.

    Raises
    ------
    NoOverlapError
        Fewer than two assessors; no document judged often enough.
    ScaleError
        Magnitudes beside another scale.
    """
    if n_resamples < 0 or not 0 < confidence < 1:
        raise ArgumentError(
            f"n_resamples={n_resamples}, confidence={confidence}: expected 0 or more, and a number between 0 and 1"
        )
    check_choice("resample", resample, Resample)
    need_two_assessors(judgments)
    sampled = judgments if by is not None else judgments.by_cluster()
    scaled = on_one_scale(sampled, combine_scales, "rescaled")
    scaled.shared_scale()
    split, name, labels, group_of_topic = grouped(scaled, by)
    single = split.single(repeats=repeats)
    used = (single.value >= 0) & (group_of_topic[single.topic] >= 0)
    pair = single.pair_numbers[used]
    assessor = single.assessor[used]
    value = single.value[used]
    _, document, n = np.unique(pair, return_inverse=True, return_counts=True)
    enough = n[document] >= 2
    if not enough.any():
        raise NoOverlapError("no document was judged 2 times or more; judgments.coverage() shows why")
    pair = pair[enough]
    assessor = assessor[enough]
    value = value[enough]
    topic = pair // len(single.documents)
    group = group_of_topic[topic]
    seed = seed_of(rng) if n_resamples else None
    parts = []
    for number, label in enumerate(labels):
        rows = group == number
        sums = _Sums.of(pair[rows], topic[rows], assessor[rows], value[rows], resample)
        parts.append(sums.correlations(n_resamples, confidence, seed, label))
    correlations, low, high, k, variance, counts = (np.array(part) for part in zip(*parts, strict=True))
    n_documents, n_judgments, n_assessors = counts.astype(np.int64).T
    return IntraclassCorrelation(
        name,
        labels,
        correlations,
        low,
        high,
        k,
        variance,
        n_documents,
        n_judgments,
        n_assessors,
        confidence,
        n_resamples,
        resample,
        seed,
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the correlations are computed from, as sums that add up over the units that are resampled.

    table : (units, 6 + 2 assessors) documents, judgments, sum over documents of n^2, of values^2, of total^2 / n, of
        values; then judgments and total of each assessor.
    topics : number of topics where topics are resampled, else None.
    """

    table: Floats
    n_topics: int | None

    @classmethod
    def of(cls, pair: Ints, topic: Ints, assessor: Ints, value: Floats, resample: Resample) -> _Sums:
        value = value - value.mean() if value.size else value  # correlations do not change, sums stay small
        first, document, n = np.unique(pair, return_index=True, return_inverse=True, return_counts=True)[1:]
        topics, topic_of = np.unique(topic, return_inverse=True)
        by_topic = resample == "topics" and topics.size > 1
        unit = topic_of if by_topic else document
        n_units = int(unit.max(initial=-1)) + 1
        total = np.bincount(document, value, n.size)
        of_document = unit[first]
        assessors, who = np.unique(assessor, return_inverse=True)
        cells = unit * assessors.size + who
        n_cells = n_units * assessors.size
        own = (np.bincount(cells, w, n_cells).reshape(n_units, -1) for w in (np.ones(value.size), value))
        columns = [np.bincount(of_document, each, n_units) for each in (np.ones(n.size), n, n**2, total**2 / n)]
        squares, values = (np.bincount(unit, each, n_units) for each in (value**2, value))
        documents, judgments, of_squares, of_totals = columns
        return cls(
            np.column_stack([documents, judgments, of_squares, squares, of_totals, values, *own]),
            topics.size if by_topic else None,
        )

    def correlations(
        self, n_resamples: int, confidence: float, seed: Seed | None, label: str
    ) -> tuple[Floats, Floats, Floats, float, Floats, Floats]:
        """(FORMS,) values, low and high; k; (3,) components; and numbers of documents, judgments and assessors."""
        whole = self.table.sum(axis=0)[None]
        value, k, variance = _correlations(whole)
        low, high = np.full((2, len(FORMS)), np.nan)
        if n_resamples and seed is not None:
            random = Chance.of(seed).stream(f"intraclass correlation {label}")
            at_once = max(1, CELLS_AT_ONCE // max(self.table.shape))
            drawn = resampled(np.ones(len(self.table), np.int64), n_resamples, at_once, random)
            values = np.concatenate([_correlations(often @ self.table)[0] for often in drawn])
            beyond = tail(confidence, self.n_topics)
            for form, column in enumerate(values.T):
                defined = column[~np.isnan(column)]
                if defined.size and not np.isnan(value[0, form]):
                    low[form], high[form] = np.quantile(defined, [beyond, 1 - beyond])
        n_assessors = np.count_nonzero(whole[0, 6 : 6 + (whole.size - 6) // 2])
        return value[0], low, high, float(k[0]), variance[0], np.array([whole[0, 0], whole[0, 1], n_assessors])


def _correlations(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """(rows, FORMS) correlations, (rows,) k and (rows, 3) components of variance; sums : (rows, columns of _Sums)."""
    d, n, n_squares, squares, of_documents, values = sums[:, :6].T
    by_assessor = sums[:, 6:].reshape(len(sums), 2, -1)
    judgments, totals = by_assessor[:, 0], by_assessor[:, 1]
    a = np.count_nonzero(judgments, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = values**2 / n
        k = (n - n_squares / n) / (d - 1)
        between = (of_documents - mean) / (d - 1)
        within = (squares - of_documents) / (n - d)
        rounding = 1e-12 * squares / n  # a mean square below it is 0
        one_way = _ratio(between - within, between + (k - 1) * within, rounding)
        one_way_average = _ratio(between - within, between, rounding)
        of_assessors = np.where(judgments > 0, totals**2 / judgments, 0.0).sum(axis=1)
        documents = n - n_squares / n
        assessors = n - (judgments**2).sum(axis=1) / n
        # Expectations of the three sums of squares, with components in the order documents, assessors, error.
        expected = np.array(
            [
                [documents, assessors - n + d, d - 1],
                [documents - n + a, assessors, a - 1],
                [documents, assessors, n - 1],
            ]
        ).transpose(2, 0, 1)
        observed = np.stack([of_documents - mean, of_assessors - mean, squares - mean], axis=1)
        variance = np.full(observed.shape, np.nan)
        regular = np.isfinite(expected).all(axis=(1, 2)) & (d > 1) & (a > 1)
        regular[regular] = np.linalg.cond(expected[regular]) < 1e12
        variance[regular] = np.linalg.solve(expected[regular], observed[regular, :, None])[..., 0]
        between_documents = variance[:, 0]
        error = variance[:, 1] + variance[:, 2]
        two_way = _ratio(between_documents, between_documents + error, rounding)
        two_way_average = _ratio(between_documents, between_documents + error / k, rounding)
    every = np.stack([one_way, one_way_average, two_way, two_way_average], axis=1)
    every[~np.isfinite(every)] = np.nan
    return every, k, variance


def _ratio(part: Floats, whole: Floats, rounding: Floats) -> Floats:
    """part / whole; nan where the whole is 0 but for rounding."""
    return np.where(np.abs(whole) > rounding, part / whole, np.nan)
