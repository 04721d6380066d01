"""`qrowd serve`: the judging server."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.options import DATABASE, Database, option, server_extra

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qrowd.collect.campaigns.plan import Plan
    from qrowd.collect.store.base import Store

DEMO = "qrowd-demo"


def serve(
    demo: Annotated[
        bool, option("--demo", help=f"Serve a small collection under every protocol, in the folder {DEMO}.")
    ] = False,
    database: Database = DATABASE,
    host: Annotated[str, option(help="Address to listen on.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, option(help="Port; 0 for any free port.", min=0, max=65535)] = 8000,
    base_url: Annotated[
        str | None,
        option(help="Address of the server, as browsers see it.", metavar="URL", show_default="http://HOST:PORT"),
    ] = None,
    workers: Annotated[int, option(help="Number of server processes; more than 1 needs PostgreSQL.", min=1)] = 1,
    trusted_host: Annotated[
        list[str] | None, option(help="Further hosts for which the server answers.", metavar="HOSTS")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None, option(help="Proxies whose X-Forwarded-For is trusted.", metavar="ADDRESSES")
    ] = None,
    key_host: Annotated[
        list[str] | None, option(help="Further hosts from which keys of signed links are fetched.", metavar="HOSTS")
    ] = None,
    per_minute: Annotated[int, option(help="Judgments that one assessor may send per minute.", min=1)] = 60,
) -> None:
    """Serve campaigns to assessors in a browser. Ctrl-C stops the server without loss."""
    with server_extra():
        from qrowd.collect.store.accounts import BASE_URL, put_setting
        from qrowd.collect.web.owner import owner_link
        from qrowd.collect.web.serving import Serving
        from qrowd.collect.web.serving import serve as run
    if demo:
        os.makedirs(DEMO, exist_ok=True)
        database = os.path.join(DEMO, DATABASE)
    port = port or _free_port(host)
    serving = Serving(
        database=database,
        host=host,
        port=port,
        base_url=(base_url or f"http://{host}:{port}").rstrip("/"),
        workers=workers,
        trusted_hosts=tuple(trusted_host or ()),
        trusted_proxies=tuple(trusted_proxy or ()),
        key_hosts=tuple(key_host or ()),
        per_minute=per_minute,
        secret=os.environ.get("QROWD_SECRET", ""),
    )
    store = serving.open()
    try:
        store.write(lambda connection: put_setting(connection, BASE_URL, serving.base_url))
        links = _demo_links(store, serving.base_url) if demo else []
        link = store.write(lambda connection: owner_link(connection, serving.base_url, time.time()))
        links.append(("The owner, once", link))
        width = max(len(text) for text, _ in links)
        typer.echo(f"Serving {store.url.render_as_string()}. Ctrl-C stops; what was acknowledged is safe.\n")
        for text, link in links:
            typer.echo(f"  {text:<{width}}  {link}")
        typer.echo("")
        with suppress(KeyboardInterrupt):  # the usual end
            run(serving, store)
    finally:
        store.close()
    typer.echo("Stopped.")


def _demo_links(store: Store, base_url: str) -> list[tuple[str, str]]:
    """The demo campaigns, made where they are not there yet, and a link for an assessor to each."""
    from qrowd.collect.campaigns.creation import create_campaign
    from qrowd.collect.campaigns.demo import demo_plans
    from qrowd.collect.store.accounts import invite
    from qrowd.collect.store.materials import find_campaign

    def join_link(connection: Connection, plan: Plan) -> str:
        row = find_campaign(connection, plan.name)
        campaign = row.id if row else create_campaign(connection, plan, time.time())
        return f"{base_url}/join/{invite(connection, campaign, 'ann', time.time())}"

    return [(f"An assessor of {plan.name}", store.write(partial(join_link, plan=plan))) for plan in demo_plans()]


def _free_port(host: str) -> int:
    import socket

    with socket.socket() as one:
        one.bind((host, 0))
        return int(one.getsockname()[1])
