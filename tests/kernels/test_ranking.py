"""The best sum that gains allow, from the gains or from counts of few levels, without sorting them.

All other kernels of measures are tested as measures.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from qrowd.kernels.gains import ideal_of_counts, ideal_sums, level_counts, look_up, sums_of_counts
from qrowd.measures.topic_views import Gains, Part, TopicView

few_values = st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e6])
gains_of_panels = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=few_values)
discounts = st.integers(0, 15).map(lambda n: 1 / np.log2(np.arange(2, n + 2)))


def best(gains, coefficients):
    """Every assessor's gains from the highest, weighted by rank."""
    return [sum(w * g for w, g in zip(coefficients, sorted(column, reverse=True), strict=False)) for column in gains.T]


def without_sorting(gains, coefficients):
    out = np.empty((1, gains.shape[1]))
    ideal_sums(gains, np.array([0, len(gains)]), np.append(0.0, np.cumsum(coefficients)), out)
    return out[0]


def ideal(gains, coefficients):
    """As measures ask for it."""
    part = Part.of_topic(TopicView(np.empty((1, 0), np.int32), gains, None))
    return Gains(part, gains).ideal(coefficients)[0]


@given(gains_of_panels, discounts)
def test_few_distinct_gains_are_summed_from_the_highest_without_sorting(gains, coefficients):
    assert without_sorting(gains, coefficients) == pytest.approx(best(gains, coefficients), rel=1e-12)


@given(gains_of_panels, discounts)
def test_counts_of_levels_give_the_same_sum(gains, coefficients):
    levels, codes = np.unique(gains, return_inverse=True)
    codes = codes.reshape(gains.shape).astype(np.uint8)
    counts = np.zeros((1, levels.size, gains.shape[1]), np.int32)
    level_counts(codes, np.array([0, len(gains)]), counts)
    assert counts[0].tolist() == [(codes == k).sum(axis=0).tolist() for k in range(levels.size)]
    order, out = np.argsort(-levels)[None], np.empty((1, gains.shape[1]))
    scale = np.zeros(gains.shape[1], np.int64)
    ideal_of_counts(counts, levels[None], order, scale, np.append(0.0, np.cumsum(coefficients)), out)
    assert out[0] == pytest.approx(best(gains, coefficients), rel=1e-12)


@pytest.mark.parametrize(
    ("distinct", "cutoff", "given_up"), [(32, 99, False), (33, 99, True), (99, 32, False), (99, 33, True)]
)
def test_more_than_32_distinct_gains_above_the_cut_are_left_to_be_sorted(distinct, cutoff, given_up):
    gains = np.array([[1.0 + d, 1.0] for d in range(distinct)])
    assert np.isnan(without_sorting(gains, np.ones(cutoff))).tolist() == [given_up, False]


many_values = arrays(np.float64, (40, 2), elements=st.floats(1e-3, 1e6), fill=st.nothing())


@given(many_values, discounts)
@settings(max_examples=settings.default.max_examples * 3 // 5)
def test_gains_that_take_any_value_are_summed_from_the_highest_too(gains, coefficients):
    for weights in (coefficients, np.ones(len(gains))):
        assert ideal(gains, weights) == pytest.approx(best(gains, weights), rel=1e-12)


@given(st.integers(1, 9), st.integers(1, 3), st.data())
def test_gains_of_codes_are_looked_up_for_each_scale_however_many_levels_there_are(n_levels, n_scales, data):
    codes = data.draw(arrays(np.uint8, (4, 5), elements=st.integers(0, n_levels - 1)))
    table = data.draw(arrays(np.float64, (n_scales, n_levels), elements=few_values))
    scale = data.draw(arrays(np.int64, 5, elements=st.integers(0, n_scales - 1)))
    gains, counts, sums = np.empty((4, 5)), np.zeros((2, n_levels, 5), np.int32), np.empty((2, 5))
    look_up(codes, table, scale, gains)
    assert gains.tolist() == [[table[scale[a], codes[i, a]] for a in range(5)] for i in range(4)]
    documents = np.array([0, 3, 4])
    level_counts(codes, documents, counts)
    sums_of_counts(counts, table, scale, sums)
    assert sums == pytest.approx(np.array([gains[:3].sum(axis=0), gains[3:].sum(axis=0)]), rel=1e-12)
