"""Two orders of the same things."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import agreement as oracle
from qrowd.kernels.correlation import tau_b
from qrowd.kernels.pairs import order_counts, order_counts_by_level

THING = st.tuples(st.sampled_from([0.1, 1.0, 2.0, 5.0]), st.integers(0, 3))


@given(st.lists(st.lists(THING, max_size=8), min_size=1, max_size=5))
def test_pairs_in_the_same_order_equal_and_opposite_are_counted_group_by_group(groups):
    starts = np.append(0, np.cumsum([len(group) for group in groups]))
    value, grade = np.array([thing for group in groups for thing in group]).reshape(-1, 2).T
    counts = order_counts(starts, np.ascontiguousarray(value), np.ascontiguousarray(grade))
    by_level = order_counts_by_level(starts, np.ascontiguousarray(value), grade.astype(np.int64), 4)
    for g, group in enumerate(groups):
        assert tuple(counts[g]) == oracle.order_counts([v for v, _ in group], [k for _, k in group])
        assert np.array_equal(by_level[g].sum(axis=(0, 1)), counts[g])
        for low in range(4):
            for high in range(4):
                some = [thing for thing in group if thing[1] in (low, high)] if low < high else []
                expected = oracle.order_counts([v for v, _ in some], [k for _, k in some])
                assert tuple(by_level[g, low, high]) == expected


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
