"""Bounds and the next document where documents are graded one by one."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd.preferences.scheduling import grade_bounds, grades_may_stop, order_documents
from qrowd.preferences.scheduling.bounds import grade_utility

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


@given(worlds(), st.sampled_from(["ranking", "top"]))
def test_judging_stops_exactly_when_no_completion_changes_the_answer(world, goal):
    gains, coefficients = world
    left = np.isnan(gains)
    signs, tops = set(), set()
    for values in product([0.0, 1.0, 2.0], repeat=int(left.sum())):
        full = gains.copy()
        full[left] = values
        scores = (coefficients @ full).round(9)
        signs.add(tuple(np.sign(np.subtract.outer(scores, scores).round(9)).ravel()))
        best = np.flatnonzero(scores == scores.max())
        tops.add(int(best[0]) if best.size == 1 else None)
    stop = grades_may_stop(gains, coefficients, np.array([0, 1, 2]), goal=goal).stop
    if goal == "top":
        assert stop == (len(tops) == 1 and None not in tops)
    elif stop:
        assert len(signs) == 1
    else:  # a tie that one completion has is enough for another sign
        assert len(signs) > 1


def test_below_proof_a_share_of_completions_is_enough_and_the_grades_so_far_say_which_are_likely():
    coefficients = np.array([[1.0, 0.6, 0.3, 0.0], [0.0, 0.6, 0.3, 0.5]])  # 0 against 3
    gains = np.array([1.0, 1.0, np.nan, np.nan])
    assert grades_may_stop(gains, coefficients, [0, 1]).stop  # 3 cannot make up for 0
    worse = np.array([[1.0, 0.0], [0.0, 1.0]])
    even = grades_may_stop(np.array([1.0, np.nan]), worse, [0, 1], stop_probability=0.9, rng=1)
    assert not even.stop
    assert even.probability[0, 1] == pytest.approx(2 / 3, abs=0.08)  # 1 is as likely 2 : 1 by then, and a tie
    seen = np.append(np.zeros(30), [1.0, np.nan])
    wide = np.zeros((2, 32))
    wide[0, 30] = wide[1, 31] = 1
    assert grades_may_stop(seen, wide, [0, 1], stop_probability=0.9, rng=1).stop  # most documents have grade 0


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
    assert bounds.settled()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grade_bounds(np.ones(3), np.ones((1, 3))), "2 or more systems x 3 documents"),
        (lambda: grade_utility(np.ones((1, 4))), "found shape"),
        (lambda: order_documents(np.ones((2, 3)), [0, 1, 1]), "each of the 3 documents once"),
        (lambda: grades_may_stop(np.ones(2), np.ones((2, 2)), []), "levels"),
        (lambda: grades_may_stop(np.ones(2), np.ones((2, 2)), [1], goal="top", n_best=2), "n_best=2: of 2 systems"),
        (lambda: grade_bounds(np.array([2.0, np.nan]), np.ones((2, 2))), "every gain must lie"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
