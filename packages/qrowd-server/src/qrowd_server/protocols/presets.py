"""Presets: protocols as papers print them, each a table of settings.

A preset is data. The keys that a campaign gives itself come before those of its preset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qrowd_server.protocols.schema import SchemaError
from qrowd_server.protocols.settings import ASK_DOCUMENT

Tables = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Rule:
    """One setting of a preset: table and key as in `campaign.toml`, the value, and the section that says so."""

    table: str
    key: str
    value: Any
    section: str
    rule: str


@dataclass(frozen=True)
class Preset:
    """The protocol of a paper. protocol : by name. source : the paper. rules : its settings."""

    protocol: str
    source: str
    rules: tuple[Rule, ...]

    def tables(self) -> Tables:
        """The settings by table and key."""
        tables: Tables = {}
        for rule in self.rules:
            tables.setdefault(rule.table, {})[rule.key] = rule.value
        return tables


@dataclass(frozen=True)
class Override:
    """A setting of a preset that a campaign changed. value : the campaign's. rule : the preset's."""

    rule: Rule
    value: Any


PRESETS: Mapping[str, Preset] = {
    "maddalena2017": Preset(
        "magnitude",
        "Maddalena, Mizzaro, Scholer & Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval "
        "Evaluation. ACM TOIS 35(3), section 3.2 and Appendix A",
        (
            Rule("journey", "consent", True, "3.2.1", "participants agree to take part before anything is shown"),
            Rule("journey", "practice", True, "3.2.1", "practice: magnitudes of three lines, longer lines higher"),
            Rule("journey", "practice_attempts", 1, "3.2.5 (a)", "a failed practice ends the attempt"),
            Rule("journey", "practice_restart", True, "3.2.5", "who failed may begin again from the start"),
            Rule("journey", "practice_each_unit", True, "3.2.5", "every unit begins with the same checks"),
            Rule("journey", "restart", True, "3.2.5", "after a failure the next unit is of another topic"),
            Rule("journey", "another", True, "3.2.2", "further units, each of another topic"),
            Rule("journey", "max_units", 18, "3.2.2", "at most 18 units for each participant"),
            Rule("journey", "ask_organisers", False, "-", "not said; questions to the organisers"),
            Rule("campaign", "questions", True, "3.2.2", "a question about each topic, with four answers"),
            Rule("magnitude", "attempts", 1, "3.2.5 (b)", "a wrong answer to the question ends the unit"),
            Rule("magnitude", "k", 8, "3.2", "eight documents in a unit"),
            Rule("campaign", "checks", True, "3.2.4", "two documents, H and N of the topic, in each unit"),
            Rule("magnitude", "redundancy", 10, "3.2.4", "at least 10 magnitudes of each document"),
            Rule("magnitude", "equal", "fails", "3.2.5 (c)", "the magnitude of H is greater than that of N"),
            Rule("magnitude", "min_seconds", 20.0, "3.2.5 (d)", "at least 20 seconds on each document"),
            Rule("magnitude", "clock", "server", "-", "not said; the server's clock"),
            Rule("magnitude", "revisions", -1, "3.2.5", "a unit that failed (c) or (d) may be revised without limit"),
            Rule("magnitude", "reason", "required", "3.2.2", "a brief reason for each magnitude"),
            Rule("magnitude", "max_reason", 2000, "-", "not said; characters of a reason"),
            Rule("magnitude", "rating", False, "3.2.2", "the unit ends with the last document"),
            Rule("magnitude", "ask", ASK_DOCUMENT, "3.2.2", "relevance is judged"),
            Rule("magnitude", "topic", "full", "3.2.2", "title, description and narrative at the top of the screen"),
        ),
    )
}


def preset_of(name: Any) -> Preset:
    """A preset by its name.

    Raises
    ------
    SchemaError
        There is none of that name.
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise SchemaError(("campaign", "preset"), f"{name!r} cannot be used; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]


def with_preset(table: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a campaign with the settings of its preset, if it names one, where it has none of its own.

    In a campaign with arms, those of the preset's protocol get its settings.
    """
    head = table.get("campaign")
    if not isinstance(head, Mapping) or not head.get("preset"):
        return dict(table)
    preset = preset_of(head["preset"])
    filled, arms = dict(table), table.get("arms")
    for name, settings in preset.tables().items():
        if name == preset.protocol and isinstance(arms, Mapping) and arms:
            filled["arms"] = {arm: _with_settings(own, name, settings) for arm, own in arms.items()}
        else:
            filled = _with_settings(filled, name, settings, always=True)
    return filled


def _with_settings(tables: Any, name: str, settings: Mapping[str, Any], *, always: bool = False) -> Any:
    """Tables of which the one of that name has further settings. always : also where it is missing."""
    own = tables.get(name) if isinstance(tables, Mapping) else None
    if isinstance(own, Mapping):
        return {**tables, name: {**settings, **own}}
    return {**tables, name: dict(settings)} if own is None and always else tables


def overrides(name: str, tables: Mapping[str, Mapping[str, Any]]) -> Iterator[Override]:
    """The settings of a preset for which a campaign's tables have another value."""
    for rule in PRESETS[name].rules:
        value = tables.get(rule.table, {}).get(rule.key, rule.value)
        if value != rule.value:
            yield Override(rule, value)
