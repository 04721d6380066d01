"""When weights help: trials, the page's tables, and what docs say of them."""

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import qrowd_papers.aware_weights as study
from qrowd import Conventions, evaluate
from qrowd.aware import aware, similarity_to_random
from qrowd.aware.estimators import DEFAULT
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool, simulate_runs
from qrowd_papers.aware_weights import (
    DRAWS,
    ESTIMATORS,
    KINDS,
    MEASURES,
    UNJUDGED,
    N,
    Trial,
    aware_weights_page,
    by_kind,
    simulated_trials,
    summary,
    trials,
)

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def rows_of(name):
    """The rows of a table of the page, without its header."""
    with (DOCS / "papers" / "aware_weights" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def test_a_trial_is_the_panel_weighted_and_averaged_by_the_public_functions_and_compared_with_the_gold():
    truth = simulate_pool(6, 40, n_grades=2, prevalence=0.3, rng=2)
    runs = simulate_runs(truth, 8, depth=30, unjudged_share=0.2, rng=2)
    judgments = simulate_judgments(truth, {f"a{i}": Lenient(0.2 * i, 0.3 + i, 0.0) for i in range(3)}, rng=2)
    gold = truth.judgments()
    found = trials(runs, judgments, gold, source="simulated", panel="p", n=20, rng=3)
    assert [trial.measure for trial in found] == list(MEASURES)
    similarities = similarity_to_random(runs, judgments, list(MEASURES), n_resamples=20, rng=3)
    scores = evaluate(runs, judgments, list(MEASURES), conventions=Conventions(empty="nan")).to_xarray()
    true = (
        evaluate(runs, gold, list(MEASURES), conventions=Conventions(empty="nan"))
        .to_xarray()
        .isel(assessor=0)
        .mean("topic")
    )
    for trial in found:
        for name in ("uniform", DEFAULT, "sgl_rmse_msd:printed"):
            polarity = "printed" if name.endswith(":printed") else "dissimilarity"
            accuracy = similarities.accuracies(estimators=[name.removesuffix(":printed")], polarity=polarity).isel(
                estimator=0
            )
            mean = aware(scores, accuracy).sel(measure=trial.measure).values[0, 0].mean(axis=0)
            wanted = true.sel(measure=trial.measure).values
            assert trial.rmse[name] == pytest.approx(np.sqrt(((mean - wanted) ** 2).mean()))
            assert trial.tau[name] == pytest.approx(kendall_tau_b(mean, wanted))


def test_a_summary_is_of_ratios_of_rmse_and_differences_of_tau():
    def trial(rmse, tau):
        figures = {"uniform": rmse[0], "x": rmse[1]}, {"uniform": tau[0], "x": tau[1]}
        return Trial("simulated", "p", np.nan, "", "AP", *figures, 0.5, 0.5)

    found = summary([trial((0.1, 0.2), (0.8, 0.7)), trial((0.1, 0.05), (0.8, 0.8)), trial((0.1, 0.1), (0.5, 0.9))], "x")
    assert found["rmse_ratio"] == pytest.approx(1)
    assert found["rmse_worst"] == pytest.approx(2)
    assert (found["rmse_better"], found["tau_better"], found["tau_worse"]) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (found["tau_gain"], found["tau_worst"]) == pytest.approx((0.1, -0.1))


@pytest.mark.nightly
def test_weights_help_where_some_judge_by_lot_and_not_where_severity_cancels():
    lot, cancels = "three of eight judge by lot", "two severe, two lenient"
    found = list(simulated_trials([lot, cancels], draws=3, n=10, rng=2))
    for_lot = summary([trial for trial in found if trial.panel == lot], DEFAULT)
    for_cancelling = summary([trial for trial in found if trial.panel == cancels], DEFAULT)
    assert for_lot["rmse_ratio"] < 0.75
    assert for_lot["tau_gain"] > 0.005
    assert for_cancelling["rmse_ratio"] > 1.05
    assert for_cancelling["rmse_better"] < 0.5
    assert for_cancelling["tau_gain"] < 0


@pytest.mark.nightly
def test_the_table_of_simulated_panels_on_the_page_is_what_is_computed():
    """One kind and collection again in full; each is drawn from a stream of its own."""
    kind = "two severe, two lenient"
    judged = "all judged"
    rows = rows_of("simulated-panels-mean-rmse-and-tau-b-against-the-truth")
    printed = [row for row in rows if row[:2] == [kind, judged]]
    again = by_kind(
        list(simulated_trials([kind], collections={judged: UNJUDGED[judged]}, draws=DRAWS, n=N, rng=1))
    ).rows
    assert len(printed) == len(again) == len(MEASURES)
    for one, other in zip(printed, again, strict=True):
        assert one[:3] == other[:3]
        assert list(map(float, one[3:])) == pytest.approx(list(map(float, other[3:])), abs=1.01e-4)


def test_the_table_of_simulated_panels_has_each_kind_collection_and_measure():
    rows = rows_of("simulated-panels-mean-rmse-and-tau-b-against-the-truth")
    assert {tuple(row[:3]) for row in rows} == set(product(KINDS, UNJUDGED, MEASURES))


def test_the_table_of_estimators_has_each_of_them_on_real_and_on_simulated_panels():
    rows = rows_of("trials-rmse-ratio-geometric-mean")
    assert [row[1] for row in rows] == [*ESTIMATORS, *ESTIMATORS]


@pytest.mark.nightly
def test_the_quick_page_has_every_kind_and_says_what_was_done(monkeypatch):
    monkeypatch.setattr(
        study, "simulated_trials", lambda *kinds, **options: simulated_trials(*kinds, **options | {"n": 2})
    )
    page = aware_weights_page(quick=True, rng=1)
    assert page.sentence.startswith(f"AWARE's weights ({DEFAULT}) beside equal weights: of {4 * len(KINDS)} simulated")
    kinds = next(table for table in page.tables if table.title.startswith("simulated panels"))
    assert {row[0] for row in kinds.rows} == set(KINDS)
    assert any("20 of each level; seed: 1" in note for note in page.notes)
    assert set(page.frame()["estimator"]) == {"uniform", *ESTIMATORS}
