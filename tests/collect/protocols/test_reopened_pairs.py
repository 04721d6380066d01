"""Pairs that are opened again: the new answer takes the place of the first, and the same pairs are asked."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qrowd.collect.protocols.events import Event, Prefer, Refusal, Undo
from qrowd.collect.protocols.protocol import Material
from qrowd.collect.protocols.settings import PreferenceSettings
from qrowd.collect.protocols.views import PairView
from rooms import PREFERENCE, Room

ORDERS = ("keep-preferred", "merge", "utility")


def revised(room, one, pair, choice, definitely=False):
    """Another answer to a pair, as the server takes it; whether it is another one."""
    event = PREFERENCE.revise(room.tasks[one], room.states[one], Prefer(pair, choice, definitely, 2.5))
    if event is not None:
        room.take(one, (event,))
    return event is not None


def topic_judged(seed, order, sharing, redundancy, share_revised):
    """Three who judge a topic in turns and take back some answers; some answers are given anew on the way."""
    rng, of_revisions = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    n = int(rng.integers(2, 7))
    rankings = tuple(tuple(int(i) for i in rng.permutation(n)) for _ in range(2))
    options = PreferenceSettings(
        order=order, sharing=sharing, pair_redundancy=redundancy, redundancy=redundancy, duplicates=True,
        definitely=True, stop=bool(seed % 2),
    )  # fmt: skip
    room = Room(Material(tuple(range(n)), systems=rankings), options, seed)
    for one in (1, 2, 3):
        room.enter(one)
    for _ in range(200):
        if not (working := room.at_work()):
            break
        one = working[int(rng.integers(len(working)))]
        view, chance = room.view(one), rng.random()
        if chance < 0.1 and view.may_undo:
            room.act(one, Undo(view.pair))
        else:
            choice = ("left", "right", "duplicates")[int(rng.choice(3, p=(0.45, 0.45, 0.1)))]
            definitely = bool(choice != "duplicates" and rng.random() < 0.3)
            room.act(one, Prefer(view.pair, choice, definitely, 1.5))
        whose = int(of_revisions.integers(1, 4))
        pairs = sorted(PREFERENCE.reopenable(room.tasks[whose], room.states[whose]))
        if pairs and of_revisions.random() < share_revised:
            pair = pairs[int(of_revisions.integers(len(pairs)))]
            revised(room, whose, pair, ("left", "right", "duplicates")[int(of_revisions.integers(3))])
    return room


def standing(log, one):
    """The slow oracle: the preferences of an assessor as they stand, by walking through what happened."""
    said = []
    for who, event, _ in log:
        if who != one:
            continue
        data = event.data
        if event.kind in ("preferred", "marked_bad"):
            said.append([data["pair"], data["left"], data["right"], data.get("choice"), data.get("strength")])
        elif event.kind == "undone":
            said.pop()
        elif event.kind == "preferred_again":
            for row in said:
                if row[0] == data["pair"]:
                    row[3:] = [data["choice"], data["strength"]]
    return [tuple(row[1:]) for row in said if row[3] is not None]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(ORDERS), st.sampled_from([("own", 1), ("shared", 1), ("shared", 2)]))
@example(seed=18, order="utility", way=("shared", 2))  # answers that contradict each other
@example(seed=138, order="keep-preferred", way=("shared", 2))
def test_answers_given_anew_change_the_rows_and_nothing_of_what_is_asked(seed, order, way):
    sharing, redundancy = way
    plain = topic_judged(seed, order, sharing, redundancy, 0.0)
    room = topic_judged(seed, order, sharing, redundancy, 0.6)
    assert [entry for entry in room.log if entry[1].kind != "preferred_again"] == plain.log
    for one, state in room.states.items():
        assert room.view(one) == plain.view(one)
        rows = [(row.left_id, row.right_id, row.choice, row.strength) for row in room.rows(one).preferences]
        assert rows == standing(room.log, one)
        assert room.rows(one).bad == plain.rows(one).bad
        assert replace(state, revised=()) == plain.states[one]
        again = PREFERENCE.from_json(json.loads(json.dumps(PREFERENCE.to_json(state))))
        assert again == state


def test_a_state_without_revisions_is_stored_as_before():
    room = Room(Material((3, 5)), PreferenceSettings(stop=False, order="keep-preferred"))
    room.enter(1)
    assert "revised" not in PREFERENCE.to_json(room.states[1])


@pytest.fixture
def judged():
    """One assessor who has preferred the left document three times, and is shown the fourth pair."""
    settings = PreferenceSettings(stop=False, order="keep-preferred", duplicates=True, definitely=True, bad=True)
    room = Room(Material((3, 5, 7, 9, 11)), settings)
    room.enter(1)
    for pair in range(3):
        room.act(1, Prefer(pair, "left", False, 2.0), wait=4.0)
    return room


def test_the_page_of_an_opened_pair_shows_it_as_it_was_with_the_answer_and_the_reason(judged):
    first = judged.rows(1).preferences[1]
    view = PREFERENCE.reopened_view(judged.tasks[1], judged.states[1], 1, "See the table.")
    assert isinstance(view, PairView)
    assert (view.pair, view.left, view.right) == (1, first.left_id, first.right_id)
    assert (view.reopened, view.answer, view.definite) == ("See the table.", "left", False)
    assert not view.may_undo
    assert not view.may_mark_bad
    assert view.duplicates
    assert view.definitely


def test_seconds_of_a_second_look_are_those_of_the_browser_and_its_time_is_that_of_the_last_answer(judged):
    judged.clock += 100
    assert revised(judged, 1, 1, "right", definitely=True)
    row = judged.rows(1).preferences[1]
    assert (row.choice, row.strength, row.seconds, row.active, row.time) == ("right", 2, 6.5, 4.5, judged.clock)
    assert not revised(judged, 1, 1, "right", definitely=True)  # which it says already
    assert revised(judged, 1, 1, "left")
    assert (judged.rows(1).preferences[1].choice, judged.rows(1).preferences[1].strength) == ("left", 1)


def test_an_answer_that_is_taken_back_takes_its_revision_with_it(judged):
    assert revised(judged, 1, 2, "right")
    judged.act(1, Undo(judged.view(1).pair))
    assert judged.states[1].revised == ()
    view = judged.view(1)
    judged.act(1, Prefer(view.pair, "left"))
    assert [row.choice for row in judged.rows(1).preferences] == ["left"] * 3


@pytest.mark.parametrize(
    ("choice", "definitely", "code"), [("neither", False, "choice"), ("duplicates", True, "definitely")]
)
def test_what_an_assessor_cannot_say_of_a_pair_they_cannot_say_of_an_opened_one(judged, choice, definitely, code):
    with pytest.raises(Refusal) as refusal:
        PREFERENCE.revise(judged.tasks[1], judged.states[1], Prefer(1, choice, definitely))
    assert refusal.value.code == code


def test_bad_marks_are_not_opened_again_and_a_revision_of_no_answer_changes_nothing(judged):
    from qrowd.collect.protocols.events import MarkBad

    pair = judged.view(1).pair
    judged.act(1, MarkBad(pair, "right" if judged.states[1].current.markable[1] else "left"))
    assert PREFERENCE.reopenable(judged.tasks[1], judged.states[1]) == {0, 1, 2}
    data = {"pair": pair, "left": 3, "right": 5, "choice": "left", "strength": 1, "active": None}
    state = judged.states[1]
    assert PREFERENCE.evolve(judged.tasks[1], state, Event("preferred_again", data), 1.0) == state
