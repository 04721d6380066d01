"""Judgments as aggregators read them: sorted by document, one row each, grades numbered from 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.panel import Pool
from qrowd.model.scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Repeated = Literal["first", "last", "all", "error"]
"""Which of an assessor's repeated judgments counts as a vote: "all" takes each for one of its own."""
RepeatedValues = Literal["first", "last", "mean", "all", "error"]
"""The same for values, which can be averaged too."""


@dataclass(frozen=True, eq=False)
class Coded:
    """What was said; at most once by an assessor of a document, unless every repeat counts.

    pool : the (topic, document) pairs that anyone judged; labels of no such pair are left out.
    starts : (pairs + 1,); the judgments of pair d are the rows starts[d] to starts[d + 1].
    assessor, value : (rows,), number of the assessor and what he or she said.
    grades, said : the distinct values in order, and (rows,) which of them was said.
    assessors, scale : everyone's names, and the scale that all values are on.
    combine_scales : how they came to be on one scale.
    n_repeats : judgments that repeated one of the same assessor, of which `repeats` counts.
    """

    pool: Pool
    starts: Ints
    assessor: NDArray[np.int32]
    value: Floats
    grades: Floats
    said: NDArray[np.int32]
    assessors: tuple[str, ...]
    scale: Scale
    combine_scales: CombineScales
    n_repeats: int

    @property
    def n_pairs(self) -> int:
        return int(self.pool.document.size)

    @property
    def pair(self) -> Ints:
        """(rows,) which pair a row is about."""
        return np.repeat(np.arange(self.n_pairs), np.diff(self.starts))

    def counts(self) -> Floats:
        """(pairs, grades) how many assessors said what."""
        cells = self.pair * self.grades.size + self.said
        counted = np.bincount(cells, minlength=self.n_pairs * self.grades.size)
        return counted.reshape(self.n_pairs, self.grades.size).astype(np.float64)


def coded(
    judgments: Judgments, repeats: RepeatedValues, combine_scales: CombineScales = "auto", unlike: Combined = "unit"
) -> Coded:
    """Sort and number judgments; "not judged" (negative) is no judgment.

    unlike : what combine_scales="auto" makes of values on unlike scales.

    Raises
    ------
    ScaleError
        Magnitudes beside another scale; "as-is" of scales that cannot be one.
    NoOverlapError
        No judgment at all.
    """
    if repeats not in get_args(RepeatedValues):
        raise ArgumentError(f"repeats={repeats!r}: choose one of {', '.join(get_args(RepeatedValues))}")
    judgments = on_one_scale(judgments, combine_scales, unlike)
    scale = judgments.shared_scale()
    one = judgments if repeats == "all" else judgments.single(repeats)
    said = np.flatnonzero(one.value >= 0)
    if not said.size:
        raise NoOverlapError("there are no judgments to merge")
    topics, topic = np.unique(one.topic[said], return_inverse=True)
    documents, document = np.unique(one.document[said], return_inverse=True)
    pairs = topic * documents.size + document
    number = {name: i for i, name in enumerate(judgments.assessors)}
    who = np.array([number[name] for name in one.assessors], np.int32)[one.assessor]
    order = np.lexsort((who[said], pairs))
    rows = said[order]
    distinct, begins = np.unique(pairs[order], return_index=True)
    pool = Pool(
        tuple(one.topics[i] for i in topics),
        tuple(one.documents[i] for i in documents),
        np.searchsorted(distinct // documents.size, np.arange(topics.size + 1)).astype(np.int64),
        (distinct % documents.size).astype(np.int32),
    )
    value = one.value[rows]
    grades, code = np.unique(value, return_inverse=True)
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
    """The same for what counts whole grades; on unlike scales "auto" counts relevant or not.

    Raises
    ------
    ArgumentError
        repeats="mean", which makes fractions of grades.
    ScaleError
        Fractions or magnitudes: between them nothing can be counted.
    """
    if repeats not in get_args(Repeated):
        fractions = ", and means are no grades" if repeats == "mean" else ""
        raise ArgumentError(
            f"repeats={repeats!r}: {method} counts whole grades{fractions}; choose one of "
            f"{', '.join(get_args(Repeated))}"
        )
    data = coded(judgments, repeats, combine_scales, "relevant")
    if data.scale.kind in ("fractions", "magnitude"):
        raise ScaleError(
            f"{method} counts whole grades, and these are {data.scale.kind} ({data.scale}); "
            "recode them into grades, or merge them by mean, median or geometric_mean"
        )
    broken = np.flatnonzero(data.value % 1 != 0)  # as repeats averaged beforehand are
    if broken.size:
        raise ScaleError(
            f"{method} counts whole grades, and assessor {data.assessors[data.assessor[broken[0]]]} gave "
            f"{data.value[broken[0]]:g}; recode it, or merge by mean or median"
        )
    return data
