"""Units per assessor and seconds per judgment, against slow definitions."""

from math import exp, log, nan, sqrt
from statistics import mean, median, stdev

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd_papers.magnitude.participation import answer_times, fit_power_law


def log_likelihood(exponent, numbers, highest):
    total = sum(k**-exponent for k in range(1, highest + 1))
    return sum(-exponent * log(k) - log(total) for k in numbers)


@given(st.lists(st.integers(1, 18), min_size=2, max_size=40))
@example([17] + [18] * 39)  # an exponent below -50
@example([18] * 7)
def test_no_exponent_is_more_likely_than_the_fitted_one(numbers):
    law = fit_power_law(numbers, highest=18)
    if max(numbers) == 1 or min(numbers) == 18:
        assert np.isnan(law.exponent)
        return
    best = log_likelihood(law.exponent, numbers, 18)
    for step in (-0.5, -0.01, 0.01, 0.5):
        assert log_likelihood(law.exponent + step, numbers, 18) <= best + 1e-9
    # The standard error is that of the likelihood's curvature.
    h = 1e-3
    sides = log_likelihood(law.exponent - h, numbers, 18) + log_likelihood(law.exponent + h, numbers, 18)
    assert law.standard_error == pytest.approx(1 / sqrt((2 * best - sides) / h**2), rel=1e-3)


def test_an_exponent_that_was_drawn_from_is_found_within_three_standard_errors():
    weights = np.arange(1.0, 19) ** -1.4
    numbers = np.random.default_rng(1).choice(np.arange(1, 19), 1481, p=weights / weights.sum())
    law = fit_power_law(numbers, highest=18)
    assert abs(law.exponent - 1.4) < 3 * law.standard_error < 0.1


def judged(seconds):
    rows = [(f"t{i % 2}", f"d{i}", f"a{i % 3}", 1.0 + i, second) for i, second in enumerate(seconds)]
    names = ("topic", "document", "assessor", "value", "seconds")
    return Judgments.from_frame({name: [row[k] for row in rows] for k, name in enumerate(names)})


def test_times_are_the_mean_the_standard_deviation_and_the_median_of_the_recorded_seconds():
    seconds = [20.0, 78.0, nan, 33.5, 164.0, 41.0, 90.0]
    recorded = [second for second in seconds if second == second]
    times = answer_times(judged(seconds))
    assert (times.n, times.mean, times.sd, times.median) == pytest.approx(
        (6, mean(recorded), stdev(recorded), median(recorded))
    )


def test_times_need_seconds():
    rows = Judgments.from_frame({"topic": ["t"], "document": ["d"], "assessor": ["a"], "value": [exp(1)]})
    with pytest.raises(ArgumentError, match="there are no seconds"):
        answer_times(rows)
