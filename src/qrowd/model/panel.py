"""Judgments as one dense array, ready for kernels: the pooled documents of every topic x the assessors.

A panel is what evaluation reads. `Judgments.panel()` makes one from what people said; simulations make panels of
thousands of assessors block by block, all over one `Pool`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from qrowd.model.scales import Scale


@dataclass(frozen=True, eq=False)
class Pool:
    """The documents that anyone judged, topic by topic.

    topics, documents : labels.
    starts : (topics + 1,); the documents of topic t are document[starts[t]:starts[t + 1]].
    document : (pairs,) numbers into `documents`.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    starts: NDArray[np.int64]
    document: NDArray[np.int32]

    def rows(self, topic: int) -> slice:
        """Where the documents of a topic stand."""
        return slice(int(self.starts[topic]), int(self.starts[topic + 1]))


@dataclass(frozen=True, eq=False)
class Panel:
    """One value per pooled document and assessor.

    values : (pairs, assessors) float64, nan where the assessor has not judged.
    scales : one per assessor.
    """

    pool: Pool
    assessors: tuple[str, ...]
    scales: tuple[Scale, ...]
    values: NDArray[np.float64]

    @cached_property
    def maximum(self) -> NDArray[np.float64]:
        """(assessors,) the highest value of each scale; inf for magnitudes."""
        return np.array([scale.maximum for scale in self.scales])

    @cached_property
    def rel(self) -> NDArray[np.float64]:
        """(assessors,) from which value on each scale calls a document relevant; nan where it does not say."""
        lowest = [scale.rel for scale in self.scales]
        return np.array([np.nan if value is None else value for value in lowest])

    def part(self, columns: slice) -> Panel:
        """Some of the assessors, as views."""
        return Panel(self.pool, self.assessors[columns], self.scales[columns], self.values[:, columns])

    def topic(self, topic: int) -> NDArray[np.float64]:
        """(documents, assessors) values of one topic."""
        return self.values[self.pool.rows(topic)]

    def coverage(self) -> NDArray[np.float64]:
        """(assessors, topics) share of the topic's pool that the assessor judged."""
        judged = ~np.isnan(self.values)
        sizes = np.diff(self.pool.starts)
        counts = np.add.reduceat(judged, self.pool.starts[:-1], axis=0, dtype=np.int64)
        return np.asarray((counts / sizes[:, None]).T)


class Blocks(Protocol):
    """Assessors too many to hold at once: their names, and panels that together cover them in order."""

    @property
    def assessors(self) -> Sequence[str]: ...

    def __iter__(self) -> Iterator[Panel]: ...
