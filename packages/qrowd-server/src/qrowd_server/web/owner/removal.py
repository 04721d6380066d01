"""Deleting a campaign, once it is stopped and its archive was downloaded.

GET  /owner/c/{campaign}/delete   what is to be done first, and the forms
POST /owner/c/{campaign}/delete   the archive, after which the campaign may be deleted; or delete it, by its name
"""

from __future__ import annotations

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.exports import ARCHIVE, note_names
from qrowd_server.campaigns.running.creation import delete_campaign, newest_event
from qrowd_server.store.sessions import get_setting, put_setting
from qrowd_server.web.downloads import download
from qrowd_server.web.forms import Form
from qrowd_server.web.owner.context import OWNER_OF, OwnerContext, choose_one, form, page


async def show_deletion(context: OwnerContext) -> Response:
    """The steps: stop, download the archive, type the name."""
    number = context.campaign.id
    is_kept = await context.read(lambda connection: _is_kept(connection, number))
    return context.render("delete", tab="settings", is_kept=is_kept)


async def delete(context: OwnerContext, fields: Form) -> Response:
    """Send the archive, and keep in mind up to which event it goes; or delete the campaign."""
    name, number = context.campaign.name, context.campaign.id
    write = context.server.store.write_async
    match fields.get("do", ""):
        case "archive":
            names, account, at = fields.get("names") == "1", context.owner.name, context.server.clock()
            await write(lambda c: _keep(c, name, number, at, account if names else None))
            return await download(context.server.store, name, ARCHIVE, "jsonl", names=names)
        case "delete":
            if fields.get("name", "") != name:
                raise ArgumentError(f"Type the name of the campaign, {name}, to delete it.")

            def work(connection: Connection) -> None:
                if not _is_kept(connection, number):
                    raise ArgumentError("Download the archive first: it does not hold what happened last.")
                delete_campaign(connection, name)

            await write(work)
            context.memory.forget(name)
            return RedirectResponse("/owner", 303)
    raise choose_one("do", fields.get("do", ""), "archive", "delete")


def _keep(connection: Connection, name: str, number: int, at: float, named_for: str | None) -> None:
    """Keep in mind up to which event the archive goes. named_for : the account that takes it with names, if any."""
    if named_for is not None:
        note_names(connection, name, ARCHIVE, ARCHIVE, at, account=named_for)
    put_setting(connection, _archived(number), str(newest_event(connection, number)))


def _archived(number: int) -> str:
    return f"archived.{number}"


def _is_kept(connection: Connection, number: int) -> bool:
    """Whether an archive was downloaded that holds the newest event."""
    return get_setting(connection, _archived(number)) == str(newest_event(connection, number))


PATH = "/owner/c/{campaign}/delete"
ROUTES: list[BaseRoute] = [
    page(PATH, show_deletion, needs=OWNER_OF),
    form(PATH, delete, show_deletion, needs=OWNER_OF),
]
