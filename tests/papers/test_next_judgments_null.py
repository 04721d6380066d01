"""A look after every answer: equal systems are called different in at most 5 % of simulations, whatever the guesses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from qrowd_papers.next_judgments_null import (
    GUESSES,
    Guesses,
    judged_until_decided,
    judgments_needed,
    null_errors,
    simulated_world,
)

N_PATHS = 100


@pytest.mark.slow
@pytest.mark.parametrize("guesses", GUESSES)
def test_equal_systems_are_seldom_called_different(guesses: Guesses) -> None:
    n_errors = null_errors(N_PATHS, n_documents=30, guesses=guesses, heavy=True)
    assert n_errors <= binom.ppf(0.99, N_PATHS, 0.05)


@pytest.mark.slow
def test_useless_and_reversed_guesses_cost_no_tenth_of_the_judgments() -> None:
    def mean(guesses: Guesses) -> float:
        return float(judgments_needed(15, n_documents=100, guesses=guesses, heavy=False, difference=2.0, seed=2).mean())

    without = mean("none")
    assert mean("useless") <= 1.1 * without
    assert mean("reversed") <= 1.1 * without
    assert mean("real") < 0.9 * without


@pytest.mark.parametrize("heavy", [False, True])
def test_the_systems_differ_by_what_was_asked_for(heavy: bool) -> None:
    for difference in (0.0, 2.0):
        world = simulated_world(60, "real", heavy=heavy, difference=difference, rng=np.random.default_rng(1))
        assert world.weight @ world.gain == pytest.approx(0.05 * difference, abs=1e-12)
        assert np.sqrt((world.weight**2).sum()) == pytest.approx(0.05)


def test_a_large_difference_is_found_with_its_sign() -> None:
    for difference in (-4.0, 4.0):
        rng = np.random.default_rng(3)
        n, estimate = judged_until_decided(
            simulated_world(80, "real", heavy=False, difference=difference, rng=rng), rng
        )
        assert 0 < n < 60
        assert np.sign(estimate) == np.sign(difference)
