"""Overlap: the documents that assessors both call relevant, over those that either does.

Voorhees (1998), Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness. SIGIR, 315-323.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.reliability import need_two_assessors
from qrowd.errors import NoOverlapError, ScaleError
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, Repeats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Overlap:
    """Overlap of any two assessors in any topic; arrays are (rows,), one row per topic and pair that share documents.

    topic, first, second : numbers into topics and assessors.
    n_documents : judged by both; relevant_first, relevant_second, both, either : of these, relevant to the one, to the
        other, to both, to at least one. value : both / either, nan where either is 0.
    everyone : (topics,) documents relevant to all over those relevant to anyone, among the documents that all assessors
        of the topic judged; nan where there are none.
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
        """Over topics of the mean over pairs of assessors."""
        known = ~np.isnan(self.value)
        n = np.bincount(self.topic[known], minlength=len(self.topics))
        total = np.bincount(self.topic[known], self.value[known], minlength=len(self.topics))
        return float((total[n > 0] / n[n > 0]).mean()) if n.any() else np.nan

    @property
    def mean_everyone(self) -> float:
        """Over topics, of all assessors at once."""
        known = ~np.isnan(self.everyone)
        return float(self.everyone[known].mean()) if known.any() else np.nan

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per topic and pair of assessors."""
        names, topics = np.array(self.assessors, object), np.array(self.topics, object)
        return make_frame(
            {
                "topic": topics[self.topic],
                "first": names[self.first],
                "second": names[self.second],
                "n_documents": self.n_documents,
                "relevant_first": self.relevant_first,
                "relevant_second": self.relevant_second,
                "both": self.both,
                "either": self.either,
                "overlap": self.value,
            },
            backend,
        )

    def by_pair(self, backend: str = "pandas") -> Any:
        """One row per pair of assessors: the mean over topics, and how many topics have an overlap."""
        known = ~np.isnan(self.value)
        code = self.first * len(self.assessors) + self.second
        pairs, at = np.unique(code[known], return_inverse=True)
        n = np.bincount(at, minlength=pairs.size)
        names = np.array(self.assessors, object)
        return make_frame(
            {
                "first": names[pairs // len(self.assessors)],
                "second": names[pairs % len(self.assessors)],
                "n_topics": n,
                "overlap": np.bincount(at, self.value[known], minlength=pairs.size) / np.maximum(n, 1),
            },
            backend,
        )


def overlap(judgments: Judgments, *, rel: float | None = None, repeats: Repeats = "first") -> Overlap:
    """How far assessors call the same documents relevant, on the documents both judged.

    rel : the lowest value that is relevant; by default that of each assessor's own scale.

    Raises
    ------
    NoOverlapError
        Fewer than two assessors; no two of them share a document.
    ScaleError
        Magnitudes, which have no relevant end, without rel.
    """
    need_two_assessors(judgments)
    one = judgments.single(repeats)
    lowest = np.array([np.nan if s.lowest_relevant is None else s.lowest_relevant for s in one.scales])
    if rel is not None:
        lowest[:] = rel
    if np.isnan(lowest).any():
        who = one.assessors[int(np.flatnonzero(np.isnan(lowest))[0])]
        raise ScaleError(f"assessor {who}: magnitudes do not say what is relevant; give rel=")
    said = one.value >= 0
    relevant = one.value >= lowest[one.assessor]
    parts: list[Ints] = []
    everyone = np.full(len(one.topics), np.nan)
    rows = np.flatnonzero(said)
    rows = rows[np.argsort(one.topic[rows], kind="stable")]
    edges = np.searchsorted(one.topic[rows], np.arange(len(one.topics) + 1))
    for t in range(len(one.topics)):
        here = rows[edges[t] : edges[t + 1]]
        assessors, a = np.unique(one.assessor[here], return_inverse=True)
        documents, d = np.unique(one.document[here], return_inverse=True)
        judged, found = (np.zeros((documents.size, assessors.size)) for _ in range(2))
        judged[d, a], found[d, a] = 1.0, relevant[here]
        both, n, own = found.T @ found, judged.T @ judged, found.T @ judged
        i, j = np.triu_indices(assessors.size, 1)
        shared = n[i, j] > 0
        i, j = i[shared], j[shared]
        columns = (np.full(i.size, t), assessors[i], assessors[j], n[i, j], own[i, j], own[j, i], both[i, j])
        parts.append(np.array(columns).astype(np.int64).reshape(7, i.size))
        by_all = judged.all(axis=1)
        if assessors.size > 1 and (by_anyone := found[by_all].any(axis=1).sum()):
            everyone[t] = found[by_all].all(axis=1).sum() / by_anyone
    topic, first, second, n_documents, of_first, of_second, shared_ones = np.concatenate(parts, axis=1)
    if not topic.size:
        raise NoOverlapError("no two assessors judged a document in common, so there is no overlap to compute")
    either = of_first + of_second - shared_ones
    value = np.where(either > 0, shared_ones / np.maximum(either, 1), np.nan)
    numbers = (topic, first, second, n_documents, of_first, of_second, shared_ones)
    return Overlap(one.topics, one.assessors, *numbers, value, everyone)
