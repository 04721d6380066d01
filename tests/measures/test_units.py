"""Scores of answers: weighted means over judged units, against obvious loops and worked examples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from qrowd.errors import ArgumentError, InputError, MeasureError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs, concatenate_runs

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2"]),
        st.sampled_from(["a", "b"]),
        st.sampled_from(["x", "y"]),
        st.sampled_from(["1", "2", "3"]),
        st.sampled_from(["ann", "bob"]),
        st.sampled_from([0, 0.5, 1, 2]),
    ),
    min_size=1,
    unique_by=lambda row: row[:5],
)
WEIGHTS = st.fixed_dictionaries({(c, u): st.sampled_from([-1.0, 0.5, 1, 3]) for c in "xy" for u in "123"})
COLUMNS = ("topic", "system", "criterion", "unit", "assessor", "value")


def answers(rows, weights):
    """The frame of rows with a weight by criterion and unit."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}
    return {**columns, "weight": [weights[row[2], row[3]] for row in rows]}


def mean(rows, weights, assessor, topic, system, criterion=None, rel=None):
    """The score, by a loop over the judgments."""
    total = positive = 0.0
    for t, s, c, u, who, value in rows:
        if (t, s, who) == (topic, system, assessor) and criterion in (None, c):
            gain = value if rel is None else float(value >= rel)
            total += weights[c, u] * gain
            positive += max(weights[c, u], 0)
    return total / positive if positive else np.nan


@given(ROWS, WEIGHTS)
@settings(max_examples=settings.default.max_examples // 2)
def test_a_score_is_the_weighted_mean_over_the_units_that_were_judged(rows, weights):
    frame = answers(rows, weights)
    runs, judgments = Runs.from_frame(frame), Judgments.from_frame(frame)
    measures = {"Mean": {}, "Mean(rel=1)": {"rel": 1}}
    if "y" in runs.criteria:
        measures |= {"Mean(criterion=y)": {"criterion": "y"}, "Mean(criterion=y,rel=2)": {"criterion": "y", "rel": 2}}
    scores = qrowd.evaluate(runs, judgments, list(measures))
    for m, options in enumerate(measures.values()):
        for a, who in enumerate(scores.assessors):
            for t, topic in enumerate(scores.topics):
                for s, system in enumerate(scores.systems):
                    expected = mean(rows, weights, who, topic, system, **options)
                    assert scores.values[m, a, t, s] == pytest.approx(expected, nan_ok=True)


@given(ROWS, WEIGHTS, st.randoms())
@settings(max_examples=settings.default.max_examples // 2)
def test_neither_the_order_of_rows_nor_files_by_assessor_change_a_score(rows, weights, random):
    frame = answers(rows, weights)
    shuffled = answers(random.sample(rows, len(rows)), weights)
    parts = [answers([row for row in rows if row[4] == who], weights) for who in dict.fromkeys(row[4] for row in rows)]
    together = concatenate_runs([Runs.from_frame(part) for part in parts])
    judgments = Judgments.from_frame(frame)

    def by_cell(runs, judgments):
        return qrowd.evaluate(runs, judgments, "Mean").to_frame().set_index(["assessor", "topic", "system"])["score"]

    expected = by_cell(Runs.from_frame(frame), judgments)
    for runs, judged in ((Runs.from_frame(shuffled), Judgments.from_frame(shuffled)), (together, judgments)):
        np.testing.assert_allclose(by_cell(runs, judged).loc[expected.index], expected)


def test_nuggets_are_scored_as_the_track_defines_it():
    """Vital and okay nuggets; support 1, partial .5, strict 0: V_strict, A_strict, V and A, worked by hand.

    Pradeep et al. (2024), arXiv 2411.09607, section 3: three vital nuggets (support, partial, not) and one okay one
    (support): V_strict = 1/3, V = (1 + .5) / 3, A_strict = 2/4, A = 2.5/4.
    """
    frame = {
        "topic": ["t"] * 4,
        "system": ["run"] * 4,
        "assessor": ["nist"] * 4,
        "criterion": ["vital", "vital", "vital", "okay"],
        "unit": ["1", "2", "3", "4"],
        "value": [1, 0.5, 0, 1],
    }
    measures = ["Mean(criterion=vital,rel=1)", "Mean(rel=1)", "Mean(criterion=vital)", "Mean"]
    scores = qrowd.evaluate(Runs.from_frame(frame), Judgments.from_frame(frame), measures)
    np.testing.assert_allclose(scores.values.ravel(), [1 / 3, 2 / 4, 1.5 / 3, 2.5 / 4])


def test_answers_and_rankings_have_their_own_measures():
    frame = answers([("q", "a", "x", "1", "ann", 1)], {("x", "1"): 1})
    runs, judgments = Runs.from_frame(frame), Judgments.from_frame(frame)
    with pytest.raises(MeasureError, match="nDCG@10: needs rankings, and these are answers; use Mean"):
        qrowd.evaluate(runs, judgments, "nDCG@10")
    with pytest.raises(MeasureError, match="no unit is of this criterion; criteria: x"):
        qrowd.evaluate(runs, judgments, "Mean(criterion=z)")
    with pytest.raises(MeasureError, match="Mean: needs answers, and these are rankings"):
        qrowd.evaluate({"a": {"q": {"d": 1}}}, {"ann": {"q": {"d": 1}}}, "Mean")
    with pytest.raises(ArgumentError, match="unjudged"):
        qrowd.evaluate(runs, judgments, "Mean", conventions=qrowd.Conventions(unjudged="condensed"))
    scores = qrowd.evaluate(runs, judgments, "Mean")
    assert scores.attributes["conventions"]["missing"] == "skip"


def test_a_unit_has_one_weight():
    frame = answers([("q", "a", "x", "1", who, 1) for who in ("ann", "bob")], {("x", "1"): 1})
    with pytest.raises(InputError, match="row 2: topic q, a/x/1: the weight is 2, and 1 in an earlier row"):
        Runs.from_frame({**frame, "weight": [1, 2]})


def test_a_table_of_scores_is_a_table_of_answers_of_one_unit():
    frame = {"topic": ["1", "1", "2"], "system": ["a", "b", "a"], "assessor": ["x"] * 3, "value": [0.25, 0.5, 1]}
    scores = qrowd.evaluate(Runs.from_frame(frame), Judgments.from_frame(frame), "Mean")
    np.testing.assert_array_equal(scores.values[0, 0], [[0.25, 0.5], [1, np.nan]])
