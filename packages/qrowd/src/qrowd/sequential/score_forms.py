"""How the score of a topic depends on the gains of documents: as a weighted sum, or, for AP, as products of gains.

What a document adds to AP depends on those above it: AP is, over the number of relevant documents,

    sum_r g_r (1 + sum_{j < r} g_j) / r,

which is linear in the gain of each single document. With the mean gain of several people, or an expected gain, in place
of a gain, it is the expected score if documents were independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import MeasureError
from qrowd.kernels.arrays import Floats
from qrowd.measures.precision import AP
from qrowd.measures.scoring import ByGain, Linear, linear_parts
from qrowd.model.measure import Measure
from qrowd.model.scales import Scale

GRADES = Scale("graded", 3.0)  # any scale: weights of ranks do not depend on it


def is_linear(measure: Measure) -> bool:
    """Whether the score is a weighted sum of gains, over a normaliser that all systems share."""
    return isinstance(measure.definition, Linear)


def gains_definition(measure: Measure) -> ByGain:
    """The definition of a measure that reads gains.

    Raises
    ------
    MeasureError
        A measure whose score is neither a weighted sum of gains nor AP; one that leaves out unjudged documents or takes
        the number of relevant documents from elsewhere.
    """
    definition, values = measure.definition, measure.values
    if values.get("judged_only") or not isinstance(definition, Linear | AP):
        raise MeasureError(
            f"{measure}: is neither a weighted sum of gains by rank nor AP; use one such as nDCG@10, P@10, RBP or AP"
        )
    if values.get("recall_base", "own") != "own":
        raise MeasureError(f"{measure}: only recall_base='own' can be estimated from a part of the judgments")
    return definition


def rank_weights(measure: Measure, depth: int) -> Floats:
    """(ranks,) what the gain at each rank is multiplied with; of AP 1 / rank, to the cut-off."""
    gains_definition(measure)
    if is_linear(measure):
        return linear_parts(measure, GRADES, depth)[0]
    return 1 / np.arange(1.0, min(depth, measure.cutoff or depth) + 1)


@dataclass(frozen=True, eq=False)
class Lists:
    """The candidates at each rank of each list, as AP reads them.

    candidate : (systems, topics, ranks) numbers, the number of candidates beyond the end of a list. topic :
    (candidates,). labelled : (candidates,) whether any model judged each.
    """

    candidate: NDArray[np.int64]
    topic: NDArray[np.int64]
    labelled: NDArray[np.bool_]

    @classmethod
    def of(cls, weight: Floats, topic: NDArray[np.int64], n_topics: int, labelled: NDArray[np.bool_]) -> Lists:
        """weight : (systems, candidates) 1 / rank, 0 where a list does not have it. topic : (candidates,)."""
        ranks = np.where(weight > 0, np.rint(1 / np.where(weight > 0, weight, 1.0)), 0).astype(np.int64)
        lists = np.full((len(weight), n_topics, int(ranks.max(initial=1))), topic.size, np.int64)
        system, candidate = np.nonzero(ranks)
        lists[system, topic[candidate], ranks[system, candidate] - 1] = candidate
        return cls(lists, topic, labelled)

    def sums(self, gains: Floats) -> Floats:
        """(..., systems, topics) scores before the normaliser. gains : (..., candidates)."""
        by_rank = self._by_rank(gains)
        return np.asarray((self._weights * by_rank * (1 + _above(by_rank))).sum(axis=-1))

    def slopes(self, gains: Floats) -> Floats:
        """(systems, candidates) derivatives of the sums by the gain of each candidate. gains : (candidates,)."""
        by_rank = self._by_rank(gains)
        below = np.flip(_above(np.flip(self._weights * by_rank, -1)), -1)
        of_lists = self._weights * (1 + _above(by_rank)) + below
        result = np.zeros((len(of_lists), self.topic.size + 1))
        for row, candidate, values in zip(result, self.candidate, of_lists, strict=True):
            row[candidate.ravel()] = values.ravel()
        return result[:, :-1]

    @property
    def _weights(self) -> Floats:
        return 1 / np.arange(1.0, self.candidate.shape[-1] + 1)

    def _by_rank(self, gains: Floats) -> Floats:
        padded = np.concatenate([gains, np.zeros((*gains.shape[:-1], 1))], axis=-1)
        return np.asarray(padded[..., self.candidate])

    def matter_to(self, first: int, second: int) -> NDArray[np.bool_]:
        """(candidates,) whether each can change the difference of two systems.

        In topics whose lists differ all that the lists have, and those with labels too, because relevant ones that no
        list has count. It does not depend on what people judged, so that a design stays the same.
        """
        differ = (self.candidate[first] != self.candidate[second]).any(axis=-1)
        result = np.zeros(self.topic.size + 1, bool)
        for system in (first, second):
            result[self.candidate[system][differ].ravel()] = True
        return np.asarray(result[:-1] | self.labelled & differ[self.topic])


def _above(values: Floats) -> Floats:
    """(..., ranks) sums over the ranks above each."""
    return np.asarray(np.cumsum(values, axis=-1) - values)
