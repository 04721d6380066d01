"""Overlap: documents that both assessors judge relevant, over those that at least one does.

Voorhees (1998), Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness. SIGIR, 315-323.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.agreement.document_counts import need_two_assessors
from qrowd.errors import NoOverlapError, ScaleError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class Overlap(Result):
    """Overlap of each pair of assessors in each topic; arrays are (rows,), one row per topic and pair with documents.

    topic, first, second : numbers into topics and assessors.
    n_documents : judged by both. relevant_first, relevant_second, both, either : of these, relevant to the first, to
        the second, to both, to at least one. value : both / either, nan if either is 0.
    everyone : (topics,) documents relevant to all over those relevant to at least one, among the documents that all
        assessors of the topic judged; nan if there are none.
    """

    topics: tuple[str, ...]
    assessors: tuple[str, ...]
    topic: Ints
    first: Ints
    second: Ints
    n_documents: Ints
    relevant_first: Ints
    relevant_second: Ints
    both: Ints
    value: Floats
    everyone: Floats

    @property
    def either(self) -> Ints:
        return self.relevant_first + self.relevant_second - self.both

    @property
    def mean(self) -> float:
        """Mean over topics of the mean over pairs of assessors."""
        defined = ~np.isnan(self.value)
        n = np.bincount(self.topic[defined], minlength=len(self.topics))
        total = np.bincount(self.topic[defined], self.value[defined], minlength=len(self.topics))
        return float((total[n > 0] / n[n > 0]).mean()) if n.any() else np.nan

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"topics": self._topics_and_pairs, "pairs": self._pairs}

    def _topics_and_pairs(self) -> dict[str, Any]:
        names, topics = np.array(self.assessors, object), np.array(self.topics, object)
        return {
            "topic": topics[self.topic],
            "first": names[self.first],
            "second": names[self.second],
            "n_documents": self.n_documents,
            "relevant_first": self.relevant_first,
            "relevant_second": self.relevant_second,
            "both": self.both,
            "either": self.either,
            "overlap": self.value,
        }

    def _pairs(self) -> dict[str, Any]:
        defined = ~np.isnan(self.value)
        code = self.first * len(self.assessors) + self.second
        pairs, at = np.unique(code[defined], return_inverse=True)
        n = np.bincount(at, minlength=pairs.size)
        names = np.array(self.assessors, object)
        return {
            "first": names[pairs // len(self.assessors)],
            "second": names[pairs % len(self.assessors)],
            "n_topics": n,
            "overlap": np.bincount(at, self.value[defined], minlength=pairs.size) / np.maximum(n, 1),
        }


def overlap(judgments: Judgments, *, rel: float | None = None, repeats: Repeats = "first") -> Overlap:
    """Overlap of the relevant documents of each pair of assessors, among the documents both judged.

    Parameters
    ----------
    rel : lowest relevant value (default: that of each assessor's own scale).
    repeats : which of an assessor's judgments of the same document counts.

    Raises
    ------
    NoOverlapError
        Fewer than two assessors; no pair of them shares a document.
    ScaleError
        Magnitudes without `rel`.
    """
    need_two_assessors(judgments)
    one = judgments.single(repeats=repeats)
    lowest = np.array([np.nan if s.rel is None else s.rel for s in one.scales])
    if rel is not None:
        lowest[:] = rel
    if np.isnan(lowest).any():
        who = one.assessors[int(np.flatnonzero(np.isnan(lowest))[0])]
        raise ScaleError(f"assessor {who}: magnitudes have no lowest relevant value; pass rel=")
    relevant = one.value >= lowest[one.assessor]
    parts: list[Ints] = []
    everyone = np.full(len(one.topics), np.nan)
    rows = np.flatnonzero(one.value >= 0)
    rows = rows[np.argsort(one.topic[rows], kind="stable")]
    edges = np.searchsorted(one.topic[rows], np.arange(len(one.topics) + 1))
    for t in range(len(one.topics)):
        here = rows[edges[t] : edges[t + 1]]
        assessors, a = np.unique(one.assessor[here], return_inverse=True)
        documents, d = np.unique(one.document[here], return_inverse=True)
        judged, positive = (np.zeros((documents.size, assessors.size)) for _ in range(2))
        judged[d, a], positive[d, a] = 1.0, relevant[here]
        both, n, own = positive.T @ positive, judged.T @ judged, positive.T @ judged
        i, j = np.triu_indices(assessors.size, 1)
        shared = n[i, j] > 0
        i, j = i[shared], j[shared]
        columns = (np.full(i.size, t), assessors[i], assessors[j], n[i, j], own[i, j], own[j, i], both[i, j])
        parts.append(np.array(columns).astype(np.int64).reshape(7, i.size))
        by_all = judged.all(axis=1)
        if assessors.size > 1 and (by_anyone := positive[by_all].any(axis=1).sum()):
            everyone[t] = positive[by_all].all(axis=1).sum() / by_anyone
    topic, first, second, n_documents, of_first, of_second, shared_ones = np.concatenate(parts, axis=1)
    if not topic.size:
        raise NoOverlapError("no pair of assessors judged a document in common, so there is no overlap to compute")
    either = of_first + of_second - shared_ones
    value = np.where(either > 0, shared_ones / np.maximum(either, 1), np.nan)
    numbers = (topic, first, second, n_documents, of_first, of_second, shared_ones)
    return Overlap(one.topics, one.assessors, *numbers, value, everyone)
