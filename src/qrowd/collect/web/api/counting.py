"""How many there are of everything that a campaign is made of."""

from __future__ import annotations

from sqlalchemy import Connection, Table, bindparam, func, select

from qrowd.collect.store import schema

KINDS: dict[str, Table] = {
    "topics": schema.topic,
    "documents": schema.document,
    "units": schema.unit,
    "slots": schema.slot,
    "assessors": schema.assessor,
    "judgments": schema.judgment,
    "preferences": schema.preference,
    "bad": schema.bad_mark,
}
COUNTS = {
    name: select(func.count()).select_from(of).where(of.c.campaign_id == bindparam("of")) for name, of in KINDS.items()
}


def counts_of(connection: Connection, campaign_id: int) -> dict[str, int]:
    """How many there are of everything a campaign is made of, whether it counts or not."""
    return {name: int(connection.scalar(query, {"of": campaign_id}) or 0) for name, query in COUNTS.items()}
