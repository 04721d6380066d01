"""Any panel that can put an id into an address and takes a link or a code back.

GET /panel/{campaign}?id=...                     the parameter's name is the campaign's choice
GET /panel/{campaign}?id=...&signature=...       where the panel shares a key with us: HMAC-SHA256, hexadecimal,
                                                 over "{campaign}\\n{id}"
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response

from qrowd.collect.protocols.messages import Message
from qrowd.collect.web.crowd import platform_of, routes_of, welcome
from qrowd.collect.web.forms import query_of
from qrowd.collect.web.problems import Problem, malformed
from qrowd.collect.web.security import same
from qrowd.collect.web.server import server_of

ID = re.compile(r"[!-~]{1,200}")


def sign_id(key: str, campaign: str, external: str) -> str:
    """The signature a panel puts beside an id: hexadecimal."""
    return hmac.digest(key.encode(), f"{campaign}\n{external}".encode(), sha256).hex()


async def arrive(request: Request) -> Response:
    """Somebody comes from a panel."""
    server = server_of(request)
    row, table = await platform_of(server, request.path_params["campaign"], "panel")
    query, parameter = query_of(request), table["parameter"]
    external = query.get(parameter, "")
    if not ID.fullmatch(external):
        expected = Message(
            "%(parameter)s: expected the id that the panel gave you; open the panel's link again", parameter=parameter
        )
        raise malformed(expected, parameter)
    if not table["secret_env"]:
        return await welcome(request, row, "panel", external, identified="url")
    key = server.settings.environ.get(table["secret_env"], "")
    signature = query.get("signature", "")
    if not key or not signature.isascii() or not same(signature.lower(), sign_id(key, row.name, external)):
        raise Problem(403, "signature", "This link was not made by the panel. Open the panel's link again.")
    return await welcome(request, row, "panel", external, identified="signed")


ROUTES = routes_of("panel", arrive)
