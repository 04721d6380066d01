"""A model in place of assessors: each part of the answer is a table."""

import pytest
from pandas.testing import assert_frame_equal

from qrowd.agreement import cohen_kappa
from qrowd.comparison import kendall_tau_b
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.reports.replacement import replacement, replacements
from qrowd.reports.replacement_in_turn import in_turn
from qrowd.simulation import simulate_demo
from qrowd.uncertainty import leave_one_out_annotator_tests


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
    kappa = cohen_kappa(two, "ann", "sven")
    assert (row["kappa"], row["n"]) == (pytest.approx(kappa.value), kappa.n_documents)
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
