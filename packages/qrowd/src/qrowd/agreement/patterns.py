"""Documents counted by pattern: how often each value was given.

Agreement of any number of assessors needs no more of a document than its pattern and its topic. A crowd's five labels
of three grades take 21 patterns, however many documents there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from qrowd.agreement.document_counts import DocumentCounts, Documents
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.counts import Counts

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Patterns:
    """The documents of one group, those with the same counts of values as one pattern.

    values : (values,) ascending; a group need not use them all.
    counts : (patterns, values) how many assessors gave each value to a document of the pattern.
    topics : numbers of the topics, ascending.
    topic, pattern, n : (entries,) so many documents of the topic, a place in `topics`, have the pattern.
    n_left_out : documents that too few assessors judged.
    """

    values: Floats
    counts: Counts
    topics: tuple[int, ...]
    topic: Ints
    pattern: Ints
    n: Ints
    n_left_out: int

    @cached_property
    def multiplicity(self) -> Ints:
        """(patterns,) documents of each."""
        return np.bincount(self.pattern, self.n, minlength=self.counts.shape[0]).astype(np.int64)

    @property
    def of_topic(self) -> csr_array:
        """(topics, patterns) documents of each."""
        from scipy.sparse import csr_array

        shape = (len(self.topics), self.counts.shape[0])
        return csr_array((self.n.astype(np.float64), (self.topic, self.pattern)), shape=shape)


def patterns_of(documents: Documents, data: DocumentCounts) -> Patterns:
    """The patterns of documents."""
    counts, kind = documents.alike
    topics, topic = np.unique(documents.pair // max(len(data.documents), 1), return_inverse=True)
    ones = np.ones(kind.size, np.int64)
    return Patterns(documents.values, counts, tuple(topics.tolist()), topic, kind, ones, documents.left_out.size)
