"""Accounts of people who sign in by a provider of OpenID Connect: by issuer and subject, never by a name alone."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from qrowd.collect.store.accounts import LONGEST_NAME, ServerRole, add_account, read_account
from qrowd.collect.store.schema import account, identity
from qrowd.errors import ArgumentError


def account_of_identity(connection: Connection, issuer: str, subject: str) -> int | None:
    """The account that was linked with a subject of an issuer."""
    mine = identity.c.issuer == issuer, identity.c.subject == subject
    number: int | None = connection.scalar(select(identity.c.account_id).where(*mine))
    return number


def link_identity(connection: Connection, issuer: str, subject: str, account_id: int, at: float) -> None:
    """Link a subject with an account, which then signs in by it.

    Raises
    ------
    ArgumentError
        The subject is linked with another account.
    """
    earlier = account_of_identity(connection, issuer, subject)
    if earlier == account_id:
        return
    if earlier is not None:
        raise ArgumentError("This sign-in belongs to another account of this server.")
    row = {"issuer": issuer, "subject": subject, "account_id": account_id, "created": at}
    connection.execute(insert(identity), row)


def unlink_identities(connection: Connection, account_id: int) -> None:
    """The account signs in by no provider any more."""
    connection.execute(delete(identity).where(identity.c.account_id == account_id))


def sign_in(connection: Connection, issuer: str, subject: str, name: str, role: ServerRole, at: float) -> int:
    """The account of a subject; the first time a new one, under the name or, where that is taken, name-2 and so on.

    Raises
    ------
    ArgumentError
        The account is disabled.
    """
    number = account_of_identity(connection, issuer, subject)
    if number is None:
        number = add_account(connection, _free_name(connection, name), "", at, role=role)
        link_identity(connection, issuer, subject, number, at)
    found = read_account(connection, number)
    if found is None or found.disabled is not None:
        raise ArgumentError("Your account is disabled. Ask an administrator of this server.")
    return number


def _free_name(connection: Connection, name: str) -> str:
    plain = "-".join("".join(c if c.isprintable() else " " for c in name).split())[: LONGEST_NAME - 8] or "account"
    free, n = plain, 1
    while connection.scalar(select(account.c.id).where(account.c.name == free)) is not None:
        n += 1
        free = f"{plain}-{n}"
    return free
