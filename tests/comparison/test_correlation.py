"""Agreement of rankings."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oracles import comparison as oracle
from oracles import measures
from qrowd.comparison import rankings
from qrowd.comparison.rankings import (
    ap_correlation,
    ap_correlation_b,
    correlations,
    kendall_tau_a,
    kendall_tau_b,
    means_of_others,
    pearson,
    rmse,
    row_correlations,
)
from qrowd.errors import ArgumentError
from qrowd.model.scores import Scores, known_mean

few_values = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9)
untied, few_untied = (st.permutations(range(n)).map(lambda order: np.array(order, float)) for n in (8, 6))
FUNCTIONS = {
    "tau_a": kendall_tau_a, "tau_b": kendall_tau_b, "ap": ap_correlation, "ap_b": ap_correlation_b,
    "pearson": pearson, "rmse": rmse,
}  # fmt: skip


def columns(pairs):
    return (np.array(values, float) for values in zip(*pairs, strict=True))


@given(few_values)
def test_tau_b_is_what_its_definition_says(pairs):
    x, y = columns(pairs)
    expected = scipy.stats.kendalltau(x, y).statistic if len(set(x)) > 1 and len(set(y)) > 1 else float("nan")
    assert kendall_tau_b(x, y) == pytest.approx(expected, nan_ok=True)
    assert kendall_tau_b(x, y) == pytest.approx(measures.kendall_tau_b(x.tolist(), y.tolist()), nan_ok=True)


@given(few_values)
def test_tau_a_counts_tied_pairs_as_neither(pairs):
    x, y = columns(pairs)
    assert kendall_tau_a(x, y) == pytest.approx(oracle.tau_a(x.tolist(), y.tolist()))
    assert kendall_tau_a(x, y) == kendall_tau_a(y, x)
    assert abs(kendall_tau_a(x, y)) <= abs(np.nan_to_num(kendall_tau_b(x, y))) + 1e-12


@given(few_values)
def test_ap_correlation_b_is_what_its_definition_says_whichever_side_comes_first(pairs):
    x, y = columns(pairs)
    assert ap_correlation_b(x, y) == pytest.approx(oracle.ap_correlation_b(x.tolist(), y.tolist()), nan_ok=True)
    assert ap_correlation_b(x, y) == pytest.approx(ap_correlation_b(y, x), nan_ok=True)
    assert np.isnan(ap_correlation_b(x, y)) == (len(set(x)) == 1 or len(set(y)) == 1)


@given(few_untied, few_untied)
def test_ap_correlation_b_without_ties_is_the_mean_of_every_tie_breaking_in_both_directions(x, y):
    expected = (oracle.ap_correlation(x.tolist(), y.tolist()) + oracle.ap_correlation(y.tolist(), x.tolist())) / 2
    assert ap_correlation_b(x, y) == pytest.approx(expected)


def test_ap_correlation_b_is_what_the_authors_package_prints():
    """The example of `tauAP` in ircor 1.0 (Urbano): two rankings, ties in y, ties in both."""
    x = np.array([0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54])
    y = np.array([0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84])
    assert round(ap_correlation_b(x, y.round(1)), 7) == 0.3317019
    assert round(ap_correlation_b(x.round(1), y.round(1)), 6) == 0.339418


@given(few_values)
def test_pearson_and_rmse_are_numpys(pairs):
    x, y = columns(pairs)
    varied = len(set(x)) > 1 and len(set(y)) > 1
    expected = np.corrcoef(x, y)[0, 1] if varied else float("nan")
    assert pearson(x, y) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert rmse(x, y) == pytest.approx(np.sqrt(np.mean((x - y) ** 2)))


@given(untied, untied)
def test_a_list_agrees_wholly_with_itself_and_not_at_all_with_its_reverse(x, y):
    for correlation in (kendall_tau_a, kendall_tau_b, ap_correlation, pearson):
        assert correlation(x, x) == pytest.approx(1)
        assert correlation(x, -x) == pytest.approx(-1)
        assert -1 - 1e-12 <= correlation(x, y) <= 1 + 1e-12
        assert correlation(x, -y) == pytest.approx(-correlation(x, y))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=5))
def test_ap_correlation_is_the_mean_over_all_orders_of_ties(pairs):
    x, y = columns(pairs)
    assert ap_correlation(x, y) == pytest.approx(oracle.ap_correlation(x.tolist(), y.tolist()), abs=1e-12)


def test_ap_correlation_walks_the_first_list_and_asks_the_second():
    # Walked: c, a, b, d. Above a: c, wrongly; above b: a of two; above d: all three.
    x, reference = np.array([3.0, 2, 4, 1]), np.array([4.0, 3, 2, 1])
    assert ap_correlation(x, reference) == pytest.approx(2 / 3 * (0 + 1 / 2 + 1) - 1)
    # Walked: a, b, c, d. Above b: a; above c: neither; above d: all three.
    assert ap_correlation(reference, x) == pytest.approx(2 / 3 * (1 + 0 + 1) - 1)


@given(few_values, st.randoms())
def test_ap_correlation_knows_neither_names_nor_units(pairs, random):
    x, y = columns(pairs)
    order = random.sample(range(x.size), x.size)
    assert ap_correlation(x[order], y[order]) == pytest.approx(ap_correlation(x, y), abs=1e-12)
    assert ap_correlation(np.exp(3 * x) - 7, y**3) == ap_correlation(x, y)


def test_a_list_that_ties_everything_is_right_half_of_the_time():
    assert ap_correlation(np.ones(9), np.arange(9.0)) == pytest.approx(0, abs=1e-12)
    assert ap_correlation(np.arange(9.0), np.ones(9)) == pytest.approx(0, abs=1e-12)


def test_a_score_that_is_missing_leaves_no_correlation():
    x, y = np.array([1.0, 2, float("nan")]), np.array([1.0, 2, 3])
    for correlation in FUNCTIONS.values():
        assert np.isnan(correlation(x, y))
        assert np.isnan(correlation(y, x))
    table = row_correlations(np.array([x, y]), y, kind="rmse")
    assert np.isnan(table[0])
    assert table[1] == 0


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_many_pairs_at_once_are_the_same_as_one_by_one(kind, monkeypatch):
    monkeypatch.setattr(rankings, "BLOCK", 1000)
    x, y = np.random.default_rng(1).integers(0, 9, (2, 103, 10)).astype(float)
    found = row_correlations(x, y, kind=kind, threads=2)
    assert found.shape == (len(x),)
    for r in (0, 5, 99, 100, len(x) - 1):
        assert found[r] == pytest.approx(FUNCTIONS[kind](x[r], y[r]), abs=1e-12, nan_ok=True)
    against_one = row_correlations(x, y[0], kind=kind)
    assert against_one[-1] == pytest.approx(FUNCTIONS[kind](x[-1], y[0]), abs=1e-12, nan_ok=True)
    assert row_correlations(x[:0], y[0], kind=kind).shape == (0,)


@pytest.mark.parametrize("call", [
    lambda: kendall_tau_a(np.ones(1), np.ones(1)),
    lambda: row_correlations(np.ones((3, 1)), np.ones((3, 1))),
])  # fmt: skip
def test_a_single_system_has_no_ranking(call):
    with pytest.raises(ArgumentError, match=r"1 system\(s\): at least 2"):
        call()


@pytest.mark.parametrize(("call", "message"), [
    (lambda: rmse(np.ones(3), np.ones(4)), "the same systems on both sides"),
    (lambda: rmse(np.ones((2, 3)), np.ones((2, 3))), "row_correlations"),
    (lambda: row_correlations(np.ones((3, 4)), np.ones((2, 4))), "as many rows or a single one"),
    (lambda: row_correlations(np.ones((3, 4)), np.ones((3, 4)), kind="tau"), "kind='tau': choose from tau_a, tau_b"),
])  # fmt: skip
def test_sides_that_do_not_fit_are_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_the_panel_an_assessor_is_compared_with_is_without_that_assessor():
    rng = np.random.default_rng(3)
    scores = rng.random((4, 5, 6))
    for a, tau in enumerate(correlations(Scores.from_array(scores)).tau_b):
        others = [b for b in range(4) if b != a]
        panel = scores[others].mean(axis=0).mean(axis=0)
        assert tau == pytest.approx(scipy.stats.kendalltau(scores[a].mean(axis=0), panel).statistic)


def test_only_topics_the_assessor_judged_are_compared():
    # On topic 1 both rank alike; on topic 2, judged by the second alone, the ranking is reversed.
    nan = float("nan")
    scores = np.array([[[1, 2, 3], [nan, nan, nan]], [[1, 2, 3], [9, 5, 1]]], float)
    assert correlations(Scores.from_array(scores)).tau_b[0] == pytest.approx(1.0)


def test_the_others_of_each_assessor_are_all_but_that_one():
    scores = np.random.default_rng(1).random((6, 4, 3))
    scores[1] = scores[2:, 0] = np.nan
    found = list(means_of_others(scores))
    assert len(found) == 6
    for a, others in enumerate(found):
        assert others == pytest.approx(known_mean(np.delete(scores, a, axis=0), axis=0), nan_ok=True)


def test_the_order_of_summation_does_not_rank_systems():
    # Both systems have mean .3 over the three topics, for everyone.
    scores = np.array([[[0.1, 0.6], [0.2, 0.2], [0.6, 0.1]], [[0.1, 0.6], [0.6, 0.1], [0.2, 0.2]]])
    assert np.isnan(correlations(Scores.from_array(scores)).tau_b).all()


@pytest.mark.parametrize("reference", [None, "1"])
def test_an_assessor_to_whom_all_systems_are_equal_has_no_ranking_to_correlate(reference):
    scores = np.random.default_rng(4).random((3, 5, 6))
    scores[2] = 0
    found = correlations(Scores.from_array(scores), reference=reference)
    for kind in ("tau_b", "tau_a", "ap", "ap_b", "pearson"):
        assert np.isnan(getattr(found, kind)).tolist() == [reference is not None, False, True]
    assert found.rmse[2] > 0


def test_a_single_assessor_agrees_with_nobody():
    assert np.isnan(correlations(Scores.from_array(np.ones((1, 2, 3)))).tau_b).all()


def test_an_inverted_assessor_agrees_negatively():
    base = np.linspace(0, 1, 6)
    scores = np.stack([np.tile(base, (4, 1))] * 3 + [np.tile(base[::-1], (4, 1))])
    assert correlations(Scores.from_array(scores)).tau_b[3] == pytest.approx(-1.0)
