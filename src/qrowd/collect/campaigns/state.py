"""The state that the events of an assessor and of an assignment add up to.

One fold, used twice: on every answer as it comes, and over the whole log when the tables are built again. What the
tables hold is a function of the log because nothing else ever changes these records.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlalchemy import Connection, Table

from qrowd.collect.campaigns.document_rows import document_text
from qrowd.collect.campaigns.drawn import Drawn, NewSizes, read_drawn
from qrowd.collect.campaigns.material import gold_of_topic, material_of
from qrowd.collect.campaigns.pages import DocumentText, TopicText
from qrowd.collect.protocols import journey
from qrowd.collect.protocols.board import Board
from qrowd.collect.protocols.events import Event
from qrowd.collect.protocols.instructions import as_written
from qrowd.collect.protocols.journey import Journey
from qrowd.collect.protocols.protocol import (
    BadRow,
    GoldRow,
    JudgmentRow,
    Material,
    PreferenceRow,
    Protocol,
    Task,
)
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.protocols.schema import read
from qrowd.collect.protocols.settings import (
    GoldSettings,
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
    journey_of,
    settings_for_models,
    settings_of,
)
from qrowd.collect.store import events, materials, state
from qrowd.collect.store.materials import CampaignRow, TopicRow
from qrowd.collect.store.schema import bad_mark, gold_answer, judgment, preference
from qrowd.collect.store.state import AssessorRow, AssignmentRow, Slot

K = TypeVar("K")
V = TypeVar("V")

OF_WHOLE_UNITS = ("assignment_withdrawn", "assignment_restored")

Answers = dict[Table, dict[int, JudgmentRow | PreferenceRow | BadRow | GoldRow]]  # by table and key

GOLD_EVERY = "gold_every"  # the key of an assignment's state that says which documents are gold questions
KEYS = {
    judgment: "position",
    preference: "number",
    bad_mark: "document_id",
    gold_answer: "number",
}  # beside the assignment


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
    one. seed : of the campaign. gold : how gold questions are used; None without. language : of the interface; "" for
    the one that the browser asks for. guidelines : Markdown. pictures : the digests of its pictures, by name.
    effort : documents of a unit, and about how many minutes it takes; None where that is not known.
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
    gold: GoldSettings | None = None
    language: str = ""
    guidelines: str = ""
    pictures: Mapping[str, str] = field(default_factory=dict)
    effort: tuple[int, int] | None = None

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
    way, arms = journey_of(table["journey"]), {one["name"]: _arm(one) for one in table["arms"]}
    texts = {key: table[key] for key in ("instructions", "practice_instructions")}
    for name, arm in arms.items():
        if isinstance(arm.settings, MagnitudeSettings):
            texts = {key: as_written(text, arm.settings, way) for key, text in texts.items()}
            arms[name] = replace(arm, instructions=as_written(arm.instructions, arm.settings, way))
    return CampaignSettings(
        row.name,
        row.title,
        arms,
        way,
        60.0 * table["lease_minutes"],
        table["consent"],
        texts["instructions"],
        texts["practice_instructions"],
        table["crowd"],
        tuple(table["frames"]),
        table.get("question"),
        row.seed,
        None if table.get("gold") is None else read(GoldSettings, table["gold"]),
        table.get("language", ""),
        table.get("guidelines", ""),
        table.get("pictures", {}),
        None if table.get("effort") is None else tuple(table["effort"]),
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


# ---- assessors


def journey_of_assessor(row: AssessorRow) -> Journey:
    """How far an assessor has come."""
    return journey.from_json(row.state)


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
        every = self.task.gold.every
        return replace(self.row, state=self.protocol.to_json(self.state) | ({GOLD_EVERY: every} if every else {}))

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
            gold_answer: {row.number: row for row in rows.gold},
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
    """Write which pair is on the page of an assignment, if there is one. A gold question is nobody else's."""
    if (pair := assignment.pair()) is not None:
        together = assignment.arm.together and pair[0] in assignment.task.material.documents
        board = assignment.row.unit_id if together else assignment.row.id
        state.hold_pair(connection, board, pair, assignment.row.id, assignment.arm.seats)


# ---- what a process remembers


class Bounded(OrderedDict[K, V]):
    """Values by key, up to a number of them; the oldest goes first."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self._size:
            self.popitem(last=False)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key; made and remembered where it is missing."""
        if (value := self.get(key)) is None:
            self[key] = value = make()
        return value


class Cache:
    """What a process remembers of its campaigns: settings, tasks, topics and documents, which never change; and boards.

    Everything in here can be read again.
    """

    def __init__(self) -> None:
        self._settings: Bounded[int, CampaignSettings] = Bounded(256)
        self._units: Bounded[int, tuple[str, Material]] = Bounded(4096)
        self._tasks: Bounded[int, Task] = Bounded(16384)
        self._topics: Bounded[int, TopicRow] = Bounded(4096)
        self._documents: Bounded[int, DocumentText] = Bounded(8192)
        self._boards: Bounded[int, tuple[int, Board]] = Bounded(1024)
        self._drawn: Bounded[int, Drawn] = Bounded(64)
        self.new_sizes: dict[int, NewSizes] = {}  # by campaign, of the last look

    def settings(self, connection: Connection, campaign_id: int) -> CampaignSettings:
        """How a campaign is run."""
        return self._settings.get_or_make(
            campaign_id, lambda: read_settings(_there(materials.find_campaign(connection, campaign_id)))
        )

    def _unit(self, connection: Connection, campaign_id: int, unit_id: int) -> tuple[str, Material]:
        """The arm of a unit, and what it is made of."""

        def make() -> tuple[str, Material]:
            unit = _there(materials.find_unit(connection, unit_id))
            settings = self.settings(connection, campaign_id)
            gold = () if settings.gold is None else gold_of_topic(connection, unit.topic_id)
            topic = _there(materials.find_topic(connection, unit.topic_id))
            return unit.arm, material_of(unit, topic, settings.arms[unit.arm].settings, gold)

        return self._units.get_or_make(unit_id, make)

    def task(self, connection: Connection, row: AssignmentRow, assessor: AssessorRow | None = None) -> Task:
        """A unit as the holder of an assignment gets it. assessor : the holder, where the caller has the row."""

        def make() -> Task:
            arm = self.settings(connection, row.campaign_id).arms[row.arm]
            _, material = self._unit(connection, row.campaign_id, row.unit_id)
            is_model = state.is_model(connection, row.assessor_id) if assessor is None else assessor.is_model
            settings = settings_for_models(arm.settings) if is_model else arm.settings
            return PROTOCOLS[arm.protocol].task(settings, material, row.seed, **self._gold(connection, row))

        return self._tasks.get_or_make(row.id, make)

    def _gold(self, connection: Connection, row: AssignmentRow) -> dict[str, Any]:
        """Where gold questions come in an assignment, and whether there is feedback on them."""
        gold = self.settings(connection, row.campaign_id).gold
        every = row.state.get(GOLD_EVERY, 0)
        return {} if gold is None or not every else {"gold_every": every, "feedback": gold.feedback}

    def read(self, connection: Connection, row: AssignmentRow) -> AssignmentState:
        """An assignment with its task and state, from its row."""
        arm = self.settings(connection, row.campaign_id).arms[row.arm]
        values = {key: value for key, value in row.state.items() if key != GOLD_EVERY}
        return AssignmentState(row, self.task(connection, row), arm, PROTOCOLS[arm.protocol].from_json(values))

    def assignment(
        self, connection: Connection, campaign_id: int, id: int, *, lock: bool = False
    ) -> AssignmentState | None:
        """An assignment with its task and state; where a unit is worked on together, the unit is locked first."""
        settings = self.settings(connection, campaign_id)
        if lock and settings.together:
            before = state.find_assignment(connection, id)
            # In one that has ended nothing changes any more.
            if before is not None and before.status == "open" and settings.arms[before.arm].together:
                state.lock_unit(connection, before.unit_id)
        row = state.find_assignment(connection, id, lock=lock)
        return None if row is None else self.read(connection, row)

    def new_assignment(
        self,
        connection: Connection,
        assessor: AssessorRow,
        id: int,
        slot: Slot,
        seed: int,
        at: float,
        *,
        gold_every: int = 0,
    ) -> AssignmentState:
        """An assignment of a slot in which nothing has happened yet. gold_every : as in its event "assigned"."""
        settings = self.settings(connection, assessor.campaign_id)
        name, material = self._unit(connection, assessor.campaign_id, slot.unit_id)
        arm = settings.arms[name]
        protocol = PROTOCOLS[arm.protocol]
        row = AssignmentRow(
            id=id,
            campaign_id=assessor.campaign_id,
            topic_id=slot.topic_id,
            unit_id=slot.unit_id,
            slot=slot.number,
            assessor_id=assessor.id,
            counts=counts(protocol, "open"),
            seed=seed,
            lease_until=at + settings.lease_seconds,
            created=at,
            updated=at,
            arm=arm.name,
            drawn_id=0 if settings.question is None else material.documents[0],
            state={GOLD_EVERY: gold_every} if gold_every else {},
        )
        task = self.task(connection, row, assessor)
        return AssignmentState(row, task, arm, protocol.new(task, at))

    def topic(self, connection: Connection, id: int, order: tuple[int, ...]) -> TopicText:
        """The words of a topic, its snippets in this order."""
        row = self._topics.get_or_make(id, lambda: _there(materials.find_topic(connection, id)))
        return TopicText(row.title, row.description, row.narrative, tuple(row.context[i] for i in order))

    def documents(self, connection: Connection, ids: Iterable[int]) -> dict[int, DocumentText]:
        """The words of documents."""
        numbers = list(ids)
        missing = [id for id in numbers if self._documents.get(id) is None]
        for row in materials.find_documents(connection, missing) if missing else ():
            self._documents[row.id] = document_text(row)
        return {id: text for id in numbers if (text := self._documents.get(id)) is not None}

    def board(self, connection: Connection, assignment: AssignmentState) -> Board:
        """What everybody who judges a unit together knows by now, at the transaction of this assignment."""
        row = assignment.row
        seats, infer = assignment.arm.seats, assignment.task.settings.infer
        start = 0, Board.of(assignment.task.material.documents, pair_redundancy=seats, infer=infer)
        last, board = self._boards.get(row.unit_id, start)
        new = [one for one in events.of_unit(connection, row.unit_id, after=last) if not one.late]
        if last and any(one.kind in OF_WHOLE_UNITS for one in new):
            # A withdrawn or restored assignment may lie anywhere in what the board has seen.
            last, board = start
            new = [one for one in events.of_unit(connection, row.unit_id) if not one.late]
        away: set[int | None] = set()
        for one in new:  # of several, the last counts
            if one.kind in OF_WHOLE_UNITS:
                (away.add if one.kind == "assignment_withdrawn" else away.discard)(one.assignment_id)
        for one in new:
            last = one.id
            if one.assignment_id is not None and one.assignment_id not in away:
                board = board.after(one.assignment_id, Event(one.kind, one.data), one.time)
        board = board.for_assignment(row.id)  # with what it computes, so that the next caller need not
        self._boards[row.unit_id] = last, board
        return board

    def drawn(self, connection: Connection, campaign_id: int) -> Drawn:
        """What was drawn in a campaign with a question."""
        self._drawn[campaign_id] = drawn = read_drawn(connection, campaign_id, self._drawn.get(campaign_id))
        return drawn

    def forget_boards(self) -> None:
        """After anything that may have been undone."""
        self._boards.clear()
        self._drawn.clear()


def _there(row: V | None) -> V:
    """A row that a foreign key says is there."""
    assert row is not None
    return row
