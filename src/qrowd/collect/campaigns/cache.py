"""What never changes, remembered: settings, tasks, topics and documents; and boards, which are only appended to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Generic, TypeVar

from sqlalchemy import Connection

from qrowd.collect.campaigns.creation import CampaignSettings, material_of, read_settings
from qrowd.collect.campaigns.pages import DocumentText, TopicText
from qrowd.collect.campaigns.projection import AssignmentState
from qrowd.collect.protocols.board import Board
from qrowd.collect.protocols.events import Event
from qrowd.collect.protocols.protocol import Material, Task
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.store import assignments, events, materials
from qrowd.collect.store.assignments import AssignmentRow

V = TypeVar("V")


class Bounded(Generic[V]):
    """Values by key, up to a number of them; the oldest goes first."""

    def __init__(self, size: int) -> None:
        self._size, self._values = size, OrderedDict[Hashable, V]()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key; made and remembered where it is missing."""
        if (value := self._values.get(key)) is None:
            self.put(key, value := make())
        return value

    def find(self, key: Hashable) -> V | None:
        """The value of a key, None where it is missing."""
        return self._values.get(key)

    def put(self, key: Hashable, value: V) -> None:
        """Remember a value."""
        self._values[key] = value
        if len(self._values) > self._size:
            self._values.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()


OF_WHOLE_UNITS = ("assignment_withdrawn", "assignment_restored")


class Cache:
    """What a process remembers of its campaigns. Everything in here can be read again."""

    def __init__(self) -> None:
        self._settings: Bounded[CampaignSettings] = Bounded(256)
        self._materials: Bounded[tuple[Material, int]] = Bounded(4096)
        self._tasks: Bounded[Task] = Bounded(16384)
        self._topics: Bounded[materials.TopicRow] = Bounded(4096)
        self._documents: Bounded[DocumentText] = Bounded(8192)
        self._boards: Bounded[tuple[int, Board]] = Bounded(1024)

    def settings(self, connection: Connection, campaign_id: int) -> CampaignSettings:
        """How a campaign is run."""

        def make() -> CampaignSettings:
            row = materials.find_campaign(connection, campaign_id)
            assert row is not None  # a foreign key says so
            return read_settings(row)

        return self._settings.get(campaign_id, make)

    def task(self, connection: Connection, row: AssignmentRow) -> Task:
        """A unit as the holder of an assignment gets it."""

        def make() -> Task:
            settings = self.settings(connection, row.campaign_id)
            material = self._material(connection, row.unit_id)
            return PROTOCOLS[settings.protocol].task(settings.settings, material, row.seed)

        return self._tasks.get(row.id, make)

    def assignment(
        self, connection: Connection, campaign_id: int, id: int, *, lock: bool = False
    ) -> AssignmentState | None:
        """An assignment with its task and state; where a unit is worked on together, the unit is locked first."""
        settings = self.settings(connection, campaign_id)
        if lock and settings.together:
            before = assignments.find_assignment(connection, id)
            if before is not None and before.status == "open":  # in one that has ended nothing changes any more
                assignments.lock_unit(connection, before.unit_id)
        row = assignments.find_assignment(connection, id, lock=lock)
        return None if row is None else AssignmentState.read(row, self.task(connection, row), settings)

    def new_assignment(self, connection: Connection, row: AssignmentRow) -> AssignmentState:
        """An assignment in which nothing has happened yet."""
        protocol = PROTOCOLS[self.settings(connection, row.campaign_id).protocol]
        task = self.task(connection, row)
        state = protocol.new(task, row.created)
        return AssignmentState(replace(row, state=protocol.to_json(state)), task, protocol, state)

    def topic(self, connection: Connection, id: int, order: tuple[int, ...]) -> TopicText:
        """The words of a topic, its snippets in this order."""

        def make() -> materials.TopicRow:
            row = materials.find_topic(connection, id)
            assert row is not None  # a foreign key says so
            return row

        row = self._topics.get(id, make)
        context = row.context or []
        return TopicText(row.title, row.description, row.narrative, tuple(context[i] for i in order))

    def documents(self, connection: Connection, ids: Iterable[int]) -> dict[int, DocumentText]:
        """The words of documents."""
        numbers = list(ids)
        missing = [id for id in numbers if self._documents.find(id) is None]
        for row in materials.find_documents(connection, missing) if missing else ():
            self._documents.put(row.id, DocumentText(row.title, row.text, row.html, row.language))
        return {id: text for id in numbers if (text := self._documents.find(id)) is not None}

    # ------------------------------------------------------------------ boards

    def board(self, connection: Connection, assignment: AssignmentState) -> Board:
        """What everybody who judges a unit together knows by now, at the transaction of this assignment."""
        row = assignment.row
        start = (
            0,
            Board.of(
                assignment.task.material.documents, pair_redundancy=self.settings(connection, row.campaign_id).seats
            ),
        )
        last, board = self._boards.find(row.unit_id) or start
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
        self._boards.put(row.unit_id, (last, board))
        return board

    def forget_boards(self) -> None:
        """After anything that may have been undone."""
        self._boards.clear()

    def _material(self, connection: Connection, unit_id: int) -> Material:
        def make() -> tuple[Material, int]:
            unit = materials.find_unit(connection, unit_id)
            assert unit is not None  # a foreign key says so
            topic = materials.find_topic(connection, unit.topic_id)
            assert topic is not None
            return material_of(unit, topic), unit.topic_id

        return self._materials.get(unit_id, make)[0]
