"""What a campaign knows of the platforms its assessors come from: plain tables, checked.

No secret stands in a table: only the name of the environment variable that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, get_args
from urllib.parse import urlsplit

from annotated_types import Ge, Le
from pydantic import AfterValidator

from qrowd.collect.protocols.schema import SchemaError, read
from qrowd.collect.protocols.views import Outcome

PROLIFIC_KEYS = "https://api.prolific.com/.well-known/study/jwks.json"


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
Domain = Annotated[
    str,
    _matching(r"((https://)?[A-Za-z0-9.-]+(:[0-9]{1,5})?/?)?", "give our domain, such as judge.example.org"),
]
Variable = Annotated[str, _matching(r"([A-Z][A-Z0-9_]{0,63})?", "give the environment variable's name, as PANEL_KEY")]
Codes = Annotated[dict[str, Code], AfterValidator(_by_outcome)]
Links = Annotated[dict[str, Link], AfterValidator(_by_outcome)]
Parameter = Annotated[str, _matching(r"[A-Za-z][A-Za-z0-9_]{0,63}", "give the parameter's name, such as id")]


@dataclass(frozen=True)
class ProlificTable:
    """Assessors from Prolific.

    codes : by outcome; that of "completed" is needed, the others are handed out where they are there.
    verified : whether only signed arrivals may take part; they name our domain, `audience`.
    jwks_url : of the keys they are signed with.
    """

    codes: Codes = field(default_factory=dict)
    verified: bool = False
    jwks_url: Link = PROLIFIC_KEYS
    audience: Domain = ""
    study_id: Code = ""

    def __post_init__(self) -> None:
        if "completed" not in self.codes:
            raise SchemaError(("codes",), "'completed' is missing; give the study's completion code")
        if self.verified and not self.audience:
            raise SchemaError(("audience",), "is missing; signed arrivals name our domain, give it")


@dataclass(frozen=True)
class PanelTable:
    """Assessors from a panel.

    parameter : of the address that holds the assessor's id. codes, links : by outcome; at least one of them for
    "completed". secret_env : the environment variable that signs ids.
    """

    parameter: Parameter = "id"
    codes: Codes = field(default_factory=dict)
    links: Links = field(default_factory=dict)
    secret_env: Variable = ""

    def __post_init__(self) -> None:
        if "completed" not in {*self.codes, *self.links}:
            raise SchemaError(("codes",), "'completed' is missing, here and in panel.links; give one of them")


@dataclass(frozen=True)
class MturkTable:
    """Assessors from Mechanical Turk. frame_height : pixels; 0 fits."""

    sandbox: bool = True
    frame_height: Annotated[int, Ge(0), Le(10_000)] = 0


@dataclass(frozen=True)
class CrowdTables:
    """A table for each platform that assessors come from."""

    prolific: ProlificTable | None = None
    panel: PanelTable | None = None
    mturk: MturkTable | None = None


KEYS = tuple(one.name for one in fields(CrowdTables))


def crowd_of(table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tables of the platforms (`CrowdTables`), whole: what they do not say has its default.

    Raises
    ------
    SchemaError
        A platform or key that does not exist, or a value that cannot be used.

    >>> crowd_of({"mturk": {}})
    {'mturk': {'sandbox': True, 'frame_height': 0}}
    """
    return platforms_of(read(CrowdTables, table))


def platforms_of(tables: Any) -> dict[str, dict[str, Any]]:
    """The tables of those platforms that there are, as JSON values. tables : has a field for each of KEYS."""
    return {name: asdict(platform) for name in KEYS if (platform := getattr(tables, name)) is not None}
