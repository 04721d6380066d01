"""Files that are made while they are sent: in another thread, from one moment of the store, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from threading import BoundedSemaphore, Lock
from typing import Any

from sqlalchemy import Connection
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from qrowd_server.campaigns.results.exports import ARCHIVE, EXPORTS, export_rows, kinds_of, name_of_file
from qrowd_server.campaigns.running.campaign_settings import find, protocols_of
from qrowd_server.campaigns.running.creation import newest_event
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.sessions import get_setting, put_setting
from qrowd_server.web.problems import Problem
from qrowd_server.web.server import Server

AT_ONCE = 4  # each holds a connection for as long as it takes, and pages need some too
DOWNLOADS = BoundedSemaphore(AT_ONCE)


class Chunks:
    """The chunks of a generator that several threads advance in turn."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks: Any = chunks
        self._turn = Lock()
        self._open = True

    def next(self) -> bytes | None:
        """The next chunk; None after the last."""
        with self._turn:
            return next(self._chunks, None) if self._open else None

    async def after(self, chunk: bytes | None) -> AsyncIterator[bytes]:
        """This chunk and all that follow."""
        while chunk is not None:
            yield chunk
            chunk = await asyncio.to_thread(self.next)

    def close(self) -> None:
        """Give the connection back to the store."""
        with self._turn:
            if self._open:
                self._open = False
                self._chunks.close()
                DOWNLOADS.release()


class Download(StreamingResponse):
    """Chunks on their way; whatever happens, their connection is given back."""

    def __init__(self, chunks: Chunks, first: bytes | None, media_type: str, name: str) -> None:
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        super().__init__(chunks.after(first), media_type=media_type, headers=headers)
        self.chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(asyncio.to_thread(self.chunks.close))


def collected(row: CampaignRow, arm: str = "") -> list[str]:
    """The kinds of files that a campaign has to give, or an arm of it, the usual first."""
    arms = protocols_of(row)
    has = {key: row.settings.get(key) is not None for key in ("question", "gold")}
    kinds = kinds_of([arms[arm]] if arm else arms.values(), **has)
    return [kind for kind in kinds if not arm or EXPORTS[kind].of_arms]


async def download(
    server: Server,
    campaign: str,
    what: str,
    format: str,
    *,
    everything: bool = False,
    names: bool = False,
) -> Response:
    """A file of a campaign as `export_rows` writes it; of an archive is noted up to which event it goes."""
    name, media_type = name_of_file(campaign, what, format, everything=everything, names=names)

    def work(connection: Connection) -> Iterator[bytes]:
        at = server.clock()
        return export_rows(connection, campaign, what, format, everything=everything, names=names, at=at)

    if what == ARCHIVE:
        await server.write(_note_archive, campaign)
    if not DOWNLOADS.acquire(blocking=False):
        raise Problem(503, "busy", "Too many exports run right now; try again later.", retry_after=5)
    chunks = Chunks(server.store.stream(work))
    try:
        first = await asyncio.to_thread(chunks.next)
        return Download(chunks, first, media_type, name)
    except BaseException:
        chunks.close()
        raise


def _note_archive(connection: Connection, campaign: str) -> None:
    row = find(connection, campaign)
    put_setting(connection, f"archived.{row.id}", str(newest_event(connection, row.id)))


def is_archived(connection: Connection, campaign_id: int) -> bool:
    """Whether an archive was downloaded that holds the newest event."""
    return get_setting(connection, f"archived.{campaign_id}") == str(newest_event(connection, campaign_id))
