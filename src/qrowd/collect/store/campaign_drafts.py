"""Campaigns that are being prepared in the browser: what was entered, and the files that were sent.

A file is kept in parts of at most a megabyte, each written in a transaction of its own, so that nobody waits for a
large one. A draft that was not saved for a day is removed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from qrowd.collect.store.schema import campaign_draft, draft_part

LIFETIME = 86400.0  # seconds after which a draft that nobody saved is removed
MOST = 5  # drafts of an account; the oldest makes room
PART = 1 << 20  # bytes


@dataclass(frozen=True)
class DraftFile:
    """A file of a draft. field : of the form. name : as it was sent. key : of its parts. size : in bytes."""

    field: str
    name: str
    key: str
    size: int


@dataclass(frozen=True)
class CampaignDraft:
    """A campaign that is being prepared. saved : when, in seconds since 1970; another number for each state.

    campaign_id : of the campaign that it would change; None for a new one. fields : of the form, as entered.
    """

    id: str
    campaign_id: int | None
    saved: float
    fields: Mapping[str, str]
    files: tuple[DraftFile, ...]


def add_draft(connection: Connection, account: int, at: float, *, campaign_id: int | None = None) -> str:
    """A new, empty draft of an account; its id. The oldest drafts of the account make room for it."""
    c = campaign_draft.c
    mine = select(c.id).where(c.account_id == account).order_by(c.saved.desc(), c.id).offset(MOST - 1)
    for id in connection.scalars(mine).all():
        connection.execute(delete(campaign_draft).where(c.id == id))
    number = secrets.token_urlsafe(16)
    row = {"id": number, "account_id": account, "campaign_id": campaign_id, "saved": at, "fields": {}, "files": []}
    connection.execute(insert(campaign_draft), row)
    return number


def find_draft(connection: Connection, id: str, account: int, at: float) -> CampaignDraft | None:
    """A draft of this account; None where there is none, or it is too old."""
    c = campaign_draft.c
    mine = c.id == id, c.account_id == account, c.saved > at - LIFETIME
    row = connection.execute(select(campaign_draft).where(*mine)).one_or_none()
    if row is None:
        return None
    return CampaignDraft(row.id, row.campaign_id, row.saved, row.fields, tuple(DraftFile(*one) for one in row.files))


def save_draft(
    connection: Connection, id: str, fields: Mapping[str, str], files: Sequence[DraftFile], at: float
) -> None:
    """Set what a draft holds; parts of files that it does not name any more are removed."""
    c = campaign_draft.c
    rows = [[one.field, one.name, one.key, one.size] for one in files]
    before = connection.scalar(select(c.saved).where(c.id == id)) or 0.0
    values = {"fields": dict(fields), "files": rows, "saved": max(at, before + 1e-3)}
    connection.execute(update(campaign_draft).where(c.id == id).values(**values))
    kept = [one.key for one in files]
    connection.execute(delete(draft_part).where(draft_part.c.draft_id == id, draft_part.c.file.not_in(kept)))


def parts_of(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The parts in which a file is kept, numbered."""
    return ((i, content[start : start + PART]) for i, start in enumerate(range(0, len(content), PART)))


def add_part(connection: Connection, id: str, file: str, number: int, content: bytes) -> None:
    """Write a part of a file."""
    connection.execute(insert(draft_part), {"draft_id": id, "file": file, "number": number, "content": content})


def content_of(connection: Connection, id: str, file: str) -> bytes:
    """A file of a draft."""
    c = draft_part.c
    parts = connection.scalars(select(c.content).where(c.draft_id == id, c.file == file).order_by(c.number))
    return b"".join(parts)


def remove_draft(connection: Connection, id: str) -> None:
    """Remove a draft with its files."""
    connection.execute(delete(campaign_draft).where(campaign_draft.c.id == id))


def purge_drafts(connection: Connection, at: float) -> int:
    """Remove drafts that nobody saved for a day; how many."""
    return connection.execute(delete(campaign_draft).where(campaign_draft.c.saved <= at - LIFETIME)).rowcount
