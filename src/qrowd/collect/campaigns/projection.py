"""Projection of the log: the state that the events of an assessor and of an assignment add up to.

One fold, used twice: on every answer as it comes, and over the whole log when the tables are built again. What the
tables hold is a function of the log because nothing else ever changes these records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Table

from qrowd.collect.campaigns.creation import CampaignSettings
from qrowd.collect.protocols import journey
from qrowd.collect.protocols.events import Event
from qrowd.collect.protocols.journey import Journey
from qrowd.collect.protocols.protocol import BadRow, JudgmentRow, PreferenceRow, Protocol, Task
from qrowd.collect.protocols.registry import PROTOCOLS
from qrowd.collect.store.assessors import AssessorRow
from qrowd.collect.store.assignments import AssignmentRow
from qrowd.collect.store.schema import bad_mark, judgment, preference

Answers = dict[str, dict[int, JudgmentRow | PreferenceRow | BadRow]]  # by table and key
Cells = list[dict[str, Any]]

# How the tables call what the protocols say: the key beside the assignment, and columns with another name.
TABLES: dict[str, tuple[Table, str, dict[str, str]]] = {
    judgment.name: (judgment, "position", {"document": "document_id"}),
    preference.name: (preference, "number", {"left": "left_id", "right": "right_id"}),
    bad_mark.name: (bad_mark, "document_id", {"document": "document_id"}),
}
NOTHING: Answers = {name: {} for name in TABLES}


@dataclass(frozen=True)
class AssessorState:
    """An assessor: the row of the table, and how far the journey has come."""

    row: AssessorRow
    journey: Journey

    @classmethod
    def read(cls, row: AssessorRow) -> AssessorState:
        """From the table."""
        return cls(row, journey.from_json(row.state))

    @classmethod
    def new(cls, row: AssessorRow, settings: CampaignSettings) -> AssessorState:
        """Just arrived; `row` says who it is."""
        return cls._of(row, journey.new(settings.journey, settings.protocol, seed=row.seed))

    @classmethod
    def _of(cls, row: AssessorRow, state: Journey) -> AssessorState:
        return cls(replace(row, status=journey.status(state), state=journey.to_json(state)), state)

    def after(self, settings: CampaignSettings, event: Event, at: float, assignment_id: int | None) -> AssessorState:
        """After one of their events."""
        row = replace(self.row, updated=at)
        match event.kind:
            case "assigned":
                return replace(self, row=replace(row, current_id=assignment_id))
            case "unit_left":
                return replace(self, row=replace(row, current_id=None))
            case "excluded":
                row = replace(row, excluded=str(event.data["reason"]))
            case "reinstated":
                row = replace(row, excluded=None)
            case "identified":
                row = replace(row, identified=str(event.data["identified"]))
            case "reset":
                row = replace(row, current_id=None)
        return self._of(row, journey.evolve(settings.journey, self.journey, event))


@dataclass(frozen=True)
class AssignmentState:
    """An assignment with its task and what the protocol makes of it. state : the protocol's own."""

    row: AssignmentRow
    task: Task
    protocol: Protocol[Any]
    state: Any

    @classmethod
    def read(cls, row: AssignmentRow, task: Task, settings: CampaignSettings) -> AssignmentState:
        """From the table."""
        protocol = PROTOCOLS[settings.protocol]
        return cls(row, task, protocol, protocol.from_json(row.state))

    def after(self, settings: CampaignSettings, event: Event, at: float) -> AssignmentState:
        """After one of its events."""
        row = replace(self.row, version=self.row.version + 1, updated=at)
        match event.kind:
            case "lease_expired" | "assignment_withdrawn":
                status = "expired" if event.kind == "lease_expired" else "withdrawn"
                kept = settings.together and status == "expired"
                return replace(self, row=replace(row, status=status, counts=kept and self.row.counts))
            case "assignment_restored":
                status = str(event.data["status"])
                return replace(self, row=replace(row, status=status, counts=counts(settings, status)))
            case "unit_left":
                return replace(self, row=row)
        state = self.protocol.evolve(self.task, self.state, event, at)
        status = self.protocol.status(state)
        row = replace(row, status=status, counts=counts(settings, status), state=self.protocol.to_json(state))
        if status == "open":
            row = replace(row, lease_until=at + settings.lease_seconds)
        return replace(self, row=row, state=state)

    def answers(self) -> Answers:
        """What was said here, as far as it stands."""
        rows = self.protocol.rows(self.task, self.state)
        return {
            judgment.name: {row.position: row for row in rows.judgments},
            preference.name: {row.number: row for row in rows.preferences},
            bad_mark.name: {row.document: row for row in rows.bad},
        }


def counts(settings: CampaignSettings, status: str) -> bool:
    """Whether an assignment's judgments are part of the result.

    Where a unit has to pass checks, only once it has; elsewhere every answer as soon as it is given. A unit that
    failed, or went to somebody else, never is; what was judged together with others stays.
    """
    if status == "completed":
        return True
    return status == "open" and not PROTOCOLS[settings.protocol].checked


def differences(row: AssignmentRow, before: Answers, after: Answers) -> Iterator[tuple[Table, Cells, Cells]]:
    """For each table that changes, the rows to write and the keys to remove."""
    for name, (table, key, columns) in TABLES.items():
        old, new = before[name], after[name]
        if old == new:
            continue
        own = {"assignment_id": row.id, "campaign_id": row.campaign_id}
        if table is not judgment:
            own["unit_id"] = row.unit_id
        changed = (one for at, one in new.items() if old.get(at) != one)
        written = [{**own, **{columns.get(name, name): value for name, value in vars(one).items()}} for one in changed]
        yield table, written, [{"assignment_id": row.id, key: at} for at in old if at not in new]
