"""Bringing assessors in, and paying them: links, addresses for platforms, codes.

GET  /owner/c/{campaign}/invitations    who is invited      POST: number, names, renew, revoke
GET  /owner/c/{campaign}/platforms      addresses to paste
GET  /owner/c/{campaign}/payment        codes, and whose one is: ?code=
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

from sqlalchemy import Connection, and_, select
from starlette.responses import Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.crowd import crowd_of
from qrowd.collect.store.accounts import invite, revoke_invitation
from qrowd.collect.store.schema import assessor, invitation
from qrowd.collect.web.crowd import PATHS
from qrowd.collect.web.forms import query_of
from qrowd.collect.web.owner.assessors import quality_of
from qrowd.collect.web.owner.context import Fields, OwnerContext, form, page
from qrowd.collect.web.payment import as_code, payment_code
from qrowd.errors import ArgumentError

MOST = 1000  # links at once
NAME = re.compile(r"[^\s\x00-\x1f\x7f]{1,100}")
NUMBERED = re.compile(r"a([0-9]{1,9})")


# ---- links


@dataclass(frozen=True)
class Invited:
    """Somebody with a link. came : the assessor's number, None who has not come yet."""

    name: str
    created: float
    revoked: bool
    came: int | None
    status: str | None


def invited(connection: Connection, campaign_id: int) -> list[Invited]:
    """Who was invited, the first first."""
    same = and_(
        assessor.c.campaign_id == invitation.c.campaign_id,
        assessor.c.provider == "link",
        assessor.c.external_id == invitation.c.name,
    )
    query = (
        select(invitation.c.name, invitation.c.created, invitation.c.revoked, assessor.c.id, assessor.c.status)
        .select_from(invitation.outerjoin(assessor, same))
        .where(invitation.c.campaign_id == campaign_id)
        .order_by(invitation.c.created, invitation.c.name)
    )
    return [Invited(*row) for row in connection.execute(query)]


def invite_all(connection: Connection, campaign_id: int, names: Sequence[str], at: float) -> list[tuple[str, str]]:
    """(name, token) of a new link for each; a name that has one already is refused, or its link would be worthless."""
    known = {one.name for one in invited(connection, campaign_id)}
    if taken := next((name for name in names if name in known), None):
        raise ArgumentError(f"{taken} is invited already; make a new link for them in the table below")
    return [(name, invite(connection, campaign_id, name, at)) for name in names]


def invite_some(connection: Connection, campaign_id: int, n: int, at: float) -> list[tuple[str, str]]:
    """Links for n further people without names, called a1, a2 ..."""
    names = [one.name for one in invited(connection, campaign_id)]
    names += connection.scalars(select(assessor.c.name).where(assessor.c.campaign_id == campaign_id))
    numbers = [int(match[1]) for name in names if (match := NUMBERED.fullmatch(name))]
    first = max(numbers, default=0) + 1
    return invite_all(connection, campaign_id, [f"a{number}" for number in range(first, first + n)], at)


def names_in(text: str) -> list[str]:
    """The names in a text, one a line."""
    names = [line.strip() for line in text.split("\n") if line.strip()]
    if not names:
        raise ArgumentError("names: write one a line")
    if len(names) > MOST:
        raise ArgumentError(f"names: {len(names)} are more than {MOST} at once; send them in parts")
    for name in names:
        if not NAME.fullmatch(name):
            raise ArgumentError(f"name {name[:40]!r}: give 1 to 100 characters without blanks")
        if names.count(name) > 1:
            raise ArgumentError(f"name {name!r} is there twice; remove one")
    return names


def number_in(text: str) -> int:
    """How many links."""
    if not re.fullmatch(r"[0-9]{1,4}", text.strip(), re.ASCII) or not 1 <= int(text) <= MOST:
        raise ArgumentError(f"number: give a whole number from 1 to {MOST}")
    return int(text)


async def invitations(context: OwnerContext) -> Response:
    """Who is invited."""
    return await _invitations(context, [])


async def _invitations(
    context: OwnerContext, made: list[tuple[str, str]], *, problem: str = "", fields: Fields | None = None
) -> Response:
    number, base = context.campaign.id, context.server.settings.base_url.rstrip("/")
    rows = await context.read(lambda connection: invited(connection, number))
    links = [(name, f"{base}/join/{token}") for name, token in made]
    return context.draw(
        "invitations",
        status=422 if problem else 200,
        tab="invitations",
        rows=rows,
        links=links,
        problem=problem,
        typed=fields or {},
    )


async def send_invitations(context: OwnerContext, fields: Fields) -> Response:
    """Make links, shown in the answer and never again; or make one useless."""
    number, at, name = context.campaign.id, context.server.clock(), fields.get("name", "")
    write = context.server.store.write_async
    made: list[tuple[str, str]] = []
    try:
        match fields.get("do", ""):
            case "number":
                n = number_in(fields.get("number", ""))
                made = await write(lambda connection: invite_some(connection, number, n, at))
            case "names":
                names = names_in(fields.get("names", ""))
                made = await write(lambda connection: invite_all(connection, number, names, at))
            case "renew":
                made = [(name, await write(lambda connection: renew(connection, number, name, at)))]
            case "revoke":
                await write(lambda connection: revoke_invitation(connection, number, name))
            case other:
                raise ArgumentError(f"do={other[:20]!r}: choose one of number, names, renew, revoke")
    except ArgumentError as error:
        return await _invitations(context, [], problem=str(error), fields=fields)
    return await _invitations(context, made)


def renew(connection: Connection, campaign_id: int, name: str, at: float) -> str:
    """Another link for somebody who is invited; the former one is worth nothing."""
    if name not in {one.name for one in invited(connection, campaign_id)}:
        raise ArgumentError(f"{name[:40]!r} is not invited; write the name above")
    return invite(connection, campaign_id, name, at)


# ---- platforms


async def platforms(context: OwnerContext) -> Response:
    """What to paste into Prolific, a panel, MTurk, and the codes that they give back."""
    base, name = context.server.settings.base_url.rstrip("/"), context.campaign.name
    tables = crowd_of(context.campaign.settings.get("crowd") or {})
    shown = [(platform, address_of(base, name, platform, table), table) for platform, table in tables.items()]
    secrets = {
        variable: bool(context.server.settings.environ.get(variable))
        for _, _, table in shown
        for key, variable in table.items()
        if key.endswith("_env") and variable
    }
    return context.draw("platforms", tab="platforms", platforms=shown, secrets=secrets, origin=base)


def address_of(base: str, campaign: str, platform: str, table: dict[str, Any]) -> str:
    """Where a platform sends people.

    >>> address_of("https://judge.test", "pilot", "mturk", {})
    'https://judge.test/mturk/pilot'
    """
    address = f"{base}/{PATHS[platform]}/{campaign}"
    match platform:
        case "prolific":
            query = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
            return f"{address}?{query}"
        case "panel":
            signature = "&signature=SIGNATURE" if table["secret_env"] else ""
            return f"{address}?{table['parameter']}=ID{signature}"
    return address


# ---- payment


async def payment(context: OwnerContext) -> Response:
    """Everybody who completed a unit, with their code; and whose a code is."""
    q = await quality_of(context, context.campaign.name)
    secret, name = context.server.settings.secret, context.campaign.name
    rows = [(one, payment_code(secret, name, one.id)) for one in q.assessors if one.completed]
    asked = query_of(context.request).get("code", "")
    code = as_code(asked)
    found = next((one for one, own in rows if compare_digest(own, code)), None) if code else None
    return context.draw("payment", tab="payment", rows=rows, asked=asked.strip(), found=found)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/invitations", invitations),
    form("/owner/c/{campaign}/invitations", send_invitations),
    page("/owner/c/{campaign}/platforms", platforms),
    page("/owner/c/{campaign}/payment", payment),
]
