"""What is known of a topic, and who is being asked what."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import boards as oracle
from qrowd.preferences.scheduling.orders import InOrder
from qrowd_server.protocols.board import Board, Fact
from qrowd_server.protocols.events import Event

DOCUMENTS = (10, 20, 30, 40)
KINDS = (
    "offered",
    "preferred",
    "duplicates",
    "marked_bad",
    "undone",
    "withdrawn",
    "lease_expired",
    "looked_up",
    "stopped",
)


@st.composite
def entries(draw):
    kind = draw(st.sampled_from(KINDS))
    left, right = draw(st.lists(st.sampled_from(DOCUMENTS), min_size=2, max_size=2, unique=True))
    choice = draw(st.sampled_from(["left", "right"]))
    data = {"left": left, "right": right, "side": choice, "choice": choice if kind == "preferred" else "duplicates"}
    return draw(st.integers(1, 4)), Event("preferred" if kind == "duplicates" else kind, data), 0.0


@st.composite
def logs(draw):
    """Anything in any order, but that nobody takes back what was never said."""
    log = []
    for entry in draw(st.lists(entries(), max_size=30)):
        if entry[1].kind != "undone" or any(fact[0] == entry[0] for fact in oracle.standing(log)):
            log.append(entry)
    return log


def numbers(pairs):
    return {tuple(sorted((DOCUMENTS[a], DOCUMENTS[b]))) for a, b in pairs}


@pytest.mark.parametrize("redundancy", [1, 2, 3])
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(logs())
def test_whatever_the_log_the_board_is_what_reading_it_from_the_start_says(redundancy, log):
    at_once = Board.of(DOCUMENTS, log, pair_redundancy=redundancy)
    step = Board(DOCUMENTS, redundancy)
    for entry in log:
        step = step.after(*entry)
        assert step.state.n_documents == 4  # worked out at every step, so that it grows
    for board in (at_once, step):
        assert numbers(board.state.open_pairs()) == oracle.open_pairs(DOCUMENTS, log, redundancy)
        asked = {one: tuple(DOCUMENTS[d] for d in offer.pair) for one, offer in board.offered.items()}
        assert asked == oracle.offers(log)
        assert {DOCUMENTS[d] for d in np.flatnonzero(board.state.bad)} == oracle.bad(log)
        for document in DOCUMENTS:
            assert set(board.holders(document)) == {one for one, pair in asked.items() if document in pair}
    assert at_once.facts == step.facts
    for name in ("direct", "closed", "bad", "seen", "open", "n_preferences"):
        assert np.array_equal(getattr(at_once.state, name), getattr(step.state, name)), name


def offered(left, right):
    return Event("offered", {"left": left, "right": right})


def preferred(left, right, choice="left"):
    return Event("preferred", {"left": left, "right": right, "choice": choice})


def test_a_pair_of_another_is_held_and_ones_own_is_not():
    board = Board.of(DOCUMENTS, [(1, offered(10, 20), 1.5), (2, offered(30, 40), 2.5)])
    assert board.for_assignment(1).unavailable() == [(2, 3)]
    assert sorted(board.for_assignment(3).unavailable()) == [(0, 1), (2, 3)]
    assert board.offered[2].since == 2.5
    assert board.for_assignment(1).may_ask((0, 1))
    assert not board.for_assignment(1).may_ask((2, 3))
    assert board.for_assignment(3).choose(InOrder()) == (0, 2)


def test_where_only_held_pairs_are_open_one_waits_and_where_none_is_all_is_finished():
    board = Board.of((10, 20), [(1, offered(10, 20), 0.0)])
    assert board.for_assignment(2).choose(InOrder()) == "waiting"
    assert board.for_assignment(1).choose(InOrder()) == (0, 1)
    board = board.after(1, preferred(10, 20), 1.0)
    assert board.for_assignment(2).choose(InOrder()) == "finished"


def test_a_pair_for_several_judges_counts_once_all_have_judged_it():
    board = Board((10, 20), pair_redundancy=3)
    for one, choice in ((1, "left"), (2, "right")):
        board = board.after(one, preferred(10, 20, choice), 0.0)
        assert board.state.open[0, 1]
        assert board.for_assignment(one).choose(InOrder()) == "waiting"
    board = board.after(3, preferred(20, 10, "left"), 0.0)
    assert board.state.known.tolist() == [[False, False], [True, False]]
    assert [fact.assignment for fact in board.facts] == [1, 2, 3]


def test_a_pair_that_several_leave_even_has_no_order_and_is_not_asked_again():
    board = Board.of((10, 20), [(1, preferred(10, 20), 0.0), (2, preferred(10, 20, "right"), 0.0)], pair_redundancy=2)
    assert not board.state.known.any()
    assert not board.state.open.any()


def test_pairs_that_others_began_come_first_the_oldest_judgment_before_what_is_only_being_asked():
    log = [(1, preferred(10, 20), 0.0), (1, preferred(30, 40), 1.0), (2, preferred(20, 30), 2.0)]
    board = Board.of(DOCUMENTS, [*log, (3, offered(10, 40), 3.0)], pair_redundancy=2)
    assert board.for_assignment(4).incomplete() == [(0, 1), (2, 3), (1, 2), (0, 3)]
    assert board.for_assignment(1).incomplete() == [(1, 2), (0, 3)]  # nobody is asked twice
    assert board.for_assignment(2).choose(InOrder()) == (0, 1)
    board = board.after(2, preferred(20, 10, "right"), 4.0)
    assert board.for_assignment(4).incomplete() == [(2, 3), (1, 2), (0, 3)]
    board = board.after(4, preferred(20, 30), 5.0)
    assert board.for_assignment(5).incomplete() == [(2, 3), (0, 3)]
    assert board.state.known[0, 2]
    assert Board.of(DOCUMENTS, log).incomplete() == []


def test_a_new_pair_is_chosen_as_if_begun_pairs_would_end_as_they_stand():
    board = Board.of(
        (10, 20, 30), [(1, preferred(10, 20), 0.0), (1, preferred(20, 30), 1.0)], pair_redundancy=2
    ).for_assignment(1)
    assert board.state.open[0, 2]
    assert not board.provisional.open.any()
    assert board.choose(InOrder()) == "waiting"  # the first and the last follow, if the second assessor agrees
    board = board.after(2, preferred(10, 20, "right"), 2.0).for_assignment(1)
    assert board.choose(InOrder()) == (0, 2)  # but the second does not
    assert board.choose(InOrder(), enough=lambda state: True) == "waiting"


def test_without_inference_only_what_was_asked_is_known_and_bad_documents_are_left_out():
    bad = Event("marked_bad", {"left": 30, "right": 40, "side": "right"})
    log = [(1, preferred(10, 20), 0.0), (1, preferred(20, 30), 1.0), (1, bad, 2.0)]
    board = Board.of(DOCUMENTS, log, infer=False)
    assert board.state.known.sum() == 2
    assert board.state.open_pairs().tolist() == [[0, 2]]
    assert Board.of(DOCUMENTS, log).state.known.sum() == 6


def test_undo_takes_back_ones_own_last_and_nothing_else():
    log = [(1, preferred(10, 20), 0.0), (2, preferred(20, 30), 0.0), (1, preferred(30, 40), 0.0)]
    board = Board.of(DOCUMENTS, [*log, (1, Event("undone"), 0.0)])
    assert board.facts == (Fact(1, "preferred", 0, 1), Fact(2, "preferred", 1, 2))
    assert sorted(fact.assignment for fact in board.facts) == [1, 2]
    assert board.state.closed[0, 2]
    assert Board(DOCUMENTS).after(1, Event("undone"), 0.0).facts == ()


def test_a_board_never_changes():
    board = Board(DOCUMENTS)
    board.after(1, preferred(10, 20), 0.0).after(2, offered(10, 30), 0.0)
    assert board.facts == ()
    assert not board.offered
    assert board.state.open.sum() == 12
