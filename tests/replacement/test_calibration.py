"""Calibration of a model: what its grades mean in the assessors' grades."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import calibration as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale
from qrowd.replacement import calibrated_judgments, calibration
from qrowd.simulation import simulate_demo

GRADE = st.integers(0, 3)
SCALES = {"ann": "0-3", "gpt": "0-3"}


@st.composite
def paired(draw, least=2):
    """(topic, model's grade, assessor's grade) rows of a few topics."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=least, max_size=5))
    return [(f"q{t}", draw(GRADE), draw(GRADE)) for t, size in enumerate(sizes) for _ in range(size)]


def judged(rows, scales=SCALES):
    """Judgments of ann and gpt."""
    cells = [
        (topic, f"d{d}", who, value)
        for d, (topic, model, other) in enumerate(rows)
        for who, value in (("gpt", model), ("ann", other))
    ]
    return Judgments.from_rows(cells, scales=scales)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(paired())
def test_every_number_is_what_obvious_loops_say(rows):
    result = calibration(judged(rows), "gpt")
    grades = sorted({model for _, model, _ in rows})
    assert result.grade.tolist() == grades
    assert result.n_documents.tolist() == [sum(model == grade for _, model, _ in rows) for grade in grades]
    meaning = oracle.recoding([row[1:] for row in rows], grades)
    assert result.calibrated.tolist() == pytest.approx([meaning[grade] for grade in grades])
    of_grade = [[other for _, model, other in rows if model == grade] for grade in grades]
    assert result.mean.tolist() == pytest.approx([np.mean(values) for values in of_grade])
    assert result.relevant.tolist() == pytest.approx([np.mean([v >= 1 for v in values]) for values in of_grade])
    assert result.difference == pytest.approx(np.mean([model - other for _, model, other in rows]))
    assert result.rmse == pytest.approx(oracle.root_mean_square([model - other for _, model, other in rows]))
    after = oracle.recoded_by_other_topics(rows)
    others = [other for _, _, other in rows]
    assert result.rmse_after == pytest.approx(oracle.root_mean_square(np.subtract(after, others)))
    assert calibrated_judgments(judged(rows), "gpt").value.tolist() == pytest.approx(after)
    by_grade = [grade - np.mean(values) for grade, values in zip(grades, of_grade, strict=True)]
    squares = np.average(np.square(by_grade), weights=result.n_documents)
    assert result.calibration_error == pytest.approx(np.sqrt(squares))


@given(paired())
def test_intervals_leave_out_one_topic_at_a_time(rows):
    result = calibration(judged(rows), "gpt")
    n = np.array([sum(row[0] == topic for row in rows) for topic in sorted({row[0] for row in rows})])
    quantile = scipy.stats.t.ppf(0.975, n.sum() ** 2 / (n**2).sum() - 1)
    half = oracle.jackknife(lambda some: np.mean([model - other for _, model, other in some]), rows, quantile)
    assert result.difference_low == pytest.approx(max(result.difference - half, -3), abs=1e-9)
    assert result.difference_high == pytest.approx(min(result.difference + half, 3), abs=1e-9)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(paired())
def test_a_model_equal_to_the_assessor_means_what_it_says(rows):
    same = [(topic, other, other) for topic, _, other in rows]
    result = calibration(judged(same), "gpt")
    assert result.calibrated.tolist() == result.mean.tolist() == result.grade.tolist()
    assert (result.difference, result.calibration_error, result.rmse) == (0, 0, 0)
    topics = {grade: {topic for topic, _, other in same if other == grade} for _, _, grade in same}
    assume(all(len(where) > 1 for where in topics.values()))
    assert (result.rmse_after, result.calibration_error_after) == (0, 0)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(paired(), st.sampled_from([{0: 0, 1: 2, 2: 5, 3: 9}, {0: 1, 1: 10, 2: 11, 3: 40}, {0: 0, 1: 0.1, 2: 0.2, 3: 1}]))
def test_other_numbers_for_a_models_grades_change_no_calibrated_grade(rows, numbers):
    plain = judged(rows)
    other = judged([(topic, numbers[model], grade) for topic, model, grade in rows], {"ann": "0-3"})
    assert calibration(other, "gpt").calibrated.tolist() == calibration(plain, "gpt").calibrated.tolist()
    assert calibrated_judgments(other, "gpt").value.tolist() == calibrated_judgments(plain, "gpt").value.tolist()


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(paired(), st.randoms())
def test_the_order_of_judgments_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    one, other = calibration(judged(rows), "gpt"), calibration(judged(shuffled), "gpt")
    assert other.to_frame().to_numpy() == pytest.approx(one.to_frame().to_numpy(), nan_ok=True)
    assert other.rmse_after == pytest.approx(one.rmse_after)


def test_of_several_assessors_the_mean_grade_of_each_document_counts():
    rows = [("q1", "a", 1, 3), ("q1", "b", 0, 1), ("q2", "c", 2, 2), ("q2", "d", 0, 0)]
    cells = [(topic, document, who, value) for topic, document, *values in rows
             for who, value in zip(("ann", "bob"), values, strict=True)]  # fmt: skip
    cells += [("q1", "a", "gpt", 1), ("q1", "b", "gpt", 0), ("q2", "c", "gpt", 1), ("q2", "d", "gpt", 0)]
    scales = dict.fromkeys(("ann", "bob", "gpt"), "0-3")
    result = calibration(Judgments.from_rows(cells, scales=scales), "gpt")
    assert result.mean.tolist() == [0.25, 2.0]
    assert result.relevant.tolist() == [0.25, 1.0]
    one = calibration(Judgments.from_rows(cells, scales=scales), "gpt", assessors="bob")
    assert one.mean.tolist() == [0.5, 2.5]


def test_unlike_scales_are_compared_over_their_maximum_and_magnitudes_not_at_all():
    rows = [("q1", 1, 3), ("q1", 0, 1), ("q2", 1, 2), ("q2", 0, 0)]
    binary = calibration(judged(rows, {"ann": "0-3", "gpt": "binary"}), "gpt")
    assert binary.difference == pytest.approx(np.mean([0, -1, 1, 0]))
    magnitudes = [(topic, 10.0**model, other) for topic, model, other in rows]
    result = calibration(judged(magnitudes, {"ann": "0-3", "gpt": "magnitude"}), "gpt")
    assert np.isnan([result.difference, result.rmse, result.calibration_error]).all()
    assert result.calibrated.tolist() == binary.calibrated.tolist()
    assert result.rmse_after == binary.rmse_after


def test_many_values_are_put_together_in_ten_rows_of_about_as_many_documents():
    judgments = simulate_demo()[1].select(assessors=["ann", "llm-a"])
    result = calibration(judgments, "llm-a")
    assert result.grade.size <= 10
    assert (np.diff(result.grade) > 0).all()
    assert (np.diff(result.calibrated) >= 0).all()
    assert result.n_documents.sum() == 1000
    assert result.rmse_after < result.rmse


def test_recoded_judgments_are_on_the_assessors_scale_and_relevant_from_the_same_grade_on():
    rows = [("q1", 1, 3), ("q1", 0, 1), ("q2", 1, 2), ("q2", 0, 0)]
    recoded = calibrated_judgments(judged(rows, {"ann": "0-3", "gpt": "binary"}), "gpt")
    assert recoded.assessors == ("gpt",)
    assert recoded.scales == (Scale("fractions", 3.0, True, 1.0),)
    assert recoded.value.tolist() == [2.0, 0.0, 3.0, 1.0]


def test_a_topic_that_the_assessor_did_not_judge_is_recoded_by_all_others():
    rows = [("q1", "a", "ann", 2), ("q1", "a", "gpt", 1), ("q2", "b", "ann", 3), ("q2", "b", "gpt", 1),
            ("q3", "c", "gpt", 1)]  # fmt: skip
    assert calibrated_judgments(Judgments.from_rows(rows, scales=SCALES), "gpt").value.tolist() == [3.0, 2.0, 2.5]


def test_a_model_that_shares_no_document_is_refused():
    rows = [("q1", "a", "ann", 2), ("q1", "b", "gpt", 1)]
    with pytest.raises(NoOverlapError, match="'gpt' and ann judged no document in common"):
        calibration(Judgments.from_rows(rows, scales=SCALES), "gpt")
    with pytest.raises(ArgumentError, match="confidence"):
        calibration(judged([("q1", 1, 3)]), "gpt", confidence=95)


def test_what_the_grades_of_three_models_mean_in_nists_of_dl21(dl21):
    """TREC 2021 Deep Learning; means computed with pandas, too."""
    import qrowd

    names = ("umbrela-gpt4o", "umbrela-llama32")
    files = {"nist": dl21 / "qrels.nist.txt"} | {name: dl21 / "judges" / f"{name}.qrels.gz" for name in names}
    judgments = qrowd.read_judgments(files)
    gpt, llama = (calibration(judgments, name, assessors="nist") for name in names)
    assert gpt.calibrated.round(2).tolist() == [0.15, 0.95, 1.62, 2.03]
    assert llama.calibrated.round(2).tolist() == [0.41, 0.87, 1.11, 1.36]
    frame = judgments.to_frame()
    wide = frame.drop_duplicates(["topic", "document", "assessor"]).pivot(
        index=["topic", "document"], columns="assessor", values="value"
    )
    both = wide[["nist", names[0]]].dropna()
    expected = both.groupby(names[0])["nist"].mean().tolist()
    assert gpt.mean.tolist() == pytest.approx(expected)
    assert (round(gpt.difference, 3), round(gpt.rmse, 3), round(gpt.rmse_after, 3)) == (0.203, 0.866, 0.758)
    assert (round(llama.difference, 3), round(llama.rmse, 3), round(llama.rmse_after, 3)) == (0.722, 1.407, 0.966)
