"""Campaigns for programs: which there are, how far they have come, and what was collected as streamed files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.responses import Response

from qrowd_server.campaigns.results.exports import ARCHIVE, DESIGN, EXPORTS, JUDGMENTS, kinds_of, note_names
from qrowd_server.campaigns.results.progress import Progress, progress
from qrowd_server.campaigns.results.review import CHOICES, Adjudicated
from qrowd_server.campaigns.running.campaign_settings import protocols_of
from qrowd_server.protocols.schema import plain
from qrowd_server.store import materials
from qrowd_server.web.api.bodies import invalid
from qrowd_server.web.api.endpoints import Endpoint
from qrowd_server.web.api.keys import Caller
from qrowd_server.web.downloads import download
from qrowd_server.web.problems import Problem

NO_OR_YES = ("false", "true")  # of the query; no by default
WITH_EVERYTHING = (JUDGMENTS, "preferences", "duplicates")


async def list_campaigns(caller: Caller) -> dict[str, Any]:
    """The campaigns that the key opens, oldest first; arms : the protocol of each, by name."""
    rows = await caller.server.store.read_async(materials.campaigns)
    return {
        "campaigns": [
            {"name": row.name, "title": row.title, "status": row.status, "created": row.created,
             "arms": protocols_of(row)}
            for row in rows
            if caller.key.opens(row.id)
        ]
    }  # fmt: skip


async def campaign_progress(caller: Caller) -> Any:
    """How far a campaign has come."""
    name, at = caller.campaign.name, caller.server.clock()
    return plain(Progress, await caller.server.store.read_async(lambda c: progress(c, name, at)))


def _export(what: str) -> Endpoint:
    """Streamed, all of it as it stood at one moment; asked for again, the same bytes unless something was added."""
    kind, query = EXPORTS.get(what), dict[str, tuple[str, ...]]()
    if kind is not None and kind.formats:
        formats = list(kind.formats)
        query["format"] = ("jsonl", *(one for one in formats if one != "jsonl"))
        query |= {"arm": ()} if kind.of_arms else {}
    query |= {"everything": NO_OR_YES} if what in WITH_EVERYTHING else {}
    query |= {"adjudicated": CHOICES} if what == JUDGMENTS else {}
    query |= {"names": NO_OR_YES} if what != DESIGN else {}

    async def handler(
        caller: Caller,
        format: str = "",
        everything: bool = False,
        arm: str = "",
        names: bool = False,
        adjudicated: Adjudicated = "without",
    ) -> Response:
        name = _check_collected(caller, what, arm)
        store, at, account = caller.server.store, caller.server.clock(), caller.account
        if names:
            await store.write_async(lambda c: note_names(c, name, what, format or what, at, account=account))
        return await download(store, name, what, format, everything=everything, names=names, adjudicated=adjudicated)

    return Endpoint("GET", f"/campaigns/{{campaign}}/{what}", handler, query)


def _check_collected(caller: Caller, what: str, arm: str) -> str:
    """The name of what is exported: a campaign, or an arm of it; a Problem where it collects something else."""
    row, arms = caller.campaign, protocols_of(caller.campaign)
    if arm and arm not in arms:
        raise invalid("arm", f"choose one of {', '.join(arms)}" if "" not in arms else "this campaign has no arms")
    name = f"{row.name}/{arm}" if arm else row.name
    settings = {key: row.settings.get(key) is not None for key in ("question", "gold")}
    kinds = kinds_of([arms[arm]] if arm else arms.values(), **settings)
    if what not in kinds:
        raise Problem(409, "protocol", f"{name}: this campaign collects {kinds[0]}; ask for those.")
    return name


def _endpoints() -> Iterator[Endpoint]:
    yield Endpoint("GET", "/campaigns", list_campaigns)
    yield Endpoint("GET", "/campaigns/{campaign}", campaign_progress)
    for what in dict.fromkeys((*EXPORTS, DESIGN, ARCHIVE)):
        yield _export(what)


ENDPOINTS = tuple(_endpoints())
