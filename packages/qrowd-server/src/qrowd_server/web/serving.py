"""From a database's address to a running server, which removes by itself what is due.

That is: idle sessions, addresses of failed logins, drafts that nobody saved for a day, names at the end of their time.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from secrets import token_bytes

from sqlalchemy import Connection
from starlette.applications import Starlette

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.privacy import apply_retention
from qrowd_server.campaigns.running.question_batches import EVERY, look_again
from qrowd_server.store.accounts import WITHIN, forget_attempts
from qrowd_server.store.base import Store, StoreError
from qrowd_server.store.sessions import purge, secret
from qrowd_server.web import api, owner
from qrowd_server.web.app import make_app
from qrowd_server.web.logs import set_up_logs
from qrowd_server.web.owner.oidc import oidc_settings
from qrowd_server.web.rendering import compile_templates
from qrowd_server.web.security import ServerSettings

log = logging.getLogger("qrowd_server.keeping")


def keep_once(store: Store, at: float, retention_days: float | None) -> dict[str, int]:
    """Remove what is due: {campaign: people whose names were removed}."""

    def work(connection: Connection) -> None:
        purge(connection, at)
        forget_attempts(connection, at)

    store.write(work)
    done = apply_retention(store, at, default=retention_days)
    for campaign, n in done.items():
        log.info("names were removed at the end of the retention time: campaign %s, %d people", campaign, n)
    return done


async def repeat(seconds: float, work: Callable[[], object]) -> None:
    """Do a work in a thread, so that no answer waits for it, and again after so many seconds."""
    while True:
        try:
            await asyncio.to_thread(work)
        except StoreError as error:
            log.warning("the store failed in what the server does by itself: %s", error)
        await asyncio.sleep(seconds)


SWITCH = 0.0002  # seconds after which a thread that computes lets another one go on: a long page holds up no answers
GARBAGE = (20_000, 20, 50)  # objects, and rounds, after which garbage is searched for


@dataclass(frozen=True)
class Serving:
    """The settings of a server process; `check` refuses wrong ones before anything is opened or shown.

    database : of the store. base_url : the address as browsers know it. trusted_hosts, trusted_proxies : as in
    `ServerSettings`. per_minute : forms of one assessor.
    retention_days : for campaigns that do not say how long names are kept after their end; None for ever.
    """

    database: str
    host: str = "127.0.0.1"
    port: int = 8000
    base_url: str = "http://127.0.0.1:8000"
    trusted_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    per_minute: int = 60
    secret: str = field(default="", repr=False)  # hexadecimal; "" for the one that the store holds
    retention_days: float | None = None

    def settings(self, secret: bytes) -> ServerSettings:
        """The settings of the application."""
        return ServerSettings(
            base_url=self.base_url,
            secret=secret,
            trusted_hosts=self.trusted_hosts,
            trusted_proxies=self.trusted_proxies,
            judgments_per_minute=self.per_minute,
        )

    def check(self) -> None:
        """Refuse wrong settings."""
        try:
            secret = bytes.fromhex(self.secret) if self.secret else token_bytes(32)
        except ValueError:
            raise ArgumentError(
                "secret: expected 64 or more hexadecimal digits; `openssl rand -hex 32` makes them"
            ) from None
        oidc_settings(self.settings(secret).environ)


def make_server(serving: Serving, store: Store) -> Starlette:
    """The whole application over a store, which is closed when the server stops."""
    settings = serving.settings(bytes.fromhex(serving.secret) if serving.secret else store.write(secret))
    service = JudgingService(store)
    service.retention_days = days = serving.retention_days
    app = make_app(service, store, settings=settings, routes=[*owner.ROUTES, *api.ROUTES], large=owner.LARGE)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        clock = app.state.server.clock
        works = (EVERY, lambda: look_again(store, clock())), (WITHIN, lambda: keep_once(store, clock(), days))
        tasks = [asyncio.create_task(repeat(seconds, work)) for seconds, work in works]
        tasks.append(asyncio.create_task(asyncio.to_thread(compile_templates)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            store.close()

    app.router.lifespan_context = lifespan
    return app


def serve(serving: Serving, store: Store) -> None:
    """Serve until interrupted; what was acknowledged by then is safe."""
    import uvicorn

    set_up_logs()
    # Threads take turns often, and the search for garbage, which took up to .4 seconds, passes over what stays.
    sys.setswitchinterval(SWITCH)
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    config = uvicorn.Config(
        make_server(serving, store),
        host=serving.host,
        port=serving.port,
        ws="none",
        log_config=None,  # ours takes its records, too
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,  # assessors read for a while between two answers
        timeout_graceful_shutdown=10,
        proxy_headers=False,  # the application reads them, and only from proxies that it trusts
    )
    uvicorn.Server(config).run()
