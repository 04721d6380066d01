"""Simulated judgments until a question is decided, for several true differences, in the workers of an executor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Seed
from qrowd.sequential.expectation import Expectation, with_difference
from qrowd.sequential.gain_errors import GainErrors
from qrowd.sequential.simulated_paths import Start, path

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor


@dataclass(frozen=True, eq=False)
class _Simulations:
    """What all simulations have in common. differences : (rows,) true sizes; nan: each simulation has its own."""

    start: Start
    errors: GainErrors
    differences: Floats
    seed: Seed

    def one(self, task: tuple[int, int]) -> tuple[int, float]:
        """Judgments until the question is decided, and their cost.

        task : numbers of the row and of the simulation. Chance depends on the latter alone, so all rows have the same
        errors.
        """
        row, number = task
        rng, difference = np.random.default_rng([*np.atleast_1d(self.seed).tolist(), 2, number]), self.differences[row]
        errors = self.errors.draw(rng)
        if not np.isnan(difference):
            errors = with_difference(self.start, self.errors, errors, float(difference))
        return path(self.start, errors, rng)


def simulate_differences(
    start: Start,
    errors: GainErrors,
    differences: Floats,
    n_simulations: int,
    *,
    seed: Seed,
    executor: AnyExecutor = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Expectation]:
    """Simulated judgments for each true size of the difference that decides a question.

    differences : (rows,) nan: each simulation has its own. progress : called with (simulations done, in all).
    """
    from qrowd.executors import in_executor

    n_left, n_rows = int(start.open.size), differences.size
    n_judgments, cost = np.zeros((n_rows, n_simulations), np.int64), np.zeros((n_rows, n_simulations))
    tasks = list(product(range(n_rows), range(n_simulations))) if n_left else []
    results = in_executor(_Simulations.one, tasks, executor, shared=_Simulations(start, errors, differences, seed))
    for done, (task, result) in enumerate(zip(tasks, results, strict=True), start=1):
        n_judgments[task], cost[task] = result
        if progress is not None:
            progress(done, len(tasks))
    return [Expectation(n_judgments[row], cost[row], n_left) for row in range(n_rows)]
