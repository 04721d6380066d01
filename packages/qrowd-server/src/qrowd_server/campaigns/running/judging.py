"""The judging service: assessors get units, hand in answers, and see what comes next.

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

from qrowd_server.campaigns.plan.panel_links import PROVIDER
from qrowd_server.campaigns.running.campaign_reader import (
    AssessorReader,
    CampaignMemory,
    CampaignReader,
    document_texts,
)
from qrowd_server.campaigns.running.campaign_settings import NotFoundError
from qrowd_server.campaigns.running.current_state import AssignmentState, journey_of_assessor, page_id
from qrowd_server.campaigns.running.messages import messages_of_page, take_message
from qrowd_server.campaigns.running.pages import Draft, Page, Receipt, UnitSoFar
from qrowd_server.campaigns.running.reopening import first_reopened, reconsider, reopened_page, reopened_view
from qrowd_server.campaigns.running.transaction import Transaction, to_take_up
from qrowd_server.protocols import journey
from qrowd_server.protocols.events import Action, AskOrganisers, Event, ReadReply, Refusal
from qrowd_server.protocols.protocol import JudgmentRow
from qrowd_server.protocols.views import (
    DocumentView,
    EndView,
    ExcludedView,
    LostView,
    NoneLeftView,
    PairView,
    PausedView,
    PauseView,
    QuestionView,
    View,
)
from qrowd_server.store import answer_rows as answers
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store import state_rows as state
from qrowd_server.store.base import Store
from qrowd_server.store.event_log import LogEntry
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.state_rows import AssessorRow, Slot

Clock = Callable[[], float]
OVER = EndView | NoneLeftView | LostView | PausedView | ExcludedView
NEXT_BATCH = 60.0  # seconds after which somebody who waits for the next batch of a question looks again


Change = Callable[[Transaction, AssessorReader], None]


class JudgingService:
    """Everything an assessor can do, over one store.

    clock : seconds since 1970; the server's word on time. number : makes the random numbers of new assessors and
        assignments, 62 bits each.
    """

    def __init__(
        self, store: Store, *, clock: Clock = time.time, number: Callable[[], int] = lambda: secrets.randbits(62)
    ) -> None:
        self.store, self.clock, self._number = store, clock, number
        self._memory = CampaignMemory()
        self.retention_days: float | None = None  # for campaigns that do not say how long names are kept
        self.instead, self.since = False, 0.0  # whether models take places of people, and when they began

    # ------------------------------------------------------------------ coming in

    async def arrive(
        self,
        campaign: str,
        provider: str,
        external_id: str,
        *,
        name: str | None = None,
        about: dict[str, Any] | None = None,
    ) -> int:
        """The number of the assessor who comes to a campaign by a provider under an id; a new one the first time.

        name : as exported, `external_id` unless taken. about : anything else the provider said, for the log.
        """
        at, number = self.clock(), self._number()

        def work(connection: Connection) -> int:
            row = _campaign(connection, campaign)
            earlier = state.find_identity(connection, row.id, provider, external_id)
            if earlier is not None:
                return earlier.id
            label, tries = name or external_id, 1
            while state.find_named(connection, row.id, label) is not None:
                tries += 1
                label = f"{name or external_id}-{tries}"
            data = {"name": label, "provider": provider, "external_id": external_id, "about": about or {}}
            transaction = Transaction(self._reader(connection, row.id, row.stamp), at, self._number)
            transaction.add_assessor(number, Event("arrived", {**data, "seed": self._number()}))
            transaction.finish()
            return number

        return await self.store.write_async(work)

    # ------------------------------------------------------------------ looking

    async def page(self, assessor_id: int, *, pause: bool = False) -> Page:
        """What this assessor sees now, or where they pause in a unit. Looking changes nothing."""
        at = self.clock()

        def work(connection: Connection) -> Page:
            return self._page(self._find(connection, assessor_id), at, pause=pause)

        return await self.store.read_async(work)

    async def unit(self, assessor_id: int) -> UnitSoFar | None:
        """The open unit of an assessor, with all of its documents; None where there is none."""

        def work(connection: Connection) -> UnitSoFar | None:
            assignment = self._find(connection, assessor_id).current
            if assignment is None or assignment.row.status != "open":
                return None
            row, task = assignment.row, assignment.task
            topic, _, number = materials.unit_places(connection, [row.unit_id])[row.unit_id]
            rows = assignment.protocol.rows(task, assignment.state)
            return UnitSoFar(
                page_id(row.id),
                topic,
                f"{topic}/{number}",
                row.arm,
                task.settings,
                task.documents,
                {one.id: one.label for one in materials.find_documents(connection, task.documents)},
                document_texts(connection, task.documents),
                {one.document_id: (one.value, one.reason) for one in rows if isinstance(one, JudgmentRow)},
                getattr(assignment.state, "fails", 0),
            )

        return await self.store.read_async(work)

    async def preview(self, campaign: str, *, judging: bool = False) -> Page:
        """The first page of a campaign, for somebody who has not taken the task yet; it accepts no answers.

        judging : the first page of a unit, if there is one.
        """

        def work(connection: Connection) -> Page:
            row = _campaign(connection, campaign)
            reader = self._reader(connection, row.id, row.stamp)
            settings, assignment = reader.settings, None
            view = journey.view(settings.journey, journey.new(settings.journey, lines=settings.lines, seed=0))
            if judging and (unit := next(iter(materials.units_of(connection, row.id)), None)) is not None:
                nobody = AssessorRow(0, row.id, "", PROVIDER, "", 0, 0.0, 0.0)
                assignment = reader.new_assignment(nobody, 0, Slot(unit.id, 0, unit.topic_id), 0, 0.0)
                board = reader.board(assignment) if assignment.arm.together else None
                for event in assignment.protocol.resume(assignment.task, assignment.state, board, 0.0):
                    assignment = assignment.after(settings, event, 0.0)
                view = assignment.protocol.view(assignment.task, assignment.state)
            return replace(self._page_of_view(reader, view, assignment), named=False)

        return await self.store.read_async(work)

    # ------------------------------------------------------------------ acting

    async def act(self, assessor_id: int, action: Action, *, shown: str = "", key: str = "") -> Receipt:
        """Take an action; when this returns, it is safe on disk.

        shown : of the page the form was on; "" says whatever is current. key : of the form, so that sending it again
        does nothing twice; "" for none.
        """

        def change(transaction: Transaction, now: AssessorReader) -> None:
            if now.assessor.excluded is not None:
                raise Refusal("excluded", "You take no further part in this task.")
            if isinstance(action, AskOrganisers | ReadReply):
                take_message(transaction, now, action, shown)
            elif "-" in shown or (not shown and first_reopened(now) is not None):
                reconsider(transaction, now, action, shown)
            else:
                transaction.act(now.assessor, now.status, now.current, action, shown)

        return await self._change(assessor_id, change, key, sha256(repr(action).encode()).hexdigest()[:32])

    async def leave_unanswered(self, assessor_id: int, status: str, detail: str, *, shown: str, key: str) -> Receipt:
        """A model gave no answer to the page that counts: that is in the log, and nothing becomes a judgment.

        Where "cannot tell" is offered, it is the answer; elsewhere the unit is given back, and others may have it.
        status, detail : what was wrong. shown, key : as for `act`, as are the errors.
        """

        def change(transaction: Transaction, now: AssessorReader) -> None:
            transaction.leave_unanswered(now.assessor, now.current, shown, status, detail)

        return await self._change(assessor_id, change, key, sha256(f"{status} {detail}".encode()).hexdigest()[:32])

    async def give_back(self, assessor_id: int) -> None:
        """A model stops, and keeps no unit."""

        def change(transaction: Transaction, now: AssessorReader) -> None:
            if now.current is not None and now.current.row.status == "open":
                transaction.give_back(now.assessor, now.current)

        await self._change(assessor_id, change, "", "")

    async def _change(self, assessor_id: int, change: Change, key: str, digest: str) -> Receipt:
        """Read the state of an assessor, change it, and write events and state, in one transaction."""
        at, form = self.clock(), f"{assessor_id:x}:{key}"

        def work(connection: Connection) -> Transaction | LogEntry:
            now = self._find(connection, assessor_id)
            if key and (earlier := events.by_key(connection, form)) is not None:
                return earlier
            transaction = Transaction(now, at, self._number)
            transaction.instead, transaction.since = self.instead, self.since
            if key:
                transaction.set_key(form, digest)
            change(transaction, now)
            transaction.finish()
            return transaction

        done = await self.store.write_async(work)
        if isinstance(done, LogEntry):
            if done.digest != digest:
                raise Refusal("changed", "This page has already been used to save another answer. Here it is again.")
            return Receipt(done.id, done.time, replayed=True, late=done.late)
        done.reader.remember()
        return done.receipt()

    async def save_draft(self, assessor_id: int, shown: str, position: int, text: str, reason: str) -> None:
        """Keep what was typed and not yet sent; it is nobody's answer. Nothing, if that page has gone."""
        at = self.clock()

        def work(connection: Connection) -> None:
            assignment = self._find(connection, assessor_id).current
            if assignment is None or assignment.row.status != "open":
                return
            if shown == page_id(assignment.row.id):
                answers.save_draft(connection, assignment.row.id, position, text, reason, at)

        await self.store.write_async(work)

    # ------------------------------------------------------------------ inside

    def _reader(self, connection: Connection, campaign_id: int, stamp: int) -> CampaignReader:
        return CampaignReader(connection, campaign_id, stamp, self._memory)

    def _find(self, connection: Connection, assessor_id: int) -> AssessorReader:
        row = state.find_assessor(connection, assessor_id)
        if row is None:
            raise NotFoundError(f"there is no assessor {assessor_id}")
        return AssessorReader(connection, *row, self._memory)

    def _page(self, now: AssessorReader, at: float, pause: bool = False) -> Page:
        assessor, assignment = now.assessor, now.current
        if (again := first_reopened(now)) is not None:
            reopened, assignment = again
            page = self._page_of_view(now, reopened_view(assignment, reopened), assignment)
            return replace(page, shown=reopened_page(reopened), **_names(assessor))
        view = self._view(now, at)
        if pause and assignment is not None and not isinstance(view, OVER):
            view = PauseView(assignment.row.lease_until)
        draft = None
        if assignment is not None and isinstance(view, DocumentView) and view.answer is None:
            row = answers.find_draft(now.connection, assignment.row.id, view.position)
            draft = None if row is None else Draft(*row)
        page = self._page_of_view(now, view, assignment)
        if isinstance(view, OVER | PauseView):
            page = replace(page, answers=answers.count_answers(now.connection, assessor.id))
        page = replace(page, draft=draft, pseudonym=assessor.pseudonym or "", **_names(assessor))
        return messages_of_page(now, page)

    def _view(self, now: AssessorReader, at: float) -> View:
        assessor, status, assignment, settings = now.assessor, now.status, now.current, now.settings
        if assessor.excluded is not None:
            return ExcludedView()
        if assignment is not None and assignment.row.status in ("expired", "withdrawn"):
            away = max(0, round((at - assignment.row.lease_until + settings.lease_seconds) / 60))
            return LostView(away if assignment.row.status == "expired" else None)
        if assignment is not None and (assignment.row.status != "open" or status in ("running", "decided")):
            view = assignment.protocol.view(assignment.task, assignment.state)
            if not isinstance(view, EndView) or assignment.row.status == "open":
                return view
            may_work = journey.may_work(settings.journey, journey_of_assessor(assessor))
            early = view.early or (status == "decided" and view.outcome == "completed")
            return replace(view, early=early, another=status == "running" and may_work and self._is_next(now, at))
        way = journey_of_assessor(assessor)
        if status == "decided":
            return NoneLeftView(None, way.completed > 0, decided=True)
        if status != "running":
            return PausedView(stopped=status == "stopped")
        if not journey.may_work(settings.journey, way):
            return journey.view(settings.journey, way)
        return NoneLeftView(self._next_unit(now, at), way.completed > 0)

    def _is_next(self, now: AssessorReader, at: float) -> bool:
        """Whether there is another unit: a free one, one whose lease expired, or one that a question may draw soon."""
        until = self._next_unit(now, at)
        return until is not None and (until <= at or now.settings.question is not None)

    def _next_unit(self, now: AssessorReader, at: float) -> float | None:
        """When there may be another unit for an assessor: now, or once a lease ends or a question draws."""
        if now.assessor.is_model and to_take_up(now, now.assessor.id, self.since) is not None:
            return at
        if now.assessor.is_model and not self.instead:
            return None if state.place_beside(now.connection, now.campaign_id, now.assessor.id) is None else at
        if state.free_slot(now.connection, now.campaign_id, now.assessor.id) is not None:
            return at
        lapse = state.next_lapse(now.connection, now.campaign_id, now.assessor.id)
        if now.settings.question is None:
            return lapse
        return at + NEXT_BATCH if lapse is None else min(lapse, at + NEXT_BATCH)

    def _page_of_view(self, reader: CampaignReader, view: View, assignment: AssignmentState | None) -> Page:
        """The page of a view, with the words of whatever it speaks of."""
        settings, topic, documents, shown = reader.settings, None, {}, {}
        if assignment is not None and isinstance(view, DocumentView | PairView | QuestionView):
            asked = assignment.task.settings
            shown = {"ask": asked.ask, "full_topic": asked.topic == "full"}
            topic = reader.topic(assignment.row.topic_id, assignment.task.snippets)
            if isinstance(view, DocumentView):
                documents = document_texts(reader.connection, (view.document,))
            elif isinstance(view, PairView):
                documents = document_texts(reader.connection, (view.left, view.right))
        return Page(
            campaign=settings.name,
            title=settings.title,
            protocol=settings.protocol if assignment is None else assignment.arm.protocol,
            name="",
            view=view,
            topic=topic,
            documents=documents,
            shown=page_id(None if assignment is None else assignment.row.id),
            key=secrets.token_urlsafe(12),
            consent=settings.consent,
            instructions=settings.instructions or ("" if assignment is None else assignment.arm.instructions),
            practice_instructions=settings.practice_instructions,
            language=settings.language,
            guidelines=settings.guidelines,
            pictures=tuple(settings.pictures.items()),
            effort=settings.effort,
            retention_days=self.retention_days if settings.retention_days is None else settings.retention_days,
            **shown,
        )


def _names(assessor: AssessorRow) -> dict[str, Any]:
    """What a page says of who sees it."""
    return {"name": assessor.name, "named": assessor.provider != PROVIDER}


def _campaign(connection: Connection, name: str) -> CampaignRow:
    """A campaign; whoever asks for one that is not there is not told which there are."""
    row = materials.find_campaign(connection, name)
    if row is None:
        raise NotFoundError(f"there is no campaign {name!r}")
    return row
