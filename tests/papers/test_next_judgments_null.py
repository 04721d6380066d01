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


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_paths", "n_documents"),
    [(3, 16), *(pytest.param(*case, marks=pytest.mark.nightly) for case in [(8, 24), (100, 30)])],
)
def test_equal_systems_are_seldom_called_different(n_paths: int, n_documents: int) -> None:
    n_errors = [null_errors(n_paths, n_documents=n_documents, guesses=guesses, heavy=True) for guesses in GUESSES]
    assert max(n_errors) <= binom.ppf(0.99, n_paths, 0.05)
    assert sum(n_errors) <= binom.ppf(0.99, n_paths * len(GUESSES), 0.05)  # with 3 each: 3 of 18


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_paths", "n_documents"),
    [(2, 40), *(pytest.param(*case, marks=pytest.mark.nightly) for case in [(4, 50), (15, 100)])],
)
def test_useless_and_reversed_guesses_cost_no_tenth_of_the_judgments(n_paths: int, n_documents: int) -> None:
    def mean(guesses: Guesses) -> float:
        size = {"n_documents": n_documents, "heavy": False, "difference": 2.0, "seed": 2}
        return float(judgments_needed(n_paths, guesses=guesses, **size).mean())

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
