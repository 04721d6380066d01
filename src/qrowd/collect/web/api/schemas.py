"""JSON Schema (2020-12) of dataclasses: types, defaults and descriptions are read off them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from qrowd.collect.web.api.shapes import hints_of

Schema = dict[str, Any]
NO_ZERO = r"^[^\u0000]*$"  # the character that no database can keep
PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}


def reference(name: str) -> Schema:
    """A schema that stands among the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def schema_of(hint: Any) -> Schema:
    """The schema of a type; dataclasses are referred to by name."""
    if hint in PLAIN:
        return dict(PLAIN[hint])
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, UnionType):
        some = [one for one in inner if one is not NoneType]
        schemas = [schema_of(one) for one in some]
        return {"anyOf": [*schemas, {"type": "null"}]} if len(some) < len(inner) else {"oneOf": schemas}
    if origin is tuple:
        if inner[1:] == (...,):
            return {"type": "array", "items": schema_of(inner[0])}
        return {"type": "array", "prefixItems": [schema_of(one) for one in inner], "minItems": len(inner),
                "maxItems": len(inner)}  # fmt: skip
    if origin is dict:
        keys = {"propertyNames": {"pattern": "^[0-9]+$"}} if inner[0] is int else {}
        return {"type": "object", **keys, "additionalProperties": schema_of(inner[1])}
    if isinstance(hint, type) and is_dataclass(hint):
        return reference(hint.__name__)
    raise TypeError(f"{hint!r} has no schema")


def object_of(
    kind: type, *, first: Mapping[str, Schema] | None = None, further: Mapping[str, Schema] | None = None,
    optional: bool = False, instead: Mapping[str, Schema] | None = None,
) -> Schema:  # fmt: skip
    """The schema of a dataclass as an object that has its fields and no others.

    first : properties before, which must be there. further : after, which need not. optional : fields with a default
    may be left out, as in what comes in. instead : schemas that say more than the types do.
    """
    hints, properties, needed = hints_of(kind), dict(first or {}), list(first or {})
    for one in fields(kind):
        schema = dict((instead or {}).get(one.name) or schema_of(hints[one.name]))
        default = one.default
        if optional and default is not MISSING and isinstance(default, str | int | float | None):
            schema["default"] = default
        properties[one.name] = schema
        if not optional or (default is MISSING and one.default_factory is MISSING):
            needed.append(one.name)
    table = {"type": "object", "description": described(kind), "properties": properties | dict(further or {})}
    return table | ({"required": needed} if needed else {}) | {"additionalProperties": False}


def described(kind: Any) -> str:
    """The docstring without its sections, one line per paragraph."""
    text = inspect.getdoc(kind) or ""
    paragraphs = text.split("\n\nRaises\n")[0].split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in paragraphs)


def table(properties: Mapping[str, Schema], description: str = "", needed: list[str] | None = None) -> Schema:
    """An object with these properties and no others; all of them are there unless `needed` says otherwise."""
    wanted = list(properties) if needed is None else needed
    return {"type": "object", **({"description": description} if description else {}),
            "properties": dict(properties), **({"required": wanted} if wanted else {}),
            "additionalProperties": False}  # fmt: skip
