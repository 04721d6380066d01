"""One turn: an action taken inside a transaction, with all that follows from it.

A turn collects events, folds each into what is known as it goes, and at the end writes both. Nothing outside this file
writes an assessor's or an assignment's row.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from qrowd.collect.campaigns.creation import CampaignSettings
from qrowd.collect.campaigns.library import Library
from qrowd.collect.campaigns.pages import Receipt
from qrowd.collect.campaigns.standing import NOTHING, Answers, Held, Person, counts, differences
from qrowd.collect.protocols import journey
from qrowd.collect.protocols.board import Board
from qrowd.collect.protocols.events import Action, Event, GoOn, Refusal
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.protocols.views import EndView
from qrowd.collect.store import answers, assessors, assignments, events, pairs
from qrowd.collect.store.assessors import AssessorRow
from qrowd.collect.store.assignments import AssignmentRow, Slot
from qrowd.collect.store.events import NewEvent

LATE = "late_action"


@dataclass(frozen=True)
class _Change:
    """An assignment as it stands in the tables and as it is now.

    answers, pair, row : in the tables. now : what they have to become.
    """

    answers: Answers
    pair: tuple[int, int] | None
    row: AssignmentRow
    now: Held


class Turn:
    """What happens in one transaction.

    at : the time of everything in it. number : makes random numbers of 62 bits. actor : who acts: assessor, owner or
    server.
    """

    def __init__(
        self,
        connection: Connection,
        library: Library,
        campaign_id: int,
        at: float,
        number: Callable[[], int],
        actor: str = "assessor",
    ) -> None:
        self.connection, self.library, self.campaign_id = connection, library, campaign_id
        self.at, self.actor, self._number = at, actor, number
        self.settings = library.settings(connection, campaign_id)
        self.protocol = PROTOCOLS[self.settings.protocol]
        self._events: list[Event] = []
        self._pending: list[NewEvent] = []
        self._last = 0
        self._changes: dict[int, _Change] = {}
        self._people: dict[int, tuple[Person | None, Person]] = {}
        self._key: tuple[str, str] | None = None
        self._late = False

    def sign(self, key: str, digest: str) -> None:
        """The first event of this turn carries the form's key, and what the form held."""
        self._key = key, digest

    # ------------------------------------------------------------------ an assessor acts

    def take(
        self, person: Person, campaign_status: str, held: Held | None, action: Action, shown: str
    ) -> tuple[Person, Held | None]:
        """An action of an assessor; how they and their unit stand afterwards.

        Raises
        ------
        Refusal
            It cannot be taken now.
        """
        if person.row.excluded is not None:
            raise Refusal("excluded", "You take no further part in this task.")
        running = campaign_status == "running"
        if held is None:
            if shown:
                raise Refusal("stale", "That set is closed. Here is where you are now.")
            return self._between(person, action, running)
        if shown and shown != f"{held.row.id:x}":
            raise Refusal("stale", "That page belongs to another set. Here is where you are now.")
        if held.row.status != "open":
            if isinstance(action, GoOn):
                return self._leave(person, held, running)
            if held.row.status in ("expired", "withdrawn"):
                return person, self._late_action(person, held, action)
            raise Refusal("ended", "This set is complete; nothing in it can be changed any more.")
        if campaign_status == "stopped":
            return person, self._late_action(person, held, action)
        return self._within(person, held, action)

    def _between(self, person: Person, action: Action, running: bool) -> tuple[Person, Held | None]:
        """Before the first unit, or with none to be had."""
        if not self._may_work(person):
            for event in journey.decide(self.settings.journey, person.way, action, self.at):
                person = self.tell(person, event)
        elif not isinstance(action, GoOn):
            raise Refusal("stale", "That page has gone. Here is where you are now.")
        return self._hand_out(person) if running and self._may_work(person) else (person, None)

    def _may_work(self, person: Person) -> bool:
        return journey.may_work(self.settings.journey, person.way)

    def _leave(self, person: Person, held: Held, running: bool) -> tuple[Person, Held | None]:
        """From the end of a unit to the next, if there is one."""
        if not running or not self._may_work(person):
            raise Refusal("ended", "There is nothing more to judge here.")
        return self._hand_out(self.tell(person, Event("unit_left"), held.row))

    def _late_action(self, person: Person, held: Held, action: Action) -> Held:
        """Keep it, and count it nowhere."""
        data = {"action": type(action).__name__, **vars(action)}
        self._log(Event(LATE, data), person.row.id, held.row, late=True)
        self._late = True
        return held

    def _within(self, person: Person, held: Held, action: Action) -> tuple[Person, Held | None]:
        """In the middle of a unit."""
        board = self.library.board(self.connection, held) if self.settings.together else None
        decided = self.protocol.decide(held.task, held.state, action, self.at, board)
        for event in decided:
            held = self.happen(held, event)
            board = None if board is None else board.after(held.row.id, event, self.at)
        if board is not None:  # only now, when it is known which pair this assessor has next
            for event in decided:
                if event.kind == "marked_bad":
                    board = self._withdraw(board, held, int(event.data["document"]))
        if held.row.status != "open":
            person = self._ended(person, held)
        return person, held

    def _ended(self, person: Person, held: Held) -> Person:
        view = self.protocol.view(held.task, held.state)
        early = isinstance(view, EndView) and view.early
        person = self.tell(person, Event("unit_ended", {"outcome": held.row.status, "early": early}))
        if not held.row.holds_slot:
            assignments.release_slot(self.connection, held.row)
        return person

    # ------------------------------------------------------------------ units

    def _hand_out(self, person: Person) -> tuple[Person, Held | None]:
        """The next unit; None where none is to be had. One in which others left nothing to do is passed over."""
        while (place := self._find_slot(person)) is not None:
            person, held = self._begin(person, place)
            if held.row.status == "open":
                return person, held
            person = self.tell(person, Event("unit_left"), held.row)
        return person, None

    def _find_slot(self, person: Person) -> Slot | None:
        """A place drawn by lot among the free ones of topics this assessor never had, or one that was left alone."""
        pivot = random.Random(self._number()).random()
        found = assignments.free_slot(self.connection, self.campaign_id, person.row.id, pivot)
        if found is not None:
            return found
        lapsed = self._find_lapsed(person)
        if lapsed is None:
            return None
        other = Held.read(lapsed, self.library.task(self.connection, lapsed), self.settings)
        self.happen(other, Event("lease_expired"))
        self._save(self._changes[lapsed.id])
        assignments.release_slot(self.connection, lapsed)
        return Slot(lapsed.unit_id, lapsed.slot, lapsed.topic_id)

    def _find_lapsed(self, person: Person) -> AssignmentRow | None:
        """The unit left alone longest. One worked on together is locked before the assignment, as whoever judges in it
        does; so nobody waits for the other way round. It may have changed hands by then."""
        together = self.settings.together
        while True:
            found = assignments.lapsed(self.connection, self.campaign_id, person.row.id, self.at, lock=not together)
            if found is None or not together:
                return found
            assignments.lock_unit(self.connection, found.unit_id)
            locked = assignments.find_assignment(self.connection, found.id, lock=True)
            if locked is not None and locked.status == "open" and locked.lease_until < self.at:
                return locked

    def _begin(self, person: Person, place: Slot) -> tuple[Person, Held]:
        """An assignment of this place, with whatever the protocol needs to show the first page."""
        id, seed = self._number(), self._number()
        data = {"slot": place.number, "topic": place.topic_id, "seed": seed}
        row = new_assignment(self.settings, person.row, id, place, seed, self.at)
        if self.settings.together:
            assignments.lock_unit(self.connection, place.unit_id)
        held = self.library.beginning(self.connection, row)
        person = self.tell(person, Event("assigned", data), held.row)
        board = None
        if self.settings.together:
            self.flush()  # the board is read from the log
            board = self.library.board(self.connection, held)
        assignments.add_assignments(self.connection, [held.row])
        self._changes[id] = _Change(NOTHING, None, held.row, held)
        for event in self.protocol.resume(held.task, held.state, board, self.at):
            held = self.happen(held, event)
        if held.row.status != "open":
            self._save(self._changes[id])  # or nobody could have another
        return person, held

    def _withdraw(self, board: Board, held: Held, document: int) -> Board:
        """Somebody removed a document: whoever has it before them gets another pair."""
        for id in board.holders(document):
            if id == held.row.id:
                continue
            row = assignments.find_assignment(self.connection, id, lock=True)
            if row is None or row.status != "open":
                continue
            other = Held.read(row, self.library.task(self.connection, row), self.settings)
            for follows in self.protocol.resume(other.task, other.state, board.turn(id), self.at, removed=document):
                other = self.happen(other, follows)
                board = board.after(id, follows, self.at)
        return board.turn(held.row.id)

    # ------------------------------------------------------------------ events

    def welcome(self, number: int, event: Event) -> Person:
        """Somebody new."""
        person = newcomer(self.settings, self.campaign_id, number, event, self.at)
        self._people[number] = None, person
        self._log(event, number, None)
        return person

    def tell(self, person: Person, event: Event, row: AssignmentRow | None = None) -> Person:
        """An event of an assessor, about an assignment if one is given; how they stand after it."""
        id = None if row is None else row.id
        after = person.after(self.settings, event, self.at, id)
        found = self._people[person.row.id][0] if person.row.id in self._people else person
        self._people[person.row.id] = found, after
        self._log(event, person.row.id, row)
        return after

    def happen(self, held: Held, event: Event) -> Held:
        """An event of an assignment; how it stands after it."""
        after = held.after(self.settings, event, self.at)
        change = self._changes.get(held.row.id)
        if change is None:
            change = _Change(held.answers(), _pair(held), held.row, held)
        self._changes[held.row.id] = replace(change, now=after)
        self._log(event, held.row.assessor_id, held.row)
        return after

    def _log(self, event: Event, assessor_id: int, row: AssignmentRow | None, *, late: bool = False) -> None:
        key, digest = self._key or (None, None)
        self._key = None
        self._pending.append(
            NewEvent(
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
        for found, person in self._people.values():
            if found is None:
                assessors.add_assessors(self.connection, person.row)
            elif person.row != found.row:
                assessors.save_assessor(self.connection, person.row)
        for change in list(self._changes.values()):
            self._save(change)
        self._save_pairs()
        return Receipt(self._last, self.at, tuple(self._events), late=self._late)

    def _save(self, change: _Change) -> None:
        now = change.now
        if now.row != change.row:
            assignments.save_assignment(self.connection, now.row)
        answered = now.answers()
        for table, rows, keys in differences(now.row, change.answers, answered):
            answers.remove_answers(self.connection, table, keys)
            answers.save_answers(self.connection, table, rows)
        self._changes[now.row.id] = replace(change, answers=answered, row=now.row)

    def _save_pairs(self) -> None:
        """Whoever has which pair before them; what is given up goes first."""
        changed = [change for change in self._changes.values() if change.pair != _pair(change.now)]
        for change in changed:
            if change.pair is not None:
                pairs.release(self.connection, change.now.row.id)
        for change in changed:
            hold_pair(self.connection, self.settings, change.now)


def _pair(held: Held) -> tuple[int, int] | None:
    """The pair before somebody."""
    return held.protocol.offered(held.state) if held.row.status == "open" else None


def hold_pair(connection: Connection, settings: CampaignSettings, held: Held) -> None:
    """Write which pair is before somebody, if any is."""
    if (pair := _pair(held)) is not None:
        board = held.row.unit_id if settings.together else held.row.id
        pairs.hold(connection, board, pair, held.row.id, settings.seats)


def newcomer(settings: CampaignSettings, campaign_id: int, id: int, event: Event, at: float) -> Person:
    """Somebody who has just arrived."""
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
    return Person.new(row, settings)


def new_assignment(
    settings: CampaignSettings, person: AssessorRow, id: int, place: Slot, seed: int, at: float
) -> AssignmentRow:
    """An assignment before anything happened in it."""
    return AssignmentRow(
        id=id,
        campaign_id=person.campaign_id,
        topic_id=place.topic_id,
        unit_id=place.unit_id,
        slot=place.number,
        assessor_id=person.id,
        status="open",
        counts=counts(settings, "open"),
        seed=seed,
        lease_until=at + settings.lease_seconds,
        version=0,
        state={},
        created=at,
        updated=at,
    )
