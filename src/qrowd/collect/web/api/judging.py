"""Judging by program: an assessor arrives, sees a page, acts. A model that judges is such an assessor."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any, get_args
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.responses import JSONResponse, Response

from qrowd.collect.campaigns.pages import DocumentText, Draft, Page, TopicText
from qrowd.collect.protocols.views import Given, Grade, View
from qrowd.collect.store.assessors import AssessorRow, find_assessor, find_identity, of_campaign
from qrowd.collect.store.base import to_json
from qrowd.collect.web.api.bodies import check_keys, invalid, read_object
from qrowd.collect.web.api.keys import PROVIDER, Caller
from qrowd.collect.web.api.operations import PREFIX, Answer, Operation
from qrowd.collect.web.api.schemas import NO_ZERO, Schema, object_of, reference, table
from qrowd.collect.web.api.shapes import (
    DO,
    KIND,
    LARGEST,
    LENGTHS,
    MAX_KEY,
    MAX_SHOWN,
    SPANS,
    action_of,
    hints_of,
    page_table,
    receipt_table,
)
from qrowd.collect.web.forms import MAX_SECONDS

ACT_LIMIT = 64 * 1024  # bytes
ABOUT_LIMIT = 16 * 1024
NAME = r"^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,99}$"
_name = re.compile(NAME.strip("^$"))


async def arrived(caller: Caller, query: dict[str, Any]) -> Response:
    """An assessor that this key speaks for; the same name is the same assessor."""
    given = await read_object(caller.request, ACT_LIMIT)
    check_keys(given, ("name", "about"))
    name, about = given.get("name"), given.get("about", {})
    if not isinstance(name, str) or not _name.fullmatch(name):
        raise invalid("name", "expected 1 to 100 of A-Z a-z 0-9 . _ : @ / + -, a letter or digit first")
    if not isinstance(about, dict) or len(to_json(about)) > ABOUT_LIMIT:
        raise invalid("about", f"expected an object of at most {ABOUT_LIMIT} bytes")
    store, campaign = caller.server.store, caller.campaign
    known = await store.read_async(lambda connection: find_identity(connection, campaign.id, PROVIDER, name))
    if known is None:
        number = await caller.server.service.arrive(
            campaign.name, PROVIDER, name, name=name, identified="key", about={"key": caller.key.name, **about}
        )
        found = await store.read_async(lambda connection: find_assessor(connection, number))
        assert found is not None  # just written
        row = found[0]
    else:
        row = known
    place = f"{PREFIX}/campaigns/{quote(campaign.name)}/assessors/{row.id:x}"
    return JSONResponse(_who(row), 201 if known is None else 200, {"location": place})


async def listed(caller: Caller, query: dict[str, Any]) -> Response:
    """The assessors that programs speak for."""

    def work(connection: Connection) -> list[dict[str, Any]]:
        return [_who(row) for row in of_campaign(connection, caller.campaign.id) if row.provider == PROVIDER]

    return JSONResponse({"assessors": await caller.server.store.read_async(work, long=True)})


def _who(row: AssessorRow) -> dict[str, Any]:
    return {"assessor": f"{row.id:x}", "name": row.name, "status": row.status, "excluded": row.excluded is not None}


async def page(caller: Caller, query: dict[str, Any]) -> Response:
    """What the assessor sees now; looking changes nothing."""
    return JSONResponse(page_table(await caller.server.service.page(caller.assessor)))


async def acted(caller: Caller, query: dict[str, Any]) -> Response:
    """An action, safe on disk when this answers."""
    action, shown, key = action_of(await read_object(caller.request, ACT_LIMIT))
    service, number = caller.server.service, caller.assessor
    receipt = await service.act(number, action, shown=shown, key=key)
    following = receipt.page or await service.page(number)
    return JSONResponse(receipt_table(receipt, following))


# ---- as operations

BASE = "/campaigns/{campaign}/assessors"
EXAMPLE = {
    "do": "judge",
    "position": 0,
    "text": "40",
    "reason": "It names both causes.",
    "shown": "1f3a",
    "key": "x7Qd-1",
}

OPERATIONS = (
    Operation(
        "list_assessors",
        "GET",
        BASE,
        "The assessors that programs speak for",
        listed,
        {
            200: Answer(
                "In the order they came",
                {"application/json": table({"assessors": {"type": "array", "items": reference("Assessor")}})},
            )
        },
        problems=(422,),
    ),
    Operation(
        "arrive",
        "POST",
        BASE,
        "An assessor that this key speaks for",
        arrived,
        {
            200: Answer("It has been here before under this name", {"application/json": reference("Assessor")}),
            201: Answer("It is new", {"application/json": reference("Assessor")}),
        },
        "A model that judges is an assessor like others: say in `about` what it is made of (model, prompt, settings). "
        "That is kept in the log with its first arrival, and never changed. Another model is another assessor.",
        body=reference("Arrival"),
        examples={"model": {"name": "model-a", "about": {"kind": "llm", "model": "model-a-2026", "temperature": 0}}},
        problems=(413, 415, 422),
    ),
    Operation(
        "page",
        "GET",
        f"{BASE}/{{assessor}}/page",
        "What an assessor sees now",
        page,
        {200: Answer("All that a person would see, and nothing else", {"application/json": reference("Page")})},
        "Looking changes nothing. `view.kind` says which page it is, and so which actions are possible.",
        problems=(422,),
    ),
    Operation(
        "act",
        "POST",
        f"{BASE}/{{assessor}}/act",
        "Take an action",
        acted,
        {200: Answer("It is safe on disk", {"application/json": reference("Receipt")})},
        "Send `shown` and `key` of the page. The same key with the same action happens once, however often it is sent, "
        "and is answered with the same event; with another action it is refused (409, code changed). Without a key, a "
        "repeat is a repeat. 409 with code stale: that page has gone, ask for the current one. 422: it cannot be taken "
        "as it is, and nothing happened. 503: nothing is known to have happened, send the same again.",
        body=reference("Action"),
        examples={"judge": EXAMPLE, "prefer": {"do": "prefer", "pair": 3, "choice": "left", "shown": "1f3a"}},
        problems=(409, 413, 415, 422),
    ),
)


def _limits(kind: type) -> dict[str, Schema]:
    """What is asked of an action's fields besides their types."""
    said: dict[str, Schema] = {}
    for name, hint in hints_of(kind).items():
        if hint is int:
            low, high = SPANS.get(name, (0, LARGEST))
            said[name] = {"type": "integer", "minimum": low, "maximum": high}
        elif hint is str:
            said[name] = {"type": "string", "maxLength": LENGTHS[name], "pattern": NO_ZERO}
        elif name == "active":
            said[name] = {"type": ["number", "null"], "minimum": 0, "maximum": MAX_SECONDS}
    return said


def schemas() -> dict[str, Schema]:
    """The components of these operations."""
    views: tuple[type, ...] = get_args(View)
    form: dict[str, Schema] = {
        "shown": {"type": "string", "maxLength": MAX_SHOWN, "pattern": NO_ZERO, "description": "of the page"},
        "key": {"type": "string", "maxLength": MAX_KEY, "pattern": NO_ZERO, "description": "makes it happen once"},
    }
    actions = {
        kind.__name__: object_of(kind, first={"do": {"const": do}}, further=form, optional=True, instead=_limits(kind))
        for do, kind in DO.items()
    }
    by_do = {do: f"#/components/schemas/{kind.__name__}" for do, kind in DO.items()}
    by_view = {kind.__name__: f"#/components/schemas/{kind.__name__}" for kind in views}
    shown = object_of(Page, instead={"view": reference("View")})
    assert set(shown["properties"]) == {one.name for one in fields(Page)}
    return {
        "Arrival": table(
            {
                "name": {"type": "string", "pattern": NAME},
                "about": {"type": "object", "description": f"at most {ABOUT_LIMIT} bytes; nested at most 18 deep"},
            },
            needed=["name"],
        ),
        "Assessor": table(
            {
                "assessor": {"type": "string", "pattern": "^[0-9a-f]{1,16}$", "description": "for addresses"},
                "name": {"type": "string", "description": "as exported"},
                "status": {"type": "string", "description": "how far it has come"},
                "excluded": {"type": "boolean"},
            }
        ),
        "Page": shown,
        "View": {
            "oneOf": [reference(kind.__name__) for kind in views],
            "discriminator": {"propertyName": KIND, "mapping": by_view},
        },
        **{kind.__name__: object_of(kind, first={KIND: {"const": kind.__name__}}) for kind in views},
        **{kind.__name__: object_of(kind) for kind in (TopicText, DocumentText, Draft, Given, Grade)},
        "Action": {
            "oneOf": [reference(kind.__name__) for kind in DO.values()],
            "discriminator": {"propertyName": "do", "mapping": by_do},
        },
        **actions,
        "Receipt": table(
            {
                "event": {"type": "integer", "description": "the number of what happened, in the log"},
                "time": {"type": "number", "description": "seconds since 1970"},
                "replayed": {"type": "boolean", "description": "the same was sent before, and happened then"},
                "late": {"type": "boolean", "description": "the unit had gone to somebody else: kept, not counted"},
                "page": reference("Page"),
            }
        ),
    }
