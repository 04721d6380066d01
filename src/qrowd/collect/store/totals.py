"""What all campaigns of a store hold together, for monitoring: one query for each table, whatever their number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from qrowd.collect.store.schema import assignment, bad_mark, campaign, judgment, preference, slot


@dataclass(frozen=True)
class ArmTotals:
    """One arm of a campaign.

    answers : that it holds. open_units : that are being judged. free_slots : that wait for an assessor.
    """

    campaign: str
    arm: str  # "" where there is one only
    protocol: str
    status: str  # of the campaign
    answers: int
    open_units: int
    free_slots: int


def arm_totals(connection: Connection) -> list[ArmTotals]:
    """The totals of each arm of each campaign, oldest first."""
    answers: Counter[tuple[int, str]] = Counter()
    for table in (judgment, preference, bad_mark):
        joined = table.join(assignment, assignment.c.id == table.c.assignment_id)
        columns = assignment.c.campaign_id, assignment.c.arm
        query = select(*columns, func.count()).select_from(joined).group_by(*columns)
        for campaign_id, arm, n in connection.execute(query):
            answers[campaign_id, arm] += n

    def counted(table: object, *where: object) -> dict[tuple[int, str], int]:
        columns = table.c.campaign_id, table.c.arm  # type: ignore[attr-defined]
        query = select(*columns, func.count()).where(*where).group_by(*columns)  # type: ignore[arg-type]
        return {(campaign_id, arm): n for campaign_id, arm, n in connection.execute(query)}

    open_units = counted(assignment, assignment.c.status == "open")
    free_slots = counted(slot, slot.c.assignment_id.is_(None))
    rows = connection.execute(
        select(campaign.c.id, campaign.c.name, campaign.c.status, campaign.c.settings).order_by(campaign.c.id)
    )
    return [
        ArmTotals(
            name, one["name"], one["protocol"], status, answers[key], open_units.get(key, 0), free_slots.get(key, 0)
        )
        for campaign_id, name, status, settings in rows
        for one in settings["arms"]
        for key in [(campaign_id, one["name"])]
    ]
