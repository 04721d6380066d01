"""Keys for programs, each for one campaign or for all."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, insert, or_, select, update

from qrowd_server.store.schema import api_key, assessor, campaign
from qrowd_server.store.sessions import hashed, new_token

KEY_STARTS = "qrowd_"  # so that a key is known for one where it should not be


@dataclass(frozen=True)
class ApiKey:
    """A key that is good. campaign_id : the only campaign it opens, None for all."""

    id: int
    name: str
    campaign_id: int | None
    created: float

    def opens(self, campaign_id: int) -> bool:
        """Whether it opens a campaign."""
        return self.campaign_id in {None, campaign_id}


_KEY = select(api_key.c.id, api_key.c.name, api_key.c.campaign_id, api_key.c.created).where(~api_key.c.revoked)


def make_api_key(connection: Connection, name: str, at: float, *, campaign_id: int | None = None) -> str:
    """A new key; this is the only time that it can be seen."""
    key = KEY_STARTS + new_token()
    row = {"hash": hashed(key), "name": name, "campaign_id": campaign_id, "created": at, "revoked": False}
    connection.execute(insert(api_key), row)
    return key


def find_api_key(connection: Connection, key: str) -> ApiKey | None:
    """What a key is good for; None for one that is not."""
    row = connection.execute(_KEY.where(api_key.c.hash == hashed(key))).one_or_none()
    return None if row is None else ApiKey(*row)


def find_key_and_assessor(
    connection: Connection, key: str, assessor_id: int
) -> tuple[ApiKey, tuple[int | None, str, str]] | None:
    """What a key is good for, with the campaign number, the provider and the campaign name of an assessor.

    The campaign number is None where there is no such assessor; the whole is None where the key is not good. One
    statement, since every answer by program begins with it.
    """
    names = api_key.outerjoin(assessor, assessor.c.id == assessor_id).outerjoin(
        campaign, campaign.c.id == assessor.c.campaign_id
    )
    query = _KEY.add_columns(assessor.c.campaign_id, assessor.c.provider, campaign.c.name).select_from(names)
    row = connection.execute(query.where(api_key.c.hash == hashed(key))).one_or_none()
    return None if row is None else (ApiKey(*row[:-3]), (row[-3], row[-2], row[-1]))


def api_keys(connection: Connection, *, campaign_id: int | None = None) -> list[ApiKey]:
    """The keys that are good, oldest first. campaign_id : only those that open this campaign."""
    opens = or_(api_key.c.campaign_id == campaign_id, api_key.c.campaign_id.is_(None))
    query = _KEY if campaign_id is None else _KEY.where(opens)
    return [ApiKey(*row) for row in connection.execute(query.order_by(api_key.c.id))]


def revoke_api_key(connection: Connection, key_id: int) -> bool:
    """Make a key useless; whether it was good before."""
    good = api_key.c.id == key_id, ~api_key.c.revoked
    return connection.execute(update(api_key).where(*good).values(revoked=True)).rowcount == 1
