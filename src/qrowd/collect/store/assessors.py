"""Who takes part: reading and writing the current state of assessors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from qrowd.collect.store.schema import assessor, campaign


@dataclass(frozen=True)
class AssessorRow:
    """One assessor, as the table has it; `state` is the journey's, as JSON."""

    id: int
    campaign_id: int
    name: str
    provider: str
    external_id: str
    identified: str
    status: str
    excluded: str | None
    seed: int
    current_id: int | None
    state: dict[str, Any]
    created: float
    updated: float


_FIELDS = tuple(AssessorRow.__dataclass_fields__)
_COLUMNS = [assessor.c[name] for name in _FIELDS]
_WITH_CAMPAIGN = (
    select(campaign.c.status.label("campaign_status"), *_COLUMNS)
    .join_from(assessor, campaign)
    .where(assessor.c.id == bindparam("id"))
)
_LOCKED = _WITH_CAMPAIGN.with_for_update(of=assessor)
_BY_IDENTITY = select(*_COLUMNS).where(
    assessor.c.campaign_id == bindparam("campaign"),
    assessor.c.provider == bindparam("provider"),
    assessor.c.external_id == bindparam("external"),
)
_BY_NAME = select(*_COLUMNS).where(
    assessor.c.campaign_id == bindparam("campaign"), assessor.c.name == bindparam("name")
)
_OF_CAMPAIGN = select(*_COLUMNS).where(assessor.c.campaign_id == bindparam("campaign")).order_by(assessor.c.created)
_CHANGING = ("identified", "status", "excluded", "current_id", "state", "updated")
_UPDATE = (
    update(assessor).where(assessor.c.id == bindparam("which")).values({name: bindparam(name) for name in _CHANGING})
)


def find_assessor(connection: Connection, id: int, *, lock: bool = False) -> tuple[AssessorRow, str] | None:
    """An assessor and the status of the campaign; `lock` keeps others from changing the row until the end."""
    row = connection.execute(_LOCKED if lock else _WITH_CAMPAIGN, {"id": id}).first()
    return None if row is None else (AssessorRow(*row[1:]), row[0])


def find_identity(connection: Connection, campaign_id: int, provider: str, external_id: str) -> AssessorRow | None:
    """Whoever came to this campaign by this provider under this id."""
    named = {"campaign": campaign_id, "provider": provider, "external": external_id}
    row = connection.execute(_BY_IDENTITY, named).first()
    return None if row is None else AssessorRow(*row)


def find_named(connection: Connection, campaign_id: int, name: str) -> AssessorRow | None:
    """Whoever is called that in this campaign."""
    row = connection.execute(_BY_NAME, {"campaign": campaign_id, "name": name}).first()
    return None if row is None else AssessorRow(*row)


def names_of(connection: Connection, campaign_id: int) -> list[str]:
    """The names of all who take part."""
    return list(connection.scalars(select(assessor.c.name).where(assessor.c.campaign_id == campaign_id)))


def of_campaign(connection: Connection, campaign_id: int) -> Iterator[AssessorRow]:
    """Everybody who takes part, in the order they came."""
    for row in connection.execute(_OF_CAMPAIGN, {"campaign": campaign_id}):
        yield AssessorRow(*row)


def add_assessors(connection: Connection, *rows: AssessorRow) -> None:
    """New ones."""
    if rows:
        connection.execute(assessor.insert(), [{name: getattr(row, name) for name in _FIELDS} for row in rows])


def save_assessor(connection: Connection, row: AssessorRow) -> None:
    """What may change about one."""
    connection.execute(_UPDATE, {"which": row.id, **{name: getattr(row, name) for name in _CHANGING}})
