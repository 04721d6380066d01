"""What can be chosen, what is chosen where nobody says, and what to tell somebody who chose badly."""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd.preferences.scheduling import ORDERS
from qrowd_server.protocols.settings import (
    SETTINGS,
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    journey_of,
    settings_of,
    to_table,
)


def test_without_a_word_a_magnitude_campaign_is_that_of_the_paper_but_for_one_revision():
    assert to_table(settings_of("magnitude", {})) == {
        "k": 8, "redundancy": 10, "min_seconds": 20.0, "revisions": 1,
        "attempts": 2, "reason": "required", "rating": True,
        "ask": "How relevant is this document to the topic?", "topic": "folded",
    }  # fmt: skip


def test_without_a_word_grades_have_four_grades_in_batches_of_20_for_three_people():
    assert to_table(settings_of("grades", {})) == {
        "scale": "0-3", "labels": ["not relevant", "marginally relevant", "relevant", "highly relevant"],
        "guidelines": [], "k": 20, "redundancy": 3, "attempts": 2, "reason": "optional",
        "postpone": True, "cannot_tell": True, "max_cannot_tell": 0.5, "rating": True,
        "ask": "How relevant is this document to the topic?", "topic": "folded",
    }  # fmt: skip


def test_without_a_word_preferences_are_one_assessors_own_and_stop_early():
    assert to_table(settings_of("preference", {})) == {
        "redundancy": 1, "sharing": "own", "order": "utility", "infer": True, "measure": "wpref", "stop": True,
        "definitely": True, "duplicates": False, "bad": True, "attempts": 2,
        "rating": True, "pair_redundancy": 1,
        "ask": "Which document is better?", "topic": "folded",
    }  # fmt: skip


def test_without_a_word_assessors_consent_practise_and_go_on_as_long_as_they_like():
    assert to_table(journey_of({})) == {
        "consent": True, "practice": True, "practice_attempts": 2, "another": True, "max_units": 0,
        "restart": True, "practice_each_unit": False, "practice_restart": False, "ask_organisers": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scale", "labels"),
    [
        ("binary", ("not relevant", "relevant")),
        ("0-1", ("not relevant", "relevant")),
        ("0-2", ("0", "1", "2")),
        ("0-4", ("bad", "fair", "good", "excellent", "perfect")),
    ],
)
def test_every_grade_has_a_name(scale, labels):
    settings = GradesSettings(scale=scale)
    assert settings.labels == labels
    assert settings.maximum == len(labels) - 1


whole, switch, words = st.integers(1, 10**6), st.booleans(), st.text(min_size=1).filter(str.strip)
TABLES = {
    "magnitude": st.fixed_dictionaries(
        {},
        optional={
            "k": st.integers(3, 50), "redundancy": whole, "min_seconds": st.floats(0, 86_400), "attempts": whole,
            "revisions": st.integers(-1, 99), "rating": switch,
            "reason": st.sampled_from(("required", "optional", "none")),
            "ask": words.filter(lambda text: len(text) <= 300),
            "topic": st.sampled_from(("full", "folded")),
        },
    ),
    "grades": st.fixed_dictionaries(
        {},
        optional={
            "scale": st.just("0-2"), "labels": st.just([]), "k": whole, "postpone": switch, "cannot_tell": switch,
            "max_cannot_tell": st.floats(0, 1), "reason": st.sampled_from(("required", "optional", "none")),
        },
    )
    | st.lists(words, min_size=3, max_size=3, unique=True).map(
        lambda labels: {"scale": "0-2", "labels": labels, "guidelines": labels[::-1]}
    ),
    "preference": st.fixed_dictionaries(
        {},
        optional={
            "redundancy": whole, "sharing": st.sampled_from(("own", "shared")), "measure": st.just("ppref"),
            "order": st.sampled_from(("keep-preferred", *ORDERS)), "duplicates": switch, "bad": switch,
            "infer": switch, "stop": switch,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(data=st.data())
def test_a_table_of_settings_is_the_same_after_json(name, data):
    settings = settings_of(name, data.draw(TABLES[name]))
    table = json.loads(json.dumps(to_table(settings)))
    assert settings_of(name, table) == settings
    assert to_table(settings_of(name, table)) == table


def test_settings_are_read_from_toml():
    table = tomllib.loads('scale = "binary"\nlabels = ["no", "yes"]\nmax_cannot_tell = 1\n')
    assert settings_of("grades", table) == GradesSettings(scale="binary", labels=("no", "yes"), max_cannot_tell=1.0)
    assert journey_of({"max_units": 3}) == JourneySettings(max_units=3)


GRADES_RULE = "cannot be used; write binary, or 0 to the highest grade, as 0-3"


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        ("grade", {}, "protocol 'grade': choose one of magnitude, grades, preference"),
        ("preference", {"k": 8}, "k: there is no such key; choose from redundancy, sharing, order, infer, measure, "
         "stop, definitely, duplicates, bad, "
         "attempts, rating, pair_redundancy, ask, topic"),
        ("magnitude", {"k": 2}, "k: 2 cannot be used; give at least 3"),
        ("magnitude", {"k": 8.0}, "k: 8.0 cannot be used; give a whole number"),
        ("magnitude", {"redundancy": True}, "redundancy: True cannot be used; give a whole number"),
        ("magnitude", {"revisions": -2}, "revisions: -2 cannot be used; give at least -1"),
        ("magnitude", {"min_seconds": -1}, "min_seconds: -1 cannot be used; give at least 0"),
        ("magnitude", {"min_seconds": float("nan")}, "min_seconds: nan cannot be used; give at most 86400"),
        ("magnitude", {"min_seconds": "20"}, "min_seconds: '20' cannot be used; give a number"),
        ("magnitude", {"reason": ["x"]}, "reason: ['x'] cannot be used; choose 'required', 'optional' or 'none'"),
        ("magnitude", {"attempts": 0}, "attempts: 0 cannot be used; give at least 1"),
        ("magnitude", {"rating": 1}, "rating: 1 cannot be used; write true or false"),
        ("magnitude", {"ask": ""}, "ask: '' cannot be used; give a longer text"),
        ("preference", {"topic": "all"}, "topic: 'all' cannot be used; choose 'full' or 'folded'"),
        ("grades", {"scale": "magnitude"}, f"scale: 'magnitude' {GRADES_RULE}"),
        ("grades", {"scale": "0..1"}, f"scale: '0..1' {GRADES_RULE}"),
        ("grades", {"scale": "0-101"}, f"scale: '0-101' {GRADES_RULE}"),
        ("grades", {"scale": 3}, "scale: 3 cannot be used; give a text"),
        ("grades", {"labels": "abcd"}, "labels: 'abcd' cannot be used; give a list"),
        ("grades", {"labels": ["a", "b"]}, "labels: 2 texts for 4 grades; give one for each, lowest grade first"),
        ("grades", {"scale": "binary", "labels": ["a", "a"]}, "labels: ['a', 'a']; give every grade a name of its own"),
        ("grades", {"scale": "binary", "labels": ["a", " "]}, "labels: ['a', ' ']; give every grade a name of its own"),
        ("grades", {"guidelines": ["a", 1, "c", "d"]}, "guidelines[1]: 1 cannot be used; give a text"),
        ("grades", {"k": 0}, "k: 0 cannot be used; give at least 1"),
        ("grades", {"max_cannot_tell": 1.1}, "max_cannot_tell: 1.1 cannot be used; give at most 1"),
        ("preference", {"order": "best"}, "order: 'best' cannot be used; choose 'keep-preferred', "
         + ", ".join(map(repr, ORDERS)).replace(", 'top'", " or 'top'")),
        ("preference", {"sharing": "all"}, "sharing: 'all' cannot be used; choose 'own' or 'shared'"),
        ("preference", {"measure": "ndcg"}, "measure: 'ndcg' cannot be used; choose 'wpref' or 'ppref'"),
        ("preference", {"sharing": "shared", "pair_redundancy": 3, "redundancy": 2},
         "pair_redundancy: 3 assessors of each pair, but 2 of a topic; raise redundancy"),
        ("preference", {"stop": "yes"}, "stop: 'yes' cannot be used; write true or false"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_by_its_key(name, table, message):
    with pytest.raises(ArgumentError) as found:
        settings_of(name, table)
    assert str(found.value) == message


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"lines": 4},
            "lines: there is no such key; choose from consent, practice, practice_attempts, another, max_units, "
            "restart, practice_each_unit, practice_restart, ask_organisers",
        ),
        ({"practice_attempts": 0}, "practice_attempts: 0 cannot be used; give at least 1"),
        ({"max_units": -1}, "max_units: -1 cannot be used; give at least 0"),
        ({"restart": None}, "restart: None cannot be used; write true or false"),
    ],
)
def test_so_it_is_for_the_journey(table, message):
    with pytest.raises(ArgumentError) as found:
        journey_of(table)
    assert str(found.value) == message


def test_every_pair_is_asked_without_inference_and_stop():
    settings = settings_of("preference", {"order": "all", "stop": True, "infer": True})
    assert (settings.infer, settings.stop) == (False, False)
    assert to_table(settings)["infer"] is False


def test_settings_can_be_made_in_python_too():
    assert MagnitudeSettings(redundancy=5) == settings_of("magnitude", {"redundancy": 5})
    assert PreferenceSettings(order="kept") == settings_of("preference", {"order": "kept"})


def test_what_is_made_in_python_obeys_the_same_limits():
    with pytest.raises(ArgumentError, match="k: 2 cannot be used; give at least 3"):
        MagnitudeSettings(k=2)
    with pytest.raises(ArgumentError, match=r"labels\[0\]: 1 cannot be used; give a text"):
        GradesSettings(labels=(1, 2))
    assert isinstance(MagnitudeSettings(min_seconds=3).min_seconds, float)
