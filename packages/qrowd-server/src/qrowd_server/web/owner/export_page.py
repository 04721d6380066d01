"""The export page with the files of a campaign, and the page of keys for programs.

GET  /owner/c/{campaign}/export                   the list of files
GET  /owner/c/{campaign}/export/{what}/{format}   a file; ?everything=1 adds what does not count, ?arm= takes one arm
POST /owner/c/{campaign}/export                   a file with names, which the log of the campaign keeps
GET  /owner/keys                                  keys    POST: make, revoke
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.exports import DESIGN, EXPORTS, note_names
from qrowd_server.campaigns.running.collected import final_answers
from qrowd_server.store.accounts import campaign_roles
from qrowd_server.store.materials import campaigns
from qrowd_server.store.sessions import ApiKey, api_keys, make_api_key, revoke_api_key
from qrowd_server.web.downloads import collected, download
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner.context import (
    ADMINISTRATOR,
    MEMBER,
    OWNER_OF,
    VIEWER,
    OwnerContext,
    choose_one,
    form,
    page,
    role_in,
)
from qrowd_server.web.problems import not_found

LONGEST_NAME = 100
FORMAT_TEXTS = {
    "jsonl": ("JSON Lines", "one object a line"),
    "csv": ("CSV", "one row a line"),
    "spreadsheet": ("CSV for spreadsheets", "to look at: nothing in it can act as a formula"),
    "parquet": ("Parquet", "typed columns, compressed"),
    "qrels": ("qrels", "topic, assessor, document, value"),
}


async def exports(context: OwnerContext) -> Response:
    """The files of a campaign."""
    arm = _arm(context)
    kinds = collected(context.campaign, arm)
    tables = [(kind, [(name, *FORMAT_TEXTS[name]) for name in EXPORTS[kind].formats]) for kind in kinds]
    tables = [(kind, formats) for kind, formats in tables if formats]
    whole = [kind for kind, one in EXPORTS.items() if not one.of_answers]
    n_final = len(await context.read(final_answers, context.campaign.id))
    return context.render("export", tables=tables, whole=whole, arm=arm, kinds=kinds, n_final=n_final)


async def export_file(context: OwnerContext) -> Response:
    """A file, streamed from the store."""
    what, format = context.request.path_params["what"], context.request.path_params["format"]
    arm = _arm(context)
    if what not in collected(context.campaign, arm) or not _can_hold(what, format):
        raise not_found()
    everything = query_of(context.request).get("everything") == "1"
    name = f"{context.campaign.name}/{arm}" if arm else context.campaign.name
    try:
        return await download(context.server.store, name, what, format, everything=everything)
    except ArgumentError as error:
        return await exports(replace(context, problem=str(error)))


async def export_names(context: OwnerContext, fields: Form) -> Response:
    """A file with names and ids of platforms."""
    what, _, format = fields.get("file", "").partition("/")
    if what == DESIGN or what not in collected(context.campaign) or not _can_hold(what, format):
        raise ArgumentError("file: choose one of the list")
    server, name, account = context.server, context.campaign.name, context.owner.name
    at = server.clock()
    await server.write(note_names, name, what, format or what, at, account=account)
    return await download(server.store, name, what, format, names=True)


def _arm(context: OwnerContext) -> str:
    """The arm whose files are asked for; "" for all."""
    return context.arm if query_of(context.request).get("arm") else ""


def _can_hold(what: str, format: str) -> bool:
    return not EXPORTS[what].formats or format in EXPORTS[what].formats


# ---- keys


async def keys(context: OwnerContext, new: str = "") -> Response:
    """The valid keys of campaigns that the account owns. new : a key that was just made."""
    all_campaigns = context.may(ADMINISTRATOR)

    def work(connection: Connection) -> tuple[dict[int, str], list[ApiKey]]:
        roles = campaign_roles(connection, context.owner.account)
        names = {row.id: row.name for row in campaigns(connection) if all_campaigns or roles.get(row.id) == OWNER_OF}
        return names, [key for key in api_keys(connection) if all_campaigns or key.campaign_id in names]

    names, valid = await context.read(work)
    return context.render("keys", keys=valid, names=names, made=new)


async def change_keys(context: OwnerContext, fields: Form) -> Response:
    """Make a key, which is shown in the answer and never again; or revoke one."""
    name, of, at = fields.get("name", "").strip(), fields.get("campaign", ""), context.now
    write = context.write
    match fields.get("do", ""):
        case "make":
            if not 1 <= len(name) <= LONGEST_NAME:
                raise ArgumentError(f"name: say what the key is for, in 1 to {LONGEST_NAME} characters")
            campaign_id = (await context.server.campaign(of)).id if of else None
            await _check_owns(context, campaign_id)
            return await keys(
                context, await write(make_api_key, name, at, campaign_id=campaign_id, account_id=context.owner.account)
            )
        case "revoke" if fields.get("key", "").isascii() and fields.get("key", "").isdigit():
            number = int(fields["key"][:18])
            valid = await context.read(api_keys)
            if (key := next((one for one in valid if one.id == number), None)) is not None:
                await _check_owns(context, key.campaign_id)
            await write(revoke_api_key, number)
            return RedirectResponse("/owner/keys", 303)
    raise choose_one("do", fields.get("do", ""), "make", "revoke")


async def _check_owns(context: OwnerContext, campaign_id: int | None) -> None:
    """Refuse a key of a campaign that the account does not own, or of all campaigns; administrators own all."""
    if campaign_id is None and not context.may(ADMINISTRATOR):
        raise ArgumentError("campaign: choose one; only administrators make keys for all campaigns")
    if campaign_id is not None and await role_in(context.server, context.owner, campaign_id) != OWNER_OF:
        raise not_found()


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/export", exports, needs=VIEWER),
    page("/owner/c/{campaign}/export/{what}/{format}", export_file, needs=VIEWER),
    form("/owner/c/{campaign}/export", export_names, exports, needs=OWNER_OF),
    page("/owner/keys", keys, needs=MEMBER),
    form("/owner/keys", change_keys, keys, needs=MEMBER),
]
