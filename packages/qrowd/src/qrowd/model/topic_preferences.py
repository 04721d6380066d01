"""One topic's preferences as arrays: documents are places in the topic's pool, assessors follow one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TopicPreferences:
    """What assessors said of one topic, as kernels take it.

    n_documents : in the topic's pool; documents are places in it from here on.
    starts : (assessors + 1,) int64; the preferences of assessor a are the rows starts[a]:starts[a + 1] of
    pairs : (rows, 2) int32, preferred and other; weight : (rows,) float64; strength : (rows,) int64;
        group : (rows,) int32.
    bad_starts : (assessors + 1,) int64; the marks of assessor a are bad[bad_starts[a]:bad_starts[a + 1]].
    bad, bad_group : (marks,) int32.
    rows : (rows,) int64, where each preference stands in the `Preferences`; empty where they were inferred.
    """

    n_documents: int
    starts: NDArray[np.int64]
    pairs: NDArray[np.int32]
    weight: NDArray[np.float64]
    strength: NDArray[np.int64]
    group: NDArray[np.int32]
    bad_starts: NDArray[np.int64]
    bad: NDArray[np.int32]
    bad_group: NDArray[np.int32]
    rows: NDArray[np.int64]

    @property
    def n_assessors(self) -> int:
        return int(self.starts.size - 1)

    def of(self, assessor: int) -> TopicPreferences:
        """One assessor's part, as views."""
        here = slice(int(self.starts[assessor]), int(self.starts[assessor + 1]))
        marks = slice(int(self.bad_starts[assessor]), int(self.bad_starts[assessor + 1]))
        return TopicPreferences(
            self.n_documents,
            np.array([0, here.stop - here.start], np.int64),
            self.pairs[here],
            self.weight[here],
            self.strength[here],
            self.group[here],
            np.array([0, marks.stop - marks.start], np.int64),
            self.bad[marks],
            self.bad_group[marks],
            self.rows[here],
        )

    def judged(self) -> NDArray[np.bool_]:
        """(documents, assessors) whether the assessor compared or marked the document."""
        is_bad = np.zeros((self.n_documents, self.n_assessors), bool)
        assessor = np.repeat(np.arange(self.n_assessors), np.diff(self.starts))
        is_bad[self.pairs[:, 0], assessor] = True
        is_bad[self.pairs[:, 1], assessor] = True
        is_bad[self.bad, np.repeat(np.arange(self.n_assessors), np.diff(self.bad_starts))] = True
        return is_bad
