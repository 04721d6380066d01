"""Accounts of people who sign in by a provider of OpenID Connect: by issuer and subject, never by a name alone."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select

from qrowd.errors import ArgumentError
from qrowd_server.store.accounts import LONGEST_NAME, add_account, read_account
from qrowd_server.store.schema import account, identity


def sign_in(connection: Connection, issuer: str, subject: str, name: str, at: float) -> int:
    """The account of a subject; the first time a new one, under the name or, where that is taken, name-2 and so on.

    Raises
    ------
    ArgumentError
        The account is disabled.
    """
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
    plain = "-".join("".join(c if c.isprintable() else " " for c in name).split())[: LONGEST_NAME - 8] or "account"
    free, n = plain, 1
    while connection.scalar(select(account.c.id).where(account.c.name == free)) is not None:
        n += 1
        free = f"{plain}-{n}"
    return free
