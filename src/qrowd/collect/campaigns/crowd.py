"""What a campaign knows of the platforms its assessors come from: plain tables, checked.

No secret stands in a table: only the name of the environment variable that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import urlsplit

from qrowd.collect.protocols.schema import SchemaError, Where

PROLIFIC_KEYS = "https://api.prolific.com/.well-known/study/jwks.json"
OUTCOMES = ("completed", "failed", "screened_out", "practice_failed", "declined")

Rule = Callable[[Where, Any], Any]


def crowd_of(table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tables of the platforms, whole: what they do not say has its default.

    prolific : codes (by outcome; "completed" is needed, the others are handed out where they are given), verified
        (whether only signed arrivals may take part), jwks_url, audience (our domain, for signed arrivals), study_id.
    panel : parameter (of the address that holds the assessor's id), codes and links (by outcome; at least one of them
        for "completed"), secret_env (signs ids).
    mturk : sandbox, frame_height (pixels, 0 fits).

    Raises
    ------
    SchemaError
        A platform or key that does not exist, or a value that cannot be used.

    >>> crowd_of({"mturk": {}})
    {'mturk': {'sandbox': True, 'frame_height': 0}}
    """
    crowd: dict[str, dict[str, Any]] = {}
    for name, part in table.items():
        if name not in KEYS:
            raise SchemaError((name,), f"there is no such platform; choose from {', '.join(KEYS)}")
        if not isinstance(part, Mapping):
            raise SchemaError((name,), f"expected a table, found {part!r}")
        for key in part:
            if key not in KEYS[name]:
                raise SchemaError((name, str(key)), f"there is no such key; choose from {', '.join(KEYS[name])}")
        crowd[name] = {
            key: rule((name, key), part[key]) if part.get(key, default) != default else deepcopy(default)
            for key, (default, rule) in KEYS[name].items()
        }
    _together(crowd)
    return crowd


def _together(crowd: Mapping[str, Mapping[str, Any]]) -> None:
    """What no single key can tell."""
    if (prolific := crowd.get("prolific")) is not None:
        if "completed" not in prolific["codes"]:
            raise SchemaError(("prolific", "codes"), "'completed' is missing; give the study's completion code")
        if prolific["verified"] and not prolific["audience"]:
            raise SchemaError(("prolific", "audience"), "is missing; signed arrivals name our domain, give it")
    panel = crowd.get("panel")
    if panel is not None and "completed" not in panel["codes"] and "completed" not in panel["links"]:
        raise SchemaError(("panel", "codes"), "'completed' is missing, here and in panel.links; give one of them")


def _refused(where: Where, value: Any, next_step: str) -> SchemaError:
    return SchemaError(where, f"{value!r} cannot be used; {next_step}")


def _matching(pattern: str, next_step: str) -> Rule:
    def rule(where: Where, value: Any) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise _refused(where, value, next_step)
        return value

    return rule


def _switch(where: Where, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _refused(where, value, "write true or false")
    return value


def _height(where: Where, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10_000:
        raise _refused(where, value, "give pixels from 0 (fits) to 10000")
    return value


def _https(where: Where, value: Any) -> str:
    next_step = "give an address that begins with https://"
    if not isinstance(value, str) or not re.fullmatch(r"[!-~]{1,2000}", value):
        raise _refused(where, value, next_step)
    try:
        parts = urlsplit(value)
        sound = parts.scheme == "https" and bool(parts.hostname) and not parts.username and "\\" not in value
    except ValueError:
        sound = False
    if not sound:
        raise _refused(where, value, next_step)
    return value


def _by_outcome(rule: Rule) -> Rule:
    def whole(where: Where, value: Any) -> dict[str, str]:
        if not isinstance(value, Mapping):
            raise _refused(where, value, f"give a table with keys from {', '.join(OUTCOMES)}")
        for outcome in value:
            if outcome not in OUTCOMES:
                problem = f"there is no such outcome; choose from {', '.join(OUTCOMES)}"
                raise SchemaError((*where, str(outcome)), problem)
        return {outcome: rule((*where, outcome), item) for outcome, item in value.items()}

    return whole


_code = _matching(r"[A-Za-z0-9_-]{1,64}", "give letters, digits, - and _, at most 64")
_variable = _matching(r"[A-Z][A-Z0-9_]{0,63}", "give the environment variable's name, such as PANEL_KEY")
_domain = _matching(r"(https://)?[A-Za-z0-9.-]+(:[0-9]{1,5})?/?", "give our domain, such as judge.example.org")
_parameter = _matching(r"[A-Za-z][A-Za-z0-9_]{0,63}", "give the parameter's name, such as id")

KEYS: dict[str, dict[str, tuple[Any, Rule]]] = {
    "prolific": {
        "codes": ({}, _by_outcome(_code)),
        "verified": (False, _switch),
        "jwks_url": (PROLIFIC_KEYS, _https),
        "audience": ("", _domain),
        "study_id": ("", _code),
    },
    "panel": {
        "parameter": ("id", _parameter),
        "codes": ({}, _by_outcome(_code)),
        "links": ({}, _by_outcome(_https)),
        "secret_env": ("", _variable),
    },
    "mturk": {"sandbox": (True, _switch), "frame_height": (0, _height)},
}
