"""Forms: from the bytes of a request to the action that an assessor asks for.

The field `do` names the action; the action's own fields have their names. What an assessor left out or wrote too long
is a Refusal, shown beside the field; what no page of ours sends is a 400.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from urllib.parse import parse_qsl

from starlette.requests import Request

from qrowd_server.protocols.events import ACTIONS, MAX_REASON, MAX_SECONDS, MAX_TEXT, Action, Refusal
from qrowd_server.protocols.setting_fields import SchemaError, read
from qrowd_server.translatable import N_, Message
from qrowd_server.web.problems import Problem, malformed

Form = Mapping[str, str]
URLENCODED = "application/x-www-form-urlencoded"
MAX_FIELDS = 40
MAX_TOKEN = 4096  # characters
WHOLE_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
YES = frozenset({"1", "true", "yes", "on"})
TYPED = ("text", "reason", "option", "choice", "confidence", "understanding", "comment", "message")  # kept when refused


# ---- reading


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form sent by POST; each may be there once."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != URLENCODED:
        raise Problem(415, "media_type", f"Expected a form as {URLENCODED}.")
    return parse_form(await request.body())


def parse_form(body: bytes) -> dict[str, str]:
    """The fields of a body; line breaks are single, as they were typed.

    >>> parse_form(b"do=judge&text=0%2C5")
    {'do': 'judge', 'text': '0,5'}
    """
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except UnicodeDecodeError:
        raise malformed("The form is not in UTF-8.") from None
    except ValueError:
        raise malformed(f"The form has more than {MAX_FIELDS} fields.") from None
    return once(pairs)


def once(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Named values, each there once and without the character 0; else a Problem (400)."""
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields:
            raise malformed(f"{name[:40]!r} is there more than once.", name[:40])
        if "\x00" in value or "\x00" in name:
            raise malformed("The character 0 cannot be kept.", name[:40])
        fields[name] = value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value
    return fields


def query_of(request: Request) -> dict[str, str]:
    """The parameters of an address, each there once; else a Problem (400)."""
    try:
        text = request.scope["query_string"].decode("ascii")
        return once(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict"))
    except ValueError:
        raise malformed("The address cannot be read.") from None


# ---- actions

FIELDS = {kind: tuple(one.name for one in fields(kind)) for kind in ACTIONS.values()}
CHOOSE = {  # what to say where nothing was chosen
    "option": N_("Choose one of the answers."),
    "choice": N_("Choose the document that is better."),
    "confidence": N_("Choose one of the five."),
    "understanding": N_("Choose one of the five."),
}
WHOLE = frozenset({"position", "pair", "line", "option", "confidence", "understanding", "number"})
YES_OR_NO = frozenset({"agreed", "definitely"})


def action_of(form: Form) -> Action:
    """What the form asks for.
    >>> action_of({"do": "go_to", "position": "3"})
    GoTo(position=3)
    """
    name = form.get("do", "")
    if (kind := ACTIONS.get(name)) is None:
        raise malformed(f"do: expected one of {', '.join(ACTIONS)}, found {name[:40]!r}", "do")
    try:
        action: Action = read(kind, {field: _value(form, field) for field in FIELDS[kind]})
    except SchemaError as error:
        field, value = str(error.where[0]), form.get(str(error.where[0]), "")
        if not value and field in CHOOSE:
            raise Refusal("missing", CHOOSE[field], field) from None
        if error.code == "string_too_long":
            most = MAX_TEXT if field == "text" else MAX_REASON
            counts = {"n": len(value), "most": most}
            message = Message("This has %(n)s characters; at most %(most)s can be kept.", **counts)
            raise Refusal("long", message, field) from None
        raise malformed(str(error)[:200], field) from None
    return action


def _value(form: Form, name: str) -> str | int | float | bool | None:
    """A field as a JSON value; a text that is no number stays one, and is refused as such."""
    text = form.get(name, "")
    if name in YES_OR_NO:
        return text.lower() in YES
    if name == "active":
        return _seconds(text)
    return int(text) if name in WHOLE and WHOLE_NUMBER.fullmatch(text) else text


def _seconds(text: str) -> float | None:
    """The seconds that a browser reports; None where they make no sense."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= MAX_SECONDS else None


def token_of(form: Form, name: str) -> str:
    """A field that only repeats what the page said: the token, the key, what was shown."""
    value = form.get(name, "")
    if len(value) > MAX_TOKEN:
        raise malformed(f"{name}: is too long", name)
    return value
