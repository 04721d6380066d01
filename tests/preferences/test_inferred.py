"""From grades to preferences and back: what is implied, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import preferences as oracle
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.preferences import from_grades, to_grades
from strategies import preference_worlds

judged = st.tuples(
    st.sampled_from("tu"), st.sampled_from("abcde"), st.sampled_from(["ann", "bob"]), st.sampled_from([-1, 0, 1, 2])
)
panels = st.lists(judged, min_size=1, max_size=25, unique_by=lambda row: row[:3]).map(Judgments.from_rows)


def grades_of(judgments):
    return {
        (judgments.topics[t], judgments.documents[d], judgments.assessors[a]): float(value)
        for t, d, a, value in zip(judgments.topic, judgments.document, judgments.assessor, judgments.value, strict=True)
    }


def implied(judgments):
    """(topic, preferred, other, assessor) of every pair of different grades."""
    grades = grades_of(judgments)
    return {
        (topic, one, two, who)
        for (topic, one, who), value in grades.items()
        for (where, two, other), lower in grades.items()
        if (where, other) == (topic, who) and value > lower >= 0
    }


@settings(max_examples=settings.default.max_examples)
@given(panels)
def test_of_two_documents_the_higher_grade_is_preferred(judgments):
    preferences = from_grades(judgments)
    rows = [row[:4] for row in preferences.to_rows()]
    assert len(rows) == len(set(rows))
    assert set(rows) == implied(judgments)
    assert set(preferences.bad) == {(t, d, a) for (t, d, a), value in grades_of(judgments).items() if value == 0}


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(preference_worlds())
def test_grades_are_how_many_documents_each_beats(world):
    expected = {
        (topic, document, assessor): float(level)
        for topic in world.topics
        for assessor in world.assessors
        for document, level in oracle.wins(world.said(assessor, topic), world.marked(assessor, topic)).items()
    }
    assert grades_of(to_grades(world.preferences)) == pytest.approx(expected)


@settings(max_examples=settings.default.max_examples)
@given(panels)
def test_grades_made_of_preferences_made_of_grades_are_in_the_same_order(judgments):
    before, after = grades_of(judgments), grades_of(to_grades(from_grades(judgments)))
    for (topic, one, who), value in after.items():
        for (where, two, other), lower in after.items():
            if (where, other) == (topic, who):
                assert (value > lower) == (before[topic, one, who] > before[topic, two, who])


def test_without_preferences_there_are_no_grades():
    assert len(to_grades(Preferences.from_rows([]))) == 0
    assert len(from_grades(Judgments.from_rows([]))) == 0


def test_a_document_compared_only_in_an_even_contradiction_still_beats_what_is_bad():
    preferences = Preferences.from_rows([("t", "a", "b", "ann"), ("t", "b", "a", "ann")], bad=[("t", "c", "ann")])
    assert grades_of(to_grades(preferences)) == {
        ("t", "a", "ann"): 1, ("t", "b", "ann"): 1, ("t", "c", "ann"): 0,
    }  # fmt: skip
