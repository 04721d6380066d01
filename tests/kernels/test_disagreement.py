"""Squared differences over many pairs at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import agreement as oracle
from qrowd.kernels.counts import FEW_VALUES, value_counts
from qrowd.kernels.disagreement import Difference, matrix_of_differences, mid_ranks, to_the_others

LEVELS = ("nominal", "interval", "ratio")
VALUES = st.floats(0, 1e6, allow_subnormal=False).map(lambda x: 0.0 if x < 1e-6 else x)


@given(st.lists(VALUES, min_size=1, max_size=6, unique=True), st.sampled_from(LEVELS))
def test_the_matrix_holds_the_difference_of_any_two_values(values, level):
    matrix = matrix_of_differences(np.array(values), level)
    for i, x in enumerate(values):
        for j, y in enumerate(values):
            assert matrix[i, j] == pytest.approx(oracle.difference(level, x, y, {}))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_ordinal_differences_are_those_of_mid_ranks(said):
    counts = {value: said.count(value) for value in sorted(set(said))}
    rank = mid_ranks(np.array(list(counts.values()), float))
    for i, x in enumerate(counts):
        for j, y in enumerate(counts):
            assert (rank[i] - rank[j]) ** 2 == pytest.approx(oracle.difference("ordinal", x, y, counts))


SPREADS = {
    "ordinary": lambda rng: rng.lognormal(1, 2, 500),
    "with zero": lambda rng: np.append(rng.lognormal(1, 2, 500), 0.0),
    "nearly equal": lambda rng: 1 + 1e-9 * rng.random(500),
    "within one bin": lambda rng: 5 + rng.random(500),
    "over six hundred powers of e": lambda rng: np.exp(rng.uniform(-300, 300, 500)),
    "two clusters": lambda rng: np.concatenate([rng.lognormal(0, 0.1, 250), rng.lognormal(50, 0.1, 250)]),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("level", LEVELS)
def test_many_values_are_compared_without_looking_at_every_pair_to_the_last_digits(level, spread):
    rng = np.random.default_rng(1)
    values = np.unique(SPREADS[spread](rng))
    assert values.size > FEW_VALUES
    first, second = rng.integers(0, 4, (2, 3, values.size)).astype(float)
    directly = ((first @ matrix_of_differences(values, level)) * second).sum(axis=1)
    assert Difference(values, level).between(first, second) == pytest.approx(directly, rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_observed_disagreement_of_many_values_is_that_of_few(level):
    rng = np.random.default_rng(2)
    size = rng.integers(2, 7, 30)
    starts = np.append(0, np.cumsum(size))
    code = rng.integers(0, 10, starts[-1]).astype(np.int32)
    values = np.sort(rng.lognormal(0, 1, 100))
    few = Difference(values[:10], level).within(value_counts(starts, code, 10))
    many = Difference(values, level).within(value_counts(starts, code, 100))
    assert many == pytest.approx(few)


def test_a_judgment_is_compared_with_the_others_of_its_document():
    starts = np.array([0, 3, 4])
    out = np.empty(4)
    to_the_others(starts, np.array([1.0, 2.0, 4.0, 9.0]), np.ones(4), 1, out)
    assert out[:3] == pytest.approx([(1 + 9) / 2, (1 + 4) / 2, (9 + 4) / 2])
    assert np.isnan(out[3])
    together = np.empty(2)
    to_the_others(np.array([0, 2]), np.array([1.0, 2.0]), np.array([3.0, 1.0]), 1, together)
    assert together == pytest.approx([1 / 3, 1])
