"""The interval of a mean of bounded values in clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from qrowd.preferences.position import clustered_mean


def agresti_min(n_up, n_down, n_same, quantile):
    """The interval of a difference of matched proportions after half a pair is added to each of the four cells."""
    n, up, down = n_up + n_down + n_same + 2, n_up + 0.5, n_down + 0.5
    centre = (up - down) / n
    half = quantile * np.sqrt(up + down - (up - down) ** 2 / n) / n
    return centre - half, centre + half


@pytest.mark.parametrize(("n_up", "n_down", "n_same"), [(0, 0, 20), (5, 1, 14), (3, 12, 30)])
def test_clusters_of_one_value_have_the_interval_of_agresti_and_min_with_t_for_z(n_up, n_down, n_same):
    values = np.repeat([1.0, -1.0, 0.0], [n_up, n_down, n_same])
    n = values.size
    mean, low, high = clustered_mean(values, np.arange(n), bound=1, confidence=0.95)
    quantile = t.ppf(0.975, n - 1) * np.sqrt((n + 2) / (n + 1))  # variance with n - 1
    assert mean == pytest.approx((n_up - n_down) / n)
    assert (low, high) == pytest.approx(agresti_min(n_up, n_down, n_same, quantile))
    assert high - low > 0.9 * np.subtract(*agresti_min(n_up, n_down, n_same, norm.ppf(0.975))[::-1])


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-3, -1, 0, 1, 3])), min_size=1, max_size=30),
    st.integers(2, 5),
)
def test_the_interval_contains_the_mean_and_stays_within_the_bounds(rows, factor):
    cluster, values = np.array(rows, np.float64).T
    mean, low, high = clustered_mean(values, cluster.astype(int), bound=3, confidence=0.95)
    assert mean == pytest.approx(values.mean())
    if np.unique(cluster).size < 2:
        assert np.isnan([low, high]).all()
        return
    assert -3 <= low <= mean <= high <= 3
    scaled = clustered_mean(factor * values, cluster.astype(int), bound=3 * factor, confidence=0.95)
    assert scaled == pytest.approx((factor * mean, factor * low, factor * high))
    assert clustered_mean(-values, cluster.astype(int), bound=3, confidence=0.95) == pytest.approx((-mean, -high, -low))


@pytest.mark.parametrize(("n_topics", "probability"), [(10, 0.05), (20, 0.05), (20, 0.5), (50, 0.02)])
def test_it_contains_a_rare_or_frequent_change_about_as_often_as_it_says(n_topics, probability):
    random = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        of_topic = random.beta(2.33 * probability, 2.33 * (1 - probability), n_topics)  # correlation .3 within a topic
        values = 3.0 * (random.random((n_topics, 2)) < of_topic[:, None]).ravel()
        _, low, high = clustered_mean(values, np.repeat(np.arange(n_topics), 2), bound=3, confidence=0.95)
        hits += low <= 3 * probability <= high
    assert hits / 400 >= 0.92


def test_without_values_there_is_no_mean():
    assert np.isnan(clustered_mean(np.empty(0), np.empty(0, int), bound=1, confidence=0.95)).all()
