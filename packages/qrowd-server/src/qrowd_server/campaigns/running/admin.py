"""What the owner of a campaign does while it runs. Every decision is an event in the log."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.campaign_reader import CampaignReader
from qrowd_server.campaigns.running.campaign_settings import NotFoundError, find
from qrowd_server.campaigns.running.judging import Clock
from qrowd_server.campaigns.running.rebuild import STATUS
from qrowd_server.campaigns.running.transaction import Transaction
from qrowd_server.protocols.events import Event
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store import state_rows as state
from qrowd_server.store.accounts import CAMPAIGN_ROLES, COMMAND_LINE, campaign_roles, find_account, set_member
from qrowd_server.store.base import Store
from qrowd_server.store.state_rows import AssessorRow

STEPS = {"pause": "paused", "resume": "running", "stop": "stopped"}  # the buttons, and the status each leads to
KINDS = {status: kind for kind, status in STATUS.items()}  # of the event that sets it
NONE = "none"  # takes a role away
T = TypeVar("T")


class CampaignAdmin:
    """Everything an owner can change, over one store; names of campaigns and assessors are labels.

    clock, number : as for `JudgingService`. account : whose the decisions are, for the log.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock = time.time,
        number: Callable[[], int] = lambda: secrets.randbits(62),
        account: str = COMMAND_LINE,
    ) -> None:
        self.store, self.clock, self._number, self.account = store, clock, number, account

    async def change(self, campaign: str, work: Callable[[Transaction], T]) -> T:
        """What `work` returns, in a transaction of the owner's."""
        at = self.clock()

        def run(connection: Connection) -> T:
            row = find(connection, campaign)
            reader = CampaignReader(connection, row.id, row.stamp)
            transaction = Transaction(reader, at, self._number, actor="owner", account=self.account)
            value = work(transaction)
            transaction.finish()
            return value

        return await self.store.write_async(run)

    async def set_status(self, campaign: str, status: str) -> str:
        """Let a campaign run, pause or stop; the new status. A stopped campaign may run again.

        status : running, paused or stopped.
        """
        if status not in KINDS:
            raise ArgumentError(f"choose one of {', '.join(KINDS)}", "status", status)
        at = self.clock()

        def work(connection: Connection) -> str:
            row = find(connection, campaign)
            if row.status != status:
                events.note(connection, row.id, KINDS[status], {}, at, account=self.account)
                materials.set_campaign_status(connection, row.id, status)
            return status

        return await self.store.write_async(work)

    async def exclude(self, campaign: str, name: str, reason: str) -> None:
        """Exclude an assessor: no judgment of theirs counts any more, and their units go to others."""
        if not reason.strip():
            raise ArgumentError("reason: say why; it is kept with the exclusion")

        def work(transaction: Transaction) -> None:
            assessor = _named(transaction, name)
            if assessor.excluded is None:
                transaction.record_assessor(assessor, Event("excluded", {"reason": reason.strip()}))
                transaction.withdraw(assessor, ("open", "completed"))

        await self.change(campaign, work)

    async def reinstate(self, campaign: str, name: str) -> int:
        """Take an exclusion back; how many completed units stay lost, since others have done them meanwhile."""

        def work(transaction: Transaction) -> int:
            lost, assessor = 0, _named(transaction, name)
            if assessor.excluded is None:
                return 0
            transaction.record_assessor(assessor, Event("reinstated"))
            for row in state.assignments_of(transaction.connection, assessor.id):
                assignment = transaction.reader.read(row)
                if row.status != "withdrawn" or assignment.protocol.status(assignment.state) != "completed":
                    continue
                if state.hold_slot(transaction.connection, row):
                    transaction.record_assignment(assignment, Event("assignment_restored", {"status": "completed"}))
                else:
                    lost += 1
            return lost

        return await self.change(campaign, work)

    async def reset(self, campaign: str, name: str) -> None:
        """Let an assessor begin again with the practice; an open unit goes to somebody else."""

        def work(transaction: Transaction) -> None:
            assessor = transaction.record_assessor(_named(transaction, name), Event("reset"))
            transaction.withdraw(assessor, ("open",))

        await self.change(campaign, work)


def _named(transaction: Transaction, name: str) -> AssessorRow:
    assessor = state.find_named(transaction.connection, transaction.campaign_id, name)
    if assessor is None:
        raise NotFoundError(f"nobody is called {name!r} in the campaign {transaction.settings.name}")
    return assessor


# ---- roles of accounts


def give_role(
    connection: Connection, campaign: str, name: str, role: str, at: float, *, account: str = COMMAND_LINE
) -> None:
    """Give an account a role in a campaign: owner, viewer or none. account : who does, for the log.

    An archive keeps these events and gives no role where it is imported: accounts belong to a server.
    """
    new = next((one for one in CAMPAIGN_ROLES if one == role), None)
    if new is None and role != NONE:
        raise ArgumentError(f"choose one of {', '.join((*CAMPAIGN_ROLES, NONE))}", "role", role[:40])
    row, who = find(connection, campaign), find_account(connection, name)
    if campaign_roles(connection, who.id).get(row.id) == new:
        return
    set_member(connection, row.id, who.id, new)
    events.note(connection, row.id, "member", {"account": who.name, "role": role}, at, account=account)
