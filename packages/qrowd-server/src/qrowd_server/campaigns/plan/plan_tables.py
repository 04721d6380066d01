"""A plan from and to one table of JSON or TOML that holds everything itself."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from qrowd.texts import text_of_html
from qrowd_server.campaigns.plan.documents import DocumentPlan
from qrowd_server.campaigns.plan.gold_questions import gold_labels
from qrowd_server.campaigns.plan.panel_links import PanelTable
from qrowd_server.campaigns.plan.plan import Plan, TopicPlan
from qrowd_server.campaigns.plan.question_settings import QuestionSettings
from qrowd_server.campaigns.plan.sanitise import MAX_CHARACTERS, without_harm
from qrowd_server.protocols.protocol import Question
from qrowd_server.protocols.setting_fields import SchemaError, Where, plain, read
from qrowd_server.protocols.settings import (
    SETTINGS,
    GoldSettings,
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
    protocol_of,
    to_table,
    with_preset,
)


@dataclass(frozen=True)
class HeadTable:
    """The table `campaign` of a plan.

    name : as it stands in addresses. title : the name where it is missing. protocol : that of the settings where it is
    missing. seed : drawn where it is missing. preset : whose settings are in force where no other is given. language :
    of the interface; the one that the browser asks for where it is missing. retention_days : after the end, for which
    names are kept; without end, or as the server says, where it is missing.
    guidelines : Markdown.
    pictures : of the guidelines, as base64, by the name they have there.
    """

    name: str
    title: str = ""
    protocol: Literal["magnitude", "grades", "preference"] | None = None
    seed: Annotated[int, Ge(0)] | None = None
    lease_minutes: float = 60.0
    consent: str = ""
    instructions: str = ""
    practice_instructions: str = ""
    checks: bool = True
    questions: bool | None = None
    preset: str = ""
    language: str = ""
    retention_days: Annotated[float, Ge(0), Le(36_500)] | None = None
    guidelines: str = ""
    pictures: dict[str, str] = field(default_factory=dict)


HEAD = tuple(HeadTable.__dataclass_fields__)


@dataclass(frozen=True)
class ArmTable:
    """The table of an arm: the settings of one protocol."""

    magnitude: MagnitudeSettings | None = None
    grades: GradesSettings | None = None
    preference: PreferenceSettings | None = None

    @property
    def settings(self) -> dict[str, Settings]:
        """Those that are given, by protocol."""
        return {name: value for name in SETTINGS if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, kw_only=True)
class PlanTable(ArmTable):
    """A plan as one table of JSON or TOML.

    The settings of one protocol, or `arms` with those of each arm by its name; the journey, and a table for each
    platform that assessors come from. A topic without a pool has all documents in it.
    """

    campaign: HeadTable
    topics: tuple[TopicPlan, ...]
    documents: tuple[DocumentPlan, ...]
    arms: dict[str, ArmTable] = field(default_factory=dict)
    journey: JourneySettings = field(default_factory=JourneySettings)
    panel: PanelTable | None = None
    question: QuestionSettings | None = None
    gold: GoldSettings | None = None


def read_settings(table: Mapping[str, Any]) -> PlanTable:
    """The head and the settings of a table whose topics and documents are still to come."""
    keys = ("campaign", "arms", "gold", *SETTINGS)
    return read(PlanTable, {key: table[key] for key in keys if key in table} | {"topics": [], "documents": []})


def arms_of(whole: PlanTable) -> dict[str, Settings]:
    """The settings of each arm; a plan without arms has one, called ""."""
    settings = _settings(whole)
    return settings if isinstance(settings, dict) else {"": settings}


def plan_from_table(table: Mapping[str, Any]) -> Plan:
    """A plan from one table of JSON or TOML that holds everything itself: a `PlanTable`.

    Documents in nobody's pool are left out.
    """
    whole = read(PlanTable, _with_pools(with_preset(table)))
    head, settings = whole.campaign, _settings(whole)
    labels = {label for topic in whole.topics for label in topic.pool}
    labels |= {label for topic in whole.topics for one in topic.gold for label in one.labels}
    places = [i for i, document in enumerate(whole.documents) if document.label in labels or not document.label]
    documents = tuple(_cleaned(whole.documents[i]) for i in places)
    try:
        named = {key: getattr(head, key) for key in HEAD if key not in ("title", "protocol", "seed")}
        return Plan(
            title=head.title or head.name,
            settings=settings,
            topics=whole.topics,
            documents=documents,
            seed=secrets.randbits(62) if head.seed is None else head.seed,
            journey=whole.journey,
            panel=whole.panel,
            question=whole.question,
            gold=whole.gold,
            **named,
        )
    except SchemaError as error:
        raise SchemaError(_counted_in(places, error.where), error.problem, error.code) from None


def _counted_in(places: Sequence[int], where: Where) -> Where:
    """Where a value stands in the table, of which a plan keeps only some documents."""
    match where:
        case ("documents", int(i), *rest):
            return ("documents", places[i], *rest)
    return where


def _cleaned(document: DocumentPlan) -> DocumentPlan:
    """A document whose HTML is harmless; as plain text where its tags are nested too deep, or it becomes too long."""
    if not document.html or len(document.text) > MAX_CHARACTERS:
        return document
    harmless = without_harm(document.text)
    if harmless is None:
        return replace(document, text=text_of_html(document.text), html=False)
    return replace(document, text=harmless)


def table_from_plan(plan: Plan) -> dict[str, Any]:
    """The table that `plan_from_table` reads as this plan."""
    return {
        "campaign": {key: getattr(plan, key) for key in HEAD if key != "protocol"},
        **_settings_tables(plan),
        "journey": to_table(plan.journey),
        **({} if plan.panel is None else {"panel": vars(plan.panel)}),
        **({} if plan.question is None else {"question": {**plan.question.short(), "content": plan.question.content}}),
        **({} if plan.gold is None else {"gold": plain(GoldSettings, plan.gold)}),
        "topics": plain(tuple[TopicPlan, ...], plan.topics),
        "documents": [{**vars(document), "pages": list(document.pages)} for document in plan.documents],
    }


def question_table(question: Question | None) -> dict[str, Any] | None:
    """A question as JSON values."""
    return None if question is None else {**asdict(question), "options": list(question.options)}


def _settings_tables(plan: Plan) -> dict[str, Any]:
    tables = {arm: {protocol_of(settings): to_table(settings)} for arm, settings in plan.arms.items()}
    return tables.get("", {"arms": tables})


def _protocol(whole: PlanTable) -> str:
    """The protocol named, or else the one that has a table."""
    tables = list(whole.settings)
    protocol = whole.campaign.protocol or (tables[0] if len(tables) == 1 else None)
    if protocol is None:
        raise SchemaError(("campaign", "protocol"), f"is missing; choose one of {', '.join(SETTINGS)}")
    if other := [name for name in tables if name != protocol]:
        raise SchemaError((other[0],), f"is the table of another protocol than {protocol}; remove it")
    return protocol


def _settings(whole: PlanTable) -> Settings | dict[str, Settings]:
    if whole.arms:
        if whole.campaign.protocol is not None:
            raise SchemaError(("campaign", "protocol"), "each of the arms has its own; remove it")
        for name in whole.settings:
            raise SchemaError((name,), "each of the arms has its own settings; remove it, or put it into an arm")
        return {arm: _settings_of_arm(arm, table) for arm, table in whole.arms.items()}
    protocol = _protocol(whole)
    return whole.settings.get(protocol) or SETTINGS[protocol]()


def _settings_of_arm(arm: str, table: ArmTable) -> Settings:
    if len(table.settings) != 1:
        problem = f"has the tables of {len(table.settings)} protocols; give it one of {', '.join(SETTINGS)}"
        raise SchemaError(("arms", arm), problem)
    return next(iter(table.settings.values()))


def _with_pools(table: Any) -> Any:
    """Topics without a pool get all documents but those of their gold questions."""
    match table:
        case {"topics": [*topics], "documents": [*documents]}:
            labels = [row.get("label") for row in documents if isinstance(row, Mapping)]
            return {
                **table,
                "topics": [
                    {"pool": _without_gold(labels, row), **row} if isinstance(row, Mapping) else row for row in topics
                ],
            }
    return table


def _without_gold(labels: list[Any], topic: Mapping[str, Any]) -> list[Any]:
    of_gold = gold_labels(topic.get("gold"))
    return [label for label in labels if label not in of_gold] if of_gold else labels
