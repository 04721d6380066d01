"""Accounts: who may log in, with what password, and what they may do.

Passwords are hashed with argon2id. An account has a role on the server, and another one in each campaign that it was
named in. What ends an account's rights also ends its sessions.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from qrowd.errors import ArgumentError
from qrowd_server.store.base import Store, StoreError, upsert
from qrowd_server.store.invitation_links import hidden_characters
from qrowd_server.store.schema import account, identity, login_attempt, member
from qrowd_server.store.sessions import close_sessions, hashed, new_token, put_setting

if TYPE_CHECKING:
    from argon2 import PasswordHasher

ATTEMPTS = 10  # logins per account, and per address, that may fail
WITHIN = 15 * 60.0  # in so many seconds
SHORTEST = 10  # characters of a password
LONGEST = 1000
LONGEST_NAME = 100  # characters of an account's name
NAME = re.compile(rf"[^\s\x00-\x1f\x7f]{{1,{LONGEST_NAME}}}")

PASSWORD_LINK = "password_link:"  # settings that are links to set a password
LINK_SECONDS = 24 * 3600.0  # for which such a link may be used

ServerRole = Literal["administrator", "member"]
CampaignRole = Literal["owner", "viewer"]
#: Each may do what the ones after it may.
SERVER_ROLES: tuple[ServerRole, ...] = get_args(ServerRole)
CAMPAIGN_ROLES: tuple[CampaignRole, ...] = get_args(CampaignRole)

COMMAND_LINE = "command line"  # the account of events that a command caused; no account has a blank in its name


class TooManyAttemptsError(StoreError):
    """Too many logins failed; `retry_after` seconds from now there may be another."""

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"too many attempts to log in; try again in {retry_after / 60:.0f} minutes")


# ---- passwords


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
    return bool(password_hash)


@cache
def _nobody() -> str:
    return _hasher(False).hash(new_token())


# ---- accounts


Account: TypeAlias = Row[Any]  # columns of the table; has_password : else it signs in by a provider
Member: TypeAlias = Row[Any]  # an account that was named in a campaign: account_id, name, role
_ACCOUNTS = select(
    account.c.id,
    account.c.name,
    account.c.created,
    account.c.role,
    account.c.disabled,
    (account.c.password_hash != "").label("has_password"),
)


def accounts(connection: Connection) -> Sequence[Account]:
    """All accounts, by name."""
    return connection.execute(_ACCOUNTS.order_by(account.c.name)).all()


def read_account(connection: Connection, account_id: int) -> Account | None:
    """The account of a number, if there is one."""
    return connection.execute(_ACCOUNTS.where(account.c.id == account_id)).one_or_none()


def find_account(connection: Connection, name: str) -> Account:
    """The account of a name."""
    row = connection.execute(_ACCOUNTS.where(account.c.name == name)).one_or_none()
    if row is None:
        raise ArgumentError(f"account {name[:100]!r}: there is none of this name; qrowd account list shows all")
    return row


def check_new_account(connection: Connection, name: str) -> None:
    """Refuse a name that no new account may have."""
    if not NAME.fullmatch(name) or hidden_characters(name):
        raise ArgumentError(f"account {name[:40]!r}: give a name of 1 to 100 visible characters without blanks")
    if connection.scalar(select(account.c.id).where(account.c.name == name)) is not None:
        raise ArgumentError(f"account {name!r}: there is one of this name already; choose another name")


def add_account(
    connection: Connection, name: str, password_hash: str, at: float, *, role: ServerRole = "member"
) -> int:
    """A new account; its number, which no account had before. password_hash : "" for none yet."""
    check_new_account(connection, name)
    number = secrets.randbits(62)
    row = {"id": number, "name": name, "password_hash": password_hash, "created": at, "role": role}
    try:
        connection.execute(insert(account), row)
    except IntegrityError:  # another process was faster
        raise ArgumentError(f"account {name!r}: there is one of this name already") from None
    return number


def set_password(connection: Connection, account_id: int, password_hash: str) -> None:
    """Another password; every session of the account ends."""
    connection.execute(update(account).where(account.c.id == account_id).values(password_hash=password_hash))
    close_sessions(connection, "owner", account_id)


def password_link(connection: Connection, account_id: int, base_url: str, at: float) -> str:
    """A link by which the password of an account can be set, once, within a day; only its hash is kept."""
    token = new_token()
    put_setting(connection, PASSWORD_LINK + hashed(token), f"{account_id} {at + LINK_SECONDS}")
    return f"{base_url.rstrip('/')}/owner/password/{token}"


def set_server_role(connection: Connection, account_id: int, role: ServerRole) -> None:
    """Another role on the server."""
    connection.execute(update(account).where(account.c.id == account_id).values(role=role))


def disable_account(connection: Connection, account_id: int, at: float | None) -> None:
    """Nobody logs in by it any more, and its sessions end; its roles stay. at : now; None lets it log in again."""
    connection.execute(update(account).where(account.c.id == account_id).values(disabled=at))
    close_sessions(connection, "owner", account_id)


def remove_account(connection: Connection, account_id: int) -> None:
    """Remove it with its roles and sessions. The log keeps its name with what it did."""
    close_sessions(connection, "owner", account_id)
    connection.execute(delete(account).where(account.c.id == account_id))


# ---- roles in campaigns


def members(connection: Connection, campaign_id: int) -> Sequence[Member]:
    """Who was named in a campaign, by name; administrators need not be."""
    query: Select[Any] = select(member.c.account_id, account.c.name, member.c.role).select_from(member.join(account))
    return connection.execute(query.where(member.c.campaign_id == campaign_id).order_by("name")).all()


def campaign_roles(connection: Connection, account_id: int) -> dict[int, CampaignRole]:
    """{campaign: role} of an account."""
    query = select(member.c.campaign_id, member.c.role).where(member.c.account_id == account_id)
    return {row[0]: row[1] for row in connection.execute(query)}


def set_member(connection: Connection, campaign_id: int, account_id: int, role: CampaignRole | None) -> None:
    """Give an account a role in a campaign; None takes it away."""
    if role is None:
        mine = member.c.account_id == account_id, member.c.campaign_id == campaign_id
        connection.execute(delete(member).where(*mine))
        return
    upsert(connection, member, [{"campaign_id": campaign_id, "account_id": account_id, "role": role}])


# ---- logging in


def check_login(store: Store, name: str, password: str, address: str, at: float) -> int | None:
    """The account, or None where name and password do not belong together; one that is disabled is as one that is not.

    The password is verified between two transactions, so that nobody waits for it to write.
    """

    def begin(connection: Connection) -> tuple[int, Any]:
        columns = select(account.c.id, account.c.password_hash)
        query = columns.where(account.c.name == name, account.c.disabled.is_(None))
        return begin_attempt(connection, name, address, at), connection.execute(query).one_or_none()

    number, row = store.write(begin)
    if not verify(None if row is None else row.password_hash, password):
        return None
    store.write(lambda connection: forgive(connection, number))
    return int(row.id)


def begin_attempt(connection: Connection, name: str, address: str, at: float) -> int:
    """Count an attempt, as failed until `forgive`; its number.

    Counting comes first, so that a hundred guesses sent at once are a hundred guesses.
    """
    forget_attempts(connection, at)
    row = {"name": name, "address": address, "time": at}
    number = int(connection.execute(insert(login_attempt).returning(login_attempt.c.id), row).scalar_one())
    recent = login_attempt.c.time > at - WITHIN
    for column, value in ((login_attempt.c.name, name), (login_attempt.c.address, address)):
        count, first = connection.execute(
            select(func.count(), func.min(login_attempt.c.time)).where(column == value, recent)
        ).one()
        if count > ATTEMPTS:
            raise TooManyAttemptsError(first + WITHIN - at)
    return number


def forget_attempts(connection: Connection, at: float) -> None:
    """Remove names and addresses of attempts that no longer count."""
    connection.execute(delete(login_attempt).where(login_attempt.c.time <= at - WITHIN))


def forgive(connection: Connection, number: int) -> None:
    """An attempt did not fail."""
    connection.execute(delete(login_attempt).where(login_attempt.c.id == number))


def sign_in(connection: Connection, issuer: str, subject: str, name: str, at: float) -> int:
    """The account of a subject; the first time a new one, under the name or, where that is taken, name-2 and so on."""
    mine = identity.c.issuer == issuer, identity.c.subject == subject
    number: int | None = connection.scalar(select(identity.c.account_id).where(*mine))
    if number is None:
        number = add_account(connection, _free_name(connection, name), "", at)
        row = {"issuer": issuer, "subject": subject, "account_id": number, "created": at}
        connection.execute(insert(identity), row)
    signed_in = read_account(connection, number)
    if signed_in is None or signed_in.disabled is not None:
        raise ArgumentError("Your account is disabled. Ask an administrator of this server.")
    return number


def _free_name(connection: Connection, name: str) -> str:
    seen = name.translate({ord(hidden): " " for hidden in hidden_characters(name)})
    plain = "-".join(seen.split())[: LONGEST_NAME - 8] or "account"
    free, n = plain, 1
    while connection.scalar(select(account.c.id).where(account.c.name == free)) is not None:
        n += 1
        free = f"{plain}-{n}"
    return free
