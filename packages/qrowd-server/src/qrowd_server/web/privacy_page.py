"""What is kept about an assessor, for themselves: a page that says so, all of it as a file, and its deletion.

GET  /c/{campaign}/privacy         what is kept      POST: delete it, which ends the session
GET  /c/{campaign}/privacy/data    all of it, as JSON
"""

from __future__ import annotations

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd_server.campaigns.running.privacy import Answers, delete_person, person_json, retention_days
from qrowd_server.store.state import AssessorRow, assessors_of
from qrowd_server.web.assessor import identity_in_campaign, read_submission
from qrowd_server.web.language_choice import language_of
from qrowd_server.web.problems import not_found
from qrowd_server.web.server import Identity, server_of
from qrowd_server.web.templating import render


async def show(request: Request) -> Response:
    """What is kept, how long, who sees it, and the form that deletes it."""
    return await _page(request, await identity_in_campaign(request))


async def data(request: Request) -> Response:
    """All that is kept, as a file."""
    identity = await identity_in_campaign(request)
    row = await _row(request, identity)
    content = await server_of(request).store.read_async(
        lambda connection: person_json(connection, row, for_owner=False)
    )
    headers = {"content-disposition": f'attachment; filename="{identity.campaign}-my-data.json"'}
    return Response(content, media_type="application/json", headers=headers)


async def delete(request: Request) -> Response:
    """Delete the person of the session, where the box was ticked."""
    identity, form = await read_submission(request)
    server = server_of(request)
    answers: Answers = "withdraw" if form.get("answers") == "withdraw" else "keep"
    if form.get("sure") != "1":
        return await _page(request, identity, unsure=True)
    at = server.clock()
    await server.store.write_async(
        lambda connection: delete_person(
            connection, identity.campaign, identity.assessor, at, answers=answers, by="assessor"
        )
    )
    await server.forget_person(identity.assessor)
    row = await server.campaign(identity.campaign)
    tag = language_of(request, row.settings.get("language", ""))
    response = HTMLResponse(render("person_deleted", title=row.title, withdrawn=answers == "withdraw", tag=tag))
    await server.end(request, response)
    return response


async def _page(request: Request, identity: Identity, *, unsure: bool = False) -> Response:
    server = server_of(request)
    campaign, person = await server.campaign(identity.campaign), await _row(request, identity)
    tag = language_of(request, campaign.settings.get("language", ""))
    values = {
        "title": campaign.title,
        "person": person,
        "days": retention_days(campaign, server.service.retention_days),
        "base": identity.base,
        "csrf": identity.csrf,
        "unsure": unsure,
    }
    return HTMLResponse(render("privacy", tag=tag, **values), 422 if unsure else 200)


async def _row(request: Request, identity: Identity) -> AssessorRow:
    """The row of the session's assessor; a Problem (404) for a model, which has no data of its own."""

    def work(connection: Connection, campaign_id: int) -> AssessorRow | None:
        rows = assessors_of(connection, campaign_id)
        return next((one for one in rows if one.id == identity.assessor and not one.is_model), None)

    server = server_of(request)
    campaign = await server.campaign(identity.campaign)
    row = await server.store.read_async(lambda connection: work(connection, campaign.id))
    if row is None:
        raise not_found()
    return row


ROUTES: list[BaseRoute] = [
    Route("/c/{campaign}/privacy", show, methods=["GET"]),
    Route("/c/{campaign}/privacy", delete, methods=["POST"]),
    Route("/c/{campaign}/privacy/data", data, methods=["GET"]),
]
