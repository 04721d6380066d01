"""What leaves the server: files of what was collected, and keys for programs.

GET  /owner/c/{campaign}/export                 what there is
GET  /owner/c/{campaign}/export/{what}/{form}   a file, ?everything=1 with what does not count
GET  /owner/keys                                keys    POST: make, revoke
"""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.exports import ARCHIVE, FORMS, kinds_of
from qrowd.collect.store.accounts import api_keys, make_api_key, revoke_api_key
from qrowd.collect.store.materials import campaigns
from qrowd.collect.web.downloads import download
from qrowd.collect.web.forms import query_of
from qrowd.collect.web.owner.context import Fields, OwnerContext, form, page
from qrowd.collect.web.problems import not_found
from qrowd.errors import ArgumentError

LONGEST_NAME = 100
WORDS = {
    "jsonl": ("JSON Lines", "one object a line; read_judgments and read_preferences read it"),
    "csv": ("CSV", "as the library reads it"),
    "spreadsheet": ("CSV for spreadsheets", "to look at: nothing in it can act as a formula"),
    "parquet": ("Parquet", "typed columns, compressed"),
    "qrels": ("qrels", "topic, assessor, document, value"),
    "prefs": ("prefs", "as trec_eval's preference measures read it"),
}


async def exports(context: OwnerContext) -> Response:
    """What can be taken out."""
    return _exports(context)


def _exports(context: OwnerContext, problem: str = "") -> Response:
    kinds = [kind for kind in kinds_of(context.campaign.protocol) if kind != ARCHIVE]
    tables = [(kind, [(name, *WORDS[name]) for name, one in FORMS.items() if kind in one.of]) for kind in kinds]
    return context.draw("export", status=422 if problem else 200, tab="export", tables=tables, problem=problem)


async def taken(context: OwnerContext) -> Response:
    """A file, as it is read from the store."""
    what, form = context.request.path_params["what"], context.request.path_params["form"]
    if what not in kinds_of(context.campaign.protocol) or (what != ARCHIVE and what not in _held_by(form)):
        raise not_found()
    everything = query_of(context.request).get("everything") == "1"
    try:
        return await download(context.server.store, context.campaign.name, what, form, everything=everything)
    except ArgumentError as error:
        return _exports(context, str(error))


def _held_by(form: str) -> tuple[str, ...]:
    return FORMS[form].of if form in FORMS else ()


# ---- keys


async def keys(context: OwnerContext) -> Response:
    """The keys that are good."""
    return await _keys(context)


async def _keys(context: OwnerContext, made: str = "", problem: str = "", typed: str = "") -> Response:
    good = await context.read(api_keys)
    rows = await context.read(campaigns)
    names = {row.id: row.name for row in rows}
    status = 422 if problem else 200
    return context.draw("keys", status=status, keys=good, names=names, made=made, problem=problem, typed=typed)


async def change_keys(context: OwnerContext, fields: Fields) -> Response:
    """Make one, shown in the answer and never again; or make one useless."""
    name, of, at = fields.get("name", "").strip(), fields.get("campaign", ""), context.server.clock()
    match fields.get("do", ""):
        case "make":
            if not 1 <= len(name) <= LONGEST_NAME:
                return await _keys(context, problem=f"name: say what the key is for, in 1 to {LONGEST_NAME} characters")
            opens = (await context.server.campaign(of)).id if of else None
            write = context.server.store.write_async
            return await _keys(context, await write(lambda c: make_api_key(c, name, at, campaign_id=opens)))
        case "revoke" if fields.get("key", "").isascii() and fields.get("key", "").isdigit():
            number = int(fields["key"][:18])
            await context.server.store.write_async(lambda connection: revoke_api_key(connection, number))
            return RedirectResponse("/owner/keys", 303)
    return await _keys(context, problem="do: choose make or revoke")


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/export", exports),
    page("/owner/c/{campaign}/export/{what}/{form}", taken),
    page("/owner/keys", keys),
    form("/owner/keys", change_keys),
]
