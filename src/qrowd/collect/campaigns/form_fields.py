"""The fields of the form of a new campaign, and the text of campaign.toml that they stand for.

A field is called after its key, as `grades.k`, so that whatever the folder's reader finds wrong is shown beside it.
What cannot be read as a number stays a text, so that the reader says what fits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from qrowd.collect.campaigns.template import PROTOCOLS, Protocol
from qrowd.collect.protocols.settings import LABELS, SETTINGS, GoldSettings

Kind = Literal["text", "whole", "decimal", "flag", "lines"]
WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
DECIMAL = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?", re.ASCII)
POOLS = ("all", "column", "list", "runs")  # where the documents of each topic stand
CROWDS = ("", "sandbox", "live")  # Mechanical Turk: not used, its sandbox, or paid
TEXTS = {
    "protocol": "grades",
    "topics": "",  # as pasted
    "pool": "all",
    "pool.list": "",
    "guidelines": "",
    "prolific.completed": "",
    "prolific.failed": "",
    "mturk": "",
}
HEADING = """\
# A campaign of qrowd, made by the form in the browser.
# Check:  qrowd campaign create FOLDER --check
# Create: qrowd campaign create FOLDER
"""


@dataclass(frozen=True)
class FormField:
    """A field that stands for one key. default : what the form shows first; protocols : whose form has it."""

    name: str
    kind: Kind = "text"
    default: str = ""
    protocols: tuple[Protocol, ...] = PROTOCOLS

    @property
    def place(self) -> tuple[str, str]:
        """The table and the key."""
        table, _, key = self.name.partition(".")
        return table, key


def _default(kind: Any, key: str) -> str:
    value = next(one.default for one in fields(kind) if one.name == key)
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _settings(protocol: Protocol, **kinds: Kind) -> Iterator[FormField]:
    for key, kind in kinds.items():
        yield FormField(f"{protocol}.{key}", kind, _default(SETTINGS[protocol], key), (protocol,))


def _gold(**kinds: Kind) -> Iterator[FormField]:
    for key, kind in kinds.items():
        yield FormField(f"gold.{key}", kind, _default(GoldSettings, key), ("grades", "preference"))


FIELDS: dict[str, FormField] = {
    field.name: field
    for field in (
        FormField("campaign.title"),
        FormField("campaign.name"),
        FormField("campaign.instructions"),
        FormField("campaign.practice_instructions", protocols=("magnitude",)),
        FormField("campaign.consent"),
        FormField("campaign.language"),
        FormField("campaign.lease_minutes", "decimal", "60"),
        FormField("campaign.retention_days", "decimal"),
        FormField("campaign.seed", "whole"),
        FormField("campaign.checks", "flag", "yes", ("magnitude",)),
        FormField("grades.labels", "lines", "\n".join(LABELS[3]), ("grades",)),
        FormField("grades.guidelines", "lines", "", ("grades",)),
        *_settings("grades", ask="text", topic="text", reason="text", k="whole", redundancy="whole"),
        *_settings("grades", postpone="flag", cannot_tell="flag", rating="flag"),
        *_settings("magnitude", ask="text", topic="text", reason="text", k="whole", redundancy="whole"),
        *_settings("magnitude", min_seconds="decimal", revisions="whole", rating="flag"),
        *_settings("preference", ask="text", topic="text", redundancy="whole", sharing="text", pair_redundancy="whole"),
        *_settings("preference", definitely="flag", duplicates="flag", bad="flag", rating="flag"),
        FormField("journey.consent", "flag", "yes"),
        FormField("journey.practice", "flag", "yes", ("magnitude",)),
        FormField("journey.max_units", "whole", "0"),
        FormField("journey.ask_organisers", "flag", ""),
        *_gold(first="whole", every="whole", feedback="flag", exclude="flag", accuracy="decimal", min_answers="whole"),
        FormField("gold.tolerance", "whole", "0", ("grades",)),
        FormField("gold.bonus", "lines", "", ("grades", "preference")),
        FormField("files.depth", "whole", "10"),
    )
}
WRITTEN = ("k", "redundancy", "seed", "name", "title")  # also where they are as by default


def first_values() -> dict[str, str]:
    """What an empty form shows."""
    return {**TEXTS, **{field.name: field.default for field in FIELDS.values()}}


def shown_flags(protocol: str) -> list[str]:
    """The names of the boxes that the form of a protocol has."""
    return [field.name for field in FIELDS.values() if field.kind == "flag" and protocol in field.protocols]


def protocol_of_form(values: Mapping[str, str]) -> Protocol:
    """The protocol that was chosen."""
    return next((one for one in PROTOCOLS if one == values.get("protocol")), PROTOCOLS[0])


def name_of_title(title: str) -> str:
    """A name for addresses from a title.

    >>> name_of_title("How relevant is it?")
    'how-relevant-is-it'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:64].strip("-")


def tables_of(values: Mapping[str, str], *, gold: bool, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The tables of campaign.toml, the files aside.

    values : of the form, as entered. gold : whether there are gold questions. without : names of fields to leave out.
    """
    protocol = protocol_of_form(values)
    tables: dict[str, Any] = {"campaign": {}, protocol: {}, "journey": {}, **({"gold": {}} if gold else {})}
    for field in FIELDS.values():
        table, key = field.place
        text = values.get(field.name, field.default)
        if field.name in without or protocol not in field.protocols or table not in tables or field.kind == "lines":
            continue
        text = text.strip() if field.kind != "flag" else text
        if (text or field.kind == "flag") and (text != field.default or key in WRITTEN):
            tables[table][key] = _value(field.kind, text)
    head = tables["campaign"]
    if "campaign.name" in without:
        head["name"] = "campaign"
    elif "name" not in head:
        head["name"] = name_of_title(values.get("campaign.title", ""))
    if protocol == "grades":
        tables["grades"] |= _grades(values, without)
    if gold and (bonus := [] if "gold.bonus" in without else _bonus(values.get("gold.bonus", ""))):
        tables["gold"]["bonus"] = bonus
    return tables | _crowd(values, without)


def _value(kind: Kind, text: str) -> Any:
    if kind == "flag":
        return text == "yes"
    if kind == "whole" and WHOLE.fullmatch(text):
        return int(text)
    if kind == "decimal" and DECIMAL.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text


def lines_of(text: str) -> list[str]:
    """The lines of a text without blanks around them; those at the end that are empty are left out."""
    return [line.strip() for line in text.rstrip().split("\n")] if text.strip() else []


def _grades(values: Mapping[str, str], without: frozenset[str]) -> dict[str, Any]:
    """Scale, names and guidelines of the grades; a line that is missing has no guideline."""
    labels = [] if "grades.labels" in without else [line for line in lines_of(values.get("grades.labels", "")) if line]
    n = len(labels) or 4
    table: dict[str, Any] = {"scale": "binary" if n == 2 else f"0-{max(n - 1, 1)}"}
    if labels and tuple(labels) != LABELS.get(n - 1):
        table["labels"] = labels
    guidelines = [] if "grades.guidelines" in without else lines_of(values.get("grades.guidelines", ""))
    if guidelines:
        table["guidelines"] = [*guidelines, *[""] * (n - len(guidelines))]
    return table


def _bonus(text: str) -> list[Any]:
    """Steps of a bonus, one a line: an accuracy and an amount."""
    steps: list[Any] = []
    for line in filter(None, lines_of(text)):
        parts = [_value("decimal", part) for part in line.split()]
        steps.append(dict(zip(("accuracy", "amount"), parts, strict=True)) if len(parts) == 2 else line)
    return steps


def _crowd(values: Mapping[str, str], without: frozenset[str]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    codes = {
        key: text
        for key in ("completed", "failed")
        if (text := values.get(name := f"prolific.{key}", "").strip()) and name not in without
    }
    if codes:
        tables["prolific"] = {"codes": codes}
    if values.get("mturk") in CROWDS[1:]:
        tables["mturk"] = {"sandbox": values["mturk"] == "sandbox"}
    return tables


# ---- TOML


def toml_text(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables as the text of a TOML file.

    >>> print(toml_text({"grades": {"k": 2, "labels": ["a", "b"]}}), end="")
    [grades]
    k = 2
    labels = ["a", "b"]
    """
    parts = []
    for table, entries in tables.items():
        if entries or table in (*PROTOCOLS, "gold"):
            parts.append(f"[{table}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in entries.items()))
    return "\n".join(parts)


def _toml(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case str() if "\n" in value:
            return '"""\n' + "\n".join(map(_escaped, value.split("\n"))) + '"""'
        case str():
            return f'"{_escaped(value)}"'
    return str(value)


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")
