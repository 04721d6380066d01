"""Many systems at once: ranks, randomised Tukey, and p-values for all pairs."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from numbered_scores import numbered
from oracles import certainty as oracle
from qrowd.comparison.p_values import benjamini_hochberg
from qrowd.comparison.rank_intervals import rank_intervals
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.max_t import with_skewness, without_skewness
from qrowd.model.scores import Scores
from real_runs import runs_of

NAN = float("nan")


def scores(topics=25, assessors=6, systems=5, seed=1, spread=0.1):
    random = np.random.default_rng(seed)
    return (
        random.normal(0.5, 0.1, (1, topics, systems))
        + random.normal(0, 0.03, (assessors, 1, systems))
        + random.normal(0, 0.1, (assessors, topics, systems))
        + np.linspace(spread, 0, systems)
    )


@pytest.mark.parametrize("over", ["both", "topics"])
def test_ranks_follow_from_the_significant_differences(over):
    found = rank_intervals(numbered(scores(spread=0.3)), over=over, n_resamples=200, rng=4, confidence=0.9)
    mean = scores(spread=0.3).mean(axis=(0, 1))
    assert found.mean == pytest.approx(mean)
    assert found.rank.tolist() == scipy.stats.rankdata(-mean, "min").tolist()
    expected = oracle.rank_sets(mean.tolist(), found.p.tolist(), 0.1)
    assert list(zip(found.rank_low.tolist(), found.rank_high.tolist(), strict=True)) == expected
    assert any(low > 1 for low, _ in expected)
    assert any(high - low > 0 for low, high in expected)
    assert found.may_be_best == tuple(str(s) for s in np.argsort(-mean) if found.rank_low[s] == 1)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 100))
def test_a_rank_lies_within_its_interval_and_the_order_of_systems_and_topics_does_not_matter(seed):
    values = scores(seed=seed, systems=4)
    found = rank_intervals(numbered(values), n_resamples=100, rng=seed)
    assert (found.rank_low <= found.rank).all()
    assert (found.rank <= found.rank_high).all()
    assert found.may_be_best[0] == str(int(np.argmin(found.rank)))
    labels = {"topics": tuple(map(str, range(25))), "systems": tuple("wxyz")}
    named = rank_intervals(Scores.from_array(values, **labels), n_resamples=100, rng=seed)
    random = np.random.default_rng(seed)
    order, topics = random.permutation(4), random.permutation(25)
    labels |= {"topics": tuple(labels["topics"][t] for t in topics), "systems": tuple("wxyz"[s] for s in order)}
    other = rank_intervals(Scores.from_array(values[:, topics][:, :, order], **labels), n_resamples=100, rng=seed)
    assert other.p == pytest.approx(named.p[np.ix_(order, order)])
    assert other.rank_low.tolist() == named.rank_low[order].tolist()


def test_an_interval_excludes_no_difference_where_p_is_below_the_level():
    found = rank_intervals(numbered(scores(spread=0.3)), n_resamples=200, rng=4)
    assert found.better.any()
    assert not found.better.all()
    for system in range(5):
        one = found.against(str(system))
        assert one.difference == pytest.approx(
            np.where(np.arange(5) == system, NAN, found.mean - found.mean[system]), nan_ok=True
        )
        assert ((one.low > 0) == found.better[:, system]).all()
        assert ((one.high < 0) == found.better[system]).all()
        assert ((one.p < 0.05) == (found.better[:, system] | found.better[system])).all()


def test_more_confidence_never_narrows_and_more_assessors_are_no_less_sure():
    values = scores(spread=0.2)
    wide, narrow = (rank_intervals(numbered(values), confidence=c, n_resamples=500, rng=1) for c in (0.99, 0.8))
    assert (wide.rank_low <= narrow.rank_low).all()
    assert (wide.rank_high >= narrow.rank_high).all()
    assert set(narrow.may_be_best) <= set(wide.may_be_best)


def test_systems_that_are_the_same_share_their_ranks():
    values = scores(systems=3, spread=0.5)
    values = np.concatenate([values, values[:, :, :1]], axis=2)
    found = rank_intervals(numbered(values), n_resamples=200, rng=1)
    assert found.rank.tolist() == [1, 3, 4, 1]
    assert found.may_be_best == ("0", "3")
    assert not found.better[0, 3]


def test_differences_that_do_not_vary_are_sure():
    values = scores(systems=1)
    values = np.concatenate([values, values - 0.25], axis=2)
    found = rank_intervals(numbered(values), n_resamples=100, rng=1)
    assert (found.rank_low.tolist(), found.rank_high.tolist()) == ([1, 2], [1, 2])


def test_all_ranks_are_held_together_as_often_as_they_claim():
    """Systems that truly differ by steps; topics and 12 assessors drawn anew."""
    held = 0
    for seed in range(150):
        found = rank_intervals(numbered(scores(30, 12, 5, seed, spread=0.05)), n_resamples=200, rng=seed)
        held += bool((found.rank_low <= np.arange(1, 6)).all() and (found.rank_high >= np.arange(1, 6)).all())
    assert held / 150 >= 0.93


@given(st.floats(-50, 50), st.floats(-2, 2))
def test_the_correction_for_skewness_rises_with_t_and_can_be_undone(t, skewness):
    t, skewness = np.array([t, t + 0.1]), np.array([skewness, skewness])
    corrected = without_skewness(t, skewness)
    assert corrected[0] < corrected[1] + 1e-9
    assert corrected == pytest.approx(-without_skewness(-t, -skewness))
    back = with_skewness(corrected, skewness)
    assert without_skewness(back, skewness) == pytest.approx(corrected, rel=1e-6, abs=1e-6)


def test_without_a_choice_topics_alone_are_drawn_and_too_few_assessors_are_named():
    found = rank_intervals(numbered(scores(assessors=1)), n_resamples=50, rng=1)
    assert (found.over, found.reason) == ("topics", "one assessor: says nothing about other assessors")
    assert "2 assessors are too few" in rank_intervals(numbered(scores(assessors=2)), n_resamples=50, rng=1).reason
    for assessors, held in ((3, "89 to 99"), (4, "89 to 99"), (5, "91 to 97"), (9, "91 to 97")):
        reason = rank_intervals(numbered(scores(assessors=assessors)), n_resamples=50, rng=1).reason
        assert reason.startswith(f"asked for; {assessors} assessors: 95 % intervals held in {held} %")
    assert rank_intervals(numbered(scores(assessors=10)), n_resamples=50, rng=1).reason == "asked for"


def test_the_frame_has_the_best_first():
    frame = rank_intervals(numbered(scores()), n_resamples=50, rng=1).to_frame()
    assert frame["mean"].is_monotonic_decreasing
    assert frame["may_be_best"].tolist() == (frame["rank_low"] == 1).tolist()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_benjamini_hochberg_is_the_loop_and_scipys(p):
    found = benjamini_hochberg(np.array(p))
    assert found == pytest.approx(oracle.false_discovery_rate(p))
    assert found == pytest.approx(scipy.stats.false_discovery_control(p))
    assert benjamini_hochberg(np.array([*p, NAN]))[:-1] == pytest.approx(found)


def test_nothing_below_two_systems_and_two_topics():
    with pytest.raises(ArgumentError, match="1 system"):
        rank_intervals(numbered(np.ones((2, 4, 1))))
    with pytest.raises(NoOverlapError, match="share 1 topic"):
        rank_intervals(numbered(np.ones((2, 1, 2))))
    for options, message in (
        ({"over": "all"}, "over='all'"),
        ({"confidence": 0}, "confidence=0"),
        ({"n_resamples": 1}, "n_resamples=1"),
    ):
        with pytest.raises(ArgumentError, match=message):
            rank_intervals(numbered(scores()), **options)


@pytest.mark.nightly
def test_on_dl21_sixteen_of_63_systems_may_be_the_best(dl21):
    measured = (
        qrowd.evaluate(runs_of(dl21), qrowd.read_judgments([str(dl21 / "judges")]), ["nDCG@10"])
        .to_xarray()
        .sel(measure="nDCG@10")
    )
    both = rank_intervals(measured, n_resamples=4000, rng=1)
    topics = rank_intervals(measured, over="topics", n_resamples=4000, rng=1)
    assert len(topics.may_be_best) < len(both.may_be_best)
    assert 12 <= len(both.may_be_best) <= 20
    assert "pash_f1" in both.may_be_best
    assert "p_bm25rm3" not in both.may_be_best
    assert (both.rank_high - both.rank_low).mean() > (topics.rank_high - topics.rank_low).mean()
