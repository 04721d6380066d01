"""Intervals that end where a measure does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qrowd.comparison.interval_widths import UNBOUNDED, bounds_of_difference, cut

SHARES = st.floats(0, 1)


@given(st.lists(st.tuples(SHARES, st.floats(0, 2)), min_size=1), SHARES)
def test_a_cut_interval_holds_a_possible_value_exactly_when_the_whole_one_does(intervals, truth):
    mean, half = np.array(intervals).T
    low, high = cut(mean - half, mean + half, (0, 1))
    assert (((low <= truth) & (truth <= high)) == ((mean - half <= truth) & (truth <= mean + half))).all()
    assert ((low <= mean) & (mean <= high)).all()


def test_what_has_no_bounds_is_left_as_it_is_and_nan_stays():
    low, high = np.array([-3.0, np.nan]), np.array([np.inf, np.nan])
    assert np.array_equal(cut(low, high, UNBOUNDED), (low, high), equal_nan=True)
    assert np.array_equal(cut(low, high, (0, np.inf)), ([0, np.nan], high), equal_nan=True)


def test_a_difference_of_two_scores_lies_between_the_differences_of_the_bounds():
    assert bounds_of_difference((0, 1)) == (-1, 1)
    assert bounds_of_difference((0, np.inf)) == (-np.inf, np.inf)
