"""Which difference the recommended interval finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numbered_scores import numbered
from qrowd.comparison import difference
from qrowd.comparison.power import DifferenceComponents, detectable_difference, power_of_difference, topics_needed
from qrowd.errors import ArgumentError

DL20 = DifferenceComponents(2 * 0.0134572, 2 * 0.000427, 2 * 0.0062715)  # TREC 2020, nDCG@10, 83 systems


@pytest.mark.parametrize(
    ("topics", "assessors", "n", "error"),
    [
        (30, 1, 300, 0.06),  # 2.6 binomial standard errors
        *(pytest.param(*case, 300, 0.06, marks=pytest.mark.nightly) for case in [(70, 3), (54, 5), (100, 2)]),
    ],
)
def test_the_interval_finds_the_detectable_difference_four_times_in_five(topics, assessors, n, error):
    random = np.random.default_rng(2)
    size = detectable_difference(DL20, topics, assessors)
    found = 0
    for _ in range(n):
        first = (
            size
            + random.normal(0, DL20.v_topic**0.5, (1, topics))
            + random.normal(0, DL20.v_assessor**0.5, (assessors, 1))
            + random.normal(0, DL20.v_error**0.5, (assessors, topics))
        )
        found += difference(numbered(np.stack([first, np.zeros_like(first)], axis=-1)), "0", "1").low > 0
    assert found / n == pytest.approx(0.8, abs=error)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(2, 200), st.integers(1, 9), st.floats(0.5, 0.95), st.booleans())
def test_power_of_the_detectable_difference_is_the_power_asked_for(topics, assessors, wanted, crossed):
    components = DifferenceComponents(1.0, 0.1 if crossed else 0.0, 0.8, crossed)
    size = detectable_difference(components, topics, assessors, power=wanted)
    assert power_of_difference(components, size, topics, assessors) == pytest.approx(wanted, abs=1e-6)
    assert power_of_difference(components, 1.1 * size, topics, assessors) > wanted


@pytest.mark.parametrize("assessors", [1, 3, 5, 8])
def test_topics_needed_are_the_fewest(assessors):
    n = topics_needed(DL20, 0.12, assessors)
    assert power_of_difference(DL20, 0.12, n, assessors) >= 0.8 > power_of_difference(DL20, 0.12, n - 1, assessors)


def test_against_what_assessors_do_no_number_of_topics_helps():
    assert topics_needed(DL20, 0.03, 5, max_topics=100_000) is None
    assert topics_needed(DL20, 0.03, 40, max_topics=100_000) < 1000


def test_with_very_many_topics_and_no_assessor_effect_power_is_the_normal_one():
    """1.959964 + .841621 standard errors, with components as good as known."""
    components = DifferenceComponents(1.0, 0.0, 0.0)
    assert detectable_difference(components, 4000, 1) == pytest.approx(2.801585 / 4000**0.5, rel=1e-3)


def test_nested_assessors_are_part_of_the_topics_variance():
    nested, one = DifferenceComponents(1.0, 0.0, 0.6, crossed=False), DifferenceComponents(1.2, 0.0, 0.0)
    assert detectable_difference(nested, 40, 3) == pytest.approx(detectable_difference(one, 40, 1))


def test_one_topic_finds_nothing_and_what_makes_no_sense_is_refused():
    assert np.isnan(power_of_difference(DL20, 0.1, 1, 5))
    assert np.isnan(detectable_difference(DL20, 1, 5))
    assert topics_needed(DL20, 0.1, 5, max_topics=1) is None
    for call, text in (
        (lambda: power_of_difference(DL20, 0.1, 0, 5), "n_topics=0"),
        (lambda: topics_needed(DL20, 0.0, 5), "size=0.0"),
        (lambda: topics_needed(DL20, 0.1, 5, power=1.0), "power=1.0"),
        (lambda: detectable_difference(DL20, 5, 5, power=80), "power=80"),
    ):
        with pytest.raises(ArgumentError, match=text):
            call()
