"""Whether systems rank alike by a model's scores and by those of each assessor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.correlation import shared_means
from qrowd.comparison.rankings import correlations
from qrowd.comparison.system_ranking import ranks
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result
from qrowd.model.scores import Scores
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import cells, listed, number


@dataclass(frozen=True, eq=False)
class ModelRankings(Result):
    """A model's ranking of systems compared with that of each assessor; arrays are (assessors,).

    best : the system with the model's highest mean. rank : of that system by the assessor; 0 where nothing can be
        compared. own_best, own_best_rank : the assessor's best system, and its rank by the model.
    tau_b, ap, tau_at_k : of `correlations`, with the model as reference. with_others : tau-b of the assessor with the
        mean of the other assessors; nan for a single assessor. n_topics, n_systems : that both scored.
    """

    measure: str
    model: str
    assessors: tuple[str, ...]
    best: tuple[str, ...]
    rank: NDArray[np.int64]
    own_best: tuple[str, ...]
    own_best_rank: NDArray[np.int64]
    tau_b: Floats
    ap: Floats
    tau_at_k: Floats
    with_others: Floats
    n_topics: NDArray[np.int64]
    n_systems: NDArray[np.int64]
    cutoff: int

    _COLUMNS = (
        "assessors",
        "tau_b",
        "ap",
        "tau_at_k",
        "with_others",
        "best",
        "rank",
        "own_best",
        "own_best_rank",
        "n_topics",
        "n_systems",
    )

    @property
    def sentence(self) -> str:
        """How alike the rankings are, and where the model's best system stands by the first assessor."""
        known = self.tau_b[~np.isnan(self.tau_b)]
        if not known.size:
            return f"Its ranking of systems by {self.measure} cannot be compared with that of {listed(self.assessors)}."
        n = int(self.n_systems.max())
        if len(self.assessors) > 1:
            return (
                f"By {self.measure} of {n} systems, tau-b of its ranking with those of {len(self.assessors)} assessors "
                f"is {known.min():.3f} to {known.max():.3f}."
            )
        place = "first" if self.rank[0] == 1 else f"number {self.rank[0]}"
        return (
            f"By {self.measure} of {n} systems, tau-b of the two rankings is {known[0]:.3f}, and its best system "
            f"({self.best[0]}) is {place} by {self.assessors[0]}."
        )

    def table(self) -> Table:
        """A row per assessor."""
        columns = {
            "assessor": list(self.assessors),
            "tau-b": cells(number, self.tau_b, digits=3),
            "AP correlation": cells(number, self.ap, digits=3),
            f"tau@{self.cutoff}": cells(number, self.tau_at_k, digits=3),
            "tau-b with others": cells(number, self.with_others, digits=3),
            "model's best system": list(self.best),
            "its rank by assessor": cells(_rank, self.rank),
            "assessor's best system": list(self.own_best),
            "its rank by model": cells(_rank, self.own_best_rank),
        }
        if len(self.assessors) == 1:
            del columns["tau-b with others"]
        return Table.of(f"{self.measure}: systems ranked by {self.model} and by each assessor", columns)

    def notes(self, *, with_bias: bool) -> Iterator[Note]:
        """On which topics the rankings are compared, and what a bias needs."""
        yield Note("rankings", "by the systems' means over the topics that model and assessor both scored")
        if not with_bias:
            yield Note("bias", "not estimated; --group 'NAME=PATTERN' names systems that the model may favour")


def _rank(rank: int) -> str:
    return str(rank) if rank else "-"


def model_rankings(scores: Scores, model: str) -> ModelRankings:
    """Compare the model's ranking of the systems with that of each other assessor. scores : of one measure."""
    assessors = [name for name in scores.assessors if name != model]
    coefficients = correlations(scores.sel(assessor=[*assessors, model]), reference=model)
    others = correlations(scores.sel(assessor=assessors)).tau_b if len(assessors) > 1 else np.full(1, np.nan)
    models = scores.values[0, scores.assessors.index(model)]
    pairs = [_best(scores.values[0, scores.assessors.index(name)], models, scores.systems) for name in assessors]
    own_best, own_best_rank, best, rank = zip(*pairs, strict=True)
    return ModelRankings(
        scores.measures[0],
        model,
        tuple(assessors),
        best,
        np.array(rank, np.int64),
        own_best,
        np.array(own_best_rank, np.int64),
        coefficients.tau_b[:-1],
        coefficients.ap[:-1],
        coefficients.tau_at_k[:-1],
        others,
        coefficients.n_topics[:-1],
        coefficients.n_systems[:-1],
        coefficients.cutoff,
    )


def _best(own: Floats, models: Floats, systems: tuple[str, ...]) -> tuple[str, int, str, int]:
    """The assessor's best system and its rank by the model; the model's best and its rank by the assessor."""
    x, y, _, n_systems = shared_means(own, models)
    if n_systems < 2:
        return "", 0, "", 0
    shared = ~np.isnan(own) & ~np.isnan(models)
    names = np.array(systems)[shared[shared.any(axis=1)].all(axis=0)].tolist()
    by_own, by_model = int(x.argmax()), int(y.argmax())
    return names[by_own], int(ranks(y)[by_own]), names[by_model], int(ranks(x)[by_model])
