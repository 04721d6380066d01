"""What a process remembers of its campaigns; everything in here can be read again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TypeVar

from sqlalchemy import Connection

from qrowd.collect.campaigns.drawn import Drawn, NewSizes, read_drawn
from qrowd.collect.campaigns.pages import DocumentText, TopicText
from qrowd.collect.campaigns.state import (
    AssignmentState,
    CampaignSettings,
    counts,
    material_of,
    read_settings,
)
from qrowd.collect.protocols.board import Board
from qrowd.collect.protocols.events import Event
from qrowd.collect.protocols.protocol import Material, Task
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.protocols.settings import settings_for_models
from qrowd.collect.store import events, materials, state
from qrowd.collect.store.materials import TopicRow
from qrowd.collect.store.state import AssessorRow, AssignmentRow, Slot

K = TypeVar("K")
V = TypeVar("V")

OF_WHOLE_UNITS = ("assignment_withdrawn", "assignment_restored")


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
            arm = self.settings(connection, campaign_id).arms[unit.arm]
            return unit.arm, material_of(unit, _there(materials.find_topic(connection, unit.topic_id)), arm)

        return self._units.get_or_make(unit_id, make)

    def task(self, connection: Connection, row: AssignmentRow, assessor: AssessorRow | None = None) -> Task:
        """A unit as the holder of an assignment gets it. assessor : the holder, where the caller has the row."""

        def make() -> Task:
            arm = self.settings(connection, row.campaign_id).arms[row.arm]
            _, material = self._unit(connection, row.campaign_id, row.unit_id)
            is_model = state.is_model(connection, row.assessor_id) if assessor is None else assessor.is_model
            settings = settings_for_models(arm.settings) if is_model else arm.settings
            return PROTOCOLS[arm.protocol].task(settings, material, row.seed)

        return self._tasks.get_or_make(row.id, make)

    def read(self, connection: Connection, row: AssignmentRow) -> AssignmentState:
        """An assignment with its task and state, from its row."""
        arm = self.settings(connection, row.campaign_id).arms[row.arm]
        return AssignmentState(row, self.task(connection, row), arm, PROTOCOLS[arm.protocol].from_json(row.state))

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
        self, connection: Connection, assessor: AssessorRow, id: int, slot: Slot, seed: int, at: float
    ) -> AssignmentState:
        """An assignment of a slot in which nothing has happened yet."""
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
            self._documents[row.id] = DocumentText(
                row.title, row.text, row.html, row.language, row.url, row.image, row.frame
            )
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
