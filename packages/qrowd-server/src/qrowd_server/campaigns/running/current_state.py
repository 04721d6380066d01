"""The state that the events of an assessor and of an assignment add up to.

One fold, used twice: on every answer as it comes, and over the whole log when the tables are built again. What the
tables hold is a function of the log because nothing else ever changes these records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Table

from qrowd_server.campaigns.running.campaign_settings import Arm, CampaignSettings
from qrowd_server.protocols import PROTOCOLS, journey
from qrowd_server.protocols.events import Event
from qrowd_server.protocols.journey import Journey
from qrowd_server.protocols.protocol import BadRow, GoldRow, JudgmentRow, PreferenceRow, Protocol, Row, Rows, Task
from qrowd_server.store import answer_rows as answers
from qrowd_server.store.schema import MODEL, bad_mark, gold_answer, judgment, preference
from qrowd_server.store.state_rows import AssessorRow, AssignmentRow

GOLD_EVERY, GOLD_FIRST = "gold_every", "gold_first"  # keys of an assignment's state: which are gold questions
TABLES: dict[type[Row], tuple[Table, str]] = {  # of rows, with the key beside the assignment
    JudgmentRow: (judgment, "position"),
    PreferenceRow: (preference, "number"),
    BadRow: (bad_mark, "document_id"),
    GoldRow: (gold_answer, "number"),
}

ABOUT_ASSIGNMENTS = (
    "assigned", "taken_up", "unit_left", "reopened", "reconsidered", "message_sent", "message_answered", "message_read",
)  # fmt: skip
"""Events of assessors that name an assignment; all others that name one are events of the assignment."""


# ---- assessors


def journey_of_assessor(row: AssessorRow) -> Journey:
    """How far an assessor has come."""
    return journey.from_json(row.state)


def new_assessor(settings: CampaignSettings, campaign_id: int, id: int, event: Event, at: float) -> AssessorRow:
    """An assessor who has just arrived."""
    data, seed = event.data, int(event.data["seed"])
    row = AssessorRow(
        id=id,
        campaign_id=campaign_id,
        name=str(data["name"]),
        provider=str(data["provider"]),
        external_id=str(data["external_id"]),
        seed=seed,
        created=at,
        updated=at,
        pseudonym=None if data["provider"] == MODEL else str(data["pseudonym"]),
    )
    lines = settings.lines and not row.is_model  # which cannot see them
    return _with_journey(row, journey.new(settings.journey, lines=lines, seed=seed))


def assessor_after(
    settings: CampaignSettings, row: AssessorRow, event: Event, at: float, assignment_id: int | None
) -> AssessorRow:
    """An assessor after one of their events."""
    row = replace(row, updated=at)
    match event.kind:
        case "assigned" | "taken_up":
            return replace(row, current_id=assignment_id)
        case "unit_left":
            return replace(row, current_id=None)
        case "excluded":
            row = replace(row, excluded=str(event.data["reason"]))
        case "reinstated":
            row = replace(row, excluded=None)
        case "reset":
            row = replace(row, current_id=None)
    return _with_journey(row, journey.evolve(settings.journey, journey_of_assessor(row), event, assignment_id))


def _with_journey(row: AssessorRow, way: Journey) -> AssessorRow:
    return replace(row, status=way.stage, state=journey.to_json(way))


# ---- assignments


@dataclass(frozen=True)
class AssignmentState:
    """An assignment with its task and what the protocol makes of it. state : the protocol's own, not yet in `row`."""

    row: AssignmentRow
    task: Task
    arm: Arm
    state: Any

    @property
    def protocol(self) -> Protocol[Any]:
        """That of its arm."""
        return PROTOCOLS[self.arm.protocol]

    @property
    def together(self) -> bool:
        """Whether others judge in the same order of documents; models beside people judge alone."""
        return self.arm.together and self.row.slot >= 0

    def after(self, settings: CampaignSettings, event: Event, at: float) -> AssignmentState:
        """After one of its events."""
        changes: dict[str, Any] = {"version": self.row.version + 1, "updated": at}
        new, protocol = self.state, self.protocol
        match event.kind:
            case "lease_expired" | "given_back" | "assignment_withdrawn":
                status = "withdrawn" if event.kind == "assignment_withdrawn" else "expired"
                changes |= {"status": status, "counts": self.together and status == "expired" and self.row.counts}
            case "assignment_restored":
                status = str(event.data["status"])
                changes |= {"status": status, "counts": counts(protocol, status)}
                if status == "open":
                    changes["lease_until"] = at + settings.lease_seconds
            case "unit_left":
                pass
            case _:
                new = protocol.evolve(self.task, self.state, event, at)
                status = protocol.status(new)
                changes |= {"status": status, "counts": counts(protocol, status)}
                if status == "open":
                    changes["lease_until"] = at + settings.lease_seconds
        return AssignmentState(replace(self.row, **changes), self.task, self.arm, new)

    def to_row(self) -> AssignmentRow:
        """As the table has it."""
        gold = gold_places(self.task.gold.every, self.task.gold.first)
        return replace(self.row, state=self.protocol.to_json(self.state) | gold)

    def pair(self) -> tuple[int, int] | None:
        """The pair on its page, if there is one."""
        return self.protocol.offered(self.state) if self.row.status == "open" else None


def gold_places(every: int, first: int) -> dict[str, int]:
    """What the state of an assignment says of its gold questions; nothing where it has none."""
    return ({GOLD_EVERY: every} if every else {}) | ({GOLD_FIRST: first} if first else {})


def counts(protocol: Protocol[Any], status: str) -> bool:
    """Whether an assignment's judgments are part of the result.

    Where a unit has to pass checks, only once it has; elsewhere every answer as soon as it is given. A unit that
    failed, or went to somebody else, never is; what was judged together with others stays.
    """
    return status == "completed" or (status == "open" and not protocol.checked)


def differences(
    before: AssignmentState | None, now: AssignmentState
) -> Iterator[tuple[Table, list[dict[str, Any]], list[dict[str, Any]]]]:
    """For each table, the rows to write and the keys to remove. before : None where the tables hold nothing of it."""
    old_rows: Rows = () if before is None else before.protocol.rows(before.task, before.state)
    new_rows = now.protocol.rows(now.task, now.state)
    for kind, (table, name) in TABLES.items():
        old = {getattr(row, name): row for row in old_rows if type(row) is kind}
        new = {getattr(row, name): row for row in new_rows if type(row) is kind}
        own = {column: getattr(now.row, column) for column in ("campaign_id", "unit_id") if column in table.c}
        own["assignment_id"] = now.row.id
        changes = [{**own, **vars(row)} for key, row in new.items() if old.get(key) != row]
        yield table, changes, [{"assignment_id": now.row.id, name: key} for key in old if key not in new]


def hold_pair(connection: Connection, assignment: AssignmentState) -> None:
    """Write which pair is on the page of an assignment, if there is one. A gold question is nobody else's."""
    if (pair := assignment.pair()) is not None:
        together = assignment.together and pair[0] in assignment.task.material.documents
        board = assignment.row.unit_id if together else assignment.row.id
        answers.hold_pair(connection, board, pair, assignment.row.id, assignment.arm.seats)


def page_id(assignment_id: int | None) -> str:
    """What a form says of the page that it was on: whose unit it speaks of; "" for none.

    >>> page_id(255), page_id(None)
    ('ff', '')
    """
    return "" if assignment_id is None else f"{assignment_id:x}"
