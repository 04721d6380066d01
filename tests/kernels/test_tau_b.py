"""Kendall's tau-b of many rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import agreement as oracle
from qrowd.kernels.correlation import tau_b

SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@given(st.integers(2, 7).flatmap(lambda n: st.lists(st.lists(SCORES, min_size=n, max_size=n), min_size=2, max_size=5)))
def test_tau_b_of_every_row_is_what_its_definition_says(table):
    reference, rows = np.array(table[0]), np.array(table[1:])
    for row, found in zip(rows, tau_b(rows, reference[None]), strict=True):
        assert found == pytest.approx(oracle.tau_b(list(reference), list(row)), nan_ok=True)


def test_what_is_nan_on_either_side_is_left_out():
    nan = float("nan")
    found = tau_b(np.array([[1.0, nan, 3.0, 0.0], [nan, nan, 1.0, 2.0]]), np.array([[1.0, 2.0, 3.0, nan]]))
    assert found[0] == 1
    assert np.isnan(found[1])
