"""One measure against another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from qrowd import read_judgments
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.gain_distributions import agreement_aware_ndcg, gain_distributions
from qrowd.model.scores import Scores
from qrowd_papers.agreement.scatter import scatter
from real_runs import runs_of

SCORES = st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=3, max_size=6)


def scores(values, measure, topics=None, systems=None):
    return Scores.from_array(values, measure=measure, topics=topics, systems=systems)


@given(SCORES, st.integers(0, 99))
def test_correlations_are_those_of_scipy(rows, seed):
    first = np.array(rows, float)
    second = first + np.random.default_rng(seed).integers(0, 5, first.shape)
    found = scatter(scores(first, "one"), scores(second, "two"))
    for axis, i in ((0, 0), (1, 1)):
        x, y = first.mean(axis=axis), second.mean(axis=axis)
        if np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
            continue
        assert found.pearson[i] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
        assert found.tau[i] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)


def test_a_cell_counts_where_both_have_a_score():
    first = scores([[1.0, 2, np.nan], [3, 5, 6]], "one", ("q", "r"), ("s", "t", "u"))
    second = scores([[1.0, np.nan, 4], [2, 3, 9]], "two", ("q", "r"), ("s", "t", "u"))
    found = scatter(first, second)
    assert found.by_system.tolist() == [[2, 5, 6], [1.5, 3, 9]]
    assert found.by_topic == pytest.approx(np.array([[1, 14 / 3], [1, 14 / 3]]))
    frame = found.to_frame().set_index("of")
    assert frame.loc["systems", "n"] == 3
    assert frame.loc["topics", "pearson"] == pytest.approx(1)
    points = found.to_frame(what="points")
    assert points["label"].tolist() == ["s", "t", "u", "q", "r"]
    assert points["two"].tolist() == pytest.approx([1.5, 3, 9, 1, 14 / 3])
    assert np.isnan(first.values[0, 0, 0, 2])  # inputs are not changed
    assert first.values[0, 0, 0, 1] == 2


def test_scores_are_matched_by_topic_and_system():
    first = scores([[1.0, 2, 3], [3, 5, 6]], "one", ("q", "r"), ("s", "t", "u"))
    second = scores([[9.0, 3, 2], [4, 2, 1], [0, 0, 0]], "two", ("r", "q", "z"), ("u", "t", "s"))
    found = scatter(first, second)
    assert (found.topics, found.systems) == (("q", "r"), ("s", "t", "u"))
    assert found.by_system.tolist() == [[2, 3.5, 4.5], [1.5, 2.5, 6.5]]


def test_what_does_not_vary_has_no_correlation():
    found = scatter(scores([[1.0, 1], [1, 1]], "one"), scores([[1.0, 2], [3, 5]], "two"))
    assert np.isnan(found.pearson).all()
    assert np.isnan(found.tau).all()


def test_scores_without_anything_in_common_or_of_one_name_are_refused():
    one = scores([[1.0], [2]], "x", ("q", "r"))
    with pytest.raises(NoOverlapError, match="share no topic or no system"):
        scatter(one, scores([[1.0]], "y", ("z",)))
    with pytest.raises(ArgumentError, match="both measures are called 'x'"):
        scatter(one, one)
    with pytest.raises(ArgumentError, match="one was expected"):
        scatter(one, Scores.from_array([[[1.0], [2]], [[1], [2]]], measure="y", topics=("q", "r")))


def test_on_dl21_it_is_related_to_average_precision_but_not_the_same(dl21):
    runs, judgments = runs_of(dl21), read_judgments(str(dl21 / "judges" / "*.qrels.gz"))
    nist = read_judgments(str(dl21 / "qrels.nist.txt"))
    aware = agreement_aware_ndcg(runs, gain_distributions(judgments, gains="rescaled"), cutoff=10)
    found = scatter(aware.scores().sel(measure=aware.measure), evaluate(runs, nist, "AP(rel=2)"))
    assert 0.6 < found.tau[0] < 1
    assert 0.8 < found.pearson[0] < 1
    assert found.pearson[1] < found.pearson[0]
