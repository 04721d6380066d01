"""Forms: from the bytes of a request to what the assessor wants.

A field `do` names the action; the action's own fields have their names.
What somebody left out or wrote wrongly is a Refusal, told beside the field; what no page of ours sends is a 400.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Literal
from urllib.parse import parse_qsl

from starlette.requests import Request

from qrowd.collect.protocols.events import (
    Action,
    CannotTell,
    Choice,
    Consent,
    GoOn,
    GoTo,
    Judge,
    JudgeLine,
    LookUp,
    MarkBad,
    Postpone,
    Prefer,
    Rate,
    Refusal,
    Reply,
    Side,
    Undo,
)
from qrowd.collect.web.problems import Problem, malformed

Form = Mapping[str, str]
URLENCODED = "application/x-www-form-urlencoded"
MAX_FIELDS = 40
MAX_TEXT, MAX_REASON, MAX_TOKEN = 200, 2000, 4096  # characters
MAX_SECONDS = 1e7
YES = frozenset({"1", "true", "yes", "on"})
TYPED = ("text", "reason", "option", "choice", "confidence", "understanding", "comment")  # kept when refused


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


def typed_in(form: Form) -> dict[str, str]:
    """What somebody typed or chose, to be kept where it was."""
    return {name: form[name] for name in TYPED if name in form}


# ---- fields


def _number(form: Form, name: str) -> int:
    """A number that a page of ours put into the form."""
    value = form.get(name, "")
    if not re.fullmatch(r"[0-9]{1,9}", value, re.ASCII):
        raise malformed(f"{name}: expected a number from 0, found {value[:40]!r}", name)
    return int(value)


def _picked(form: Form, name: str, message: str) -> int:
    """A number that the assessor picks; none picked is a Refusal."""
    if not form.get(name):
        raise Refusal("missing", message, name)
    return _number(form, name)


def _text(form: Form, name: str, longest: int) -> str:
    value = form.get(name, "")
    if len(value) > longest:
        raise Refusal("long", f"This has {len(value):,} characters; at most {longest:,} can be kept.", name)
    return value


def _active(form: Form) -> float | None:
    """The browser's word on seconds; whatever makes no sense is no word."""
    try:
        seconds = float(form.get("active", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0 <= seconds <= MAX_SECONDS else None


def _yes(form: Form, name: str) -> bool:
    return form.get(name, "").lower() in YES


def _choice(form: Form) -> Choice:
    match form.get("choice", ""):
        case "left" | "right" | "duplicates" as choice:
            return choice
        case "":
            raise Refusal("missing", "Choose the document that is better.", "choice")
    raise malformed("choice: expected left, right or duplicates", "choice")


def _side(form: Form) -> Side:
    match form.get("side", ""):
        case "left" | "right" as side:
            return side
    raise malformed("side: expected left or right", "side")


def _rating(form: Form, name: Literal["confidence", "understanding"]) -> int:
    value = _picked(form, name, "Choose one of the five.")
    if not 1 <= value <= 5:
        raise malformed(f"{name}: expected 1 to 5", name)
    return value


# ---- actions

READERS: dict[str, Callable[[Form], Action]] = {
    "consent": lambda form: Consent(_yes(form, "agreed")),
    "line": lambda form: JudgeLine(_number(form, "line"), _text(form, "text", MAX_TEXT)),
    "go_on": lambda form: GoOn(),
    "reply": lambda form: Reply(_picked(form, "option", "Choose one of the answers.")),
    "judge": lambda form: Judge(
        _number(form, "position"), _text(form, "text", MAX_TEXT), _text(form, "reason", MAX_REASON), _active(form)
    ),
    "postpone": lambda form: Postpone(_number(form, "position")),
    "cannot_tell": lambda form: CannotTell(_number(form, "position"), _text(form, "reason", MAX_REASON), _active(form)),
    "go_to": lambda form: GoTo(_number(form, "position")),
    "prefer": lambda form: Prefer(_number(form, "pair"), _choice(form), _yes(form, "definitely"), _active(form)),
    "bad": lambda form: MarkBad(_number(form, "pair"), _side(form), _active(form)),
    "undo": lambda form: Undo(_number(form, "pair")),
    "look_up": lambda form: LookUp(),
    "rate": lambda form: Rate(
        _rating(form, "confidence"), _rating(form, "understanding"), _text(form, "comment", MAX_REASON)
    ),
}


def action_of(form: Form) -> Action:
    """What the form asks for.

    Raises
    ------
    Refusal
        Something is left out or too long.
    Problem
        400: there is no such action, or a field that no page of ours fills like that.

    >>> action_of({"do": "go_to", "position": "3"})
    GoTo(position=3)
    """
    name = form.get("do", "")
    if name not in READERS:
        raise malformed(f"do: expected one of {', '.join(READERS)}, found {name[:40]!r}", "do")
    return READERS[name](form)


def token_of(form: Form, name: str) -> str:
    """A field that only repeats what the page said: the token, the key, what was shown."""
    value = form.get(name, "")
    if len(value) > MAX_TOKEN:
        raise malformed(f"{name}: is too long", name)
    return value
