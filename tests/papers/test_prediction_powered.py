"""Coverage of prediction-powered intervals: on simulated judges, and on dl21 with NIST as truth."""

import numpy as np
import pytest

from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments
from qrowd.replacement import prediction_powered_means
from qrowd.simulation import simulate_demo
from qrowd_papers.prediction_powered import METHODS, ppi_coverage
from real_runs import runs_of

RUNS, JUDGMENTS, POOL = simulate_demo()
TRUTH, JUDGES = POOL.judgments(), JUDGMENTS.select(assessors=["ann", "crowd-3"])


def test_a_row_is_a_judge_a_number_of_topics_and_a_method():
    found = ppi_coverage(RUNS, TRUTH, JUDGES, "AP", n_human=[5, 8], n_resamples=3, rng=1)
    assert list(zip(found.assessor, found.n_human, found.method, strict=True)) == [
        (judge, n, method) for n in (5, 8) for judge in ("ann", "crowd-3") for method in METHODS
    ]
    told = [found.attrs[name] for name in ("measure", "n_topics", "n_systems", "seed")]
    assert told == ["AP", len(TRUTH.topics), 12, 1]
    again = ppi_coverage(RUNS, TRUTH, JUDGES, "AP", n_human=[5, 8], n_resamples=3, rng=1)
    assert again.equals(found)


def test_a_split_is_what_the_function_for_scores_says_of_it(monkeypatch):
    """One repeat, with topics in their own order."""
    monkeypatch.setattr("qrowd_papers.prediction_powered._topics", lambda random, n, draw: np.arange(n))
    found = ppi_coverage(RUNS, TRUTH, JUDGES, "AP", n_human=[6], n_resamples=1, draw="split", rng=1)
    truth = evaluate(RUNS, TRUTH, "AP").to_xarray().squeeze()
    model = evaluate(RUNS, JUDGES, "AP").to_xarray().sel(assessor="ann").squeeze("measure")
    means = truth.mean("topic").values
    for row, options in zip(found.itertuples(), METHODS.values(), strict=False):
        fit = prediction_powered_means(truth[:6], model, target="these topics", **options)
        assert row.coverage == pytest.approx(((fit.low <= means) & (means <= fit.high)).mean())
        assert row.width == pytest.approx((fit.high - fit.low).mean())
        assert row.lam == pytest.approx(fit.lam.mean())
        assert row.gained == pytest.approx(np.median(fit.topics_gained), abs=1e-9)


def test_differences_are_from_the_best_system():
    found = ppi_coverage(RUNS, TRUTH, JUDGES, "AP", n_human=[6], n_resamples=20, quantity="differences", rng=1)
    assert found.attrs["n_systems"] == 11
    assert (found.coverage > 0.7).all()


@pytest.mark.nightly
@pytest.mark.parametrize(("draw", "quantity"), [("with replacement", "means"), ("split", "differences")])
def test_on_dl21_intervals_hold_what_nist_says_and_are_narrower_with_a_good_judge(dl21, draw, quantity):
    runs, nist = runs_of(dl21), read_judgments(str(dl21 / "qrels.nist.txt"))
    judges = read_judgments(str(dl21 / "judges" / "*.qrels.gz")).select(assessors=["umbrela-gpt4o", "binary-llama32"])
    found = ppi_coverage(runs, nist, judges, draw=draw, quantity=quantity, rng=1)
    frame = found.set_index(["assessor", "n_human", "method"]).sort_index()
    assert (found.attrs["n_topics"], found.attrs["n_resamples"]) == (53, 200)
    for n in (10, 25):
        for judge in ("umbrela-gpt4o", "binary-llama32"):
            coverage = frame.loc[(judge, n)].coverage
            assert (coverage[["classical", "ppi", "ppi++"]] > 0.925).all()
            assert (coverage < 0.965).all()
            assert coverage["ppi++, published"] < coverage["ppi++, not cross-fitted"] < coverage["ppi++"]
        good = frame.loc[("umbrela-gpt4o", n)]
        assert good.width["ppi++"] < 0.9 * good.width["classical"]


def test_an_n_that_leaves_too_few_topics_is_refused():
    with pytest.raises(ArgumentError, match="n_human=1: from 2 to"):
        ppi_coverage(RUNS, TRUTH, JUDGES, "AP", n_human=[1])
