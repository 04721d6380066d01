"""One request in one transaction of the store: an action, and all that follows from it.

A transaction collects events, folds each into the state at once, and writes both at the end. Nothing outside this file
writes the row of an assessor or an assignment.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from qrowd.collect.campaigns.cache import Cache
from qrowd.collect.campaigns.creation import CampaignSettings
from qrowd.collect.campaigns.pages import Receipt
from qrowd.collect.campaigns.projection import NOTHING, Answers, AssessorState, AssignmentState, counts, differences
from qrowd.collect.protocols import journey
from qrowd.collect.protocols.board import Board
from qrowd.collect.protocols.events import Action, Event, GoOn, Refusal
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.protocols.views import EndView
from qrowd.collect.store import answers, assessors, assignments, events
from qrowd.collect.store.assessors import AssessorRow
from qrowd.collect.store.assignments import AssignmentRow, Slot
from qrowd.collect.store.events import LogEntry

LATE = "late_action"


@dataclass(frozen=True)
class _Change:
    """An assignment in the tables, and as it is now.

    answers, pair, row : in the tables. now : what they have to become.
    """

    answers: Answers
    pair: tuple[int, int] | None
    row: AssignmentRow
    now: AssignmentState


class Transaction:
    """All events of one request, and the state they lead to.

    at : the time of everything in it. number : makes random numbers of 62 bits. actor : who acts: assessor, owner or
    server.
    """

    def __init__(
        self,
        connection: Connection,
        cache: Cache,
        campaign_id: int,
        at: float,
        number: Callable[[], int],
        actor: str = "assessor",
    ) -> None:
        self.connection, self.cache, self.campaign_id = connection, cache, campaign_id
        self.at, self.actor, self._number = at, actor, number
        self.settings = cache.settings(connection, campaign_id)
        self.protocol = PROTOCOLS[self.settings.protocol]
        self._events: list[Event] = []
        self._pending: list[LogEntry] = []
        self._last = 0
        self._changes: dict[int, _Change] = {}
        self._assessors: dict[int, tuple[AssessorState | None, AssessorState]] = {}
        self._key: tuple[str, str] | None = None
        self._late = False

    def set_key(self, key: str, digest: str) -> None:
        """The first event of this transaction carries the form's key, and what the form held."""
        self._key = key, digest

    # ------------------------------------------------------------------ an assessor acts

    def act(
        self,
        assessor: AssessorState,
        campaign_status: str,
        assignment: AssignmentState | None,
        action: Action,
        shown: str,
    ) -> tuple[AssessorState, AssignmentState | None]:
        """Take an action of an assessor; the states of the assessor and of the unit afterwards.

        Raises
        ------
        Refusal
            It cannot be taken now.
        """
        if assessor.row.excluded is not None:
            raise Refusal("excluded", "You take no further part in this task.")
        running = campaign_status == "running"
        if assignment is None:
            if shown:
                raise Refusal("stale", "That set is closed. Here is where you are now.")
            return self._between_units(assessor, action, running)
        if shown and shown != f"{assignment.row.id:x}":
            raise Refusal("stale", "That page belongs to another set. Here is where you are now.")
        if assignment.row.status != "open":
            if isinstance(action, GoOn):
                return self._leave_unit(assessor, assignment, running)
            if assignment.row.status in ("expired", "withdrawn"):
                return assessor, self._late_action(assessor, assignment, action)
            raise Refusal("ended", "This set is complete; nothing in it can be changed any more.")
        if campaign_status == "stopped":
            return assessor, self._late_action(assessor, assignment, action)
        return self._in_unit(assessor, assignment, action)

    def _between_units(
        self, assessor: AssessorState, action: Action, running: bool
    ) -> tuple[AssessorState, AssignmentState | None]:
        """An action before the first unit, or while there is no unit."""
        if not self._may_work(assessor):
            for event in journey.decide(self.settings.journey, assessor.journey, action):
                assessor = self.record_assessor(assessor, event)
        elif not isinstance(action, GoOn):
            raise Refusal("stale", "That page has gone. Here is where you are now.")
        return self._assign(assessor) if running and self._may_work(assessor) else (assessor, None)

    def _may_work(self, assessor: AssessorState) -> bool:
        return journey.may_work(self.settings.journey, assessor.journey)

    def _leave_unit(
        self, assessor: AssessorState, assignment: AssignmentState, running: bool
    ) -> tuple[AssessorState, AssignmentState | None]:
        """Go from the end of a unit to the next one, if there is one."""
        if not running or not self._may_work(assessor):
            raise Refusal("ended", "There is nothing more to judge here.")
        return self._assign(self.record_assessor(assessor, Event("unit_left"), assignment.row))

    def _late_action(self, assessor: AssessorState, assignment: AssignmentState, action: Action) -> AssignmentState:
        """Keep the action in the log; it counts nowhere."""
        data = {"action": type(action).__name__, **vars(action)}
        self._log(Event(LATE, data), assessor.row.id, assignment.row, late=True)
        self._late = True
        return assignment

    def _in_unit(
        self, assessor: AssessorState, assignment: AssignmentState, action: Action
    ) -> tuple[AssessorState, AssignmentState | None]:
        """An action in an open unit."""
        board = self.cache.board(self.connection, assignment) if self.settings.together else None
        new_events = self.protocol.decide(assignment.task, assignment.state, action, self.at, board)
        for event in new_events:
            assignment = self.record_assignment(assignment, event)
            board = None if board is None else board.after(assignment.row.id, event, self.at)
        if board is not None:  # only now, when it is known which pair this assessor has next
            for event in new_events:
                if event.kind == "marked_bad":
                    board = self._withdraw(board, assignment, int(event.data["document"]))
        if assignment.row.status != "open":
            assessor = self._ended(assessor, assignment)
        return assessor, assignment

    def _ended(self, assessor: AssessorState, assignment: AssignmentState) -> AssessorState:
        view = self.protocol.view(assignment.task, assignment.state)
        early = isinstance(view, EndView) and view.early
        assessor = self.record_assessor(
            assessor, Event("unit_ended", {"outcome": assignment.row.status, "early": early})
        )
        if not assignment.row.holds_slot:
            assignments.release_slot(self.connection, assignment.row)
        return assessor

    # ------------------------------------------------------------------ units

    def _assign(self, assessor: AssessorState) -> tuple[AssessorState, AssignmentState | None]:
        """Begin the next unit, if there is one. A unit in which others left nothing to do is passed over."""
        while (slot := self._find_slot(assessor)) is not None:
            assessor, assignment = self._begin_unit(assessor, slot)
            if assignment.row.status == "open":
                return assessor, assignment
            assessor = self.record_assessor(assessor, Event("unit_left"), assignment.row)
        return assessor, None

    def _find_slot(self, assessor: AssessorState) -> Slot | None:
        """A slot of a topic that this assessor never had: a free one, drawn at random, or one whose lease expired."""
        pivot = random.Random(self._number()).random()
        slot = assignments.free_slot(self.connection, self.campaign_id, assessor.row.id, pivot)
        if slot is not None:
            return slot
        lapsed = self._find_lapsed(assessor)
        if lapsed is None:
            return None
        other = AssignmentState.read(lapsed, self.cache.task(self.connection, lapsed), self.settings)
        self.record_assignment(other, Event("lease_expired"))
        self._save(self._changes[lapsed.id])
        assignments.release_slot(self.connection, lapsed)
        return Slot(lapsed.unit_id, lapsed.slot, lapsed.topic_id)

    def _find_lapsed(self, assessor: AssessorState) -> AssignmentRow | None:
        """The assignment whose lease expired first.

        A shared unit is locked before its assignment, the order in which its assessors lock, so that nobody waits in a
        circle; it may have changed hands by then.
        """
        together = self.settings.together
        while True:
            row = assignments.lapsed(self.connection, self.campaign_id, assessor.row.id, self.at, lock=not together)
            if row is None or not together:
                return row
            assignments.lock_unit(self.connection, row.unit_id)
            locked = assignments.find_assignment(self.connection, row.id, lock=True)
            if locked is not None and locked.status == "open" and locked.lease_until < self.at:
                return locked

    def _begin_unit(self, assessor: AssessorState, slot: Slot) -> tuple[AssessorState, AssignmentState]:
        """Begin an assignment of this slot, with whatever the protocol needs to show the first page."""
        id, seed = self._number(), self._number()
        data = {"slot": slot.number, "topic": slot.topic_id, "seed": seed}
        row = assignment_row(self.settings, assessor.row, id, slot, seed, self.at)
        if self.settings.together:
            assignments.lock_unit(self.connection, slot.unit_id)
        assignment = self.cache.new_assignment(self.connection, row)
        assessor = self.record_assessor(assessor, Event("assigned", data), assignment.row)
        board = None
        if self.settings.together:
            self.flush()  # the board is read from the log
            board = self.cache.board(self.connection, assignment)
        assignments.add_assignments(self.connection, [assignment.row])
        self._changes[id] = _Change(NOTHING, None, assignment.row, assignment)
        for event in self.protocol.resume(assignment.task, assignment.state, board, self.at):
            assignment = self.record_assignment(assignment, event)
        if assignment.row.status != "open":
            self._save(self._changes[id])  # or nobody could have another
        return assessor, assignment

    def _withdraw(self, board: Board, assignment: AssignmentState, document: int) -> Board:
        """A document was removed: assessors who have it on the page get another pair."""
        for id in board.holders(document):
            if id == assignment.row.id:
                continue
            row = assignments.find_assignment(self.connection, id, lock=True)
            if row is None or row.status != "open":
                continue
            other = AssignmentState.read(row, self.cache.task(self.connection, row), self.settings)
            for follows in self.protocol.resume(
                other.task, other.state, board.for_assignment(id), self.at, removed=document
            ):
                other = self.record_assignment(other, follows)
                board = board.after(id, follows, self.at)
        return board.for_assignment(assignment.row.id)

    # ------------------------------------------------------------------ events

    def add_assessor(self, number: int, event: Event) -> AssessorState:
        """Write a new assessor."""
        assessor = new_assessor(self.settings, self.campaign_id, number, event, self.at)
        self._assessors[number] = None, assessor
        self._log(event, number, None)
        return assessor

    def record_assessor(self, assessor: AssessorState, event: Event, row: AssignmentRow | None = None) -> AssessorState:
        """Write an event of an assessor, about the assignment of `row` if one is given; the state after it."""
        id = None if row is None else row.id
        after = assessor.after(self.settings, event, self.at, id)
        before = self._assessors[assessor.row.id][0] if assessor.row.id in self._assessors else assessor
        self._assessors[assessor.row.id] = before, after
        self._log(event, assessor.row.id, row)
        return after

    def record_assignment(self, assignment: AssignmentState, event: Event) -> AssignmentState:
        """Write an event of an assignment; the state after it."""
        after = assignment.after(self.settings, event, self.at)
        change = self._changes.get(assignment.row.id)
        if change is None:
            change = _Change(assignment.answers(), _pair(assignment), assignment.row, assignment)
        self._changes[assignment.row.id] = replace(change, now=after)
        self._log(event, assignment.row.assessor_id, assignment.row)
        return after

    def _log(self, event: Event, assessor_id: int, row: AssignmentRow | None, *, late: bool = False) -> None:
        key, digest = self._key or (None, None)
        self._key = None
        self._pending.append(
            LogEntry(
                time=self.at,
                campaign_id=self.campaign_id,
                assessor_id=assessor_id,
                assignment_id=None if row is None else row.id,
                unit_id=None if row is None else row.unit_id,
                actor=self.actor,
                kind=event.kind,
                data=dict(event.data),
                late=late,
                idem_key=key,
                digest=digest,
            )
        )
        self._events.append(event)

    def flush(self) -> None:
        """Write the events so far, so that they can be read in this transaction."""
        if self._pending:
            self._last = events.append(self.connection, self._pending)[-1]
            self._pending = []

    def finish(self) -> Receipt:
        """Write everything."""
        self.flush()
        for before, assessor in self._assessors.values():
            if before is None:
                assessors.add_assessors(self.connection, assessor.row)
            elif assessor.row != before.row:
                assessors.save_assessor(self.connection, assessor.row)
        for change in list(self._changes.values()):
            self._save(change)
        self._save_pairs()
        return Receipt(self._last, self.at, tuple(self._events), late=self._late)

    def _save(self, change: _Change) -> None:
        now = change.now
        if now.row != change.row:
            assignments.save_assignment(self.connection, now.row)
        after = now.answers()
        for table, rows, keys in differences(now.row, change.answers, after):
            answers.remove_answers(self.connection, table, keys)
            answers.save_answers(self.connection, table, rows)
        self._changes[now.row.id] = replace(change, answers=after, row=now.row)

    def _save_pairs(self) -> None:
        """Write which pair each assessor has on the page; pairs that are given up go first."""
        changed = [change for change in self._changes.values() if change.pair != _pair(change.now)]
        for change in changed:
            if change.pair is not None:
                answers.release_pair(self.connection, change.now.row.id)
        for change in changed:
            hold_pair(self.connection, self.settings, change.now)


def _pair(assignment: AssignmentState) -> tuple[int, int] | None:
    """The pair on the page of an assignment."""
    return assignment.protocol.offered(assignment.state) if assignment.row.status == "open" else None


def hold_pair(connection: Connection, settings: CampaignSettings, assignment: AssignmentState) -> None:
    """Write which pair is on the page of an assignment, if there is one."""
    if (pair := _pair(assignment)) is not None:
        board = assignment.row.unit_id if settings.together else assignment.row.id
        answers.hold_pair(connection, board, pair, assignment.row.id, settings.seats)


def new_assessor(settings: CampaignSettings, campaign_id: int, id: int, event: Event, at: float) -> AssessorState:
    """An assessor who has just arrived."""
    data = event.data
    row = AssessorRow(
        id=id,
        campaign_id=campaign_id,
        name=str(data["name"]),
        provider=str(data["provider"]),
        external_id=str(data["external_id"]),
        identified=str(data["identified"]),
        status="",
        excluded=None,
        seed=int(data["seed"]),
        current_id=None,
        state={},
        created=at,
        updated=at,
    )
    return AssessorState.new(row, settings)


def assignment_row(
    settings: CampaignSettings, assessor: AssessorRow, id: int, slot: Slot, seed: int, at: float
) -> AssignmentRow:
    """An assignment before anything happened in it."""
    return AssignmentRow(
        id=id,
        campaign_id=assessor.campaign_id,
        topic_id=slot.topic_id,
        unit_id=slot.unit_id,
        slot=slot.number,
        assessor_id=assessor.id,
        status="open",
        counts=counts(settings, "open"),
        seed=seed,
        lease_until=at + settings.lease_seconds,
        version=0,
        state={},
        created=at,
        updated=at,
    )
