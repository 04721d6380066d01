"""`qrowd account`: who may log in to the judging server, also while it runs."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.options import option
from qrowd.cli.output import Output, deliver
from qrowd.errors import ArgumentError
from qrowd_server.cli.database import open_campaigns, server_address

if TYPE_CHECKING:
    from qrowd_server.store.base import Store

Name = Annotated[str, typer.Argument(help="Name of the account.")]
AsLink = Annotated[
    bool, option("--link", help="Do not ask for a password: print a link by which the person sets one, within a day.")
]


def add(
    name: Name,
    role: Annotated[
        Literal["administrator", "member"],
        option(help="Role on the server: everything; create campaigns; only what it is named for in campaigns."),
    ] = "member",
    link: AsLink = False,
    database: options.Database = options.DATABASE,
) -> None:
    """Add an account; it asks for the password."""
    from qrowd_server.store.accounts import add_account, check_new_account

    with open_campaigns(database, write=True) as store:
        store.read(lambda connection: check_new_account(connection, name))
        password = "" if link else new_password()
        number = store.write(lambda connection: add_account(connection, name, password, time.time(), role=role))
        if link:
            typer.echo(_password_link(store, number))
            return
    typer.echo(f"{name} can log in at /owner/login")


def list_(database: options.Database = options.DATABASE, output: Output = None) -> None:
    """List all accounts with their roles."""
    from qrowd_server.cli.campaign_tables import all_accounts
    from qrowd_server.store.accounts import accounts

    with open_campaigns(database) as store:
        rows = store.read(accounts)
    deliver(all_accounts(rows), output)


def change(
    name: Name,
    link: AsLink = False,
    disabled: Annotated[
        bool | None,
        option("--disable/--enable", help="Whether anybody can log in with it. Disabling it ends its sessions."),
    ] = None,
    database: options.Database = options.DATABASE,
) -> None:
    """Disable an account or enable it, or print a link for a password; without an option it asks for one."""
    from qrowd_server.store import accounts

    with open_campaigns(database, write=True, create=False) as store:
        number = store.read(lambda connection: accounts.find_account(connection, name)).id
        if link:
            typer.echo(_password_link(store, number))
        elif disabled is None:
            password_hash = new_password()
            store.write(lambda connection: accounts.set_password(connection, number, password_hash))
            typer.echo(f"{name} has another password; sessions of this account have ended")
        if disabled:
            store.write(lambda connection: accounts.disable_account(connection, number, time.time()))
            typer.echo(f"{name} is disabled")
        elif disabled is not None:
            store.write(lambda connection: accounts.disable_account(connection, number, None))
            typer.echo(f"{name} may log in")


def remove(name: Name, database: options.Database = options.DATABASE) -> None:
    """Remove an account with its roles and sessions; logs of campaigns keep its name."""
    from qrowd_server.store.accounts import find_account, remove_account

    with open_campaigns(database, write=True, create=False) as store:
        number = store.read(lambda connection: find_account(connection, name)).id
        store.write(lambda connection: remove_account(connection, number))
    typer.echo(f"{name} is removed")


def new_password() -> str:
    """The hash of a password that is typed twice, or for scripts is in the environment."""
    from qrowd_server.store.accounts import hash_password

    typed = os.environ.get("QROWD_PASSWORD")
    if not typed:
        if not sys.stdin.isatty():
            raise ArgumentError("no terminal asks for the password; set QROWD_PASSWORD, or print a link by --link")
        typed = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    return hash_password(typed)


def _password_link(store: Store, number: int) -> str:
    from qrowd_server.store.accounts import password_link

    address = server_address(store)
    return store.write(lambda connection: password_link(connection, number, address, time.time()))


account = command_group("Add, list and change accounts of the judging server.", add, list_, change, remove)
