"""How much a judgment would tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import scheduling as oracle
from qrowd.errors import ArgumentError
from qrowd.model.preferences import Preferences
from qrowd.preferences import bradley_terry
from qrowd.preferences.scheduling import State, Systems, expected_utility, make_order
from qrowd.preferences.scheduling.utility import from_known, from_log_worths, from_regression

N = 5
KINDS = ("change", "settled", "printed")
RANKING = st.permutations(range(N)).flatmap(lambda order: st.integers(1, N).map(lambda k: list(order)[:k]))
WEIGHT = st.sampled_from(["none", "lower", "upper"])


@st.composite
def situations(draw):
    """A true order, judgments that follow it, marks, and a few rankings."""
    order = draw(st.permutations(range(N)))
    shown = draw(st.lists(st.lists(st.sampled_from(order), min_size=2, max_size=2, unique=True), max_size=6))
    said = {tuple(sorted(pair, key=order.index)) for pair in shown}
    bad = draw(st.sets(st.sampled_from(order), max_size=2))
    return said, bad, draw(st.lists(RANKING, min_size=2, max_size=4)), draw(WEIGHT)


def state_of(said, bad):
    state = State.new(N)
    for winner, loser in said:
        state = state.judge(winner, loser, winner)
    return state.mark_bad(*bad)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(situations(), st.lists(st.floats(-2, 2), min_size=N, max_size=N))
def test_utility_is_what_its_formula_says(kind, situation, strengths):
    said, bad, rankings, weight = situation
    chance = from_log_worths(np.array(strengths))
    found = expected_utility(
        state_of(said, bad), Systems.of(rankings, N, weight=weight), utility=kind, probability=chance
    )
    expected = oracle.utility(N, said, bad, rankings, kind, lambda a, b: chance[a, b], weight)
    for pair in expected:
        assert found[pair] == pytest.approx(expected[pair], abs=1e-12)
        assert found[pair[::-1]] == found[pair]
    assert int((found >= 0).sum()) == 2 * len(expected)


def test_the_papers_example_by_hand():
    # A was preferred to B; the systems rank A B C and C B A. B > C brings A > C, and C > A brings C > B.
    state, systems = State.new(3).judge(0, 1, 0), Systems.of([[0, 1, 2], [2, 1, 0]], 3)
    change = expected_utility(state, systems)
    assert change[1, 2] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert change[0, 2] == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert change[0, 1] == -1  # known
    assert expected_utility(state, systems, utility="settled")[1, 2] == pytest.approx((4 / 3 + 2 / 3) / 2)
    assert expected_utility(state, systems, utility="printed")[1, 2] == pytest.approx((4 + 2) / 2)
    sure = np.array([[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]])
    assert expected_utility(state, systems, probability=sure)[1, 2] == pytest.approx(2 / 3)


def test_a_pair_that_both_systems_order_alike_tells_nothing_about_ppref():
    systems = Systems.of([[0, 1, 2], [0, 2, 1]], 3)
    value = expected_utility(State.new(3), systems)
    assert value[0, 1] == value[0, 2] == 0
    assert value[1, 2] > 0


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(situations(), st.sampled_from(KINDS), st.permutations(range(N)))
def test_utility_does_not_depend_on_how_documents_are_numbered(situation, kind, number):
    said, bad, rankings, weight = situation
    new = {(number[a], number[b]) for a, b in said}
    renamed = expected_utility(
        state_of(new, {number[d] for d in bad}),
        Systems.of([[number[d] for d in ranking] for ranking in rankings], N, weight=weight),
        utility=kind,
    )
    plain = expected_utility(state_of(said, bad), Systems.of(rankings, N, weight=weight), utility=kind)
    assert renamed[np.ix_(number, number)] == pytest.approx(plain, abs=1e-12)


def test_probabilities_are_a_square_table():
    odds = from_log_worths(np.array([0.0, np.log(3), 0.0]))
    assert odds[1] == pytest.approx([0.75, 0.5, 0.75])
    with pytest.raises(ArgumentError, match="3 x 3"):
        expected_utility(State.new(3), Systems.of([[0], [1]], 3), probability=np.full((2, 2), 0.5))


@given(situations())
def test_probabilities_from_what_is_known_favour_the_document_that_is_known_to_be_better(situation):
    state = state_of(*situation[:2])
    chance = from_known(state)
    assert chance + chance.T == pytest.approx(np.ones((N, N)))
    assert (chance[state.closed & ~state.bad[:, None]] > 0.5).all()


def test_an_unknown_utility_is_refused():
    with pytest.raises(ArgumentError, match="utility='best'"):
        expected_utility(State.new(2), Systems.of([[0], [1]], 2), utility="best")


# ---- probabilities by regression


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.lists(st.lists(st.integers(0, N - 1), min_size=2, max_size=2, unique=True), min_size=1, max_size=9))
def test_regression_gives_the_probabilities_of_the_bradley_terry_model(judged):
    state = State.new(N)
    for winner, loser in judged:
        state = state.judge(winner, loser, winner)
    rows = [("t", str(a), str(b), "ann") for a, b in sorted(set(map(tuple, judged)))]
    worths = bradley_terry(Preferences.from_rows(rows), n_resamples=0)
    found = from_regression(state)
    for a in range(N):
        for b in range(N):
            if {str(a), str(b)} <= set(worths.documents_of("t")):
                expected = worths.probability("t", str(a), str(b)) if a != b else 0.5
                assert found[a, b] == pytest.approx(expected, abs=1e-5)


def test_an_even_pair_tells_regression_nothing_of_which_is_better_and_a_chain_tells_less_than_its_links():
    assert from_regression(State.after(2, [], even=[(0, 1)]))[0, 1] == pytest.approx(0.5)
    chance = from_regression(State.new(4).judge(0, 1, 0).judge(1, 2, 1))
    assert chance[0, 2] > chance[0, 1] > 0.5
    assert chance == pytest.approx(1 - chance.T)


def test_an_order_takes_its_probabilities_by_name():
    systems = Systems.of([[0, 1, 2, 3, 4], [4, 2, 0, 3, 1]], N)
    state = State.new(N).judge(0, 1, 0).judge(2, 3, 2)
    for name, chance in (("half", None), ("odds", from_known(state)), ("regression", from_regression(state))):
        best = make_order("utility", N, systems, probability=name, rng=1).next(state)
        value = expected_utility(state, systems, probability=chance)
        assert value[best] == pytest.approx(value.max())
    with pytest.raises(ArgumentError, match="probability='coin'"):
        make_order("utility", N, systems, probability="coin")
    with pytest.raises(ArgumentError, match="ridge=0"):
        from_regression(state, ridge=0)
