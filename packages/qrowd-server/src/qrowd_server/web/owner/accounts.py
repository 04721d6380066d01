"""Accounts of the server, for administrators; the page of one's own account; and links to set a password.

GET  /owner/accounts            all         POST: add, link, role, disable, enable, remove
GET  /owner/account             one's own   POST: another password
GET  /owner/password/{token}    a form      POST /owner/password/{token}    sets a password, once
"""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.errors import ArgumentError
from qrowd_server.store import accounts as stored
from qrowd_server.store.accounts import (
    PASSWORD_LINK,
    SERVER_ROLES,
    Account,
    ServerRole,
    add_account,
    disable_account,
    enable_account,
    find_account,
    hash_password,
    password_hash_of,
    password_link,
    read_account,
    remove_account,
    set_password,
    set_server_role,
    verify,
)
from qrowd_server.store.sessions import get_setting, hashed, take_setting
from qrowd_server.web.forms import Form
from qrowd_server.web.owner.context import (
    ADMINISTRATOR,
    MEMBER,
    NO_ACCOUNT,
    OWNER,
    OwnerContext,
    choose_one,
    form,
    page,
)
from qrowd_server.web.owner.login import count_attempt
from qrowd_server.web.problems import Problem, invalid_token
from qrowd_server.web.server import Server, server_of
from qrowd_server.web.templating import render

# ---- all accounts


async def accounts(context: OwnerContext, link: tuple[str, str] | None = None) -> Response:
    """All accounts. link : (name, address) of a link to set a password that was just made."""
    rows = await context.read(stored.accounts)
    return context.render("accounts", tab="accounts", rows=rows, roles=SERVER_ROLES, link=link)


async def change_accounts(context: OwnerContext, fields: Form) -> Response:
    """Add an account, or change one."""
    at, name, role = context.server.clock(), fields.get("name", "").strip(), fields.get("role", "")
    mine = context.owner.name

    def link(connection: Connection, account_id: int) -> str:
        return password_link(connection, account_id, context.server.settings.base_url, at)

    def work(connection: Connection) -> tuple[int, str | None]:
        do = fields.get("do", "")
        if do == "add":
            number = add_account(connection, name, "", at, role=_role(role or "member"))
            return number, link(connection, number)
        account = find_account(connection, name)
        if do in ("disable", "remove", "role") and name == mine:
            raise ArgumentError("name: this is your own account; ask another administrator")
        match do:
            case "link":
                return account.id, link(connection, account.id)
            case "role":
                set_server_role(connection, account.id, _role(role))
            case "disable":
                disable_account(connection, account.id, at)
            case "enable":
                enable_account(connection, account.id)
            case "remove":
                remove_account(connection, account.id)
            case other:
                raise choose_one("do", other, "add", "link", "role", "disable", "enable", "remove")
        return account.id, None

    number, address = await context.server.store.write_async(work)
    context.server.forget(OWNER, number)
    return RedirectResponse("/owner/accounts", 303) if address is None else await accounts(context, (name, address))


def _role(text: str) -> ServerRole:
    role = next((role for role in SERVER_ROLES if role == text), None)
    if role is None:
        raise choose_one("role", text, *SERVER_ROLES)
    return role


# ---- links to set a password


def _account_of_link(connection: Connection, value: str | None, at: float) -> Account:
    """The account of a link; a Problem (404) where it is not good any more."""
    number, _, expiry = (value or "0 0").partition(" ")
    account = read_account(connection, int(number))
    if account is None or account.disabled is not None or not at < float(expiry):
        raise Problem(404, "link", "This link is not valid any more. Ask an administrator of this server for another.")
    return account


async def show_password(request: Request) -> Response:
    """The form behind a link to set a password."""
    server, token = server_of(request), request.path_params["token"]
    return _password_page(request, server, await _of_link(server, token))


async def _of_link(server: Server, token: str) -> Account:
    at = server.clock()
    return await server.store.read_async(
        lambda connection: _account_of_link(connection, get_setting(connection, PASSWORD_LINK + hashed(token)), at)
    )


def _password_page(request: Request, server: Server, account: Account, problem: str = "") -> Response:
    token = request.path_params["token"]
    csrf = server.form_token("password", {"t": hashed(token)})
    content = render("owner/password", csrf=csrf, token=token, name=account.name, problem=problem)
    return HTMLResponse(content, 422 if problem else 200)


async def save_password(request: Request) -> Response:
    """Set the password, and end the sessions of the account; then the login."""
    server, token = server_of(request), request.path_params["token"]
    fields, stamp = await server.read_form(request, "password")
    if stamp["t"] != hashed(token):
        raise invalid_token()
    account, at = await _of_link(server, token), server.clock()
    try:
        password_hash = await _new_hash(fields)
    except ArgumentError as error:
        return _password_page(request, server, account, str(error))

    def work(connection: Connection) -> int:
        number = _account_of_link(connection, take_setting(connection, PASSWORD_LINK + hashed(token)), at).id
        set_password(connection, number, password_hash)
        return number

    server.forget(OWNER, await server.store.write_async(work))
    return RedirectResponse("/owner/login", 303)


async def _new_hash(fields: Form) -> str:
    """The hash of a password that was typed twice."""
    password = fields.get("new", "")
    if password != fields.get("again", ""):
        raise ArgumentError("again: the two passwords differ; type the same one twice")
    return await asyncio.to_thread(hash_password, password)


# ---- one's own account


async def account(context: OwnerContext) -> Response:
    """One's own account: the password, and the providers that it signs in by."""
    number = context.owner.account
    own = await context.read(lambda connection: read_account(connection, number))
    return context.render("account", tab="account", own=own)


async def change_account(context: OwnerContext, fields: Form) -> Response:
    """Another password, which needs the present one."""
    number = context.owner.account
    if number == NO_ACCOUNT:
        raise ArgumentError("You came by the printed link, which belongs to no account. Log in by name and password.")
    await _check_password(context, fields.get("password", ""))
    password_hash = await _new_hash(fields)
    await context.server.store.write_async(lambda connection: set_password(connection, number, password_hash))
    response = RedirectResponse("/owner/account", 303)
    context.server.forget(OWNER, number)
    await context.server.begin(context.request, response, OWNER, number)
    return response


async def _check_password(context: OwnerContext, password: str) -> None:
    """Refuse a form without the present password; an account that has none has proved itself by its provider."""
    number = context.owner.account
    attempt = await count_attempt(context.server, context.request, context.owner.name)
    password_hash = await context.read(lambda connection: password_hash_of(connection, number))
    if password_hash and not await asyncio.to_thread(verify, password_hash, password):
        raise ArgumentError("password: this is not your present password")
    await attempt.forgive()


ROUTES: list[BaseRoute] = [
    page("/owner/accounts", accounts, needs=ADMINISTRATOR),
    form("/owner/accounts", change_accounts, accounts, needs=ADMINISTRATOR),
    page("/owner/account", account, needs=MEMBER),
    form("/owner/account", change_account, account, needs=MEMBER),
    Route("/owner/password/{token}", show_password, methods=["GET"]),
    Route("/owner/password/{token}", save_password, methods=["POST"]),
]
