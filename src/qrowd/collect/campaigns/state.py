"""The state that the events of an assessor and of an assignment add up to.

One fold, used twice: on every answer as it comes, and over the whole log when the tables are built again. What the
tables hold is a function of the log because nothing else ever changes these records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Table

from qrowd.collect.protocols import journey
from qrowd.collect.protocols.events import Event
from qrowd.collect.protocols.journey import Journey
from qrowd.collect.protocols.protocol import BadRow, JudgmentRow, Material, PreferenceRow, Protocol, Question, Task
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.protocols.settings import (
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
    journey_of,
    settings_of,
)
from qrowd.collect.store import materials, state
from qrowd.collect.store.materials import CampaignRow, TopicRow, UnitRow
from qrowd.collect.store.schema import bad_mark, judgment, preference
from qrowd.collect.store.state import AssessorRow, AssignmentRow
from qrowd.errors import ArgumentError

Answers = dict[Table, dict[int, JudgmentRow | PreferenceRow | BadRow]]  # by table and key

KEYS = {judgment: "position", preference: "number", bad_mark: "document_id"}  # beside the assignment


class NotFoundError(ArgumentError):
    """No such campaign, or no such assessor in it."""


def find(connection: Connection, campaign: str) -> CampaignRow:
    """A campaign by its name.

    Raises
    ------
    NotFoundError
        There is none.
    """
    row = materials.find_campaign(connection, campaign)
    if row is None:
        names = ", ".join(one.name for one in materials.campaigns(connection))
        others = f"{'are' if ',' in names else 'is'} {names or 'none yet'}"
        raise NotFoundError(f"there is no campaign {campaign!r}; there {others}")
    return row


def find_arms(connection: Connection, name: str) -> tuple[CampaignRow, dict[str, str]]:
    """A campaign by its name, with {arm: protocol}; by CAMPAIGN/ARM, with that arm alone.

    Raises
    ------
    NotFoundError
        There is no such campaign, or no such arm of it.
    """
    campaign, slash, arm = name.partition("/")
    row = find(connection, campaign)
    arms = protocols_of(row)
    if not slash:
        return row, arms
    if arm not in arms or not arm:
        choices = f"it has {', '.join(arms)}" if "" not in arms else "it has none"
        raise NotFoundError(f"{campaign}: there is no arm {arm!r}; {choices}")
    return row, {arm: arms[arm]}


def only_arm(campaign: str, arms: Mapping[str, str]) -> str:
    """The arm that is meant: the only one.

    Raises
    ------
    ArgumentError
        There are several.
    """
    if len(arms) > 1:
        choices = ", ".join(f"{campaign}/{arm}" for arm in arms)
        raise ArgumentError(f"{campaign} has several arms; choose one of {choices}")
    return next(iter(arms))


# ---- campaigns


@dataclass(frozen=True)
class Arm:
    """One arm of a campaign: how it collects judgments.

    name : "" in a campaign without arms. protocol : its name.
    together : whether all assessors of a topic work on one order of its documents.
    seats : before how many assessors the same pair of one order may be at once.
    instructions : shown with its units where the campaign has none of its own.
    """

    name: str
    protocol: str
    settings: Settings
    together: bool
    seats: int
    instructions: str


@dataclass(frozen=True)
class CampaignSettings:
    """What a campaign's row says of how it is run.

    name, title : of the campaign. arms : by name, in order; a campaign without arms has one, called "".
    lease_seconds : how long a unit is kept for somebody who does nothing.
    frames : sites whose pages may be shown in frames. question : the settings of the campaign's question, if it has
    one. seed : of the campaign.
    """

    name: str
    title: str
    arms: Mapping[str, Arm]
    journey: JourneySettings
    lease_seconds: float
    consent: str
    instructions: str
    practice_instructions: str
    crowd: Mapping[str, Mapping[str, Any]]
    frames: tuple[str, ...]
    question: Mapping[str, Any] | None = None
    seed: int = 0

    @property
    def set_size(self) -> int:
        """Units that an assessor judges in one go: one, or with a question as many documents as a unit would hold."""
        settings = next(iter(self.arms.values())).settings
        return settings.k if self.question is not None and isinstance(settings, GradesSettings) else 1

    @property
    def n_slots(self) -> int:
        """Assessors of each document that a question draws."""
        settings = next(iter(self.arms.values())).settings
        return settings.redundancy

    def may_work(self, way: Journey) -> bool:
        """Whether an assessor may have a unit; `max_units` counts sets, and within a set there is always another."""
        size = self.set_size
        if size == 1:
            return journey.may_work(self.journey, way)
        within = way.n_units % size != 0
        settings = replace(
            self.journey,
            max_units=size * self.journey.max_units,
            another=self.journey.another or within,
            restart=self.journey.restart or within,
        )
        return journey.may_work(settings, way)

    @property
    def together(self) -> bool:
        """Whether there is an arm whose assessors work together."""
        return any(arm.together for arm in self.arms.values())

    @property
    def protocol(self) -> str:
        """The protocol of the only arm; "" where several arms have different ones."""
        return the_protocol({name: arm.protocol for name, arm in self.arms.items()})

    @property
    def lines(self) -> bool:
        """Whether the practice with lines is needed."""
        return any(isinstance(arm.settings, MagnitudeSettings) for arm in self.arms.values())


def read_settings(row: CampaignRow) -> CampaignSettings:
    """How a campaign is run, from its row."""
    table = row.settings
    return CampaignSettings(
        row.name,
        row.title,
        {one["name"]: _arm(one) for one in table["arms"]},
        journey_of(table["journey"]),
        60.0 * table["lease_minutes"],
        table["consent"],
        table["instructions"],
        table["practice_instructions"],
        table["crowd"],
        tuple(table["frames"]),
        table.get("question"),
        row.seed,
    )


def _arm(table: Mapping[str, Any]) -> Arm:
    settings = settings_of(table["protocol"], table["settings"])
    together = isinstance(settings, PreferenceSettings) and settings.sharing == "shared"
    seats = settings.pair_redundancy if isinstance(settings, PreferenceSettings) and together else 1
    return Arm(table["name"], table["protocol"], settings, together, seats, table["instructions"])


def protocols_of(row: CampaignRow) -> dict[str, str]:
    """{arm: protocol} of a campaign, in order."""
    return {one["name"]: one["protocol"] for one in row.settings["arms"]}


def the_protocol(arms: Mapping[str, str]) -> str:
    """The protocol of the only arm, or of all; "" where they have different ones.

    >>> the_protocol({"": "grades"}), the_protocol({"absolute": "grades", "degrees": "preference"})
    ('grades', '')
    """
    protocols = set(arms.values())
    return protocols.pop() if len(protocols) == 1 else ""


def material_of(unit: UnitRow, topic: TopicRow, arm: Arm) -> Material:
    """What a unit of an arm is made of, from its row and its topic's."""
    high, low = (topic.checks if isinstance(arm.settings, MagnitudeSettings) else None) or (None, None)
    rankings = tuple(map(tuple, (topic.systems or {}).values()))
    return Material(tuple(unit.documents), high, low, question_of(topic.question), rankings, len(topic.context or ()))


def question_of(table: Mapping[str, Any] | None) -> Question | None:
    """The question about a topic, from its row."""
    return None if table is None else Question(table["text"], tuple(table["options"]), table["correct"])


# ---- assessors


def journey_of_assessor(row: AssessorRow) -> Journey:
    """How far an assessor has come."""
    return journey.from_json(row.state)


def new_assessor(settings: CampaignSettings, campaign_id: int, id: int, event: Event, at: float) -> AssessorRow:
    """An assessor who has just arrived."""
    data, seed = event.data, int(event.data["seed"])
    row = AssessorRow(
        id=id,
        campaign_id=campaign_id,
        name=str(data["name"]),
        provider=str(data["provider"]),
        external_id=str(data["external_id"]),
        identified=str(data["identified"]),
        seed=seed,
        created=at,
        updated=at,
    )
    lines = settings.lines and not row.is_model  # which cannot see them
    return _with_journey(row, journey.new(settings.journey, lines=lines, seed=seed))


def assessor_after(
    settings: CampaignSettings, row: AssessorRow, event: Event, at: float, assignment_id: int | None
) -> AssessorRow:
    """An assessor after one of their events."""
    row = replace(row, updated=at)
    match event.kind:
        case "assigned":
            return replace(row, current_id=assignment_id)
        case "unit_left":
            return replace(row, current_id=None)
        case "excluded":
            row = replace(row, excluded=str(event.data["reason"]))
        case "reinstated":
            row = replace(row, excluded=None)
        case "identified":
            row = replace(row, identified=str(event.data["identified"]))
        case "reset":
            row = replace(row, current_id=None)
    return _with_journey(row, journey.evolve(settings.journey, journey_of_assessor(row), event))


def _with_journey(row: AssessorRow, way: Journey) -> AssessorRow:
    return replace(row, status=journey.status(way), state=journey.to_json(way))


# ---- assignments


@dataclass(frozen=True)
class AssignmentState:
    """An assignment with its task and what the protocol makes of it. state : the protocol's own, not yet in `row`."""

    row: AssignmentRow
    task: Task
    arm: Arm
    state: Any

    @property
    def protocol(self) -> Protocol[Any]:
        """That of its arm."""
        return PROTOCOLS[self.arm.protocol]

    def after(self, settings: CampaignSettings, event: Event, at: float) -> AssignmentState:
        """After one of its events."""
        row = replace(self.row, version=self.row.version + 1, updated=at)
        match event.kind:
            case "lease_expired" | "given_back" | "assignment_withdrawn":
                status = "withdrawn" if event.kind == "assignment_withdrawn" else "expired"
                stays = self.arm.together and status == "expired"
                return replace(self, row=replace(row, status=status, counts=stays and self.row.counts))
            case "assignment_restored":
                status = str(event.data["status"])
                return replace(self, row=replace(row, status=status, counts=counts(self.protocol, status)))
            case "unit_left":
                return replace(self, row=row)
        new = self.protocol.evolve(self.task, self.state, event, at)
        status = self.protocol.status(new)
        lease = at + settings.lease_seconds if status == "open" else row.lease_until
        row = replace(row, status=status, counts=counts(self.protocol, status), lease_until=lease)
        return replace(self, row=row, state=new)

    def to_row(self) -> AssignmentRow:
        """As the table has it."""
        return replace(self.row, state=self.protocol.to_json(self.state))

    def pair(self) -> tuple[int, int] | None:
        """The pair on its page, if there is one."""
        return self.protocol.offered(self.state) if self.row.status == "open" else None

    def answers(self) -> Answers:
        """What was said here, as far as it stands."""
        rows = self.protocol.rows(self.task, self.state)
        return {
            judgment: {row.position: row for row in rows.judgments},
            preference: {row.number: row for row in rows.preferences},
            bad_mark: {row.document_id: row for row in rows.bad},
        }


def counts(protocol: Protocol[Any], status: str) -> bool:
    """Whether an assignment's judgments are part of the result.

    Where a unit has to pass checks, only once it has; elsewhere every answer as soon as it is given. A unit that
    failed, or went to somebody else, never is; what was judged together with others stays.
    """
    return status == "completed" or (status == "open" and not protocol.checked)


def differences(
    before: AssignmentState | None, now: AssignmentState
) -> Iterator[tuple[Table, list[dict[str, Any]], list[dict[str, Any]]]]:
    """For each table, the rows to write and the keys to remove. before : None where the tables hold nothing of it."""
    old, new = {} if before is None else before.answers(), now.answers()
    for table, rows in new.items():
        own = {name: getattr(now.row, name) for name in ("campaign_id", "unit_id") if name in table.c}
        own["assignment_id"] = now.row.id
        earlier = old.get(table, {})
        changes = [{**own, **vars(row)} for key, row in rows.items() if earlier.get(key) != row]
        yield table, changes, [{"assignment_id": now.row.id, KEYS[table]: key} for key in earlier if key not in rows]


def hold_pair(connection: Connection, assignment: AssignmentState) -> None:
    """Write which pair is on the page of an assignment, if there is one."""
    if (pair := assignment.pair()) is not None:
        board = assignment.row.unit_id if assignment.arm.together else assignment.row.id
        state.hold_pair(connection, board, pair, assignment.row.id, assignment.arm.seats)
