"""Without chains and without marks as preferences: what is known, what may still come, and what a judgment tells."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import scheduling as oracle
from qrowd.preferences.scheduling import State, Systems, difference_bounds, expected_utility

N = 4
PAIRS = list(combinations(range(N), 2))
orders = st.permutations(range(N))


@st.composite
def states(draw, least=0):
    """What was said of four documents: every pair at most once, none of a document after it was marked."""
    said, marked = {}, set()
    for pair in draw(st.lists(st.sampled_from(PAIRS), unique=True, min_size=least, max_size=5)):
        if not marked & set(pair):
            action = draw(st.sampled_from(["first", "second", "mark"]))
            if action == "mark":
                marked.add(pair[draw(st.integers(0, 1))])
            else:
                said[pair] = pair if action == "first" else pair[::-1]
    state = State.new(N, transitive=False, bad_loses=False)
    for winner, loser in said.values():
        state = state.judge(winner, loser, winner=winner)
    return state.mark_bad(*sorted(marked)) if marked else state


def pairs_of(matrix):
    return frozenset((int(a), int(b)) for a, b in np.argwhere(matrix))


def ends(state, later_bad):
    """All sets of preferences that asking the open pairs in any order may end with."""
    reached = {}

    def follow(state):
        # In whatever order it came about; what was seen matters only where no seen document is marked any more.
        so_far = (state.direct.tobytes(), state.bad.tobytes(), later_bad == "unseen" and state.seen.tobytes())
        if so_far not in reached:
            shown = [tuple(pair) for pair in state.open_pairs().tolist()]
            reached[so_far] = set() if shown else {pairs_of(state.direct)}
            for a, b in shown:
                reached[so_far] |= follow(state.judge(a, b, winner=a)) | follow(state.judge(a, b, winner=b))
                for d in (a, b):
                    if later_bad == "any" or (later_bad == "unseen" and not state.seen[d]):
                        reached[so_far] |= follow(state.mark_bad(d))
        return reached[so_far]

    return follow(state)


@given(states())
def test_nothing_is_known_but_what_was_said_and_no_bad_document_is_asked_about(state):
    assert pairs_of(state.known) == pairs_of(state.direct)
    for a, b in PAIRS:
        judged = state.direct[a, b] or state.direct[b, a]
        assert state.open[a, b] == (not judged and not state.bad[a] and not state.bad[b])


@settings(max_examples=8)
@given(states(least=2), st.sampled_from(["any", "unseen", "none"]), orders, orders)
def test_no_end_lies_outside_the_bounds(state, later_bad, first, second):
    rankings, possible = [first, second[:3]], ends(state, later_bad)
    for weight in ("none", "lower"):
        bounds = difference_bounds(state, Systems.of(rankings, N, weight=weight), later_bad=later_bad)
        for end in possible:
            one, two = (oracle.score(ranking, end, weight) for ranking in rankings)
            assert bounds.low[0, 1] - 1e-9 <= one - two <= bounds.high[0, 1] + 1e-9


@given(states(), st.sampled_from(["change", "settled", "printed"]))
def test_a_judgment_tells_of_its_own_pair_alone(state, utility):
    systems = Systems.of([[0, 1, 2, 3], [2, 0, 3, 1]], N)
    value = expected_utility(state, systems, utility=utility)
    disagree = {(a, b) for a, b in PAIRS if [0, 1, 2, 3].index(a) < [0, 1, 2, 3].index(b)
                and [2, 0, 3, 1].index(a) > [2, 0, 3, 1].index(b)}  # fmt: skip
    for a, b in PAIRS:
        if not state.open[a, b]:
            assert value[a, b] == -1
        else:
            assert (value[a, b] > 0) == ((a, b) in disagree)


@pytest.mark.parametrize("bad_loses", [True, False])
def test_a_mark_is_a_preference_for_each_other_document_or_for_none(bad_loses):
    state = State.after(3, [(0, 1)], [2], transitive=False, bad_loses=bad_loses)
    assert pairs_of(state.known) == ({(0, 1), (0, 2), (1, 2)} if bad_loses else {(0, 1)})
    assert not state.open.any()
    scores = Systems.of([[0, 2, 1], [2, 1, 0]], 3).scores(state)
    assert scores.tolist() == ([pytest.approx(2 / 3), 0] if bad_loses else [1, 0])
    codes = {(a, b): state.outcomes("none")[a, b] for a, b in product(range(3), repeat=2)}
    assert sum(codes.values()) == (2 if bad_loses else 0)
