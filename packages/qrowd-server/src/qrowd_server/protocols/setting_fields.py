"""Tables of JSON become frozen dataclasses, by pydantic.

A dataclass says all there is to know: types, defaults, and limits such as `Annotated[int, Ge(0)]`. Values are taken as
JSON has them (no text stands for a number), keys that no field has are refused, and one line names the key at fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
Schema = dict[str, Any]
Where = tuple[str | int, ...]
HALVES = re.compile("[\ud800-\udfff]")
_text = json.JSONEncoder(default=str).encode


class SchemaError(ArgumentError):
    """A value that does not fit its type.

    where : the keys and places that lead to the value, as `("topics", 3, "label")`. problem : what is wrong, and what
    fits. code : pydantic's name of the problem, as "missing" or "string_too_long".
    """

    def __init__(self, where: Where, problem: str, code: str = "value_error") -> None:
        super().__init__(f"{path(where)}: {problem}" if where else problem)
        self.where, self.problem, self.code = where, problem, code


def read(kind: type[T], table: Any) -> T:
    """A dataclass from a value of JSON or TOML."""
    from pydantic import ValidationError

    reader: Any = kind
    try:
        value: T = adapter(reader).validate_json(_text(table), strict=True, extra="forbid")
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        if problem["type"] == "json_invalid" and (where := _half_character(table, ())) is not None:
            raise SchemaError(
                where, "holds half of a character, which no text can; remove it", "string_unicode"
            ) from None
        raise _schema_error(kind, problem) from None
    return value


def _half_character(value: Any, where: Where) -> Where | None:
    """Where in a value there is a text that no UTF-8 can hold."""
    if isinstance(value, str):
        return where if HALVES.search(value) else None
    parts: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, Mapping):
        parts = ((str(key), one) for key, one in value.items())
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    places = (_half_character(one, (*where, key)) for key, one in parts)
    return next((place for place in places if place is not None), None)


def check(value: Any) -> None:
    """Check the fields of a frozen dataclass that was made in Python, and bring them to their types.

    For its `__post_init__`, so that a value from Python obeys the same limits as one from a table.
    """
    kind: Any = type(value)
    for name, hint in _hints(kind):
        try:
            object.__setattr__(value, name, read(hint, getattr(value, name)))
        except SchemaError as error:
            raise SchemaError((name, *error.where), error.problem, error.code) from None


@cache
def _hints(kind: Any) -> list[tuple[str, Any]]:
    return list(get_type_hints(kind, include_extras=True).items())


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """What reads and writes values of a type."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def plain(kind: Any, value: Any) -> Any:
    """The JSON value of a value of that type: dataclasses as tables, tuples as lists, nan as None."""
    return json.loads(adapter(kind).dump_json(value))


def path(where: Where) -> str:
    """A place as people write it.

    >>> path(("topics", 3, "label"))
    'topics[3].label'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).removeprefix(".")


# ---- errors

ADVICE = {  # by pydantic's name of a problem, with its numbers
    "literal_error": "choose {expected}",
    "bool_type": "write true or false",
    "int_type": "give a whole number",
    "int_from_float": "give a whole number",
    "float_type": "give a number",
    "finite_number": "give a number",
    "greater_than": "give more than {gt:g}",
    "greater_than_equal": "give at least {ge:g}",
    "less_than": "give less than {lt:g}",
    "less_than_equal": "give at most {le:g}",
    "string_type": "give a text",
    "string_too_short": "give a longer text",
    "string_too_long": "give a text of at most {max_length} characters",
    "tuple_type": "give a list",
}


def no_such(noun: str, name: str, names: Sequence[str]) -> str:
    """That there is no key or table of this name; the most similar one, and all there are.

    >>> no_such("key", "redundacy", ("k", "redundancy"))
    'there is no such key; did you mean redundancy? choose from k, redundancy'
    """
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1, cutoff=0.7)
    advice = f"did you mean {near[0]}? " if near else ""
    return f"there is no such {noun}; {advice}choose from {', '.join(names)}"


def _schema_error(kind: Any, error: Mapping[str, Any]) -> SchemaError:
    where: Where = tuple(error["loc"])
    schema = adapter(kind).json_schema()
    code, value = error["type"], error["input"]
    if code == "value_error":  # of the dataclass's own checks
        cause = error["ctx"]["error"]
        if isinstance(cause, SchemaError):
            return SchemaError((*where, *cause.where), cause.problem, cause.code)
        return SchemaError(where, str(cause), code)
    if code == "missing":
        return SchemaError(where, "is missing", code)
    if code in ("unexpected_keyword_argument", "extra_forbidden"):
        names = tuple(_schema_at(schema, where[:-1]).get("properties", {}))
        return SchemaError(where, no_such("key", str(where[-1]), names) if names else "no key is allowed", code)
    text = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
    advice = ADVICE.get(code, "give a table of keys and values").format(**error.get("ctx", {}))
    return SchemaError(where, f"{text} cannot be used; {advice}", code)


def _schema_at(schema: Schema, where: Where) -> Schema:
    """The part of a schema that describes the value at a place."""
    part = schema
    for step in (*where, None):
        while "$ref" in part or "anyOf" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part["anyOf"][0]
        if isinstance(step, int):
            prefix = part.get("prefixItems", [])
            part = prefix[step] if step < len(prefix) else part.get("items", {})
        elif step is not None:
            part = part.get("properties", {}).get(step, part.get("additionalProperties") or {})
    return part
