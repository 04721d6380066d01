"""Prolific: assessors come by a link that names them and leave by a link with a completion code.

    GET  /p/{campaign}?PROLIFIC_PID=&STUDY_ID=&SESSION_ID=[&prolific_token=]
    POST /p/{campaign}            the button was pressed

The three ids are only text in an address, so anybody can type another assessor's. With "secured external URLs" Prolific
adds a signed token (a JWT), and the log says which it was: identified "signed" or "url".
Only a visit to https://app.prolific.com/submissions/complete?cc=CODE completes a submission.
"""

from __future__ import annotations

import logging
import re
from typing import cast

from starlette.requests import Request
from starlette.responses import Response

from qrowd.collect.protocols.messages import N_, Message
from qrowd.collect.web.crowd import platform_of, routes_of, welcome
from qrowd.collect.web.crowd.signed_links import Keys, verified
from qrowd.collect.web.forms import query_of
from qrowd.collect.web.problems import Problem, malformed
from qrowd.collect.web.server import Server, server_of
from qrowd.errors import ArgumentError

log = logging.getLogger("qrowd.collect.web")
NAMES = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
ID = re.compile(r"[0-9a-f]{24}")


# ---- coming in


async def arrive(request: Request) -> Response:
    """Somebody comes from Prolific."""
    server = server_of(request)
    row, table = await platform_of(server, request.path_params["campaign"], "prolific")
    query = query_of(request)
    ids = {name: query.get(name, "") for name in NAMES}
    for name, value in ids.items():
        if not ID.fullmatch(value):
            expected = Message(
                "%(name)s: expected what Prolific puts into the address; open the study there again", name=name
            )
            raise malformed(expected, name)
    if table["study_id"] and ids["STUDY_ID"] != table["study_id"]:
        other = N_("STUDY_ID: this is the address of another study; open the study on Prolific again")
        raise malformed(other, "STUDY_ID")
    token, identified = query.get("prolific_token", ""), "url"
    if token or table["verified"]:
        keys = keys_at(server, table["jwks_url"])
        audience = table["audience"] or server.settings.host
        if not await verified(token, ids, audience=audience, keys=keys, now=server.clock()):
            message = N_("We could not check with Prolific that this link is yours. Open the study there again.")
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
            message = N_("Links cannot be checked with Prolific at the moment. Tell whoever runs the study.")
            raise Problem(503, "keys", message) from error
        server.keys[url] = keys
    return cast("Keys", keys)


ROUTES = routes_of("prolific", arrive)
