"""Topics by agreement: ease, missing scores."""

import numpy as np
import pytest
import xarray
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from oracles import agreement as oracle
from panels import ASSESSORS
from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.agreement.by_topic import binned, ease_correlation, pearson_test
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.model.conventions import Conventions
from qrowd.model.scores import Scores, interpolated
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool, simulate_runs
from qrowd_papers.agreement.gold import alpha_by_gold

TOPICS = tuple(f"t{i:02d}" for i in range(24))


def by_topics(scores):
    return Scores.from_array(scores, topics=TOPICS[: len(scores)])


def made(n_topics=24, n_systems=7, seed=1):
    rng = np.random.default_rng(seed)
    ease = rng.random(n_topics)
    scores = np.clip(ease[:, None] + 0.2 * rng.normal(size=(n_topics, n_systems)), 0, 1)
    agreement = dict(zip(TOPICS, ease + 0.1 * rng.normal(size=n_topics), strict=False))
    return scores, agreement


# ---- ease


def test_ease_goes_with_agreement_as_pearsons_correlation_says_by_topic_and_in_bins():
    scores, agreement = made()
    found = ease_correlation(by_topics(scores), agreement, bins=(4, 8, 100))
    x, ease = np.array(list(agreement.values())), scores.mean(axis=1)
    rows = found.to_frame().set_index("bins")
    expected = stats.pearsonr(x, ease)
    assert rows.loc[0, "pearson"] == pytest.approx(expected.statistic)
    assert rows.loc[0, "p"] == pytest.approx(expected.pvalue)
    assert rows.loc[0, "n"] == 24
    assert rows.loc[0, "significant"]
    order = np.argsort(x)
    for bins in (4, 8):
        parts = order.reshape(bins, -1)
        assert rows.loc[bins, "pearson"] == pytest.approx(
            stats.pearsonr(x[parts].mean(1), ease[parts].mean(1)).statistic
        )
        assert np.array(binned(x, ease, bins)) == pytest.approx(
            np.array([x[parts].mean(axis=1), ease[parts].mean(axis=1)])
        )
    assert np.isnan(rows.loc[100, "pearson"])


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1)), min_size=3, max_size=40), st.integers(1, 12))
def test_bins_hold_all_topics_in_order_and_differ_in_size_by_one_at_most(points, bins):
    agreement, ease = np.array(points).T
    x, y = binned(agreement, ease, bins)
    if bins > len(points):
        assert np.isnan(x).all()
        return
    assert (np.diff(x) >= -1e-12).all()
    sizes = np.array([len(part) for part in np.array_split(np.arange(len(points)), bins)])
    assert (sizes * x).sum() == pytest.approx(agreement.sum(), abs=1e-9)
    assert (sizes * y).sum() == pytest.approx(ease.sum(), abs=1e-9)


@given(st.lists(st.tuples(st.floats(-10, 10), st.floats(-10, 10)), min_size=3, max_size=20))
def test_pearsons_correlation_is_that_of_scipy(points):
    x, y = np.round(np.array(points), 3).T
    found = pearson_test(x, y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(found.r)
        return
    expected = stats.pearsonr(x, y)
    assert found.r == pytest.approx(expected.statistic, abs=1e-9)
    assert found.r == pytest.approx(oracle.pearson(list(x), list(y)), abs=1e-9)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-6)
    assert found.n == len(points)


def test_two_points_are_no_correlation():
    assert np.isnan(pearson_test(np.array([1.0, 2, np.nan]), np.array([1.0, 2, 3])).r)


@pytest.fixture(scope="module")
def evaluated():
    truth = simulate_pool(12, 40, n_grades=3, rng=3)
    judgments = simulate_judgments(truth, {name: Lenient(noise=0.5) for name in ASSESSORS}, rng=3)
    return truth, judgments, evaluate(simulate_runs(truth, 5, rng=3), truth.judgments(), "nDCG@10").to_xarray()


def test_scores_come_as_evaluate_gives_them_and_agreement_as_alpha_by_topic_or_by_gold(evaluated):
    truth, judgments, scores = evaluated
    alpha = krippendorff_alpha(judgments, by="topic")
    found = ease_correlation(scores, alpha, bins=(4,))
    ease = scores.isel(measure=0).mean("assessor").mean("system").to_numpy()
    assert found.ease == pytest.approx(ease)
    assert found.correlations[0][-1].r == pytest.approx(oracle.pearson(list(alpha.value), list(ease)))
    by_gold = alpha_by_gold(judgments, truth.judgments(), by="topic")
    table = ease_correlation(scores, by_gold.by_topic(), bins=(4,)).to_frame()
    assert list(table["agreement"].unique()) == list(by_gold.names)
    assert (table.loc[table["bins"] == 0, "n"] <= by_gold.complete.sum()).all()


def test_a_panels_scores_are_averaged_over_assessors_first(evaluated):
    _, judgments, scores = evaluated
    doubled = xarray.concat([scores, scores.assign_coords(assessor=["other"]) * 0.5], "assessor")
    alpha = krippendorff_alpha(judgments, by="topic")
    halved = ease_correlation(doubled, alpha).ease
    assert halved == pytest.approx(0.75 * ease_correlation(scores, alpha).ease)


# ---- missing scores


def test_a_missing_score_becomes_the_mean_of_the_topics_and_the_systems_others():
    table = np.array([[1.0, np.nan, 0.5], [0.2, 0.4, np.nan]])
    filled = interpolated(table)
    assert filled[0, 1] == pytest.approx((1.0 + 0.5 + 0.4) / 3)
    assert filled[1, 2] == pytest.approx((0.2 + 0.4 + 0.5) / 3)
    assert np.array_equal(np.isnan(table), filled != table)


def test_interpolation_is_that_of_evaluate(evaluated):
    truth, _, _ = evaluated
    runs = simulate_runs(truth, 4, rng=4).to_frame()
    runs = runs[~((runs["system"] == runs["system"].iloc[0]) & (runs["topic"].isin(truth.pool.topics[:5])))]
    from qrowd.model.runs import Runs

    thinned = Runs.from_frame(runs)
    skipped = (
        evaluate(thinned, truth.judgments(), "AP", conventions=Conventions(missing="skip")).to_xarray()[0, 0].to_numpy()
    )
    expected = (
        evaluate(thinned, truth.judgments(), "AP", conventions=Conventions(missing="interpolate"))
        .to_xarray()[0, 0]
        .to_numpy()
    )
    assert np.isnan(skipped).any()
    assert interpolated(skipped) == pytest.approx(expected)


def test_bad_input_gets_one_clear_line(evaluated):
    _, judgments, scores = evaluated
    array, agreement = made()
    table = by_topics(array)
    with pytest.raises(NoOverlapError, match="scores and agreement share no topic"):
        ease_correlation(table, {"elsewhere": 0.5})
    with pytest.raises(ArgumentError, match="bins=-2: expected 1 bin or more"):
        ease_correlation(table, agreement, bins=(-2,))
    both = xarray.concat([scores, scores.assign_coords(measure=["AP"])], "measure")
    with pytest.raises(ArgumentError, match=r"scores of 2 measures \(nDCG@10, AP\); one was expected"):
        ease_correlation(both, krippendorff_alpha(judgments, by="topic"))
    with pytest.raises(ArgumentError, match="scores have the dimensions measure, assessor, topic"):
        ease_correlation(scores.mean("system"), agreement)
