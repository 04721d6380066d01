"""JSON that comes in: of a bounded size and depth, every name once, and nothing that no database can keep."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request

from qrowd_server.web.problems import Problem, malformed

DEPTH = 20  # lists and objects within each other
WHOLE = 2**63  # the numbers that a database's integers end before
UNFIT = re.compile("[\x00\ud800-\udfff]")


async def read_object(request: Request) -> dict[str, Any]:
    """The JSON object in the body, of at most 64 KB.

    Raises
    ------
    Problem
        413, 415; 400 for what is no JSON, 422 for JSON that is no object or cannot be kept.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "media_type", "Expected application/json.", field="Content-Type")
    try:
        body = await request.body()  # the guard bounds it
    except ClientDisconnect:  # nobody is there to read this
        raise malformed("The body ended early.") from None
    value = parse(body)
    if not isinstance(value, dict):
        raise invalid("", "expected a JSON object")
    return value


def parse(body: bytes) -> Any:
    """A JSON value.

    >>> parse(b'{"do": "go_on"}')
    {'do': 'go_on'}
    """
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_once,
            parse_float=_finite,
            parse_int=_whole,
            parse_constant=_no_number,
        )
    except UnicodeDecodeError:
        raise malformed("The body is not in UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise malformed(f"The body is no JSON: {error}") from None
    _check(value)
    return value


def invalid(field: str, problem: str) -> Problem:
    """JSON that says something that cannot be used; one line, the culprit first."""
    return Problem(422, "invalid", f"{field}: {problem}" if field else problem, field=field)


# ---- while it is read


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise malformed(f"{twice[:40]!r} is there more than once.", twice[:40])
    return table


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise invalid("", f"{text[:40]} is larger than any number that can be kept")
    return value


def _whole(text: str) -> int:
    if len(text) > 20 or not -WHOLE <= int(text) < WHOLE:
        raise invalid("", f"{text[:40]} has more digits than can be kept")
    return int(text)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def _check(value: Any, depth: int = 0) -> None:
    """Depth and characters of a value."""
    if depth > DEPTH:
        raise _too_deep()
    match value:
        case str() if unfit := UNFIT.search(value):
            raise invalid("", f"the character {unfit[0]!r} cannot be kept")
        case dict():
            for name, one in value.items():
                _check(name)
                _check(one, depth + 1)
        case list():
            for one in value:
                _check(one, depth + 1)


def _too_deep() -> Problem:
    return invalid("", f"nested more than {DEPTH} levels deep")
