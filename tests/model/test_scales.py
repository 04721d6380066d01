"""Scales: their notation, what they allow, and how they are inferred."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ScaleError
from qrowd.model.scales import Scale, infer_scale, parse_scale

SCALES = {
    "binary": Scale("binary", 1.0),
    "0-3": Scale("graded", 3.0),
    "0..1": Scale("fractions", 1.0),
    "0..2.5": Scale("fractions", 2.5),
    "magnitude": Scale("magnitude", inf),
    "magnitude normalised": Scale("magnitude", inf, normalised="normalised"),
    "magnitude normalised by geometric-mean": Scale("magnitude", inf, normalised="normalised by geometric-mean"),
}


@pytest.mark.parametrize("text", SCALES)
def test_the_notation_reads_back_as_what_it_says(text):
    assert parse_scale(text) == SCALES[text]
    assert str(parse_scale(text)) == text


def test_two_grades_are_binary_and_capitals_and_blanks_do_not_matter():
    assert parse_scale("0-1") == SCALES["binary"]
    assert parse_scale(" Magnitude ") == SCALES["magnitude"]


@pytest.mark.parametrize("text", ["", "graded", "1-3", "0-3.5", "0..", "3", "0..-1", "0-3-5"])
def test_what_is_no_scale_is_answered_with_the_notation(text):
    with pytest.raises(ScaleError, match=f"scale {text!r} is not understood; write binary, 0-3, 0..1, magnitude or"):
        parse_scale(text)


def test_the_lowest_relevant_value_is_the_first_grade_or_half_of_a_fraction():
    lowest = {text: scale.rel for text, scale in SCALES.items()}
    grades = {"binary": 1, "0-3": 1, "0..1": 0.5, "0..2.5": 1.25}
    assert lowest == {text: grades.get(text) for text in SCALES}


INFERRED = [
    ([], "binary"),
    ([-2, -1], "binary"),
    ([0, 0], "binary"),
    ([1, 1], "binary"),
    ([0, 1, -2], "binary"),
    ([0, 2], "0-2"),
    ([1, 2, 3], "0-3"),
    ([10], "0-10"),
    ([0, 100], "0-100"),
    ([11, 100], "magnitude"),
    ([0.5], "0..1"),
    ([0, 0.5, 1], "0..1"),
    ([0, 1.8, 5], "0..5"),
    ([0, 1.2], "0..2"),
    ([0.1, 0.5, 1.5], "magnitude"),
    ([0.5, 40], "magnitude"),
]


@pytest.mark.parametrize(("values", "scale"), INFERRED)
def test_the_simplest_scale_that_holds_the_values_is_inferred(values, scale):
    inferred = infer_scale(np.array(values, float))
    assert str(inferred) == scale
    assert not inferred.declared


@given(st.lists(st.sampled_from([-2, -1, 0, 1, 2, 3, 0.2, 0.5, 7.5, 12, 400])).map(lambda v: np.array(v, float)))
def test_an_inferred_scale_allows_the_values_it_came_from(values):
    assert infer_scale(values).problem(values) is None


def test_a_value_that_is_not_finite_has_no_scale():
    with pytest.raises(ScaleError, match="not finite"):
        infer_scale(np.array([1, inf]))
    assert infer_scale(np.array([1, nan])) == Scale("binary", 1.0, declared=False)


PROBLEMS = [
    ("binary", [0, 2], "value 2 is above the scale's maximum 1"),
    ("binary", [0.5], "value 0.5 is not a whole grade"),
    ("0-3", [3, 3.5], "value 3.5 is above the scale's maximum 3"),
    ("0-3", [2.5], "value 2.5 is not a whole grade"),
    ("0..1", [1.5], "value 1.5 is above the scale's maximum 1"),
    ("magnitude", [1, 0], "a magnitude must be above 0"),
    ("0-3", [-5, 0, 3], None),
    ("0..1", [-1, 0.3], None),
    ("magnitude", [-1, 1e300, 0.01], None),
    ("binary", [], None),
]


@pytest.mark.parametrize(("scale", "values", "problem"), PROBLEMS)
def test_a_scale_says_which_value_does_not_fit(scale, values, problem):
    assert SCALES[scale].problem(np.array(values, float)) == problem
