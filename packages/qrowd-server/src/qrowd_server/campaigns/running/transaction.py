"""One request in one transaction of the store: an action, and all that follows from it.

A transaction collects events, folds each into the state at once, and writes both at the end. Nothing outside this file
writes the row of an assessor or an assignment.

The slots of a campaign with several arms are laid out as a Latin square (`creation`): in each row of the square a topic
has one arm, and arms take turns over the topics. An assessor keeps to one row, so that a topic is judged in each arm by
as many assessors as its redundancy says, and an assessor judges equally often in each arm. A new assessor gets the row
with the fewest assessors, and begins with the arm with which the fewest have begun; each further unit is in the arm
that they have had least. Only where their row has nothing left for them, they get a slot of another row. Nothing of
this is stored: the first assignment of an assessor says their row and their first arm.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection

from qrowd_server.campaigns.running.campaign_reader import CampaignReader
from qrowd_server.campaigns.running.current_state import (
    AssignmentState,
    assessor_after,
    differences,
    hold_pair,
    journey_of_assessor,
    new_assessor,
    page_id,
)
from qrowd_server.campaigns.running.pages import Receipt
from qrowd_server.protocols import journey
from qrowd_server.protocols.board import Board
from qrowd_server.protocols.events import MAX_TEXT, Action, CannotTell, Event, GoOn, Refusal
from qrowd_server.protocols.gold_checks import GoldAnswer, entry_test, evidence, is_below
from qrowd_server.protocols.protocol import STALE, GoldRow
from qrowd_server.protocols.views import DocumentView, EndView, PairView
from qrowd_server.store import answer_rows as answers
from qrowd_server.store import event_log as events
from qrowd_server.store import state_rows as state
from qrowd_server.store.base import upsert
from qrowd_server.store.event_log import LogEntry
from qrowd_server.store.schema import MODEL
from qrowd_server.store.state_rows import AssessorRow, AssignmentRow, Slot

LATE = "late_action"


class Transaction:
    """All events of one request, and the state they lead to.

    reader : of the campaign. at : the time of everything in it. number : makes random numbers of 62 bits. actor : who
    acts: assessor, owner or server. account : of an owner. instead : whether models take places of people. since : when
    they began.
    """

    instead, since = False, 0.0

    def __init__(
        self,
        reader: CampaignReader,
        at: float,
        number: Callable[[], int],
        actor: str = "assessor",
        account: str | None = None,
    ) -> None:
        self.reader, self.connection, self.campaign_id = reader, reader.connection, reader.campaign_id
        self.at, self.actor, self.account, self._number = at, actor, account, number
        self.settings = reader.settings
        self._events: list[Event] = []
        self._pending: list[LogEntry] = []
        self._last = 0  # number of the newest event
        # As they were at the beginning, None where new, and as they are now.
        self._assessors: dict[int, tuple[AssessorRow | None, AssessorRow]] = {}
        self._assignments: dict[int, tuple[AssignmentState | None, AssignmentState]] = {}
        self._key: tuple[str, str] | None = None
        self._late = False

    def set_key(self, key: str, digest: str) -> None:
        """The first event of this transaction carries the form's key, and what the form held."""
        self._key = key, digest

    # ------------------------------------------------------------------ an assessor acts

    def act(
        self,
        assessor: AssessorRow,
        campaign_status: str,
        assignment: AssignmentState | None,
        action: Action,
        shown: str,
    ) -> None:
        """Take an action of an assessor, before, in or after a unit."""
        running = campaign_status == "running"
        if assignment is None:
            if shown:
                raise Refusal("stale", "That set is closed. Here is where you are now.")
            self._between_units(assessor, action, running)
            return
        if shown and shown != page_id(assignment.row.id):
            raise Refusal("stale", "That page belongs to another set. Here is where you are now.")
        if assignment.row.status != "open":
            if isinstance(action, GoOn):
                self._leave_unit(assessor, assignment, running)
            elif assignment.row.status in ("expired", "withdrawn"):
                self._late_action(assessor, assignment, action)
            else:
                raise Refusal("ended", "This set is complete; nothing in it can be changed any more.")
        elif campaign_status == "stopped":
            self._late_action(assessor, assignment, action)
        else:
            self._in_unit(assessor, assignment, action)

    def _between_units(self, assessor: AssessorRow, action: Action, running: bool) -> None:
        """An action before the first unit, or while there is no unit."""
        if not self._may_work(assessor):
            for event in journey.decide(self.settings.journey, journey_of_assessor(assessor), action):
                assessor = self.record_assessor(assessor, event)
        elif not isinstance(action, GoOn):
            raise Refusal("stale", "That page has gone. Here is where you are now.")
        if running and self._may_work(assessor):
            self._assign(assessor)

    def _may_work(self, assessor: AssessorRow) -> bool:
        return journey.may_work(self.settings.journey, journey_of_assessor(assessor))

    def _leave_unit(self, assessor: AssessorRow, assignment: AssignmentState, running: bool) -> None:
        """Go from the end of a unit to the next one, if there is one."""
        if not running or not self._may_work(assessor):
            raise Refusal("ended", "There is nothing more to judge here.")
        assessor = self.record_assessor(assessor, Event("unit_left"), assignment.row)
        for event in journey.before_next_unit(self.settings.journey, journey_of_assessor(assessor)):
            assessor = self.record_assessor(assessor, event)
        if self._may_work(assessor):
            self._assign(assessor)

    def _late_action(self, assessor: AssessorRow, assignment: AssignmentState, action: Action) -> None:
        """Keep the action in the log; it counts nowhere."""
        data = {"action": type(action).__name__, **vars(action)}
        self._log(Event(LATE, data), assessor.id, assignment.row, late=True)
        self._late = True

    def leave_unanswered(
        self, assessor: AssessorRow, assignment: AssignmentState | None, shown: str, status: str, detail: str
    ) -> None:
        """Keep in the log that a model gave no answer that counts, and take "cannot tell" for it where that is offered.

        Elsewhere the unit is given back, as if its lease had expired, and others may have it.
        """
        if assessor.excluded is not None or assignment is None or assignment.row.status != "open":
            raise Refusal("stale", STALE)
        if shown != page_id(assignment.row.id):
            raise Refusal("stale", STALE)
        view, place = assignment.protocol.view(assignment.task, assignment.state), None
        if isinstance(view, DocumentView | PairView):
            place = view.position if isinstance(view, DocumentView) else view.pair
        data = {"place": place, "status": status, "detail": detail[:MAX_TEXT]}
        assignment = self.record_assignment(assignment, Event("unanswered", data))
        if isinstance(view, DocumentView) and view.may_not_tell:
            self._in_unit(assessor, assignment, CannotTell(view.position, f"the model gave no answer: {status}"))
        else:
            self.give_back(assessor, assignment)

    def give_back(self, assessor: AssessorRow, assignment: AssignmentState) -> None:
        """A model leaves a unit that others may have, and so may the model in its next job."""
        assignment = self.record_assignment(assignment, Event("given_back"))
        state.release_slot(self.connection, assignment.row)
        self.record_assessor(assessor, Event("unit_left"), assignment.row)

    def _take_up(self, assessor: AssessorRow) -> None:
        """A model goes on in a unit that it gave back in an earlier job."""
        if row := to_take_up(self.reader, assessor.id, self.since):
            state.hold_slot(self.connection, row)
            self.record_assessor(assessor, Event("taken_up"), row)
            self.record_assignment(self.reader.read(row, assessor), Event("assignment_restored", {"status": "open"}))

    def _in_unit(self, assessor: AssessorRow, assignment: AssignmentState, action: Action) -> None:
        """An action in an open unit."""
        board = self.reader.board(assignment) if assignment.together else None
        new_events = assignment.protocol.decide(assignment.task, assignment.state, action, self.at, board)
        for event in new_events:
            assignment = self.record_assignment(assignment, event)
            board = None if board is None else board.after(assignment.row.id, event, self.at)
        if board is not None:  # only now, when it is known which pair this assessor has next
            for event in new_events:
                if event.kind == "marked_bad" and "gold" not in event.data:
                    board = self._withdraw(board, assignment, int(event.data["document"]))
        if assignment.row.status != "open":
            view = assignment.protocol.view(assignment.task, assignment.state)
            early = isinstance(view, EndView) and view.early
            ended = Event("unit_ended", {"outcome": assignment.row.status, "early": early})
            assessor = self.record_assessor(assessor, ended)
            if not assignment.row.holds_slot:
                state.release_slot(self.connection, assignment.row)
            assignment = self._close_slots(assignment, board)
        self._exclude_by_gold(assessor, assignment)

    def _close_slots(self, assignment: AssignmentState, board: Board | None) -> AssignmentState:
        """Nobody else gets a unit that is judged together once nothing is left to judge in it."""
        if assignment.row.status != "completed" or board is None:
            return assignment
        is_over = assignment.protocol.leaves_nothing(assignment.task, board)
        numbers = state.free_slots(self.connection, assignment.row.unit_id) if is_over else []
        if not numbers:
            return assignment
        state.close_slots(self.connection, assignment.row, numbers)
        return self.record_assignment(assignment, Event("slots_closed", {"slots": numbers}))

    # ------------------------------------------------------------------ units

    def _assign(self, assessor: AssessorRow) -> None:
        """Begin the next unit, if there is one. A unit in which others left nothing to do is passed over."""
        while (slot := self._find_slot(assessor)) is not None:
            assessor, assignment = self._begin_unit(assessor, slot)
            if assignment.row.status == "open":
                return
            assessor = self.record_assessor(assessor, Event("unit_left"), assignment.row)
        if assessor.is_model:
            self._take_up(assessor)

    def _find_slot(self, assessor: AssessorRow) -> Slot | None:
        """A slot of a topic that this assessor never had: a free one, drawn at random, or one whose lease expired.

        Models get places of their own, unless they take those of people.
        """
        if assessor.is_model and not self.instead:
            return state.place_beside(self.connection, self.campaign_id, assessor.id)
        # Units of a question come in the order of its batches.
        pivot = random.Random(self._number()).random() if self.settings.question is None else 0.0
        arms = list(self.settings.arms)
        for row, order in turns_of(self.connection, self.campaign_id, assessor.id, arms, self.at):
            for arm in order:
                slot = state.free_slot(self.connection, self.campaign_id, assessor.id, pivot, arm=arm, latin_row=row)
                if slot is not None:
                    return slot
                if row is not None and (expired := self._lapsed(assessor, arm, row)) is not None:
                    return self._take_over(expired)
        expired = self._lapsed(assessor)
        return None if expired is None else self._take_over(expired)

    def _take_over(self, expired: AssignmentRow) -> Slot:
        """The slot of an assignment whose lease expired."""
        other = self.record_assignment(self.reader.read(expired), Event("lease_expired"))
        state.save_assignment(self.connection, other.to_row())
        state.release_slot(self.connection, expired)
        return Slot(expired.unit_id, expired.slot, expired.topic_id)

    def _lapsed(
        self, assessor: AssessorRow, arm: str | None = None, latin_row: int | None = None
    ) -> AssignmentRow | None:
        """The assignment whose lease expired first, of an arm in a row of the Latin square, or anywhere."""
        return state.lapsed(self.connection, self.campaign_id, assessor.id, self.at, arm=arm, latin_row=latin_row)

    def _begin_unit(self, assessor: AssessorRow, slot: Slot) -> tuple[AssessorRow, AssignmentState]:
        """Begin an assignment of this slot, with whatever the protocol needs to show the first page."""
        id, seed = self._number(), self._number()
        data = {"slot": slot.number, "topic": slot.topic_id, "seed": seed}
        places = self._gold_of_unit(assessor)
        assignment = self.reader.new_assignment(assessor, id, slot, seed, self.at, **places)
        data |= places
        assessor = self.record_assessor(assessor, Event("assigned", data), assignment.row)
        board = None
        if assignment.together:
            self.flush()  # the board is read from the log
            board = self.reader.board(assignment)
        state.add_assignments(self.connection, [assignment.to_row()])
        self._assignments[id] = None, assignment
        for event in assignment.protocol.resume(assignment.task, assignment.state, board, self.at):
            assignment = self.record_assignment(assignment, event)
            board = None if board is None else board.after(id, event, self.at)
        if assignment.row.status != "open":
            assignment = self._close_slots(assignment, board)
            state.save_assignment(self.connection, assignment.to_row())  # or nobody could have another
        return assessor, assignment

    def _withdraw(self, board: Board, assignment: AssignmentState, document: int) -> Board:
        """A document was removed: assessors who have it on the page get another pair."""
        for id in board.holders(document):
            if id == assignment.row.id:
                continue
            row = state.find_assignment(self.connection, id)
            if row is None or row.status != "open":
                continue
            other = self.reader.read(row)
            for follows in other.protocol.resume(
                other.task, other.state, board.for_assignment(id), self.at, removed=document
            ):
                other = self.record_assignment(other, follows)
                board = board.after(id, follows, self.at)
        return board.for_assignment(assignment.row.id)

    # ------------------------------------------------------------------ gold questions and exclusion

    def _gold_of_unit(self, assessor: AssessorRow) -> dict[str, int]:
        """What the next unit of an assessor has of gold questions, as the event "assigned" says it."""
        gold = self.settings.gold
        if gold is None or assessor.is_model:
            return {}
        places = {"gold_every": gold.every}
        if not gold.first:
            return places
        n_answered = sum(one.is_entry for one in answers.gold_answers_of(self.connection, assessor.id))
        return places | ({"gold_first": gold.first - n_answered} if n_answered < gold.first else {})

    def _exclude_by_gold(self, assessor: AssessorRow, assignment: AssignmentState) -> None:
        """Exclude an assessor whose answers to gold questions show too low an accuracy.

        It is looked at after every answer, so that an answer to a gold question takes no longer than any other.
        Somebody whom an owner reinstated is not excluded again.
        """
        gold = self.settings.gold
        if gold is None or not gold.exclude or assessor.is_model or journey_of_assessor(assessor).reinstated:
            return
        rows = assignment.protocol.rows(assignment.task, assignment.state)
        gold_rows = sorted((row for row in rows if isinstance(row, GoldRow)), key=lambda row: row.time)
        before = answers.gold_answers_of(self.connection, assessor.id, assignment.row.id)
        given: list[Any] = [*before, *gold_rows]
        gold_answers = [
            GoldAnswer(one.is_right, one.chance, tuple(one.choices.split()), one.is_entry)
            for one in given
            if one.is_right is not None
        ]
        if not is_below(gold_answers, **gold.rule):
            return
        n_right = sum(one.is_right for one in gold_answers)
        entry = entry_test(gold.first, gold.accuracy, gold.risk)
        counts = {
            "answers": len(gold_answers),
            "right": n_right,
            "entry_failed": entry.is_failed(gold_answers),
            "least_right": entry.least_right,
            "evidence": evidence(gold_answers, gold.accuracy),
            **gold.rule,
        }
        what = "entry test" if counts["entry_failed"] else "sequential test of gold answers"
        data = {"reason": f"{what}: {n_right} of {len(gold_answers)} right", "gold": counts}
        assessor = self.record_assessor(assessor, Event("excluded", data), actor="server")
        self.withdraw(assessor, ("open", "completed"))

    def withdraw(self, assessor: AssessorRow, statuses: tuple[str, ...]) -> None:
        """Take units away from an assessor, so that others may have them."""
        for row in state.assignments_of(self.connection, assessor.id):
            held = self._held(row.id) or self.reader.read(row)
            if held.row.status in statuses:
                self.record_assignment(held, Event("assignment_withdrawn"))
                state.release_slot(self.connection, held.row)

    # ------------------------------------------------------------------ events

    def add_assessor(self, number: int, event: Event) -> AssessorRow:
        """Write a new assessor; a person gets a pseudonym."""
        if event.data["provider"] != MODEL:
            pseudonym = state.next_pseudonym(self.connection, self.campaign_id)
            event = Event(event.kind, {**event.data, "pseudonym": pseudonym})
        assessor = new_assessor(self.settings, self.campaign_id, number, event, self.at)
        self._assessors[number] = None, assessor
        self._log(event, number, None)
        return assessor

    def _held(self, assignment_id: int) -> AssignmentState | None:
        """An assignment as this transaction has changed it; None where it has not."""
        return self._assignments.get(assignment_id, (None, None))[1]

    def record_assessor(
        self, assessor: AssessorRow, event: Event, row: AssignmentRow | None = None, *, actor: str = ""
    ) -> AssessorRow:
        """Write an event of an assessor, about the assignment of `row` if one is given; the state after it.

        actor : whose decision it is, where not of whoever acts.
        """
        after = assessor_after(self.settings, assessor, event, self.at, None if row is None else row.id)
        before, _ = self._assessors.get(assessor.id, (assessor, None))
        self._assessors[assessor.id] = before, after
        self._log(event, assessor.id, row, actor=actor)
        return after

    def record_assignment(self, assignment: AssignmentState, event: Event) -> AssignmentState:
        """Write an event of an assignment; the state after it."""
        after = assignment.after(self.settings, event, self.at)
        before, _ = self._assignments.get(assignment.row.id, (assignment, None))
        self._assignments[assignment.row.id] = before, after
        self._log(event, assignment.row.assessor_id, assignment.row)
        return after

    def _log(
        self, event: Event, assessor_id: int | None, row: AssignmentRow | None, *, late: bool = False, actor: str = ""
    ) -> None:
        key, digest = self._key or (None, None)
        if assessor_id is None:  # the form's key is for the assessor's own event
            key = digest = None
        else:
            self._key = None
        self._pending.append(
            LogEntry(
                time=self.at,
                campaign_id=self.campaign_id,
                assessor_id=assessor_id,
                assignment_id=None if row is None else row.id,
                unit_id=None if row is None else row.unit_id,
                actor=actor or (self.actor if assessor_id is not None else "server"),
                kind=event.kind,
                data=dict(event.data),
                late=late,
                idem_key=key,
                digest=digest,
                account=self.account if assessor_id is not None else None,
            )
        )
        if assessor_id is not None:
            self._events.append(event)

    def flush(self) -> None:
        """Write the events so far, so that they can be read in this transaction."""
        if self._pending:
            self._last = events.append(self.connection, self._pending)[-1]
            self._pending = []

    def finish(self) -> None:
        """Write everything."""
        self.flush()
        for before, assessor in self._assessors.values():
            if before is None:
                state.add_assessors(self.connection, assessor)
            elif assessor != before:
                state.save_assessor(self.connection, assessor)
        for earlier, now in self._assignments.values():
            if now.row.version:  # otherwise it is as it was added
                state.save_assignment(self.connection, now.to_row())
            for table, rows, keys in differences(earlier, now):
                answers.remove_answers(self.connection, table, keys)
                upsert(self.connection, table, rows)
        self._save_pairs()

    def receipt(self) -> Receipt:
        """What to tell once all is on disk."""
        return Receipt(self._last, self.at, tuple(self._events), late=self._late)

    def _save_pairs(self) -> None:
        """Write which pair each assessor has on the page; pairs that are given up go first."""
        pairs = [(None if before is None else before.pair(), now) for before, now in self._assignments.values()]
        changes = [(pair, now) for pair, now in pairs if pair != now.pair()]
        for pair, now in changes:
            if pair is not None:
                answers.release_pair(self.connection, now.row.id)
        for _, now in changes:
            hold_pair(self.connection, now)


def to_take_up(reader: CampaignReader, assessor_id: int, since: float) -> AssignmentRow | None:
    """A unit that a model gave back before this time, and may have again; of those judged together it has none."""
    rows = state.given_back(reader.connection, assessor_id, since)
    return next((row for row in rows if row.slot < 0 or not reader.settings.arms[row.arm].together), None)


# ---- which arm comes next


def turns_of(
    connection: Connection, campaign_id: int, assessor_id: int, arms: Sequence[str], at: float
) -> list[tuple[int | None, Sequence[str | None]]]:
    """Where to look for the next slot of an assessor: in their row, and then in all rows.

    None stands for any row and for any arm. at : now, since assessors whose unit is beyond its lease have left.
    """
    if len(arms) == 1:
        return [(None, [None])]
    own = state.places_of(connection, assessor_id)
    row, first = own[0] if own else _new_place(connection, campaign_id, arms, at)
    n_units = Counter(arm for _, arm in own)
    order = sorted(_from(arms, arms.index(first)), key=n_units.__getitem__)
    return [(row, order), (None, order)]


def _new_place(connection: Connection, campaign_id: int, arms: Sequence[str], at: float) -> tuple[int, str]:
    """The row of a new assessor, and the arm of their first unit."""
    first: dict[int, tuple[int, str]] = {}
    present: dict[int, bool] = {}
    held = Counter[int]()
    for assessor_id, row, arm, status, lease_until in state.places(connection, campaign_id):
        first.setdefault(assessor_id, (row, arm))
        present[assessor_id] = status not in ("expired", "withdrawn") and not (status == "open" and lease_until < at)
        held[row] += present[assessor_id]
    places = [first[assessor_id] for assessor_id, is_present in present.items() if is_present]
    in_row, begun, both = Counter(row for row, _ in places), Counter(arm for _, arm in places), Counter(places)
    row = min(range(len(arms)), key=lambda row: (in_row[row], held[row]))
    return row, min(_from(arms, row), key=lambda arm: (begun[arm], both[row, arm]))


def _from(arms: Sequence[str], start: int) -> list[str]:
    """All arms, beginning with this one."""
    return [*arms[start:], *arms[:start]]
