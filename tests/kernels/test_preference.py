"""Kernels of preferences against plain loops."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import preferences as oracle
from qrowd.kernels.preference import closed_pairs, closure, document_ranks, pairs_by_value

pairs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), min_size=0, max_size=14
)


def array(listed):
    return np.array(listed, np.int32).reshape(-1, 2)


@settings(max_examples=settings.default.max_examples * 8 // 5)
@given(pairs)
def test_the_closure_is_what_chains_imply_outside_of_cycles(listed):
    found = closure(6, array(listed))
    assert {(int(i), int(j)) for i, j in np.argwhere(found)} == oracle.closure(set(listed))


@settings(max_examples=settings.default.max_examples * 4 // 5)
@given(st.lists(pairs, min_size=1, max_size=4))
def test_every_group_is_closed_by_itself_and_holds_each_pair_once(groups):
    starts = np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int64)
    found, ends = closed_pairs(6, starts, array([pair for group in groups for pair in group]))
    for g, group in enumerate(groups):
        mine = [tuple(pair) for pair in found[ends[g] : ends[g + 1]].tolist()]
        assert len(mine) == len(set(mine))
        assert set(mine) == oracle.closure(set(group))


def test_a_long_chain_implies_more_pairs_than_were_given():
    chain = array([(i, i + 1) for i in range(40)])
    found, ends = closed_pairs(41, np.array([0, 40]), chain)
    assert ends.tolist() == [0, 41 * 40 // 2]
    assert (found[:, 0] < found[:, 1]).all()


@given(st.lists(st.lists(st.integers(0, 2), max_size=5), min_size=1, max_size=3))
def test_pairs_by_value_are_all_pairs_of_a_segment_that_differ(segments):
    values = np.array([v for segment in segments for v in segment], np.float64)
    starts = np.append(0, np.cumsum([len(segment) for segment in segments])).astype(np.int64)
    found, ends = pairs_by_value(starts, values)
    for g in range(len(segments)):
        rows = range(starts[g], starts[g + 1])
        wanted = {(i, j) for i, j in product(rows, rows) if values[i] > values[j]}
        assert {tuple(pair) for pair in found[ends[g] : ends[g + 1]].tolist()} == wanted


def test_equal_scores_can_be_turned_round():
    rows = np.array([[3, -1, 0, 2, 1]], np.int32)
    tied = np.array([[False, False, True, True, False]])
    for ascending, ranks in ((False, [3, 5, 4, 1]), (True, [3, 5, 2, 1])):
        out = np.empty((1, 5), np.int32)
        document_ranks(rows, tied, ascending, out)
        assert out.tolist() == [[*ranks, 0]]
