"""What the server keeps for itself: sessions of browsers, keys of programs, settings. Of tokens it has only hashes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import BindParameter, Connection, Row, Select, and_, bindparam, delete, insert, or_, select, update

from qrowd_server.store.base import upsert
from qrowd_server.store.schema import account, api_key, assessor, campaign, member, session, setting

Kind = Literal["assessor", "owner"]
IDLE = 12 * 3600.0  # seconds after which a session that nobody used ends
SELDOM = 60.0  # seconds: using a session is noted this often, not with every page


def hashed(token: str) -> str:
    """What the store keeps of a token that has 256 random bits: nobody can guess it, so no slow hash is needed."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """256 random bits, as 43 letters, digits, - and _."""
    return secrets.token_urlsafe(32)


_HASH: BindParameter[str] = bindparam("of")
_FIND = select(session).where(session.c.hash == _HASH, session.c.seen > bindparam("since"))
_IDENTITY: Select[Any] = (
    select(
        assessor.c.id.label("assessor"),
        campaign.c.name.label("campaign"),
        assessor.c.provider,
        assessor.c.external_id.label("external"),
        session.c.csrf,
        campaign.c.settings,
    )
    .join_from(session, assessor, assessor.c.id == session.c.subject_id)
    .join(campaign, campaign.c.id == assessor.c.campaign_id)
    .where(session.c.hash == bindparam("hash"))
)
_NOTE = update(session).where(session.c.hash == _HASH, session.c.seen < bindparam("at")).values(seen=bindparam("at"))


def open_session(connection: Connection, kind: Kind, subject_id: int, at: float) -> tuple[str, str]:
    """A new session; the id for the cookie, and the token for its forms."""
    token, csrf = new_token(), new_token()
    row = {"hash": hashed(token), "kind": kind, "subject_id": subject_id, "csrf": csrf, "created": at, "seen": at}
    connection.execute(insert(session), row)
    return token, csrf


def find_session(connection: Connection, token: str, at: float) -> Row[Any] | None:
    """The session of a cookie, None where there is none or it was idle too long. Writes nothing: see `note_use`.

    Columns: kind, subject_id (of an assessor or an account), csrf (what every form of it must carry), created, and
    seen (when it was last used, up to `SELDOM` seconds ago).
    """
    return connection.execute(_FIND, {"of": hashed(token), "since": at - IDLE}).one_or_none()


def assessor_of_session(connection: Connection, session_row: Row[Any]) -> Row[Any] | None:
    """The assessor of a session, None where nobody is there any more.

    Columns: assessor (the number), campaign (the name), provider, external (the id on the platform), csrf
    (the token of their forms), and the settings of the campaign.
    """
    return connection.execute(_IDENTITY, {"hash": session_row.hash}).one_or_none()


def note_use(connection: Connection, token: str, at: float) -> None:
    """A session was used; it ends `IDLE` seconds after the last time."""
    connection.execute(_NOTE, {"of": hashed(token), "at": at})


def renew(connection: Connection, token: str | None, kind: Kind, subject_id: int, at: float) -> tuple[str, str]:
    """A new id for somebody who logs in or changes roles; the old one is worth nothing any more."""
    if token is not None:
        close_session(connection, token)
    return open_session(connection, kind, subject_id, at)


def close_session(connection: Connection, token: str) -> None:
    """Log out."""
    connection.execute(delete(session).where(session.c.hash == hashed(token)))


def close_sessions(connection: Connection, kind: Kind, subject_id: int) -> int:
    """Log somebody out everywhere, such as after a new password; how many sessions that were."""
    mine = session.c.kind == kind, session.c.subject_id == subject_id
    return connection.execute(delete(session).where(*mine)).rowcount


def purge(connection: Connection, at: float) -> int:
    """Forget sessions that were idle too long; how many that were."""
    return connection.execute(delete(session).where(session.c.seen <= at - IDLE)).rowcount


# ---- settings of the server


BASE_URL = "base_url"  # the setting with the address of the last server


def secret(connection: Connection) -> bytes:
    """The 32 random bytes that the server signs with, made the first time (needs a writing connection then)."""
    if (text := get_setting(connection, "secret")) is None:
        new = secrets.token_hex(32)
        upsert(connection, setting, [{"name": "secret", "value": new}], keep=True)
        text = get_setting(connection, "secret") or new
    return bytes.fromhex(text)


def get_setting(connection: Connection, name: str) -> str | None:
    """The value of a setting, None where there is none."""
    value = connection.scalar(select(setting.c.value).where(setting.c.name == name))
    return None if value is None else str(value)


def take_setting(connection: Connection, name: str) -> str | None:
    """The value of a setting, which is removed; None where there is none. Only one caller gets it."""
    return connection.scalar(delete(setting).where(setting.c.name == name).returning(setting.c.value))


def put_setting(connection: Connection, name: str, value: str) -> None:
    """Set a value, also in place of another."""
    upsert(connection, setting, [{"name": name, "value": value}])


# ---- keys of programs


KEY_STARTS = "qrowd_"  # so that a key is known for one where it should not be


@dataclass(frozen=True)
class ApiKey:
    """A key that is good. campaign_id : the only campaign it opens, None for all. maker : the account, None by link."""

    id: int
    name: str
    campaign_id: int | None
    created: float
    maker: str | None

    def opens(self, campaign_id: int) -> bool:
        """Whether it opens a campaign."""
        return self.campaign_id in {None, campaign_id}


# A key is good as long as its maker may make it: an administrator, or an owner of the campaign that it opens.
_MAKER = and_(account.c.id == api_key.c.account_id, account.c.disabled.is_(None))
_ROLE = and_(member.c.account_id == account.c.id, member.c.campaign_id == api_key.c.campaign_id)
_KEY = (
    select(api_key.c.id, api_key.c.name, api_key.c.campaign_id, api_key.c.created, account.c.name.label("maker"))
    .select_from(api_key.outerjoin(account, _MAKER).outerjoin(member, _ROLE))
    .where(~api_key.c.revoked)
    .where(or_(api_key.c.account_id == 0, account.c.role == "administrator", member.c.role == "owner"))
)


def make_api_key(
    connection: Connection, name: str, at: float, *, campaign_id: int | None = None, account_id: int = 0
) -> str:
    """A new key; this is the only time that it can be seen. account_id : who makes it; 0 : by the printed link."""
    key = KEY_STARTS + new_token()
    row = {"hash": hashed(key), "name": name, "campaign_id": campaign_id, "created": at, "revoked": False}
    connection.execute(insert(api_key), row | {"account_id": account_id})
    return key


def find_api_key(connection: Connection, key: str) -> ApiKey | None:
    """What a key is good for; None for one that is not."""
    row = connection.execute(_KEY.where(api_key.c.hash == hashed(key))).one_or_none()
    return None if row is None else ApiKey(*row)


def api_keys(connection: Connection) -> list[ApiKey]:
    """The keys that are good, oldest first."""
    return [ApiKey(*row) for row in connection.execute(_KEY.order_by(api_key.c.id))]


def revoke_api_key(connection: Connection, key_id: int) -> bool:
    """Make a key useless; whether it was good before."""
    good = api_key.c.id == key_id, ~api_key.c.revoked
    return connection.execute(update(api_key).where(*good).values(revoked=True)).rowcount == 1
