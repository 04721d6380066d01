"""Chains, cycles and marks, group by group."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import preference_closure as oracle
from qrowd.preferences.closure import marked_pairs
from qrowd.preferences.transitivity import chain_counts, shortest_cycle

DOCUMENTS = range(6)
pair = st.lists(st.sampled_from(DOCUMENTS), min_size=2, max_size=2, unique=True).map(tuple)
groups = st.lists(st.sets(pair, max_size=12), min_size=1, max_size=4)


def arrays(groups):
    starts = np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int64)
    pairs = np.array([p for group in groups for p in sorted(group)], np.int32).reshape(-1, 2)
    return starts, pairs


@given(groups)
def test_every_group_is_counted_for_itself(sets):
    decided = [oracle.held(sorted(group)) for group in sets]
    found = chain_counts(*arrays(decided))
    assert [tuple(row) for row in found.tolist()] == [oracle.triples(group) for group in decided]


@pytest.mark.parametrize("n", [63, 64, 65, 128, 129])
def test_a_full_round_of_any_size_is_counted(n):
    pairs = {(i, j) if (j - i) % 2 else (j, i) for i in range(n) for j in range(i + 1, n)}
    found = chain_counts(*arrays([pairs]))[0]
    above = np.zeros((n, n), np.int64)
    above[tuple(np.array(sorted(pairs)).T)] = 1
    two = above @ above
    cyclic = int((two * above.T).sum()) // 3
    chains = int(two.sum() - two.trace())
    assert found.tolist() == [chains, chains - 3 * cyclic, n * (n - 1) * (n - 2) // 6, cyclic]


@given(st.sets(pair, min_size=1, max_size=14))
def test_the_way_round_is_a_shortest_one(pairs):
    for component in oracle.components(pairs):
        nodes = sorted(component)
        inside = sorted((nodes.index(i), nodes.index(j)) for i, j in pairs if i in component and j in component)
        way = shortest_cycle(*np.array(inside).T).tolist()
        assert len(way) == oracle.shortest_way_round(pairs, component)
        assert all(step in inside for step in zip(way, [*way[1:], way[0]], strict=True))


def test_marks_add_pairs_that_nothing_decides_and_count_those_they_leave_open():
    starts, pairs = arrays([{(0, 1), (1, 4)}, {(2, 3)}])
    seen, bad = np.array([0, 1, 4, 5, 2, 3], np.int32), np.array([False, False, True, True, False, False])
    added, ends, both = marked_pairs(6, starts, pairs, np.array([0, 4, 6]), seen, bad)
    assert sorted(map(tuple, added.tolist())) == [(0, 4), (0, 5), (1, 5)]
    assert (ends.tolist(), both.tolist()) == ([0, 3, 3], [1, 0])
