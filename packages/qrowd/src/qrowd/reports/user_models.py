"""Models of a user: what a result that an assessor gave grade i is worth to somebody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.predicted_relevance import PredictedRelevance

Kind = Literal["random", "disagreement", "utility"]


@dataclass(frozen=True)
class UserModel:
    """Which gains a grade has.

    kind : "random", a random user finds the result relevant; "disagreement", at least m of n do, the assessor being one
        of them (the older user disagreement model); "utility", the expected utility of a result that is worth a
        fraction to each user.
    at_least : (m, n), at least m of n users; default: one random user, or 1 of 2 with the assessor.
    utility : {grade: utility}; default: the grade over the highest one.
    """

    kind: Kind = "random"
    at_least: tuple[int, int] | None = None
    utility: Mapping[float, float] | None = None

    def __post_init__(self) -> None:
        check_choice("user_model", self.kind, Kind)
        if self.utility is not None and self.kind != "utility":
            raise ArgumentError(f"utility: user_model={self.kind} has none; give user_model=utility")
        if self.at_least is not None and self.kind == "utility":
            raise ArgumentError("at_least: a fractional utility is of one user; leave at_least or user_model out")

    @property
    def plain(self) -> bool:
        """Whether gains are p(R|i)."""
        return self.kind == "random" and self.at_least is None

    def gains(self, model: PredictedRelevance) -> Floats:
        """(grades,) the gain of each grade."""
        if self.kind == "utility":
            return model.fractional_utility(grade_utility=self.utility)
        if self.kind == "disagreement":
            m, n = self.at_least or (1, 2)
            return model.user_disagreement(m=m, n=n)
        return model.probability if self.at_least is None else model.relevance_to_at_least(*self.at_least)

    @property
    def words(self) -> str:
        """What a gain is."""
        if self.kind == "utility":
            return "expected fractional utility"
        if self.kind == "disagreement":
            m, n = self.at_least or (1, 2)
            return f"relevance to at least {m} of {n} with the assessor (user disagreement model)"
        return "p(R|i)" if self.at_least is None else f"relevance to at least {self.at_least[0]} of {self.at_least[1]}"


RANDOM_USER = UserModel()
