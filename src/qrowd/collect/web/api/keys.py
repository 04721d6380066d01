"""Who asks: a program with a key, which opens one campaign or all of them.

`Authorization: Bearer qrowd_...`; there are no cookies here, so no page elsewhere can make a browser ask in somebody's
name. What a key does not open is answered like what does not exist.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any

from sqlalchemy import Connection, bindparam, select
from starlette.requests import Request

from qrowd.collect.campaigns.plan import NAME
from qrowd.collect.store.accounts import KEY_STARTS, ApiKey, find_api_key
from qrowd.collect.store.materials import CampaignRow, find_campaign
from qrowd.collect.store.schema import api_key, assessor, campaign
from qrowd.collect.store.sessions import hashed
from qrowd.collect.web.problems import Problem
from qrowd.collect.web.sessions import Server, server_of

PROVIDER = "api"  # whom assessors come from that programs speak for
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
    found_campaign: CampaignRow | None
    found_assessor: int | None

    @property
    def campaign(self) -> CampaignRow:
        """The campaign of the address."""
        assert self.found_campaign is not None  # only asked for where the address names one, and no assessor
        return self.found_campaign

    @property
    def assessor(self) -> int:
        """The number of the assessor of the address."""
        assert self.found_assessor is not None
        return self.found_assessor

    def need_all(self) -> None:
        """Refuse a key that opens one campaign only."""
        if self.key.campaign_id is not None:
            raise Problem(403, "scope", "This key opens one campaign only; use a key for all campaigns.")


class UnknownKeyError(Problem):
    """No key, or one that is not good."""

    def __init__(self) -> None:
        super().__init__(401, "key", "Send a key that is good, as Authorization: Bearer qrowd_...")

    @property
    def headers(self) -> dict[str, str]:
        """How to say who one is."""
        return CHALLENGE


async def caller_of(request: Request) -> Caller:
    """Who asks, for what.

    Raises
    ------
    Problem
        401 without a key that is good, 403 for a page from elsewhere, 404 for what is not there or not for this key.
    """
    server = server_of(request)
    _check_place(request, server)
    key = _given(request)
    names: dict[str, Any] = request.path_params

    def work(connection: Connection) -> Caller:
        if "assessor" in names:
            return Caller(request, server, *_judging(connection, key, names["campaign"], names["assessor"]))
        known = find_api_key(connection, key)
        if known is None:
            raise UnknownKeyError
        found = _campaign(connection, known, names["campaign"]) if "campaign" in names else None
        return Caller(request, server, known, found, None)

    return await server.store.read_async(work)


def _given(request: Request) -> str:
    """The key that was sent."""
    sent = request.headers.getlist("authorization")
    scheme, _, key = (sent[0] if len(sent) == 1 else "").partition(" ")
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
    found = find_campaign(connection, name) if NAME.fullmatch(name) else None
    if found is None or key.campaign_id not in {None, found.id}:
        raise Problem(404, "missing", "There is no such campaign for this key.", field="campaign")
    return found


def _judging(connection: Connection, key: str, campaign_name: str, name: str) -> tuple[ApiKey, None, int]:
    """The key, and the number of the assessor it speaks for; one statement, since every answer begins with it."""
    number = int(name, 16) if ASSESSOR.fullmatch(name) else 0
    number = number if number < 2**63 else 0
    row = connection.execute(_JUDGING, {"hash": hashed(key), "number": number}).one_or_none()
    if row is None:
        raise UnknownKeyError
    *of_key, of, provider, of_name = row
    known = ApiKey(*of_key)
    # Programs speak for nobody who came by another door.
    if of is None or of_name != campaign_name or provider != PROVIDER or known.campaign_id not in {None, of}:
        raise Problem(404, "missing", "There is no such assessor in this campaign, for this key.", field="assessor")
    return known, None, number


_JUDGING = (
    select(
        *(api_key.c[one.name] for one in fields(ApiKey)), assessor.c.campaign_id, assessor.c.provider, campaign.c.name
    )
    .select_from(
        api_key.outerjoin(assessor, assessor.c.id == bindparam("number")).outerjoin(
            campaign, campaign.c.id == assessor.c.campaign_id
        )
    )
    .where(api_key.c.hash == bindparam("hash"), ~api_key.c.revoked)
)
