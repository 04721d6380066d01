"""Preferences: nothing is lost, merged or changed unless asked, and then as the plain loops here say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError, InputError, RowError
from qrowd.model.preferences import Preferences, concatenate_preferences
from strategies import few, preference_worlds

WITH_EVERYTHING = {
    "topic": ["t", "t", "u"],
    "preferred": ["a", "b", "a"],
    "other": ["b", "a", "c"],
    "assessor": ["ann", "ann", "bob"],
    "strength": [1, 2, 1],
    "weight": [1.0, 0.5, 1.0],
    "first": [1, 0, None],
    "order": [3, 1, 2],
    "seconds": [1.5, 2.5, 3.5],
    "time": ["noon", "night", None],
}


def same(one, two):
    assert one.to_rows() == two.to_rows()
    assert one.bad == two.bad
    for name in Preferences.OPTIONAL:
        mine, theirs = getattr(one, name), getattr(two, name)
        if mine is None or theirs is None:
            assert mine is theirs is None, name
        elif mine.dtype == object:
            assert mine.tolist() == theirs.tolist(), name
        else:
            np.testing.assert_array_equal(mine, theirs)


# ---- in and out


@few
@given(preference_worlds(), st.sampled_from(["pandas", "polars", "pyarrow"]))
def test_rows_and_marks_come_back_in_their_order_from_any_frame(world, backend):
    preferences = world.preferences
    assert [(*row[:4], row[4]) for row in preferences.to_rows()] == [row[:5] for row in world.rows]
    assert preferences.bad == tuple(mark[:3] for mark in world.bad)
    same(Preferences.from_frame(preferences.to_frame(backend)), preferences)


def test_what_was_recorded_comes_back_too():
    preferences = Preferences.from_frame(WITH_EVERYTHING)
    same(Preferences.from_frame(preferences.to_frame()), preferences)
    assert preferences.first.tolist()[:2] == [1, 0]
    assert np.isnan(preferences.first[2])
    assert list(preferences.to_frame().columns) == list(WITH_EVERYTHING)


def test_two_documents_and_the_preferred_one_say_which_was_shown_first():
    preferences = Preferences.from_frame(
        {"topic": ["t", "t"], "left": ["a", "a"], "right": ["b", "b"], "winner": ["a", "b"]}, assessor="ann"
    )
    assert [row[:4] for row in preferences.to_rows()] == [("t", "a", "b", "ann"), ("t", "b", "a", "ann")]
    assert preferences.first.tolist() == [1, 0]


def test_columns_may_have_other_names():
    frame = {"qid": ["t"], "mine": ["a"], "loser": ["b"], "worker": ["ann"]}
    assert Preferences.from_frame(frame, columns={"preferred": "mine"}).to_rows() == [("t", "a", "b", "ann", 1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"other": ["b", "b", "c"]}, r"row 2: .*b over b: a document cannot be preferred to itself"),
        ({"strength": [1, 3, 1]}, r"row 2: .*the strength must be 1, or 2"),
        ({"weight": [1, 0, 1]}, r"row 2: .*the weight must be a finite number above 0"),
        ({"first": [1, 2, 0]}, r"row 2: .*first must be 1, 0 or missing"),
        ({"other": ["b", None, "c"]}, r"row 2: other is missing"),
        ({"topic": ["", "t", "t"]}, r"row 1: topic is missing"),
        ({"preferred": [1.5, "b", "a"]}, r"preferred is 1.5; give labels as text"),
    ],
)
def test_what_cannot_be_a_preference_is_refused_by_row(change, message):
    with pytest.raises(RowError, match=message):
        Preferences.from_frame(WITH_EVERYTHING | change)


def test_a_winner_that_is_neither_document_is_refused():
    with pytest.raises(RowError, match="row 1: the preferred document 'c' is neither 'a' nor 'b'"):
        Preferences.from_frame({"topic": ["t"], "a": ["a"], "b": ["b"], "preferred": ["c"]}, assessor="ann")


def test_missing_columns_are_named():
    with pytest.raises(ArgumentError, match="no other column"):
        Preferences.from_frame({"topic": ["t"], "preferred": ["a"], "assessor": ["ann"]})
    with pytest.raises(ArgumentError, match="no preferred column"):
        Preferences.from_frame({"topic": ["t"], "other": ["a"], "assessor": ["ann"]})
    unnamed = Preferences.from_frame({"topic": ["t"], "preferred": ["a"], "other": ["b"]})
    assert unnamed.assessors == ("preferences",)


def test_rows_of_another_length_are_refused():
    with pytest.raises(RowError, match="row 1: expected"):
        Preferences.from_rows([("t", "a", "b")])


def test_columns_cannot_be_overwritten():
    with pytest.raises(ValueError, match="read-only"):
        Preferences.from_frame(WITH_EVERYTHING).topic[0] = 1


# ---- looking


def test_a_summary_counts_what_there_is():
    one = Preferences.from_rows([("t", "a", "b", "ann")], bad=[("t", "c", "ann"), ("t", "d", "ann")])
    assert repr(one) == "Preferences(1 preference, 2 Bad marks: 1 topic, 4 documents, 1 assessor)"
    assert repr(Preferences.from_rows([])) == "Preferences(0 preferences: 0 topics, 0 documents, 0 assessors)"
    assert Preferences.from_rows([]).pool.starts.tolist() == [0]


@few
@given(preference_worlds())
def test_repeats_are_counted_as_loops_count_them(world):
    preferences = world.preferences
    said = [row[:4] for row in world.rows]
    assert preferences.n_repeats() == len(said) - len(set(said))


# ---- views


@few
@given(preference_worlds())
def test_a_view_holds_what_one_assessor_said_of_one_topic(world):
    preferences = world.preferences
    for t, topic in enumerate(preferences.topics):
        inside = [preferences.documents[d] for d in preferences.pool.document[preferences.pool.rows(t)]]
        said = [row for row in world.rows if row[0] == topic]
        marked = [mark for mark in world.bad if mark[0] == topic]
        assert set(inside) == {d for row in said for d in row[1:3]} | {mark[1] for mark in marked}
        judged = preferences.topic_view(t).judged()
        for a, assessor in enumerate(preferences.assessors):
            view = preferences.topic_view(t).of(a)
            mine = [row for row in said if row[3] == assessor]
            assert [(inside[i], inside[j]) for i, j in view.pairs] == [row[1:3] for row in mine]
            assert view.strength.tolist() == [row[4] for row in mine]
            assert view.weight.tolist() == [row[5] for row in mine]
            assert [world.rows[row] for row in view.rows] == mine
            bad = [mark for mark in marked if mark[2] == assessor]
            assert [inside[d] for d in view.bad] == [mark[1] for mark in bad]
            seen = {d for row in mine for d in row[1:3]} | {mark[1] for mark in bad}
            assert {inside[d] for d in np.flatnonzero(judged[:, a])} == seen
            assert view.n_assessors == 1


# ---- new ones from these


@few
@given(preference_worlds(), st.sampled_from(["t", "u"]), st.sets(st.sampled_from(["D1", "D10", "a", "é"]), min_size=1))
def test_a_selection_keeps_the_rows_whose_topic_assessor_and_both_documents_are_wanted(world, topic, documents):
    preferences = world.preferences
    chosen = preferences.select(
        topics=lambda name: name == topic,
        documents=lambda name: name in documents,
        assessors=lambda name: name == "ann",
    )
    rows = [r[:5] for r in world.rows if r[0] == topic and r[3] == "ann" and set(r[1:3]) <= documents]
    assert chosen.to_rows() == rows
    assert chosen.bad == tuple(m[:3] for m in world.bad if m[0] == topic and m[2] == "ann" and m[1] in documents)
    assert set(chosen.documents) == {d for row in rows for d in row[1:3]} | {mark[1] for mark in chosen.bad}


@few
@given(st.lists(preference_worlds(), min_size=1, max_size=3))
def test_parts_are_put_one_after_the_other_and_nothing_is_lost(worlds):
    together = concatenate_preferences([world.preferences for world in worlds])
    assert together.to_rows() == [row[:5] for world in worlds for row in world.rows]
    assert together.bad == tuple(mark[:3] for world in worlds for mark in world.bad)
    assert together.weight.tolist() == [row[5] for world in worlds for row in world.rows]


def test_what_only_some_parts_recorded_is_missing_in_the_others():
    plain = Preferences.from_rows([("t", "a", "b", "ann")], bad=[("t", "c", "ann")])
    together = concatenate_preferences([plain, Preferences.from_frame(WITH_EVERYTHING)])
    assert together.weight.tolist() == [1, 1, 0.5, 1]
    np.testing.assert_array_equal(together.order, [np.nan, 3, 1, 2])


@pytest.mark.parametrize(("repeats", "kept"), [("first", ["b", "a"]), ("last", ["a", "a"])])
def test_of_pairs_judged_again_one_stays_by_the_order_column(repeats, kept):
    """By order, b over a was said before a over b."""
    single = Preferences.from_frame(WITH_EVERYTHING).single(repeats=repeats)
    assert [row[1] for row in single.to_rows()] == kept
    assert single.n_repeats() == 0


def test_pairs_judged_again_are_refused_on_request():
    with pytest.raises(InputError, match=r"the pair was judged before \(1 such rows in all\)"):
        Preferences.from_frame(WITH_EVERYTHING).single(repeats="error")
    with pytest.raises(ArgumentError, match="choose one of first, last, error"):
        Preferences.from_rows([]).single(repeats="mean")
    assert len(Preferences.from_rows([]).single(repeats="error")) == 0


def test_pooled_preferences_are_those_of_one_assessor():
    one = Preferences.from_rows([("t", "a", "b", "ann"), ("t", "b", "a", "bob")], bad=[("t", "c", "bob")])
    pooled = one.pooled(name="all")
    assert pooled.to_rows() == [("t", "a", "b", "all", 1), ("t", "b", "a", "all", 1)]
    assert pooled.bad == (("t", "c", "all"),)
