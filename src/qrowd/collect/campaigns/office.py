"""The office: what the owner of a campaign does while it runs. Every decision is an event, like everybody's."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from sqlalchemy import Connection

from qrowd.collect.campaigns.desk import Clock, NobodyError
from qrowd.collect.campaigns.library import Library
from qrowd.collect.campaigns.rebuild import STATUS
from qrowd.collect.campaigns.standing import Held, Person
from qrowd.collect.campaigns.turn import Turn
from qrowd.collect.protocols.events import Event
from qrowd.collect.store import assessors, assignments, events, materials
from qrowd.collect.store.base import Store
from qrowd.collect.store.events import NewEvent
from qrowd.collect.store.materials import CampaignRow
from qrowd.errors import ArgumentError

STEPS = {"pause": "paused", "resume": "resumed", "stop": "stopped"}


class Office:
    """Everything an owner can change, over one store; names of campaigns and assessors are labels.

    clock, number : as for `Desk`.
    """

    def __init__(
        self, store: Store, *, clock: Clock = time.time, number: Callable[[], int] = lambda: secrets.randbits(62)
    ) -> None:
        self.store, self.clock, self._number = store, clock, number

    async def steer(self, campaign: str, step: str) -> str:
        """`pause`, `resume` or `stop` a campaign; its status afterwards. A stopped one may be resumed."""
        if step not in STEPS:
            raise ArgumentError(f"step={step!r}: choose one of {', '.join(STEPS)}")
        at, kind = self.clock(), STEPS[step]

        def work(connection: Connection) -> str:
            row = find(connection, campaign)
            if row.status != STATUS[kind]:
                event = NewEvent(at, row.id, None, None, None, "owner", kind, {})
                events.append(connection, [event])
                materials.set_campaign_status(connection, row.id, STATUS[kind])
            return STATUS[kind]

        return await self.store.write_async(work)

    async def exclude(self, campaign: str, assessor: str, reason: str) -> None:
        """Nothing this assessor said counts any more, and their units go to others. It can be taken back.

        Raises
        ------
        ArgumentError
            Nobody is called that, or no reason is given.
        """
        if not reason.strip():
            raise ArgumentError("reason: say why; it is kept with the exclusion")

        def change(turn: Turn, person: Person) -> None:
            if person.row.excluded is None:
                turn.tell(person, Event("excluded", {"reason": reason.strip()}))
                withdraw(turn, person, ("open", "completed"))

        await self._for(campaign, assessor, change)

    async def reinstate(self, campaign: str, assessor: str) -> int:
        """Take an exclusion back; how many completed units stay lost, since others have done them meanwhile."""
        lost = 0

        def change(turn: Turn, person: Person) -> None:
            nonlocal lost
            lost = 0
            if person.row.excluded is None:
                return
            turn.tell(person, Event("reinstated"))
            for row in assignments.of_assessor(turn.connection, person.row.id):
                held = Held.read(row, turn.library.task(turn.connection, row), turn.settings)
                if row.status != "withdrawn" or turn.protocol.status(held.state) != "completed":
                    continue
                if assignments.hold_slot(turn.connection, row):
                    turn.happen(held, Event("assignment_restored", {"status": "completed"}))
                else:
                    lost += 1

        await self._for(campaign, assessor, change)
        return lost

    async def reset(self, campaign: str, assessor: str) -> None:
        """Let an assessor begin again with the practice; an open unit goes to somebody else."""

        def change(turn: Turn, person: Person) -> None:
            person = turn.tell(person, Event("reset"))
            withdraw(turn, person, ("open",))

        await self._for(campaign, assessor, change)

    async def note(self, campaign: str, assessor: str, kind: str) -> None:
        """What a platform says of an assessor's work: `submitted` or `paid`."""
        if kind not in ("submitted", "paid"):
            raise ArgumentError(f"kind={kind!r}: choose one of submitted, paid")

        def change(turn: Turn, person: Person) -> None:
            turn.tell(person, Event(kind))

        await self._for(campaign, assessor, change)

    async def _for(self, campaign: str, assessor: str, change: Callable[[Turn, Person], None]) -> None:
        at = self.clock()

        def work(connection: Connection) -> None:
            row = find(connection, campaign)
            found = assessors.find_named(connection, row.id, assessor)
            if found is None:
                raise NobodyError(f"nobody is called {assessor!r} in the campaign {campaign}")
            locked = assessors.find_assessor(connection, found.id, lock=True)
            turn = Turn(connection, Library(), row.id, at, self._number, actor="owner")
            person = Person.read(found if locked is None else locked[0])
            change(turn, person)
            turn.finish()

        await self.store.write_async(work)


def withdraw(turn: Turn, person: Person, statuses: tuple[str, ...]) -> None:
    """Take units away from an assessor, so that others may have them."""
    for row in assignments.of_assessor(turn.connection, person.row.id):
        if row.status not in statuses:
            continue
        if turn.settings.together:  # in the order in which everybody locks, who judges in it included
            assignments.lock_unit(turn.connection, row.unit_id)
        now = assignments.find_assignment(turn.connection, row.id, lock=True)
        if now is None or now.status not in statuses:  # it went to somebody else a moment ago
            continue
        held = Held.read(now, turn.library.task(turn.connection, now), turn.settings)
        turn.happen(held, Event("assignment_withdrawn"))
        assignments.release_slot(turn.connection, now)


def find(connection: Connection, campaign: str) -> CampaignRow:
    """A campaign by its name.

    Raises
    ------
    NobodyError
        There is none.
    """
    row = materials.find_campaign(connection, campaign)
    if row is None:
        names = ", ".join(one.name for one in materials.campaigns(connection))
        raise NobodyError(f"there is no campaign {campaign!r}; there {f'are {names}' if names else 'is none yet'}")
    return row
