"""Two rankings of the same systems: means, tau, top sets and their overlap."""

import numpy as np
import pytest

from qrowd import Scores
from qrowd.comparison import top_set
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd_papers.magnitude.two_rankings import TwoRankings, two_rankings

VALUES = np.random.default_rng(5).uniform(size=(20, 6)) + np.linspace(0, 0.6, 6)
SYSTEMS = tuple("abcdef")
SCORES = Scores.from_array(VALUES, systems=SYSTEMS)


def test_a_ranking_is_itself_and_its_reverse_is_the_opposite():
    same = two_rankings(SCORES, SCORES)
    assert (same.tau, same.overlap, same.n_topics) == (1, 1, 20)
    assert two_rankings(Scores.from_array(-VALUES, systems=SYSTEMS), SCORES).tau == -1


def test_the_overlap_is_a_part_of_the_second_top_set():
    x = np.zeros(4)
    both = TwoRankings(tuple("abcd"), x, x, np.array([1, 1, 1, 0], bool), np.array([1, 0, 0, 1], bool), 3)
    assert both.overlap == 0.5
    assert both.to_frame()["top_y"].tolist() == [True, False, False, True]


def test_means_and_top_sets_are_those_of_the_shared_topics_and_systems():
    second = Scores.from_array(VALUES[5:, ::-1] ** 2, systems=SYSTEMS[::-1], topics=[str(t) for t in range(6, 21)])
    both = two_rankings(SCORES, second)
    assert both.n_topics == 15
    assert both.x == pytest.approx(VALUES[5:].mean(axis=0))
    assert both.y == pytest.approx((VALUES[5:] ** 2).mean(axis=0))
    expected = top_set(Scores.from_array(VALUES[5:], systems=SYSTEMS)).member
    assert (both.top_x == expected).all()


def test_a_system_without_a_score_in_a_shared_topic_has_the_mean_of_the_fit():
    """On both sides; the missing score is estimated by Yates' formula of 1933 for two-way tables."""
    values = VALUES.copy()
    values[3, 2] = np.nan
    both = two_rankings(Scores.from_array(values, systems=SYSTEMS), SCORES)
    n_topics, n_systems = values.shape
    of_system, of_topic, of_all = np.nansum(values[:, 2]), np.nansum(values[3]), np.nansum(values)
    estimate = (n_systems * of_system + n_topics * of_topic - of_all) / ((n_topics - 1) * (n_systems - 1))
    assert both.systems == SYSTEMS
    expected = VALUES.mean(axis=0)
    expected[2] = (of_system + estimate) / n_topics
    assert both.x == pytest.approx(expected)
    assert both.y == pytest.approx(expected)


def test_what_has_no_two_rankings_is_refused():
    with pytest.raises(NoOverlapError, match="share no topic or no system"):
        two_rankings(SCORES, Scores.from_array(VALUES, systems=tuple("uvwxyz")))
    with pytest.raises(ArgumentError, match="one was expected"):
        two_rankings(Scores.from_array(np.stack([VALUES, VALUES]), systems=SYSTEMS), SCORES)
