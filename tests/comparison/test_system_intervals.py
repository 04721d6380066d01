"""Means of systems with intervals to compare systems by."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.comparison import difference, system_intervals
from qrowd.errors import ArgumentError
from qrowd.model.scores import Scores


def named(values):
    assessors, topics, systems = (
        [f"{letter}{i}" for i in range(n)] for letter, n in zip("ats", values.shape, strict=True)
    )
    return Scores.from_array(values, assessors=assessors, topics=topics, systems=systems)


def simulated(n_assessors=6, n_topics=12, n_systems=5, seed=1):
    random = np.random.default_rng(seed)
    topic, assessor = random.normal(0, 0.2, (1, n_topics, 1)), random.normal(0, 0.3, (n_assessors, 1, 1))
    system = np.linspace(0.5, 0.3, n_systems)
    return topic + assessor + system + random.normal(0, 0.05, (n_assessors, n_topics, n_systems))


def test_systems_stand_from_the_best_down_with_the_mean_over_assessors_then_topics():
    values = simulated()
    found = system_intervals(named(values[:, :, ::-1]))
    assert found.systems == ("s4", "s3", "s2", "s1", "s0")
    slow = [sum(values[a, t, 0] for a in range(6) for t in range(12)) / 72]
    assert found.mean[0] == pytest.approx(slow[0])
    assert (np.diff(found.mean) <= 0).all()
    assert found.by_assessor[2, 0] == pytest.approx(values[2, :, 0].mean())


def test_the_interval_over_topics_is_that_of_a_paired_t_of_the_lead_over_all_systems():
    from scipy.stats import ttest_1samp

    values = simulated()
    found = system_intervals(named(values), confidence=0.9)
    for s, name in enumerate(found.systems):
        system = int(name[1:])
        lead = [values[:, t, system].mean() - values[:, t].mean() for t in range(12)]
        low, high = ttest_1samp(lead, 0).confidence_interval(0.9)
        assert found.high_topics[s] - found.low_topics[s] == pytest.approx(high - low)
        assert (found.high_topics[s] + found.low_topics[s]) / 2 == pytest.approx(found.mean[s])


def test_the_interval_over_topics_and_assessors_is_that_of_the_difference_to_the_mean_of_all():
    values = simulated()
    found = system_intervals(named(values))
    best = values[:, :, int(found.systems[0][1:])]
    pair = difference(named(np.stack([best, values.mean(axis=2)], axis=2)), "s0", "s1")
    assert found.method == pair.method == "satterthwaite"
    assert found.high[0] - found.low[0] == pytest.approx(pair.high - pair.low)


@given(st.floats(-5, 5), st.integers(0, 5))
def test_what_an_assessor_does_to_all_systems_alike_changes_no_interval(shift, who):
    values = simulated()
    moved = values.copy()
    moved[who] += shift
    first, second = (system_intervals(named(x)) for x in (values, moved))
    assert second.high - second.low == pytest.approx(first.high - first.low)
    assert second.high_topics - second.low_topics == pytest.approx(first.high_topics - first.low_topics)


def test_intervals_end_where_the_measure_does():
    values = np.random.default_rng(1).beta(0.3, 0.1, (3, 6, 4))
    whole, cut = system_intervals(named(values)), system_intervals(named(values), bounds=(0, 1))
    assert (whole.high > 1).any()
    assert (whole.high_topics > 1).any()
    for end in ("low", "high", "low_topics", "high_topics"):
        assert np.array_equal(getattr(cut, end), np.clip(getattr(whole, end), 0, 1))


def test_with_assessors_of_its_own_for_each_topic_there_is_the_interval_over_topics_alone():
    values = np.full((4, 4, 3), np.nan)
    random = np.random.default_rng(1)
    for topic in range(4):
        values[topic, topic] = random.random(3)
    found = system_intervals(named(values))
    assert found.method == "topics"
    assert np.isnan(found.low).all()
    assert not np.isnan(found.low_topics).any()


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_a_confidence_is_between_0_and_1(confidence):
    with pytest.raises(ArgumentError, match=f"confidence={confidence}"):
        system_intervals(named(simulated()), confidence=confidence)
