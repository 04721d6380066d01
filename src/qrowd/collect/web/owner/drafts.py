"""Drafts of campaigns behind the owner's pages: whose they are, what was entered, and their files.

A draft is named in the address, or in the form, by an id that cannot be guessed, and belongs to one account.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection
from starlette.datastructures import UploadFile

from qrowd.collect.protocols.messages import Message
from qrowd.collect.store import campaign_drafts as stored
from qrowd.collect.store.campaign_drafts import CampaignDraft, DraftFile
from qrowd.collect.store.sessions import new_token
from qrowd.collect.web.owner.context import OwnerContext
from qrowd.errors import ArgumentError

MAX_DRAFT = 64 << 20  # bytes of all files of a draft
MAX_TEXTS = 2_000_000  # characters of all fields
MAX_NAME = 200  # characters of a file's name

Sent = list[tuple[str, UploadFile]]


async def find(context: OwnerContext, id: str) -> CampaignDraft | None:
    """The draft of that id, if it is the account's."""
    account, at = context.owner.account, context.server.clock()
    if not id or len(id) > 100:
        return None
    return await context.server.store.read_async(lambda connection: stored.find_draft(connection, id, account, at))


async def save(
    context: OwnerContext,
    draft: CampaignDraft | None,
    fields: Mapping[str, str],
    kept: Iterable[DraftFile],
    sent: Sent,
    *,
    campaign_id: int | None = None,
) -> str:
    """Save what was entered and the files that were sent, in a draft of its own where there is none yet; its id.

    kept : files of the draft that stay. Each part of a file is a transaction of its own, so nobody waits for long.

    Raises
    ------
    ArgumentError
        It is too much.
    """
    files, write, account = list(kept), context.server.store.write_async, context.owner.account
    if sum(map(len, fields.values())) > MAX_TEXTS:
        raise ArgumentError(Message("The texts are too long: more than %(most)s characters.", most=MAX_TEXTS))
    if sum(one.size for one in files) + sum(one.size or 0 for _, one in sent) > MAX_DRAFT:
        most = f"{MAX_DRAFT >> 20} MB"
        raise ArgumentError(Message("The files are more than %(most)s; send a zip of the whole folder.", most=most))
    at = context.server.clock()
    id = draft.id if draft else await write(lambda c: stored.add_draft(c, account, at, campaign_id=campaign_id))
    for name, file in sent:
        key, content = new_token()[:16], await file.read()
        for number, part in stored.parts_of(content):

            def add(connection: Connection, key: str = key, number: int = number, part: bytes = part) -> None:
                stored.add_part(connection, id, key, number, part)

            await write(add)
        files.append(DraftFile(name, str(file.filename).replace("\\", "/")[-MAX_NAME:], key, len(content)))
    await write(lambda connection: stored.save_draft(connection, id, fields, files, at))
    return id


async def contents(context: OwnerContext, draft: CampaignDraft) -> dict[str, bytes]:
    """The files of a draft, by key."""
    return await context.read(
        lambda connection: {one.key: stored.content_of(connection, draft.id, one.key) for one in draft.files}
    )
