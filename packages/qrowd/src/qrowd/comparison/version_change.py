"""The change of a score between two versions of a system and two versions of a judge, split between them.

Of the four combinations of system and judge, the newer system by the newer judge minus the older by the older is the
change. Where all four were judged, the part of the system is its mean difference over both judges, and that of the
judge its mean difference over both systems, which sum to the change. With three of them each part has one difference.
The judges are the two there are, no sample of judges, so that only topics are random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.differences import Difference, difference
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.model.labels import number_of
from qrowd.model.result import Result
from qrowd.model.scores import one_measure, scores_of

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True, eq=False)
class VersionChange(Result):
    """The change of a score, and what of it the system and the judge made: the parts add up to the change."""

    summary = "The change of a score, split between system and judge"

    systems: tuple[str, str]
    assessors: tuple[str, str]
    change: Difference
    system: Difference
    judge: Difference

    def parts(self) -> dict[str, Difference]:
        """{what changed: by how much}."""
        return {"both": self.change, "system": self.system, "judge": self.judge}

    def _columns(self) -> dict[str, Any]:
        parts = self.parts()
        names = ("difference", "standard_error", "low", "high", "p", "n_topics")
        return {"part": tuple(parts), **{name: [getattr(one, name) for one in parts.values()] for name in names}}


def version_change(
    scores: AnyScores, *, systems: tuple[str, str], assessors: tuple[str, str], confidence: float = 0.95
) -> VersionChange:
    """Split the change of a score by one measure: the first system by the first judge minus the second by the second.

    Parameters
    ----------
    systems, assessors : the new and the old version of each. Three of the four combinations are enough.

    Raises
    ------
    ArgumentError
        An unknown name, or the same version twice.
    NoOverlapError
        Fewer than three combinations share two topics, so that system and judge cannot be told apart.

    >>> from qrowd import Scores
    >>> values = [[[0.6, 0.5], [0.7, 0.4], [0.9, 0.6]], [[0.5, 0.3], [0.6, 0.3], [0.9, 0.5]]]
    >>> both = Scores.from_array(values, assessors=["judge-2", "judge-1"], systems=["v2", "v1"])
    >>> found = version_change(both, systems=("v2", "v1"), assessors=("judge-2", "judge-1"))
    >>> found.to_frame()[["part", "difference"]].round(3).values.tolist()
    [['both', 0.367], ['system', 0.267], ['judge', 0.1]]
    """
    values, (labels, _, names) = one_measure(scores)
    s = [number_of(name, names, "system") for name in systems]
    j = [number_of(name, labels, "assessor") for name in assessors]
    for (new, old), names_of in ((s, systems), (j, assessors)):
        if new == old:
            raise ArgumentError(f"{names_of[0]!r} and {names_of[1]!r} are the same version; name two")
    after, new_by_old, old_by_new, before = (values[judge, :, system] for system in s for judge in j)
    # The share of the way from before to after that leads over the old system by the new judge.
    known = np.isfinite([old_by_new, new_by_old]).astype(float)
    share = np.divide(known[0], known.sum(axis=0), out=np.full(len(after), np.nan), where=known.any(axis=0))
    over_old, over_new = np.nan_to_num([old_by_new, new_by_old])
    rest = 1 - share
    system = share * after + rest * over_new, share * over_old + rest * before
    judge = share * over_old + rest * after, share * before + rest * over_new
    usable = ~np.isnan(share * (after - before))
    if usable.sum() < 2:
        raise NoOverlapError(
            f"system and judge cannot be told apart: {systems[1]} by {assessors[0]} and {systems[0]} by {assessors[1]} "
            "lack scores on two topics; let the new judge judge the old answers, too"
        )
    pair = scores_of(scores).sel(assessor=list(assessors), system=list(systems))

    def part(first: Floats, second: Floats) -> Difference:
        both = np.array([[np.where(usable[:, None], np.stack([first, second], axis=1), np.nan)] * 2])  # of both judges
        return difference(replace(pair, values=both), *systems, method="topics", confidence=confidence)

    return VersionChange(systems, assessors, part(after, before), part(*system), part(*judge))
