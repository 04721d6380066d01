"""What is known after each judgment."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import scheduling as oracle
from qrowd.errors import ArgumentError
from qrowd.model.preferences import Preferences
from qrowd.preferences.closure import closure
from qrowd.preferences.scheduling import State

N = 5
PAIRS = st.lists(st.sampled_from(range(N)), min_size=2, max_size=2, unique=True).map(tuple)


def told(said, bad=(), **options):
    state = State.new(N, **options)
    for winner, loser in said:
        state = state.judge(winner, loser, winner)
    return state.mark_bad(*bad) if bad else state


def pairs(matrix):
    return {(int(a), int(b)) for a, b in np.argwhere(matrix)}


@given(st.lists(PAIRS, max_size=12), st.sets(st.sampled_from(range(N))))
def test_what_is_known_is_what_the_definition_implies_circles_and_contradictions_included(said, bad):
    state = told(said, bad)
    assert pairs(state.closed) == oracle.closure(set(said))
    assert pairs(state.known) == oracle.implied(N, set(said), bad)
    assert [tuple(pair) for pair in state.open_pairs().tolist()] == oracle.open_pairs(N, set(said), bad)
    assert state.n_judged == len(said) + len(bad)


@given(st.lists(PAIRS, max_size=12), st.sets(st.sampled_from(range(N))))
def test_without_chains_only_what_was_said_and_marks_count(said, bad):
    state = told(said, bad, transitive=False)
    assert pairs(state.closed) == set(said)
    marks = {(a, b) for a in range(N) for b in bad if a not in bad and (b, a) not in said}
    assert pairs(state.known) == set(said) | marks


@given(st.lists(PAIRS, max_size=12), st.sets(st.sampled_from(range(N))), st.randoms())
def test_the_order_of_judgments_and_marks_does_not_matter(said, bad, random):
    other = State.new(N)
    for step in random.sample([*said, *bad], len(said) + len(bad)):
        other = other.mark_bad(step) if isinstance(step, int) else other.judge(*step, winner=step[0])
    assert pairs(other.known) == pairs(told(said, bad).known)


@given(st.permutations(range(N)), st.lists(PAIRS, max_size=12))
def test_answers_of_one_order_imply_nothing_against_it(order, shown):
    state = State.new(N)
    for a, b in shown:
        state = state.judge(a, b, winner=min(a, b, key=order.index))
    assert all(order.index(a) < order.index(b) for a, b in pairs(state.known))


@pytest.mark.filterwarnings("ignore")  # of Bad documents that were preferred
@given(st.lists(PAIRS, max_size=12), st.sets(st.sampled_from(range(N)), max_size=3))
def test_what_is_known_is_what_the_closure_of_preferences_says(said, bad):
    compared = ((d, (d + 1) % N) for d in range(0, N, 2))  # everybody
    said = list({frozenset(pair): pair for pair in (*said, *compared)}.values())  # each pair one way
    told_all = Preferences.from_rows([("q", a, b, "ann") for a, b in said], bad=[("q", d, "ann") for d in bad])
    closed = closure(told_all).preferences
    assert {(int(a), int(b)) for _, a, b, _, _ in closed.to_rows()} == pairs(told(said, bad).known)


def test_a_bad_document_that_was_preferred_stays_so():
    state = told([(0, 1), (2, 3)], bad=[0])
    assert state.known[0, 1]
    assert pairs(state.known[:, [0]]) == {(2, 0), (3, 0), (4, 0)}


def test_a_state_never_changes():
    state = told([(0, 1)])
    state.judge(1, 2, 1).mark_bad(0)
    assert pairs(state.known) == {(0, 1)}
    assert state.n_judged == 1


def test_a_state_of_real_preferences_takes_the_majority_and_marks_of_half():
    said = Preferences.from_rows(
        [
            *[("q", "a", "b", who) for who in ("ann", "bob")],
            ("q", "b", "a", "cyd"),
            ("q", "b", "c", "ann"),
            ("q", "d", "c", "ann"),
            ("q", "c", "d", "bob"),
            ("q", "a", "e", "cyd"),
        ],
        bad=[("q", "e", "ann"), ("q", "a", "ann")],
    )
    state = State.of(said.topic_view(0))
    name = said.documents
    assert {(name[a], name[b]) for a, b in pairs(state.closed)} == {("a", "b"), ("b", "c"), ("a", "c"), ("a", "e")}
    assert [name[d] for d in np.flatnonzero(state.bad)] == ["e"]  # a: one of the three who saw it
    assert state.n_judged == 9


@pytest.mark.parametrize("later_bad", ["any", "unseen", "none"])
def test_documents_may_be_marked_only_if_they_will_be_shown(later_bad):
    state = told([(0, 1), (1, 2), (2, 3)])
    expected = {"any": [0, 1, 2, 3, 4], "unseen": [4], "none": []}[later_bad]
    assert np.flatnonzero(state.markable(later_bad)).tolist() == expected
    assert not told([(0, 1), (1, 2), (2, 3), (3, 4)]).markable(later_bad).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: State.new(0), "without documents"),
        (lambda: State.new(3).judge(1, 1, 1), "compared with itself"),
        (lambda: State.new(3).judge(0, 1, 2), "winner=2"),
        (lambda: State.new(3).judge(0, 3, 0), "document 3: the topic has 3"),
        (lambda: State.new(3).mark_bad(-1), "document -1"),
        (lambda: State.new(3).markable("later"), "later_bad='later'"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


# ---------------------------------------------------------------------- several assessors, and pairs without an order


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.lists(PAIRS, max_size=12), st.sets(st.sampled_from(range(N))), st.lists(PAIRS, max_size=4))
def test_all_at_once_is_the_same_as_one_after_the_other(said, bad, even):
    one = told(said, sorted(bad))
    for a, b in even:
        one = oracle.judged_even(one, a, b)
    other = State.after(N, said, sorted(bad), even)
    for name in ("direct", "closed", "bad", "seen", "open", "n_preferences", "n_marks", "_has_cycle"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert other.kept == -1


@given(st.lists(PAIRS, max_size=12), st.sets(st.sampled_from(range(N))), st.lists(PAIRS, max_size=4))
def test_held_pairs_stay_open_and_are_not_free(said, bad, held):
    state = told(said, bad)
    _ = state.known, state.open  # worked out before, and handed on
    beside = state.beside(held, kept=2)
    assert pairs(beside.open) == pairs(state.open)
    assert pairs(beside.free) == pairs(state.open) - set(held) - {(b, a) for a, b in held}
    assert np.array_equal(beside.outcomes("none"), state.outcomes("none"))
    assert beside.kept == 2
    assert pairs(state.free) == pairs(state.open)
    assert pairs(beside.beside(()).free) == pairs(state.open)


def test_a_document_that_others_hold_may_be_marked_even_if_nothing_is_open():
    state = told([(0, 1), (1, 2), (2, 3), (3, 4)])
    assert not state.markable("any").any()
    assert state.beside([(0, 2)]).markable("any").tolist() == [True, False, True, False, False]
    assert not state.beside([(0, 2)]).markable("unseen").any()


def test_an_even_pair_is_not_open_implies_nothing_and_may_still_end_in_all_ways():
    state = State.after(3, [], even=[(2, 0)])
    assert [tuple(pair) for pair in state.open_pairs().tolist()] == [(0, 1), (1, 2)]
    assert not state.known.any()
    assert state.outcomes("none")[0].tolist() == [0, 3, 7]
    assert (state.n_judged, state.seen.tolist()) == (1, [True, False, True])
    chained = state.judge(0, 1, 0).judge(1, 2, 1)
    assert chained.known[0, 2]
    assert chained.outcomes("none")[0, 2] == 0
