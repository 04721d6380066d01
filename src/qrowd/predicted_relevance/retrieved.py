"""Which documents the runs retrieve, at which ranks and by which systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qrowd.model.runs import Runs
from qrowd.predicted_relevance.doubles import Floats, Graded, Ints


@dataclass(frozen=True, eq=False)
class Retrieved:
    """The results of runs as (topic, document) pairs.

    runs : they. pair : (pairs,) topic * number of documents + document, rising, each once.
    row : (results,) which pair each result is; rank : (results,) from 1; system : (results,) numbers.
    """

    runs: Runs
    pair: Ints
    row: Ints
    rank: Ints
    system: Ints

    @cached_property
    def best(self) -> Floats:
        """(pairs,) best rank that any system gave."""
        best = np.full(self.pair.size, np.inf)
        np.minimum.at(best, self.row, self.rank)
        return best

    def rows_of(
        self,
        topics: tuple[str, ...],
        topic: NDArray[np.integer],
        documents: tuple[str, ...],
        document: NDArray[np.integer],
    ) -> Ints:
        """(...,) which pair each (topic, document) is, by its numbers among other labels; -1 where no run has it."""
        number = {label: i for i, label in enumerate(self.runs.topics)}
        in_runs = np.array([number.get(label, -1) for label in topics], np.int64)[topic]
        at = np.array([self.runs.document_number.get(label, -1) for label in documents], np.int64)[document]
        wanted = np.where((in_runs >= 0) & (at >= 0), in_runs * len(self.runs.documents) + at, -1)
        row = np.minimum(np.searchsorted(self.pair, wanted), max(self.pair.size - 1, 0))
        return np.where(self.pair[row] == wanted, row, -1) if self.pair.size else np.full(wanted.shape, -1)

    def of(self, data: Graded) -> Ints:
        """(documents,) which pair each judged document is; -1 where no run has it."""
        return self.rows_of(data.topics, data.topic, data.documents, data.document)


def retrieved(runs: Runs) -> Retrieved:
    """All results of all runs, ties broken as everywhere."""
    ranked = runs.ranked()
    lengths, starts = ranked.lengths.ravel(), ranked.starts.ravel()
    n_topics = len(runs.topics)
    lists = np.repeat(np.arange(lengths.size), lengths)  # system by system, each with all topics
    pair, row = np.unique(lists % n_topics * len(runs.documents) + ranked.document, return_inverse=True)
    rank = np.arange(ranked.document.size) - np.repeat(starts, lengths) + 1
    return Retrieved(runs, pair, row, rank, lists // n_topics)
