"""What is sure before all was judged: no possible end of a session may contradict it."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import scheduling as oracle
from qrowd.errors import ArgumentError
from qrowd.preferences.scheduling import State, Systems, difference_bounds, may_stop
from qrowd.preferences.scheduling.bounds import Bounds, sampled_scores
from qrowd.preferences.scheduling.orders import AtRandom
from qrowd_papers.preferences.replays import Answers, replay

TINY = 1e-9
LATER = ("any", "unseen", "none")


def rankings_of(n):
    one = st.permutations(range(n)).flatmap(lambda order: st.integers(1, n).map(lambda k: list(order)[:k]))
    return st.lists(one, min_size=2, max_size=3)


@st.composite
def sessions(draw, n, most):
    """(said, bad, seen) on the way: open pairs are shown, and answered by a preference or a mark."""
    said, bad, seen = set(), set(), set()
    for _ in range(draw(st.integers(0, most))):
        shown = oracle.open_pairs(n, said, bad)
        if not shown:
            break
        a, b = draw(st.sampled_from(shown))
        answer = draw(st.sampled_from([(a, b), (b, a), (a, b), (b, a), a, b]))
        said, bad = (said | {answer}, bad) if isinstance(answer, tuple) else (said, bad | {answer})
        seen |= {a, b} if isinstance(answer, tuple) else {answer}
    return said, bad, seen


def state_of(n, said, bad, seen):
    state = State.new(n)
    for winner, loser in sorted(said):
        state = state.judge(winner, loser, winner)
    state = state.mark_bad(*bad)
    assert set(np.flatnonzero(state.seen).tolist()) == seen
    return state


def differences(rankings, ends, weight):
    scores = np.array([[oracle.score(ranking, end, weight) for ranking in rankings] for end in ends])
    return scores[:, :, None] - scores[:, None, :]


def assert_safe(bounds, gaps):
    assert (bounds.low <= gaps.min(axis=0) + TINY).all()
    assert (bounds.high >= gaps.max(axis=0) - TINY).all()
    signs = np.where(np.abs(gaps) <= TINY, 0, np.sign(gaps))
    sure = ~np.isnan(bounds.sign)
    assert (signs == bounds.sign)[:, sure].all()


@pytest.mark.parametrize("later_bad", LATER)
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.data(), rankings_of(4), st.sampled_from(["none", "lower", "upper"]))
def test_no_end_of_a_session_leaves_the_bounds_and_no_sign_that_is_sure_changes(later_bad, data, rankings, weight):
    said, bad, seen = data.draw(sessions(4, 8).filter(lambda session: session[0] or session[1]))
    ends = oracle.ends(4, said, bad, seen, later_bad)
    bounds = difference_bounds(
        state_of(4, said, bad, seen), Systems.of(rankings, 4, weight=weight), later_bad=later_bad
    )
    assert_safe(bounds, differences(rankings, ends, weight))


N = 6
ORDERS = np.array(list(permutations(range(N))))  # best first
PLACES = np.argsort(ORDERS, axis=1)
BAD_SETS = np.array([[(code >> d) & 1 for d in range(N)] for code in range(2**N)], bool)


def scores_of_all_ends(systems):
    """(orders, Bad sets, systems) scores if documents have that order and those of that set are Bad at first sight."""
    right, total = np.zeros((2, ORDERS.shape[0], BAD_SETS.shape[0], systems.n))
    for a, b in combinations(range(N), 2):
        first = PLACES[:, None, a] < PLACES[:, None, b]
        first = np.where(BAD_SETS[:, a] != BAD_SETS[:, b], BAD_SETS[:, b], first)
        counts = ~(BAD_SETS[:, a] & BAD_SETS[:, b])
        weight = np.where(first[..., None], systems.above[a, b], systems.above[b, a])
        right += weight * counts[None, :, None]
        total += systems.either[a, b] * counts[None, :, None]
    return right / np.where(total > 0, total, np.inf)


@pytest.mark.parametrize("later_bad", ["unseen", pytest.param("none", marks=pytest.mark.nightly)])
@settings(max_examples=8)
@given(
    rankings_of(N), st.sampled_from(["none", "lower", "upper"]), st.permutations(range(N)),
    st.sets(st.sampled_from(range(N)), max_size=3), st.integers(0, 10**6),
)  # fmt: skip
def test_of_six_documents_all_orders_and_all_bad_sets_respect_the_bounds(later_bad, rankings, weight, order, bad, seed):
    systems = Systems.of(rankings, N, weight=weight)
    scores = scores_of_all_ends(systems)
    answers, way, state = Answers.of_order(order, bad), AtRandom(seed), State.new(N)
    while True:
        possible_bad = (state.bad == BAD_SETS) | (~state.seen if later_bad == "unseen" else False)
        sets = possible_bad.all(axis=1)
        better, worse = np.nonzero(state.direct)
        fits = (PLACES[:, better] < PLACES[:, worse]).all(axis=1)
        left = scores[fits][:, sets].reshape(-1, systems.n)
        assert_safe(difference_bounds(state, systems, later_bad=later_bad), left[:, :, None] - left[:, None, :])
        if (pair := way.next(state)) is None:
            break
        marked = [d for d in pair if answers.bad[d]]
        winner = pair[0] if answers.wins[pair] else pair[1]
        state = state.mark_bad(*marked) if marked else state.judge(*pair, winner)


def test_ignoring_later_marks_would_give_a_sign_that_flips():
    # 2 is Bad. One system ranks 0 alone, the other 2 and then 1. As things stand the first is right on 0 > 2 and at
    # worst wrong on 0, 1: 1/2 against 1/3. But if 0 is Bad too, 0 > 2 is no pair any more: 0/1 against 1/2.
    state, systems = State.new(3).mark_bad(2), Systems.of([[0], [2, 1]], 3)
    today = difference_bounds(state, systems, later_bad="none")
    assert today.low[0, 1] == pytest.approx(1 / 2 - 1 / 3)
    assert today.sign[0, 1] == 1
    ends = oracle.ends(3, set(), {2}, {2}, "unseen")
    assert min(oracle.score([0], end) - oracle.score([2, 1], end) for end in ends) == -1 / 2
    for later_bad in ("unseen", "any"):
        assert np.isnan(difference_bounds(state, systems, later_bad=later_bad).sign[0, 1])


def test_bounds_by_hand():
    # 0 > 1 is known, which the first system has and the second has not; both have 1 above 2; 0, 2 is open.
    state, systems = State.new(3).judge(0, 1, 0), Systems.of([[0, 1, 2], [1, 2, 0]], 3)
    bounds = difference_bounds(state, systems, later_bad="none")
    assert (bounds.low[0, 1], bounds.high[0, 1]) == pytest.approx((0, 2 / 3))
    # wpref by the lower rank: 1/log2(3) and 1/2. E1: 0,1 .631; 0,2 .5; 1,2 .5. E2: 0,1 .5; 0,2 .5; 1,2 .631.
    w, n = 1 / np.log2(3), 1 / np.log2(3) + 1
    bounds = difference_bounds(state, Systems.of([[0, 1, 2], [1, 2, 0]], 3, weight="lower"), later_bad="none")
    worst = (w + min(0, 0.5 - w) - 0.5) / n
    best = (w + 0.5 + max(0, 0.5 - w)) / n
    assert (bounds.low[0, 1], bounds.high[0, 1]) == pytest.approx((worst, best))


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(rankings_of(6), st.permutations(range(6)), st.integers(0, 10**6), st.sampled_from(["none", "lower", "upper"]))
def test_without_marks_bounds_close_in_on_the_difference_and_end_there(rankings, order, seed, weight):
    systems, answers, way = Systems.of(rankings, 6, weight=weight), Answers.of_order(order), AtRandom(seed)
    state, before = State.new(6), Bounds(np.full((1, 1), -1.0), np.full((1, 1), 1.0))
    while True:
        now = difference_bounds(state, systems, later_bad="none")
        assert (now.low >= before.low - TINY).all()
        assert (now.high <= before.high + TINY).all()
        assert now.low == pytest.approx(-now.high.T)
        if (pair := way.next(state)) is None:
            break
        state, before = state.judge(*pair, pair[0] if answers.wins[pair] else pair[1]), now
    full = systems.scores(answers.full())
    assert now.low == pytest.approx(np.subtract.outer(full, full))
    assert now.high == pytest.approx(now.low)


@given(rankings_of(5), st.permutations(range(5)), st.integers(0, 10**6), st.sampled_from(LATER))
def test_stopping_is_allowed_exactly_when_the_bounds_say_so(rankings, order, seed, later_bad):
    systems, answers = Systems.of(rankings, 5), Answers.of_order(order)
    state = replay("random", answers, limit=seed % 8, rng=seed).state
    bounds = difference_bounds(state, systems, later_bad=later_bad)
    assert may_stop(state, systems, later_bad=later_bad).stop == bounds.settled
    assert bounds.settled == all(not np.isnan(bounds.sign[e, f]) for e in range(systems.n) for f in range(systems.n))


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 10**6), st.sampled_from(["any", "unseen", "none"]))
def test_whether_to_stop_does_not_depend_on_what_was_asked_before(seed, later_bad):
    rng = np.random.default_rng(seed)
    rankings = [rng.permutation(5)[:4].tolist() for _ in range(4)]
    kept, order = Systems.of(rankings, 5), rng.permutation(5).tolist()
    states = [State.new(5)]
    for _ in range(6):
        a, b = rng.choice(5, 2, replace=False).tolist()
        states.append(states[-1].judge(a, b, min(a, b, key=order.index)))
    for number in rng.integers(len(states), size=10):
        fresh = may_stop(states[number], Systems.of(rankings, 5), later_bad=later_bad).stop
        assert may_stop(states[number], kept, later_bad=later_bad).stop == fresh
        assert fresh == difference_bounds(states[number], kept, later_bad=later_bad).settled


def test_equal_systems_are_settled_before_anything_was_judged():
    decision = may_stop(State.new(4), Systems.of([[0, 1, 2], [0, 1, 2]], 4))
    assert decision.stop or np.isnan(decision.sign[0, 1])
    assert may_stop(State.new(4), Systems.of([[0, 1, 2], [0, 1, 2]], 4), later_bad="none").sign[0, 1] == 0


# ---- drawn completions


def chances_of_rows(n, said, p):
    """{row: probability} of putting documents into a row one after the other, in every order of doing so."""
    found = Counter()
    for order in permutations(range(n)):
        rows = {(): 1.0}
        for new in order:
            longer = Counter()
            for row, chance in rows.items():
                places = {}
                for at in range(len(row) + 1):
                    above, below = row[:at], row[at:]
                    if all((new, d) not in said for d in above) and all((d, new) not in said for d in below):
                        places[at] = np.prod([p[d, new] for d in above] + [p[new, d] for d in below])
                for at, weight in places.items():
                    longer[(*row[:at], new, *row[at:])] += chance * weight / sum(places.values())
            rows = longer
        for row, chance in rows.items():
            found[row] += chance / len(list(permutations(range(n))))
    return found


@pytest.mark.parametrize("said", [set(), {(0, 1)}, {(1, 2), (2, 0), (1, 0)}])
def test_completions_are_drawn_with_the_chances_they_are_said_to_have(said):
    p, n, samples = np.full((4, 4), 0.5), 4, 20_000
    state = State.new(n)
    for winner, loser in said:
        state = state.judge(winner, loser, winner)
    every = [list(order) for order in permutations(range(n))]
    drawn = sampled_scores(state, Systems.of(every, n), n_completions=samples, rng=5)
    truth = Counter(tuple(every[best]) for best in drawn.argmax(axis=1))  # ppref is 1 for that order alone
    assert (drawn.max(axis=1) == 1).all()
    for row, chance in chances_of_rows(n, said, p).items():
        assert abs(truth[row] / samples - chance) <= 5 * np.sqrt(chance * (1 - chance) / samples)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(st.data(), rankings_of(4), st.sampled_from(LATER), st.integers(0, 100))
def test_every_drawn_completion_is_a_possible_end(data, rankings, later_bad, seed):
    said, bad, seen = data.draw(sessions(4, 5))
    order_fits = {(a, b) for a, b in oracle.closure(said)}
    assume(not any((b, a) in order_fits for b in bad for a in range(4)))  # a Bad winner is a rarity
    ends = oracle.ends(4, said, bad, seen, later_bad)
    possible = {tuple(round(oracle.score(ranking, end), 9) for ranking in rankings) for end in ends}
    drawn = sampled_scores(
        state_of(4, said, bad, seen),
        Systems.of(rankings, 4),
        n_completions=50,
        rng=seed,
    )
    assert {tuple(round(float(x), 9) for x in row) for row in drawn} <= possible


def test_being_sure_enough_stops_earlier_than_proof_and_says_how_sure():
    state, systems = State.new(3).judge(0, 1, 0), Systems.of([[0, 1, 2], [1, 2, 0]], 3)
    assert not may_stop(state, systems, later_bad="none").stop
    # Equal only if 2 is better than 0: one in three, or about so.
    likely = may_stop(state, systems, later_bad="none", stop_probability=0.6, rng=1)
    assert likely.stop
    assert likely.sign[0, 1] == 1
    assert 0.6 < likely.probability[0, 1] < 0.8
    assert not may_stop(state, systems, later_bad="none", stop_probability=0.9, rng=1).stop
    assert likely.expected is not None
    assert likely.expected.argmax() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop_probability": 0.5}, "stop_probability=0.5"),
        ({"later_bad": "some"}, "later_bad='some'"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    state = State.new(3).judge(0, 1, 0).judge(0, 2, 0) if options.get("later_bad") else State.new(3)
    systems = Systems.of([[0, 1], [0, 1, 2]], 3) if options.get("later_bad") else Systems.of([[0], [1]], 3)
    with pytest.raises(ArgumentError, match=message):
        may_stop(state, systems, **options)
