"""How many judgments a topic of 20 documents costs, and whether assessors together are as economical as one alone."""

from functools import cache

import numpy as np
import pytest

from qrowd_papers.preferences.replays import simulate_topic
from qrowd_server.protocols.events import Event, Prefer
from qrowd_server.protocols.protocol import Material
from qrowd_server.protocols.settings import PreferenceSettings
from rooms import Room, judges_of

N = 20


@cache
def topics(n, bad_share=0.2):
    """n topics of 20 documents, the first 13 that each of two systems found among 60; this share of them is Bad."""
    topics = []
    for seed in range(10_000):
        topic = simulate_topic(n_systems=2, depth=13, n_candidates=60, bad_share=bad_share, rng=seed)
        if topic.answers.n_documents == N:
            topics.append(topic)
        if len(topics) == n:
            break
    return topics


def room_of(topic, seed, **options):
    ranks, limits = topic.systems.ranks, topic.systems.limits
    rankings = tuple(
        tuple(np.argsort(row, kind="stable")[: limit - 1].tolist()) for row, limit in zip(ranks, limits, strict=True)
    )
    return Room(Material(tuple(range(N)), systems=rankings), PreferenceSettings(**options), seed, checked=False)


def judge(room, one, topic, rng, error=0.0):
    """One judgment, wrong with this probability."""
    action = room.answer(one, topic.answers, rng)
    if isinstance(action, Prefer) and rng.random() < error:
        action = Prefer(action.pair, "right" if action.choice == "left" else "left")
    room.act(one, action)


def judgments_alone(topic, seed, **options):
    room, rng = room_of(topic, seed, **options), np.random.default_rng(seed)
    room.enter(1)
    while room.at_work():
        judge(room, 1, topic, rng)
    return room.board(1).state.n_judged


@cache
def judgments_on_two_boards(n_topics, order):
    return sum(
        judgments_alone(topic, seed + 1000 * i, order=order)
        for seed, topic in enumerate(topics(n_topics))
        for i in (0, 1)
    )


def room_of_two(topic, seed, **options):
    """A board that assessors share, each pair for two of them."""
    return room_of(topic, seed, **{"sharing": "shared", "pair_redundancy": 2, "redundancy": 20} | options)


def judged_together(topic, seed, *, n_assessors, lost, **options):
    """Assessors at work at once, in random order; of those who are lost, each is followed by another one."""
    room, rng = room_of_two(topic, seed, **options), np.random.default_rng(seed)
    for one in range(n_assessors):
        room.enter(one)
    n_entered = n_assessors
    while working := room.at_work():
        one = working[int(rng.integers(len(working)))]
        if rng.random() < lost:
            room.take(one, (Event("lease_expired"),))
            del room.states[one]
            room.enter(n_entered)
            n_entered += 1
        else:
            judge(room, one, topic, rng)
    return room


def judged_in_turn(topic, seed, *, error=0.0, **options):
    """One assessor after the other, until one who comes is asked nothing."""
    room, rng = room_of_two(topic, seed, **options), np.random.default_rng(seed)
    for one in range(room.options.redundancy):
        room.enter(one)
        if not room.at_work():
            break
        while room.at_work():
            judge(room, one, topic, rng, error)
    return room


def judges_of_pairs(room):
    board = room.board(-1)
    return [judges_of(board, fact) for fact in board.facts if fact.kind != "bad"]


@pytest.mark.parametrize(
    ("n_topics", "bad_share", "by_default", "keep_preferred"),
    [
        (2, 0.2, 47, 51.5),
        *(pytest.param(8, *case, marks=pytest.mark.nightly) for case in [(0.2, 50.875, 53.375), (0.0, 54.75, 70.5)]),
    ],
)
def test_the_default_order_asks_a_perfect_assessor_at_most_55_of_190_pairs(
    n_topics, bad_share, by_default, keep_preferred
):
    needed, kept = (
        np.mean([judgments_alone(topic, seed, **order) for seed, topic in enumerate(topics(n_topics, bad_share))])
        for order in ({}, {"order": "keep-preferred"})
    )
    assert (needed, kept) == (by_default, keep_preferred)
    assert needed <= 55


@pytest.mark.parametrize(
    ("n_topics", "n_assessors", "lost", "order"),
    [
        pytest.param(*case, marks=pytest.mark.nightly)
        for case in [
            (2, 2, 0.0, "utility"),
            *(
                (8, *case)
                for case in [(2, 0.0, "utility"), (4, 0.0, "utility"), (3, 0.03, "utility"), (2, 0.0, "kept")]
            ),
        ]
    ],
)
def test_two_assessors_of_each_pair_on_one_board_need_about_as_much_as_two_boards(n_topics, n_assessors, lost, order):
    together = 0
    for seed, topic in enumerate(topics(n_topics)):
        room = judged_together(topic, seed, n_assessors=n_assessors, lost=lost, order=order)
        assert "stopped" in {state.ending for state in room.states.values()}
        assert all(len(judges) == len(set(judges)) <= 2 for judges in judges_of_pairs(room))
        together += len(room.board(-1).facts)
    assert together <= 1.15 * judgments_on_two_boards(n_topics, order)


def test_who_comes_second_judges_what_the_first_did_and_nobody_is_asked_more():
    for seed, topic in enumerate(topics(2)):
        room = judged_in_turn(topic, seed)
        first, second, third = (room.states[one] for one in range(3))
        assert [one.ending for one in (first, second, third)] == ["waiting", "stopped", "stopped"]
        assert len(third.answers) == 0
        assert len(second.answers) <= len(first.answers)


@pytest.mark.nightly
def test_what_disagreement_leaves_open_is_asked_of_whoever_comes_until_the_systems_are_settled():
    for seed, topic in enumerate(topics(2)):
        room = judged_in_turn(topic, seed, error=0.2)
        *judging, last = room.states.values()
        assert len(judging) < room.options.redundancy
        assert all(state.answers for state in judging)
        assert last.ending in ("stopped", "finished")
        assert not last.answers
        assert all(len(judges) == len(set(judges)) <= 2 for judges in judges_of_pairs(room))
