"""The state that the events of an assessor add up to."""

from __future__ import annotations

from dataclasses import replace

from qrowd_server.campaigns.running.assignment_state import journey_of_assessor
from qrowd_server.campaigns.running.state import CampaignSettings
from qrowd_server.protocols import journey
from qrowd_server.protocols.events import Event
from qrowd_server.protocols.journey import Journey
from qrowd_server.store.schema import MODEL
from qrowd_server.store.state import AssessorRow

ABOUT_ASSIGNMENTS = (
    "assigned", "unit_left", "reopened", "reconsidered", "closed", "message_sent", "message_answered", "message_read",
)  # fmt: skip
"""Events of assessors that name an assignment; all others that name one are events of the assignment."""


def new_assessor(
    settings: CampaignSettings, campaign_id: int, id: int, event: Event, at: float, *, n_before: int = 0
) -> AssessorRow:
    """An assessor who has just arrived.

    n_before : people who came before, for the pseudonym of a person whose event, of an older qrowd, holds none.
    """
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
        pseudonym=None if data["provider"] == MODEL else str(data.get("pseudonym") or f"a{n_before + 1}"),
    )
    lines = settings.lines and not row.is_model  # which cannot see them
    return _with_journey(row, journey.new(settings.journey, lines=lines, seed=seed))


def assessor_after(
    settings: CampaignSettings, row: AssessorRow, event: Event, at: float, assignment_id: int | None
) -> AssessorRow:
    """An assessor after one of their events."""
    row = replace(row, updated=at)
    match event.kind:
        case "assigned":
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
    return replace(row, status=journey.status(way), state=journey.to_json(way))
