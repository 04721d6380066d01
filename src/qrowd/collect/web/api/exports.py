"""Exports: what was collected, as files that are streamed from one moment of the store."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from qrowd.collect.campaigns.exports import ARCHIVE, DUPLICATES, FORMATS, JUDGMENTS, PREFERENCES, REVISIONS, kinds_of
from qrowd.collect.protocols.schema import Schema
from qrowd.collect.store import export
from qrowd.collect.web.api.keys import Caller
from qrowd.collect.web.api.operations import Answer, Operation
from qrowd.collect.web.downloads import download
from qrowd.collect.web.problems import Problem

EVERYTHING: Schema = {
    "type": "boolean",
    "default": False,
    "description": "Also what does not count: units not finished or failed, excluded assessors; further columns say "
    "which. Tables only",
}


def _operation(what: str, columns: tuple[str, ...], summary: str, **query: Schema) -> Operation:
    formats = [name for name, one in FORMATS.items() if what in one.of]
    media_types = tuple(dict.fromkeys(FORMATS[one].media_type for one in formats))
    format: Schema = {"type": "string", "enum": formats, "default": "jsonl", "description": "How it is written"}

    async def send(caller: Caller, query: dict[str, Any]) -> Response:
        return await _file(caller, what, query["format"], query.get("everything", False))

    return Operation(
        what,
        "GET",
        f"/campaigns/{{campaign}}/{what}",
        summary,
        send,
        {200: Answer(f"The columns are {', '.join(columns)}", files=media_types)},
        "Streamed, all of it as it stood at one moment; asked for again, the same bytes unless something was added.",
        {"format": format, **query},
        problems=(409, 422),
    )


async def _file(caller: Caller, what: str, format: str, everything: bool) -> Response:
    name, kinds = caller.campaign.name, kinds_of(caller.campaign.protocol)
    if what not in kinds:
        raise Problem(409, "protocol", f"{name}: this campaign collects {kinds[0]}; ask for those.")
    return await download(caller.server.store, name, what, format, everything=everything)


async def archive(caller: Caller, query: dict[str, Any]) -> Response:
    """The whole campaign as one file."""
    return await _file(caller, ARCHIVE, "", False)


OPERATIONS = (
    _operation(
        JUDGMENTS,
        export.JUDGMENTS,
        "Judgments that count, as qrowd.read_judgments reads them; qrels name the assessor in column 2",
        everything=EVERYTHING,
    ),
    _operation(
        PREFERENCES,
        export.PREFERENCES,
        "Preferences and Bad marks that count, as qrowd.read_preferences reads them; prefs know no strength",
        everything=EVERYTHING,
    ),
    _operation(DUPLICATES, export.DUPLICATES, "Pairs of documents that were called the same", everything=EVERYTHING),
    _operation(REVISIONS, export.REVISIONS, "All that ever happened, oldest first"),
    Operation(
        ARCHIVE,
        "GET",
        "/campaigns/{campaign}/archive",
        "The whole campaign, to keep it or to take it into another database",
        archive,
        {200: Answer("One JSON object a line: the plan, then every event", files=("application/jsonl",))},
        "POST /archives reads it. Documents, settings with completion codes, and everybody's answers are in it.",
        problems=(422,),
    ),
)
