"""The server for programs: progress, judging and exports as JSON, behind keys. `make_app` takes `ROUTES`.

GET   /api/v1/campaigns                                     those that the key opens
GET   /api/v1/campaigns/{campaign}                          how far it has come
GET   /api/v1/campaigns/{campaign}/{table}                  an export; ?format=, ?everything=true, ?names=true, ?arm=
GET   /api/v1/campaigns/{campaign}/assessors                those that programs speak for
POST  /api/v1/campaigns/{campaign}/assessors                {"name", "about"}: an assessor arrives
GET   /api/v1/campaigns/{campaign}/assessors/{assessor}/page    all that a person would see, and nothing else
POST  /api/v1/campaigns/{campaign}/assessors/{assessor}/act     {"do", ..., "shown", "key"}: an action

Every request carries a key: `Authorization: Bearer qrowd_...`. What is wrong is said as JSON: `code` is for programs,
`message` is one line for people, `field` names what it is about, `reference` where the log has more. A model that
judges is an assessor whom a program speaks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, TypeVar, cast
from urllib.parse import quote

from annotated_types import MaxLen
from pydantic import StringConstraints
from sqlalchemy import Connection
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from qrowd_server.campaigns.results.campaign_progress import Progress, progress
from qrowd_server.campaigns.results.exports import DESIGN, EXPORTS, JUDGMENTS, note_names
from qrowd_server.campaigns.running.campaign_settings import protocols_of
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols.events import ACTIONS, Action, Refusal
from qrowd_server.protocols.setting_fields import SchemaError, path, plain, read
from qrowd_server.store import materials
from qrowd_server.store.base import to_json
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.state_rows import AssessorRow, assessors_of, find_identity
from qrowd_server.web.api_requests import PREFIX, PROVIDER, Caller, invalid, read_object, read_query, route
from qrowd_server.web.downloads import collected, download
from qrowd_server.web.problems import Problem, not_found

T = TypeVar("T")
ABOUT_LIMIT = 16 * 1024  # bytes
ASSESSOR_NAME = r"^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,99}$"
BASE = "/campaigns/{campaign}/assessors"


@dataclass(frozen=True)
class Arrival:
    """An assessor whom a program speaks for. about : what it is made of (model, prompt, settings)."""

    name: Annotated[str, StringConstraints(pattern=ASSESSOR_NAME)]
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sent:
    """What comes with every action. shown : the page it belongs to. key : makes the action happen once."""

    do: str
    shown: Annotated[str, MaxLen(40)] = ""
    key: Annotated[str, MaxLen(100)] = ""


async def list_assessors(caller: Caller) -> dict[str, Any]:
    """The assessors that programs speak for, in the order they came."""
    rows = await caller.server.read(assessors_of, caller.campaign.id)
    return {"assessors": [_assessor(row) for row in rows if row.provider == PROVIDER]}


async def arrive(caller: Caller) -> Response:
    """An assessor that this key speaks for: 201 for a new one, 200 for one of this name that was here before.

    What an assessor is made of is kept in the log with its first arrival, and never changed: another model is another
    assessor.
    """
    arrival = read_body(Arrival, await read_object(caller.request))
    if len(to_json(arrival.about)) > ABOUT_LIMIT:
        raise invalid("about", f"give an object of at most {ABOUT_LIMIT} bytes")
    store, campaign, name = caller.server.store, caller.campaign, arrival.name

    def find(connection: Connection) -> AssessorRow | None:
        return find_identity(connection, campaign.id, PROVIDER, name)

    row, status = await store.read_async(find), 200
    if row is None:
        about = {"key": caller.key.name, **arrival.about}
        await caller.server.service.arrive(campaign.name, PROVIDER, name, name=name, about=about)
        row, status = await store.read_async(find), 201
    assert row is not None  # just written
    address = f"{PREFIX}/campaigns/{quote(campaign.name)}/assessors/{row.id:x}"
    return JSONResponse(_assessor(row), status, {"location": address})


def _assessor(row: AssessorRow) -> dict[str, Any]:
    """assessor : for addresses. name : as exported. status : the stage of their way."""
    return {"assessor": f"{row.id:x}", "name": row.name, "status": row.status, "excluded": row.excluded is not None}


async def page(caller: Caller) -> dict[str, Any]:
    """What an assessor sees now; looking changes nothing. `view.kind` says which actions are possible."""
    return _page(caller, await caller.server.service.page(caller.assessor))


USUAL = {
    "ConsentView": "consent (agreed)", "LineView": "line (line, text)", "QuestionView": "reply (option)",
    "DocumentView": "judge (position, text)", "PairView": "prefer (pair, choice)",
    "RatingView": "rate (confidence, understanding)",
}  # fmt: skip


async def act(caller: Caller) -> dict[str, Any]:
    """Take an action; it is safe on disk when this answers.

    The same key with the same action happens once, and is answered with the same event; with another one it is refused
    (409, code changed). 409, code stale: the message says what the page takes. 422: nothing happened. 503: send again.
    """
    action, shown, key = action_of(await read_object(caller.request))
    try:
        receipt = await caller.server.service.act(caller.assessor, action, shown=shown, key=key)
    except Refusal as error:
        if error.code != "stale":
            raise
        kind = type((await caller.server.service.page(caller.assessor)).view).__name__
        takes = USUAL.get(kind, "go_on")
        raise Problem(409, "stale", f"The page is now a {kind}, which takes {takes}.", field=error.field) from None
    return {
        "event": receipt.event_id,
        "time": receipt.time,
        "replayed": receipt.replayed,
        "late": receipt.late,
        "page": await page(caller),
    }


def _page(caller: Caller, page: Page) -> dict[str, Any]:
    table: dict[str, Any] = plain(Page, caller.server.with_image_addresses(page))
    return table | {"view": {"kind": type(page.view).__name__, **table["view"]}}


# ---- bodies


def read_body(kind: type[T], table: Mapping[str, Any]) -> T:
    """A dataclass from the object that a program sent; a Problem (422) names the field that does not fit."""
    try:
        return read(kind, table)
    except SchemaError as error:
        raise invalid(path(error.where)[:200], error.problem) from None


def action_of(table: Mapping[str, Any]) -> tuple[Action, str, str]:
    """The action that a program asks for, the page it belongs to, and the key that makes it happen once.

    >>> action_of({"do": "go_to", "position": 3})
    (GoTo(position=3), '', '')
    """
    names = [one.name for one in fields(Sent)]
    sent = read_body(Sent, {name: table[name] for name in names if name in table})
    if sent.do not in ACTIONS:
        raise invalid("do", f"choose one of {', '.join(ACTIONS)}")
    values = {name: _single_breaks(value) for name, value in table.items() if name not in names}
    return cast("Action", read_body(ACTIONS[sent.do], values)), sent.shown, sent.key


def _single_breaks(value: Any) -> Any:
    return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value


NO_OR_YES = ("false", "true")  # of the query; no by default
WITH_EVERYTHING = (JUDGMENTS, "preferences", "duplicates")


async def list_campaigns(caller: Caller) -> dict[str, Any]:
    """The campaigns that the key opens, oldest first; arms : the protocol of each, by name."""
    rows = await caller.server.read(materials.campaigns)
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
    return plain(Progress, await caller.server.read(progress, name, at))


async def export(caller: Caller) -> Response:
    """A file, streamed, all of it as it stood at one moment."""
    what = caller.request.path_params["what"]
    if (kind := EXPORTS.get(what)) is None:
        raise not_found()
    choices: dict[str, tuple[str, ...]] = {}
    if kind.formats:
        choices["format"] = tuple(sorted(kind.formats, key=lambda form: form != "jsonl"))
        choices |= {"arm": ()} if kind.of_arms else {}
    choices |= {"everything": NO_OR_YES} if what in WITH_EVERYTHING else {}
    choices |= {"names": NO_OR_YES} if what != DESIGN else {}
    query = read_query(caller.request, choices)
    arm, form = query.get("arm", ""), query.get("format", "")
    name = _check_collected(caller.campaign, what, arm)
    server, at, names = caller.server, caller.server.clock(), query.get("names") == "true"
    if names:
        await server.write(note_names, name, what, form or what, at, account=caller.account)
    return await download(server, name, what, form, everything=query.get("everything") == "true", names=names)


def _check_collected(row: CampaignRow, what: str, arm: str) -> str:
    """The name of what is exported: a campaign, or an arm of it; a Problem where it collects something else."""
    arms = protocols_of(row)
    if arm and arm not in arms:
        raise invalid("arm", f"choose one of {', '.join(arms)}" if "" not in arms else "this campaign has no arms")
    name, kinds = f"{row.name}/{arm}" if arm else row.name, collected(row, arm)
    if what not in kinds:
        raise Problem(409, "protocol", f"{name}: this campaign collects {kinds[0]}; ask for those.")
    return name


ROUTES: list[BaseRoute] = [
    route("/campaigns", GET=list_campaigns),
    route("/campaigns/{campaign}", GET=campaign_progress),
    route(BASE, GET=list_assessors, POST=arrive),
    route(f"{BASE}/{{assessor}}/page", GET=page),
    route(f"{BASE}/{{assessor}}/act", POST=act),
    route("/campaigns/{campaign}/{what}", GET=export),
]
