"""Orders and stops against answers that are known beforehand."""

import gzip
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.model.preferences import Preferences
from qrowd.preferences.scheduling import ORDERS, Systems
from qrowd_papers.preferences.replays import (
    FIGURE_2,
    PROVEN,
    Answers,
    Condition,
    error_and_regret,
    judgments_needed,
    replay,
    simulate_topic,
)


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 3.0]), st.sampled_from([0.0, 0.2, 0.5]), st.integers(2, 4))
def test_a_proven_stop_is_never_wrong_and_never_later(seed, noise, bad, systems):
    topic = simulate_topic(n_systems=systems, noise=noise, bad_share=bad, rng=seed)
    for name in ("utility", "kept", "insertion", "random"):
        whole = replay(name, topic.answers, topic.systems, rng=seed)
        for stop in (PROVEN, {"later_bad": "any"}):
            found = replay(name, topic.answers, topic.systems, stop=stop, rng=seed)
            assert found.n_judged <= whole.n_judged
            assert found.regret < 1e-12  # the same sum in another order, here and below
            assert found.error < 1e-12


@pytest.mark.parametrize(
    "order",
    [pytest.param(one, marks=[pytest.mark.nightly] * (one not in ("utility", "merge", "random"))) for one in ORDERS],
)
def test_the_same_seed_replays_the_same(order):
    topic, seed = simulate_topic(rng=7), 8
    stop = {**PROVEN, "stop_probability": 0.9}
    one, two = (replay(order, topic.answers, topic.systems, stop=stop, rng=seed) for _ in range(2))
    assert one.shown.tolist() == two.shown.tolist()
    assert (one.n_judged, one.error, one.regret) == (two.n_judged, two.error, two.regret)


def test_judgments_are_counted_pair_by_pair_and_mark_by_mark():
    found = replay("all", Answers.of_order(range(5), bad=[3, 4]), transitive=False, rng=4)
    assert found.n_judged == 3 + 2
    assert np.isnan(found.error)


def test_regret_is_what_the_chosen_system_lacks():
    # Nothing was asked: both score 0 and the first one is chosen.
    error, regret = error_and_regret(np.zeros(2), np.array([0, 2 / 3]), None)
    assert (regret, error) == (pytest.approx(2 / 3), 1)


def test_answers_that_go_in_circles_can_make_a_stop_wrong():
    # 0 > 1 > 2 > 0: chains say 0 > 2 and never ask. So an error is possible, and is seen.
    answers = Answers(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], bool), np.zeros(3, bool))
    systems = Systems.of([[0, 2], [2, 0]], 3)
    found = [replay("all", answers, systems, stop={"later_bad": "none"}, rng=seed).error for seed in range(12)]
    assert set(found) == {0, 1}


# ---- figure 2


def made_like_the_papers(n_topics, **options):
    """Three systems' first five each, the systems more or less alike."""
    noise = np.random.default_rng(8).uniform(0.1, 3, n_topics)
    return [simulate_topic(noise=float(x), rng=i, **options) for i, x in enumerate(noise)]


def test_a_simulated_topic_is_made_like_the_papers():
    topics = made_like_the_papers(60)
    sizes = [topic.answers.n_documents for topic in topics]
    assert min(sizes) >= 5
    assert max(sizes) <= 15
    for topic, n in zip(topics, sizes, strict=True):
        assert (topic.systems.ranks <= 6).all()
        assert (topic.systems.ranks < 6).any(axis=0).all()  # every document was returned by somebody
        assert topic.answers.bad.sum() == round(0.2 * n)
        worst = topic.answers.wins.sum(axis=1).argsort()[: round(0.2 * n)]
        assert topic.answers.bad[worst].all()


def test_the_curves_of_figure_2_lie_in_the_papers_order():
    curves = judgments_needed(made_like_the_papers(10), rng=2)
    mean = {}
    for condition in FIGURE_2:
        here = curves.condition == condition.name
        n = curves.documents[here]
        if condition.name == "all pairs":
            assert curves.judgments[here].tolist() == (n * (n - 1) / 2).tolist()
        if condition.name == "sorting":
            assert (curves.judgments[here] <= [ceil(m * log2(m)) for m in n]).all()
        mean[condition.name] = np.average(curves.per_document[here], weights=curves.topics[here])
        assert curves.error[here].max() == 0
    assert list(mean) == sorted(mean, key=mean.get, reverse=True)
    frame = curves.to_frame()
    assert frame.columns.tolist()[:4] == ["condition", "documents", "topics", "judgments"]
    assert len(frame) == len(curves.condition)


@pytest.mark.nightly
def test_for_two_systems_utility_with_stopping_needs_about_n_and_less_than_any_other_order():
    topics = made_like_the_papers(12, n_systems=2)
    orders = ("utility", "settled", "random", "kept", "insertion")
    curves = judgments_needed(topics, [Condition(name, name, stop=PROVEN) for name in orders], rng=2)
    needed = {
        name: np.average(curves.per_document[curves.condition == name], weights=curves.topics[curves.condition == name])
        for name in orders
    }
    assert 0.9 < needed["utility"] < 1.2
    assert max(needed["utility"], needed["settled"]) < min(needed["random"], needed["kept"], needed["insertion"])


# ---- real preferences


def test_answers_from_preferences_follow_them_and_fill_in_the_rest():
    said = Preferences.from_rows(
        [("q", "a", "b", "ann"), ("q", "b", "c", "ann"), ("q", "a", "d", "ann"), ("q", "d", "a", "bob")],
        bad=[("q", "c", "ann")],
    )
    view = said.topic_view(0)
    answers = Answers.of_preferences(view, rng=1)
    a, b, c, d = (said.documents.index(name) for name in "abcd")
    assert answers.wins[a, b]
    assert answers.wins[b, c]
    assert answers.wins[a, c]  # not asked: a won two of three, c none
    assert answers.wins[a, d]  # even: a won the greater share
    assert answers.coverage == 3 / 6
    assert answers.bad.tolist() == [name == "c" for name in said.documents]


@pytest.mark.nightly
def test_orders_replay_on_what_people_preferred_in_dl21(dl21):
    with gzip.open(dl21 / "preferences" / "crowd.txt.gz", "rt") as lines:
        columns = zip(*(line.split() for line in lines), strict=True)
        frame = dict(zip(("topic", "a", "b", "preferred"), map(list, columns), strict=True))
    preferences = Preferences.from_frame(frame, assessor="crowd")
    complete = []
    for topic in range(len(preferences.topics)):
        answers = Answers.of_preferences(preferences.topic_view(topic), rng=1)
        if answers.coverage == 1:
            complete.append(answers)
    assert len(complete) == 16
    for answers in complete:
        n = answers.n_documents
        assert replay("all", answers, transitive=False).n_judged == n * (n - 1) / 2
        assert replay("merge", answers, rng=1).n_judged <= ceil(n * log2(n))
