"""A model in place of assessors: one row per model and assessor, and each number what its own function says."""

import dataclasses

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from scipy import stats

from qrowd.agreement import cohen_kappa
from qrowd.comparison import kendall_tau_b
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.model.judgments import Judgments, concatenate_judgments
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
    answer = replacement_report(few, "sven", runs=RUNS, groups={"rerank": ["rerank*"]})
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


def test_the_interval_of_kappa_is_that_of_leaving_out_one_topic_at_a_time():
    judgments = JUDGMENTS.select(assessors=["ann", "bob", "sven", "lena"])
    first, second = (compare_model(judgments.select(assessors=["ann", "bob", name]), name) for name in ("sven", "lena"))

    def mean_kappa(topics, model):
        some = judgments.select(topics=topics)
        return np.mean([cohen_kappa(some, name, model, weights="quadratic").value for name in ("ann", "bob")])

    topics = judgments.topics
    without = {m: [mean_kappa([t for t in topics if t != out], m) for out in topics] for m in ("sven", "lena")}
    for other, values in ((None, without["sven"]), (second, np.subtract(without["sven"], without["lena"]))):
        value = mean_kappa(list(topics), "sven") - (mean_kappa(list(topics), "lena") if other else 0)
        n = len(topics)
        error = np.sqrt((n - 1) ** 2 / n * np.var(values, ddof=1))
        half = stats.t.ppf(0.975, n - 1) * error
        assert first.kappa_interval(other) == pytest.approx((value, value - half, value + half))


def test_the_interval_of_a_kappa_stays_within_minus_1_and_1():
    said = {"ann": "001100110011", "near": "001111000011"}  # kappa 1/3, without a topic 0, 1, 0: 1/3 +- 2.87
    rows = [(f"t{i // 4}", f"d{i}", who, float(v)) for who, values in said.items() for i, v in enumerate(values)]
    value, low, high = compare_model(Judgments.from_rows(rows, scales={"*": "binary"}), "near").kappa_interval()
    assert (value, low, high) == (pytest.approx(1 / 3), -1, 1)


@pytest.mark.nightly
@pytest.mark.parametrize(("n_draws", "least"), [(40, 0.85), pytest.param(120, 0.88, marks=pytest.mark.nightly)])
def test_the_interval_of_a_difference_of_kappas_covers_the_difference(n_draws, least):
    """Both models err more often in some topics than in others; 95 % nominal."""
    rng = np.random.default_rng(8)
    n_topics, n_documents, n_inside = 20, 12, 0
    expected = kappa_of_errors(0.2, 0.3) - kappa_of_errors(0.3, 0.3)
    topic = np.repeat(np.arange(n_topics), n_documents)
    for _ in range(n_draws):
        ann = (rng.random(topic.size) < 0.3).astype(float)
        draws = {"ann": ann}
        for name, mean in (("near", 0.2), ("far", 0.3)):
            share = rng.beta(4 * mean, 4 * (1 - mean), n_topics)[topic]
            draws[name] = np.where(rng.random(topic.size) < share, 1 - ann, ann)
        one = {
            name: compare_model(
                Judgments.from_rows(
                    [
                        (f"t{t}", f"d{d}", who, value)
                        for who in ("ann", name)
                        for d, (t, value) in enumerate(zip(topic, draws[who], strict=True))
                    ],
                    scales={"*": "binary"},
                ),
                name,
            )
            for name in ("near", "far")
        }
        _, low, high = one["near"].kappa_interval(one["far"])
        n_inside += low <= expected <= high
    assert n_inside / n_draws >= least  # at .945, fewer have a probability of .006, and of .003 among 120 draws


def kappa_of_errors(error, relevant):
    """Cohen's kappa with a model that errs on this share of documents, whatever they are."""
    of_model = relevant * (1 - error) + (1 - relevant) * error
    chance = relevant * of_model + (1 - relevant) * (1 - of_model)
    return (1 - error - chance) / (1 - chance)


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
