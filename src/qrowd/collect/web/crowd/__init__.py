"""Crowd platforms: how their workers arrive, and which link or code leads them back.

A platform's link only shows a page with one button, so that opening it begins nothing; the button's form carries the
platform's id of the worker, signed. The link or code that leads back is put into a page only at the end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.collect.campaigns.crowd import crowd_of
from qrowd.collect.campaigns.pages import Page
from qrowd.collect.protocols.views import EndView, NoneLeftView, View
from qrowd.collect.store.materials import CampaignRow
from qrowd.collect.web.language_choice import choice_of, language_of
from qrowd.collect.web.payment import payment_code
from qrowd.collect.web.problems import invalid_token, not_found
from qrowd.collect.web.server import ASSESSOR, Identity, Server, server_of

PROLIFIC_COMPLETE = "https://app.prolific.com/submissions/complete"
PATHS = {"prolific": "p", "panel": "panel", "mturk": "mturk"}
SUBMISSIONS = {"prolific": "submission", "mturk": "assignmentId"}  # the key of the submission's id


def submission_of(provider: str, about: Mapping[str, str]) -> str:
    """What a platform calls this taking of the task; "" where it has no such thing."""
    return about.get(SUBMISSIONS.get(provider, ""), "")


# ---- arrival


async def platform_of(server: Server, campaign: str, provider: str) -> tuple[CampaignRow, dict[str, Any]]:
    """The campaign and its table for a platform; a Problem (404) where it does not take assessors from there."""
    row = await server.campaign(campaign)
    table = crowd_of(row.settings.get("crowd") or {}).get(provider)
    if table is None:
        raise not_found()
    return row, table


async def welcome(
    request: Request,
    row: CampaignRow,
    provider: str,
    external: str,
    *,
    identified: str,
    about: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The page with one button, or the task itself for an assessor who is signed in under the same id.

    about : anything else that the platform sent; it goes into the log when the button is pressed.
    """
    server = server_of(request)
    identity = await server.identity_or_none(request)
    if (
        identity
        and identified != "signed"
        and (identity.campaign, identity.provider, identity.external) == (row.name, provider, external)
    ):
        submission = submission_of(provider, about or {})
        submissions = await server.service.submissions(identity.assessor)
        if not submission or (submissions and submissions[-1].name == submission):
            return RedirectResponse(identity.base, 303)
    content = {"c": row.name, "p": provider, "x": external, "i": identified, "a": dict(about or {})}
    action = f"/{PATHS[provider]}/{quote(row.name)}"
    tag = language_of(request, row.settings.get("language", ""))
    choice = None if provider == "mturk" else choice_of(request)  # in a frame no cookie would be kept
    token = server.form_token("arrival", content)
    shown = {"effort": row.settings.get("effort"), "tag": tag, "choice": choice}
    page = server.rendering.render_welcome(row.title, csrf=token, action=action, **shown)
    return HTMLResponse(page, headers=dict(headers or {}))


async def arrival_of(request: Request, provider: str) -> tuple[int, dict[str, Any]]:
    """The assessor who pressed the button, and the content of the form's token."""
    server = server_of(request)
    _, content = await server.read_form(request, "arrival")
    if (content["c"], content["p"]) != (request.path_params["campaign"], provider):
        raise invalid_token()
    await platform_of(server, content["c"], provider)  # it may have been closed meanwhile
    submission = submission_of(provider, content["a"])
    assessor = await server.service.arrive(
        content["c"], provider, content["x"], identified=content["i"], about=content["a"], submission=submission
    )
    if content["i"] == "signed":
        server.forget(ASSESSOR, assessor)
    return assessor, content


def routes_of(provider: str, arrive: Callable[[Request], Awaitable[Response]]) -> list[BaseRoute]:
    """The address that a platform sends assessors to, and where the button's form goes: a session, then the task."""

    async def begin(request: Request) -> Response:
        assessor, content = await arrival_of(request, provider)
        response = RedirectResponse(f"/c/{quote(content['c'])}", 303)
        await server_of(request).begin(request, response, ASSESSOR, assessor)
        return response

    path = f"/{PATHS[provider]}/{{campaign}}"
    return [Route(path, arrive, methods=["GET"]), Route(path, begin, methods=["POST"])]


# ---- completion


def outcome_of(view: View) -> str | None:
    """How the task ended for the assessor; None while there is something to do."""
    match view:
        case EndView(outcome="completed"):
            return "completed"
        case EndView(outcome=outcome, another=False):
            return outcome
        case NoneLeftView(finished=True):
            return "completed"
    return None


def completion(
    provider: str, table: Mapping[str, Any], outcome: str, external: str, about: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """The link and the code for an outcome; None for what there is not.

    about : the parameters that MTurk sent; unused for others.

    >>> completion("prolific", {"codes": {"completed": "C1"}}, "completed", "5f", {})
    ('https://app.prolific.com/submissions/complete?cc=C1', 'C1')
    """
    if provider == "mturk":
        fields = {name: about[name] for name in ("assignmentId", "hitId", "workerId") if about.get(name)}
        host = about.get("turkSubmitTo")
        return (f"{host}/mturk/externalSubmit?{urlencode({**fields, 'outcome': outcome})}" if host else None), None
    code = table["codes"].get(outcome)
    if provider == "prolific":
        return (None if code is None else f"{PROLIFIC_COMPLETE}?{urlencode({'cc': code})}"), code
    link = table["links"].get(outcome)
    if link is not None:
        link = link.replace("{id}", quote(external, safe="")).replace("{code}", quote(code or "", safe=""))
    return link, code


async def with_completion_link(server: Server, identity: Identity, page: Page) -> Page:
    """The page with the link or code that leads back to the platform, if the task has ended.

    Nobody is paid twice for one unit: a submission under which nothing was done leads nowhere.
    """
    outcome = outcome_of(page.view)
    if outcome is None or page.link or page.code:
        return page
    if identity.provider == "link" and outcome == "completed":
        return replace(page, code=payment_code(server.settings.secret, identity.campaign, identity.assessor))
    row = await server.campaign(identity.campaign)
    table = crowd_of(row.settings.get("crowd") or {}).get(identity.provider)
    if table is None:
        return page
    if identity.provider in SUBMISSIONS and not await has_outcome(server, identity):
        another = isinstance(page.view, EndView) and page.view.another
        return page if another else replace(page, view=NoneLeftView(None, False))
    link, code = completion(identity.provider, table, outcome, identity.external, identity.about)
    return replace(page, link=link, code=code)


async def has_outcome(server: Server, identity: Identity) -> bool:
    """Whether any unit ended under this submission, or under the latest one where the page names none."""
    submissions = await server.service.submissions(identity.assessor)
    name = submission_of(identity.provider, identity.about)
    outcomes = {one.name: one.outcome for one in submissions}
    return bool(submissions) and outcomes.get(name or submissions[-1].name) is not None
