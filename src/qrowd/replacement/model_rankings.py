"""Whether systems rank alike by a model's scores and by those of each assessor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.correlation import shared_means
from qrowd.comparison.rankings import correlations
from qrowd.comparison.system_ranking import ranks
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result
from qrowd.model.scores import Scores


@dataclass(frozen=True, eq=False)
class ModelRankings(Result):
    """A model's ranking of systems compared with that of each assessor; arrays are (assessors,).

    tau_b : Kendall's tau-b of the model's ranking with the assessor's. tau_b_with_others : of the assessor's ranking
        with the mean of the other assessors; nan for a single assessor.
    best : the system with the model's highest mean. rank : of that system by the assessor; 0 where nothing can be
        compared. n_topics, n_systems : that both scored.
    """

    measure: str
    model: str
    assessors: tuple[str, ...]
    tau_b: Floats
    tau_b_with_others: Floats
    best: tuple[str, ...]
    rank: NDArray[np.int64]
    n_topics: NDArray[np.int64]
    n_systems: NDArray[np.int64]

    _COLUMNS = ("assessors", "tau_b", "tau_b_with_others", "best", "rank", "n_topics", "n_systems")


def model_rankings(scores: Scores, model: str) -> ModelRankings:
    """Compare the model's ranking of the systems with that of each other assessor. scores : of one measure."""
    assessors = [name for name in scores.assessors if name != model]
    coefficients = correlations(scores.sel(assessor=[*assessors, model]), reference=model)
    others = correlations(scores.sel(assessor=assessors)).tau_b if len(assessors) > 1 else np.full(1, np.nan)
    by_model = scores.values[0, scores.assessors.index(model)]
    pairs = [_best(by_model, scores.values[0, scores.assessors.index(name)], scores.systems) for name in assessors]
    best, rank = zip(*pairs, strict=True)
    return ModelRankings(
        scores.measures[0],
        model,
        tuple(assessors),
        coefficients.tau_b[:-1],
        others,
        best,
        np.array(rank, np.int64),
        coefficients.n_topics[:-1],
        coefficients.n_systems[:-1],
    )


def _best(by_model: Floats, by_assessor: Floats, systems: tuple[str, ...]) -> tuple[str, int]:
    """The model's best system and its rank by the assessor."""
    model_means, assessor_means, _, n_systems = shared_means(by_model, by_assessor)
    if n_systems < 2:
        return "", 0
    shared = ~np.isnan(by_model) & ~np.isnan(by_assessor)
    names = np.array(systems)[shared[shared.any(axis=1)].all(axis=0)].tolist()
    best = int(model_means.argmax())
    return names[best], int(ranks(assessor_means)[best])
