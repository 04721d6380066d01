"""Judging by program: an assessor arrives, sees a page, acts. A model that judges is such an assessor."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.responses import JSONResponse, Response

from qrowd.collect.protocols.schema import plain
from qrowd.collect.store.assessors import find_assessor, find_identity, of_campaign
from qrowd.collect.store.base import to_json
from qrowd.collect.web.api.bodies import invalid, read_object
from qrowd.collect.web.api.keys import PROVIDER, Caller
from qrowd.collect.web.api.operations import PREFIX, Answer, Operation
from qrowd.collect.web.api.schemas import (
    Arrival,
    Assessor,
    Assessors,
    action_of,
    assessor_of,
    page_table,
    read_body,
    receipt_table,
)

BODY_LIMIT = 64 * 1024  # bytes
ABOUT_LIMIT = 16 * 1024


async def arrive(caller: Caller, query: dict[str, Any]) -> Response:
    """An assessor that this key speaks for; the same name is the same assessor."""
    arrival = read_body(Arrival, await read_object(caller.request, BODY_LIMIT))
    if len(to_json(arrival.about)) > ABOUT_LIMIT:
        raise invalid("about", f"give an object of at most {ABOUT_LIMIT} bytes")
    store, campaign, name = caller.server.store, caller.campaign, arrival.name
    row = earlier = await store.read_async(lambda connection: find_identity(connection, campaign.id, PROVIDER, name))
    if row is None:
        about = {"key": caller.key.name, **arrival.about}
        number = await caller.server.service.arrive(
            campaign.name, PROVIDER, name, name=name, identified="key", about=about
        )
        found = await store.read_async(lambda connection: find_assessor(connection, number))
        assert found is not None  # just written
        row = found[0]
    address = f"{PREFIX}/campaigns/{quote(campaign.name)}/assessors/{row.id:x}"
    status = 201 if earlier is None else 200
    return JSONResponse(plain(Assessor, assessor_of(row)), status, {"location": address})


async def list_all(caller: Caller, query: dict[str, Any]) -> Response:
    """The assessors that programs speak for."""

    def work(connection: Connection) -> Assessors:
        rows = of_campaign(connection, caller.campaign.id)
        return Assessors([assessor_of(row) for row in rows if row.provider == PROVIDER])

    return JSONResponse(plain(Assessors, await caller.server.store.read_async(work, long=True)))


async def show_page(caller: Caller, query: dict[str, Any]) -> Response:
    """What the assessor sees now; looking changes nothing."""
    return JSONResponse(page_table(await caller.server.service.page(caller.assessor)))


async def act(caller: Caller, query: dict[str, Any]) -> Response:
    """Take an action; it is on disk when this answers."""
    action, shown, key = action_of(await read_object(caller.request, BODY_LIMIT))
    service, number = caller.server.service, caller.assessor
    receipt = await service.act(number, action, shown=shown, key=key)
    return JSONResponse(receipt_table(receipt, receipt.page or await service.page(number)))


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
        list_all,
        {200: Answer("In the order they came", "Assessors")},
        problems=(422,),
    ),
    Operation(
        "arrive",
        "POST",
        BASE,
        "An assessor that this key speaks for",
        arrive,
        {
            200: Answer("An assessor of this name was here before", "Assessor"),
            201: Answer("The assessor is new", "Assessor"),
        },
        "A model that judges is an assessor like others: say in `about` what it is made of (model, prompt, settings). "
        "That is kept in the log with its first arrival, and never changed. Another model is another assessor.",
        body="Arrival",
        examples={"model": {"name": "model-a", "about": {"kind": "llm", "model": "model-a-2026", "temperature": 0}}},
        problems=(413, 415, 422),
    ),
    Operation(
        "page",
        "GET",
        f"{BASE}/{{assessor}}/page",
        "What an assessor sees now",
        show_page,
        {200: Answer("All that a person would see, and nothing else", "Page")},
        "Looking changes nothing. `view.kind` says which page it is, and so which actions are possible.",
        problems=(422,),
    ),
    Operation(
        "act",
        "POST",
        f"{BASE}/{{assessor}}/act",
        "Take an action",
        act,
        {200: Answer("It is safe on disk", "Receipt")},
        "Send `shown` and `key` of the page. The same key with the same action happens once, however often it is sent, "
        "and is answered with the same event; with another action it is refused (409, code changed). Without a key, a "
        "repeat is a repeat. 409 with code stale: that page has gone, ask for the current one. 422: it cannot be taken "
        "as it is, and nothing happened. 503: nothing is known to have happened, send the same again.",
        body="Action",
        examples={"judge": EXAMPLE, "prefer": {"do": "prefer", "pair": 3, "choice": "left", "shown": "1f3a"}},
        problems=(409, 413, 415, 422),
    ),
)
