"""The names of AWARE's estimators: granularity, gap and weight, as in sgl_tau_msd (section 5.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from qrowd.errors import ArgumentError
from qrowd.model.labels import closest

Granularity = Literal["sgl", "tpc"]
Gap = Literal["fro", "rmse", "kld", "tau", "apc"]
Weight = Literal["md", "msd", "med"]

GAPS: tuple[Gap, ...] = get_args(Gap)
UNIFORM = "uniform"
DEFAULT = "sgl_rmse_md"
"""Where weights are wanted and no estimator is named; docs/aware.md says why this one."""


@dataclass(frozen=True)
class Estimator:
    """How an assessor's accuracy is estimated.

    granularity : "sgl", one accuracy for all topics; "tpc", one for each topic.
    gap : what compares two assessors: their scores ("fro", Frobenius norm; "rmse"), the distribution of scores ("kld",
        Kullback-Leibler divergence of kernel densities), or the ranking of systems ("tau"; "apc", AP correlation).
    weight : the smallest gap to the kinds of random assessors ("md"), its square ("msd"), or the sum of gaps ("med").
    """

    granularity: Granularity
    gap: Gap
    weight: Weight

    def __str__(self) -> str:
        return f"{self.granularity}_{self.gap}_{self.weight}"


ESTIMATORS: tuple[Estimator, ...] = tuple(
    Estimator(granularity, gap, weight)
    for granularity in get_args(Granularity)
    for gap in GAPS
    for weight in get_args(Weight)
)
NAMES: tuple[str, ...] = tuple(map(str, ESTIMATORS))
"""The paper's names of all thirty."""


def estimator(name: str) -> Estimator | None:
    """The estimator of that name; None for "uniform", which weighs everyone alike.

    >>> estimator("sgl_tau_msd")
    Estimator(granularity='sgl', gap='tau', weight='msd')

    Raises
    ------
    ArgumentError
        With the nearest name.
    """
    if name in (UNIFORM, "uni"):
        return None
    if name not in NAMES:
        raise ArgumentError(
            f"estimator {name!r}: {closest(name, [*NAMES, UNIFORM], 'estimator')} "
            "A name is granularity_gap_weight, of sgl|tpc, fro|rmse|kld|tau|apc and md|msd|med; or uniform"
        )
    return ESTIMATORS[NAMES.index(name)]
