"""From a database's address to a running server."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from starlette.applications import Starlette

from qrowd.collect.campaigns.judging import JudgingService
from qrowd.collect.campaigns.live import LiveQuestions
from qrowd.collect.protocols.schema import read
from qrowd.collect.store.accounts import purge, secret
from qrowd.collect.store.base import Store
from qrowd.collect.store.engine import open_store
from qrowd.collect.web import api, owner
from qrowd.collect.web.app import make_app
from qrowd.collect.web.security import ServerSettings
from qrowd.errors import ArgumentError

VARIABLE = "QROWD_SERVING"  # the settings for further processes
FACTORY = "qrowd.collect.web.serving:app_from_environment"


@dataclass(frozen=True)
class Serving:
    """The settings of a server process.

    database : of the store. base_url : the address as browsers know it. workers : processes; more than one needs
    PostgreSQL. trusted_hosts, trusted_proxies : as in `ServerSettings`; key_hosts : added to its own. per_minute :
    judgments of one assessor.
    """

    database: str
    host: str = "127.0.0.1"
    port: int = 8000
    base_url: str = "http://127.0.0.1:8000"
    workers: int = 1
    trusted_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    key_hosts: tuple[str, ...] = ()
    per_minute: int = 60
    secret: str = ""  # hexadecimal; "" for the one that the store holds

    def open(self) -> Store:
        """The store.

        Raises
        ------
        ArgumentError
            Several processes over one SQLite file.
        """
        store = open_store(self.database)
        if self.workers > 1 and store.dialect == "sqlite":
            store.close()
            raise ArgumentError(
                f"--workers {self.workers}: a SQLite file has one writer; use --workers 1, or a PostgreSQL database"
            )
        return store


def make_server(serving: Serving, store: Store) -> Starlette:
    """The whole application over a store, which is closed when the server stops."""
    settings = ServerSettings(
        base_url=serving.base_url,
        secret=bytes.fromhex(serving.secret) if serving.secret else store.write(secret),
        trusted_hosts=serving.trusted_hosts,
        trusted_proxies=serving.trusted_proxies,
        key_hosts=(*ServerSettings.key_hosts, *serving.key_hosts),
        judgments_per_minute=serving.per_minute,
    )
    service = JudgingService(store)
    questions = LiveQuestions(store, service.cache.new_sizes)
    service.answered = questions.answered
    app = make_app(
        service,
        store,
        settings=settings,
        routes=[*owner.ROUTES, *api.ROUTES],
        large={**owner.LARGE, **api.LARGE},
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await store.write_async(lambda connection: purge(connection, app.state.server.clock()))
        questions.start()
        try:
            yield
        finally:
            await asyncio.to_thread(questions.close)
            store.close()

    app.router.lifespan_context = lifespan
    return app


def app_from_environment() -> Starlette:
    """For processes that uvicorn starts."""
    serving = read(Serving, json.loads(os.environ[VARIABLE]))
    return make_server(serving, serving.open())


def serve(serving: Serving, store: Store) -> None:
    """Serve until interrupted; what was acknowledged by then is safe."""
    import uvicorn

    options: dict[str, Any] = {
        "host": serving.host,
        "port": serving.port,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "timeout_keep_alive": 75,  # assessors read for a while between two answers
        "timeout_graceful_shutdown": 10,
        "proxy_headers": False,  # the application reads them itself, and only from proxies it trusts
    }
    logging.getLogger("qrowd").setLevel(logging.INFO)
    if serving.workers == 1:
        uvicorn.Server(uvicorn.Config(make_server(serving, store), **options)).run()
        return
    store.close()
    os.environ[VARIABLE] = json.dumps(asdict(serving))
    uvicorn.run(FACTORY, factory=True, workers=serving.workers, **options)
