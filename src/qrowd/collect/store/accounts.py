"""Who is who: accounts with passwords, keys for programs, invitations and sessions; and the server's own settings.

Passwords are hashed with argon2id; tokens have 256 random bits, so SHA-256 is enough for them. The random id of a
session is in the cookie only; the store holds its hash.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, get_args

from sqlalchemy import BindParameter, Connection, and_, bindparam, delete, func, insert, or_, select, update

from qrowd.collect.store.base import Store, StoreError, upsert
from qrowd.collect.store.schema import account, api_key, assessor, campaign, invitation, login_attempt, session, setting
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

BASE_URL = "base_url"  # the setting with the address of the last server
ATTEMPTS = 10  # logins per account, and per address, that may fail
WITHIN = 15 * 60.0  # in so many seconds
SHORTEST = 10  # characters of a password
LONGEST = 1000

KEY_STARTS = "qrowd_"  # so that a key is known for one where it should not be

Kind = Literal["assessor", "owner"]
IDLE = 12 * 3600.0  # seconds after which a session that nobody used ends
SELDOM = 60.0  # seconds: using a session is noted this often, not with every page


class TooManyAttemptsError(StoreError):
    """Too many logins failed; `retry_after` seconds from now there may be another."""

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"too many attempts to log in; try again in {retry_after / 60:.0f} minutes")

    def __reduce__(self) -> tuple[type[TooManyAttemptsError], tuple[float]]:
        return type(self), (self.retry_after,)


# ---- tokens and passwords


def hashed(token: str) -> str:
    """What the store keeps of a token that has 256 random bits: nobody can guess it, so no slow hash is needed."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """256 random bits, as 43 letters, digits, - and _."""
    return secrets.token_urlsafe(32)


@cache
def _hasher(fast: bool) -> PasswordHasher:
    from argon2 import PasswordHasher

    # OWASP's second choice: 19 MiB, so that fifty people logging in at once do not fill a small server.
    return PasswordHasher(1, 8, 1) if fast else PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def hash_password(password: str, *, fast: bool = False) -> str:
    """What the store keeps of a password. fast : for tests only."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise ArgumentError(f"a password needs {SHORTEST} to {LONGEST} characters, this one has {len(password)}")
    return _hasher(fast).hash(password)


def verify(password_hash: str | None, password: str) -> bool:
    """Whether it is the password. None, for an account that does not exist, takes as long and says no."""
    from argon2.exceptions import InvalidHashError, VerificationError

    if len(password) > LONGEST:
        return False
    try:
        _hasher(False).verify(password_hash or _nobody(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


@cache
def _nobody() -> str:
    return _hasher(False).hash(new_token())


# ---- accounts


def add_account(connection: Connection, name: str, password_hash: str, at: float) -> int:
    """A new account; its number.

    Raises
    ------
    sqlalchemy.exc.IntegrityError
        There is one of this name already.
    """
    row = {"name": name, "password_hash": password_hash, "created": at}
    return int(connection.execute(insert(account).returning(account.c.id), row).scalar_one())


def account_name(connection: Connection, account_id: int) -> str | None:
    """Whose account it is."""
    name = connection.scalar(select(account.c.name).where(account.c.id == account_id))
    return None if name is None else str(name)


def check_login(store: Store, name: str, password: str, address: str, at: float) -> int | None:
    """The account, or None where name and password do not belong together.

    The password is verified between two transactions, so that nobody waits for it to write.

    Raises
    ------
    TooManyAttemptsError
        10 logins failed within 15 minutes, for this name or from this address.
    """
    number, row = store.write(lambda connection: begin_login(connection, name, address, at))
    if row is None:
        verify(None, password)
        return None
    account_id, password_hash = row
    if not verify(password_hash, password):
        return None
    store.write(lambda connection: forgive(connection, number))
    return account_id


async def check_login_async(store: Store, name: str, password: str, address: str, at: float) -> int | None:
    """`check_login` for a caller on an event loop."""
    return await asyncio.to_thread(check_login, store, name, password, address, at)


def begin_login(connection: Connection, name: str, address: str, at: float) -> tuple[int, tuple[int, str] | None]:
    """Count an attempt to log in, as failed until `forgive`; its number, and the account with its password hash.

    Counting comes first, so that a hundred guesses sent at once are a hundred guesses.
    """
    connection.execute(delete(login_attempt).where(login_attempt.c.time <= at - WITHIN))
    row = {"name": name, "address": address, "time": at}
    number = int(connection.execute(insert(login_attempt).returning(login_attempt.c.id), row).scalar_one())
    recent = login_attempt.c.time > at - WITHIN
    for column, value in ((login_attempt.c.name, name), (login_attempt.c.address, address)):
        count, first = connection.execute(
            select(func.count(), func.min(login_attempt.c.time)).where(column == value, recent)
        ).one()
        if count > ATTEMPTS:
            raise TooManyAttemptsError(first + WITHIN - at)
    owner = connection.execute(
        select(account.c.id, account.c.password_hash).where(account.c.name == name)
    ).one_or_none()
    return number, None if owner is None else (owner.id, owner.password_hash)


def forgive(connection: Connection, number: int) -> None:
    """An attempt did not fail."""
    connection.execute(delete(login_attempt).where(login_attempt.c.id == number))


# ---- keys for programs


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


_KEY_AND_ASSESSOR = (
    _KEY.add_columns(assessor.c.campaign_id, assessor.c.provider, campaign.c.name)
    .select_from(
        api_key.outerjoin(assessor, assessor.c.id == bindparam("number")).outerjoin(
            campaign, campaign.c.id == assessor.c.campaign_id
        )
    )
    .where(api_key.c.hash == bindparam("hash"))
)


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
    row = connection.execute(_KEY_AND_ASSESSOR, {"hash": hashed(key), "number": assessor_id}).one_or_none()
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


# ---- invitations for assessors


@dataclass(frozen=True)
class Invitation:
    """What a link says: this assessor, in this campaign."""

    campaign_id: int
    campaign: str
    name: str


@dataclass(frozen=True)
class InvitedAssessor:
    """A person with a link. assessor_id, status : None before the link was used."""

    name: str
    created: float
    revoked: bool
    assessor_id: int | None
    status: str | None


def invitations(connection: Connection, campaign_id: int) -> list[InvitedAssessor]:
    """Everybody who was invited, the first first."""
    same = and_(
        assessor.c.campaign_id == invitation.c.campaign_id,
        assessor.c.provider == "link",
        assessor.c.external_id == invitation.c.name,
    )
    query = (
        select(invitation.c.name, invitation.c.created, invitation.c.revoked, assessor.c.id, assessor.c.status)
        .select_from(invitation.outerjoin(assessor, same))
        .where(invitation.c.campaign_id == campaign_id)
        .order_by(invitation.c.created, invitation.c.name)
    )
    return [InvitedAssessor(*row) for row in connection.execute(query)]


def invite(connection: Connection, campaign_id: int, name: str, at: float) -> str:
    """The token of a link for an assessor, to be seen only now. Inviting again makes the former link useless."""
    token = new_token()
    again = update(invitation).where(invitation.c.campaign_id == campaign_id, invitation.c.name == name)
    if not connection.execute(again.values(hash=hashed(token), created=at, revoked=False)).rowcount:
        row = {"hash": hashed(token), "campaign_id": campaign_id, "name": name, "created": at, "revoked": False}
        connection.execute(insert(invitation), row)
    return token


def invite_all(
    connection: Connection, campaign_id: int, names: Sequence[str], at: float, *, renew: bool = False, remedy: str
) -> list[tuple[str, str]]:
    """(name, token) of a new link for each name.

    renew : also for names that have a link, which becomes useless. remedy : what to do about such names otherwise.

    Raises
    ------
    ArgumentError
        A name has a link, and `renew` is False; no link is made.
    """
    earlier = {one.name for one in invitations(connection, campaign_id)}
    if not renew and (repeated := next((name for name in names if name in earlier), None)):
        raise ArgumentError(f"{repeated} is invited already; {remedy}")
    return [(name, invite(connection, campaign_id, name, at)) for name in names]


def find_invitation(connection: Connection, token: str) -> Invitation | None:
    """Whom a link invites to what; None where it is not, or no longer, good."""
    joined = invitation.join(campaign, campaign.c.id == invitation.c.campaign_id)
    query = select(invitation.c.campaign_id, campaign.c.name, invitation.c.name).select_from(joined)
    row = connection.execute(query.where(invitation.c.hash == hashed(token), ~invitation.c.revoked)).one_or_none()
    return None if row is None else Invitation(*row)


def revoke_invitation(connection: Connection, campaign_id: int, name: str) -> bool:
    """Make a link useless; whether it was good before."""
    good = invitation.c.campaign_id == campaign_id, invitation.c.name == name, ~invitation.c.revoked
    return connection.execute(update(invitation).where(*good).values(revoked=True)).rowcount == 1


# ---- sessions of browsers


@dataclass(frozen=True)
class Session:
    """An open session. csrf : what every form of it must carry. seen : when it was last used, up to a minute ago."""

    kind: Kind
    subject_id: int  # an assessor or an account
    csrf: str
    created: float
    seen: float

    def worth_noting(self, at: float) -> bool:
        """Whether `note_use` should be called."""
        return at - self.seen >= SELDOM


_HASH: BindParameter[str] = bindparam("of")
_FIND = select(
    session.c.kind, session.c.subject_id, session.c.csrf, session.c.created, session.c.seen
).where(session.c.hash == _HASH, session.c.seen > bindparam("since"))  # fmt: skip
_NOTE = update(session).where(session.c.hash == _HASH, session.c.seen < bindparam("at")).values(seen=bindparam("at"))
_CLOSE = delete(session).where(session.c.hash == _HASH)


def open_session(connection: Connection, kind: Kind, subject_id: int, at: float) -> tuple[str, str]:
    """A new session; the id for the cookie, and the token for its forms."""
    if kind not in get_args(Kind):
        raise ArgumentError(f"kind={kind!r}: choose {' or '.join(get_args(Kind))}")
    token, csrf = new_token(), new_token()
    row = {"hash": hashed(token), "kind": kind, "subject_id": subject_id, "csrf": csrf, "created": at, "seen": at}
    connection.execute(insert(session), row)
    return token, csrf


def find_session(connection: Connection, token: str, at: float) -> Session | None:
    """The session of a cookie, None where there is none or it was idle too long. Writes nothing: see `note_use`."""
    row = connection.execute(_FIND, {"of": hashed(token), "since": at - IDLE}).one_or_none()
    return None if row is None else Session(*row)


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
    connection.execute(_CLOSE, {"of": hashed(token)})


def close_sessions(connection: Connection, kind: Kind, subject_id: int) -> int:
    """Log somebody out everywhere, such as after a new password; how many sessions that were."""
    mine = session.c.kind == kind, session.c.subject_id == subject_id
    return connection.execute(delete(session).where(*mine)).rowcount


def purge(connection: Connection, at: float) -> int:
    """Forget sessions that were idle too long; how many that were."""
    return connection.execute(delete(session).where(session.c.seen <= at - IDLE)).rowcount


# ---- the server's secret, and settings


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
