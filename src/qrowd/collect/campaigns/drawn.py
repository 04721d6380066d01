"""What a campaign with a question has drawn, and its next draw.

The log holds every draw with the sizes that it was drawn by, so that the design can be read from it at any time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection

from qrowd.collect.protocols.events import Event
from qrowd.collect.store import draws
from qrowd.collect.store.draws import DRAWN
from qrowd.collect.store.events import LogEntry
from qrowd.collect.store.state import AssessorRow, Slot
from qrowd.kernels.arrays import Floats

if TYPE_CHECKING:
    from qrowd.sequential.draws import Draws

FEWEST = 10  # draws of a batch, before other sizes are used
SHARE = 0.1  # of all draws so far: a batch has at least so many
DIGITS = 4  # of a size


@dataclass(frozen=True, eq=False)
class NewSizes:
    """Sizes for further draws, `rounded`. n_judged : documents whose judgments they come from."""

    sizes: Floats
    n_judged: int


@dataclass(frozen=True, eq=False)
class LookOutcome:
    """What a look said.

    newest : number of the newest event that it has seen; seen : its time. table : as the log keeps it. sizes : of
    further draws.
    """

    newest: int
    seen: float
    n_judged: int
    sentence: str
    table: dict[str, Any]
    sizes: Floats | None


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was drawn so far.

    last : number of the newest event. sizes, n_judged : of each batch, in order. batch, document : of each draw.
    """

    last: int = 0
    sizes: tuple[Floats, ...] = ()
    n_judged: tuple[int, ...] = ()
    batch: tuple[int, ...] = ()
    document: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.document)

    @property
    def n_in_batch(self) -> int:
        """Draws of the last batch."""
        n, last = 0, len(self.sizes) - 1
        while n < len(self.batch) and self.batch[-1 - n] == last:
            n += 1
        return n

    def after(self, entries: Iterable[LogEntry]) -> Drawn:
        """With further events of the log."""
        last, sizes, n_judged = self.last, list(self.sizes), list(self.n_judged)
        batch, document = list(self.batch), list(self.document)
        for one in entries:
            if one.data["sizes"]:
                sizes.append(np.array(one.data["sizes"], np.float64))
                n_judged.append(int(one.data["n_judged"]))
            if one.data["document"] is not None:
                document.append(int(one.data["document"]))
                batch.append(len(sizes) - 1)
            last = max(last, one.id)
        return Drawn(last, tuple(sizes), tuple(n_judged), tuple(batch), tuple(document))

    def draws(self) -> Draws:
        """The draws as arrays."""
        from qrowd.sequential.draws import Draws  # slow to import

        batch, document = (np.array(values, np.int64) for values in (self.batch, self.document))
        return Draws(np.vstack(self.sizes), batch, document)

    def next_draw(self, new: NewSizes | None, seed: int) -> tuple[int, Floats | None] | None:
        """The next document, and the sizes of a batch that begins with it; None where nothing is left to draw.

        A batch is continued until new judgments changed the sizes and it has its share of the draws, because what a
        look costs grows with the batches.
        """
        left = np.ones(self.sizes[-1].size, bool)
        left[list(self.document)] = False
        sizes = np.where(left, self.sizes[-1], 0.0)
        begins = False
        if new is not None and new.n_judged > self.n_judged[-1]:
            others = np.where(left, new.sizes, 0.0)
            enough = self.n_in_batch >= max(FEWEST, SHARE * len(self))
            if others.any() and (enough or not sizes.any()):
                begins, sizes = True, others
        if not sizes.any():  # what is left matters to no open difference; it is drawn last
            begins, sizes = True, left.astype(np.float64)
        possible = np.flatnonzero(sizes > 0)
        if not possible.size:
            return None
        times = np.random.default_rng([seed, len(self)]).exponential(size=possible.size) / sizes[possible]
        return int(possible[np.argmin(times)]), sizes if begins else None


def rounded(sizes: Floats) -> Floats:
    """Sizes with few digits, as the log keeps them: what a size is, is free to choose."""
    return np.array([float(f"{size:.{DIGITS}g}") for size in sizes.tolist()])


def first_event(sizes: Floats) -> Event:
    """The event that begins the first batch."""
    return drawn_event(0, 0, None, rounded(sizes))


def drawn_event(place: int, n_judged: int, document: int | None, sizes: Floats | None) -> Event:
    """A draw. place : in the order of drawing, from 1."""
    data: dict[str, Any] = {"place": place, "document": document, "n_judged": n_judged}
    return Event(DRAWN, {**data, "sizes": [] if sizes is None else sizes.tolist()})


def read_drawn(connection: Connection, campaign_id: int, before: Drawn | None = None) -> Drawn:
    """What was drawn. before : what a process remembers of it."""
    known = Drawn() if before is None else before
    return known.after(draws.events_of_kind(connection, campaign_id, DRAWN, after=known.last))


def is_left(connection: Connection, campaign_id: int, assessor: AssessorRow, n_slots: int) -> bool:
    """Whether there is a document for an assessor, drawn or to be drawn."""
    if assessor.is_model:
        return draws.next_of_model(connection, campaign_id, assessor.id) is not None
    if draws.free_slot(connection, campaign_id, assessor.id, n_slots, lock=False) is not None:
        return True
    return draws.n_drawn(connection, campaign_id) < draws.n_drawable(connection, campaign_id)


def rebuilt_slots(connection: Connection, campaign_id: int, entries: Iterable[LogEntry], n_slots: int) -> None:
    """Make the slots of a campaign anew from its log."""
    log = list(entries)
    drawn = (one.data for one in log if one.kind == DRAWN and one.data["document"] is not None)
    places = [(int(data["document"]), int(data["place"])) for data in drawn]
    draws.add_slots(connection, campaign_id, places, n_slots)
    for one in log:
        if one.kind == "assigned" and one.unit_id is not None and one.data["slot"] >= n_slots:
            place = Slot(one.unit_id, int(one.data["slot"]), int(one.data["topic"]))
            draws.add_slot(connection, campaign_id, place)
