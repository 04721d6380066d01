"""Means, ranks and leads of systems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from qrowd.comparison.system_ranking import rank_changes, rank_systems, ranks, settled
from qrowd.model.scores import Scores, known_mean

NAN = float("nan")
means = hnp.arrays(np.float64, st.integers(1, 8), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN]))


@given(means)
def test_a_rank_is_one_more_than_the_number_of_better_systems(values):
    for value, rank in zip(values, ranks(values), strict=True):
        assert rank == (0 if np.isnan(value) else 1 + sum(other > value for other in values))


def test_the_panels_mean_goes_over_assessors_first_and_topics_then():
    # Three assessors agree on topic 1; only one judged topic 2: both topics weigh the same.
    scores = np.array([[[0.9], [0.1]], [[0.9], [NAN]], [[0.9], [NAN]]])
    assert rank_systems(Scores.from_array(scores)).mean[0] == pytest.approx(0.5)
    assert np.nanmean(scores) != pytest.approx(0.5)


def test_the_standard_error_is_that_of_the_topic_means():
    scores = np.array([[[0.2], [0.4], [0.9]]])
    assert rank_systems(Scores.from_array(scores)).standard_error[0] == pytest.approx(
        np.std([0.2, 0.4, 0.9], ddof=1) / np.sqrt(3)
    )


def test_one_topic_has_no_standard_error():
    assert np.isnan(rank_systems(Scores.from_array(np.array([[[0.2, 0.3]]]))).standard_error).all()


def test_an_assessor_without_scores_leads_for_nobody():
    scores = np.array([[[0.9, 0.1]], [[NAN, NAN]]])
    place = rank_systems(Scores.from_array(scores))
    assert place.leads().tolist() == [1, 0]
    assert place.has_ranking.tolist() == [True, False]


def test_an_assessor_to_whom_all_systems_are_equal_leads_nobody():
    place = rank_systems(Scores.from_array(np.array([[[0.9, 0.1]], [[0.0, 0.0]]])))
    assert place.leads().tolist() == [1, 0]
    assert place.has_ranking.tolist() == [True, False]


def test_tied_systems_share_the_better_rank_and_the_lead():
    place = rank_systems(Scores.from_array(np.array([[[0.5, 0.5, 0.1]]])))
    assert place.rank.tolist() == [1, 1, 3]
    assert place.leads().tolist() == [1, 1, 0]


@given(hnp.arrays(np.float64, (3, 4), elements=st.sampled_from([0.0, 1.0, 2.0, NAN])), st.integers(0, 1))
def test_the_known_mean_is_the_mean_of_what_is_known(values, axis):
    for mean, row in zip(known_mean(values, axis), np.moveaxis(values, axis, -1), strict=True):
        known = row[~np.isnan(row)]
        assert mean == pytest.approx(known.mean() if known.size else NAN, nan_ok=True)


def test_means_that_are_equal_but_for_rounding_are_made_equal():
    x = np.array([0.1 + 0.2, 0.5, 0.3, NAN, 0.3 - 1e-9, 0.5, -0.3])
    found = settled(x)
    assert found[0] == found[2] == 0.3
    assert found[[1, 4, 5, 6]].tolist() == x[[1, 4, 5, 6]].tolist()
    assert np.isnan(found[3])
    assert settled(np.array([NAN, NAN])).shape == (2,)


def test_systems_whose_means_differ_by_rounding_alone_share_their_rank():
    scores = np.array([[[0.1, 0.6, 0.1], [0.2, 0.2, 0.1], [0.6, 0.1, 0.1]]])
    place = rank_systems(Scores.from_array(scores))
    assert place.rank.tolist() == [1, 1, 3]
    assert place.rank_by_assessor.tolist() == [[1, 1, 3]]
    assert place.n_above("1", "2") == place.n_above("2", "1") == 0


def methods(values):
    names = ["m0", "m1", "m2"][: len(values)]
    return Scores.from_array(np.array(values, float)[:, None, :], assessors=names, topics=["t0"], systems="pqrs")


def test_the_systems_shown_are_the_best_by_the_first_method_ranked_among_themselves():
    found = rank_changes(methods([[4, 3, 2, 1], [2, 1, 3, 4]]), top=3)
    assert found.systems == ("p", "q", "r")
    assert found.rank.tolist() == [[1, 2, 3], [2, 3, 1]]
    assert found.rank_of_all.tolist() == [[1, 2, 3], [3, 4, 2]]


@given(st.permutations(range(4)))
def test_nobody_s_place_among_the_systems_matters(order):
    values = np.array([[4, 3, 2, 1], [1, 4, 3, 2]])
    plain, shuffled = rank_changes(methods(values)), rank_changes(methods(values[:, list(order)]))
    assert shuffled.rank.tolist() == plain.rank.tolist()
