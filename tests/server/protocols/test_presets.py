"""A preset is the protocol of a paper, setting by setting."""

from dataclasses import fields
from pathlib import Path

import pytest

from qrowd_server.protocols.setting_fields import SchemaError
from qrowd_server.protocols.settings import (
    PRESETS,
    SETTINGS,
    JourneySettings,
    journey_of,
    overrides,
    settings_of,
    to_table,
    with_preset,
)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_names_every_setting_of_its_protocol_and_of_the_journey(name):
    preset = PRESETS[name]
    tables = preset.tables
    assert set(tables[preset.protocol]) == {field.name for field in fields(SETTINGS[preset.protocol])}
    assert set(tables["journey"]) == {field.name for field in fields(JourneySettings)}
    assert to_table(settings_of(preset.protocol, tables[preset.protocol])) == tables[preset.protocol]
    assert to_table(journey_of(tables["journey"])) == tables["journey"]


def test_a_campaigns_own_settings_come_before_those_of_its_preset():
    table = {"campaign": {"name": "a", "preset": "maddalena2017"}, "magnitude": {"min_seconds": 5.0}, "topics": []}
    filled = with_preset(table)
    assert filled["magnitude"] == PRESETS["maddalena2017"].tables["magnitude"] | {"min_seconds": 5.0}
    assert filled["journey"] == PRESETS["maddalena2017"].tables["journey"]
    assert filled["campaign"] == {"name": "a", "preset": "maddalena2017", "questions": True, "checks": True}
    assert filled["topics"] == []
    assert with_preset(filled) == filled
    (change,) = overrides("maddalena2017", filled)
    assert change == ("magnitude.min_seconds", 5.0, 20.0)


@pytest.mark.parametrize("table", [{}, {"campaign": {"name": "a"}}, {"campaign": 3}, {"campaign": {"preset": ""}}])
def test_without_a_preset_nothing_is_filled_in(table):
    assert with_preset(table) == table


@pytest.mark.parametrize("name", ["maddalena", 3, ["maddalena2017"]])
def test_a_preset_that_does_not_exist_is_refused_with_those_that_do(name):
    with pytest.raises(SchemaError, match=r"campaign.preset: .* cannot be used; choose one of maddalena2017$"):
        with_preset({"campaign": {"preset": name}})


# ---- each rule of section 3.2 of Maddalena et al. (2017), and the tests that hold it

WALK = "web/test_preset_in_browser.py::test_the_protocol_of_maddalena_et_al_from_the_first_page_to_the_second_unit"
BACK = "web/test_preset_in_browser.py::test_the_back_button_comes_with_the_advice_what_it_is_for"
SETTING = {  # by setting
    "consent": "protocols/test_journey.py::test_consent_then_three_lines_then_work",
    "practice": "protocols/test_journey.py::test_the_practice_passes_where_longer_lines_have_higher_numbers",
    "practice_attempts": "protocols/test_journey.py::test_after_the_last_attempt_it_ends",
    "practice_restart": "protocols/test_journey.py::"
    "test_whoever_may_restart_the_practice_begins_again_with_other_lines_and_all_attempts",
    "practice_each_unit": "protocols/test_journey.py::test_the_practice_may_come_before_each_unit",
    "restart": WALK,
    "another": "protocols/test_journey.py::test_whether_there_is_another_topic",
    "max_units": "protocols/test_journey.py::test_whether_there_is_another_topic",
    "questions": "campaigns/test_preset.py::test_a_topic_without_a_question_is_refused_by_its_name",
    "attempts": WALK,
    "k": "protocols/test_assembly.py::test_the_papers_topics_become_the_papers_units",
    "checks": "protocols/test_assembly.py::test_every_document_is_in_enough_units_and_none_two_ahead_of_another",
    "redundancy": "protocols/test_assembly.py::test_every_document_is_in_enough_units_and_none_two_ahead_of_another",
    "min_seconds": "protocols/test_magnitude.py::test_every_single_document_takes_20_seconds",
    "revisions": "protocols/test_magnitude.py::test_as_in_the_paper_any_number_of_revisions_can_be_chosen",
    "reason": "protocols/test_magnitude.py::test_a_required_reason_may_not_be_blank",
    "rating": "protocols/test_magnitude.py::test_without_a_rating_it_is_complete_at_once",
    "ask": "web/test_rendering.py::test_the_campaigns_question_is_asked_in_place_of_relevance",
    "topic": "web/test_rendering.py::test_the_whole_topic_stays_in_view_or_is_folded_and_is_there_once_in_any_case",
}
ALWAYS = {  # of every campaign of magnitudes, without a setting
    "3.2.5 (c) H is greater than N": "protocols/test_magnitude.py::test_h_has_to_stand_above_n",
    "3.2.1 instructions before the practice": "protocols/test_instructions.py::"
    "test_the_instructions_for_the_practice_have_the_content_of_appendix_a",
    "3.2.2 instructions before the documents": "protocols/test_instructions.py::"
    "test_the_instructions_for_the_documents_have_the_content_of_appendix_a",
    "3.2.2 the back button, with advice": BACK,
    "3.2.2 no topic twice": "campaigns/test_judging.py::"
    "test_no_unit_is_judged_more_often_than_wanted_and_no_topic_twice_by_anybody",
    "3.2.3 any number above 0": "protocols/test_numbers.py::test_any_text_is_a_number_above_0_or_refused",
    "3.2.4 random order": "protocols/test_sequence.py::test_the_order_is_fixed_by_the_seed_and_differs_between_seeds",
    "3.2.5 the message names no document": "protocols/test_magnitude.py::"
    "test_a_failed_check_names_nothing_and_leads_back_to_the_first_document_with_answers_kept",
    "3.2.5 nothing of a failed unit counts": "campaigns/test_judging.py::"
    "test_a_unit_that_fails_its_checks_is_kept_apart_and_goes_to_somebody_else",
}


def test_every_rule_of_section_3_2_has_a_test():
    rules = {key for table in PRESETS["maddalena2017"].tables.values() for key in table}
    assert rules - {"ask_organisers"} == set(SETTING)  # of which the paper says nothing
    tests = Path(__file__).parents[1]
    for place in {*SETTING.values(), *ALWAYS.values()}:
        file, _, name = place.partition("::")
        assert f"def {name}(" in (tests / file).read_text(), place
