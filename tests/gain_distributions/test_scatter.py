"""One measure against another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.gain_distributions import agreement_aware_ndcg, gain_distributions, scatter

SCORES = st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=3, max_size=6)


@given(SCORES, st.integers(0, 99))
def test_correlations_are_those_of_scipy(rows, seed):
    first = np.array(rows, float)
    second = first + np.random.default_rng(seed).integers(0, 5, first.shape)
    found = scatter(first, second)
    for axis, i in ((0, 0), (1, 1)):
        x, y = first.mean(axis=axis), second.mean(axis=axis)
        if np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
            continue
        assert found.pearson[i] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
        assert found.tau[i] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)


def test_a_cell_counts_where_both_have_a_score():
    first = np.array([[1.0, 2, np.nan], [3, 5, 6]])
    second = np.array([[1.0, np.nan, 4], [2, 3, 9]])
    found = scatter(first, second, names=("one", "two"), topics=("q", "r"), systems=("s", "t", "u"))
    assert found.by_system.tolist() == [[2, 5, 6], [1.5, 3, 9]]
    assert found.by_topic == pytest.approx(np.array([[1, 14 / 3], [1, 14 / 3]]))
    frame = found.to_frame().set_index("of")
    assert frame.loc["systems", "n"] == 3
    assert frame.loc["topics", "pearson"] == pytest.approx(1)
    points = found.points()
    assert points["label"].tolist() == ["s", "t", "u", "q", "r"]
    assert points["two"].tolist() == pytest.approx([1.5, 3, 9, 1, 14 / 3])


def test_what_does_not_vary_has_no_correlation():
    found = scatter([[1.0, 1], [1, 1]], [[1.0, 2], [3, 5]])
    assert np.isnan(found.pearson).all()
    assert np.isnan(found.tau).all()


@pytest.mark.parametrize(("arguments", "message"), [
    (([[1.0]], [[1.0, 2]]), r"scatter: arrays \(1, 1\) and \(1, 2\); the same"),
    (([1.0], [1.0]), "scatter: arrays"),
])  # fmt: skip
def test_arrays_of_other_shapes_are_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        scatter(*arguments)


def test_labels_of_another_number_are_refused():
    with pytest.raises(ArgumentError, match="topics: 1 labels for 2 topics"):
        scatter([[1.0], [2]], [[1.0], [2]], topics=("q",))
    with pytest.raises(ArgumentError, match=r"names=.*: two different ones"):
        scatter([[1.0], [2]], [[1.0], [2]], names=("x", "x"))


def test_on_dl21_it_is_related_to_average_precision_but_not_the_same(llms, dl21):
    import qrowd

    runs, judgments = llms
    nist = qrowd.read_judgments(str(dl21 / "qrels.nist.txt"))
    aware = agreement_aware_ndcg(runs, gain_distributions(judgments, gains="rescaled"), 10)
    ap = evaluate(runs, nist, "AP(rel=2)").to_xarray().sel(topic=list(aware.topics), system=list(aware.systems))[0, 0]
    found = scatter(aware.mean, ap.to_numpy(), topics=aware.topics, systems=aware.systems)
    assert 0.6 < found.tau[0] < 1
    assert 0.8 < found.pearson[0] < 1
    assert found.pearson[1] < found.pearson[0]
