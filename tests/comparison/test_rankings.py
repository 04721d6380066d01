"""All assessors' rankings of systems against one reference."""

import numpy as np
import pytest
import scipy.stats
import xarray

import qrowd
from qrowd.comparison.rankings import (
    KINDS,
    ap_correlation,
    correlations,
    kendall_tau_a,
    kendall_tau_b,
    pearson,
    ranking_agreement,
    rmse,
    row_correlations,
)
from qrowd.errors import ArgumentError
from qrowd.model.scores import Scores
from real_runs import runs_of

NAN = float("nan")


def named(values):
    return Scores.from_array(values, assessors="abcde"[: len(values)])


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 7, (5, 6, 8)) / 6 + np.linspace(0, 1, 8)
    values[1, :2] = NAN  # judged four topics only
    values[2] = NAN  # judged none
    values[3, 4, 5] = NAN  # lacks one system on one topic
    return values


def test_everyone_is_held_against_the_panel_without_them(scores):
    found = correlations(named(scores))
    others = np.nanmean(scores[[1, 3, 4]], axis=0)
    assert found.tau_b[0] == pytest.approx(kendall_tau_b(scores[0].mean(axis=0), others.mean(axis=0)))
    assert found.ap[0] == pytest.approx(ap_correlation(scores[0].mean(axis=0), others.mean(axis=0)))
    assert found.ap[0] != pytest.approx(ap_correlation(others.mean(axis=0), scores[0].mean(axis=0)))
    assert found.n_topics.tolist() == [6, 4, 0, 6, 6]
    assert found.n_systems.tolist() == [8, 8, 0, 8, 8]
    assert found.reference is None


def test_everyone_is_held_against_the_reference_over_shared_topics(scores):
    found = correlations(named(scores), reference="e")
    x, y = scores[1, 2:].mean(axis=0), scores[4, 2:].mean(axis=0)
    expected = (kendall_tau_a(x, y), ap_correlation(x, y), pearson(x, y), rmse(x, y))
    assert (found.tau_a[1], found.ap[1], found.pearson[1], found.rmse[1]) == pytest.approx(expected)
    for kind in KINDS:
        assert np.isnan(getattr(found, kind)[[2, 4]]).all()  # no score; the reference itself


def test_a_reference_of_its_own_scores_is_agreed_with_wholly(scores):
    found = correlations(named([scores[0], scores[0], scores[4]]), reference="a")
    assert found.ap[1] == pytest.approx(ap_correlation(*[scores[0].mean(0)] * 2))
    assert [getattr(found, kind)[1] for kind in ("tau_b", "pearson", "rmse")] == pytest.approx([1, 1, 0])


def test_a_single_assessor_is_held_against_nobody():
    found = correlations(named(np.random.default_rng(1).random((1, 3, 4))))
    assert np.isnan([getattr(found, kind)[0] for kind in KINDS]).all()


def test_a_data_array_brings_the_names(scores):
    array = xarray.DataArray(
        scores[None],
        dims=("measure", "assessor", "topic", "system"),
        coords={"measure": ["AP"], "assessor": list("abcde"), "topic": range(6), "system": list("stuvwxyz")},
    )
    found = correlations(array.transpose("system", "topic", "measure", "assessor"), reference="e")
    plain = correlations(named(scores), reference="e")
    assert found.assessors == ("a", "b", "c", "d", "e")
    assert found.reference == "e"
    assert found.tau_b == pytest.approx(plain.tau_b, nan_ok=True)
    frame = found.to_frame()
    assert list(frame.columns) == ["assessor", *KINDS, "n_topics", "n_systems"]
    assert frame["assessor"].tolist() == list("abcde")


@pytest.mark.nightly
def test_on_dl21_tau_b_and_pearson_are_scipys_and_ap_correlation_what_samples_tend_to(dl21):
    runs, judgments = (runs_of(dl21), qrowd.read_judgments(dl21 / "judges"))
    scores = qrowd.evaluate(runs, judgments, "P@10")  # P@10 ties many systems
    found, scores = correlations(scores), scores.values[0]
    for a in range(len(scores)):
        judged = ~np.isnan(scores[a]).any(axis=1)
        # Means of tenths, many of them equal: rounding must not put them in order.
        own = scores[a, judged].mean(axis=0).round(9)
        others = np.nanmean(np.delete(scores, a, axis=0), axis=0)[judged].mean(axis=0).round(9)
        assert found.tau_b[a] == pytest.approx(scipy.stats.kendalltau(own, others).statistic)
        assert found.pearson[a] == pytest.approx(scipy.stats.pearsonr(own, others).statistic)
        rng = np.random.default_rng(1)
        orders = [[np.lexsort((rng.random(side.size), side)).argsort() for _ in range(400)] for side in (own, others)]
        samples = row_correlations(*np.array(orders, float), kind="ap")
        error = samples.std(ddof=1) / 20
        assert found.ap[a] == pytest.approx(samples.mean(), abs=5 * error + 1e-12)


def test_two_measures_or_other_dimensions_are_refused(scores):
    array = xarray.DataArray(np.stack([scores, scores]), dims=("measure", "assessor", "topic", "system"))
    with pytest.raises(ArgumentError, match=r"scores of 2 measures \(1, 2\); one was expected"):
        correlations(array)
    with pytest.raises(ArgumentError, match="scores have the dimensions assessor, query, system"):
        correlations(xarray.DataArray(scores, dims=("assessor", "query", "system")))


@pytest.mark.parametrize("reference", ["ann", "5"])
def test_a_reference_nobody_is_called_is_refused(scores, reference):
    with pytest.raises(ArgumentError, match=rf"assessor {reference!r}"):
        correlations(named(scores), reference=reference)


def simulated(n_assessors=5, n_topics=8, n_systems=6, seed=1):
    random = np.random.default_rng(seed)
    return random.random((n_assessors, n_topics, n_systems)) + np.linspace(0, 0.6, n_systems)


def test_rankings_are_compared_over_the_topics_both_assessors_have():
    values = simulated()
    values[0, :3] = np.nan
    found = ranking_agreement(Scores.from_array(values, assessors="abcde", topics="12345678", systems="uvwxyz"))
    at = [found.assessors.index(name) for name in "abcde"]
    for i in range(5):
        for j in range(i):
            topics = [t for t in range(8) if not np.isnan(values[[i, j], t, 0]).any()]
            expected = kendall_tau_b(*(values[who][topics].mean(axis=0) for who in (i, j)))
            assert found.tau_b[at[i], at[j]] == found.tau_b[at[j], at[i]] == pytest.approx(expected)
            assert found.n_topics[at[i], at[j]] == len(topics)
    assert np.isnan(np.diag(found.tau_b)).all()


def test_who_agrees_most_with_the_others_comes_first():
    values = simulated()
    values[3] = -values[0]
    found = ranking_agreement(Scores.from_array(values))
    assert found.assessors[-1] == "4"
    mean = np.nanmean(found.tau_b, axis=1)
    assert (np.diff(mean) <= 1e-12).all()
