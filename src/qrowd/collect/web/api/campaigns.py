"""Campaigns by program: list, create, look at, steer, and take in from an archive."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import quote

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from starlette.responses import JSONResponse, Response

from qrowd.collect.campaigns.admin import STEPS, CampaignAdmin
from qrowd.collect.campaigns.archive import read_archive
from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.crowd import KEYS as CROWD_KEYS
from qrowd.collect.campaigns.plan_tables import HEAD, plan_from_table
from qrowd.collect.campaigns.progress import Progress, TopicProgress, progress
from qrowd.collect.protocols.protocol import Question
from qrowd.collect.protocols.settings import SETTINGS, JourneySettings
from qrowd.collect.store import materials
from qrowd.collect.store.materials import CampaignRow
from qrowd.collect.web.api.bodies import check_type, invalid, parse, parts, read_nothing, read_object
from qrowd.collect.web.api.counting import COUNTS, counts_of
from qrowd.collect.web.api.keys import Caller
from qrowd.collect.web.api.operations import PREFIX, Answer, Operation
from qrowd.collect.web.api.schemas import Schema, reference, table
from qrowd.collect.web.api.shapes import plain
from qrowd.collect.web.problems import Problem
from qrowd.errors import QrowdError

PLAN_LIMIT = 32 * 2**20  # bytes
ARCHIVE_LIMIT = 128 * 2**20
LINE_LIMIT = 2**20  # of an archive's event
JSON_LINES = ("application/jsonl", "application/x-ndjson")
KEPT = ("protocol", "journey", "lease_minutes", "consent", "instructions", "checks")  # of a campaign's settings


# ---- looking


async def listed(caller: Caller, query: dict[str, Any]) -> Response:
    """The campaigns that the key opens."""
    rows = await caller.server.store.read_async(materials.campaigns)
    return JSONResponse({"campaigns": [_head(row) for row in rows if caller.key.campaign_id in {None, row.id}]})


async def shown(caller: Caller, query: dict[str, Any]) -> Response:
    """One campaign."""
    return JSONResponse(await _described(caller, caller.campaign))


async def status(caller: Caller, query: dict[str, Any]) -> Response:
    """How far it has come."""
    name, at = caller.campaign.name, caller.server.clock()
    found = await caller.server.store.read_async(lambda connection: progress(connection, name, at), long=True)
    return JSONResponse(plain(found))


async def _described(caller: Caller, row: CampaignRow) -> dict[str, Any]:
    counts = await caller.server.store.read_async(lambda connection: counts_of(connection, row.id))
    return _head(row) | {"settings": {name: row.settings[name] for name in KEPT}, "counts": counts}


def _head(row: CampaignRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("name", "title", "protocol", "status", "created")}


# ---- making


async def created(caller: Caller, query: dict[str, Any]) -> Response:
    """A new campaign, running."""
    caller.need_all()
    given = await read_object(caller.request, PLAN_LIMIT)
    plan = await asyncio.to_thread(plan_from_table, given)
    at = caller.server.clock()

    def work(connection: Connection) -> CampaignRow | None:
        _check_free(connection, plan.name)
        return materials.find_campaign(connection, create_campaign(connection, plan, at))

    row = await caller.server.store.write_async(work)
    assert row is not None  # just written
    return JSONResponse(await _described(caller, row), 201, {"location": f"{PREFIX}/campaigns/{quote(row.name)}"})


def _check_free(connection: Connection, name: str) -> None:
    if materials.find_campaign(connection, name) is not None:
        raise Problem(409, "taken", f"campaign.name: {name!r} is taken by another campaign; choose another",
                      field="campaign.name")  # fmt: skip


async def imported(caller: Caller, query: dict[str, Any]) -> Response:
    """A campaign as an archive has it, with all that happened in it."""
    caller.need_all()
    check_type(caller.request, *JSON_LINES)
    with SpooledTemporaryFile(max_size=2**20) as file:
        async for part in parts(caller.request, ARCHIVE_LIMIT):
            file.write(part)
        row = await caller.server.store.write_async(partial(_read_in, file))
    return JSONResponse(await _described(caller, row), 201, {"location": f"{PREFIX}/campaigns/{quote(row.name)}"})


def _read_in(file: IO[bytes], connection: Connection) -> CampaignRow:
    """Read an archive; whatever in it cannot have been written by this program is the archive's fault."""
    try:
        row = materials.find_campaign(connection, read_archive(connection, _lines(connection, file)))
    except (QrowdError, OperationalError):
        raise
    except (SQLAlchemyError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError):
        message = "The archive does not fit together; export it once more."
        raise Problem(422, "invalid", message) from None
    assert row is not None
    return row


def _lines(connection: Connection, file: IO[bytes]) -> Iterator[bytes]:
    """Its lines, each looked at before it is believed."""
    file.seek(0)
    limit = PLAN_LIMIT
    for number in range(1, 2**62):
        line = file.readline(limit + 1)
        if not line:
            return
        if len(line) > limit:
            raise invalid("", f"line {number} is longer than {limit} bytes")
        try:
            head = parse(line)
        except Problem as problem:
            raise invalid("", f"line {number}: {problem.message}") from None
        if number == 1 and isinstance(head, dict) and isinstance(head.get("plan"), dict):
            _check_free(connection, plan_from_table(head["plan"]).name)
        limit = LINE_LIMIT
        yield line


# ---- steering


async def steered(step: str, caller: Caller, query: dict[str, Any]) -> Response:
    """Pause, resume or stop."""
    await read_nothing(caller.request)
    admin = CampaignAdmin(caller.server.store, clock=caller.server.clock)
    return JSONResponse({"status": await admin.set_status(caller.campaign.name, STEPS[step])})


# ---- as operations

STATUS: Schema = {"type": "string", "enum": ["running", "paused", "stopped"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
ONE = {"application/json": reference("Campaign")}
FIELDS: dict[str, Schema] = {
    "name": {"type": "string", "description": "as it stands in addresses"},
    "title": {"type": "string"},
    "protocol": {"type": "string", "enum": list(SETTINGS)},
    "status": STATUS,
    "created": {"type": "number", "description": "seconds since 1970"},
}
EXAMPLE_PLAN = {
    "campaign": {"name": "pilot-1", "title": "Which pages answer the question?", "protocol": "grades", "seed": 7},
    "grades": {"scale": "binary", "k": 2, "redundancy": 1},
    "topics": [{"label": "t1", "title": "How are tides made?", "pool": ["d1", "d2"]}],
    "documents": [
        {"label": "d1", "text": "The moon pulls the sea."},
        {"label": "d2", "text": "Boats for hire, every day."},
    ],
}

OPERATIONS = (
    Operation(
        "list_campaigns",
        "GET",
        "/campaigns",
        "The campaigns that the key opens",
        listed,
        {200: Answer("Oldest first", {"application/json": reference("Campaigns")})},
        problems=(422,),
    ),
    Operation(
        "create_campaign",
        "POST",
        "/campaigns",
        "A new campaign, which runs at once",
        created,
        {201: Answer("It is there", ONE)},
        "Needs a key for all campaigns. What could not work is refused as a whole, in one line that names it.",
        body=reference("Plan"),
        examples={"grades": EXAMPLE_PLAN},
        problems=(409, 413, 415, 422),
    ),
    Operation(
        "campaign",
        "GET",
        "/campaigns/{campaign}",
        "One campaign",
        shown,
        {200: Answer("Its settings, and how many there are of everything, whether it counts or not", ONE)},
        problems=(422,),
    ),
    Operation(
        "campaign_status",
        "GET",
        "/campaigns/{campaign}/status",
        "How far a campaign has come",
        status,
        {200: Answer("Slots, answers, topics, people and pace", {"application/json": reference("Progress")})},
        problems=(422,),
    ),
    *(
        Operation(
            f"{step}_campaign",
            "POST",
            f"/campaigns/{{campaign}}/{step}",
            f"{step.capitalize()} a campaign",
            partial(steered, step),
            {200: Answer("How it stands now", {"application/json": table({"status": STATUS})})},
            "Again, it changes nothing. A stopped campaign may be resumed.",
            problems=(413, 422),
        )
        for step in STEPS
    ),
    Operation(
        "import_archive",
        "POST",
        "/archives",
        "A campaign as an archive has it, with all that happened in it",
        imported,
        {201: Answer("It is there", ONE)},
        "Needs a key for all campaigns. Others wait while it is written; larger ones: qrowd campaign import.",
        body={"type": "string", "description": "What GET .../archive wrote"},
        kind=JSON_LINES[0],
        problems=(409, 413, 415, 422),
    ),
)


def schemas() -> dict[str, Schema]:
    """The components of these operations."""
    from qrowd.collect.campaigns.plan import DocumentPlan, TopicPlan
    from qrowd.collect.web.api.schemas import object_of, schema_of

    texts: Schema = {"type": "array", "items": {"type": "string"}}
    head: dict[str, Schema] = {
        "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$"},
        "title": {"type": "string"},
        "protocol": {"type": "string", "enum": list(SETTINGS)},
        "seed": {"type": ["integer", "null"], "minimum": 0, "description": "of all that chance decides"},
        "lease_minutes": {"type": ["number", "null"], "minimum": 1, "maximum": 100_000},
        "consent": {"type": "string"},
        "instructions": {"type": "string"},
        "checks": {"type": ["boolean", "null"], "description": "whether magnitude units hold two check documents"},
    }
    assert tuple(head) == HEAD
    topic = object_of(
        TopicPlan,
        optional=True,
        instead={
            "pool": {**texts, "description": "labels of documents; all of them where it is left out"},
            "systems": {"type": "object", "additionalProperties": texts},
        },
    )
    crowds = {
        name: table({key: {"default": default} for key, (default, _) in keys.items()}, f"For {name}", [])
        for name, keys in CROWD_KEYS.items()
    }
    settings = {name: reference(kind.__name__) for name, kind in SETTINGS.items()}
    return {
        **{kind.__name__: object_of(kind, optional=True) for kind in (*SETTINGS.values(), JourneySettings)},
        "Question": object_of(Question),
        "TopicPlan": topic | {"required": ["label", "title"]},
        "DocumentPlan": object_of(DocumentPlan, optional=True),
        "Plan": table(
            {
                "campaign": table(head, needed=["name"]),
                **settings,
                "journey": reference("JourneySettings"),
                **crowds,
                "topics": {"type": "array", "items": reference("TopicPlan"), "minItems": 1},
                "documents": {"type": "array", "items": reference("DocumentPlan"), "minItems": 1},
            },
            "All that a campaign is created from. Of the protocols' tables, only that of its own.",
            ["campaign", "topics", "documents"],
        ),
        "Campaigns": table({"campaigns": {"type": "array", "items": table(FIELDS)}}),
        "Campaign": table(
            FIELDS
            | {
                "settings": table(
                    {
                        "protocol": {"anyOf": list(settings.values())},
                        "journey": reference("JourneySettings"),
                        "lease_minutes": schema_of(float),
                        "consent": schema_of(str),
                        "instructions": schema_of(str),
                        "checks": schema_of(bool),
                    }
                ),
                "counts": table(dict.fromkeys(COUNTS, COUNT)),
            }
        ),
        "Progress": object_of(Progress),
        "TopicProgress": object_of(TopicProgress),
    }
