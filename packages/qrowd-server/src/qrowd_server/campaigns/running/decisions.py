"""What decisions of owners share: whose decisions they are, and one transaction for a change of an assessor."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from sqlalchemy import Connection

from qrowd_server.campaigns.running.campaign_reader import CampaignReader
from qrowd_server.campaigns.running.judging import Clock
from qrowd_server.campaigns.running.lookup import find
from qrowd_server.campaigns.running.transaction import Transaction
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.base import Store
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.state import AssessorRow

Change = Callable[[Transaction, AssessorRow], None]
Found = Callable[[Connection, CampaignRow], AssessorRow]


class Decisions:
    """Decisions over one store; names of campaigns are labels.

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

    async def _change(self, campaign: str, found: Found, change: Change) -> None:
        """Change an assessor in a transaction of the owner's. found : finds the assessor."""
        at = self.clock()

        def work(connection: Connection) -> None:
            row = find(connection, campaign)
            assessor = found(connection, row)
            reader = CampaignReader(connection, row.id, row.stamp)
            transaction = Transaction(reader, at, self._number, actor="owner", account=self.account)
            change(transaction, assessor)
            transaction.finish()

        await self.store.write_async(work)
