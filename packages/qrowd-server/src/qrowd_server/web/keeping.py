"""What the server removes by itself.

Idle sessions, addresses of failed logins, drafts of campaigns that nobody saved for a day, names at the end of their
time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from sqlalchemy import Connection

from qrowd_server.campaigns.people.retention import DAY, apply_retention
from qrowd_server.store.accounts import WITHIN, forget_attempts
from qrowd_server.store.base import Store, StoreError
from qrowd_server.store.sessions import purge

log = logging.getLogger("qrowd_server.keeping")


def keep_once(store: Store, at: float, retention_days: float | None, *, names: bool) -> dict[str, int]:
    """Remove what is due: {campaign: people whose names were removed}. names : also look for campaigns that are due."""

    def work(connection: Connection) -> None:
        purge(connection, at)
        forget_attempts(connection, at)

    store.write(work)
    return apply_retention(store, at, default=retention_days) if names else {}


async def keep(store: Store, clock: Callable[[], float], retention_days: float | None) -> None:
    """Do so at the start and every 15 minutes; names once a day. A store that fails is asked again the next time."""
    looked = None
    while True:
        at = clock()
        names = looked is None or at - looked >= DAY
        try:
            for campaign, n in (await asyncio.to_thread(keep_once, store, at, retention_days, names=names)).items():
                log.info("names were removed at the end of the retention time: campaign %s, %d people", campaign, n)
            looked = at if names else looked
        except StoreError as error:
            log.warning("what is due could not be removed: %s", error)
        await asyncio.sleep(WITHIN)
