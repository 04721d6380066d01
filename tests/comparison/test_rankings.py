"""All assessors' rankings of systems against one reference."""

import numpy as np
import pytest
import scipy.stats
import xarray

import qrowd
from qrowd.comparison.correlation import (
    ap_correlation,
    kendall_tau_a,
    leave_one_out,
    pearson,
    rmse,
    sampled_ap_correlation,
)
from qrowd.comparison.rankings import KINDS, correlations
from qrowd.errors import ArgumentError

NAN = float("nan")


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 7, (5, 6, 8)) / 6 + np.linspace(0, 1, 8)
    values[1, :2] = NAN  # judged four topics only
    values[2] = NAN  # judged none
    values[3, 4, 5] = NAN  # lacks one system on one topic
    return values


def test_everyone_is_held_against_the_panel_without_them(scores):
    found = correlations(scores)
    assert found.tau_b == pytest.approx(leave_one_out(scores), nan_ok=True)
    others = np.nanmean(scores[[1, 3, 4]], axis=0)
    assert found.ap[0] == pytest.approx(ap_correlation(scores[0].mean(axis=0), others.mean(axis=0)))
    assert found.ap[0] != pytest.approx(ap_correlation(others.mean(axis=0), scores[0].mean(axis=0)))
    assert found.n_topics.tolist() == [6, 4, 0, 6, 6]
    assert found.n_systems.tolist() == [8, 8, 0, 7, 8]
    assert found.reference is None


def test_everyone_is_held_against_the_reference_over_shared_topics(scores):
    found = correlations(scores, reference=4)
    x, y = scores[1, 2:].mean(axis=0), scores[4, 2:].mean(axis=0)
    expected = (kendall_tau_a(x, y), ap_correlation(x, y), pearson(x, y), rmse(x, y))
    assert (found.tau_a[1], found.ap[1], found.pearson[1], found.rmse[1]) == pytest.approx(expected)
    for kind in KINDS:
        assert np.isnan(getattr(found, kind)[[2, 4]]).all()  # no score; the reference itself


def test_a_reference_of_its_own_scores_is_agreed_with_wholly(scores):
    found = correlations(np.stack([scores[0], scores[0], scores[4]]), reference=0)
    assert [getattr(found, kind)[1] for kind in KINDS[2:]] == pytest.approx(
        [ap_correlation(*[scores[0].mean(0)] * 2), 1, 0]
    )
    assert found.tau_b[1] == pytest.approx(1)


def test_a_single_assessor_is_held_against_nobody():
    found = correlations(np.random.default_rng(1).random((1, 3, 4)))
    assert np.isnan([getattr(found, kind)[0] for kind in KINDS]).all()


def test_a_data_array_brings_the_names(scores):
    array = xarray.DataArray(
        scores[None],
        dims=("measure", "assessor", "topic", "system"),
        coords={"measure": ["AP"], "assessor": list("abcde"), "topic": range(6), "system": list("stuvwxyz")},
    )
    found = correlations(array.transpose("system", "topic", "measure", "assessor"), reference="e")
    plain = correlations(scores, reference=4)
    assert found.assessors == ("a", "b", "c", "d", "e")
    assert found.reference == "e"
    assert found.tau_b == pytest.approx(plain.tau_b, nan_ok=True)
    frame = found.to_frame()
    assert list(frame.columns) == ["assessor", "tau_b", "tau_a", "ap", "pearson", "rmse", "n_topics", "n_systems"]
    assert frame["assessor"].tolist() == list("abcde")


def test_on_dl21_tau_b_and_pearson_are_scipys_and_ap_correlation_what_samples_tend_to(dl21):
    runs, judgments = (qrowd.read_runs(dl21 / "runs"), qrowd.read_judgments(dl21 / "judges"))
    scores = qrowd.evaluate(runs, judgments, "P@10").to_xarray().sel(measure="P@10").values  # P@10 ties many systems
    found = correlations(scores)
    for a in range(len(scores)):
        judged = ~np.isnan(scores[a]).any(axis=1)
        # Means of tenths, many of them equal: rounding must not put them in order.
        own = scores[a, judged].mean(axis=0).round(9)
        others = np.nanmean(np.delete(scores, a, axis=0), axis=0)[judged].mean(axis=0).round(9)
        assert found.tau_b[a] == pytest.approx(scipy.stats.kendalltau(own, others).statistic)
        assert found.pearson[a] == pytest.approx(scipy.stats.pearsonr(own, others).statistic)
        sampled = sampled_ap_correlation(own, others, n_resamples=400, rng=1)
        assert found.ap[a] == pytest.approx(sampled.value, abs=5 * sampled.standard_error + 1e-12)


def test_two_measures_or_other_dimensions_are_refused(scores):
    array = xarray.DataArray(np.stack([scores, scores]), dims=("measure", "assessor", "topic", "system"))
    with pytest.raises(ArgumentError, match="measure, assessor, topic, system; assessor, topic, system were expected"):
        correlations(array)
    with pytest.raises(ArgumentError, match=r"shape \(6, 8\)"):
        correlations(scores[0])


@pytest.mark.parametrize("reference", ["ann", 5, -1])
def test_a_reference_nobody_is_called_is_refused(scores, reference):
    with pytest.raises(ArgumentError, match=rf"assessor {reference!r}"):
        correlations(scores, reference=reference)
