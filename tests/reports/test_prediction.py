"""Predicted relevance as a document."""

import json

import numpy as np
import pytest

from merging import judgments_of
from qrowd.comparison.correlation import kendall_tau_b
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.measures.probabilities import GIVEN
from qrowd.model.conventions import Conventions
from qrowd.predicted_relevance import predicted_relevance, relevant_results
from qrowd.reports.document import render
from qrowd.reports.prediction import Prediction, predicted_scores
from qrowd.simulation import simulate_demo

RUNS, ALL, _ = simulate_demo()
PEOPLE = ALL.select(assessors=["ann", "bob", "lena"])
MODEL = predicted_relevance(PEOPLE, rel=2, rng=1, n_resamples=50)
SCORED = predicted_scores(RUNS, PEOPLE, MODEL, ["nDCG@10", "ERR"])


def test_scores_are_panel_means_with_both_kinds_of_gains():
    for m, text in enumerate(SCORED.measures):
        for means, gains in ((SCORED.predicted, MODEL.probability), (SCORED.binary, MODEL.relevant.astype(float))):
            scores = evaluate(RUNS, MODEL.with_gains(PEOPLE, grade_gains=gains), text).to_xarray().isel(measure=0)
            assert means[m] == pytest.approx(scores.mean("assessor").mean("topic").values, abs=1e-12)
        assert SCORED.tau[m] == kendall_tau_b(SCORED.predicted[m], SCORED.binary[m])


def test_conventions_reach_the_scores():
    condensed = predicted_scores(RUNS, PEOPLE, MODEL, "nDCG@10", Conventions(unjudged="condensed"))
    assert not np.allclose(condensed.predicted, SCORED.predicted[:1])


@pytest.mark.parametrize("name", GIVEN)
def test_the_form_for_probabilities_is_its_own_form(name):
    text = f"{name}@10"
    assert with_probabilities(with_probabilities(text)) == with_probabilities(text)
    assert with_probabilities(text).cutoff == 10


def test_every_ending_can_be_written():
    prediction = Prediction(MODEL, relevant_results(MODEL, PEOPLE, runs=RUNS), SCORED)
    document = prediction.to_document()
    for ending in ("csv", "json", "md", "tex", "parquet"):
        assert render(document, f"x.{ending}")
    assert prediction.to_frame()["grade"].tolist() == MODEL.grades.tolist()
    systems = prediction.to_frame(what="systems").set_index(["measure", "system"])
    assert systems.loc[(SCORED.measures[1], "bm25"), "binary"] == SCORED.binary[1, RUNS.systems.index("bm25")]
    content = json.loads(render(document, "x.json"))
    assert len(content["systems"]) == 2 * len(RUNS.systems)
    assert np.array(content["coincidences"]) == pytest.approx(MODEL.coincidences)


def test_notes_say_what_bands_hold_and_where_they_share_or_fall():
    model = predicted_relevance(PEOPLE, rel=2, runs=RUNS, rng=1, n_resamples=20)
    document = Prediction(model, relevant_results(model, PEOPLE, runs=RUNS), SCORED).to_document()
    notes = "\n".join(map(str, document.notes))
    assert "bands with fewer than 50 judgments of a grade share an estimate: grade" in notes
    assert "resamples of topics" in notes
    falls = (np.diff(model.by_band.probability, axis=1) < 0).any()
    assert ("does not rise with every grade" in notes) == falls
    assert [row[0] for row in document.tables[1].rows] == list(model.by_band.bands.labels)
    banded = predicted_scores(RUNS, PEOPLE, model, "P@10")
    assert "by band of ranks, which depends on the systems" in "\n".join(
        map(str, Prediction(model, None, banded).to_document().notes)
    )
    alone = predicted_relevance(PEOPLE.select(topics=PEOPLE.topics[:1]), rel=2, rng=1, n_resamples=20)
    assert "resamples of documents, of the only topic" in "\n".join(
        map(str, Prediction(alone, None).to_document().notes)
    )


def test_notes_name_every_convention_that_mattered():
    labels = {("q", "d"): {"a": 2, "b": 0}, ("q", "e"): {"b": 1, "c": 1}, ("q", "f"): {"a": 3}}
    judgments = judgments_of(labels)
    model = predicted_relevance(judgments, rel=2, method="one-sided", first="a", resample="binomial")
    notes = "\n".join(map(str, Prediction(model, None).to_document().notes))
    assert "1 of 3 documents" in notes
    assert "left out: 1 documents that the first assessor did not judge" in notes
    assert "no double judgment holds grade 0, 1, 3" in notes
    assert "binomial; intervals: 95 %, Wilson" in notes
    assert "predicting from a" in notes
    plain = predicted_relevance(judgments, rel=2, method="one-sided", n_resamples=0)
    assert "whoever judged first" in "\n".join(map(str, Prediction(plain, None).to_document().notes))
    assert "nothing was resampled" in "\n".join(map(str, Prediction(plain, None).to_document().notes))
