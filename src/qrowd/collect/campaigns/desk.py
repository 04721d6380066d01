"""The desk: where assessors are given units, hand in answers, and are told what comes next.

One answer is one transaction: find who it is and what they hold, let the protocol decide, write the events, fold them
into the tables, extend the lease or hand out the next unit, commit. Only then is anything acknowledged. A form that is
sent again is recognised by its key and acknowledged again; nothing happens twice.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.creation import CampaignSettings
from qrowd.collect.campaigns.crowd import KEYS
from qrowd.collect.campaigns.library import Library
from qrowd.collect.campaigns.pages import Draft, Page, Receipt
from qrowd.collect.campaigns.standing import Held, Person
from qrowd.collect.campaigns.turn import Turn
from qrowd.collect.campaigns.visits import MOST, NOTHING, Visit, ends_of, key_of, takings, visits_of
from qrowd.collect.protocols import journey
from qrowd.collect.protocols.events import Action, Event, Refusal
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.protocols.views import (
    DocumentView,
    EndView,
    ExcludedView,
    LostView,
    NoneLeftView,
    PairView,
    PausedView,
    QuestionView,
    View,
)
from qrowd.collect.store import assessors, assignments, drafts, events, materials, sessions
from qrowd.collect.store.assessors import AssessorRow
from qrowd.collect.store.base import Store
from qrowd.collect.store.errors import StoreError
from qrowd.errors import ArgumentError

Clock = Callable[[], float]


class NobodyError(ArgumentError):
    """No such campaign, or no such assessor in it."""


class Desk:
    """Everything an assessor can do, over one store.

    clock : seconds since 1970; the server's word on time. number : makes the random numbers of new assessors and
        assignments, 62 bits each.

    Several desks, in several processes, may work over one PostgreSQL store.
    """

    def __init__(
        self, store: Store, *, clock: Clock = time.time, number: Callable[[], int] = lambda: secrets.randbits(62)
    ) -> None:
        self.store, self.clock, self._number = store, clock, number
        self.library = Library()

    # ------------------------------------------------------------------ coming in

    async def arrive(
        self,
        campaign: str,
        provider: str,
        external_id: str,
        *,
        name: str | None = None,
        identified: str = "link",
        about: dict[str, Any] | None = None,
        visit: str = "",
    ) -> int:
        """The number of whoever comes to a campaign by a provider under an id; somebody new if that never happened.

        name : as exported, `external_id` unless taken. identified : how far the id can be trusted: link, url, signed
        or key. about : anything else the provider said, for the log. visit : what the provider calls this taking of
        the task, "" where it has no such thing; another one than before is an event `returned`.

        Raises
        ------
        NobodyError
            There is no such campaign.
        Refusal
            Whom the provider once vouched for now comes without that; or they took the task too often.
        """
        at, number = self.clock(), self._number()
        took = {"visit": visit} if visit else {}

        def work(connection: Connection) -> int:
            row = materials.find_campaign(connection, campaign)
            if row is None:
                raise NobodyError(f"there is no campaign {campaign!r}")
            found = assessors.find_identity(connection, row.id, provider, external_id)
            turn = Turn(connection, self.library, row.id, at, self._number)
            if found is not None:
                locked = assessors.find_assessor(connection, found.id, lock=True)
                person = Person.read(found if locked is None else locked[0])
                self._return(turn, person, identified, {"about": about or {}, **took})
                turn.finish()
                return found.id
            label, tries = name or external_id, 1
            while assessors.find_named(connection, row.id, label) is not None:
                tries += 1
                label = f"{name or external_id}-{tries}"
            data = {"name": label, "provider": provider, "external_id": external_id, "identified": identified}
            begun = {}
            if visit:
                turn.sign(key_of(number, 0), "")
                begun = {**took, "ended": NOTHING}
            turn.welcome(number, Event("arrived", {**data, "seed": self._number(), "about": about or {}, **begun}))
            turn.finish()
            return number

        return await self.store.write_async(work)

    def _return(self, turn: Turn, person: Person, identified: str, said: dict[str, Any]) -> None:
        """Somebody comes again, perhaps to take the task once more."""
        trusted, id = person.row.identified, person.row.id
        if trusted == "signed" and identified == "url":
            raise Refusal("unsigned", "Open the task on the platform again: this link does not show that it is yours.")
        if (visit := said.get("visit")) is not None:
            taken = takings(turn.connection, id)
            if len(taken) >= MOST:
                raise Refusal("often", "You have taken this task too often; there is nothing left to do here.")
            if not taken or taken[-1]["visit"] != visit:
                turn.sign(key_of(id, len(taken)), "")
                ended = ends_of(turn.connection, id, person.way)
                person = turn.tell(person, Event("returned", {**said, "identified": identified, "ended": ended}))
        if trusted == "url" and identified == "signed":
            turn.tell(person, Event("identified", {"identified": identified}))
            sessions.close_sessions(turn.connection, "assessor", id)  # anybody may have come in by that id before

    # ------------------------------------------------------------------ looking

    async def visits(self, assessor_id: int) -> tuple[Visit, ...]:
        """What this assessor took the task as, on the platform they come from; the last is what counts now."""

        def work(connection: Connection) -> tuple[Visit, ...]:
            found = assessors.find_assessor(connection, assessor_id)
            if found is None:
                raise NobodyError(f"there is no assessor {assessor_id}")
            return visits_of(connection, assessor_id, Person.read(found[0]).way)

        return await self.store.read_async(work)

    async def page(self, assessor_id: int) -> Page:
        """What this assessor sees now. Looking changes nothing.

        Raises
        ------
        NobodyError
            There is no such assessor.
        """
        at = self.clock()

        def work(connection: Connection) -> Page:
            person, status, held = self._find(connection, assessor_id)
            return self._page(connection, person, status, held, at, with_draft=True)

        return await self.store.read_async(work)

    async def preview(self, campaign: str) -> Page:
        """The first page of a campaign, for somebody who has not taken the task yet; nothing can be answered on it."""

        def work(connection: Connection) -> Page:
            row = materials.find_campaign(connection, campaign)
            if row is None:
                raise NobodyError(f"there is no campaign {campaign!r}")
            settings = self.library.settings(connection, row.id)
            view = journey.view(settings.journey, journey.new(settings.journey, settings.protocol, seed=0))
            return self._drawn(connection, settings, "", view, None, "", named=False, preview=True)

        return await self.store.read_async(work)

    # ------------------------------------------------------------------ acting

    async def act(self, assessor_id: int, action: Action, *, shown: str = "", key: str = "") -> Receipt:
        """Take an action; when this returns, it is safe on disk.

        shown : of the page the form was on; "" says whatever is current. key : of the form, so that sending it again
        does nothing twice; "" for none.

        Raises
        ------
        Refusal
            The action is not possible now; nothing happened.
        NobodyError
            There is no such assessor.
        StoreError
            It could not be saved; nothing happened, and the same form may be sent again.
        """
        at = self.clock()
        digest = sha256(repr(action).encode()).hexdigest()[:32]

        tried = False

        def work(connection: Connection) -> Receipt:
            nonlocal tried
            if tried:  # what the boards remember of the last try was undone
                self.library.forget_boards()
            tried = True
            person, status, held = self._find(connection, assessor_id, lock=True)
            # Under the lock, so that of two equal forms sent at once the second finds what the first did.
            if key and (earlier := events.by_key(connection, f"{assessor_id:x}:{key}")) is not None:
                if earlier.digest != digest:
                    raise Refusal(
                        "changed", "This page has already been used to save another answer. Here it is again."
                    )
                return Receipt(earlier.id, earlier.time, replayed=True, late=earlier.late)
            turn = Turn(connection, self.library, person.row.campaign_id, at, self._number)
            if key:
                turn.sign(f"{assessor_id:x}:{key}", digest)
            person, held = turn.take(person, status, held, action, shown)
            receipt = turn.finish()
            page = self._page(connection, person, status, held, at)
            return Receipt(receipt.event_id, at, receipt.events, late=receipt.late, page=page)

        try:
            return await self.store.write_async(work)
        except StoreError:
            self.library.forget_boards()  # they may hold what has just been undone
            raise

    async def save_draft(self, assessor_id: int, shown: str, position: int, text: str, reason: str) -> None:
        """Keep what was typed and not yet sent; it is nobody's answer. Nothing, if that page has gone."""
        at = self.clock()

        def work(connection: Connection) -> None:
            _, _, held = self._find(connection, assessor_id)
            if held is not None and held.row.status == "open" and shown_as(held) == shown:
                drafts.save(connection, held.row.id, position, text, reason, at)

        await self.store.write_async(work)

    # ------------------------------------------------------------------ inside

    def _find(self, connection: Connection, assessor_id: int, *, lock: bool = False) -> tuple[Person, str, Held | None]:
        found = assessors.find_assessor(connection, assessor_id, lock=lock)
        if found is None:
            raise NobodyError(f"there is no assessor {assessor_id}")
        row, status = found
        person = Person.read(row)
        if row.current_id is None:
            return person, status, None
        return person, status, self.library.held(connection, row.campaign_id, row.current_id, lock=lock)

    def _page(
        self,
        connection: Connection,
        person: Person,
        status: str,
        held: Held | None,
        at: float,
        with_draft: bool = False,
    ) -> Page:
        row = person.row
        settings = self.library.settings(connection, row.campaign_id)
        view = self._view(connection, settings, person, status, held, at)
        draft = None
        if with_draft and held is not None and isinstance(view, DocumentView) and view.given is None:
            saved = drafts.find(connection, held.row.id, view.position)
            draft = None if saved is None else Draft(*saved)
        shown = shown_as(held)
        named = row.provider not in KEYS
        return self._drawn(connection, settings, row.name, view, held, shown, named=named, draft=draft)

    def _view(
        self,
        connection: Connection,
        settings: CampaignSettings,
        person: Person,
        status: str,
        held: Held | None,
        at: float,
    ) -> View:
        row = person.row
        if row.excluded is not None:
            return ExcludedView()
        if held is not None and held.row.status in ("expired", "withdrawn"):
            away = max(0, round((at - held.row.lease_until + settings.lease_seconds) / 60))
            return LostView(away if held.row.status == "expired" else None)
        running = status == "running"
        if held is not None and held.row.status != "open":
            view = PROTOCOLS[settings.protocol].view(held.task, held.state)
            if not isinstance(view, EndView):
                return view
            may_work = journey.may_work(settings.journey, person.way)
            another = running and may_work and self._is_free(connection, row)
            return replace(view, another=another)
        if not running:
            return PausedView(stopped=status == "stopped")
        if held is not None:
            return PROTOCOLS[settings.protocol].view(held.task, held.state)
        if not journey.may_work(settings.journey, person.way):
            return journey.view(settings.journey, person.way)
        free = self._is_free(connection, row)
        until = at if free else assignments.next_lapse(connection, row.campaign_id, row.id)
        return NoneLeftView(until, journey.has_worked(person.way))

    def _is_free(self, connection: Connection, row: AssessorRow) -> bool:
        return assignments.free_slot(connection, row.campaign_id, row.id, 0.0, lock=False) is not None

    def _drawn(
        self,
        connection: Connection,
        settings: CampaignSettings,
        name: str,
        view: View,
        held: Held | None,
        shown: str,
        *,
        named: bool,
        draft: Draft | None = None,
        preview: bool = False,
    ) -> Page:
        """The page of a view, with the words of whatever it speaks of."""
        topic, documents = None, {}
        if held is not None and isinstance(view, DocumentView | PairView | QuestionView):
            topic = self.library.topic(connection, held.row.topic_id, held.task.snippets)
            if isinstance(view, DocumentView):
                documents = self.library.documents(connection, (view.document,))
            elif isinstance(view, PairView):
                documents = self.library.documents(connection, (view.left, view.right))
        return Page(
            campaign=settings.name,
            title=settings.title,
            protocol=settings.protocol,
            name=name,
            view=view,
            topic=topic,
            documents=documents,
            shown=shown,
            key=secrets.token_urlsafe(12),
            consent=settings.consent,
            instructions=settings.instructions,
            draft=draft,
            named=named,
            preview=preview,
        )


def shown_as(held: Held | None) -> str:
    """What a form says of the page it was on: whose unit it speaks of."""
    return "" if held is None else f"{held.row.id:x}"
