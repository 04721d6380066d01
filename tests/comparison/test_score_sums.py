"""Statistics from sums over topics are those from the scores, apart from rounding."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from qrowd.comparison import (
    ScoreSums,
    all_differences,
    difference,
    rank_systems,
    variance_components,
)
from qrowd.comparison.resampling import bootstrap_counts, panel_of, replicate_means
from qrowd.comparison.topic_weights import topic_weights
from qrowd.errors import ArgumentError, NoOverlapError, QrowdError
from qrowd.model.chance import Chance
from qrowd.model.scores import Scores

METHODS = ("recommended", "banerjee", "satterthwaite", "topics")
TABLES = ("complete", "holes", "own topics", "half", "one assessor", "an empty topic")


def table(kind, seed, shape=(5, 60, 6)):
    """Scores of (assessors, topics, systems), some of which are missing."""
    random = np.random.default_rng(seed)
    if kind == "one assessor":
        shape = (1, *shape[1:])
    n_assessors, n_topics, n_systems = shape
    values = random.normal(0.4, 0.2, (n_assessors, n_topics, 1)) + random.normal(0, 0.1, shape)
    values += random.normal(0, 0.05, n_systems)
    if kind == "holes":
        values[random.random(shape[:2]) < 0.2] = np.nan
    if kind == "half":
        values[random.random(shape[:2]) < 0.5] = np.nan
    if kind == "own topics":
        values[random.integers(n_assessors, size=n_topics) != np.arange(n_assessors)[:, None]] = np.nan
    if kind == "an empty topic":
        values[:, 3] = np.nan
    return Scores.from_array(values)


def assert_close(one, other, rtol, atol=1e-15):
    """Two results: the same labels, counts and texts, and numbers that differ by rounding."""
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        x, y = getattr(one, field.name), getattr(other, field.name)
        numbers = isinstance(x, float) or (isinstance(x, tuple) and x and isinstance(x[0], float))
        if numbers or (isinstance(x, np.ndarray) and x.dtype.kind == "f"):
            np.testing.assert_allclose(y, x, rtol=rtol, atol=atol, equal_nan=True, err_msg=field.name)
        elif isinstance(x, np.ndarray):
            assert x.tolist() == y.tolist(), field.name
        else:
            assert x == y, field.name


def assert_same_outcome(from_scores, from_sums, rtol=1e-12, atol=1e-15):
    """Both give results that are close, or refuse with the same line."""
    expected, found = outcome(from_scores), outcome(from_sums)
    if isinstance(expected, str):
        assert found == expected
    else:
        assert_close(expected, found, rtol, atol)


def outcome(function):
    """What it returns, or the line with which it refuses."""
    try:
        return function()
    except QrowdError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", TABLES)
def test_means_differences_and_components_are_those_of_the_scores(kind, seed):
    scores = table(kind, seed)
    sums = ScoreSums.of(scores)
    assert_close(rank_systems(scores), sums.rank_systems(), 1e-12)
    for method in METHODS:
        assert_close(all_differences(scores, method=method), sums.all_differences(method=method), 1e-12)
        assert_close(difference(scores, "2", "5", method=method), sums.difference("2", "5", method=method), 1e-12)
    for design in ("auto", "nested"):
        assert_same_outcome(
            partial(variance_components, scores, design=design), partial(sums.variance_components, design=design)
        )


@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(1, 9),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.2, 0.5, 0.8]),
    st.sampled_from([0.0, 0.0, 0.2]),
)
def test_small_tables_with_any_holes_give_the_same_or_the_same_refusal(seed, a, t, s, of_cells, of_scores):
    random = np.random.default_rng(seed)
    values = random.normal(0.4, 0.2, (a, t, 1)) + random.normal(0, 0.1, (a, t, s))
    values[random.random((a, t)) < of_cells] = np.nan
    values[random.random((a, t, s)) < of_scores] = np.nan
    scores = Scores.from_array(values)
    sums = ScoreSums.of(scores)
    assert_close(rank_systems(scores), sums.rank_systems(), 1e-12)
    for method in METHODS:
        assert_same_outcome(
            partial(all_differences, scores, method=method), partial(sums.all_differences, method=method), 1e-9, 1e-13
        )


def test_a_design_in_which_only_a_block_is_complete_needs_the_scores():
    values = np.random.default_rng(1).random((4, 30, 3))
    values[0, 0] = np.nan
    sums = ScoreSums.of(Scores.from_array(values))
    for design in ("crossed", "auto"):
        with pytest.raises(ArgumentError, match="only a block of 4 assessors and 29 topics is complete"):
            sums.variance_components(design=design)
    assert sums.variance_components(design="nested").design == "nested"


def test_a_pair_is_refused_where_a_cell_lacks_the_score_of_some_system():
    values = np.random.default_rng(1).random((3, 20, 3))
    values[1, 4, 2] = np.nan
    scores = Scores.from_array(values)
    sums = ScoreSums.of(scores)
    with pytest.raises(ArgumentError, match=r"^sums: 1 cells lack the scores of some systems"):
        sums.difference("1", "2")
    assert_close(all_differences(scores), sums.all_differences(), 1e-12)


def test_equal_systems_differ_by_exactly_nothing():
    values = np.random.default_rng(2).random((3, 50, 2))
    values[:, :, 1] = values[:, :, 0]
    one = ScoreSums.of(Scores.from_array(values)).difference("1", "2")
    assert (one.difference, one.standard_error, one.low, one.high) == (0, 0, 0, 0)


def test_the_bootstrap_is_that_of_loops_with_the_same_weights():
    scores = table("holes", 3, (4, 25, 3))
    n, seed = 40, 11
    sums = ScoreSums.of(scores, n_resamples=n, rng=seed)
    of_topics = topic_weights(scores.topics, n, seed)
    of_assessors = bootstrap_counts(4, n, Chance.of(seed).stream("assessors"))
    expected = []
    for r in range(n):
        total, weight = np.zeros(3), 0.0
        for t in range(25):
            judged = [a for a in range(4) if not np.isnan(scores.values[0, a, t, 0])]
            drawn = sum(of_assessors[r, a] for a in judged)
            if drawn:
                mean = sum(of_assessors[r, a] * scores.values[0, a, t] for a in judged) / drawn
                total, weight = total + of_topics[t, r] * mean, weight + of_topics[t, r]
        expected.append(total / weight)
    np.testing.assert_allclose(sums.replicate_means(), expected, rtol=1e-12)
    found = sums.difference("1", "3", method="pigeonhole")
    replicates = np.array(expected)[:, 0] - np.array(expected)[:, 2]
    np.testing.assert_allclose([found.low, found.high], np.quantile(replicates, [0.025, 0.975]), rtol=1e-9)
    assert (found.n_resamples, found.seed, found.method) == (n, seed, "pigeonhole")


def test_the_bootstrap_has_the_distribution_of_the_one_in_memory():
    scores, n = table("complete", 5, (6, 150, 2)), 20_000
    here = replicate_means(panel_of(scores), n, "both", 1) @ [1, -1]
    sums = ScoreSums.of(scores, n_resamples=n, rng=2).replicate_means() @ [1, -1]
    assert sums.std() == pytest.approx(here.std(), rel=0.03)  # 4 standard errors of a ratio of such deviations
    levels = np.array([0.025, 0.1, 0.5, 0.9, 0.975])
    error = np.sqrt(2 * levels * (1 - levels) / n) / norm.pdf(norm.ppf(levels)) * here.std()
    assert (np.abs(np.quantile(sums, levels) - np.quantile(here, levels)) < 4 * error).all()


def test_intervals_of_both_bootstraps_cover_alike_and_are_as_wide():
    random, n = np.random.default_rng(7), 150
    includes, width = np.zeros((n, 2), bool), np.zeros((n, 2))
    for k in range(n):
        effects = random.normal(0, 0.1, (1, 25)) + random.normal(0, 0.045, (5, 1)) + random.normal(0, 0.14, (5, 25))
        scores = Scores.from_array(np.stack([0.5 + effects, np.full((5, 25), 0.5)], axis=2))
        sums = ScoreSums.of(scores, n_resamples=500, rng=k)
        both = (
            difference(scores, "1", "2", method="pigeonhole", n_resamples=500, rng=k),
            sums.difference("1", "2", method="pigeonhole"),
        )
        includes[k] = [not one.excludes_zero for one in both]
        width[k] = [one.high - one.low for one in both]
    assert (includes[:, 0] == includes[:, 1]).mean() > 0.95
    assert 1 < width[:, 1].mean() / width[:, 0].mean() < 1.04  # sqrt(1 + 1 / 25) of the part of topics


def test_a_topic_has_the_weights_that_its_name_and_the_seed_decide():
    weights = topic_weights(["q1", "q2"], 20_000, 3)
    assert (topic_weights(["q2"], 20_000, 3)[0] == weights[1]).all()
    assert not (topic_weights(["q2"], 20_000, 4)[0] == weights[1]).all()
    assert weights.mean() == pytest.approx(1, abs=0.02)
    assert weights.var() == pytest.approx(1, abs=0.04)
    assert abs(np.corrcoef(weights)[0, 1]) < 0.03


def test_sums_without_replicates_and_numbers_that_are_none_are_refused():
    scores = table("complete", 1)
    with pytest.raises(ArgumentError, match=r"these sums have no replicates; give n_resamples to qrowd.score_sums"):
        ScoreSums.of(scores).all_differences(method="pigeonhole")
    with pytest.raises(ArgumentError, match=r"^n_resamples=1: at least 2"):
        ScoreSums.of(scores, n_resamples=1)
    scores.values[0, 0, 0, 0] = np.inf
    with pytest.raises(ArgumentError, match="infinite"):
        ScoreSums.of(scores)


def test_more_sets_of_assessors_than_are_kept_lose_replicates_first_and_then_differences(monkeypatch):
    scores = table("half", 1)
    whole = ScoreSums.of(scores, n_resamples=10, rng=1)
    monkeypatch.setattr("qrowd.comparison.measure_sums.MOST_REPLICATED", 3)
    monkeypatch.setattr("qrowd.comparison.measure_sums.TOPICS_AT_ONCE", 7)
    fewer = ScoreSums.of(scores, n_resamples=10, rng=1)
    with pytest.raises(
        ArgumentError, match="different sets of assessors judged the same topics, and sums of replicates"
    ):
        fewer.all_differences(method="pigeonhole")
    assert_close(whole.all_differences(), fewer.all_differences(), 0, 0)
    monkeypatch.setattr("qrowd.comparison.measure_sums.MOST_PATTERNS", 4)
    none = ScoreSums.of(scores)
    with pytest.raises(ArgumentError, match="too many to separate assessors from topics; use the scores"):
        none.all_differences()
    assert_close(whole.rank_systems(), none.rank_systems(), 0, 0)


def test_sums_of_several_measures_are_selected_by_name():
    values = np.random.default_rng(1).random((2, 3, 10, 2))
    labels = (("AP", "RR"), ("a", "b", "c"), tuple(f"q{i}" for i in range(10)), ("x", "y"))
    scores = Scores._of(*labels, values)
    sums = ScoreSums.of(scores)
    assert_close(rank_systems(scores.sel(measure="RR")), sums.sel(measure="RR").rank_systems(), 1e-12)
    with pytest.raises(ArgumentError, match=r"^sums of 2 measures \(AP, RR\); one was expected: sums.sel"):
        sums.rank_systems()
    frame = sums.to_frame()
    assert frame["measure"].tolist() == ["AP", "AP", "RR", "RR"]
    assert "Sums over 10 topics: AP, RR of 2 systems by 3 assessors." in str(sums)
    with pytest.raises(ArgumentError, match=r"^scores: these are sums of scores"):
        rank_systems(sums)


def test_fewer_than_two_topics_of_all_systems_are_refused_as_with_scores():
    values = np.full((2, 3, 2), np.nan)
    values[:, :, 0] = 0.5
    sums = ScoreSums.of(Scores.from_array(values))
    with pytest.raises(NoOverlapError, match="system '2' has no score"):
        sums.all_differences()
