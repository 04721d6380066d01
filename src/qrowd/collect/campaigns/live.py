"""Looks at questions again after answers, beside the server: an answer never waits for a look.

Each look is an event, so that the log shows how the interval closed; so is the decision, which stops the campaign.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.drawn import LookOutcome, NewSizes
from qrowd.collect.campaigns.look_process import LookProcess
from qrowd.collect.campaigns.state import read_settings
from qrowd.collect.store import draws, events, materials
from qrowd.collect.store.base import Store, StoreError
from qrowd.collect.store.events import LogEntry

if TYPE_CHECKING:
    from qrowd.collect.campaigns.looking import Looker

LOOKED, DECIDED = "looked", "decided"
AT_LEAST = 0.1  # seconds between two looks of a process
POLL = 5.0  # seconds after which it looks for what other processes did
MORE = 20  # what is to go is simulated anew after one of so many further judgments
Expected = tuple[int, tuple[int, int, int]]  # judged documents, and what was expected to go then

logger = logging.getLogger("qrowd.questions")


class LiveQuestions:
    """Looks at the questions of a store's campaigns again after answers.

    new_sizes : where sizes for further draws are put, by campaign. clock : seconds since 1970. simulate : whether what
    is expected to go is simulated.

    `start` lets two threads wait for answers; each has a process of its own that computes, one looks, the other
    simulates what is to go. Answers that come while a look is made share the next one. `look` looks in this process.
    """

    def __init__(
        self,
        store: Store,
        new_sizes: dict[int, NewSizes],
        *,
        clock: Callable[[], float] = time.time,
        simulate: bool = True,
    ) -> None:
        self.store, self.clock, self._new_sizes, self._may_simulate = store, clock, new_sizes, simulate
        self._asked: set[int] = set()
        self._simulate: set[int] = set()
        self._expected: dict[int, Expected] = {}
        self._seen: dict[int, int] = {}  # the newest event at the last look
        self._gate, self._over = threading.Condition(), False
        self._threads: list[threading.Thread] = []
        self._processes: list[LookProcess] = []
        self._looker: Looker | None = None

    def start(self) -> None:
        """Begin to look."""
        for work, name in ((self._look_again, "looks at questions"), (self._simulate_again, "simulates questions")):
            process = LookProcess(self.store.url)
            self._processes.append(process)
            self._threads.append(threading.Thread(target=work, args=(process,), name=name, daemon=True))
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End; a look under way is given up, because the next start looks again."""
        with self._gate:
            self._over = True
            self._gate.notify_all()
        with ExitStack() as stack:
            for process in self._processes:
                stack.callback(process.close)
        for thread in self._threads:
            thread.join()

    def answered(self, campaign_id: int) -> None:
        """Somebody answered: look again soon."""
        with self._gate:
            self._asked.add(campaign_id)
            self._gate.notify_all()

    def look(self, campaign_id: int) -> LookOutcome:
        """Look now, in this process, write it into the log, and keep the sizes for further draws."""
        from qrowd.collect.campaigns.looking import Looker  # slow to import, and needed with a question alone

        looker = self._looker = self._looker or Looker()
        outcome = self.store.read(lambda connection: looker.outcome(connection, campaign_id))
        if self._is_due(campaign_id, outcome):
            self._expected[campaign_id] = self.store.read(lambda c: looker.expected(c, campaign_id))
        self._keep(campaign_id, outcome)
        return outcome

    # ---- inside

    def _keep(self, campaign_id: int, outcome: LookOutcome) -> None:
        """Write a look into the log, and use its sizes."""
        self._seen[campaign_id] = outcome.newest
        if outcome.sizes is not None:
            self._new_sizes[campaign_id] = NewSizes(outcome.sizes, outcome.n_judged)
        at, expected = self.clock(), _left(self._expected.get(campaign_id), outcome)
        self.store.write(lambda connection: write_look(connection, campaign_id, outcome, at, expected))

    def _is_due(self, campaign_id: int, outcome: LookOutcome) -> bool:
        """Whether what is to go is to be simulated anew."""
        if outcome.table["answer"] or not self._may_simulate:
            return False
        earlier = self._expected.get(campaign_id)
        return earlier is None or abs(outcome.n_judged - earlier[0]) >= max(1, earlier[0] // MORE)

    def _look_again(self, process: LookProcess) -> None:
        """Look at what was asked for; in between, at what other processes did."""
        asked = self._changed()
        while True:
            for campaign_id in sorted(asked):
                with _logged(campaign_id):
                    outcome = process.look(campaign_id)
                    if outcome is None:
                        continue
                    self._keep(campaign_id, outcome)
                    if self._is_due(campaign_id, outcome):
                        with self._gate:
                            self._simulate.add(campaign_id)
                            self._gate.notify_all()
            with self._gate:
                if not self._asked:
                    self._gate.wait_for(lambda: self._asked or self._over, POLL)
                if self._over:
                    return
                asked, self._asked = self._asked, set()
            if asked:
                time.sleep(AT_LEAST)  # answers that come together share a look
            asked = asked or self._changed()

    def _simulate_again(self, process: LookProcess) -> None:
        """Simulate what is to go where enough was judged since."""
        while True:
            with self._gate:
                self._gate.wait_for(lambda: self._simulate or self._over)
                if self._over:
                    return
                campaign_id = self._simulate.pop()
            with _logged(campaign_id):
                expected = process.expected(campaign_id)
                if expected is not None:
                    self._expected[campaign_id] = expected
                    self.answered(campaign_id)  # so that it is shown

    def _changed(self) -> set[int]:
        """Campaigns with a question in which something happened since the last look."""
        try:
            newest = self.store.read(draws.newest_of_questions)
        except StoreError:
            return set()
        return {campaign_id for campaign_id, last in newest.items() if last > self._seen.get(campaign_id, -1)}


class _logged:
    """What fails is logged, and the next answer asks again."""

    def __init__(self, campaign_id: int) -> None:
        self.campaign_id = campaign_id

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, StoreError):
            logger.warning("question of campaign %d: %s", self.campaign_id, error)
            return True
        if isinstance(error, Exception):
            logger.error("question of campaign %d", self.campaign_id, exc_info=error)
            return True
        return False


def write_look(
    connection: Connection, campaign_id: int, outcome: LookOutcome, at: float, expected: tuple[int, int, int] | None
) -> bool:
    """Write a look into the log, and the decision; whether the campaign stopped by it.

    A look that says what the last one said is not written again, and neither is one that has seen less.
    """
    row = materials.find_campaign(connection, campaign_id)
    assert row is not None
    question = read_settings(row).question
    before = draws.last_of_kind(connection, campaign_id, LOOKED)
    table = {**outcome.table, "to_go": None if expected is None else list(expected)}
    if before is not None and (before.data["looked"] == table or before.data["seen"] > outcome.seen):
        return False
    data = {"n_judged": outcome.n_judged, "seen": outcome.seen, "looked": table}
    entries = [_entry(at, campaign_id, LOOKED, data)]
    stops = bool(
        table["answer"]
        and question is not None
        and question["stop"]
        and not draws.events_of_kind(connection, campaign_id, DECIDED)
        and materials.set_campaign_status(connection, campaign_id, "decided", before="running")
    )
    if stops:
        decision = {"n_judged": outcome.n_judged, "sentence": outcome.sentence}
        entries.append(_entry(at, campaign_id, DECIDED, decision))
    events.append(connection, entries)
    return stops


def _entry(at: float, campaign_id: int, kind: str, data: dict[str, Any]) -> LogEntry:
    return LogEntry(at, campaign_id, None, None, None, "server", kind, data)


def _left(expected: Expected | None, outcome: LookOutcome) -> tuple[int, int, int] | None:
    """What is expected to go, less what was judged since it was simulated."""
    if outcome.table["answer"]:
        return 0, 0, 0
    if expected is None:
        return None
    since = max(0, outcome.n_judged - expected[0])
    low, median, high = (max(0, number - since) for number in expected[1])
    return low, median, high
