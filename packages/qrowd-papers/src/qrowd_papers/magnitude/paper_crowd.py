"""The crowd of the magnitude paper: assessors who differ in more than their scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance
from qrowd.simulation import MagnitudeCrowd, Truth
from qrowd.simulation.magnitudes import written


@dataclass(frozen=True)
class PaperCrowd(MagnitudeCrowd):
    """A crowd whose magnitude of a document is multiplier * (1 + grade)^exponent, with a grade in fractions.

    saturation : above 0, each further grade adds less and less.
    noise_sd : standard deviation, among assessors, of the logarithm of an answer's noise.
    round_numbers : share of assessors who round all their answers.
    careless : share of assessors whose numbers have nothing to do with the document (the unit's, in another order).
    tiny : share of assessors who, for want of a zero, divide the magnitude of each document of grade 0 by 100 to
        100,000, as some of the paper's workers wrote.
    """

    saturation: float = 0.0
    noise_sd: float = 0.0
    careless: float = 0.0
    tiny: float = 0.0

    def answers(
        self,
        truth: Truth,
        pair: NDArray[np.int64],
        who: NDArray[np.int64],
        n_assessors: int,
        chance: Chance,
        *,
        rng: np.random.Generator,
    ) -> Floats:
        habits = chance.stream("habits")
        noise = self.noise * np.exp(self.noise_sd * habits.standard_normal(n_assessors))
        rounds = (habits.random(n_assessors) < self.round_numbers).astype(np.float64)
        kind = habits.random(n_assessors)
        is_tiny = (self.careless <= kind) & (kind < self.careless + self.tiny)
        log_of_none = np.where(is_tiny, np.log(10) * habits.uniform(2, 5, n_assessors), 0.0)
        seen = self.perceived(truth)[pair]
        careless = (kind < self.careless)[who]
        seen = np.where(careless[:, None], chance.stream("careless").permuted(seen, axis=1), seen)
        logs = self.logs(who, n_assessors, chance, seen)
        logs -= log_of_none[who][:, None] * (truth.grade[pair] == 0)
        logs += noise[who][:, None] * rng.standard_normal(pair.shape)
        return written(logs, rounds[who][:, None], rng)

    def perceived(self, truth: Truth) -> Floats:
        """(pairs,) the logarithm of 1 + the grade in fractions, by relevance and the truth's cuts."""
        gaps = np.diff(truth.cuts) if truth.cuts.size > 1 else np.ones(1)
        inner = truth.cuts[:-1] + np.diff(truth.cuts) / 2
        middles = [truth.cuts[0] - gaps[0] / 2, *inner, truth.cuts[-1] + gaps[-1] / 2]
        grade = np.interp(truth.relevance, middles, np.arange(len(middles)))
        if self.saturation:
            highest = len(middles) - 1
            grade = highest * np.expm1(-self.saturation * grade) / np.expm1(-self.saturation * highest)
        return np.asarray(np.log1p(grade))
