"""The one kernel with a path of its own for easy cases: the best sum that gains allow, without sorting them.

All other kernels are measures, and tested as such.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from qrowd.kernels.ranking import ideal_sum
from qrowd.measures.gain import ideal

few_values = st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e6])
gains_of_panels = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=few_values)
discounts = st.integers(0, 15).map(lambda n: 1 / np.log2(np.arange(2, n + 2)))


def best(gains, coefficients):
    """Every assessor's gains from the highest, weighted by rank."""
    return [sum(w * g for w, g in zip(coefficients, sorted(column, reverse=True), strict=False)) for column in gains.T]


def without_sorting(gains, coefficients):
    out = np.empty(gains.shape[1])
    ideal_sum(gains, np.append(0.0, np.cumsum(coefficients)), out)
    return out


@given(gains_of_panels, discounts)
def test_few_distinct_gains_are_summed_from_the_highest_without_sorting(gains, coefficients):
    assert without_sorting(gains, coefficients) == pytest.approx(best(gains, coefficients), rel=1e-12)


@pytest.mark.parametrize(
    ("distinct", "cutoff", "given_up"), [(32, 99, False), (33, 99, True), (99, 32, False), (99, 33, True)]
)
def test_more_than_32_distinct_gains_above_the_cut_are_left_to_be_sorted(distinct, cutoff, given_up):
    gains = np.array([[1.0 + d, 1.0] for d in range(distinct)])
    assert np.isnan(without_sorting(gains, np.ones(cutoff))).tolist() == [given_up, False]


many_values = arrays(np.float64, (40, 2), elements=st.floats(1e-3, 1e6), fill=st.nothing())


@given(many_values, discounts)
def test_gains_that_take_any_value_are_summed_from_the_highest_too(gains, coefficients):
    for weights in (coefficients, np.ones(len(gains))):
        assert ideal(gains, weights) == pytest.approx(best(gains, weights), rel=1e-12)
