"""Judgments as aggregators read them: sorted by document, one row each, grades numbered from 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, ScaleError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.judgments import Judgments
from qrowd.model.labels import compact, distinct_values
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.panel import Pool
from qrowd.model.scales import Scale

Repeated = Literal["first", "last", "all", "error"]
"""Which of an assessor's repeated judgments counts as a vote; with "all" each is a vote of its own."""
RepeatedValues = Literal["first", "last", "mean", "all", "error"]
"""The same for values, which can also be averaged."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Judgments as columns of integers; at most one per assessor and document, unless every repeat counts.

    pool : the judged (topic, document) pairs, without unused labels.
    starts : (pairs + 1,); the judgments of pair d are the rows starts[d] to starts[d + 1].
    assessor, value : (rows,) number of the assessor, and value.
    grades, code : the distinct values, ascending, and (rows,) number of the value.
    assessors, scale : names of all assessors, and the scale of all values.
    combine_scales : how values were brought onto one scale.
    n_repeats : judgments that repeated one of the same assessor.
    """

    pool: Pool
    starts: Ints
    assessor: NDArray[np.int32]
    value: Floats
    grades: Floats
    code: NDArray[np.int32]
    assessors: tuple[str, ...]
    scale: Scale
    combine_scales: CombineScales
    n_repeats: int

    @property
    def n_pairs(self) -> int:
        return int(self.pool.document.size)

    @property
    def pair(self) -> Ints:
        """(rows,) number of the pair."""
        return np.repeat(np.arange(self.n_pairs), np.diff(self.starts))

    def counts(self) -> Floats:
        """(pairs, grades) number of assessors who gave each grade."""
        cells = self.pair * self.grades.size + self.code
        counts = np.bincount(cells, minlength=self.n_pairs * self.grades.size)
        return counts.reshape(self.n_pairs, self.grades.size).astype(np.float64)


def coded(
    judgments: Judgments, repeats: RepeatedValues, combine_scales: CombineScales = "auto", unlike: Combined = "rescaled"
) -> Coded:
    """Sort and number judgments; "not judged" (negative values) are left out.

    unlike : how combine_scales="auto" combines values on unlike scales.
    """
    check_choice("repeats", repeats, RepeatedValues)
    judgments = on_one_scale(judgments, combine_scales, unlike)
    scale = judgments.shared_scale()
    one = judgments if repeats == "all" else judgments.single(repeats=repeats)
    judged = np.flatnonzero(one.value >= 0)
    if not judged.size:
        raise NoOverlapError("there are no judgments to merge")
    topics, topic = compact(one.topics, one.topic[judged])
    documents, document = compact(one.documents, one.document[judged])
    pairs = topic.astype(np.int64) * len(documents) + document
    number = {name: i for i, name in enumerate(judgments.assessors)}
    who = np.array([number[name] for name in one.assessors], np.int32)[one.assessor]
    order = np.lexsort((who[judged], pairs))
    ascending = pairs[order]
    rows = judged[order]
    begins = np.flatnonzero(np.append(True, ascending[1:] > ascending[:-1]))
    distinct = ascending[begins]
    pool = Pool(
        topics,
        documents,
        np.searchsorted(distinct // len(documents), np.arange(len(topics) + 1)).astype(np.int64),
        (distinct % len(documents)).astype(np.int32),
    )
    value = one.value[rows]
    grades, code = distinct_values(value)
    return Coded(
        pool,
        np.append(begins, rows.size).astype(np.int64),
        who[rows],
        value,
        grades,
        code.astype(np.int32),
        judgments.assessors,
        scale,
        combine_scales,
        judgments.n_repeats(),
    )


def coded_grades(judgments: Judgments, repeats: RepeatedValues, combine_scales: CombineScales, method: str) -> Coded:
    """Judgments for methods that count whole grades; on unlike scales "auto" counts relevant or not."""
    if repeats not in get_args(Repeated):
        reason = ", and means are not grades" if repeats == "mean" else ""
        raise ArgumentError(
            f"{method} counts whole grades{reason}; choose one of {', '.join(get_args(Repeated))}", "repeats", repeats
        )
    data = coded(judgments, repeats, combine_scales, "relevant")
    if data.scale.kind in ("fractions", "magnitude"):
        raise ScaleError(
            f"{method} counts whole grades, and these are {data.scale.kind} ({data.scale}); "
            "recode them into grades, or merge them by mean, median or geometric-mean"
        )
    fractions = np.flatnonzero(data.value % 1 != 0)  # such as repeats averaged beforehand
    if fractions.size:
        raise ScaleError(
            f"{method} counts whole grades, and assessor {data.assessors[data.assessor[fractions[0]]]} gave "
            f"{data.value[fractions[0]]:g}; recode it, or merge by mean or median"
        )
    return data
