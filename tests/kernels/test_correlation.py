"""Rankings compared row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import comparison as oracle
from oracles import measures
from qrowd.kernels import correlation as kernels

few = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def tables(most=5):
    """Two tables of the same shape, with many ties."""
    return st.tuples(st.integers(1, 4), st.integers(2, most)).flatmap(
        lambda shape: st.tuples(
            *[st.lists(st.lists(few, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0])] * 2
        )
    )


@given(tables(7))
def test_pairs_are_counted_by_order_and_by_ties(both):
    x, y = map(np.array, both)
    for counts, a, b in zip(kernels.pair_counts(x, y), *both, strict=True):
        same, opposite, tied = oracle.sign_counts([a], [b])
        tied_a, tied_b = (sum(v == w for i, v in enumerate(row) for w in row[:i]) for row in (a, b))
        both_tied = sum(v == w for i, v in enumerate(zip(a, b, strict=True)) for w in list(zip(a, b, strict=True))[:i])
        assert tuple(counts) == (same, opposite, tied_a, tied_b, both_tied, same + opposite + tied)


def test_pairs_with_a_nan_on_either_side_are_not_counted():
    nan = float("nan")
    counts = kernels.pair_counts(np.array([[1.0, nan, 3.0, 2.0]]), np.array([[1.0, 2.0, 3.0, nan]]))
    assert counts.tolist() == [[1, 0, 0, 0, 0, 1]]


@given(tables())
def test_every_row_is_what_its_definition_says(both):
    x, y = map(np.array, both)
    assert kernels.tau_a(x, y) == pytest.approx([oracle.tau_a(a, b) for a, b in zip(*both, strict=True)])
    expected = [measures.kendall_tau_b(a, b) for a, b in zip(*both, strict=True)]
    assert kernels.tau_b(x, y) == pytest.approx(expected, nan_ok=True)
    expected = [oracle.ap_correlation(a, b) for a, b in zip(*both, strict=True)]
    assert kernels.ap_correlation(x, y) == pytest.approx(expected, abs=1e-12)
    expected = [oracle.pearson(a, b) for a, b in zip(*both, strict=True)]
    assert kernels.pearson(x, y) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert kernels.rmse(x, y) == pytest.approx([oracle.rmse(a, b) for a, b in zip(*both, strict=True)])


@pytest.mark.parametrize("name", ["pair_counts", "tau_a", "tau_b", "ap_correlation", "pearson", "rmse"])
def test_one_row_serves_all_rows_of_the_other_side(name):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, (6, 8)).astype(float), rng.random((1, 8))
    compute = getattr(kernels, name)
    assert np.array_equal(compute(x, y), compute(x, np.repeat(y, 6, axis=0)))


def test_a_row_that_does_not_vary_but_for_rounding_has_no_pearson():
    x = np.array([[0.3, 0.1 + 0.2, 0.3], [0.1, 0.2, 0.4]])
    assert np.isnan(kernels.pearson(x, x[1:])).tolist() == [True, False]
