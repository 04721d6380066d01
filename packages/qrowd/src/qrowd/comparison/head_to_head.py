"""Two systems compared by the panel and by each assessor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.p_values import signed_rank_p
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.labels import number_of
from qrowd.model.result import Result
from qrowd.model.scores import by_cluster, known_mean, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

PANEL = "panel"


@dataclass(frozen=True, eq=False)
class HeadToHead(Result):
    """First system minus second; every array is (1 + assessors,), the panel's mean before the assessors.

    difference : mean over the topics where both have a score; nan without any.
    wins, ties, losses : topics where the first scores higher, the same, lower.
    p : two-sided Wilcoxon signed-rank test over topics, or over sums of clusters of them; nan without a topic. The
        panel's p takes the assessors as fixed; that of `difference` does not.
    """

    summary = "First system minus second"

    first: str
    second: str
    assessors: tuple[str, ...]
    difference: Floats
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    losses: NDArray[np.int64]
    p: Floats

    @property
    def ahead(self) -> tuple[str, ...]:
        """The assessors for whom the first system has the higher mean."""
        return self._with_sign(1)

    @property
    def behind(self) -> tuple[str, ...]:
        """The assessors for whom the first system has the lower mean."""
        return self._with_sign(-1)

    def _with_sign(self, sign: int) -> tuple[str, ...]:
        return tuple(name for name, d in zip(self.assessors, self.difference[1:], strict=True) if sign * d > 0)

    def _columns(self) -> dict[str, Any]:
        names = ("difference", "wins", "ties", "losses", "p")
        return {"assessor": (PANEL, *self.assessors), **{name: getattr(self, name) for name in names}}


def head_to_head(scores: AnyScores, first: str, second: str) -> HeadToHead:
    """Compare two systems by the panel and by each assessor, by one measure.

    Raises
    ------
    ArgumentError
        An unknown system; the same one twice.

    >>> from qrowd import Scores
    >>> scores = Scores.from_array([[[0.6, 0.5], [0.7, 0.2]], [[0.1, 0.3], [0.4, 0.4]]], assessors=["ann", "bob"])
    >>> found = head_to_head(scores, "1", "2")
    >>> found.difference.round(3).tolist(), found.ahead, found.behind
    ([0.1, 0.3, -0.1], ('ann',), ('bob',))
    """
    values, (assessors, _, systems) = one_measure(scores)
    i, j = (number_of(name, systems, "system") for name in (first, second))
    if i == j:
        raise ArgumentError(f"systems {systems[i]!r} and {systems[j]!r} are the same; name two")
    both = np.concatenate([known_mean(values, axis=0)[None], values])[:, :, [i, j]]
    difference = both[:, :, 0] - both[:, :, 1]
    scale = float(np.nanmax(np.abs(both), initial=0.0))
    difference[np.abs(difference) <= 1e-12 * scale] = 0.0  # rounding errors
    sign = np.sign(difference)
    wins, ties, losses = ((sign == which).sum(axis=1) for which in (1, 0, -1))
    p = signed_rank_p(by_cluster(scores, difference.T, sums=True), scale)
    mean = known_mean(difference, axis=1)
    mean[np.abs(mean) <= 1e-12 * scale] = 0.0
    return HeadToHead(systems[i], systems[j], assessors, mean, wins, ties, losses, p)
