"""A preset is the protocol of a paper, setting by setting."""

from dataclasses import fields

import pytest

from qrowd.collect.protocols.presets import PRESETS, overrides, with_preset
from qrowd.collect.protocols.schema import SchemaError
from qrowd.collect.protocols.settings import SETTINGS, JourneySettings, journey_of, settings_of, to_table


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_names_every_setting_of_its_protocol_and_of_the_journey(name):
    preset = PRESETS[name]
    tables = preset.tables()
    assert set(tables[preset.protocol]) == {field.name for field in fields(SETTINGS[preset.protocol])}
    assert set(tables["journey"]) == {field.name for field in fields(JourneySettings)}
    assert to_table(settings_of(preset.protocol, tables[preset.protocol])) == tables[preset.protocol]
    assert to_table(journey_of(tables["journey"])) == tables["journey"]
    places = [(rule.table, rule.key) for rule in preset.rules]
    assert len(set(places)) == len(places)


def test_a_campaigns_own_settings_come_before_those_of_its_preset():
    table = {"campaign": {"name": "a", "preset": "maddalena2017"}, "magnitude": {"min_seconds": 5.0}, "topics": []}
    filled = with_preset(table)
    assert filled["magnitude"] == PRESETS["maddalena2017"].tables()["magnitude"] | {"min_seconds": 5.0}
    assert filled["journey"] == PRESETS["maddalena2017"].tables()["journey"]
    assert filled["campaign"] == {"name": "a", "preset": "maddalena2017", "questions": True, "checks": True}
    assert filled["topics"] == []
    assert with_preset(filled) == filled
    (change,) = overrides("maddalena2017", filled)
    assert (change.rule.key, change.rule.value, change.value) == ("min_seconds", 20.0, 5.0)


@pytest.mark.parametrize("table", [{}, {"campaign": {"name": "a"}}, {"campaign": 3}, {"campaign": {"preset": ""}}])
def test_without_a_preset_nothing_is_filled_in(table):
    assert with_preset(table) == table


@pytest.mark.parametrize("name", ["maddalena", 3, ["maddalena2017"]])
def test_a_preset_that_does_not_exist_is_refused_with_those_that_do(name):
    with pytest.raises(SchemaError, match=r"campaign.preset: .* cannot be used; choose one of maddalena2017$"):
        with_preset({"campaign": {"preset": name}})
