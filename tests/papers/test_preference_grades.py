"""Grades that the order by utility and the stop save."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qrowd.preferences.scheduling import Systems
from qrowd_papers.preferences.grades import (
    gains_of_answers,
    graded_until_settled,
    grades_needed,
    order_documents,
    rank_coefficients,
)
from qrowd_papers.preferences.replays import Answers, simulate_topic


def test_a_replay_by_hand():
    # 0 (utility 1) is worth 3 of at most 3, so 3 stays ahead of 1.5 (2 at rank 1 against rank 3) and 1.5 (3 at rank 3).
    gains = np.array([3.0, 0.0, 1.0, 0.0])
    coefficients = rank_coefficients(Systems.of([[0, 1, 2], [2, 1, 3]], 4), 1 / np.log2([2, 3, 4]))
    order = order_documents(coefficients, np.random.default_rng(1).permutation(4).tolist()).tolist()
    assert (order[0], order[-1]) == (0, 1)
    assert graded_until_settled(gains, coefficients, 3.0, order) == 2


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_a_proven_stop_is_never_wrong(seed, n_systems):
    rng = np.random.default_rng(seed)
    coefficients = rank_coefficients(
        Systems.of([rng.permutation(6)[:4].tolist() for _ in range(n_systems)], 6), 1 / np.log2(np.arange(2, 6))
    )
    gains, order = rng.integers(0, 4, 6).astype(float), rng.permutation(6)
    n = graded_until_settled(gains, coefficients, 3.0, order.tolist())
    graded = np.zeros(6)
    graded[order[:n]] = gains[order[:n]]
    stopped, full = coefficients @ graded, coefficients @ gains
    signs = [np.sign(np.subtract.outer(one, one).round(9)) for one in (stopped, full)]
    assert n == 6 or np.array_equal(*signs)


def test_the_document_that_wins_fewest_pairs_has_the_lowest_grade():
    assert gains_of_answers(Answers.of_order([2, 0, 1]), [1 / 3, 2 / 3], np.array([0, 1])).tolist() == [1, 0, 1]


def test_five_grades_of_two_systems_first_five_save_one_to_two_judgments_a_topic_as_the_paper_says():
    everything, by_chance, by_utility = grades_needed([simulate_topic(n_systems=2, rng=i) for i in range(100)], rng=1).T
    assert 1 <= everything.mean() - by_utility.mean() <= 2
    assert by_utility.mean() < by_chance.mean() < everything.mean()
