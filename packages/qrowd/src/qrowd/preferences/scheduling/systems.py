"""The rankings that are compared, as what each pair of documents weighs for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.preferences.scheduling.state import State
from qrowd.preferences.scoring import pair_discounts

Weight = Literal["none", "lower", "upper", "upper-log2"]


@dataclass(frozen=True, eq=False)
class Systems:
    """How systems rank the documents of one topic, and by which measure they are compared.

    names : labels.
    ranks : (systems, documents) int32, from 1; an unranked document stands at the system's limit.
    limits : (systems,) int32, one more than the number of documents ranked.
    weight : "none" for ppref; "lower", "upper" or "upper-log2" for wpref with that weight.
    """

    names: tuple[str, ...]
    ranks: NDArray[np.int32]
    limits: NDArray[np.int32]
    weight: Weight = "none"

    def __post_init__(self) -> None:
        check_choice("weight", self.weight, Weight)
        if self.ranks.shape[0] < 2:
            raise ArgumentError(f"{self.ranks.shape[0]} systems: a comparison needs 2 or more")

    @classmethod
    def of(
        cls,
        rankings: Sequence[Sequence[int]],
        n_documents: int,
        *,
        names: Sequence[str] | None = None,
        weight: Weight = "none",
    ) -> Systems:
        """From each system's list of document numbers, best first; numbers it leaves out are unranked.

        >>> Systems.of([[0, 1], [2, 1, 0]], 3).ranks.tolist()
        [[1, 2, 3], [3, 2, 1]]
        """
        labels = [str(s + 1) for s in range(len(rankings))] if names is None else list(names)
        if len(labels) != len(rankings):
            raise ArgumentError(f"names: {len(labels)} for {len(rankings)} rankings; give one each")
        limits = np.array([len(ranking) + 1 for ranking in rankings], np.int32)
        ranks = np.repeat(limits[:, None], n_documents, axis=1)
        for s, ranking in enumerate(rankings):
            if len(set(ranking)) < len(ranking):
                raise ArgumentError(f"system {labels[s]}: a document is in the list twice")
            for place, document in enumerate(ranking, start=1):
                if not 0 <= document < n_documents:
                    raise ArgumentError(f"system {labels[s]}: document {document} is not among the {n_documents}")
                ranks[s, document] = place
        return cls(tuple(labels), ranks, limits, weight)

    @property
    def n(self) -> int:
        """How many systems there are."""
        return int(self.limits.size)

    @property
    def n_documents(self) -> int:
        return int(self.ranks.shape[1])

    @cached_property
    def above(self) -> Floats:
        """(documents, documents, systems) weight of the pair where the system ranks the row's higher, else 0."""
        discount = pair_discounts(self.weight, int(self.limits.max()))
        row, column = self.ranks.T[:, None], self.ranks.T[None]
        weights = discount[row if self.weight.startswith("upper") else column]
        return np.ascontiguousarray(np.where(row < column, weights, 0.0))

    @cached_property
    def either(self) -> Floats:
        """(documents, documents, systems) weight of the pair, whichever document stands higher."""
        return self.above + self.above.transpose(1, 0, 2)

    def scores(self, state: State) -> Floats:
        """(systems,) ppref or wpref over what is known, chains and Bad marks included; 0 where nothing is."""
        self.fits(state)
        right = self.above[state.known].sum(axis=0)
        total = self.either[state.known].sum(axis=0)
        return np.asarray(right / np.where(total > 0, total, np.inf))

    def totals(self, state: State) -> Floats:
        """(systems,) weight of all pairs that will count if no further document is marked as Bad."""
        one, two = state.bad[:, None], state.bad[None, :]
        unordered = (one & two if state.bad_loses else one | two) & ~state.decided
        counted = np.triu(~unordered, k=1)
        return np.asarray(self.either[counted].sum(axis=0) + self.either[np.triu(state.closed & state.closed.T)].sum(0))

    def fits(self, state: State) -> None:
        """An error unless the state is of as many documents."""
        if state.n_documents != self.n_documents:
            raise ArgumentError(
                f"the state has {state.n_documents} documents and the systems rank {self.n_documents}: both must be of "
                "one topic"
            )
