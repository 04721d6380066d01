"""A model in place of assessors: one row per model and assessor, and each number what its own function says."""

import dataclasses

import pytest
from pandas.testing import assert_frame_equal

from qrowd.agreement import cohen_kappa
from qrowd.comparison import kendall_tau_b
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.model.judgments import concatenate_judgments
from qrowd.replacement import (
    alternative_annotator_test,
    assessor_bias,
    calibration,
    compare_model,
    expected_scores,
)
from qrowd.reports.replacement import replacement_report
from qrowd.simulation import simulate_demo

RUNS, JUDGMENTS, _ = simulate_demo()


def test_each_column_is_what_its_own_function_says():
    few = JUDGMENTS.select(assessors=["ann", "bob", "lena", "sven"])
    answer = replacement_report(few, "sven", runs=RUNS, groups={"rerank": ["rerank*"]}, rng=1)
    rows = answer.to_frame().set_index("assessor")
    assert rows.index.tolist() == ["ann", "bob", "lena"]
    test = alternative_annotator_test(few, "sven")
    for name in ("model_share", "assessor_share", "difference", "p_adjusted", "replaceable"):
        assert rows[name].tolist() == getattr(test, name).tolist()
    for name, row in rows.iterrows():
        kappas = {other: cohen_kappa(few, name, other, weights="quadratic") for other in few.assessors if other != name}
        assert row["kappa"] == pytest.approx(kappas.pop("sven").value)
        assert row["kappa_with_others"] == pytest.approx(sum(one.value for one in kappas.values()) / 2)
        grades = calibration(few, "sven", assessors=[name])
        assert (row["mean_difference"], row["rmse"]) == (grades.difference, grades.rmse)
        assert (row["rmse_after"], row["n_documents"]) == (grades.rmse_after, grades.n_documents.sum())
    scores = evaluate(RUNS, few, "nDCG@10")
    expected = expected_scores(RUNS, few, "nDCG@10", "sven", rng=1)
    bias = assessor_bias(scores, {"rerank": ["rerank*"]}, "sven", expected=expected)
    assert_frame_equal(answer.to_frame(what="bias").drop(columns="model"), bias.to_frame())
    assert_frame_equal(answer.to_frame(what="grades").drop(columns="model"), calibration(few, "sven").to_frame())
    assert answer.sentence in str(answer)
    with pytest.raises(ArgumentError, match="choose one of assessors, grades, bias"):
        answer.to_frame(what="ceiling")


def test_with_one_assessor_there_is_no_test_and_all_else_is_what_its_own_function_says():
    two = JUDGMENTS.select(assessors=["ann", "sven"])
    answer = replacement_report(two, "sven", runs=RUNS)
    assert answer.models[0].test is None
    assert "is not known: the alternative annotator test needs at least 3 assessors besides" in answer.sentence
    row = answer.to_frame().iloc[0]
    kappa = cohen_kappa(two, "ann", "sven", weights="quadratic")
    assert (row["kappa"], row["n_documents"]) == (pytest.approx(kappa.value), kappa.n_documents)
    means = evaluate(RUNS, two, "nDCG@10").values[0].mean(axis=1)
    assert row["tau_b"] == pytest.approx(kendall_tau_b(*means))
    assert row["best"] == RUNS.systems[means[1].argmax()]
    assert row["rank"] == 1 + (means[0] > means[0][means[1].argmax()]).sum()
    assert "replaceable" not in answer.to_frame()


def test_kappas_of_several_models_are_of_the_same_kind():
    """A kappa of grades and one of relevant or not cannot be compared."""
    judgments = JUDGMENTS.select(assessors=["ann", "sven", "crowd-1"])
    both = replacement_report(judgments, ["sven", "crowd-1"])
    yes_no = judgments.relevant_or_not()
    expected = [cohen_kappa(yes_no, "ann", name).value for name in ("sven", "crowd-1")]
    assert both.to_frame()["kappa"].tolist() == pytest.approx(expected)
    assert both.to_frame()["model"].tolist() == ["sven", "crowd-1"]


def test_a_model_equal_to_the_person_has_error_0_and_tau_1():
    ann = JUDGMENTS.select(assessors=["ann"])
    answer = replacement_report(
        concatenate_judgments([ann, dataclasses.replace(ann, assessors=("copy",))]), "copy", runs=RUNS
    )
    row = answer.to_frame().iloc[0]
    assert (row["rmse"], row["rmse_after"], row["mean_difference"]) == (0, 0, 0)
    assert (row["tau_b"], row["rank"], row["kappa"]) == (1, 1, 1)


def test_an_assessor_who_shares_no_document_with_the_model_has_a_row_of_its_own():
    sven, ann = (JUDGMENTS.select(assessors=[name]) for name in ("sven", "ann"))
    topics = JUDGMENTS.topics
    bob = JUDGMENTS.select(assessors=["bob"], topics=topics[:5])
    judgments = concatenate_judgments([sven.select(topics=topics[5:]), ann, bob])
    rows = compare_model(judgments, "sven").to_frame().set_index("assessor")
    assert rows["n_documents"].tolist() == [800, 0]
    assert rows.loc["bob", ["kappa", "rmse"]].isna().all()
