"""Judging by program: an assessor arrives, sees a page, acts. A model that judges is such an assessor."""

from __future__ import annotations

from urllib.parse import quote

from sqlalchemy import Connection
from starlette.responses import JSONResponse, Response

from qrowd_server.protocols.schema import plain
from qrowd_server.store.base import to_json
from qrowd_server.store.state import AssessorRow, assessors_of, find_identity
from qrowd_server.web.api.bodies import invalid, read_object
from qrowd_server.web.api.keys import PROVIDER, Caller
from qrowd_server.web.api.operations import PREFIX, Answer, operation
from qrowd_server.web.api.schemas import (
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
BASE = "/campaigns/{campaign}/assessors"
MODEL = {"name": "model-a", "about": {"kind": "llm", "model": "model-a-2026", "temperature": 0}}
JUDGE = {
    "do": "judge",
    "position": 0,
    "text": "40",
    "reason": "It names both causes.",
    "shown": "1f3a",
    "key": "x7Qd-1",
}
PREFER = {"do": "prefer", "pair": 3, "choice": "left", "shown": "1f3a"}


@operation("GET", BASE, Answer("In the order they came", "Assessors"))
async def list_assessors(caller: Caller) -> Assessors:
    """The assessors that programs speak for."""
    rows = await caller.server.store.read_async(lambda c: list(assessors_of(c, caller.campaign.id)))
    return Assessors([assessor_of(row) for row in rows if row.provider == PROVIDER])


@operation(
    "POST",
    BASE,
    Answer("An assessor of this name was here before", "Assessor"),
    Answer("The assessor is new", "Assessor", status=201),
    body="Arrival",
    examples={"model": MODEL},
)
async def arrive(caller: Caller) -> Response:
    """An assessor that this key speaks for.

    A model that judges is an assessor like others: say in `about` what it is made of (model, prompt, settings). That is
    kept in the log with its first arrival, and never changed. Another model is another assessor.
    """
    arrival = read_body(Arrival, await read_object(caller.request, BODY_LIMIT))
    if len(to_json(arrival.about)) > ABOUT_LIMIT:
        raise invalid("about", f"give an object of at most {ABOUT_LIMIT} bytes")
    store, campaign, name = caller.server.store, caller.campaign, arrival.name

    def find(connection: Connection) -> AssessorRow | None:
        return find_identity(connection, campaign.id, PROVIDER, name)

    row, status = await store.read_async(find), 200
    if row is None:
        about = {"key": caller.key.name, **arrival.about}
        await caller.server.service.arrive(campaign.name, PROVIDER, name, name=name, identified="key", about=about)
        row, status = await store.read_async(find), 201
    assert row is not None  # just written
    address = f"{PREFIX}/campaigns/{quote(campaign.name)}/assessors/{row.id:x}"
    return JSONResponse(plain(Assessor, assessor_of(row)), status, {"location": address})


@operation("GET", f"{BASE}/{{assessor}}/page", Answer("All that a person would see, and nothing else", "Page"))
async def page(caller: Caller) -> Response:
    """What an assessor sees now.

    Looking changes nothing. `view.kind` says which page it is, and so which actions are possible.
    """
    return JSONResponse(
        page_table(caller.server.with_image_addresses(await caller.server.service.page(caller.assessor)))
    )


@operation(
    "POST",
    f"{BASE}/{{assessor}}/act",
    Answer("It is safe on disk", "Receipt"),
    body="Action",
    examples={"judge": JUDGE, "prefer": PREFER},
    problems=(409,),
)
async def act(caller: Caller) -> Response:
    """Take an action.

    Send `shown` and `key` of the page. The same key with the same action happens once, however often it is sent, and is
    answered with the same event; with another action it is refused (409, code changed). Without a key, a repeat is a
    repeat. 409 with code stale: that page has gone, ask for the current one. 422: the action cannot be taken as it is,
    and nothing happened. 503: nothing is known to have happened, send the same again.
    """
    action, shown, key = action_of(await read_object(caller.request, BODY_LIMIT))
    service, number = caller.server.service, caller.assessor
    receipt = await service.act(number, action, shown=shown, key=key)
    after = caller.server.with_image_addresses(receipt.page or await service.page(number))
    return JSONResponse(receipt_table(receipt, after))


OPERATIONS = (list_assessors, arrive, page, act)
