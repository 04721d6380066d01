"""Systems against a baseline."""

from unittest.mock import patch

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from qrowd.comparison.p_values import holm
from qrowd.comparison.system_ranking import against_baseline
from qrowd.errors import ArgumentError
from qrowd.model.scores import Scores

SCORES = np.random.default_rng(5).random((3, 12, 5))


def test_the_uncorrected_test_is_the_paired_t_test_of_the_panels_means():
    found = against_baseline(Scores.from_array(SCORES), "2", correction="none")
    panel = SCORES.mean(axis=0)
    for s in (0, 2, 3, 4):
        assert found.p[s] == pytest.approx(scipy.stats.ttest_rel(panel[:, s], panel[:, 1]).pvalue)
        assert found.difference[s] == pytest.approx((panel[:, s] - panel[:, 1]).mean())


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holms_correction_is_that_of_statsmodels(p):
    with patch("gc.collect"):  # which statsmodels calls, and which takes most of the time
        expected = multipletests(p, method="holm")[1]
    assert holm(np.array(p)) == pytest.approx(expected)


def test_what_was_not_tested_does_not_count_as_a_test():
    corrected = holm(np.array([0.01, np.nan, 0.02]))
    assert corrected[[0, 2]] == pytest.approx([0.02, 0.02])
    assert np.isnan(corrected[1])


def test_wins_ties_and_losses_are_counted_over_topics_with_scores():
    nan = float("nan")
    scores = np.array([[[0.5, 0.6], [0.5, 0.5], [0.5, 0.1], [nan, nan]]])
    found = against_baseline(Scores.from_array(scores), "1")
    assert (found.wins[1], found.ties[1], found.losses[1]) == (1, 1, 1)


def test_a_difference_that_never_varies_is_not_tested():
    scores = np.tile(np.array([0.1, 0.3]), (1, 6, 1))
    assert np.isnan(against_baseline(Scores.from_array(scores), "1").p).all()


def test_the_baseline_is_not_tested_against_itself():
    assert np.isnan(against_baseline(Scores.from_array(SCORES), "3").p[2])


def test_a_baseline_that_is_no_system_is_refused():
    with pytest.raises(ArgumentError, match="system 'bm25' is not among the systems"):
        against_baseline(Scores.from_array(SCORES), "bm25")
    with pytest.raises(ArgumentError, match="correction='bonferroni': choose one of holm, none"):
        against_baseline(Scores.from_array(SCORES), "1", correction="bonferroni")
