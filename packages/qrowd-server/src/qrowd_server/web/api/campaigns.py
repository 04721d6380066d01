"""Campaigns for programs: list them, create one, look at one, set its status, import an archive."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO
from urllib.parse import quote

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from starlette.responses import JSONResponse, Response

from qrowd.errors import QrowdError
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.results.archive import read_archive
from qrowd_server.campaigns.results.progress import Progress, progress
from qrowd_server.campaigns.running import creation
from qrowd_server.campaigns.running.admin import STEPS, CampaignAdmin
from qrowd_server.protocols.schema import plain
from qrowd_server.store import materials
from qrowd_server.store.counts import count_rows
from qrowd_server.store.materials import CampaignRow
from qrowd_server.web.api.bodies import check_type, invalid, parse, parts, read_nothing, read_object
from qrowd_server.web.api.keys import Caller
from qrowd_server.web.api.operations import PREFIX, Answer, Operation, operation
from qrowd_server.web.api.schemas import Campaign, Campaigns, CampaignStatus, campaign_of, head_of
from qrowd_server.web.problems import Problem

PLAN_LIMIT = 32 * 2**20  # bytes
ARCHIVE_LIMIT = 128 * 2**20
LINE_LIMIT = 2**20  # of an archive's event
JSON_LINES = ("application/jsonl", "application/x-ndjson")


EXAMPLE_PLAN = {
    "campaign": {"name": "pilot-1", "title": "Which pages answer the question?", "protocol": "grades", "seed": 7},
    "grades": {"scale": "binary", "k": 2, "redundancy": 1},
    "topics": [{"label": "t1", "title": "How are tides made?", "pool": ["d1", "d2"]}],
    "documents": [
        {"label": "d1", "text": "The moon pulls the sea."},
        {"label": "d2", "text": "Boats for hire, every day."},
    ],
}


# ---- looking


@operation("GET", "/campaigns", Answer("Oldest first", "Campaigns"))
async def list_campaigns(caller: Caller) -> Campaigns:
    """The campaigns that the key opens."""
    rows = await caller.server.store.read_async(materials.campaigns)
    return Campaigns([head_of(row) for row in rows if caller.key.opens(row.id)])


@operation(
    "GET",
    "/campaigns/{campaign}",
    Answer("Its settings, and the numbers of everything in it, whether it counts or not", "Campaign"),
)
async def campaign(caller: Caller) -> Campaign:
    """One campaign."""
    return await _whole(caller, caller.campaign)


@operation("GET", "/campaigns/{campaign}/status", Answer("Slots, answers, topics, assessors and pace", "Progress"))
async def campaign_status(caller: Caller) -> Progress:
    """How far a campaign has come."""
    name, at = caller.campaign.name, caller.server.clock()
    return await caller.server.store.read_async(lambda connection: progress(connection, name, at))


async def _whole(caller: Caller, row: CampaignRow) -> Campaign:
    counts = await caller.server.store.read_async(lambda connection: count_rows(connection, row.id))
    return campaign_of(row, counts)


async def _created(caller: Caller, row: CampaignRow) -> Response:
    location = f"{PREFIX}/campaigns/{quote(row.name)}"
    return JSONResponse(plain(Campaign, await _whole(caller, row)), 201, {"location": location})


# ---- making


@operation(
    "POST",
    "/campaigns",
    Answer("The new campaign", "Campaign", status=201),
    body="PlanTable",
    examples={"grades": EXAMPLE_PLAN},
    problems=(409,),
)
async def create_campaign(caller: Caller) -> Response:
    """A new campaign, which runs at once.

    Needs a key for all campaigns. A plan that could not work is refused as a whole, in one line that names the fault.
    """
    caller.need_all()
    body = await read_object(caller.request, PLAN_LIMIT)
    plan = await asyncio.to_thread(plan_from_table, body)
    at = caller.server.clock()

    def work(connection: Connection) -> CampaignRow | None:
        _check_free(connection, plan.name)
        return materials.find_campaign(
            connection, creation.create_campaign(connection, plan, at, account=caller.account)
        )

    row = await caller.server.store.write_async(work)
    assert row is not None  # just written
    return await _created(caller, row)


def _check_free(connection: Connection, name: str) -> None:
    if materials.find_campaign(connection, name) is not None:
        raise Problem(409, "taken", f"campaign.name: {name!r} is taken by another campaign; choose another",
                      field="campaign.name")  # fmt: skip


@operation(
    "POST",
    "/archives",
    Answer("The new campaign", "Campaign", status=201),
    media_type=JSON_LINES[0],
    problems=(409,),
)
async def import_archive(caller: Caller) -> Response:
    """A campaign as an archive has it, with all that happened in it.

    Needs a key for all campaigns. Send what GET .../archive wrote. Others wait while it is written; for larger archives
    use qrowd campaign import.
    """
    caller.need_all()
    check_type(caller.request, *JSON_LINES)
    with SpooledTemporaryFile(max_size=2**20) as file:
        async for part in parts(caller.request, ARCHIVE_LIMIT):
            file.write(part)
        row = await caller.server.store.write_async(partial(_read_in, file, caller.account))
    return await _created(caller, row)


def _read_in(file: IO[bytes], account: str, connection: Connection) -> CampaignRow:
    """Read an archive; whatever in it cannot have been written by this program is the archive's fault."""
    try:
        row = materials.find_campaign(connection, read_archive(connection, _lines(connection, file), account=account))
    except (QrowdError, OperationalError):
        raise
    except SQLAlchemyError:
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


# ---- status


def _step(step: str, status: str) -> Operation:
    async def handler(caller: Caller) -> CampaignStatus:
        await read_nothing(caller.request)
        admin = CampaignAdmin(caller.server.store, clock=caller.server.clock, account=caller.account)
        return CampaignStatus(await admin.set_status(caller.campaign.name, status))  # type: ignore[arg-type]

    return Operation(
        f"{step}_campaign",
        "POST",
        f"/campaigns/{{campaign}}/{step}",
        f"{step.capitalize()} a campaign",
        handler,
        (Answer("The status now", "CampaignStatus"),),
        "Again, it changes nothing. A stopped campaign may be resumed.",
        problems=(413,),
    )


OPERATIONS = (
    list_campaigns,
    create_campaign,
    campaign,
    campaign_status,
    *(_step(step, status) for step, status in STEPS.items()),
    import_archive,
)
