"""Statistics from sums over topics, without the scores: means, differences, variance components, bootstrap.

`qrowd.score_sums` makes the sums of a collection of any size part by part. Sums are exact, so that results are the same
to the bit whatever the parts; they are those of the functions that take scores, apart from rounding. What each
statistic needs: `qrowd.comparison.measure_sums`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qrowd.comparison.component_sums import components_of
from qrowd.comparison.differences import (
    AllDifferences,
    Difference,
    MethodChoice,
    all_differences_of,
    check_options,
    difference_of,
)
from qrowd.comparison.generalizability import VarianceComponents
from qrowd.comparison.measure_sums import MeasureSums, sums_of_values
from qrowd.comparison.panel_sums import PanelSums
from qrowd.comparison.spread import Spread
from qrowd.comparison.system_ranking import SystemRanking, ranking_of
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.labels import first_of, number_of
from qrowd.model.result import Result
from qrowd.model.scores import Names, scores_of

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True, eq=False)
class ScoreSums(Result):
    """Sums over topics of the scores of systems, for each measure.

    topics : all that are judged. sums : of each measure. n_resamples, seed : of the sums for the bootstrap; 0 and None
    without. attributes : the conventions in force and the facts behind the scores, as `Scores.attributes`.

    Methods with statistics are for one measure: `sums.sel(measure="AP").rank_systems()`.
    """

    measures: Names
    assessors: Names
    systems: Names
    topics: Names
    sums: tuple[MeasureSums, ...] = field(repr=False)
    n_resamples: int
    seed: Seed | None
    attributes: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, scores: AnyScores, *, n_resamples: int = 0, rng: Rng = None) -> ScoreSums:
        """The sums of scores; arguments and errors as in `qrowd.score_sums`."""
        whole = scores_of(scores)
        seed = seed_for(n_resamples, rng)
        who = range(len(whole.assessors))
        sums = sums_of_values(whole.values, who, len(who), whole.topics, n_resamples, seed)
        labels = (whole.measures, whole.assessors, whole.systems, whole.topics)
        return cls(*labels, sums, n_resamples, seed, dict(whole.attributes))

    def sel(self, *, measure: str) -> ScoreSums:
        """The sums of one measure.

        Raises
        ------
        ArgumentError
            A measure that the sums do not have.
        """
        return replace(
            self, measures=(measure,), sums=(self.sums[number_of(measure, self.measures, "measure")],)
        )  # fmt: skip

    def rank_systems(self) -> SystemRanking:
        """As `qrowd.comparison.rank_systems`: means and ranks, for the panel and for each assessor."""
        return _ranking(self, self._one)

    def difference(
        self, first: str, second: str, *, method: MethodChoice = "recommended", confidence: float = 0.95
    ) -> Difference:
        """As `qrowd.comparison.difference`: the difference of two systems with its interval.

        method : "pigeonhole" needs sums with replicates (`n_resamples` of `qrowd.score_sums`).

        Raises
        ------
        ArgumentError
            As there; cells that lack the score of some system but not of all, which the two may share; more than 4,096
            different sets of assessors who judged the same topics, or more than 64 with method="pigeonhole".
        NoOverlapError
            As there.
        """
        check_options(method, confidence)
        places = tuple(number_of(name, self.systems, "system") for name in (first, second))
        if first == second:
            raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
        panel = self._panel
        if panel.n_left_out:
            raise ArgumentError(
                f"sums: {panel.n_left_out:,} cells lack the scores of some systems, and sums do not show which two "
                "have one; all_differences compares all systems on the cells that all have"
            )
        n_resamples = max(self.n_resamples, 2)

        def spread(topics: bool) -> Spread:
            return Spread.of(panel, topics=topics)

        pair = (first, second), (places[0], places[1])
        return difference_of(panel, *pair, spread, method, confidence, n_resamples, self.seed)

    def all_differences(self, *, method: MethodChoice = "recommended", confidence: float = 0.95) -> AllDifferences:
        """As `qrowd.comparison.all_differences`; `method` and errors as in `difference`."""
        check_options(method, confidence)
        return all_differences_of(self._panel, method, confidence, max(self.n_resamples, 2), self.seed, None)

    def variance_components(self, *, design: Literal["crossed", "nested", "auto"] = "auto") -> VarianceComponents:
        """As `qrowd.comparison.variance_components`.

        Raises
        ------
        ArgumentError
            As there; a crossed design in which only a block of topics and assessors is complete.
        NoOverlapError
            As there.
        """
        return components_of(self._panel, self.assessors, self.topics, design)

    def replicate_means(self) -> Floats:
        """(replicates, systems) means of the two-way bootstrap, topics and assessors both resampled.

        Raises
        ------
        ArgumentError
            Sums without replicates; more than 64 different sets of assessors who judged the same topics.
        """
        return self._panel.replicate_means()

    @property
    def _one(self) -> MeasureSums:
        if len(self.measures) != 1:
            raise ArgumentError(
                f"sums of {len(self.measures)} measures ({first_of(self.measures, 5)}); one was expected: "
                f'sums.sel(measure="{self.measures[0]}")'
            )
        return self.sums[0]

    @cached_property
    def _panel(self) -> PanelSums:
        return PanelSums.of(self._one, self.assessors, self.systems, self.seed)

    def _columns(self) -> dict[str, Any]:
        rankings = [_ranking(self, own) for own in self.sums]
        names = ("mean", "standard_error", "n_topics")
        return {
            "measure": np.repeat(np.array(self.measures, object), len(self.systems)),
            "system": np.tile(np.array(self.systems, object), len(self.measures)),
            **{name: np.concatenate([getattr(one, name) for one in rankings]) for name in names},
        }

    def _sentence(self) -> str:
        return (
            f"Sums over {len(self.topics):,} topics: {first_of(self.measures, 5)} of {len(self.systems)} systems by "
            f"{len(self.assessors)} assessors."
        )


def seed_for(n_resamples: int, rng: Rng) -> Seed | None:
    """The seed of the replicates; None without."""
    if n_resamples < 0 or n_resamples == 1:
        raise ArgumentError(f"n_resamples={n_resamples}: at least 2 replicates were expected, or 0 for none")
    return seed_of(rng) if n_resamples else None


def _ranking(whole: ScoreSums, sums: MeasureSums) -> SystemRanking:
    n, n_scores = sums.n_topics, sums.n_scores
    total, squares = sums.total.fractions(), sums.squares.fractions()
    counts = n.astype(object)
    mean = [x / k if k else np.nan for x, k in zip(total, counts, strict=True)]
    variance = [
        (xx - x**2 / k) / (k - 1) / k if k > 1 else np.nan for xx, x, k in zip(squares, total, counts, strict=True)
    ]
    by_assessor = np.divide(
        sums.by_assessor.floats(), n_scores, out=np.full(n_scores.shape, np.nan), where=n_scores > 0
    )
    floats = [np.array([float(cell) for cell in cells]) for cells in (mean, variance)]
    return ranking_of(whole.assessors, whole.systems, floats[0], np.sqrt(floats[1]), by_assessor, n)
