"""Rankings as weights of pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import preferences as measures
from oracles import scheduling as oracle
from qrowd.errors import ArgumentError
from qrowd.preferences.scheduling import State, Systems
from qrowd_papers.preferences.replays import Answers

N = 5
RANKING = st.permutations(range(N)).flatmap(lambda order: st.integers(1, N).map(lambda k: list(order)[:k]))


@given(
    st.permutations(range(N)),
    st.sets(st.sampled_from(range(N))),
    RANKING,
    st.sampled_from(["none", "lower", "upper", "upper-log2"]),
)
def test_once_all_was_judged_scores_are_ppref_and_wpref(order, bad, ranking, weight):
    state = Answers.of_order(order, bad).full()
    said = [(int(a), int(b), 1.0, "g") for a, b in np.argwhere(state.known)]
    expected = measures.ppref(ranking, said) if weight == "none" else measures.wpref(ranking, said, weight=weight)
    assert Systems.of([ranking, ranking], N, weight=weight).scores(state) == pytest.approx([expected] * 2)


def test_the_toy_of_wpref():
    # a > b, a > c, b > c; ranking b, a, c: .6131 by the lower rank, .6199 by the upper.
    state = Answers.of_order([0, 1, 2]).full()
    for weight, value in (("none", 2 / 3), ("lower", 0.6131), ("upper", 0.6199)):
        found = Systems.of([[1, 0, 2], [0, 1, 2]], 3, weight=weight).scores(state)
        assert found == pytest.approx([value, 1], abs=5e-5)


@given(RANKING, st.lists(st.sampled_from(range(N)), max_size=3), st.sampled_from(["none", "lower", "upper"]))
def test_totals_weigh_all_pairs_but_those_of_two_bad_documents(ranking, bad, weight):
    state = State.new(N).mark_bad(*bad)
    pairs = [(a, b) for a in range(N) for b in range(a) if not {a, b} <= set(bad)]
    systems = Systems.of([ranking, ranking], N, weight=weight)
    right = sum(oracle.score(ranking, [(a, b)]) for a, b in [*pairs, *((b, a) for a, b in pairs)])
    if weight == "none":
        assert systems.totals(state) == pytest.approx([right] * 2)
    assert (systems.totals(state) <= right + 1e-9).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Systems.of([[0]], 2), "2 or more"),
        (lambda: Systems.of([[0], [0, 0]], 2), "system 2: a document is in the list twice"),
        (lambda: Systems.of([[0], [2]], 2, names=["x", "y"]), "system y: document 2"),
        (lambda: Systems.of([[0], [1]], 2, names=["x"]), "names: 1 for 2"),
        (lambda: Systems.of([[0], [1]], 2, weight="log"), "weight='log'"),
        (lambda: Systems.of([[0], [1]], 2).scores(State.new(3)), "3 documents and the systems rank 2"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
