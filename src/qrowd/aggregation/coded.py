"""Judgments as aggregators read them: sorted by document, one row each, grades numbered from 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.panel import Pool
from qrowd.model.scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coded:
    """What was said, at most once by an assessor of a document.

    pool : the (topic, document) pairs that anyone judged.
    starts : (pairs + 1,); the judgments of pair d are the rows starts[d] to starts[d + 1].
    assessor, value : (rows,), number of the assessor and what he or she said.
    grades, said : the distinct values in order, and (rows,) which of them was said.
    assessors, scale : everyone's names, and the scale they share.
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


def coded(judgments: Judgments, repeats: Repeats) -> Coded:
    """Sort and number judgments; "not judged" (negative) is no judgment.

    Raises
    ------
    ScaleError
        Assessors whose scales cannot be one.
    NoOverlapError
        No judgment at all.
    """
    scale = judgments.shared_scale()
    one = judgments.single(repeats)
    width = max(len(one.documents), 1)
    pairs = one.topic.astype(np.int64) * width + one.document
    said = np.flatnonzero(one.value >= 0)
    if not said.size:
        raise NoOverlapError("there are no judgments to merge")
    number = {name: i for i, name in enumerate(judgments.assessors)}
    who = np.array([number[name] for name in one.assessors], np.int32)[one.assessor]
    rows = said[np.lexsort((who[said], pairs[said]))]
    distinct, begins = np.unique(pairs[rows], return_index=True)
    topics = distinct // width
    pool = Pool(
        one.topics,
        one.documents,
        np.searchsorted(topics, np.arange(len(one.topics) + 1)).astype(np.int64),
        (distinct % width).astype(np.int32),
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
        judgments.n_repeats(),
    )


def need_whole_grades(data: Coded, method: str) -> None:
    """Refuse values that are no grades: between them nothing can be counted."""
    if data.scale.kind in ("fractions", "magnitude"):
        raise ScaleError(
            f"{method} counts whole grades, and these are {data.scale.kind} ({data.scale}); "
            "recode them into grades, or merge them by mean, median or geometric_mean"
        )
