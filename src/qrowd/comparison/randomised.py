"""Which systems differ, without assuming a distribution: labels of systems exchanged at random.

Carterette (2012), Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments. ACM TOIS
30(1): randomised Tukey's honestly significant difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.resampling import BLOCK, panel_of
from qrowd.errors import ArgumentError
from qrowd.kernels.two_way import permuted_ranges
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.scores import Floats
from qrowd.threads import in_threads

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Within = Literal["topic", "cell"]


@dataclass(frozen=True, eq=False)
class RandomisedTukey:
    """All pairs of systems held together; arrays are (pairs,).

    first, second : numbers of the systems. difference : of their means, first minus second.
    p : share of n_resamples permutations whose largest difference of any two systems reaches this one (the data themselves count
        as one of them), so the chance of any false one is held.
    """

    systems: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    difference: Floats
    p: Floats
    within: Within
    n_resamples: int
    seed: Seed

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per pair."""
        names = np.array(self.systems, object)
        columns = {"first": names[self.first], "second": names[self.second], "difference": self.difference, "p": self.p}
        return make_frame(columns, backend)


def randomised_tukey(
    scores: AnyScores,
    *,
    within: Within = "topic",
    n_resamples: int = 10_000,
    rng: Rng = None,
    threads: int | None = None,
) -> RandomisedTukey:
    """Test all pairs of systems by exchanging their scores at random; (assessor, topic, system) of one measure.

    within : "topic" exchanges the systems of a topic alike for all its assessors, so that what a topic does to a system
        stays one piece of chance. "cell" exchanges them anew for every topic and assessor: right only where assessors
        would be as independent as topics are, and far too sure of itself where systems differ by topic.

    Raises
    ------
    ArgumentError
        An option outside its range.
    NoOverlapError
        The systems share fewer than two topics.
    """
    if within not in get_args(Within):
        raise ArgumentError(f"within={within!r}: choose from {', '.join(get_args(Within))}")
    if n_resamples < 1:
        raise ArgumentError(f"n_resamples={n_resamples}: at least 1 permutation was expected")
    seed = seed_of(rng)
    panel = panel_of(scores)
    by_topic = panel.by_topic(panel.values)
    rows, weights = by_topic, np.full(by_topic.shape[0], 1 / by_topic.shape[0])
    if within == "cell":
        share = panel.known / panel.known.sum(axis=1, keepdims=True) / len(panel.topics)
        rows, weights = panel.values[panel.known], share[panel.known]
    chance = Chance.of(seed)

    def block(number: int) -> Floats:
        return permuted_ranges(
            rows, weights, chance.stream("permutations", number), min(BLOCK, n_resamples - number * BLOCK)
        )

    ranges = np.sort(np.concatenate(list(in_threads(block, range(-(-n_resamples // BLOCK)), threads))))
    first, second = np.triu_indices(len(panel.systems), 1)
    mean = by_topic.mean(axis=0)
    apart = mean[first] - mean[second]
    slack = 1e-12 * float(np.abs(rows).max(initial=0.0))  # sums in another order are the same sums
    reached = n_resamples - np.searchsorted(ranges, np.abs(apart) - slack, side="left")
    return RandomisedTukey(
        panel.systems, first, second, apart, (reached + 1) / (n_resamples + 1), within, n_resamples, seed
    )
