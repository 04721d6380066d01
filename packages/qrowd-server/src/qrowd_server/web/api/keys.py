"""Programs and their keys, which open one campaign or all of them.

`Authorization: Bearer qrowd_...`; there are no cookies here, so no page of another site can make a browser ask in
somebody's name. What a key does not open is answered like what does not exist.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request

from qrowd_server.campaigns.plan.plan import NAME
from qrowd_server.store.materials import CampaignRow, find_campaign
from qrowd_server.store.sessions import KEY_STARTS, ApiKey, find_api_key, find_key_and_assessor
from qrowd_server.web.logs import WHO
from qrowd_server.web.problems import Problem
from qrowd_server.web.server import Server, server_of

PROVIDER = "api"  # of assessors whom programs speak for
ASSESSOR = re.compile(r"[0-9a-f]{1,16}")
CHALLENGE = {"www-authenticate": 'Bearer realm="qrowd"'}
LONGEST_KEY = 200


@dataclass(frozen=True)
class Caller:
    """A request that may be answered.

    campaign, assessor : what the address names, down to the assessor's number or else the campaign's row; it is there,
    belongs together, and the key opens it.
    """

    request: Request = field(repr=False)
    server: Server = field(repr=False)
    key: ApiKey
    campaign_row: CampaignRow | None
    assessor_id: int | None

    @property
    def campaign(self) -> CampaignRow:
        """The campaign of the address."""
        assert self.campaign_row is not None  # only asked for where the address names one, and no assessor
        return self.campaign_row

    @property
    def assessor(self) -> int:
        """The number of the assessor of the address."""
        assert self.assessor_id is not None
        return self.assessor_id

    @property
    def account(self) -> str:
        """Who the log says caused an event; no account has a blank in its name."""
        return f"key {self.key.name}"


class UnknownKeyError(Problem):
    """There is no key, or it is not valid."""

    def __init__(self) -> None:
        super().__init__(401, "key", "Send a valid key, as Authorization: Bearer qrowd_...")

    @property
    def headers(self) -> dict[str, str]:
        """How to authenticate."""
        return CHALLENGE


async def caller_of(request: Request) -> Caller:
    """The caller, with the key and what the address names.

    Raises
    ------
    Problem
        401 without a key that is good, 403 for a page from elsewhere, 404 for what is not there or not for this key.
    """
    server = server_of(request)
    _check_place(request, server)
    key = _key_of(request)
    names: dict[str, Any] = request.path_params

    def work(connection: Connection) -> Caller:
        if "assessor" in names:
            return Caller(request, server, *_key_for_assessor(connection, key, names["campaign"], names["assessor"]))
        api_key = find_api_key(connection, key)
        if api_key is None:
            raise UnknownKeyError
        row = _campaign(connection, api_key, names["campaign"]) if "campaign" in names else None
        return Caller(request, server, api_key, row, None)

    caller = await server.store.read_async(work)
    request.scope[WHO] = f"key:{caller.key.id}"
    return caller


def _key_of(request: Request) -> str:
    """The key that was sent."""
    headers = request.headers.getlist("authorization")
    scheme, _, key = (headers[0] if len(headers) == 1 else "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key.startswith(KEY_STARTS) or not key.isascii() or len(key) > LONGEST_KEY:
        raise UnknownKeyError
    return key


def _check_place(request: Request, server: Server) -> None:
    """Refuse what a page elsewhere makes a browser ask; programs send neither header."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if (origin is not None and origin.lower() not in server.origins) or site not in {None, "same-origin", "none"}:
        raise Problem(403, "origin", "Pages of other sites cannot use this.")


def _campaign(connection: Connection, key: ApiKey, name: str) -> CampaignRow:
    row = find_campaign(connection, name) if NAME.fullmatch(name) else None
    if row is None or not key.opens(row.id):
        raise Problem(404, "missing", "There is no such campaign for this key.", field="campaign")
    return row


def _key_for_assessor(connection: Connection, key: str, campaign_name: str, name: str) -> tuple[ApiKey, None, int]:
    """The key, and the number of the assessor it speaks for."""
    number = int(name, 16) if ASSESSOR.fullmatch(name) else 0
    number = number if number < 2**63 else 0
    row = find_key_and_assessor(connection, key, number)
    if row is None:
        raise UnknownKeyError
    api_key, (campaign_id, provider, own_campaign) = row
    # Programs speak only for assessors who arrived by a program.
    if campaign_id is None or own_campaign != campaign_name or provider != PROVIDER or not api_key.opens(campaign_id):
        raise Problem(404, "missing", "There is no such assessor in this campaign, for this key.", field="assessor")
    return api_key, None, number
