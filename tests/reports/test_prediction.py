"""Predicted relevance as a document."""

import json

import numpy as np
import pytest

from merging import judgments_of
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.evaluation.named_measures import GIVEN
from qrowd.model.conventions import Conventions
from qrowd.predicted_relevance import predicted_relevance
from qrowd.reports.document import render
from qrowd.reports.prediction import Prediction, predict_relevance
from qrowd.simulation import simulate_demo

RUNS, ALL, _ = simulate_demo()
PEOPLE = ALL.select(assessors=["ann", "bob", "lena"])
MODEL = predicted_relevance(PEOPLE, rel=2, rng=1, n_resamples=50)
OPTIONS = {"rel": 2, "rng": 1, "n_resamples": 50}
PREDICTION = predict_relevance(PEOPLE, runs=RUNS, measures=["nDCG@10", "ERR"], **OPTIONS)
SCORED = PREDICTION.scores


def test_scores_are_panel_means_with_both_kinds_of_gains():
    for m, text in enumerate(SCORED.measures):
        for means, gains in ((SCORED.predicted, MODEL.probability), (SCORED.binary, MODEL.relevant.astype(float))):
            scores = evaluate(RUNS, MODEL.with_gains(PEOPLE, grade_gains=gains), text).to_xarray().isel(measure=0)
            assert means[m] == pytest.approx(scores.mean("assessor").mean("topic").values, abs=1e-12)
        assert SCORED.tau[m] == kendall_tau_b(SCORED.predicted[m], SCORED.binary[m])


def test_conventions_reach_the_scores():
    condensed = predict_relevance(PEOPLE, runs=RUNS, conventions=Conventions(unjudged="condensed"), **OPTIONS)
    assert not np.allclose(condensed.scores.predicted, SCORED.predicted[:1])


@pytest.mark.parametrize("name", GIVEN)
def test_the_form_for_probabilities_is_its_own_form(name):
    text = f"{name}@10"
    assert with_probabilities(with_probabilities(text)) == with_probabilities(text)
    assert with_probabilities(text).cutoff == 10


def test_every_ending_can_be_written():
    prediction = PREDICTION
    document = prediction.to_document()
    for ending in ("csv", "json", "md", "tex", "parquet"):
        assert render(document, f"x.{ending}")
    assert prediction.to_frame()["grade"].tolist() == MODEL.grades.tolist()
    systems = prediction.to_frame(what="systems").set_index(["measure", "system"])
    assert systems.loc[(SCORED.measures[1], "bm25"), "binary"] == SCORED.binary[1, RUNS.systems.index("bm25")]
    content = json.loads(render(document, "x.json"))
    assert len(content["systems"]) == 2 * len(RUNS.systems)
    assert np.array(content["coincidences"]) == pytest.approx(MODEL.coincidences)


def test_a_single_topic_has_its_documents_resampled():
    alone = predict_relevance(PEOPLE.select(topics=PEOPLE.topics[:1]), rel=2, rng=1, n_resamples=20)
    assert "20 resamples of documents" in "\n".join(map(str, alone.to_document().notes))


def test_notes_name_every_convention_that_mattered():
    labels = {("q", "d"): {"a": 2, "b": 0}, ("q", "e"): {"b": 1, "c": 1}, ("q", "f"): {"a": 3}}
    judgments = judgments_of(labels)
    model = predicted_relevance(judgments, rel=2, method="one-sided", first="a", resample="binomial")
    notes = "\n".join(map(str, Prediction(model, judgments, None, None, ()).to_document().notes))
    assert "1 of 3 documents" in notes
    assert "left out: 1 documents that the first assessor did not judge" in notes
    assert "no double judgment holds grade 0, 1, 3" in notes
    assert "binomial; intervals: 95 %, Wilson" in notes
    assert "predicting from a" in notes
    plain = predicted_relevance(judgments, rel=2, method="one-sided", n_resamples=0)
    assert "whoever judged first" in "\n".join(
        map(str, Prediction(plain, judgments, None, None, ()).to_document().notes)
    )
    assert "nothing was resampled" in "\n".join(
        map(str, Prediction(plain, judgments, None, None, ()).to_document().notes)
    )
