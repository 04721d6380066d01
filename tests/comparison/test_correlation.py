"""Agreement of rankings."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oracles import measures as oracle
from qrowd.comparison.correlation import kendall_tau_b, leave_one_out

few_values = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9)


@given(few_values)
def test_tau_b_is_what_its_definition_says(pairs):
    x, y = (np.array(values, float) for values in zip(*pairs, strict=True))
    expected = scipy.stats.kendalltau(x, y).statistic if len(set(x)) > 1 and len(set(y)) > 1 else float("nan")
    assert kendall_tau_b(x, y) == pytest.approx(expected, nan_ok=True)
    assert kendall_tau_b(x, y) == pytest.approx(oracle.kendall_tau_b(x.tolist(), y.tolist()), nan_ok=True)


def test_the_panel_an_assessor_is_compared_with_is_without_that_assessor():
    rng = np.random.default_rng(3)
    scores = rng.random((4, 5, 6))
    for a, tau in enumerate(leave_one_out(scores)):
        others = [b for b in range(4) if b != a]
        panel = scores[others].mean(axis=0).mean(axis=0)
        assert tau == pytest.approx(scipy.stats.kendalltau(scores[a].mean(axis=0), panel).statistic)


def test_only_topics_the_assessor_judged_are_compared():
    # On topic 1 both rank alike; on topic 2, judged by the second alone, the ranking is reversed.
    nan = float("nan")
    scores = np.array([[[1, 2, 3], [nan, nan, nan]], [[1, 2, 3], [9, 5, 1]]], float)
    assert leave_one_out(scores)[0] == pytest.approx(1.0)


def test_a_single_assessor_agrees_with_nobody():
    assert np.isnan(leave_one_out(np.ones((1, 2, 3)))).all()


def test_an_inverted_assessor_agrees_negatively():
    base = np.linspace(0, 1, 6)
    scores = np.stack([np.tile(base, (4, 1))] * 3 + [np.tile(base[::-1], (4, 1))])
    assert leave_one_out(scores)[3] == pytest.approx(-1.0)
