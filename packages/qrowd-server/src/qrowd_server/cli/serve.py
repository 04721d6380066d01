"""`qrowd serve`: the judging server."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.options import DATABASE, Database, RetentionDays, option
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qrowd_server.campaigns.plan.plan import Plan
    from qrowd_server.store.base import Store

DEMO = "qrowd-demo"
ANY = ("0.0.0.0", "::", "")


def serve(
    demo: Annotated[
        bool, option("--demo", help=f"Serve a small collection under every protocol, in the folder {DEMO}.")
    ] = False,
    database: Database = DATABASE,
    host: Annotated[
        str,
        option(help="Address to listen on; 0.0.0.0 for all of this machine.", metavar="ADDRESS", envvar="QROWD_HOST"),
    ] = "127.0.0.1",
    port: Annotated[int, option(help="Port; 0 for any free port.", min=0, max=65535, envvar="QROWD_PORT")] = 8000,
    base_url: Annotated[
        str | None,
        option(
            help="Address of the server, as browsers see it.",
            metavar="URL",
            show_default="http://HOST:PORT",
            envvar="QROWD_BASE_URL",
        ),
    ] = None,
    trusted_host: Annotated[
        list[str] | None,
        option(help="Further hosts for which the server answers.", metavar="HOSTS", envvar="QROWD_TRUSTED_HOST"),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        option(help="Proxies whose X-Forwarded-For is trusted.", metavar="ADDRESSES", envvar="QROWD_TRUSTED_PROXY"),
    ] = None,
    retention_days: RetentionDays = None,
    per_minute: Annotated[
        int, option(help="Judgments, ratings and steps of an assessor in a minute.", min=1, envvar="QROWD_PER_MINUTE")
    ] = 60,
    show_owner_link: Annotated[
        bool,
        option(
            "--owner-link/--no-owner-link",
            help="Print a link by which the owner logs in, once within a day.",
            envvar="QROWD_OWNER_LINK",
        ),
    ] = True,
) -> None:
    """Serve campaigns to assessors in a browser. Ctrl-C stops the server without loss.

    One setting is read from the environment only: QROWD_SECRET, the key of everything that is signed.
    """
    from qrowd_server.store.engine import open_store
    from qrowd_server.store.sessions import BASE_URL, put_setting
    from qrowd_server.web.owner.sign_in import owner_link
    from qrowd_server.web.serving import Serving
    from qrowd_server.web.serving import serve as run

    if demo:
        if database != DATABASE:
            raise ArgumentError(
                f"--demo has a database of its own, in the folder {DEMO}; leave out --database, and QROWD_DATABASE"
            )
        os.makedirs(DEMO, exist_ok=True)
        database = f"{DEMO}/{DATABASE}"
    port = _free_port(host, port)
    address, hosts, notes = _addresses(host, port, base_url)
    serving = Serving(
        database=database,
        host=host,
        port=port,
        base_url=address,
        trusted_hosts=(*hosts, *(trusted_host or ())),
        trusted_proxies=tuple(trusted_proxy or ()),
        per_minute=per_minute,
        retention_days=retention_days,
        secret=os.environ.get("QROWD_SECRET", "").strip(),
    )
    serving.check()
    with open_store(database) as store:
        store.write(lambda connection: put_setting(connection, BASE_URL, address))
        links = _demo_links(store, address) if demo else []
        if show_owner_link:
            link = store.write(lambda connection: owner_link(connection, address, time.time()))
            links.append(("The owner, once", link))
        width = max((len(text) for text, _ in links), default=0)
        typer.echo(f"Serving {store.database.name} at {address}. Ctrl-C stops; what was acknowledged is safe.\n")
        for text, link in links:
            typer.echo(f"  {text:<{width}}  {link}")
        typer.echo()
        for note in notes:
            typer.echo(note, err=True)
        with suppress(KeyboardInterrupt):  # the usual end
            run(serving, store)
    typer.echo("Stopped.")


def _demo_links(store: Store, base_url: str) -> list[tuple[str, str]]:
    """The demo campaigns, made where they are not there yet, and a link for an assessor to each."""
    from qrowd_server.campaigns.demo import demo_plans
    from qrowd_server.campaigns.running.creation import create_campaign
    from qrowd_server.store.invitation_links import invite
    from qrowd_server.store.materials import find_campaign

    def join_link(connection: Connection, plan: Plan) -> str:
        row = find_campaign(connection, plan.name)
        campaign = row.id if row else create_campaign(connection, plan, time.time())
        return f"{base_url}/join/{invite(connection, campaign, 'ann', time.time())}"

    return [(f"An assessor of {plan.name}", store.write(partial(join_link, plan=plan))) for plan in demo_plans()]


def _free_port(host: str, port: int) -> int:
    """The port, or for 0 any that is free."""
    import socket

    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as one:
            return int(one.getsockname()[1])
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0].lower()
        raise ArgumentError(f"--host {host} --port {port}: {reason}; name others") from None


def _addresses(host: str, port: int, base_url: str | None) -> tuple[str, list[str], list[str]]:
    """The base URL, further hosts that are served, and what to say about them."""
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    notes, hosts = [], []
    if base_url is None:
        if host in ANY:
            host, hosts = "127.0.0.1", [_with_port("localhost", port)]
            notes.append("Listening on all addresses of this machine; name the one that browsers use by --base-url.")
        base_url = f"http://{_with_port(host, port)}"
    base_url = base_url.rstrip("/")
    with suppress(ValueError):  # which is refused where settings are checked
        parts = urlsplit(base_url)
        shown = parts.hostname or ""
        local = shown == "localhost" or shown.endswith(".localhost")
        with suppress(ValueError):
            local = local or ip_address(shown).is_loopback
        if parts.scheme == "http" and not local:
            notes.append(
                "Warning: by plain http, others on the network can read passwords, sessions and answers. "
                "Put a proxy with TLS before the server, and name its https address by --base-url."
            )
    return base_url, hosts, notes


def _with_port(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return shown if port == 80 else f"{shown}:{port}"
