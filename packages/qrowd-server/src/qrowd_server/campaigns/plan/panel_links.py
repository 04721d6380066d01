"""The panel that a campaign's assessors come from, such as Prolific: how it names them, and the way back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator

from qrowd_server.protocols.setting_fields import SchemaError
from qrowd_server.protocols.views import Outcome

PROVIDER = "panel"  # of the assessors who come from one


def _matching(pattern: str, next_step: str) -> AfterValidator:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"{value!r} cannot be used; {next_step}")
        return value

    return AfterValidator(check)


def _https(value: str) -> str:
    """An address of the web without a user's name in it."""
    try:
        parts = urlsplit(value)
        sound = parts.scheme == "https" and parts.hostname and not parts.username and "\\" not in value
    except ValueError:
        sound = False
    if not sound or not re.fullmatch(r"[!-~]{1,2000}", value):
        raise ValueError(f"{value!r} cannot be used; give an address that begins with https://")
    return value


def _by_outcome(table: dict[str, str]) -> dict[str, str]:
    if stranger := next((key for key in table if key not in get_args(Outcome)), None):
        raise SchemaError((stranger,), f"there is no such outcome; choose from {', '.join(get_args(Outcome))}")
    return table


Code = Annotated[str, _matching(r"[A-Za-z0-9_-]{0,64}", "give letters, digits, - and _, at most 64")]
Link = Annotated[str, AfterValidator(_https)]
Codes = Annotated[dict[str, Code], AfterValidator(_by_outcome)]
Links = Annotated[dict[str, Link], AfterValidator(_by_outcome)]
Parameter = Annotated[str, _matching(r"[A-Za-z][A-Za-z0-9_]{0,63}", "give the parameter's name, such as id")]


@dataclass(frozen=True)
class PanelTable:
    """Assessors from a panel.

    parameter : of the address that holds the assessor's id. codes, links : by outcome; at least one of them for
    "completed".
    """

    parameter: Parameter = "id"
    codes: Codes = field(default_factory=dict)
    links: Links = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "completed" not in {*self.codes, *self.links}:
            raise SchemaError(("codes",), "'completed' is missing, here and in panel.links; give one of them")
