"""A model in place of assessors: each part of the answer is a table."""

import dataclasses

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

from qrowd.agreement import cohen_kappa
from qrowd.comparison import kendall_tau_b, top_set
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.model.judgments import concatenate_judgments
from qrowd.reports.replacement import replacement, replacements
from qrowd.reports.replacement_in_turn import in_turn
from qrowd.simulation import simulate_demo
from qrowd.uncertainty import (
    calibrated_judgments,
    calibration,
    human_ceiling,
    leave_one_out_annotator_tests,
    prediction_powered_means,
    tau_interval,
    topics_gained,
)


def test_each_part_of_the_answer_is_a_table_and_what_was_not_asked_for_is_none():
    runs, judgments, _ = simulate_demo()
    few = judgments.select(assessors=["ann", "bob", "lena", "llm-a"])
    answer = replacement(few, "llm-a", runs=runs, groups={"rerank": ["rerank*"]}, rng=1)
    assert answer.to_frame()["assessor"].tolist() == ["ann", "bob", "lena"]
    for what, part in (("test", answer.test), ("assessors", answer.assessor_tests), ("rankings", answer.rankings),
                       ("bias", answer.bias)):  # fmt: skip
        assert_frame_equal(answer.to_frame(what=what), part.to_frame())
    assert answer.sentence in str(answer)
    with pytest.raises(ArgumentError, match="choose one of test, assessors, rankings, bias"):
        answer.to_frame(what="ceiling")


def test_with_one_assessor_there_is_no_test_and_all_else_is_what_its_own_function_says():
    runs, judgments, _ = simulate_demo()
    two = judgments.select(assessors=["ann", "sven"])
    answer = replacement(two, "sven", runs=runs)
    assert answer.test is None
    assert "is not known: the alternative annotator test needs at least 3 assessors besides" in answer.sentence
    row = answer.to_frame().iloc[0]
    kappa = cohen_kappa(two, "ann", "sven", weights="quadratic")
    assert (row["kappa"], row["n_documents"]) == (pytest.approx(kappa.value), kappa.n_documents)
    means = evaluate(runs, two, "nDCG@10").values[0].mean(axis=1)
    rankings = answer.to_frame(what="rankings").iloc[0]
    assert rankings["tau_b"] == pytest.approx(kendall_tau_b(*means))
    best, own_best = runs.systems[means[1].argmax()], runs.systems[means[0].argmax()]
    assert (rankings["best"], rankings["own_best"]) == (best, own_best)
    assert rankings["rank"] == 1 + (means[0] > means[0][means[1].argmax()]).sum()
    assert rankings["own_best_rank"] == 1 + (means[1] > means[1][means[0].argmax()]).sum()


def test_kappas_of_several_models_are_of_the_same_kind():
    """A kappa of grades and one of relevant or not cannot be compared."""
    judgments = simulate_demo()[1].select(assessors=["ann", "sven", "crowd-1"])
    both = replacements(judgments, ["sven", "crowd-1"])
    yes_no = judgments.relevant_or_not()
    expected = [cohen_kappa(yes_no, "ann", name).value for name in ("sven", "crowd-1")]
    assert both.to_frame()["kappa"].tolist() == pytest.approx(expected)


def test_without_a_model_each_assessor_is_tested_by_the_others():
    judgments = simulate_demo()[1].select(assessors=["ann", "bob", "lena"])
    answer = in_turn(judgments)
    assert_frame_equal(answer.to_frame(), leave_one_out_annotator_tests(judgments).to_frame())
    assert answer.sentence.endswith(
        "each of 3 assessors was tested in place of the model: ann and bob would pass the test."
    )
    with pytest.raises(ArgumentError, match=r"ann and bob; .* needs at least 3; name the model"):
        in_turn(judgments.select(assessors=["ann", "bob"]))


def test_with_one_assessor_each_table_is_what_its_own_function_says():
    runs, judgments, _ = simulate_demo()
    two = judgments.select(assessors=["ann", "sven"])
    answer = replacement(two, "sven", runs=runs, rng=1)
    grades = calibration(two, "sven")
    assert answer.to_frame(what="grades")["calibrated"].tolist() == grades.calibrated.tolist()
    errors = answer.to_frame(what="calibration").iloc[0]
    assert (errors["first"], errors["second"]) == ("sven", "ann")
    assert (errors["rmse"], errors["rmse_after"]) == (grades.rmse, grades.rmse_after)
    scores = evaluate(runs, two, "nDCG@10")
    ranked = answer.to_frame(what="ranking_intervals").iloc[0]
    tau = tau_interval(scores, "sven", "ann", rng=1)
    assert (ranked["tau_b"], ranked["low"], ranked["high"]) == (tau.tau_b, tau.low, tau.high)
    mine, other = (set(top_set(scores.sel(assessor=name)).members) for name in ("sven", "ann"))
    sizes = (ranked["top_set"], ranked["other_top_set"], ranked["in_both"])
    assert sizes == (len(mine), len(other), len(mine & other))
    recoded = evaluate(runs, calibrated_judgments(two, "sven"), "nDCG@10").values[0, 0].mean(axis=0)
    of_ann = scores.sel(assessor="ann").values[0, 0].mean(axis=0)
    assert ranked["calibrated_tau_b"] == pytest.approx(kendall_tau_b(recoded, of_ann))
    assert ranked["calibrated_best"] == runs.systems[recoded.argmax()]
    assert ranked["calibrated_rank"] == 1 + (of_ann > of_ann[recoded.argmax()]).sum()
    worth = topics_gained(scores.sel(assessor="ann"), scores.sel(assessor="sven"), choices=(10,), rng=1)
    assert answer.to_frame(what="worth")["topics_gained"].tolist() == worth.topics_gained.tolist()
    assert f"Beside 10 topics of ann it would be worth {worth.topics_gained[0]:+.1f} further topics." in answer.sentence


def test_an_assessor_of_some_topics_has_estimates_for_all_systems_with_each_model():
    runs, judgments, _ = simulate_demo()
    ann = judgments.select(assessors=["ann"], topics=judgments.topics[:10])
    two = concatenate_judgments([ann, judgments.select(assessors=["sven", "bob"])])
    both = replacements(two, ["sven", "bob"], runs=runs, rng=1)
    for name, one in zip(("sven", "bob"), both.models, strict=True):
        people, model = (evaluate(runs, two.select(assessors=[who]), "nDCG@10") for who in ("ann", name))
        means = prediction_powered_means(people, model)
        estimates = one.to_frame(what="estimates")
        assert estimates["estimate"].tolist() == pytest.approx(means.estimate.tolist())
        assert one.comparison.worth.n.tolist() == [10]
        assert one.comparison.worth.topics_gained[0] == pytest.approx(np.median(means.topics_gained))
    text = str(both)
    assert "mean of each system by ann, from 10 topics and the model's other topics; the first 10 of 12" in text
    assert text.index("with sven") < text.index("with bob")
    assert "the most topics gained (+" in both.sentence


def test_where_the_assessor_judged_some_of_the_documents_a_note_says_how_to_use_them():
    judgments = simulate_demo()[1].select(assessors=["ann", "sven"])
    random = np.random.default_rng(1)
    some = judgments.select(assessors=["ann"], documents=lambda name: random.random() < 0.3)
    answer = replacement(concatenate_judgments([some, judgments.select(assessors=["sven"])]), "sven")
    share = len(some) / 1000
    assert answer.comparison.judged == share
    assert f"sample: {100 * share:.0f} % of the documents that sven judged in these topics were judged by ann" in str(
        answer
    )
    assert "sample: " not in str(replacement(judgments, "sven"))


def test_of_two_assessors_the_model_is_read_beside_what_these_reach_with_each_other():
    runs, judgments, _ = simulate_demo()
    three = judgments.select(assessors=["ann", "bob", "sven"])
    answer = replacement(three, "sven", runs=runs, rng=1)
    agreement = answer.to_frame(what="agreement")
    assert list(zip(agreement["first"], agreement["second"], strict=True)) == [
        ("sven", "ann"), ("sven", "bob"), ("ann", "bob")
    ]  # fmt: skip
    kappa = cohen_kappa(three, "ann", "bob", weights="quadratic").value
    assert f"Between ann and bob kappa is {kappa:.3f} and tau-b " in answer.sentence
    assert answer.to_frame(what="calibration")["first"].tolist() == ["sven", "sven", "ann", "bob"]
    ann, bob, sven = (three.select(assessors=[name]) for name in ("ann", "bob", "sven"))
    ceiling = human_ceiling(bob, ann, model=sven, documents="seen")
    table = next(table for table in answer.to_document().tables if table.title.startswith("ceiling"))
    assert [row[:3] for row in table.rows[:3]] == [
        ["ann", "bob", f"{ceiling.of('bob'):.4f}"],
        ["ann", "sven", f"{ceiling.of('sven'):.4f}"],
        ["ann", "chance", f"{ceiling.of('chance'):.4f}"],
    ]


def test_of_more_assessors_the_mean_grade_of_each_document_says_what_a_models_grade_means():
    judgments = simulate_demo()[1].select(assessors=["ann", "bob", "lena", "sven"])
    answer = replacement(judgments, "sven")
    result = calibration(judgments, "sven")
    grades = answer.to_frame(what="grades")
    assert grades["second"].tolist() == ["panel mean"] * 4
    assert_frame_equal(grades.drop(columns=["first", "second"]), result.to_frame())
    assert answer.to_frame(what="calibration")["rmse_after"].tolist() == [result.rmse_after]
    assert "what a grade of the model means in grades of 3 assessors" in str(answer)


def test_a_model_equal_to_the_person_has_error_0_and_tau_1():
    runs, judgments, _ = simulate_demo()
    ann = judgments.select(assessors=["ann"])
    answer = replacement(concatenate_judgments([ann, dataclasses.replace(ann, assessors=("copy",))]), "copy", runs=runs)
    errors = answer.to_frame(what="calibration").iloc[0]
    assert (errors["rmse"], errors["rmse_after"], errors["difference"]) == (0, 0, 0)
    ranked = answer.to_frame(what="ranking_intervals").iloc[0]
    assert (ranked["tau_b"], ranked["low"], ranked["calibrated_tau_b"], ranked["rank"]) == (1, 1, 1, 1)
