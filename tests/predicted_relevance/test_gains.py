"""Predicted relevance as gains: what measures make of it, and what users would have said on average."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merging import judgments_of
from qrowd.errors import ArgumentError, MeasureError, ScaleError
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.model.judgments import Judgments
from qrowd.predicted_relevance import predicted_relevance
from qrowd.simulation import simulate_demo

RUNS, ALL, _ = simulate_demo()
PEOPLE = ALL.select(assessors=["ann", "bob", "lena", "sven"])
MODEL = predicted_relevance(PEOPLE, rel=2, n_resamples=0)
ANN = PEOPLE.select(assessors="ann")


def gained(judgments=ANN, gains=MODEL.probability):
    return MODEL.with_gains(judgments, grade_gains=gains)


def drawn_users(n, seed=1):
    """n users, who find each document relevant with its probability."""
    p = gained()
    relevant = np.random.default_rng(seed).random((n, len(p))) < p.value
    who = np.repeat(np.arange(n, dtype=np.int32), len(p))
    names, value = tuple(f"user {i}" for i in range(n)), relevant.ravel().astype(float)
    codes = np.tile(p.topic, n), np.tile(p.document, n), who
    return Judgments.from_codes(p.topics, p.documents, names, *codes, value, scales={"*": "binary"})


USERS = drawn_users(600)


@pytest.mark.parametrize(
    "text", ["nDCG@10", "nDCG(dcg='zipf')@10", "DCG", "RBP(p=0.5)", "P@5", "R@10", "GAP@20", "ERR@10"]
)
def test_gains_of_0_and_1_give_the_ordinary_binary_measure(text):
    binary = PEOPLE.recode(2)
    # Of binary relevance graded average precision is average precision, and every user stops at what is relevant.
    usual = {"GAP@20": "AP@20", "ERR@10": "RR@10"}.get(text, text)
    ours = evaluate(RUNS, gained(PEOPLE, MODEL.relevant.astype(float)), with_probabilities(text)).to_xarray()
    assert ours.values == pytest.approx(evaluate(RUNS, binary, usual).values, abs=1e-12)


@pytest.mark.parametrize("text", ["P@10", "DCG@10", "DCG(dcg='zipf')@10", "RBP", "ERR@10"])
def test_what_is_linear_or_independent_is_its_mean_over_users(text):
    """P, DCG and RBP are linear; ERR of independent stops is linear in each document."""
    ours = evaluate(RUNS, gained(), with_probabilities(text)).values[0, 0]
    users = evaluate(RUNS, USERS, with_probabilities(text)).values[0]
    error = users.std(axis=0, ddof=1) / np.sqrt(600)
    away = (users.mean(axis=0) - ours) / np.maximum(error, 1e-12)
    # Of 300 cells; 4.5 standard errors or more happen to one of them in 500 such tests.
    assert np.abs(away).max() < 4.5
    assert users.mean() == pytest.approx(ours.mean(), abs=0.01)


def test_ndcg_of_expected_gains_is_not_the_expected_ndcg_of_users():
    ours = evaluate(RUNS, gained(), "nDCG@10").values[0, 0]
    users = evaluate(RUNS, USERS, "nDCG@10").values[0].mean(axis=0)
    # Each user's ideal is made of what this user likes, the model's of what a user is expected to.
    assert (ours.mean() - users.mean()) > 0.05


@given(st.permutations([0.0, 1.0, 2.0, 3.0]), st.floats(0, 1))
def test_recoding_replaces_every_grade_and_nothing_else(values, p):
    rows = [("q", f"d{i}", "ann", v) for i, v in enumerate(values)] + [("q", "e", "ann", -1.0)]
    gains = np.array([0, p, p**2, 1])
    replaced = gained(Judgments.from_rows(rows), gains)
    assert replaced.value.tolist() == [*gains[[int(v) for v in values]].tolist(), -1]
    assert str(replaced.scales[0]) == "0..1"


def test_the_gain_of_documents_judged_0_is_warned_of():
    assert MODEL[0] > 0.02
    with pytest.warns(UserWarning, match=r"p\(R\|0\) = 0\.\d+, but an unjudged one gains 0"):
        recoded = MODEL.judgments(ANN)
    assert np.array_equal(recoded.value, gained().value)
    strict = predicted_relevance(PEOPLE, rel=3, n_resamples=0)
    assert strict[0] <= 0.02
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strict.judgments(ANN)
        MODEL.judgments(ANN, grade_gains=np.array([0.0, 0.1, 0.5, 1.0]))


def test_other_gains_must_fit_the_grades():
    with pytest.raises(ArgumentError, match="2 for 4 grades"):
        MODEL.judgments(ANN, grade_gains=np.array([0, 1]))
    with pytest.raises(ScaleError, match=r"p\(R\|7\) is not known"):
        MODEL.judgments(judgments_of({("q", "d"): {"a": 7}}))


def test_measures_without_a_form_for_probabilities_are_refused():
    for text in ("AP", "RR@10", "Bpref"):
        with pytest.raises(MeasureError, match="it has no form for probabilities of relevance, and P, R"):
            with_probabilities(text)
    for text in ("P(rel=2)@10", "ERR(max_rel=4)", "nDCG(gains={1:2})", "RBP(residual=True)", "nDCG(dcg='exp-log2')@10"):
        with pytest.raises(MeasureError, match=r"leave .* out"):
            with_probabilities(text)


def test_values_above_1_are_no_probabilities_of_relevance():
    for text in ("P(relevance='given')@5", "GAP(relevance='given')"):
        with pytest.raises(MeasureError, match="assessor ann gives 3, which is no probability of relevance"):
            evaluate(RUNS, ANN, text)


def test_expected_recall_has_no_union():
    with pytest.raises(MeasureError, match="no union"):
        evaluate(RUNS, gained(), "R(recall_base='union',relevance='given')@5")
