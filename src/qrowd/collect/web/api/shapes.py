"""Actions read from JSON; pages and receipts written as JSON. Both follow the dataclasses, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from qrowd.collect.campaigns.pages import Page, Receipt
from qrowd.collect.protocols import events
from qrowd.collect.protocols.events import Action
from qrowd.collect.web.api.bodies import check_keys, invalid
from qrowd.collect.web.forms import MAX_REASON, MAX_SECONDS, MAX_TEXT

KIND = "kind"  # which view it is
DO: dict[str, type] = {  # the same names as in forms
    "consent": events.Consent,
    "line": events.JudgeLine,
    "go_on": events.GoOn,
    "reply": events.Reply,
    "judge": events.Judge,
    "postpone": events.Postpone,
    "cannot_tell": events.CannotTell,
    "go_to": events.GoTo,
    "prefer": events.Prefer,
    "bad": events.MarkBad,
    "undo": events.Undo,
    "look_up": events.LookUp,
    "rate": events.Rate,
}
SPANS = {"confidence": (1, 5), "understanding": (1, 5)}  # of whole numbers; else from 0
LARGEST = 10**9 - 1
LENGTHS = {"text": MAX_TEXT, "reason": MAX_REASON, "comment": MAX_REASON}
MAX_SHOWN, MAX_KEY = 40, 100  # characters


# ---- in


def action_of(table: Mapping[str, Any]) -> tuple[Action, str, str]:
    """What somebody wants to do, the page it belongs to, and the key that makes it happen once.

    >>> action_of({"do": "go_to", "position": 3})
    (GoTo(position=3), '', '')
    """
    do = table.get("do")
    if not isinstance(do, str) or do not in DO:
        raise invalid("do", f"expected one of {', '.join(DO)}")
    kind = DO[do]
    known = fields(kind)
    check_keys(dict(table), ("do", "shown", "key", *(one.name for one in known)))
    hints = hints_of(kind)
    values = {}
    for one in known:
        if one.name in table:
            values[one.name] = _value(one.name, hints[one.name], table[one.name])
        elif one.default is MISSING:
            raise invalid(one.name, f"is missing; {do} needs it")
    shown, key = (_text(name, table.get(name, ""), most) for name, most in (("shown", MAX_SHOWN), ("key", MAX_KEY)))
    return cast("Action", kind(**values)), shown, key


def _value(name: str, hint: Any, value: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        if value is None:
            return None
        hint = next(one for one in get_args(hint) if one is not type(None))
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise invalid(name, f"expected one of {', '.join(get_args(hint))}")
        return value
    if hint is bool:
        if not isinstance(value, bool):
            raise invalid(name, "expected true or false")
        return value
    if hint is int:
        low, high = SPANS.get(name, (0, LARGEST))
        if isinstance(value, float) and value.is_integer():  # JSON knows one kind of number
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise invalid(name, f"expected a whole number from {low} to {high}")
        return value
    if hint is float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_SECONDS:
            raise invalid(name, f"expected seconds from 0 to {MAX_SECONDS:.0f}")
        return float(value)
    return _text(name, value, LENGTHS[name]).replace("\r\n", "\n").replace("\r", "\n")


def _text(name: str, value: Any, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise invalid(name, f"expected a text of at most {most} characters")
    return value


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    return get_type_hints(kind)


# ---- out


def page_table(page: Page) -> dict[str, Any]:
    """A page, whole and nothing else; its view says which one it is."""
    table: dict[str, Any] = plain(page)
    return table | {"view": {KIND: type(page.view).__name__, **table["view"]}}


def receipt_table(receipt: Receipt, page: Page) -> dict[str, Any]:
    """What became of an action, and what comes next."""
    return {
        "event": receipt.event_id,
        "time": receipt.time,
        "replayed": receipt.replayed,
        "late": receipt.late,
        "page": page_table(page),
    }


def plain(value: Any) -> Any:
    """The JSON value of frozen dataclasses, tuples and what is in them."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in _names(value.__class__)}
    raise TypeError(f"{type(value).__name__} has no place in an answer")


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))
