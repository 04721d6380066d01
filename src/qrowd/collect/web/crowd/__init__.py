"""Crowd platforms: how their people come in, and what they take back.

A platform's link only shows a page with one button; the button's form carries, signed, who the platform says it is.
So nothing begins by a mere visit. What is handed back (a link, a code) is put into a page only at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qrowd.collect.campaigns.crowd import crowd_of
from qrowd.collect.campaigns.pages import Page
from qrowd.collect.protocols.views import EndView, NoneLeftView, View
from qrowd.collect.store.materials import CampaignRow
from qrowd.collect.web.forms import read_form, token_of
from qrowd.collect.web.payment import payment_code
from qrowd.collect.web.problems import invalid_token, not_found
from qrowd.collect.web.sessions import ASSESSOR, Server, Who, server_of

PROLIFIC_COMPLETE = "https://app.prolific.com/submissions/complete"
PATHS = {"prolific": "p", "panel": "panel", "mturk": "mturk"}
SUBMISSIONS = {"prolific": "submission", "mturk": "assignmentId"}  # what is said of a submission that pays once


def submission_of(provider: str, about: Mapping[str, str]) -> str:
    """What a platform calls this taking of the task; "" where it has no such thing."""
    return about.get(SUBMISSIONS.get(provider, ""), "")


# ---- coming in


async def platform_of(server: Server, campaign: str, provider: str) -> tuple[CampaignRow, dict[str, Any]]:
    """The campaign and its table for a platform; a Problem (404) where it does not take people from there."""
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
    """The page with one button, or the task itself for who is already in under the same id.

    about : anything else the platform said; it goes into the log when the button is pressed.
    """
    server = server_of(request)
    who = await server.who_or_nobody(request)
    if who and identified != "signed" and (who.campaign, who.provider, who.external) == (row.name, provider, external):
        submission = submission_of(provider, about or {})
        if not submission or [one.name for one in await server.service.submissions(who.assessor)][-1:] == [submission]:
            return RedirectResponse(f"/c/{quote(row.name)}", 303)
    said = {"c": row.name, "p": provider, "x": external, "i": identified, "a": dict(about or {})}
    action = f"/{PATHS[provider]}/{quote(row.name)}"
    page = server.rendering.render_welcome(row.title, csrf=server.ticket("arrival", said), action=action)
    return HTMLResponse(page, headers=dict(headers or {}))


async def arriving(request: Request, provider: str) -> tuple[int, dict[str, Any]]:
    """The assessor whose button was pressed, and what its form says of them."""
    server = server_of(request)
    server.check_origin(request)
    said = server.stamped("arrival", token_of(await read_form(request), "csrf"))
    if (said["c"], said["p"]) != (request.path_params["campaign"], provider):
        raise invalid_token()
    await platform_of(server, said["c"], provider)  # it may have been closed meanwhile
    submission = submission_of(provider, said["a"])
    assessor = await server.service.arrive(
        said["c"], provider, said["x"], identified=said["i"], about=said["a"], submission=submission
    )
    if said["i"] == "signed":
        server.forget(ASSESSOR, assessor)
    return assessor, said


async def come_in(request: Request, provider: str) -> Response:
    """The button was pressed: a session, and on to the task."""
    assessor, said = await arriving(request, provider)
    response = RedirectResponse(f"/c/{quote(said['c'])}", 303)
    await server_of(request).begin(request, response, ASSESSOR, assessor)
    return response


# ---- going out


def outcome_of(view: View) -> str | None:
    """How it ended, for who may go now; None while there is something to do."""
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

    about : what MTurk said of this submission; unused for others.

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


async def with_completion_link(server: Server, who: Who, page: Page, about: Mapping[str, str]) -> Page:
    """The page with the way back to the platform, where there is one and it is time.

    Nobody is paid twice for one unit: a submission under which nothing was done leads nowhere.
    """
    outcome = outcome_of(page.view)
    if outcome is None or page.link or page.code:
        return page
    if who.provider not in PATHS:
        done = outcome == "completed" and who.provider == "link"
        return replace(page, code=payment_code(server.settings.secret, who.campaign, who.assessor)) if done else page
    row = await server.campaign(who.campaign)
    table = crowd_of(row.settings.get("crowd") or {}).get(who.provider)
    if table is None:
        return page
    if who.provider in SUBMISSIONS and not await earned(server, who, about):
        another = isinstance(page.view, EndView) and page.view.another
        return page if another else replace(page, view=NoneLeftView(None, False))
    link, code = completion(who.provider, table, outcome, who.external, about)
    return replace(page, link=link, code=code)


async def earned(server: Server, who: Who, about: Mapping[str, str]) -> bool:
    """Whether any unit ended under this submission, or under the latest one where the page names none."""
    taken, submission = await server.service.submissions(who.assessor), submission_of(who.provider, about)
    outcomes = {one.name: one.outcome for one in taken}
    return bool(taken) and outcomes.get(submission or taken[-1].name) is not None
