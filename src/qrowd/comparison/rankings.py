"""How alike the assessors' rankings of the systems are: everyone against one reference, or against the others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.correlation import Kind, means_of_others, row_correlations, shared_means
from qrowd.model.frames import make_frame
from qrowd.model.labels import number_of
from qrowd.model.scores import Floats, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

KINDS: tuple[Kind, ...] = ("tau_b", "tau_a", "ap", "pearson", "rmse")


@dataclass(frozen=True, eq=False)
class Correlations:
    """Each assessor's mean ranking of the systems, held against the reference; every array is (assessors,).

    reference : the assessor everyone is held against; None: the panel without the assessor.
    tau_b, tau_a, ap, pearson, rmse : of the systems' means, both sides over the topics where both have a score. For AP
        correlation the assessor's list is walked and the reference decides. nan where fewer than two systems can be
        compared, and for the reference itself.
    n_topics, n_systems : what these means rest on; a system that lacks a score in one of the topics is left out.
    """

    assessors: tuple[str, ...]
    reference: str | None
    tau_b: Floats
    tau_a: Floats
    ap: Floats
    pearson: Floats
    rmse: Floats
    n_topics: NDArray[np.int64]
    n_systems: NDArray[np.int64]

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per assessor."""
        columns: dict[str, NDArray[Any]] = {"assessor": np.array(self.assessors, object)}
        columns |= {name: getattr(self, name) for name in (*KINDS, "n_topics", "n_systems")}
        return make_frame(columns, backend)


def correlations(scores: AnyScores, reference: str | int | None = None) -> Correlations:
    """How alike each assessor's ranking of the systems is to the reference's, by five figures.

    scores : (assessor, topic, system) of one measure, as a DataArray or a plain array.
    reference : name or number of the assessor everyone is held against; None: for each, the mean over the others, topic
        by topic.

    Raises
    ------
    ArgumentError
        Scores of other dimensions; a reference nobody is called.

    >>> scores = np.array([[[0.9, 0.5, 0.1]], [[0.8, 0.6, 0.4]], [[0.2, 0.6, 0.5]]])
    >>> correlations(scores, reference=0).tau_b.round(4).tolist()
    [nan, 1.0, -0.3333]
    """
    values, (assessors, _, _) = one_measure(scores)
    gold = None if reference is None else number_of(reference, assessors, "assessor")
    found = np.full((len(assessors), len(KINDS)), np.nan)
    counts = np.zeros((len(assessors), 2), np.int64)
    by_size: dict[int, list[tuple[int, Floats, Floats]]] = {}  # rankings of as many systems are compared at once
    others = means_of_others(values) if gold is None else repeat(values[gold], len(assessors))
    for a, other in enumerate(others):
        if a == gold:
            continue
        x, y, n_topics, n_systems = shared_means(values[a], other)
        counts[a] = n_topics, n_systems
        if n_systems > 1:
            by_size.setdefault(n_systems, []).append((a, x, y))
    for members in by_size.values():
        first, second = np.array([x for _, x, _ in members]), np.array([y for _, _, y in members])
        found[[a for a, _, _ in members]] = np.transpose([row_correlations(first, second, kind) for kind in KINDS])
    name = None if gold is None else assessors[gold]
    return Correlations(assessors, name, *found.T, *counts.T)
