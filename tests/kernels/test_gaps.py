"""Every gap of AWARE, against loops written from the equations."""

from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cdist

from oracles import aware as oracle
from qrowd.aware.similarity import walking_the_assessors
from qrowd.kernels.correlation import ap_correlation, tau_a
from qrowd.kernels.gaps import (
    DENSITY_FLOOR,
    add_densities,
    divergences,
    rank_correlations,
    squared_distances,
)
from strategies import few

BANDWIDTH, POINTS = 0.015, 100


FEW, VALUES = st.integers(2, 9), st.sampled_from([1, 2, 3, 1000])


@st.composite
def two_tables(draw, n_systems=FEW, distinct=VALUES):
    """(assessors, systems) and (systems, replicates) scores, with few distinct ones or many."""
    shape = draw(st.integers(1, 3)), draw(n_systems), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_values = draw(distinct)
    crowd = random.integers(n_values, size=shape[:2]) / max(n_values - 1, 1)
    other = random.integers(n_values, size=shape[1:]) / max(n_values - 1, 1)
    return crowd, other


def each_pair(function, crowd, other):
    """(assessors, replicates) by a function of two lists."""
    return np.array([[function(mine, theirs) for theirs in other.T.tolist()] for mine in crowd.tolist()])


@given(two_tables())
def test_squared_distances_are_sums_of_squares(tables):
    crowd, other = tables
    expected = each_pair(lambda x, y: oracle.frobenius([x], [y]) ** 2, crowd, other)
    assert squared_distances(crowd, other) == pytest.approx(expected, abs=1e-12)
    assert squared_distances(crowd, other) == pytest.approx(cdist(crowd, other.T, "sqeuclidean"), abs=1e-12)


@given(two_tables())
def test_rank_correlations_are_tau_a_and_the_expected_tau_ap_with_the_assessor_as_reference(tables):
    tau, apc = rank_correlations(*tables)
    assert tau == pytest.approx(each_pair(oracle.tau_a, *tables), abs=1e-12)
    assert apc == pytest.approx(each_pair(lambda mine, theirs: oracle.tau_ap(theirs, mine), *tables), abs=1e-12)


@given(two_tables())
def test_the_ap_correlation_of_the_crowd_walks_the_assessors_list(tables):
    assert walking_the_assessors(*tables) == pytest.approx(each_pair(oracle.tau_ap, *tables), abs=1e-12)


MANY = st.sampled_from([63, 64, 65, 66, 127, 128, 129, 130])


@few
@given(two_tables(MANY, st.sampled_from([2, 10, 100_000])))
def test_more_systems_than_a_word_has_bits_are_compared_alike(tables):
    crowd, other = tables
    tau, apc = rank_correlations(crowd, other)
    back = walking_the_assessors(crowd, other)
    for a, mine in enumerate(crowd):
        for h, theirs in enumerate(other.T):
            assert tau[a, h] == pytest.approx(oracle.tau_a(mine.tolist(), theirs.tolist()), abs=1e-12)
            assert apc[a, h] == pytest.approx(oracle.tau_ap(theirs.tolist(), mine.tolist()), abs=1e-10)
            assert back[a, h] == pytest.approx(oracle.tau_ap(mine.tolist(), theirs.tolist()), abs=1e-10)


@few
@given(two_tables(st.integers(2, 70)))
def test_both_rank_correlations_are_those_that_compare_systems(tables):
    """Written by another hand: qrowd.kernels.correlation looks at every pair, without sets of bits."""
    crowd, other = tables
    tau, apc = rank_correlations(crowd, other)
    for a in range(len(crowd)):
        reference = np.ascontiguousarray(crowd[a : a + 1])
        walked = np.ascontiguousarray(other.T)
        assert tau[a] == pytest.approx(tau_a(walked, reference), abs=1e-12)
        assert apc[a] == pytest.approx(ap_correlation(walked, reference), abs=1e-10)


@given(two_tables(st.integers(2, 30)))
def test_the_same_order_correlates_at_1_and_the_reverse_at_minus_1(tables):
    crowd = np.argsort(np.argsort(tables[0], axis=1), axis=1).astype(float)
    for sign in (1.0, -1.0):
        tau, apc = rank_correlations(crowd, np.ascontiguousarray(sign * crowd.T))
        assert np.diag(tau) == pytest.approx(sign)
        assert np.diag(apc) == pytest.approx(sign)
        assert np.diag(walking_the_assessors(crowd, np.ascontiguousarray(sign * crowd.T))) == pytest.approx(sign)


@given(two_tables())
def test_a_list_that_ties_everything_correlates_with_nothing(tables):
    crowd, other = tables
    for one, two in ((np.zeros_like(crowd), other), (crowd, np.ones_like(other))):
        tau, apc = rank_correlations(one, two)
        assert tau == pytest.approx(0)
        assert apc == pytest.approx(0, abs=1e-12)
        assert walking_the_assessors(one, two) == pytest.approx(0, abs=1e-12)


def every_order(scores):
    n = len(scores)
    return [o for o in permutations(range(n)) if all(scores[o[i]] >= scores[o[i + 1]] for i in range(n - 1))]


@few
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=5))
def test_the_exact_ap_correlation_is_the_mean_over_every_order_of_both_ties(pairs):
    walked, reference = (list(map(float, side)) for side in zip(*pairs, strict=True))
    orders = [(w, r) for w in every_order(walked) for r in every_order(reference)]
    mean = sum(oracle.tau_ap_of_orders(w, r) for w, r in orders) / len(orders)
    assert oracle.tau_ap(walked, reference) == pytest.approx(mean, abs=1e-12)
    _, apc = rank_correlations(np.array([reference]), np.array(walked)[:, None])
    assert apc[0, 0] == pytest.approx(mean, abs=1e-12)


def test_the_exact_ap_correlation_is_what_sampled_orders_average_to():
    random = Random(7)
    for n_systems, n_values in ((6, 2), (12, 4)):
        walked, reference = ([float(random.randrange(n_values)) for _ in range(n_systems)] for _ in range(2))
        drawn = [oracle.tau_ap_sampled(walked, reference, 1, random) for _ in range(2_500)]
        error = np.std(drawn) / 50
        assert abs(np.mean(drawn) - oracle.tau_ap(walked, reference)) < 4 * error


def test_ap_correlation_by_hand():
    """Walking a b c d with the reference b a c d: (0/1 + 2/2 + 3/3) 2/3 - 1 = 1/3."""
    walked, reference = [4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 2.0, 1.0]
    tau, apc = rank_correlations(np.array([reference]), np.array(walked)[:, None])
    assert (tau[0, 0], apc[0, 0]) == pytest.approx((4 / 6, 1 / 3))
    # It is not symmetric: d c b a walked with the reference a d c b, and the other way round.
    walked, reference = [1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 2.0, 3.0]
    crowd, other = np.array([reference]), np.array(walked)[:, None]
    assert rank_correlations(crowd, other)[1][0, 0] == pytest.approx(2 / 3 * (1 + 1 + 0) - 1)
    assert walking_the_assessors(crowd, other)[0, 0] == pytest.approx(2 / 3 * (0 + 1 / 2 + 2 / 3) - 1)


SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def densities(columns, bandwidth=BANDWIDTH, points=POINTS):
    out = np.zeros((len(columns), points))
    for column, density in zip(columns, out, strict=True):
        add_densities(np.array(column)[:, None], bandwidth, density[None])
    return out


@given(SCORES, *[st.sampled_from(choices) for choices in ([0.005, 0.015, 0.1, 0.6], [101, 250])])
@example([0.5], 0.6, 2)
@example([0.25, 0.0, 1.0], 0.5, 2)
def test_densities_are_sums_of_gaussians_as_far_as_the_floor_can_tell(scores, bandwidth, points):
    grid = np.linspace(0, 1, points)
    expected = stats.norm.pdf(grid, np.array(scores)[:, None], bandwidth).sum(axis=0) * bandwidth * np.sqrt(2 * np.pi)
    np.testing.assert_allclose(densities([scores], bandwidth, points)[0], expected, rtol=1e-9, atol=1e-20)


@given(st.lists(st.floats(0.02, 0.98), min_size=2, max_size=8, unique_by=lambda x: round(x, 3)))
def test_a_density_summing_to_1_is_scipys_kernel_estimate(scores):
    kde = stats.gaussian_kde(scores, bw_method=0.1 / np.std(scores, ddof=1))
    found = densities([scores], 0.1)[0]
    expected = kde(np.linspace(0, 1, POINTS))
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-6, atol=1e-12)


@given(SCORES, st.lists(st.sampled_from([0, 1, 2]), max_size=3))
def test_a_score_that_is_nan_adds_nothing_to_a_density(scores, places):
    with_gaps = list(scores)
    for place in places:
        with_gaps.insert(place, np.nan)
    assert np.array_equal(densities([with_gaps]), densities([scores]))


@given(SCORES, SCORES)
def test_densities_add_up_over_calls_and_columns(one, two):
    together = np.zeros((1, POINTS))
    for part in (one, two):
        add_densities(np.array(part)[:, None], BANDWIDTH, together)
    np.testing.assert_allclose(together, densities([one + two]), rtol=1e-6, atol=1e-12)
    n = min(len(one), len(two))
    both = np.zeros((2, POINTS))
    add_densities(np.array([one[:n], two[:n]]).T.copy(), BANDWIDTH, both)
    assert np.array_equal(both, densities([one[:n], two[:n]]))


@given(SCORES, st.lists(SCORES, min_size=1, max_size=3))
def test_divergences_are_of_the_assessors_density_from_the_random_ones(mine, others):
    found = divergences(densities([mine]), densities(others))
    expected = [oracle.kld(mine, theirs) for theirs in others]
    assert found[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    # A density floored at 1e-12 sums to a hair more than 1, which may make the sum a hair less than 0.
    assert (found >= -POINTS * DENSITY_FLOOR).all()


def test_a_divergence_is_0_from_itself_and_changes_when_the_sides_do():
    one, two = densities([[0.1, 0.2]]), densities([[0.2, 0.5, 0.9]])
    assert divergences(one, one)[0, 0] == pytest.approx(0, abs=1e-12)
    assert divergences(one, two)[0, 0] == pytest.approx(oracle.kld([0.1, 0.2], [0.2, 0.5, 0.9]))
    assert divergences(two, one)[0, 0] == pytest.approx(oracle.kld([0.2, 0.5, 0.9], [0.1, 0.2]))
    assert divergences(two, one)[0, 0] > 1.5 * divergences(one, two)[0, 0] > 10
