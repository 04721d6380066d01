"""What a transaction reads of a campaign: its settings, assignments with their tasks, boards, words.

A campaign has another stamp after every change. What a process remembers belongs to a stamp, which every transaction
reads first, so a change is seen with the next transaction and never half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import Connection

from qrowd_server.campaigns.running.campaign_settings import CampaignSettings, read_settings
from qrowd_server.campaigns.running.current_state import GOLD_EVERY, GOLD_FIRST, AssignmentState, counts, gold_places
from qrowd_server.campaigns.running.pages import DocumentText, TopicText
from qrowd_server.protocols import PROTOCOLS
from qrowd_server.protocols.board import Board
from qrowd_server.protocols.events import Event
from qrowd_server.protocols.gold_checks import Gold
from qrowd_server.protocols.protocol import Material, Question, Task
from qrowd_server.protocols.settings import MagnitudeSettings, PreferenceSettings, Settings, settings_for_models
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store import state_rows as state
from qrowd_server.store.materials import DocumentRow, TopicRow, UnitRow
from qrowd_server.store.state_rows import AssessorRow, AssignmentRow, Slot

V = TypeVar("V")

MOST_VALUES, MOST_BOARDS = 16384, 1024  # that are remembered
OF_WHOLE_UNITS = ("assignment_withdrawn", "assignment_restored")


class CampaignMemory:
    """What a process remembers. Everything in here can be read again, and is forgotten where it becomes too much.

    values : settings, units, tasks and topics, by stamp, kind and number. boards : by stamp and unit, each with the
    number of the newest event in it, which is committed.
    """

    def __init__(self) -> None:
        self.values: dict[tuple[int, str, int], Any] = {}
        self.boards: dict[tuple[int, int], tuple[int, Board]] = {}


class CampaignReader:
    """What a transaction reads of a campaign that has this stamp.

    boards : those that it read; they are to be remembered once it is committed.
    """

    def __init__(
        self, connection: Connection, campaign_id: int, stamp: int, memory: CampaignMemory | None = None
    ) -> None:
        self.connection, self.campaign_id, self._stamp = connection, campaign_id, stamp
        self._memory = CampaignMemory() if memory is None else memory
        self.boards: dict[tuple[int, int], tuple[int, Board]] = {}
        self.settings: CampaignSettings = self._remembered(
            "settings", campaign_id, lambda: read_settings(materials.by_number(connection, "campaign", campaign_id))
        )

    def _remembered(self, kind: str, id: int, read: Callable[[], V]) -> V:
        values, key = self._memory.values, (self._stamp, kind, id)
        value: V | None = values.get(key)
        if value is None:
            value = read()
            if len(values) >= MOST_VALUES:
                values.clear()
            values[key] = value
        return value

    def _topic(self, id: int) -> TopicRow:
        return self._remembered("topic", id, lambda: materials.by_number(self.connection, "topic", id))

    def topic(self, id: int, order: tuple[int, ...]) -> TopicText:
        """The words of a topic, its snippets in this order."""
        row = self._topic(id)
        return TopicText(row.title, row.description, row.narrative, tuple(row.context[i] for i in order))

    def _unit(self, unit_id: int) -> tuple[str, Material]:
        """The arm of a unit, and what it is made of."""

        def read() -> tuple[str, Material]:
            unit = materials.by_number(self.connection, "unit", unit_id)
            gold = () if self.settings.gold is None else gold_of_topic(self.connection, unit.topic_id)
            return unit.arm, material_of(unit, self._topic(unit.topic_id), self.settings.arms[unit.arm].settings, gold)

        return self._remembered("unit", unit_id, read)

    def _task(self, row: AssignmentRow, assessor: AssessorRow | None) -> Task:
        """A unit as the holder of an assignment gets it. assessor : the holder, where the caller has the row."""

        def read() -> Task:
            arm = self.settings.arms[row.arm]
            _, material = self._unit(row.unit_id)
            is_model = state.is_model(self.connection, row.assessor_id) if assessor is None else assessor.is_model
            if not is_model:
                return PROTOCOLS[arm.protocol].task(arm.settings, material, row.seed, **self._gold(row))
            material = replace(material, question=None)  # which is asked of people only
            return PROTOCOLS[arm.protocol].task(settings_for_models(arm.settings), material, row.seed)

        return self._remembered("task", row.id, read)

    def _gold(self, row: AssignmentRow) -> dict[str, Any]:
        """Where gold questions come in an assignment, and whether there is feedback on them."""
        gold, every = self.settings.gold, row.state.get(GOLD_EVERY, 0)
        if gold is None or not every:
            return {}
        return {"gold_every": every, "gold_first": row.state.get(GOLD_FIRST, 0), "feedback": gold.feedback}

    def read(self, row: AssignmentRow, assessor: AssessorRow | None = None) -> AssignmentState:
        """An assignment with its task and state, from its row. assessor : its holder, where the caller has the row."""
        arm = self.settings.arms[row.arm]
        values = {key: value for key, value in row.state.items() if key not in (GOLD_EVERY, GOLD_FIRST)}
        return AssignmentState(row, self._task(row, assessor), arm, PROTOCOLS[arm.protocol].from_json(values))

    def assignment(self, id: int | None) -> AssignmentState | None:
        """An assignment with its task and state; None where there is none."""
        row = None if id is None else state.find_assignment(self.connection, id)
        return None if row is None else self.read(row)

    def new_assignment(
        self,
        assessor: AssessorRow,
        id: int,
        slot: Slot,
        seed: int,
        at: float,
        *,
        gold_every: int = 0,
        gold_first: int = 0,
    ) -> AssignmentState:
        """An assignment of a slot in which nothing has happened yet.

        gold_every, gold_first : as in its event "assigned".
        """
        name, _ = self._unit(slot.unit_id)
        arm = self.settings.arms[name]
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
            lease_until=at + self.settings.lease_seconds,
            created=at,
            updated=at,
            arm=arm.name,
            drawn_id=0 if self.settings.question is None else slot.unit_id,
            state=gold_places(gold_every, gold_first),
        )
        task = self._task(row, assessor)
        return AssignmentState(row, task, arm, protocol.new(task, at))

    def board(self, assignment: AssignmentState) -> Board:
        """What everybody who judges a unit together knows by now, at the transaction of this assignment."""
        row, key = assignment.row, (self._stamp, assignment.row.unit_id)
        seats, infer = assignment.arm.seats, assignment.task.settings.infer
        start = 0, Board.of(assignment.task.material.documents, pair_redundancy=seats, infer=infer)
        last, board = self._memory.boards.get(key, start)
        new = [one for one in events.of_unit(self.connection, row.unit_id, after=last) if not one.late]
        if last and any(one.kind in OF_WHOLE_UNITS for one in new):
            # A withdrawn or restored assignment may lie anywhere in what the board has seen.
            last, board = start
            new = [one for one in events.of_unit(self.connection, row.unit_id) if not one.late]
        away: set[int | None] = set()
        for one in new:  # of several, the last counts
            if one.kind in OF_WHOLE_UNITS:
                (away.add if one.kind == "assignment_withdrawn" else away.discard)(one.assignment_id)
        for one in new:
            last = one.id
            if one.assignment_id is not None and one.assignment_id not in away:
                board = board.after(one.assignment_id, Event(one.kind, one.data), one.time)
        board = board.for_assignment(row.id)  # with what it computes, so that the next caller need not
        self.boards[key] = last, board
        return board

    def remember(self) -> None:
        """Keep the boards for later transactions, now that this one is committed."""
        if len(self._memory.boards) >= MOST_BOARDS:
            self._memory.boards.clear()
        self._memory.boards.update(self.boards)


class AssessorReader(CampaignReader):
    """What a transaction reads for an assessor: who it is, the status of the campaign, and the assignment they have."""

    def __init__(
        self, connection: Connection, assessor: AssessorRow, status: str, stamp: int, memory: CampaignMemory
    ) -> None:
        super().__init__(connection, assessor.campaign_id, stamp, memory)
        self.assessor, self.status = assessor, status
        self.current = self.assignment(assessor.current_id)


# ---- what units are made of, from rows


def document_text(row: DocumentRow) -> DocumentText:
    """The words of a document as a page has them."""
    layout: Any = row.layout or ""
    return DocumentText(row.title, row.text, row.html, row.language, row.url, row.image, layout, tuple(row.pages or ()))


def document_texts(connection: Connection, ids: Iterable[int]) -> dict[int, DocumentText]:
    """The words of documents, by number."""
    return {row.id: document_text(row) for row in materials.find_documents(connection, ids)}


def material_of(unit: UnitRow, topic: TopicRow, settings: Settings, gold: tuple[Gold, ...] = ()) -> Material:
    """What a unit of an arm is made of, from its row and its topic's. gold : of the topic, of documents and pairs."""
    high, low = (topic.checks if isinstance(settings, MagnitudeSettings) else None) or (None, None)
    rankings = tuple(map(tuple, (topic.systems or {}).values()))
    n_documents = 2 if isinstance(settings, PreferenceSettings) else 1
    return Material(
        tuple(unit.documents),
        high,
        low,
        question_of(topic.question),
        rankings,
        len(topic.context or ()),
        tuple(one for one in gold if len(one.documents) == n_documents),
    )


def gold_of_topic(connection: Connection, topic_id: int) -> tuple[Gold, ...]:
    """The gold questions of a topic."""
    return tuple(
        Gold(
            (row.document_id,) if row.other_id is None else (row.document_id, row.other_id),
            tuple(row.accepted),
            row.reason,
        )
        for row in materials.gold_of_topic(connection, topic_id)
    )


def question_of(table: Mapping[str, Any] | None) -> Question | None:
    """The question about a topic, from its row."""
    return None if table is None else Question(table["text"], tuple(table["options"]), table["correct"])
