"""Looks at questions again after answers, in a thread of its own: an answer never waits for a look."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qrowd.collect.campaigns.drawn import NewSizes
from qrowd.collect.campaigns.state import CampaignSettings
from qrowd.collect.store import draws
from qrowd.collect.store.base import Store, StoreError

if TYPE_CHECKING:
    from qrowd.collect.campaigns.looking import LiveLook
    from qrowd.sequential.problems import Preparation

AT_LEAST = 0.2  # seconds between two looks of a process
POLL = 5.0  # seconds after which it looks for what other processes did
MORE = 20  # what is to go is simulated anew after one of so many further judgments

logger = logging.getLogger("qrowd.questions")


class LiveQuestions:
    """Looks at the questions of a store's campaigns again after answers, one thread for a process.

    new_sizes : where sizes for further draws are put, by campaign. clock : seconds since 1970.

    An answer asks for a look by `answered`; answers that come while one is made share the next one.
    """

    def __init__(self, store: Store, new_sizes: dict[int, NewSizes], *, clock: Callable[[], float] = time.time) -> None:
        self.store, self.clock, self._new_sizes = store, clock, new_sizes
        self._asked: set[int] = set()
        self._preparations: dict[int, Preparation] = {}
        self._expected: dict[int, tuple[int, tuple[int, int, int]]] = {}  # judged then, and what was to go
        self._seen: dict[int, int] = {}  # the newest event at the last look
        self._gate, self._over = threading.Condition(), False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look."""
        self._thread = threading.Thread(target=self._work, name="looks at questions", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; a look under way is finished."""
        with self._gate:
            self._over = True
            self._gate.notify_all()
        if self._thread is not None:
            self._thread.join()

    def answered(self, campaign_id: int) -> None:
        """Somebody answered: look again soon."""
        with self._gate:
            self._asked.add(campaign_id)
            self._gate.notify_all()

    def look(self, campaign_id: int) -> LiveLook:
        """Look now, write it into the log, and keep the sizes for further draws."""
        from qrowd.collect.campaigns import looking  # slow to import, and needed with a question alone

        if campaign_id not in self._preparations:
            self._preparations[campaign_id] = self.store.read(lambda c: looking.read_preparation(c, campaign_id))
        prepared = self._preparations[campaign_id]

        def read(connection: Connection) -> tuple[int, CampaignSettings, LiveLook]:
            newest = draws.newest_event(connection, campaign_id)
            settings = looking.settings_of_question(connection, campaign_id)
            return newest, settings, looking.look_at(connection, campaign_id, preparation=prepared)

        newest, settings, live = self.store.read(read)
        self._seen[campaign_id] = newest
        if not live.look.answer and (live.look.sizes > 0).any():
            self._new_sizes[campaign_id] = NewSizes(live.look.sizes, live.n_judged)
        at, earlier = self.clock(), self._expected.get(campaign_id)
        if earlier is None or live.look.answer or live.n_judged >= earlier[0] + max(1, earlier[0] // MORE):
            self._expected[campaign_id] = earlier = live.n_judged, looking.to_go(live, settings)
        since = live.n_judged - earlier[0]
        low, median, high = (max(0, number - since) for number in earlier[1])
        self.store.write(lambda c: looking.write_look(c, campaign_id, live, at, (low, median, high)))
        return live

    def _work(self) -> None:
        """Look at what was asked for; in between, at what other processes did."""
        asked = self._changed()
        while True:
            for campaign_id in sorted(asked):
                try:
                    self.look(campaign_id)
                except StoreError as error:  # the next answer asks again
                    logger.warning("question of campaign %d: %s", campaign_id, error)
                except Exception:
                    logger.exception("question of campaign %d", campaign_id)
            with self._gate:
                if not self._over:
                    self._gate.wait(AT_LEAST)
                if not self._asked and not self._over:
                    self._gate.wait(POLL)
                if self._over:
                    return
                asked, self._asked = self._asked, set()
            asked = asked or self._changed()

    def _changed(self) -> set[int]:
        """Campaigns with a question in which something happened since the last look."""
        try:
            newest = self.store.read(draws.newest_of_questions)
        except StoreError:
            return set()
        return {campaign_id for campaign_id, last in newest.items() if last > self._seen.get(campaign_id, -1)}
