"""Two systems, for the panel and for each assessor: who is ahead, how surely, and who sees it the other way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.top_set import Zeros, signed_rank_p
from qrowd.errors import ArgumentError
from qrowd.model.frames import make_frame
from qrowd.model.labels import number_of
from qrowd.model.scores import Floats, known_mean, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

PANEL = "panel"


@dataclass(frozen=True, eq=False)
class HeadToHead:
    """First system minus second; every array is (1 + assessors,), the panel's mean before the assessors.

    difference : mean over the topics where both have a score; nan without any.
    wins, ties, losses : topics where the first scores higher, the same, lower.
    p : two-sided Wilcoxon signed-rank test over topics; nan without a topic. The panel's takes its assessors for the
        only ones there could be; `difference` has the p that does not.
    """

    first: str
    second: str
    assessors: tuple[str, ...]
    difference: Floats
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    losses: NDArray[np.int64]
    p: Floats
    zeros: Zeros

    @property
    def ahead(self) -> tuple[str, ...]:
        """The assessors for whom the first system has the higher mean."""
        return self._whose(1)

    @property
    def behind(self) -> tuple[str, ...]:
        """The assessors for whom it has the lower mean."""
        return self._whose(-1)

    def _whose(self, sign: int) -> tuple[str, ...]:
        return tuple(name for name, d in zip(self.assessors, self.difference[1:], strict=True) if sign * d > 0)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row for the panel and one per assessor."""
        return make_frame(
            {
                "assessor": np.array([PANEL, *self.assessors], object),
                "difference": self.difference,
                "wins": self.wins,
                "ties": self.ties,
                "losses": self.losses,
                "p": self.p,
            },
            backend,
        )


def head_to_head(scores: AnyScores, first: str | int, second: str | int, *, zeros: Zeros = "wilcox") -> HeadToHead:
    """Two systems by every assessor of one measure.

    scores : (assessor, topic, system). first, second : names or numbers of systems.
    zeros : what topics without a difference do to p; as in `top_set`, like the rest of the test.

    Raises
    ------
    ArgumentError
        A system nobody has; the same one twice.

    >>> found = head_to_head(np.array([[[0.6, 0.5], [0.7, 0.2]], [[0.1, 0.3], [0.4, 0.4]]]), 0, 1)
    >>> found.difference.round(3).tolist(), found.ahead, found.behind
    ([0.1, 0.3, -0.1], ('0',), ('1',))
    """
    if zeros not in get_args(Zeros):
        raise ArgumentError(f"zeros={zeros!r}: choose from {', '.join(get_args(Zeros))}")
    values, (assessors, _, systems) = one_measure(scores)
    i, j = (number_of(name, systems, "system") for name in (first, second))
    if i == j:
        raise ArgumentError(f"systems {systems[i]!r} and {systems[j]!r} are the same; name two")
    both = np.concatenate([known_mean(values, axis=0)[None], values])[:, :, [i, j]]
    difference = both[:, :, 0] - both[:, :, 1]
    scale = float(np.nanmax(np.abs(both), initial=0.0))
    difference[np.abs(difference) <= 1e-12 * scale] = 0.0  # what rounding leaves
    sign = np.sign(difference)
    wins, ties, losses = ((sign == which).sum(axis=1) for which in (1, 0, -1))
    p = signed_rank_p(np.ascontiguousarray(difference.T), zeros, scale)
    mean = known_mean(difference, axis=1)
    mean[np.abs(mean) <= 1e-12 * scale] = 0.0
    return HeadToHead(systems[i], systems[j], assessors, mean, wins, ties, losses, p, zeros)
