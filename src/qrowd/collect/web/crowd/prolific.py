"""Prolific: people come by a link that names them, leave by a link with a code, and webhooks tell what became of it.

    GET  /p/{campaign}?PROLIFIC_PID=&STUDY_ID=&SESSION_ID=[&prolific_token=]
    POST /p/{campaign}            the button was pressed
    POST /p/{campaign}/webhook    signed by Prolific; no session, no token of ours

The three ids are only text in an address, so anybody may type another's. With "secured external URLs" Prolific adds a
signed token (a JWT); then we know, and the log says so: identified "signed" and not "url".
Only a visit to https://app.prolific.com/submissions/complete?cc=CODE completes a submission.
"""

from __future__ import annotations

import hmac
import json
import logging
import math
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, cast

from sqlalchemy import Connection, insert, select
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.collect.store.schema import webhook
from qrowd.collect.web.crowd import come_in, platform_of, welcome
from qrowd.collect.web.crowd.signed_links import Keys, verified
from qrowd.collect.web.forms import query_of
from qrowd.collect.web.problems import Problem, malformed, missing
from qrowd.collect.web.security import same
from qrowd.collect.web.sessions import Server, server_of
from qrowd.errors import ArgumentError

log = logging.getLogger("qrowd.collect.web")
NAMES = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
ID = re.compile(r"[0-9a-f]{24}")
WEBHOOK_SECONDS = 300.0  # a webhook's signature is good for that long


# ---- coming in


async def arrive(request: Request) -> Response:
    """Somebody comes from Prolific."""
    server = server_of(request)
    row, table = await platform_of(server, request.path_params["campaign"], "prolific")
    query = query_of(request)
    ids = {name: query.get(name, "") for name in NAMES}
    for name, value in ids.items():
        if not ID.fullmatch(value):
            raise malformed(f"{name}: expected what Prolific puts into the address; open the study there again", name)
    if table["study_id"] and ids["STUDY_ID"] != table["study_id"]:
        raise malformed("STUDY_ID: this is the address of another study; open the study on Prolific again", "STUDY_ID")
    token, identified = query.get("prolific_token", ""), "url"
    if token or table["verified"]:
        keys = keys_at(server, table["jwks_url"])
        audience = table["audience"] or server.settings.host
        if not await verified(token, ids, audience=audience, keys=keys, now=server.clock()):
            message = "We could not check with Prolific that this link is yours. Open the study there again."
            raise Problem(403, "signature", message)
        identified = "signed"
    about = {"study": ids["STUDY_ID"], "submission": ids["SESSION_ID"]}
    return await welcome(request, row, "prolific", ids["PROLIFIC_PID"], identified=identified, about=about)


def keys_at(server: Server, url: str) -> Keys:
    """The published keys; a Problem (503), told to the log too, where the server's owner does not allow that host."""
    if (keys := server.keys.get(url)) is None:
        settings = server.settings
        try:
            keys = Keys(url, clock=server.clock, hosts=settings.key_hosts, loopback=settings.loopback)
        except ArgumentError as error:
            log.error("%s", error)
            message = "Links cannot be checked with Prolific at the moment. Tell whoever runs the study."
            raise Problem(503, "keys", message) from error
        server.keys[url] = keys
    return cast("Keys", keys)


async def begin(request: Request) -> Response:
    """The button was pressed."""
    return await come_in(request, "prolific")


# ---- webhooks


def sign_webhook(secret: str, timestamp: str, body: bytes) -> str:
    """What stands in X-Prolific-Request-Signature: HMAC-SHA256 over timestamp and body, base64."""
    return b64encode(hmac.digest(secret.encode(), timestamp.encode() + body, sha256)).decode()


def check_webhook(headers: Mapping[str, str], body: bytes, *, secret: str, now: float) -> str:
    """The id of the event; a Problem (403) unless Prolific signed it, and lately."""
    timestamp = headers.get("x-prolific-request-timestamp", "")
    given = headers.get("x-prolific-request-signature", "")
    if not timestamp.isascii() or not same(given, sign_webhook(secret, timestamp, body)):
        raise Problem(403, "signature", "The signature does not fit.")
    try:
        age = now - float(timestamp)
    except ValueError:
        age = math.inf
    if not abs(age) <= WEBHOOK_SECONDS:
        raise Problem(403, "timestamp", "The signature is too old.")
    event = headers.get("x-event-id", "")
    if not re.fullmatch(r"[!-~]{1,200}", event):
        raise malformed("X-Event-Id: expected the event's id")
    return event


async def receive(request: Request) -> Response:
    """Keep what Prolific tells, once, however often it is told."""
    server = server_of(request)
    row, table = await platform_of(server, request.path_params["campaign"], "prolific")
    secret = server.settings.environ.get(table["webhook_env"], "") if table["webhook_env"] else ""
    if not secret:
        raise missing()
    body, at = await request.body(), server.clock()
    event = check_webhook(request.headers, body, secret=secret, now=at)
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or b"\\u0000" in body:
        raise malformed("Expected a JSON object.")
    name = f"prolific:{row.name}"

    def work(connection: Connection) -> bool:
        known = select(webhook.c.event_id).where(webhook.c.provider == name, webhook.c.event_id == event)
        if connection.execute(known).first() is not None:
            return False
        values: dict[str, Any] = {"provider": name, "event_id": event, "received": at, "data": said}
        connection.execute(insert(webhook).values(values))
        return True

    new = await server.store.write_async(work)
    return JSONResponse({"status": "received" if new else "known"})


ROUTES: list[BaseRoute] = [
    Route("/p/{campaign}", arrive, methods=["GET"]),
    Route("/p/{campaign}", begin, methods=["POST"]),
    Route("/p/{campaign}/webhook", receive, methods=["POST"]),
]
