"""The test of all pairs against loops from the definitions, and how often it errs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numbered_scores import numbered
from oracles import certainty as squares_oracle
from oracles import max_t as oracle
from qrowd.comparison.mean_squares import panel_of
from qrowd.comparison.rank_intervals import (
    MOST_DF,
    VERY_SKEWED,
    adjusted_p,
    critical_t,
    largest_of,
    pair_statistics,
    rank_intervals,
    shrinkage,
)
from qrowd.kernels.two_way import two_way, two_way_with_holes
from qrowd.model.chance import Chance
from qrowd.reports.system_tables import may_be_best


def scores(topics=12, assessors=4, systems=5, seed=1, spread=0.2, tastes=0.05):
    random = np.random.default_rng(seed)
    return (
        random.normal(0.5, 0.1, (1, topics, systems))
        + random.normal(0, tastes, (assessors, 1, systems))
        + random.normal(0, 0.1, (assessors, topics, systems))
        + np.linspace(spread, 0, systems)
    )


def random_parts(pairs, n, seed):
    """The signs, shifts and rows of assessors that the test draws, in the order in which it draws them."""
    random = Chance.of(seed).stream("max-t", 0)
    n_topics, n_systems = pairs.centred.shape
    signs = np.where(random.integers(0, 2, (n, n_topics)), 1.0, -1.0)
    normal = random.standard_normal((n * (pairs.df + 1), pairs.factor.shape[1])) @ pairs.factor.T
    normal = normal.reshape(n, pairs.df + 1, n_systems)
    return signs, np.sqrt(pairs.weight) * normal[:, 0], normal[:, 1:]


def test_over_topics_p_is_that_of_the_loops():
    values = scores()
    by_topic = values.mean(axis=0).tolist()
    pairs = pair_statistics(panel_of(numbered(values)), "topics")
    signs, _, _ = random_parts(pairs, 80, 3)
    observed = oracle.t_of_topics(by_topic)
    replicates = [oracle.t_of_topics(oracle.signed(by_topic, row)) for row in signs.tolist()]
    for kind in (0, 1):
        expected = {pair: abs(t[kind]) for pair, t in observed.items()}
        assert {pair: pairs.t[kind][pair] for pair in observed} == pytest.approx(expected)
    p = np.maximum(*map(adjusted_p, pairs.t, largest_of(pairs, 80, 3)))
    expected = oracle.p_of_largest(observed, replicates)
    assert {pair: p[pair] for pair in expected} == pytest.approx(expected)
    assert len(set(expected.values())) > 4


def test_over_topics_and_assessors_p_is_that_of_the_loops():
    values = scores(seed=2)
    pairs = pair_statistics(panel_of(numbered(values)), "both")
    signs, shifts, rows = random_parts(pairs, 60, 5)
    by_topic = values.mean(axis=0).tolist()
    options = (pairs.share.tolist(), pairs.rest.tolist(), pairs.weight, pairs.own)
    replicates = [
        oracle.t_with_assessors(oracle.signed(by_topic, s), shift, row, *options)
        for s, shift, row in zip(signs.tolist(), shifts.tolist(), rows.tolist(), strict=True)
    ]
    mean = values.mean(axis=(0, 1))
    systems = range(5)
    thirds = {(i, j): oracle.third_moment([x[i] - x[j] for x in by_topic]) for i in systems for j in systems if i != j}
    observed = {(i, j): oracle.both(mean[i] - mean[j], pairs.error[i, j], third) for (i, j), third in thirds.items()}
    expected = oracle.p_of_largest(observed, replicates)
    p = np.maximum(*map(adjusted_p, pairs.t, largest_of(pairs, 60, 5)))
    assert {pair: p[pair] for pair in expected} == pytest.approx(expected)
    assert len(set(expected.values())) > 4


@pytest.mark.parametrize("holes", [False, True])
def test_the_error_of_a_pair_is_made_of_its_mean_squares(holes):
    values = scores(seed=4)
    if holes:
        values[0, :3] = values[3, 2:6] = np.nan
    panel = panel_of(numbered(values))
    pairs = pair_statistics(panel, "both")
    own, of_pairs = pairs.own, {}
    assert 0 < own < 1
    for i in range(5):
        for j in range(i):
            table = values[:, :, i].T - values[:, :, j].T
            table = [[None if np.isnan(x) else float(x) for x in row] for row in table]
            a, e = _of_assessors_and_rest(table, holes)
            means = [squares_oracle.mean([x for x in row if x is not None]) for row in table]
            topics = np.var(means, ddof=1) / len(means)
            of_pairs[i, j] = (topics, a, e)
    ratio = sum(a for _, a, _ in of_pairs.values()) / sum(e for _, _, e in of_pairs.values())
    for (i, j), (topics, a, e) in of_pairs.items():
        expected = topics + pairs.weight * max(own * a + (1 - own) * ratio * e - e, 0)
        assert pairs.error[i, j] ** 2 == pytest.approx(expected)
    if not holes:
        assert pairs.weight == pytest.approx(1 / (12 * 4))


def _of_assessors_and_rest(table, holes):
    if not holes:
        return squares_oracle.mean_squares(table)[1:]
    return [ms for ms, _ in squares_oracle.adjusted_squares(table)[1:]]


@pytest.mark.parametrize("holes", [False, True])
def test_mean_products_have_the_mean_squares_on_their_diagonal_and_those_of_differences(holes):
    values = scores(seed=5).transpose(1, 0, 2)
    known = np.ones(values.shape[:2], bool)
    known[0, 0] = known[3, 2] = not holes

    def found(table, **options):
        return two_way_with_holes(table, known, **options) if holes else two_way(table, **options)

    products = found(values, products=True).ms
    assert products.diagonal(axis1=1, axis2=2) == pytest.approx(found(values).ms)
    difference = found(values[:, :, :1] - values[:, :, 1:2]).ms[:, 0]
    assert products[:, 0, 0] + products[:, 1, 1] - 2 * products[:, 0, 1] == pytest.approx(difference)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 200), st.integers(1, 4), st.sampled_from(["both", "topics"]))
def test_neither_the_order_of_systems_nor_what_all_of_them_share_changes_t(seed, assessors, over):
    over = over if assessors > 1 else "topics"
    values = scores(systems=4, assessors=assessors, seed=seed)
    pairs = pair_statistics(panel_of(numbered(values)), over)
    shared = np.random.default_rng(seed).normal(0, 1, (assessors, 12, 1))
    assert pair_statistics(panel_of(numbered(values + shared)), over).t == pytest.approx(pairs.t)
    order = np.random.default_rng(seed).permutation(4)
    turned = pair_statistics(panel_of(numbered(values[:, :, order])), over)
    assert turned.t == pytest.approx(pairs.t[:, order][:, :, order])
    if over == "topics":  # with assessors, another order gives systems other normal numbers
        assert largest_of(turned, 60, seed) == pytest.approx(largest_of(pairs, 60, seed))


@given(st.lists(st.floats(0, 9), min_size=2, max_size=60), st.floats(0.01, 0.99), st.floats(0, 9))
def test_p_is_below_alpha_where_t_exceeds_the_critical_one_and_nowhere_else(largest, alpha, t):
    largest = np.sort(largest)
    assert (adjusted_p(np.array([t]), largest)[0] < alpha) == (t > critical_t(largest, alpha))


def test_the_weight_of_all_pairs_is_large_where_assessors_differ_alike_and_small_along_one_axis():
    random = np.random.default_rng(1)
    target = np.eye(40)
    alike = random.normal(size=(200, 18, 40))
    sample = np.einsum("rai,raj->rij", alike, alike) / 18
    assert np.mean([shrinkage(one, target, 18, 1000) for one in sample]) > 0.9
    axis = random.normal(size=40)
    along = 3 * random.normal(size=(200, 18, 1)) * axis + random.normal(size=(200, 18, 40))
    sample = np.einsum("rai,raj->rij", along, along) / 18
    assert np.mean([shrinkage(one, target, 18, 1000) for one in sample]) < 0.15


def test_the_weight_is_the_printed_formula():
    random = np.random.default_rng(2)
    rows = random.normal(size=(6, 4)) * [3, 1, 1, 1]
    sample = rows.T @ rows / 6
    square, trace = np.trace(sample @ sample), np.trace(sample)
    printed = (4 / 6 * square + trace**2) / (8 * (square - trace**2 / 3))
    assert shrinkage(sample, np.diag([1.0, 1, 1, 0]), 6, 10**9) == pytest.approx(min(printed, 1))
    assert shrinkage(sample, np.eye(4), 1, 100) == 0.5  # nothing is known of how pairs differ
    assert shrinkage(np.zeros((4, 4)), np.eye(4), 6, 100) == 0.0
    assert shrinkage(np.diag([1.0, 1, 1, 0]), np.diag([1.0, 1, 1, 0]), 6, 10**9) == 1.0


def test_systems_that_differ_next_to_nothing_are_tested_like_others():
    values = scores(systems=2)
    random = np.random.default_rng(1)
    values[:, :, 1] = values[:, :, 0] + 1e-9 * random.normal(size=values.shape[:2])
    wide = values.copy()
    wide[:, :, 1] += 1e6 * (values[:, :, 1] - values[:, :, 0])
    pairs, others = (pair_statistics(panel_of(numbered(one)), "topics") for one in (values, wide))
    assert pairs.t[:, 0, 1] == pytest.approx(others.t[:, 0, 1], rel=1e-4)
    assert np.isfinite(pairs.t).all()


def test_hundreds_of_assessors_are_drawn_as_fifty():
    pairs = pair_statistics(panel_of(numbered(scores(assessors=80, topics=6))), "both")
    assert pairs.df == MOST_DF


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("assessors", "tastes", "n", "least", "most"),
    [
        (5, 0.05, 120, 0.008, 0.11),  # binomial error .02
        *(
            pytest.param(*case, 600, 0.025, 0.07, marks=pytest.mark.nightly)  # binomial error .009
            for case in [(1, 0.0), (5, 0.05), (3, 0.05), (8, 0.15)]
        ),
    ],
)
def test_of_equal_systems_one_is_left_out_of_the_best_as_often_as_stated(assessors, tastes, n, least, most):
    """Ten equal systems; the uncorrected tests against the best leave one out in 61 % of such collections."""
    false = 0
    for seed in range(n):
        random = np.random.default_rng(seed)
        values = random.normal(0, 0.12, (1, 25, 10)) + random.normal(0, tastes, (assessors, 1, 10))
        values = values + random.normal(0, 0.08, (assessors, 25, 10))
        false += len(rank_intervals(numbered(values), n_resamples=399, rng=seed).may_be_best) < 10
    assert least <= false / n <= most


@pytest.mark.parametrize(("n", "most"), [(120, 0.1), pytest.param(500, 0.06, marks=pytest.mark.nightly)])
def test_equal_systems_of_opposite_skewness_are_not_found_different_more_often_than_stated(n, most):
    """By random signs alone a difference is found in 16 % of such collections, 12 systems on 25 topics."""
    errors = 0
    for seed in range(n):
        values = np.random.default_rng(seed).exponential(1, (1, 25, 12)) - 1
        values[:, :, 1::2] *= -1
        errors += rank_intervals(numbered(values), n_resamples=199, rng=seed).better.any()
    assert errors / n <= most  # binomial error .01 of 500, .02 of 120


@pytest.mark.parametrize(("spread", "warns"), [(0.3, False), (1.2, True)])
def test_very_skewed_differences_on_few_topics_are_warned_of(spread, warns):
    values = np.exp(np.random.default_rng(3).normal(0, spread, (1, 25, 12)))
    values[:, :, 1::2] *= -1
    found = rank_intervals(numbered(values), n_resamples=50, rng=1)
    assert (found.skewness_of_all > VERY_SKEWED) == warns
    assert ("so skewed" in may_be_best(found)) == warns


@pytest.mark.nightly
@pytest.mark.parametrize(("n", "most"), [(120, 0.1), pytest.param(400, 0.075, marks=pytest.mark.nightly)])
def test_assessors_who_favour_one_kind_of_system_do_not_make_it_better(n, most):
    """Half of the systems please one half of all possible assessors: that variance is not the same for all pairs."""
    false = 0
    kinds = np.repeat([0.5, -0.5], 5)
    for seed in range(n):
        random = np.random.default_rng(seed)
        values = random.normal(0, 0.1, (1, 54, 10)) + random.normal(0, 0.1, (6, 1, 1)) * kinds
        values = values + random.normal(0, 0.08, (6, 54, 10))
        false += rank_intervals(numbered(values), n_resamples=199, rng=seed).better.any()
    assert false / n <= most
