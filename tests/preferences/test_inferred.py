"""From grades to preferences and back: what is implied, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import preferences as oracle
from qrowd.errors import ArgumentError
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


def implied(judgments, ties):
    """{(topic, preferred, other, assessor): weight}, and the pairs that are tied."""
    grades = grades_of(judgments)
    found, tied = {}, set()
    for (topic, one, who), value in grades.items():
        for (where, two, other), lower in grades.items():
            if (where, other) == (topic, who) and one != two and min(value, lower) >= 0:
                if value > lower:
                    found[topic, one, two, who] = 1.0
                elif value == lower > 0:
                    tied.add((topic, frozenset((one, two)), who))
                    if ties == "fractional":
                        found[topic, one, two, who] = 0.5
    return found, tied


@settings(max_examples=50)
@given(panels, st.sampled_from(["drop", "fractional"]))
def test_of_two_documents_the_higher_grade_is_preferred(judgments, ties):
    preferences = from_grades(judgments, ties=ties)
    weights = np.ones(len(preferences)) if preferences.weight is None else preferences.weight
    rows = [row[:4] for row in preferences.to_rows()]
    assert len(rows) == len(set(rows))
    assert dict(zip(rows, weights.tolist(), strict=True)) == implied(judgments, ties)[0]
    assert set(preferences.bad) == {(t, d, a) for (t, d, a), value in grades_of(judgments).items() if value == 0}


@settings(max_examples=50)
@given(panels, st.integers(0, 99))
def test_random_ties_prefer_one_of_the_two_and_two_bad_documents_neither(judgments, seed):
    preferences = from_grades(judgments, ties="random", rng=seed)
    certain, tied = implied(judgments, "drop")
    rows = [row[:4] for row in preferences.to_rows()]
    rest = [row for row in rows if row not in certain]
    assert sorted(row for row in rows if row in certain) == sorted(certain)
    assert {(t, frozenset((one, two)), who) for t, one, two, who in rest} == tied
    assert len(rest) == len(tied)
    assert rows == [row[:4] for row in from_grades(judgments, ties="random", rng=seed).to_rows()]


def test_the_coin_is_fair():
    judgments = Judgments.from_rows([("t", f"d{i}", "ann", 1) for i in range(100)])
    preferences = from_grades(judgments, ties="random", rng=1)
    assert len(preferences) == 4950
    assert abs(float((preferences.preferred < preferences.other).mean()) - 0.5) < 4 * 0.5 / 4950**0.5


def test_what_is_bad_is_a_choice():
    judgments = Judgments.from_rows([("t", d, "ann", v) for d, v in zip("abcd", (0, 0, 1, 2), strict=True)])
    assert from_grades(judgments, bad=None).bad == ()
    assert len(from_grades(judgments, bad=1.0).bad) == 3
    assert len(from_grades(judgments, bad=None, ties="fractional")) == 5 + 2


def test_an_unknown_rule_is_refused():
    with pytest.raises(ArgumentError, match="ties='both': choose one of drop, random, fractional"):
        from_grades(Judgments.from_rows([]), ties="both")
    with pytest.raises(ArgumentError, match="by='rank': choose one of wins, reach, share"):
        to_grades(Preferences.from_rows([]), by="rank")


@settings(max_examples=50)
@given(preference_worlds(), st.sampled_from(["wins", "reach", "share"]))
def test_grades_are_how_many_documents_each_beats(world, by):
    count = {"wins": oracle.wins, "reach": oracle.reach_won, "share": oracle.share_won}[by]
    expected = {
        (topic, document, assessor): float(level)
        for topic in world.topics
        for assessor in world.assessors
        for document, level in count(world.said(assessor, topic), world.marked(assessor, topic)).items()
    }
    assert grades_of(to_grades(world.preferences, by=by)) == pytest.approx(expected)


@settings(max_examples=50)
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


@pytest.mark.parametrize("by", ["wins", "reach"])
def test_a_document_compared_only_in_an_even_contradiction_still_beats_what_is_bad(by):
    preferences = Preferences.from_rows([("t", "a", "b", "ann"), ("t", "b", "a", "ann")], bad=[("t", "c", "ann")])
    assert grades_of(to_grades(preferences, by=by)) == {
        ("t", "a", "ann"): 1, ("t", "b", "ann"): 1, ("t", "c", "ann"): 0,
    }  # fmt: skip
