"""Bounds and the next document where documents are graded one by one."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd_papers.preferences.grades import grade_bounds, grade_utility, order_documents

GAINS = st.lists(st.sampled_from([np.nan, 0.0, 1.0, 2.0]), min_size=1, max_size=5)


@st.composite
def worlds(draw):
    gains = np.array(draw(GAINS))
    row = st.lists(st.floats(0, 1), min_size=gains.size, max_size=gains.size)
    return gains, np.array(draw(st.lists(row, min_size=2, max_size=3)))


@given(worlds())
def test_bounds_are_reached_and_never_left(world):
    gains, coefficients = world
    left = np.isnan(gains)
    scores = []
    for values in product([0.0, 1.0, 2.0], repeat=int(left.sum())):
        full = gains.copy()
        full[left] = values
        scores.append(coefficients @ full)
    gaps = np.array([np.subtract.outer(s, s) for s in scores])
    bounds = grade_bounds(gains, coefficients, highest=2)
    assert bounds.low == pytest.approx(gaps.min(axis=0), abs=1e-12)
    assert bounds.high == pytest.approx(gaps.max(axis=0), abs=1e-12)


@given(worlds())
def test_utility_is_the_width_that_a_judgment_takes_away(world):
    gains, coefficients = world
    value = grade_utility(coefficients)

    def width(of):
        bounds = grade_bounds(of, coefficients, highest=2)
        return sum((bounds.high - bounds.low)[e, f] for e, f in combinations(range(len(coefficients)), 2))

    for d in np.flatnonzero(np.isnan(gains)):
        told = gains.copy()
        told[d] = 1.0
        assert 2 * value[d] == pytest.approx(width(gains) - width(told), abs=1e-9)


@given(worlds(), st.data())
def test_documents_come_by_falling_utility_and_equal_ones_along_the_sequence(world, data):
    _, coefficients = world
    sequence = data.draw(st.permutations(range(coefficients.shape[1])))
    value = grade_utility(coefficients).round(12)
    expected = sorted(sequence, key=lambda d: (-value[d], sequence.index(d)))
    assert order_documents(coefficients, sequence).tolist() == expected


@given(worlds())
def test_bounds_are_settled_exactly_when_no_completion_changes_the_answer(world):
    gains, coefficients = world
    left = np.isnan(gains)
    signs = set()
    for values in product([0.0, 1.0, 2.0], repeat=int(left.sum())):
        full = gains.copy()
        full[left] = values
        scores = (coefficients @ full).round(9)
        signs.add(tuple(np.sign(np.subtract.outer(scores, scores).round(9)).ravel()))
    # a tie that one completion has is enough for another sign
    assert grade_bounds(gains, coefficients, highest=2).settled == (len(signs) == 1)


def test_dcg_at_3_of_two_rankings_by_hand():
    # Rankings 0 1 2 and 2 1 3. 1 stands at rank 2 in both and tells nothing; 0 and 2 tell most.
    discount = 1 / np.log2([2, 3, 4])
    coefficients = np.zeros((2, 4))
    coefficients[0, [0, 1, 2]] = discount
    coefficients[1, [2, 1, 3]] = discount
    assert grade_utility(coefficients) == pytest.approx([1, 0, 0.5, 0.5])
    assert order_documents(coefficients).tolist() == [0, 2, 3, 1]
    bounds = grade_bounds(np.array([3, np.nan, 1, np.nan]), coefficients, highest=3)
    assert (bounds.low[0, 1], bounds.high[0, 1]) == pytest.approx((3 - 0.5 - 1.5, 3 - 0.5))
    assert bounds.settled


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grade_bounds(np.ones(3), np.ones((1, 3))), "2 or more systems x 3 documents"),
        (lambda: grade_utility(np.ones((1, 4))), "found shape"),
        (lambda: order_documents(np.ones((2, 3)), [0, 1, 1]), "each of the 3 documents once"),
        (lambda: grade_bounds(np.array([2.0, np.nan]), np.ones((2, 2))), "every gain must lie"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
