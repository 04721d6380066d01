"""Login, accounts and keys: passwords, the link that the server prints when it starts, and links to set a password.

GET  /owner/login               the form         POST /owner/login              makes a session
GET  /owner/enter/{token}       one button       POST /owner/enter/{token}      makes a session, once
POST /owner/logout              ends it
GET  /owner/accounts            all              POST: add, link, role, disable, enable, remove
GET  /owner/account             one's own        POST: another password
GET  /owner/password/{token}    a form           POST /owner/password/{token}   sets a password, once
GET  /owner/keys                keys of programs    POST: make, revoke
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

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
    TooManyAttemptsError,
    add_account,
    campaign_roles,
    check_login,
    disable_account,
    find_account,
    hash_password,
    password_link,
    read_account,
    remove_account,
    set_password,
    set_server_role,
)
from qrowd_server.store.materials import campaigns
from qrowd_server.store.sessions import (
    ApiKey,
    api_keys,
    get_setting,
    hashed,
    make_api_key,
    new_token,
    put_setting,
    revoke_api_key,
    take_setting,
)
from qrowd_server.web.forms import Form
from qrowd_server.web.logs import note
from qrowd_server.web.owner.context import (
    ADMINISTRATOR,
    MEMBER,
    NO_ACCOUNT,
    OWNER,
    OWNER_OF,
    OwnerContext,
    choose_one,
    form,
    owner_of,
    page,
    role_in,
)
from qrowd_server.web.owner.oidc import oidc_settings
from qrowd_server.web.problems import Problem, not_found, problem_of
from qrowd_server.web.rendering import render
from qrowd_server.web.security import client_address, client_network
from qrowd_server.web.server import Server, server_of

GOOD_FOR = 24 * 3600.0  # seconds that a printed link may be used
LINK = "owner_link:"
LONGEST_NAME = 200
LONGEST_KEY_NAME = 100


# ---- the printed link


def owner_link(connection: Connection, base_url: str, at: float) -> str:
    """A link that lets one browser in as the owner, once, within a day; only its hash is kept."""
    token = new_token()
    put_setting(connection, LINK + hashed(token), str(at + GOOD_FOR))
    return f"{base_url.rstrip('/')}/owner/enter/{token}"


async def show_link(request: Request) -> Response:
    """The page behind the link: a button, because programs that look at links must not use it up."""
    server, token = server_of(request), request.path_params["token"]
    _check_expiry(server, await server.read(get_setting, LINK + hashed(token)))
    return _page("enter", csrf=server.link_token("owner", token), token=token)


async def enter(request: Request) -> Response:
    """The button was pressed: a session begins, and the link cannot be used again."""
    server, token = server_of(request), request.path_params["token"]
    await server.read_link_form(request, "owner")
    _check_expiry(server, await server.write(take_setting, LINK + hashed(token)))
    response = RedirectResponse("/owner", 303)
    await server.begin(request, response, OWNER, NO_ACCOUNT)
    return response


def _check_expiry(server: Server, expiry: str | None) -> None:
    """Refuse a link that expired; None : there is no such link."""
    if expiry is None or server.clock() >= float(expiry):
        message = "This link is not valid any more. Log in, or start the server again for another one."
        raise Problem(404, "link", message)


# ---- accounts


async def show_login(request: Request) -> Response:
    """The form; an owner who is logged in goes to the campaigns."""
    if await owner_of(request) is not None:
        return RedirectResponse("/owner", 303)
    return _login_page(request)


async def login(request: Request) -> Response:
    """Check name and password; after ten failures in 15 minutes, that name and that address have to wait."""
    server = server_of(request)
    fields, _ = await server.read_form(request, "login")
    name, password = fields.get("name", "").strip()[:LONGEST_NAME], fields.get("password", "")
    address, network = client_address(request.scope), client_network(request.scope)
    problem, account = Problem(422, "login", "Name and password do not belong together."), None
    try:
        account = await asyncio.to_thread(check_login, server.store, name, password, network, server.clock())
    except TooManyAttemptsError as error:
        problem = problem_of(error)
    if account is None:
        note("login failed", level=logging.WARNING, address=address)
        page = _login_page(request, name=name, problem=problem.message)
        page.status_code = problem.status
        page.headers.update(problem.headers)
        return page
    response = RedirectResponse("/owner", 303)
    await server.begin(request, response, OWNER, account)
    return response


async def logout(context: OwnerContext, fields: Form) -> Response:
    """End the session."""
    response = RedirectResponse("/owner/login", 303)
    await context.server.end(context.request, response, OWNER)
    return response


def _login_page(request: Request, *, name: str = "", problem: str = "") -> Response:
    server = server_of(request)
    csrf, settings = server.form_token("login", {}), oidc_settings(server.settings.environ)
    return _page("login", csrf=csrf, name=name, problem=problem, provider=settings.issuer if settings else "")


def _page(template: str, **values: str) -> Response:
    return HTMLResponse(render(f"owner/{template}", **values))


# ---- all accounts


async def accounts(context: OwnerContext, link: tuple[str, str] | None = None) -> Response:
    """All accounts. link : (name, address) of a link to set a password that was just made."""
    rows = await context.read(stored.accounts)
    return context.render("accounts", rows=rows, roles=SERVER_ROLES, link=link)


async def change_accounts(context: OwnerContext, fields: Form) -> Response:
    """Add an account, or change one."""
    at, name, role = context.now, fields.get("name", "").strip(), fields.get("role", "")
    mine = context.owner.name

    def work(connection: Connection) -> str | None:
        do = fields.get("do", "")
        account_id = (
            add_account(connection, name, "", at, role=_role(role or "member"))
            if do == "add"
            else find_account(connection, name).id
        )
        if do in ("disable", "remove", "role") and name == mine:
            raise ArgumentError("name: this is your own account; ask another administrator")
        match do:
            case "add" | "link":
                return password_link(connection, account_id, context.server.settings.base_url, at)
            case "role":
                set_server_role(connection, account_id, _role(role))
            case "disable":
                disable_account(connection, account_id, at)
            case "enable":
                disable_account(connection, account_id, None)
            case "remove":
                remove_account(connection, account_id)
            case other:
                raise choose_one("do", other, "add", "link", "role", "disable", "enable", "remove")
        return None

    address = await context.write(work)
    return RedirectResponse("/owner/accounts", 303) if address is None else await accounts(context, (name, address))


def _role(text: str) -> ServerRole:
    role = next((role for role in SERVER_ROLES if role == text), None)
    if role is None:
        raise choose_one("role", text, *SERVER_ROLES)
    return role


# ---- links to set a password


def _account_of_link(
    connection: Connection, find: Callable[[Connection, str], str | None], token: str, at: float
) -> Account:
    """The account of a link; a Problem (404) where it is not good any more. find : `get_setting` or `take_setting`."""
    number, _, expiry = (find(connection, PASSWORD_LINK + hashed(token)) or "0 0").partition(" ")
    account = read_account(connection, int(number))
    if account is None or account.disabled is not None or not at < float(expiry):
        raise Problem(404, "link", "This link is not valid any more. Ask an administrator of this server for another.")
    return account


async def show_password(request: Request) -> Response:
    """The form behind a link to set a password."""
    server, token = server_of(request), request.path_params["token"]
    account = await server.read(_account_of_link, get_setting, token, server.clock())
    return _password_page(request, server, account)


def _password_page(request: Request, server: Server, account: Account, problem: str = "") -> Response:
    token = request.path_params["token"]
    csrf = server.link_token("password", token)
    content = render("owner/password", csrf=csrf, token=token, name=account.name, problem=problem)
    return HTMLResponse(content, 422 if problem else 200)


async def save_password(request: Request) -> Response:
    """Set the password, and end the sessions of the account; then the login."""
    server, token = server_of(request), request.path_params["token"]
    fields = await server.read_link_form(request, "password")
    at = server.clock()
    account = await server.read(_account_of_link, get_setting, token, at)
    try:
        password_hash = await _new_hash(fields)
    except ArgumentError as error:
        return _password_page(request, server, account, str(error))

    def work(connection: Connection) -> None:
        set_password(connection, _account_of_link(connection, take_setting, token, at).id, password_hash)

    await server.write(work)
    return RedirectResponse("/owner/login", 303)


async def _new_hash(fields: Form) -> str:
    """The hash of a password that was typed twice."""
    password = fields.get("new", "")
    if password != fields.get("again", ""):
        raise ArgumentError("again: the two passwords differ; type the same one twice")
    return await asyncio.to_thread(hash_password, password)


# ---- one's own account


async def account(context: OwnerContext) -> Response:
    """One's own account: the password."""
    number = context.owner.account
    own = await context.read(read_account, number)
    return context.render("account", own=own)


async def change_account(context: OwnerContext, fields: Form) -> Response:
    """Another password, which needs the present one."""
    number = context.owner.account
    if number == NO_ACCOUNT:
        raise ArgumentError("You came by the printed link, which belongs to no account. Log in by name and password.")
    await _check_password(context, fields.get("password", ""))
    password_hash = await _new_hash(fields)
    await context.write(set_password, number, password_hash)
    response = RedirectResponse("/owner/account", 303)
    await context.server.begin(context.request, response, OWNER, number)
    return response


async def _check_password(context: OwnerContext, password: str) -> None:
    """Refuse a form without the present password; an account that has none has proved itself by its provider."""
    server, number = context.server, context.owner.account
    own = await context.read(read_account, number)
    network = client_network(context.request.scope)
    if own is not None and own.has_password:
        name = context.owner.name
        if await asyncio.to_thread(check_login, server.store, name, password, network, server.clock()) is None:
            raise ArgumentError("password: this is not your present password")


# ---- keys for programs


async def keys(context: OwnerContext, new: str = "") -> Response:
    """The valid keys of campaigns that the account owns. new : a key that was just made."""
    all_campaigns = context.may(ADMINISTRATOR)

    def work(connection: Connection) -> tuple[dict[int, str], list[ApiKey]]:
        roles = campaign_roles(connection, context.owner.account)
        names = {row.id: row.name for row in campaigns(connection) if all_campaigns or roles.get(row.id) == OWNER_OF}
        return names, [key for key in api_keys(connection) if all_campaigns or key.campaign_id in names]

    names, valid = await context.read(work)
    return context.render("keys", keys=valid, names=names, made=new)


async def change_keys(context: OwnerContext, fields: Form) -> Response:
    """Make a key, which is shown in the answer and never again; or revoke one."""
    name, of, at = fields.get("name", "").strip(), fields.get("campaign", ""), context.now
    write = context.write
    match fields.get("do", ""):
        case "make":
            if not 1 <= len(name) <= LONGEST_KEY_NAME:
                raise ArgumentError(f"name: say what the key is for, in 1 to {LONGEST_KEY_NAME} characters")
            campaign_id = (await context.server.campaign(of)).id if of else None
            await _check_owns(context, campaign_id)
            return await keys(
                context, await write(make_api_key, name, at, campaign_id=campaign_id, account_id=context.owner.account)
            )
        case "revoke" if fields.get("key", "").isascii() and fields.get("key", "").isdigit():
            number = int(fields["key"][:18])
            valid = await context.read(api_keys)
            if (key := next((one for one in valid if one.id == number), None)) is not None:
                await _check_owns(context, key.campaign_id)
            await write(revoke_api_key, number)
            return RedirectResponse("/owner/keys", 303)
    raise choose_one("do", fields.get("do", ""), "make", "revoke")


async def _check_owns(context: OwnerContext, campaign_id: int | None) -> None:
    """Refuse a key of a campaign that the account does not own, or of all campaigns; administrators own all."""
    if campaign_id is None and not context.may(ADMINISTRATOR):
        raise ArgumentError("campaign: choose one; only administrators make keys for all campaigns")
    if campaign_id is not None and await role_in(context.server, context.owner, campaign_id) != OWNER_OF:
        raise not_found()


ROUTES: list[BaseRoute] = [
    Route("/owner/login", show_login),
    Route("/owner/login", login, methods=["POST"]),
    Route("/owner/enter/{token}", show_link),
    Route("/owner/enter/{token}", enter, methods=["POST"]),
    form("/owner/logout", logout, needs=MEMBER),
    page("/owner/accounts", accounts, needs=ADMINISTRATOR),
    form("/owner/accounts", change_accounts, accounts, needs=ADMINISTRATOR),
    page("/owner/account", account, needs=MEMBER),
    form("/owner/account", change_account, account, needs=MEMBER),
    Route("/owner/password/{token}", show_password),
    Route("/owner/password/{token}", save_password, methods=["POST"]),
    page("/owner/keys", keys, needs=MEMBER),
    form("/owner/keys", change_keys, keys, needs=MEMBER),
]
