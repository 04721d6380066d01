"""evaluate() with preferences: what it returns, and what it refuses."""

import numpy as np
import pytest

from qrowd.errors import ArgumentError, MeasureError, NoOverlapError
from qrowd.evaluation import definitions, evaluate, measure
from qrowd.files import read_preferences
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.preferences import DEFINITIONS as OF_PREFERENCES

RUNS = Runs.from_dict({"s": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, "other": {"r": {"a": 1.0}}})
PREFERENCES = Preferences.from_rows(
    [("q", "a", "b", "ann"), ("q", "b", "a", "ann"), ("q", "c", "a", "bob"), ("r", "a", "b", "bob")],
    bad=[("q", "d", "ann")],
)


def test_scores_have_an_assessor_a_topic_and_a_system_and_are_nan_where_nothing_was_said():
    scores = evaluate(RUNS, PREFERENCES, ["ppref@10", "wpref"]).to_xarray()
    assert scores.dims == ("measure", "assessor", "topic", "system")
    assert scores.coords["measure"].values.tolist() == ["ppref@10", "wpref"]
    assert scores.sel(measure="ppref@10").values.tolist()[0][0] == [0.5, 0]
    assert np.isnan(scores.sel(assessor="ann", topic="r")).all()
    assert scores.sel(measure="ppref@10", assessor="bob").values.tolist() == [[0, 0], [0, 1]]


def test_the_result_counts_preferences_documents_and_repeats():
    doubled = Preferences.from_rows([*(row[:4] for row in PREFERENCES.to_rows()), ("q", "a", "b", "ann")])
    scores = evaluate(RUNS, doubled, "ppref").to_xarray()
    assert " | repeats " not in evaluate(RUNS, doubled, "ppref").signature  # there is no choice
    assert scores.coords["relevant"].values[0].tolist() == [[3, 0], [1, 1]]
    assert scores.coords["coverage"].values.tolist() == [[2 / 3, 0], [2 / 3, 1]]
    assert scores.attrs["repeated_judgments"] == 1
    assert scores.attrs["scales"] == {}


def test_missing_lists_empty_topics_and_coverage_follow_the_conventions():
    assert np.isnan(
        evaluate(RUNS, PREFERENCES, "ppref", conventions=Conventions(missing="skip"))
        .to_xarray()
        .sel(system="other", topic="q")
    ).all()
    only_bad = Preferences.from_rows([("q", "a", "b", "bob")], bad=[("q", "a", "ann")])
    assert evaluate(RUNS, only_bad, "ppref").to_xarray().sel(assessor="ann", system="s").item() == 0
    assert np.isnan(
        evaluate(RUNS, only_bad, "ppref", conventions=Conventions(empty="nan"))
        .to_xarray()
        .sel(assessor="ann", system="s")
        .item()
    )
    assert np.isnan(
        evaluate(RUNS, only_bad, "ppref", conventions=Conventions(min_coverage=0.6))
        .to_xarray()
        .sel(assessor="ann", system="s")
        .item()
    )


def test_condensed_lists_leave_out_what_the_assessor_did_not_compare():
    said = Preferences.from_rows([("q", "c", "a", "ann"), ("q", "a", "b", "bob")])
    assert evaluate(RUNS, said, "ppref@2").to_xarray().sel(assessor="ann", system="s").item() == 0
    whole, condensed = (
        evaluate(RUNS, said, "APpref@2", conventions=Conventions(unjudged=unjudged))
        .to_xarray()
        .sel(assessor="bob", system="s")
        .item()
        for unjudged in ("nonrelevant", "condensed")
    )
    assert whole == condensed == 1
    far = Preferences.from_rows([("q", "c", "d", "ann"), ("q", "a", "b", "bob")])
    assert evaluate(RUNS, far, "rpref@1").to_xarray().sel(assessor="ann", system="s").item() == 0
    assert (
        evaluate(RUNS, far, "rpref@1", conventions=Conventions(unjudged="condensed"))
        .to_xarray()
        .sel(assessor="ann", system="s")
        .item()
        == 1
    )


def test_a_measure_of_judgments_is_refused_and_the_way_out_is_named():
    with pytest.raises(MeasureError, match=r"nDCG@10: needs grades.*ppref, wpref.*qrowd\.preferences\.to_grades"):
        evaluate(RUNS, PREFERENCES, ["ppref", "nDCG@10"])


def test_a_measure_of_preferences_infers_them_from_grades_beside_other_measures():
    judgments = Judgments.from_rows([("q", "a", "ann", 1), ("q", "b", "ann", 2), ("q", "c", "ann", 0)])
    scores = evaluate(RUNS, judgments, ["P@1", "ppref", "compatibility@1"]).to_xarray().sel(system="s").values.ravel()
    assert scores.tolist() == [1, pytest.approx(2 / 3), 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grades": "rescaled"}, "grades='rescaled': preferences have no grades; leave it out"),
        ({"repeats": "last"}, "repeats='last': every preference counts, also a repeated one; leave it out"),
        ({"ties": "expected"}, "ppref: the expectation over ties needs a measure linear in gains"),
    ],
)
def test_conventions_that_mean_nothing_to_preferences_are_refused(options, message):
    with pytest.raises((ArgumentError, MeasureError), match=message):
        evaluate(RUNS, PREFERENCES, "ppref", conventions=Conventions(**options))


def test_no_preferences_or_no_common_topic_are_refused():
    with pytest.raises(ArgumentError, match="there are none"):
        evaluate(RUNS, Preferences.from_rows([]), "ppref")
    with pytest.raises(NoOverlapError, match="share no topic"):
        evaluate(RUNS, Preferences.from_rows([("z", "a", "b", "ann")]), "ppref")


@pytest.mark.parametrize("definition", definitions(), ids=lambda definition: definition.name)
def test_every_measure_is_found_by_its_name_and_says_what_it_is(definition):
    text = f"{definition.name}@10" if definition.cutoff == "required" else definition.name
    assert measure(text).definition is definition
    assert definition.sentence[0].isupper()
    assert definition.sentence.endswith(".")
    assert "=" in definition.formula
    assert definition.source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pref", "did you mean"),
        ("wpref(weight='middle')", "one of 'lower', 'upper', 'upper-log2'"),
        ("compatibility(p=1)", "strictly between 0 and 1"),
        ("ppref(strong=-1)", "a number from 0"),
    ],
)
def test_what_is_no_measure_of_preferences_is_explained(text, message):
    with pytest.raises(MeasureError, match=message):
        measure(text)
    assert measure("nwpref@5") == measure("wpref@5")
    assert measure("compat") == measure("compatibility")


@pytest.mark.parametrize(("empty", "score"), [("zero", 0.0), ("nan", np.nan)])
def test_a_topic_in_which_nobody_prefers_anything_scores_as_the_convention_says(tmp_path, empty, score):
    (tmp_path / "x.prefs").write_text("t1 g s a 2\nt1 g s b 1\nt2 g s a 1\nt2 g s b 1\nt3 g s a 0\nt3 g s b 0\n")
    runs = Runs.from_dict({"s": {topic: {"a": 2.0, "b": 1.0} for topic in ("t1", "t2", "t3")}})
    measures = [definition.name for definition in OF_PREFERENCES if definition.name != "compatibility"]
    scores = evaluate(runs, read_preferences(tmp_path / "x.prefs"), measures, conventions=Conventions(empty=empty))
    assert scores.topics == ("t1", "t2", "t3")
    np.testing.assert_array_equal(scores.values[:, 0, 1:, 0], np.full((len(measures), 2), score))
    assert (scores.values[:, 0, 0, 0] > 0).all()
