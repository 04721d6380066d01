"""Which pair next."""

from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import scheduling as oracle
from qrowd.errors import ArgumentError
from qrowd.preferences.scheduling import ORDERS, State, Systems, expected_utility, make_order
from qrowd.preferences.scheduling.orders import AtRandom, ByUtility, InOrder, KeepPreferred, Sort, Tournament
from qrowd_papers.preferences.replays import Answers, replay


@st.composite
def topics(draw, least=1, most=12):
    n = draw(st.integers(least, most))
    bad = draw(st.sets(st.sampled_from(range(n)), max_size=n // 2))
    return Answers.of_order(draw(st.permutations(range(n))), bad)


@st.composite
def contradictory(draw):
    """Answers that follow no order at all."""
    n = draw(st.integers(2, 8))
    upper = np.triu(np.ones((n, n), bool), k=1)
    coin = np.array(draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    return Answers((upper & coin) | (upper & ~coin).T, np.zeros(n, bool))


def systems_for(answers, rng):
    rng = np.random.default_rng(rng)
    n = answers.n_documents
    return Systems.of([rng.permutation(n)[: max(1, n - 2)].tolist() for _ in range(3)], n)


@pytest.mark.parametrize("name", ORDERS)
@settings(max_examples=settings.default.max_examples // 5)
@given(st.one_of(topics(), contradictory()), st.integers(0, 99), st.booleans())
def test_no_order_ever_asks_what_is_known(name, answers, seed, transitive):
    order = make_order(name, answers.n_documents, systems_for(answers, seed), k=2, rng=seed)
    state = State.new(answers.n_documents, transitive=transitive)
    while (pair := order.next(state)) is not None:
        a, b = pair
        assert a != b
        assert not state.known[a, b]
        assert not state.known[b, a]
        assert not state.bad[[a, b]].any()
        assert order.next(state) == pair  # the same state, the same pair
        marked = [d for d in pair if answers.bad[d]]
        state = state.mark_bad(*marked) if marked else state.judge(a, b, a if answers.wins[a, b] else b)
    if name != "top":
        assert not state.open.any()


@pytest.mark.parametrize("name", [name for name in ORDERS if name != "top"])
@settings(max_examples=settings.default.max_examples // 5)
@given(topics(), st.integers(0, 99))
def test_every_order_but_the_tournament_ends_with_the_complete_order(name, answers, seed):
    found = replay(name, answers, systems_for(answers, seed), rng=seed)
    assert np.array_equal(found.state.known, answers.full().known)
    assert found.error == found.regret == 0


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(topics(least=2, most=24), st.integers(0, 99))
def test_sorts_ask_no_more_than_n_log_n(answers, seed):
    answers = answers.without_bad()
    n = answers.n_documents
    asked = {by: replay(by, answers, rng=seed).n_judged for by in ("merge", "insertion")}
    assert asked["merge"] <= n * ceil(log2(n)) - 2 ** ceil(log2(n)) + 1 <= ceil(n * log2(n))
    assert asked["insertion"] <= sum(ceil(log2(i)) for i in range(2, n + 1)) <= ceil(n * log2(n))
    assert min(asked.values()) >= n - 1


@pytest.mark.parametrize("by", ["merge", "insertion"])
def test_a_sequence_that_is_right_already_saves_questions(by):
    answers = Answers.of_order(range(16))
    easy = replay(Sort(by, range(16)), answers).n_judged
    assert easy < replay(Sort(by, np.random.default_rng(1).permutation(16).tolist()), answers).n_judged


def test_every_pair_is_shown_in_turn_where_chains_do_not_count():
    found = replay(InOrder([2, 0, 1, 3]), Answers.of_order([3, 2, 1, 0]), transitive=False)
    assert found.shown.tolist() == [[2, 0], [2, 1], [2, 3], [0, 1], [0, 3], [1, 3]]
    assert found.preferred.tolist() == [2, 2, 3, 1, 3, 3]


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(topics())
def test_all_pairs_but_those_implied_are_asked(answers):
    answers = answers.without_bad()
    found = replay("all", answers, rng=1)
    implied = int((found.state.closed & ~found.state.direct).sum())
    n = answers.n_documents
    assert found.n_judged + implied == n * (n - 1) // 2
    assert replay("all", answers, transitive=False, rng=1).n_judged == n * (n - 1) // 2


def test_the_preferred_document_is_kept_and_meets_the_next():
    # True order 2 1 3 0. 0 meets 1 and loses; 1 meets 2 and loses; 2 meets 3, and is done: 0 and 3 are left over.
    found = replay(KeepPreferred(range(4)), Answers.of_order([2, 1, 3, 0]))
    assert found.shown.tolist() == [[0, 1], [1, 2], [2, 3], [0, 3], [3, 1]]


def test_a_document_marked_as_bad_leaves_and_the_kept_one_stays():
    found = replay(KeepPreferred(range(4)), Answers.of_order([1, 3, 0, 2], bad=[2]))
    assert found.shown.tolist() == [[0, 1], [1, 2], [1, 3], [0, 3]]
    assert found.preferred.tolist() == [1, -1, 1, 3]
    assert found.state.n_marks == 1


def test_without_chains_the_kept_document_also_meets_those_it_passed_over():
    found = replay(KeepPreferred(range(4)), Answers.of_order([2, 1, 3, 0]), transitive=False)
    assert found.shown.tolist() == [[0, 1], [1, 2], [2, 3], [2, 0], [0, 3], [3, 1]]


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(topics(least=3), st.integers(0, 99), st.sampled_from(["change", "settled", "printed"]))
def test_by_utility_is_the_pair_of_the_greatest_utility(answers, seed, utility):
    systems = systems_for(answers, seed)
    state = replay("random", answers, limit=seed % 5, rng=seed).state
    pair = ByUtility(systems, utility).next(state)
    value = expected_utility(state, systems, utility=utility)
    assert (pair is None) == (value.max() < 0)
    if pair is not None:
        assert value[pair] == pytest.approx(value.max())


def test_utility_may_learn_from_what_is_known():
    state, systems = State.new(3).judge(0, 1, 0), Systems.of([[0, 1, 2], [2, 1, 0]], 3)
    asked = []

    def learn(known):
        asked.append(known)
        return np.full((3, 3), 0.5)

    assert ByUtility(systems, learn=learn).next(state) == ByUtility(systems).next(state)
    assert asked == [state]


@settings(max_examples=5)
@given(st.permutations(range(30)), st.integers(1, 5), st.integers(0, 99))
def test_a_tournament_finds_the_best_and_asks_less_than_a_sort(order, k, seed):
    answers = Answers.of_order(order)
    tournament = Tournament(k, rng=seed)
    found = replay(tournament, answers)
    assert tournament.best(found.state)[0] == order[0]
    assert len(tournament.best(found.state)) == k
    assert found.n_judged < 30 * 29 / 2


def test_a_tournament_of_few_documents_is_every_pair():
    answers = Answers.of_order([4, 1, 3, 0, 2], bad=[2])
    found = replay(Tournament(2), answers, transitive=False)
    assert found.n_judged == 6 + 1
    assert Tournament(2).best(found.state) == [4, 1]


def test_in_a_round_everybody_meets_as_many_others_as_asked():
    pairs = Tournament(k=3, meetings=7, rng=3)._round(np.arange(40), 0)
    met = np.bincount(pairs.ravel(), minlength=40)
    assert met.min() >= 7
    assert met.mean() <= 8
    assert len({frozenset(pair) for pair in pairs.tolist()}) == len(pairs)


def test_random_pairs_depend_on_the_seed_and_on_how_much_was_judged():
    shown = [AtRandom(seed).next(State.new(20)) for seed in range(8)]
    assert len(set(shown)) > 4
    assert AtRandom(1).next(State.new(20)) == AtRandom(1).next(State.new(20))
    assert AtRandom(1).next(State.new(20)) != AtRandom(1).next(State.new(20).judge(0, 1, 0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_order("best", 3), "order 'best': choose one of all, kept"),
        (lambda: make_order("utility", 3), "needs systems"),
        (lambda: Sort("quick"), "by='quick'"),
        (lambda: InOrder([0, 0, 1]).next(State.new(3)), "each of the 3 documents once"),
        (lambda: Tournament(0), "k=0"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


# ---------------------------------------------------------------------- several assessors


@pytest.mark.parametrize("name", ORDERS)
@settings(max_examples=settings.default.max_examples // 5)
@given(st.one_of(topics(least=2), contradictory()), st.integers(0, 99), st.data())
def test_no_order_asks_what_another_is_being_asked_and_all_is_asked_in_the_end(name, answers, seed, data):
    n = answers.n_documents
    order = make_order(name, n, systems_for(answers, seed), k=2, rng=seed)
    state, held = State.new(n), []
    while True:
        pair = order.next(state.beside(held))
        if pair is None:
            if not held:
                break
            assert name == "top" or not state.beside(held).free.any()
        else:
            assert state.open[pair]
            assert {frozenset(pair)}.isdisjoint(map(frozenset, held))
            if len(held) < 3 and data.draw(st.booleans()):
                held.append(pair)
                continue
            held.append(pair)
        a, b = held.pop(data.draw(st.integers(0, len(held) - 1)))  # somebody answers
        marked = [d for d in (a, b) if answers.bad[d]]
        state = state.mark_bad(*marked) if marked else state.judge(a, b, a if answers.wins[a, b] else b)
        held = [pair for pair in held if not state.bad[list(pair)].any()]
    if name != "top":
        assert not state.open.any()


@pytest.mark.parametrize("name", ORDERS)
@settings(max_examples=settings.default.max_examples // 5)
@given(topics(least=2), st.integers(0, 99), st.data())
def test_no_order_stops_at_a_pair_without_an_order(name, answers, seed, data):
    order = make_order(name, answers.n_documents, systems_for(answers, seed), k=2, rng=seed)
    state, shown = State.new(answers.n_documents), set()
    while (pair := order.next(state)) is not None:
        assert frozenset(pair) not in shown
        shown.add(frozenset(pair))
        a, b = pair
        if data.draw(st.booleans()):
            state = oracle.judged_even(state, a, b)
        else:
            state = state.judge(a, b, a if answers.wins[a, b] else b)
    if name != "top":
        assert not state.open.any()


def test_a_sort_asks_something_else_while_its_pair_is_held():
    order, state = Sort("merge", [0, 1, 2, 3]), State.new(4)
    assert order.next(state) == (0, 1)
    assert order.next(state.beside([(1, 0)])) == (0, 2)
    everything = [(a, b) for a in range(4) for b in range(a)]
    assert order.next(state.beside(everything)) is None


def test_a_tournament_asks_its_rounds_free_pairs_first_and_then_any_other_of_those_still_in():
    order, state = Tournament(k=1, meetings=2, final=2, rng=1), State.new(8)
    asked, held = [], []
    while (pair := order.next(state.beside(held))) is not None:
        asked.append(pair)
        held.append(pair)
    wanted = [tuple(pair) for pair in order._round(np.arange(8), 0).tolist()]
    assert asked[: len(wanted)] == wanted
    assert len({frozenset(pair) for pair in asked}) == len(asked) == 28


def test_the_same_state_beside_others_is_valued_once():
    asked = []

    def learn(known):
        asked.append(known)
        return np.full((3, 3), 0.5)

    order = ByUtility(Systems.of([[0, 1, 2], [2, 1, 0]], 3), learn=learn)
    state = State.new(3)
    _ = state.open
    first = order.next(state)
    assert order.next(state.beside([first])) not in (first, None)
    assert len(asked) == 1
    order.next(state.judge(0, 1, 0))
    assert len(asked) == 2
