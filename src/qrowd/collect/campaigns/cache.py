"""The state that the events of an assignment add up to, and what a process remembers of its campaigns.

One fold, used twice: on every answer as it comes, and over the whole log when the tables are built again. What the
tables hold is a function of the log because nothing else ever changes these records.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sqlalchemy import Connection, Table

from qrowd.collect.campaigns.document_rows import document_text
from qrowd.collect.campaigns.material import gold_of_topic, material_of
from qrowd.collect.campaigns.pages import DocumentText, TopicText
from qrowd.collect.campaigns.state import Arm, CampaignSettings, read_settings
from qrowd.collect.protocols import journey
from qrowd.collect.protocols.board import Board
from qrowd.collect.protocols.events import Event
from qrowd.collect.protocols.journey import Journey
from qrowd.collect.protocols.protocol import BadRow, GoldRow, JudgmentRow, Material, PreferenceRow, Protocol, Rows, Task
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.protocols.settings import settings_for_models
from qrowd.collect.store import answers, events, materials, state
from qrowd.collect.store.materials import TopicRow
from qrowd.collect.store.schema import bad_mark, gold_answer, judgment, preference
from qrowd.collect.store.sqlite import StoredJson
from qrowd.collect.store.state import AssessorRow, AssignmentRow, Slot

K = TypeVar("K")
V = TypeVar("V")
Stamped = tuple[int, int]  # the stamp of a campaign, and a number in it

OF_WHOLE_UNITS = ("assignment_withdrawn", "assignment_restored")

Answers = dict[Table, dict[int, JudgmentRow | PreferenceRow | BadRow | GoldRow]]  # by table and key

GOLD_EVERY, GOLD_FIRST = "gold_every", "gold_first"  # keys of an assignment's state: which are gold questions
KEYS = {
    judgment: "position",
    preference: "number",
    bad_mark: "document_id",
    gold_answer: "number",
}  # beside the assignment


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

    def after(self, settings: CampaignSettings, event: Event, at: float, version: int | None = None) -> AssignmentState:
        """After one of its events. version : of the campaign, as the assessor saw it; default: the present one."""
        changes: dict[str, Any] = {"version": self.row.version + 1, "updated": at}
        new, protocol = self.state, self.protocol
        match event.kind:
            case "lease_expired" | "given_back" | "assignment_withdrawn":
                status = "withdrawn" if event.kind == "assignment_withdrawn" else "expired"
                stays = self.arm.together and status == "expired"
                changes |= {"status": status, "counts": stays and self.row.counts}
            case "assignment_restored":
                status = str(event.data["status"])
                changes |= {"status": status, "counts": counts(protocol, status)}
            case "unit_left":
                pass
            case _:
                new = protocol.evolve(self.task, self.state, event, at)
                status = protocol.status(new)
                changes |= {"status": status, "counts": counts(protocol, status)}
                if status == "open":
                    changes["lease_until"] = at + _lease_in(settings, version)
        return AssignmentState(replace(self.row, **changes), self.task, self.arm, new)

    def to_row(self) -> AssignmentRow:
        """As the table has it."""
        gold = gold_places(self.task.gold.every, self.task.gold.first)
        return replace(self.row, state=StoredJson(None, self.protocol.to_json(self.state) | gold))

    def pair(self) -> tuple[int, int] | None:
        """The pair on its page, if there is one."""
        return self.protocol.offered(self.state) if self.row.status == "open" else None


def gold_places(every: int, first: int) -> dict[str, int]:
    """What the state of an assignment says of its gold questions; nothing where it has none."""
    return ({GOLD_EVERY: every} if every else {}) | ({GOLD_FIRST: first} if first else {})


def _lease_in(settings: CampaignSettings, version: int | None) -> float:
    """Seconds of a lease in a version of the campaign; None for the present one."""
    is_earlier = version is not None and version <= len(settings.leases)
    return settings.leases[version - 1] if version is not None and is_earlier else settings.lease_seconds


def counts(protocol: Protocol[Any], status: str) -> bool:
    """Whether an assignment's judgments are part of the result.

    Where a unit has to pass checks, only once it has; elsewhere every answer as soon as it is given. A unit that
    failed, or went to somebody else, never is; what was judged together with others stays.
    """
    return status == "completed" or (status == "open" and not protocol.checked)


def answers_in(rows: Rows) -> Answers:
    """Rows by table and key."""
    return {
        judgment: {row.position: row for row in rows.judgments},
        preference: {row.number: row for row in rows.preferences},
        bad_mark: {row.document_id: row for row in rows.bad},
        gold_answer: {row.number: row for row in rows.gold},
    }


def _changed(before: AssignmentState, now: AssignmentState) -> tuple[Answers, Answers]:
    old, new = now.protocol.rows_that_changed(now.task, before.state, now.state)
    return answers_in(old), answers_in(new)


def differences(
    before: AssignmentState | None, now: AssignmentState
) -> Iterator[tuple[Table, list[dict[str, Any]], list[dict[str, Any]]]]:
    """For each table, the rows to write and the keys to remove. before : None where the tables hold nothing of it."""
    old, new = ({}, answers_in(now.protocol.rows(now.task, now.state))) if before is None else _changed(before, now)
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
        answers.hold_pair(connection, board, pair, assignment.row.id, assignment.arm.seats)


# ---- what a form says of the page that it was on


def page_id(assignment_id: int | None, version: int) -> str:
    """Whose unit a page speaks of, and which version of the campaign, once that was changed.

    >>> page_id(255, 1), page_id(255, 2), page_id(None, 2), page_id(None, 1)
    ('ff', 'ff.2', '.2', '')
    """
    place = "" if assignment_id is None else f"{assignment_id:x}"
    return place if version == 1 else f"{place}.{version}"


def place_of(shown: str, current: int) -> tuple[str, int]:
    """The unit and the version of a page by its `page_id`; the present version where it says nothing at all.

    >>> place_of("ff.2", 3), place_of("ff", 3), place_of("", 3), place_of("ff.9", 3)
    (('ff', 2), ('ff', 1), ('', 3), ('ff', 3))
    """
    place, dot, number = shown.partition(".")
    if not shown or not dot:
        return place, current if not shown else 1
    if not (number.isascii() and number.isdigit() and len(number) <= 9):
        return shown, current
    return place, min(max(int(number), 1), current)


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
    """What a process remembers of its campaigns: settings, tasks, topics and documents; and boards.

    A campaign has another stamp after every change, and what is remembered belongs to a stamp: `at` says which one a
    transaction has read. So other processes see a change with their next transaction, and never half of it.

    Everything in here can be read again. has_read : whether something was missing, and read since `at`.
    """

    def __init__(self) -> None:
        self._settings: Bounded[Stamped, CampaignSettings] = Bounded(256)
        self._units: Bounded[Stamped, tuple[str, Material]] = Bounded(4096)
        self._tasks: Bounded[Stamped, Task] = Bounded(16384)
        self._topics: Bounded[Stamped, TopicRow] = Bounded(4096)
        self._documents: Bounded[Stamped, DocumentText] = Bounded(8192)
        self._boards: Bounded[Stamped, tuple[int, Board]] = Bounded(1024)
        self._states: Bounded[int, tuple[StoredJson, Any]] = Bounded(4096)  # as the table has it, and as it is
        self.apart: Bounded[int, bool] = Bounded(65536)  # assessors of campaigns in which nobody judges together
        self.stamp, self.has_read = 0, False

    def at(self, stamp: int) -> Cache:
        """The same memory, for a transaction in which the campaign has this stamp."""
        view = Cache.__new__(Cache)  # as copy.copy does, in a tenth of its time
        view.__dict__.update(self.__dict__, stamp=stamp, has_read=False)
        return view

    def _remembered(self, values: Bounded[Stamped, V], id: int, make: Callable[[], V]) -> V:
        """The value of a number at this stamp; made and remembered where it is missing."""

        def read() -> V:
            self.has_read = True
            return make()

        return values.get_or_make((self.stamp, id), read)

    def settings(self, connection: Connection, campaign_id: int) -> CampaignSettings:
        """How a campaign is run."""
        return self._remembered(
            self._settings, campaign_id, lambda: read_settings(_there(materials.find_campaign(connection, campaign_id)))
        )

    def _unit(self, connection: Connection, campaign_id: int, unit_id: int) -> tuple[str, Material]:
        """The arm of a unit, and what it is made of."""

        def make() -> tuple[str, Material]:
            unit = _there(materials.find_unit(connection, unit_id))
            settings = self.settings(connection, campaign_id)
            gold = () if settings.gold is None else gold_of_topic(connection, unit.topic_id)
            topic = _there(materials.find_topic(connection, unit.topic_id))
            return unit.arm, material_of(unit, topic, settings.arms[unit.arm].settings, gold)

        return self._remembered(self._units, unit_id, make)

    def task(self, connection: Connection, row: AssignmentRow, assessor: AssessorRow | None = None) -> Task:
        """A unit as the holder of an assignment gets it. assessor : the holder, where the caller has the row."""

        def make() -> Task:
            arm = self.settings(connection, row.campaign_id).arms[row.arm]
            _, material = self._unit(connection, row.campaign_id, row.unit_id)
            is_model = state.is_model(connection, row.assessor_id) if assessor is None else assessor.is_model
            settings = settings_for_models(arm.settings) if is_model else arm.settings
            return PROTOCOLS[arm.protocol].task(settings, material, row.seed, **self._gold(connection, row))

        return self._remembered(self._tasks, row.id, make)

    def _gold(self, connection: Connection, row: AssignmentRow) -> dict[str, Any]:
        """Where gold questions come in an assignment, and whether there is feedback on them."""
        gold = self.settings(connection, row.campaign_id).gold
        every = row.state.get(GOLD_EVERY, 0)
        if gold is None or not every:
            return {}
        return {"gold_every": every, "gold_first": row.state.get(GOLD_FIRST, 0), "feedback": gold.feedback}

    def read(self, connection: Connection, row: AssignmentRow) -> AssignmentState:
        """An assignment with its task and state, from its row."""
        arm = self.settings(connection, row.campaign_id).arms[row.arm]
        known = self._states.get(row.id)
        if known is not None and isinstance(row.state, StoredJson) and known[0].text == row.state.text:
            state = known[1]
        else:
            values = {key: value for key, value in row.state.items() if key not in (GOLD_EVERY, GOLD_FIRST)}
            state = PROTOCOLS[arm.protocol].from_json(values)
        return AssignmentState(row, self.task(connection, row), arm, state)

    def remember(self, row: AssignmentRow, state: Any) -> None:
        """What the state of an assignment is, for as long as the table holds this row's text of it."""
        if isinstance(row.state, StoredJson):
            self._states[row.id] = row.state, state

    def assignment(
        self, connection: Connection, campaign_id: int, id: int, *, lock: bool = False
    ) -> AssignmentState | None:
        """An assignment with its task and state; where a unit is worked on together, the unit is locked first."""
        if lock and self.settings(connection, campaign_id).together:
            state.lock_unit_of(connection, id)
        row = state.find_assignment(connection, id, lock=lock)
        return None if row is None else self.read(connection, row)

    def current(
        self,
        connection: Connection,
        assessor: AssessorRow,
        asked: Callable[[], AssignmentRow | None] | None,
        *,
        lock: bool,
    ) -> AssignmentState | None:
        """The assignment that an assessor has. asked : for it, of one in `apart`: no unit has to be locked first."""
        if asked is not None:
            row = asked()
            return None if row is None else self.read(connection, row)
        if not self.settings(connection, assessor.campaign_id).together:
            self.apart[assessor.id] = True
        if assessor.current_id is None:
            return None
        return self.assignment(connection, assessor.campaign_id, assessor.current_id, lock=lock)

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
        gold_first: int = 0,
        version: int | None = None,
    ) -> AssignmentState:
        """An assignment of a slot in which nothing has happened yet.

        gold_every, gold_first, version : as in its event "assigned".
        """
        settings = self.settings(connection, assessor.campaign_id)
        name, _ = self._unit(connection, assessor.campaign_id, slot.unit_id)
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
            lease_until=at + _lease_in(settings, version),
            created=at,
            updated=at,
            arm=arm.name,
            drawn_id=0 if settings.question is None else slot.unit_id,
            state=gold_places(gold_every, gold_first),
        )
        task = self.task(connection, row, assessor)
        return AssignmentState(row, task, arm, protocol.new(task, at))

    def topic(self, connection: Connection, id: int, order: tuple[int, ...]) -> TopicText:
        """The words of a topic, its snippets in this order."""
        row = self._remembered(self._topics, id, lambda: _there(materials.find_topic(connection, id)))
        return TopicText(row.title, row.description, row.narrative, tuple(row.context[i] for i in order))

    def documents(self, connection: Connection, ids: Iterable[int]) -> dict[int, DocumentText]:
        """The words of documents."""
        numbers = list(ids)
        missing = [id for id in numbers if self._documents.get((self.stamp, id)) is None]
        self.has_read |= bool(missing)
        for row in materials.find_documents(connection, missing) if missing else ():
            self._documents[self.stamp, row.id] = document_text(row)
        return {id: text for id in numbers if (text := self._documents.get((self.stamp, id))) is not None}

    def board(self, connection: Connection, assignment: AssignmentState) -> Board:
        """What everybody who judges a unit together knows by now, at the transaction of this assignment."""
        row = assignment.row
        seats, infer = assignment.arm.seats, assignment.task.settings.infer
        start = 0, Board.of(assignment.task.material.documents, pair_redundancy=seats, infer=infer)
        last, board = self._boards.get((self.stamp, row.unit_id), start)
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
        self._boards[self.stamp, row.unit_id] = last, board
        return board

    def forget(self, stamp: int) -> None:
        """What was read while a campaign was being changed."""
        for values in (self._settings, self._units, self._tasks, self._topics, self._documents):
            for key in [key for key in list(values) if key[0] == stamp]:
                values.pop(key, None)

    def forget_boards(self) -> None:
        """After anything that may have been undone."""
        self._boards.clear()


def _there(row: V | None) -> V:
    """A row that a foreign key says is there."""
    assert row is not None
    return row
