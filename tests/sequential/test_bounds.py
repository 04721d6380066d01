"""Bounds that hold at all times at once."""

from __future__ import annotations

import numpy as np
import pytest

from qrowd.sequential.estimates import DIFFERENCES, MIN_DRAWS, SHARES, interval_half, mixture_bound


def test_a_brownian_motion_leaves_the_bound_at_some_time_with_at_most_the_error_rate() -> None:
    rng = np.random.default_rng(1)
    times = np.cumsum(np.geomspace(5, 1000, 1000))
    bound = mixture_bound(times) * times
    steps = rng.normal(size=(3000, 1000)) * np.sqrt(np.diff(times, prepend=0.0))
    left = (np.abs(np.cumsum(steps, axis=1)) > bound).any(axis=1).mean()
    assert 0.02 < left <= 0.055  # .05 and 1.3 standard errors; steps see less than continuous time


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_at_the_bound_the_mixture_is_one_over_the_error_rate(confidence: float) -> None:
    for information in (0.5, 100.0, 2500.0, 1e6):
        s = float(mixture_bound(information, confidence=confidence)) * information
        mixture = sum(
            share * (np.exp(d * s - d * d * information / 2) + np.exp(-d * s - d * d * information / 2)) / 2
            for d, share in zip(DIFFERENCES, SHARES, strict=True)
        )
        assert mixture == pytest.approx(1 / (1 - confidence), rel=1e-6)


def test_typical_differences_need_little_more_than_three_standard_errors() -> None:
    information = np.geomspace(100, 1e6, 20_000)
    bounds = mixture_bound(information)
    for difference in (0.015, 0.03, 0.06, 0.1):
        assert 3.0 < difference * np.sqrt(information[bounds >= difference][-1]) < 3.2


def test_without_information_there_is_no_bound_and_with_all_of_it_no_doubt() -> None:
    assert mixture_bound([0.0, np.inf]).tolist() == [np.inf, 0.0]
    assert interval_half([100.0, np.inf], MIN_DRAWS - 1).tolist() == [np.inf, 0.0]
    assert interval_half([100.0], MIN_DRAWS)[0] == mixture_bound(100.0)
    bounds = mixture_bound(np.geomspace(0.01, 1e6, 100))
    assert (np.diff(bounds) < 0).all()


@pytest.mark.parametrize("sd", [0.002, 0.005, 0.01, 0.02, 0.1])
def test_an_error_that_no_draw_reduces_leaves_the_error_rate_as_it_is(sd: float) -> None:
    rng = np.random.default_rng(2)
    times = np.geomspace(60, 3e5, 500)
    half = interval_half(times, MIN_DRAWS, variance=sd**2)
    steps = rng.normal(size=(3000, 500)) * np.sqrt(np.diff(times, prepend=0.0))
    errors = np.cumsum(steps, axis=1) / times + sd * rng.normal(size=(3000, 1))
    assert (np.abs(errors) > half).any(axis=1).mean() <= 0.057  # .05 and 1.8 standard errors
