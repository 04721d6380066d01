"""What programs send and get as dataclasses; their JSON and their JSON Schema follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, TypeVar, cast, get_args

from annotated_types import MaxLen
from pydantic import StringConstraints

from qrowd_server.campaigns.plan.plan_tables import PlanTable
from qrowd_server.campaigns.results.progress import Progress
from qrowd_server.campaigns.running import pages
from qrowd_server.campaigns.running.state import protocols_of, read_settings, the_protocol
from qrowd_server.protocols.events import ACTIONS, Action
from qrowd_server.protocols.schema import Schema, SchemaError, components, path, plain, read
from qrowd_server.protocols.settings import JourneySettings, Settings
from qrowd_server.protocols.views import View
from qrowd_server.store.counts import Counts
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.state import AssessorRow
from qrowd_server.web.api.bodies import invalid

T = TypeVar("T")
NAME = r"^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,99}$"
Status = Literal["running", "paused", "stopped", "decided"]
ProtocolName = Literal["magnitude", "grades", "preference"]


# ---- what programs send


@dataclass(frozen=True)
class Arrival:
    """An assessor whom a program speaks for. about : what it is made of, as an object of at most 16384 bytes."""

    name: Annotated[str, StringConstraints(pattern=NAME)]
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sent:
    """What comes with every action. shown : the page it belongs to. key : makes the action happen once."""

    do: str
    shown: Annotated[str, MaxLen(40)] = ""
    key: Annotated[str, MaxLen(100)] = ""


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


# ---- what programs get


@dataclass(frozen=True)
class Problem:
    """Why a request was refused."""

    code: str
    message: str
    field: str
    reference: str


@dataclass(frozen=True)
class CampaignHead:
    """A campaign in a list. name : as in addresses. created : seconds since 1970.

    protocol : null where several arms have different ones. arms : the protocol of each arm, empty without arms.
    """

    name: str
    title: str
    protocol: ProtocolName | None
    status: Status
    created: float
    arms: dict[str, ProtocolName]


@dataclass(frozen=True)
class Campaigns:
    """The campaigns that a key opens."""

    campaigns: list[CampaignHead]


@dataclass(frozen=True)
class CampaignSettings:
    """How a campaign is run. checks : whether magnitude units hold two check documents.

    questions : whether every topic has a question, or none has; null where some may have one. preset : whose settings
    were taken where the campaign had none of its own. language : of the interface; "" for the browser's.

    protocol : the settings; null in a campaign with arms. arms : those of each arm.
    """

    protocol: Settings | None
    arms: dict[str, Settings]
    journey: JourneySettings
    lease_minutes: float
    consent: str
    instructions: str
    practice_instructions: str
    checks: bool
    questions: bool | None
    preset: str
    language: str


@dataclass(frozen=True)
class Campaign(CampaignHead):
    """One campaign, with its settings and how many rows it has."""

    settings: CampaignSettings
    counts: Counts


@dataclass(frozen=True)
class CampaignStatus:
    """Whether a campaign runs."""

    status: Status


@dataclass(frozen=True)
class Assessor:
    """An assessor. assessor : for addresses. name : as exported. status : how far the assessor has come."""

    assessor: Annotated[str, StringConstraints(pattern="^[0-9a-f]{1,16}$")]
    name: str
    status: str
    excluded: bool


@dataclass(frozen=True)
class Assessors:
    """The assessors that programs speak for."""

    assessors: list[Assessor]


@dataclass(frozen=True)
class Receipt:
    """An action is on disk. event : its number in the log. time : seconds since 1970.

    replayed : the same action was sent before, and happened then. late : the unit had gone to another assessor; the
    answer is kept and does not count. page : what comes next.
    """

    event: int
    time: float
    replayed: bool
    late: bool
    page: pages.Page


def head_of(row: CampaignRow) -> CampaignHead:
    """A campaign as it stands in a list."""
    arms = protocols_of(row)
    own: Any = {"protocol": the_protocol(arms) or None, "arms": {} if "" in arms else arms}
    return CampaignHead(name=row.name, title=row.title, status=row.status, created=row.created, **own)


def campaign_of(row: CampaignRow, counts: Counts) -> Campaign:
    """One campaign, whole."""
    settings, table = read_settings(row), row.settings
    arms = {name: arm.settings for name, arm in settings.arms.items()}
    own = CampaignSettings(
        arms.pop("", None),
        arms,
        settings.journey,
        table["lease_minutes"],
        settings.consent,
        settings.instructions,
        settings.practice_instructions,
        table["checks"],
        table["questions"],
        table["preset"],
        settings.language,
    )
    return Campaign(**vars(head_of(row)), settings=own, counts=counts)


def assessor_of(row: AssessorRow) -> Assessor:
    """One assessor."""
    return Assessor(f"{row.id:x}", row.name, row.status, row.excluded is not None)


def page_table(page: pages.Page) -> dict[str, Any]:
    """A page as JSON; `view.kind` says which one it is."""
    table: dict[str, Any] = plain(pages.Page, page)
    return table | {"view": {"kind": type(page.view).__name__, **table["view"]}}


def receipt_table(receipt: pages.Receipt, page: pages.Page) -> dict[str, Any]:
    """What became of an action, and what comes next."""
    names = {"event": "event_id", "time": "time", "replayed": "replayed", "late": "late"}
    return {name: getattr(receipt, source) for name, source in names.items()} | {"page": page_table(page)}


# ---- as JSON Schema


def reference(name: str) -> Schema:
    """A schema that stands among the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def one_of(names: list[str], property_name: str, values: list[str]) -> Schema:
    """One of several objects, told apart by a property."""
    mapping = {value: reference(name)["$ref"] for value, name in zip(values, names, strict=True)}
    return {
        "oneOf": [reference(name) for name in names],
        "discriminator": {"propertyName": property_name, "mapping": mapping},
    }


def all_components() -> dict[str, Schema]:
    """Every schema of the OpenAPI document, by name."""
    views = [kind.__name__ for kind in get_args(View)]
    answers = components(
        [Problem, Campaigns, Campaign, CampaignStatus, Progress, Assessors, Receipt, *get_args(View)], output=True
    )
    for name in views:
        answers[name]["properties"] = {"kind": {"const": name}, **answers[name]["properties"]}
        answers[name]["required"] = ["kind", *answers[name].get("required", [])]
    answers["Page"]["properties"]["view"] = reference("View")
    actions = components(ACTIONS.values())
    form = components([Sent])["Sent"]["properties"]
    for do, kind in ACTIONS.items():
        schema = actions[kind.__name__]
        schema["properties"] = {"do": {"const": do}, **schema["properties"], "shown": form["shown"], "key": form["key"]}
        schema["required"] = ["do", *schema.get("required", [])]
    names = [kind.__name__ for kind in ACTIONS.values()]
    bodies = components([Arrival, PlanTable])
    bodies["TopicPlan"]["required"].remove("pool")  # default: all documents
    return {
        **answers,
        "View": one_of(views, "kind", views),
        **actions,
        "Action": one_of(names, "do", list(ACTIONS)),
        **bodies,
    }
