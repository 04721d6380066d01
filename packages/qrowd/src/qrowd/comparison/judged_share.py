"""The share of each system's first documents that each assessor judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.alignment import align
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs


@dataclass(frozen=True, eq=False)
class JudgedShare(Result):
    """How much of what systems return each assessor judged; systems with the smallest share come first.

    share : (systems, assessors) of the documents at the first `cutoff` ranks, over the topics that anyone judged; nan
        for a system without a list for any of them. anyone : (systems,) share that at least one assessor judged.
    """

    summary = "How much of what systems return each assessor judged; systems with the smallest share come first"

    systems: tuple[str, ...]
    assessors: tuple[str, ...]
    cutoff: int
    share: Floats
    anyone: Floats

    def only(self, assessors: tuple[str, ...]) -> JudgedShare:
        """Some of the assessors."""
        columns = [self.assessors.index(name) for name in assessors]
        return replace(self, assessors=assessors, share=self.share[:, columns])

    def _columns(self) -> dict[str, Any]:
        n_systems, n_assessors = self.share.shape
        return {
            "system": np.repeat(np.array(self.systems, object), n_assessors),
            "assessor": np.tile(np.array(self.assessors, object), n_systems),
            "share": self.share.ravel(),
            "anyone": np.repeat(self.anyone, n_assessors),
        }


def judged_share(runs: Runs, judgments: Judgments, *, cutoff: int = 10) -> JudgedShare:
    """The share of each system's first `cutoff` documents that each assessor judged.

    Raises
    ------
    NoOverlapError
        Runs and judgments share no topic.
    """
    if cutoff < 1:
        raise ArgumentError("1 or more was expected", "cutoff", cutoff)
    panel = judgments.panel()
    n_systems = len(runs.systems)
    judged, anyone, returned = np.zeros((n_systems, len(panel.assessors))), np.zeros(n_systems), np.zeros(n_systems)
    for number, topic in enumerate(align(runs, panel.pool).topics):
        known = ~np.isnan(panel.topic(number))
        rows = topic.rows[:, :cutoff]
        inside = rows >= 0
        by_rank = known[np.where(inside, rows, 0)] & inside[:, :, None]
        judged += by_rank.sum(axis=1)
        anyone += by_rank.any(axis=2).sum(axis=1)
        returned += np.minimum(topic.lengths, cutoff)
    with np.errstate(invalid="ignore"):
        share, whole = judged / returned[:, None], anyone / returned
    order = np.argsort(whole + 1e-6 * share.mean(axis=1), kind="stable")
    return JudgedShare(tuple(runs.systems[s] for s in order), panel.assessors, cutoff, share[order], whole[order])
