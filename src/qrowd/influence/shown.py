"""Which documents the assessors were shown: what the coverage of a pool is computed from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.influence.cells import Cells
from qrowd.influence.scored import ScoredCells
from qrowd.kernels.arrays import Ints
from qrowd.model.judgments import Judgments


@dataclass(frozen=True, eq=False)
class Shown:
    """Which documents the assessors were shown, whether they judged them or not.

    topic, assessor, pair : (rows,) each document and assessor once; pair numbers topics and documents together, and
    rises.
    alone : (items, assessors) whether nobody but this assessor was shown the document.
    """

    topic: Ints
    assessor: Ints
    pair: Ints
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, judgments: Judgments, cells: Cells | ScoredCells) -> Shown:
        pair, assessor = np.unique(np.stack([judgments.pair_numbers, judgments.assessor]), axis=1)
        n_documents = max(len(judgments.documents), 1)
        _, heads, counts = np.unique(pair, return_index=True, return_counts=True)
        lone = heads[counts == 1]
        number = {label: n for n, label in enumerate(judgments.documents)}
        items = cells.topic * n_documents + np.array([number[label] for label in cells.documents], np.int64)
        alone = np.zeros(cells.level.shape, bool)
        if lone.size and items.size:
            place = np.minimum(np.searchsorted(pair[lone], items), lone.size - 1)
            only = pair[lone][place] == items
            alone[only, assessor[lone][place[only]]] = True
        return cls(pair // n_documents, assessor, pair, alone)

    def pool(self, n_topics: int, without: NDArray[np.bool_] | None = None) -> Ints:
        """(topics,) documents of each pool, as it is without some assessors. without : (assessors,)."""
        rows = slice(None) if without is None else ~without[self.assessor]
        heads = np.diff(self.pair[rows], prepend=-1) > 0
        return np.bincount(self.topic[rows][heads], minlength=n_topics)
