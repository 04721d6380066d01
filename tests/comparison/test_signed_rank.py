"""Wilcoxon's signed-rank test is SciPy's, and on few topics what its definition says."""

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oracles import comparison as oracle
from qrowd.comparison.p_values import signed_rank_p

NAN = float("nan")


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_p_is_what_the_definition_says_on_few_topics(differences):
    p = signed_rank_p(np.array(differences, float)[:, None])[0]
    assert p == pytest.approx(oracle.signed_rank_p(differences))


@pytest.mark.parametrize("n", [3, 8, 16, 50, 51])
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_p_of_every_column_is_scipys_for_that_column_alone(n, decimals):
    differences = np.round(np.random.default_rng(n).normal(0.3, 1, (n, 6)), decimals)
    differences[: n // 2, 1] = NAN
    differences[0, 2] = NAN
    differences[1, 3] = 0
    for column, p in zip(differences.T, signed_rank_p(differences), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = column[~np.isnan(column)]
            expected = scipy.stats.wilcoxon(known).pvalue if known.any() else 1.0
        assert p == pytest.approx(expected)


@pytest.mark.parametrize("n", [13, 14])
def test_up_to_13_topics_ties_are_counted_out_and_then_no_more(n):
    differences = np.array([1.0, 2, 2, 3, -1, 4, 5, -2, 0, 6, 7, 3, -3, 2][:n])
    found = signed_rank_p(differences[:, None])[0]
    assert found == pytest.approx(scipy.stats.wilcoxon(differences).pvalue)
    assert (found == pytest.approx(oracle.signed_rank_p(differences.tolist()))) == (n == 13)


def test_differences_that_are_equal_but_for_rounding_are_equal():
    difference = np.array([0.3, 0.1 + 0.2, -0.3, 0.1 + 0.2 - 0.3, 0.5])
    rounded = np.array([0.3, 0.3, -0.3, 0.0, 0.5])
    assert (signed_rank_p(difference[:, None], scale=1.0) == signed_rank_p(rounded[:, None])).all()
