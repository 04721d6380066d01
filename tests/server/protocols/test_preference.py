"""Two documents at a time: one assessor alone, and many on one topic."""

import json
from dataclasses import replace
from math import nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import boards as oracle
from qrowd.preferences.scheduling import ORDERS, Systems, difference_bounds
from qrowd_papers.preferences.replays import Answers
from qrowd_server.protocols.board import Board
from qrowd_server.protocols.events import Event, GoOn, LookUp, MarkBad, Prefer, Rate, Refusal, Reply, Undo
from qrowd_server.protocols.protocol import BadRow, Material, PreferenceRow, Question
from qrowd_server.protocols.settings import PreferenceSettings
from qrowd_server.protocols.views import EndView, NoneLeftView, PairView, QuestionView, RatingView
from rooms import PREFERENCE, Room, judges_of, of_kind

NAMES = ("keep-preferred", *ORDERS)


def told(documents=(0, 1, 2, 3), question=None, systems=(), n_snippets=0, seed=0, assessors=1, **options):
    room = Room(Material(documents, question=question, systems=systems, n_snippets=n_snippets),
                PreferenceSettings(**{"stop": bool(systems)} | options), seed)  # fmt: skip
    for one in range(1, assessors + 1):
        room.enter(one)
    return room


def judged_by_many(
    seed,
    order,
    sharing,
    *,
    n=None,
    slips=0.15,
    lost=0.1,
    stop=True,
    duplicates=False,
    bad=True,
    redundancy=1,
    infer=True,
):
    """A topic judged by several who know the truth, interleaved at random, with slips of the hand and undo."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8)) if n is None else n
    documents = tuple(int(d) for d in rng.choice(50, n, replace=False))
    is_bad = (rng.random(n) < 0.2) & bad
    is_bad[rng.integers(n)] = False  # nobody can say of the last one that it is Bad, too
    answers = Answers.of_order(rng.permutation(n).tolist(), np.flatnonzero(is_bad).tolist())
    rankings = tuple(
        tuple(documents[i] for i in rng.permutation(n)[: max(1, n - 1)]) for _ in range(int(rng.integers(2, 4)))
    )
    options = PreferenceSettings(
        order=order, sharing=sharing, stop=stop, duplicates=duplicates, bad=bad, pair_redundancy=redundancy,
        redundancy=redundancy, infer=infer,
    )  # fmt: skip
    room = Room(Material(documents, systems=rankings, n_snippets=2), options, seed)
    n_assessors = int(rng.integers(1, 5))
    for one in range(n_assessors):
        room.enter(one)
    while (working := room.at_work()) or (sharing == "shared" and open_still(room)):
        if not working:
            n_assessors += 1  # the last one was lost: somebody else goes on
            room.enter(n_assessors)
            continue
        one = working[int(rng.integers(len(working)))]
        view, chance = room.view(one), rng.random()
        if chance < lost:
            room.take(one, (Event("lease_expired"),))
            del room.states[one]
        elif chance < lost + slips and view.may_undo:
            room.act(one, Undo(view.pair))
        elif chance < lost + slips + 0.05:
            room.act(one, LookUp())
        else:
            room.act(one, room.answer(one, answers, rng))
        assert len(room.log) < 60 * (n + 1) ** 2
    return room, answers


def open_still(room):
    """Whether somebody new would be asked something."""
    task = PREFERENCE.task(room.options, room.material, 1)
    events = PREFERENCE.resume(task, PREFERENCE.new(task, 0.0), room.board(-1), 0.0)
    return events[0].kind == "offered"


# ---------------------------------------------------------------------- laws


@pytest.mark.parametrize("sharing", [pytest.param("own", marks=pytest.mark.nightly), "shared"])
@pytest.mark.parametrize("order", NAMES)
@settings(max_examples=3)
@given(st.integers(0, 10**6), st.booleans())
def test_no_offer_is_removed_held_or_known_and_every_topic_ends(order, sharing, seed, infer):
    room, _ = judged_by_many(seed, order, sharing, duplicates=seed % 3 == 0, infer=infer)
    infer = room.options.infer
    for one in room.states:
        assert isinstance(room.view(one), RatingView | EndView)
        board, log = room.board(one), room.logged(one)
        again = Board.of(room.material.documents, log, infer=infer)
        assert (again.facts, again.offered) == (board.facts, board.offered)
        found = {tuple(sorted(room.material.documents[d] for d in pair)) for pair in again.state.open_pairs()}
        assert found == {tuple(sorted(pair)) for pair in oracle.open_pairs(room.material.documents, log, infer=infer)}
        for name in ("direct", "closed", "bad", "seen", "open"):
            assert np.array_equal(getattr(again.state, name), getattr(board.state, name))
        assert again.state.n_judged == board.state.n_judged


@pytest.mark.parametrize("sharing", ["own", "shared"])
@settings(max_examples=settings.default.max_examples // 5)
@given(
    st.integers(0, 10**6), st.sampled_from(NAMES), st.booleans(), st.booleans(),
)  # fmt: skip
def test_an_early_end_has_the_sign_of_complete_judgments(sharing, seed, order, infer, bad):
    room, answers = judged_by_many(seed, order, sharing, bad=bad, infer=infer)
    places = {document: place for place, document in enumerate(room.material.documents)}
    systems = Systems.of(
        [[places[d] for d in ranking] for ranking in room.material.systems], len(places), weight="lower"
    )
    scores = systems.scores(replace(answers.full(), bad_loses=room.options.infer))
    true = np.sign(np.round(np.subtract.outer(scores, scores), 9))
    for one in room.states:
        if room.states[one].ending == "stopped":
            sign = difference_bounds(room.board(one).state, systems, later_bad="none").sign
            assert np.array_equal(sign, true)
        elif room.states[one].ending == "finished" and order != "top":
            done = systems.scores(room.board(one).state)
            assert np.array_equal(np.sign(np.round(np.subtract.outer(done, done), 9)), true)


@settings(max_examples=settings.default.max_examples // 5)
@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.integers(2, 3))
def test_with_redundancy_each_pair_has_as_many_judges_and_none_twice(seed, order, redundancy):
    room, _ = judged_by_many(seed, order, "shared", redundancy=redundancy, lost=0.0)
    board = room.board(0)
    for fact in board.facts:
        if fact.kind != "bad":
            judges = judges_of(board, fact)
            assert len(judges) == len(set(judges)) <= redundancy
    again = Board.of(room.material.documents, room.log, pair_redundancy=redundancy, infer=room.options.infer)
    assert np.array_equal(again.state.closed, board.state.closed)
    assert np.array_equal(again.state.open, board.state.open)


@settings(max_examples=settings.default.max_examples // 5)
@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.sampled_from(["own", "shared"]))
def test_folding_the_log_gives_the_same_state_and_json_gives_it_back(seed, order, sharing):
    room, _ = judged_by_many(seed, order, sharing)
    for one, state in room.states.items():
        task = room.tasks[one]
        again = PREFERENCE.new(task, 0.0)
        for other, event, at in room.log:
            if other == one:
                again = PREFERENCE.evolve(task, again, event, at)
                through = json.loads(json.dumps(PREFERENCE.to_json(again)))
                assert PREFERENCE.from_json(through) == again
        assert again == state


@settings(max_examples=settings.default.max_examples // 5)
@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.booleans())
def test_at_most_so_many_pairs_come_as_the_page_says(seed, order, bad):
    room, _ = judged_by_many(seed, order, "own", slips=0.0, lost=0.0, bad=bad)
    for one in room.states:
        said = [event for other, event, _ in room.log if other == one and event.kind == "offered"]
        assert all(event.data["at_most"] >= len(said) - number for number, event in enumerate(said))


@settings(max_examples=settings.default.max_examples // 5)
@given(st.integers(0, 10**6), st.sampled_from(NAMES))
def test_an_assessor_alone_needs_no_board(seed, order):
    room, _ = judged_by_many(seed, order, "own", slips=0.0, lost=0.0)
    for one in room.states:
        task, state = room.tasks[one], PREFERENCE.new(room.tasks[one], 0.0)
        events, kinds = PREFERENCE.resume(task, state, None, 0.0), []
        while True:
            for event in events:
                state = PREFERENCE.evolve(task, state, event, 0.0)
                kinds.append((event.kind, event.data.get("left"), event.data.get("right")))
            if state.phase != "pairs":
                break
            past = [event for other, event, _ in room.log if other == one and event.kind in ("preferred", "marked_bad")]
            event = past[len(state.answers)]
            pair = state.current.pair
            action = (
                MarkBad(pair, event.data["side"]) if event.kind == "marked_bad" else Prefer(pair, event.data["choice"])
            )
            events = PREFERENCE.decide(task, state, action, 0.0)
        logged = [(e.kind, e.data.get("left"), e.data.get("right")) for other, e, _ in room.log if other == one]
        assert kinds == [entry for entry in logged if entry[0] != "looked_up"]


# ---------------------------------------------------------------------- the preferred document stays


def test_the_preferred_document_keeps_its_side_and_meets_the_next_of_the_fixed_order():
    room = told(tuple(range(6)), seed=3)
    sequence = room.tasks[1].documents
    view = room.view(1)
    assert {view.left, view.right} == set(sequence[:2])
    assert (view.new, view.pair, view.at_most, view.may_undo) == ("both", 0, 15, False)
    kept = view.left
    for number in range(1, 5):
        room.act(1, Prefer(room.view(1).pair, "left"))
        view = room.view(1)
        assert (view.left, view.right, view.new, view.pair) == (kept, sequence[number + 1], "right", number)


def test_where_the_new_document_wins_it_stays_on_its_side():
    room = told(tuple(range(5)), seed=1)
    right = room.view(1).right
    room.act(1, Prefer(0, "right"))
    assert (room.view(1).right, room.view(1).new) == (right, "left")


@pytest.mark.parametrize("systems", [(), ((0, 1, 2, 3, 4),)])
@pytest.mark.parametrize("order", ["utility", "settled", "printed"])
def test_with_fewer_than_two_systems_an_order_that_compares_them_keeps_the_preferred_document(order, systems):
    shown = []
    for name in (order, "keep-preferred"):
        room = told(tuple(range(5)), seed=2, order=name, systems=systems)
        shown.append([])
        while room.at_work():
            view = room.view(1)
            shown[-1].append((view.left, view.right))
            room.act(1, Prefer(view.pair, "left" if view.left < view.right else "right"))
    assert shown[0] == shown[1]


def test_all_asks_every_pair_once_and_keeps_the_preferred_document_on_the_page():
    systems = (tuple(range(6)), tuple(range(5, -1, -1)))
    room = told(tuple(range(6)), seed=3, order="all", systems=systems)
    assert not room.options.infer
    assert not room.options.stop
    shown = []
    while room.at_work():
        view = room.view(1)
        shown.append(frozenset((view.left, view.right)))
        winner = max(view.left, view.right)
        room.act(1, Prefer(view.pair, "left" if view.left == winner else "right"))
        on_page = {room.states[1].current.left, room.states[1].current.right}
        assert winner in on_page or all({winner, other} in shown for other in range(6) if other != winner)
    assert len(shown) == len(set(shown)) == 15
    assert room.states[1].ending == "finished"


@pytest.mark.parametrize("side", ["left", "right"])
def test_bad_acts_at_once_and_the_other_document_stays_in_place(side):
    room = told(tuple(range(5)), seed=1)
    before = room.view(1)
    other, stays = ("right", before.right) if side == "left" else ("left", before.left)
    events = room.act(1, MarkBad(0, side))
    assert [event.kind for event in events] == ["marked_bad", "offered"]
    assert getattr(room.view(1), other) == stays
    assert room.view(1).new == side
    gone = getattr(before, side)
    assert of_kind(room.rows(1), BadRow) == (BadRow(gone, 0, 1.0, 1.0),)
    assert room.board(1).state.bad[gone]


def test_where_all_are_bad_the_topic_ends():
    room = told((4, 7, 9))
    room.act(1, MarkBad(0, "left"))
    assert [event.kind for event in room.act(1, MarkBad(1, "left"))] == ["marked_bad", "all_bad"]
    assert isinstance(room.view(1), RatingView)
    room = told((4, 7, 9))
    room.act(1, Prefer(0, "left"))
    room.act(1, MarkBad(1, "left"))
    assert [event.kind for event in room.act(1, MarkBad(2, "left"))] == ["marked_bad", "finished"]


# ---------------------------------------------------------------------- undo


def test_undo_asks_the_pair_again_on_the_same_sides_and_the_log_keeps_both():
    room = told(tuple(range(5)))
    first = room.view(1)
    room.act(1, Prefer(0, "left"))
    assert room.view(1).may_undo
    assert (room.view(1).number, room.view(1).at_most) == (2, 9)
    events = room.act(1, Undo(1))
    assert [event.kind for event in events] == ["undone", "offered"]
    assert events[0].data["pair"] == 0
    view = room.view(1)
    assert (view.left, view.right, view.pair, view.may_undo) == (first.left, first.right, 2, False)
    assert of_kind(room.rows(1), PreferenceRow) == ()
    assert (view.number, view.at_most) == (first.number, first.at_most) == (1, 10)
    assert not room.board(1).state.closed.any()
    room.act(1, Prefer(2, "right"))
    assert [row.choice for row in of_kind(room.rows(1), PreferenceRow)] == ["right"]
    kinds = [event.kind for _, event, _ in room.log]
    assert kinds == ["offered", "preferred", "offered", "undone", "offered", "preferred", "offered"]


def test_several_steps_can_be_taken_back_down_to_the_first_and_marks_as_well():
    room = told(tuple(range(5)))
    first = room.view(1)
    room.act(1, MarkBad(0, "left"))
    room.act(1, Prefer(1, "right", definitely=True))
    room.act(1, Undo(2))
    room.act(1, Undo(3))
    assert (room.view(1).left, room.view(1).right) == (first.left, first.right)
    assert not room.board(1).state.bad.any()
    with pytest.raises(Refusal, match="nothing to take back") as refused:
        room.act(1, Undo(4))
    assert refused.value.code == "undo"


def test_nobody_takes_back_what_another_said():
    room = told(tuple(range(6)), sharing="shared", assessors=2)
    room.act(1, Prefer(0, "left"))
    with pytest.raises(Refusal, match="nothing to take back"):
        room.act(2, Undo(0))
    room.act(2, Prefer(0, "left"))
    room.act(1, Undo(1))
    assert [fact.assignment for fact in room.board(1).facts] == [2]


# ---------------------------------------------------------------------- together


def test_another_ones_bad_withdraws_the_pair_and_says_so_once():
    room = told((0, 1, 2), sharing="shared", order="all", assessors=2)
    first, second = room.view(1), room.view(2)
    both = ({first.left, first.right} & {second.left, second.right}).pop()
    pair = second.pair
    room.act(1, MarkBad(0, "left" if first.left == both else "right"))
    kinds = [event.kind for one, event, _ in room.log if one == 2]
    assert kinds[:2] == ["offered", "withdrawn"]
    assert room.states[2].ending == "waiting" or room.view(2).removed
    assert len(of_kind(room.rows(2), PreferenceRow)) == 0
    with pytest.raises(Refusal):
        room.act(2, Prefer(pair, "left"))


def test_the_page_after_a_withdrawn_pair_is_told_once():
    room = told(tuple(range(8)), sharing="shared", order="all", assessors=2)
    first, second = room.view(1), room.view(2)
    both = ({first.left, first.right} & {second.left, second.right}).pop()
    room.act(1, MarkBad(0, "left" if first.left == both else "right"))
    assert room.view(2).removed
    assert both not in (room.view(2).left, room.view(2).right)
    room.act(2, Prefer(1, "left"))
    assert not room.view(2).removed


def test_who_finds_all_open_pairs_with_others_is_done():
    room = told((5, 6), sharing="shared", assessors=2)
    assert isinstance(room.view(2), EndView)
    assert room.states[2].ending == "waiting"
    assert PREFERENCE.status(room.states[2]) == "completed"
    room.act(1, Prefer(0, "left"))
    assert room.states[1].ending == "finished"


def test_a_lost_pair_is_free_for_others():
    room = told((5, 6), sharing="shared", assessors=1)
    room.take(1, (Event("lease_expired"),))
    room.enter(2)
    assert {room.view(2).left, room.view(2).right} == {5, 6}


def test_resuming_where_nothing_changed_does_nothing():
    room = told((5, 6, 7), sharing="shared", assessors=1)
    assert room.resume(1) == ()
    other = ({5, 6, 7} - {room.view(1).left, room.view(1).right}).pop()
    assert room.resume(1, other) == ()
    room.act(1, MarkBad(0, "left"))
    room.act(1, Prefer(1, "left"))
    assert room.resume(1) == ()


# ---------------------------------------------------------------------- the stop, and the end


def test_systems_that_rank_alike_need_no_judgment_at_all():
    room = told((0, 1, 2), systems=((0, 1, 2), (0, 1, 2)), bad=False)
    assert room.view(1) == EndView("completed", early=True)


def test_the_topic_ends_as_soon_as_the_systems_are_decided():
    room = told((0, 1, 2), systems=((0, 1, 2), (0, 2, 1)), measure="ppref", order="utility", bad=False)
    view = room.view(1)
    assert {view.left, view.right} == {1, 2}  # all that the two do not agree about
    assert [event.kind for event in room.act(1, Prefer(0, "left"))] == ["preferred", "stopped"]
    room.act(1, Rate(4, 5, "clear"))
    assert room.view(1) == EndView("completed", early=True)


@pytest.mark.parametrize(("stop", "pairs"), [(True, 1), (False, 2)])
def test_without_the_rule_every_pair_is_asked(stop, pairs):
    room = told((0, 1, 2), systems=((0, 1, 2), (0, 2, 1)), measure="ppref", order="utility", bad=False, stop=stop)
    while isinstance(room.view(1), PairView):
        view = room.view(1)
        room.act(1, Prefer(view.pair, "left" if view.left < view.right else "right"))
    assert len(of_kind(room.rows(1), PreferenceRow)) >= pairs
    assert room.states[1].ending == ("stopped" if stop else "finished")


def test_without_rating_the_last_pair_is_the_end():
    room = told((0, 1), rating=False)
    assert [event.kind for event in room.act(1, Prefer(0, "left"))] == ["preferred", "finished", "completed"]
    assert room.view(1) == EndView("completed")
    with pytest.raises(Refusal, match="finished") as refused:
        room.act(1, Undo(0))
    assert refused.value.code == "over"


def test_what_was_said_can_be_counted():
    room = told((0, 1, 2))
    one = room.view(1)
    room.act(1, Prefer(0, "left", definitely=True, active=2.5), wait=4.0)
    room.act(1, MarkBad(1, room.view(1).new), wait=3.0)
    assert of_kind(room.rows(1), PreferenceRow) == (PreferenceRow(0, one.left, one.right, "left", 2, 4.0, 2.5, 4.0),)
    assert [(row.number, row.seconds, row.time) for row in of_kind(room.rows(1), BadRow)] == [(1, 3.0, 7.0)]


@pytest.mark.parametrize("active", [nan, -1.0, float("inf")])
def test_a_browsers_impossible_time_is_not_told(active):
    room = told((0, 1, 2))
    room.act(1, Prefer(0, "left", active=active))
    assert of_kind(room.rows(1), PreferenceRow)[0].active is None


def test_duplicates_are_a_row_and_are_not_asked_again():
    room = told((0, 1, 2), duplicates=True, bad=False)
    shown = []
    while isinstance(room.view(1), PairView):
        shown.append(frozenset((room.view(1).left, room.view(1).right)))
        room.act(1, Prefer(room.view(1).pair, "duplicates"))
    assert len(shown) == len(set(shown)) == 3
    assert [row.choice for row in of_kind(room.rows(1), PreferenceRow)] == ["duplicates"] * 3
    assert not room.board(1).state.known.any()


# ---------------------------------------------------------------------- question, context, refusals

QUESTION = Question("Which?", ("a", "b", "c", "d"), 2)


def test_the_question_comes_first_with_as_many_attempts_as_the_settings_say():
    room = told(question=QUESTION)
    right = room.tasks[1].options.index(2)
    wrong = (right + 1) % 4
    assert room.view(1) == QuestionView("Which?", tuple("abcd"[i] for i in room.tasks[1].options), False, 2)
    room.act(1, Reply(wrong))
    assert (room.view(1).retry, room.view(1).left) == (True, 1)
    assert [event.kind for event in room.act(1, Reply(right))] == ["replied", "offered"]
    other = told(question=QUESTION)
    other.act(1, Reply(wrong))
    assert [event.kind for event in other.act(1, Reply(wrong))] == ["replied", "screened_out"]
    assert other.view(1) == EndView("screened_out")


def test_the_context_is_logged_and_the_clock_runs_on():
    room = told((0, 1, 2), n_snippets=3)
    assert room.view(1).has_context
    assert [event.kind for event in room.act(1, LookUp(), wait=2.0)] == ["looked_up"]
    room.act(1, Prefer(0, "left"), wait=3.0)
    assert of_kind(room.rows(1), PreferenceRow)[0].seconds == 5.0


@pytest.mark.parametrize(
    ("options", "action", "code"),
    [
        ({}, Prefer(1, "left"), "stale"),
        ({}, MarkBad(7, "left"), "stale"),
        ({}, Undo(3), "stale"),
        ({}, Undo(0), "undo"),
        ({}, Prefer(0, "duplicates"), "choice"),
        ({"definitely": False}, Prefer(0, "left", True), "definitely"),
        ({"duplicates": True}, Prefer(0, "duplicates", True), "definitely"),
        ({"bad": False}, MarkBad(0, "left"), "bad"),
        ({}, LookUp(), "context"),
        ({}, GoOn(), "stale"),
        ({}, Rate(3, 3), "stale"),
    ],
)
def test_what_is_not_possible_is_refused_and_nothing_happens(options, action, code):
    room = told((0, 1, 2), **options)
    before = len(room.log)
    with pytest.raises(Refusal) as refused:
        room.act(1, action)
    assert refused.value.code == code
    assert len(room.log) == before


@pytest.mark.parametrize(
    ("rate", "field"), [(Rate(0, 3), "confidence"), (Rate(3, 6), "understanding"), (Rate(3, 3, "x" * 2001), "comment")]
)
def test_a_rating_that_makes_no_sense_is_refused(rate, field):
    room = told((0, 1))
    room.act(1, Prefer(0, "left"))
    with pytest.raises(Refusal) as refused:
        room.act(1, rate)
    assert refused.value.field == field


def test_before_its_first_pair_an_assignment_has_nothing_to_show():
    task = PREFERENCE.task(PreferenceSettings(), Material((0, 1)), 1)
    assert PREFERENCE.view(task, PREFERENCE.new(task, 0.0)) == NoneLeftView(None, False)


def test_sides_are_a_coins_choice_by_the_seed():
    sides = [told((0, 1), seed=seed).view(1).left for seed in range(40)]
    assert 8 < sum(sides) < 32
    assert sides == [told((0, 1), seed=seed).view(1).left for seed in range(40)]


def test_an_unknown_event_changes_nothing():
    room = told((0, 1))
    state = room.states[1]
    assert PREFERENCE.evolve(room.tasks[1], state, Event("elsewhere"), 1.0) == replace(state)
