"""`qrowd serve`: the judging server."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.campaign import Database
from qrowd.cli.options import DATABASE, server_extra

if TYPE_CHECKING:
    from qrowd.collect.store.base import Store

DEMO = "qrowd-demo"


def serve(
    demo: Annotated[
        bool, typer.Option("--demo", help=f"A small collection under every protocol, in the folder {DEMO}.")
    ] = False,
    database: Database = DATABASE,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 for any that is free.", min=0, max=65535)] = 8000,
    base_url: Annotated[
        str | None, typer.Option(help="The address as browsers know it, where a proxy stands in front.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Server processes; more than 1 needs PostgreSQL.", min=1)] = 1,
    trusted_host: Annotated[list[str] | None, typer.Option(help="Another host to answer for.")] = None,
    trusted_proxy: Annotated[list[str] | None, typer.Option(help="A proxy whose X-Forwarded-For is believed.")] = None,
    key_host: Annotated[
        list[str] | None, typer.Option(help="Another host that may be asked for the keys of signed links.")
    ] = None,
    per_minute: Annotated[int, typer.Option(help="Judgments that one assessor may send per minute.", min=1)] = 60,
) -> None:
    """Collect judgments: magnitudes, grades, preferences. Ctrl-C stops it; what was acknowledged is safe."""
    with server_extra():
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

    links = []
    for plan in demo_plans():
        row = store.read(lambda connection, name=plan.name: find_campaign(connection, name))  # type: ignore[misc]
        id = row.id if row else store.write(lambda c, plan=plan: create_campaign(c, plan, time.time()))  # type: ignore[misc]
        token = store.write(lambda connection, id=id: invite(connection, id, "ann", time.time()))  # type: ignore[misc]
        links.append((f"An assessor of {plan.name}", f"{base_url}/join/{token}"))
    return links


def _free_port(host: str) -> int:
    import socket

    with socket.socket() as one:
        one.bind((host, 0))
        return int(one.getsockname()[1])
