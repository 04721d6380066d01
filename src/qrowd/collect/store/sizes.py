"""How many rows of each kind a campaign has."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select

from qrowd.collect.store import schema


@dataclass(frozen=True)
class Counts:
    """The numbers of everything that a campaign is made of, whether it counts or not."""

    topics: int
    documents: int
    units: int
    slots: int
    assessors: int
    judgments: int
    preferences: int
    bad: int  # documents marked Bad


_TABLES = (
    schema.topic,
    schema.document,
    schema.unit,
    schema.slot,
    schema.assessor,
    schema.judgment,
    schema.preference,
    schema.bad_mark,
)
_QUERIES = [
    select(func.count()).select_from(table).where(table.c.campaign_id == bindparam("campaign")) for table in _TABLES
]


def count_rows(connection: Connection, campaign_id: int) -> Counts:
    """The numbers of topics, documents, units and answers of a campaign."""
    return Counts(*(int(connection.scalar(query, {"campaign": campaign_id}) or 0) for query in _QUERIES))
