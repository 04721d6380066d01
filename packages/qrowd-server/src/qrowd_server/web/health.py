"""Probes: whether the process lives, and whether the store can take answers.

GET  /health   200 as long as the process answers      GET  /ready   200 while answers can be stored, else 503

A probe may ask as often as it likes: the store is looked at once in `SECONDS`, by one read and one small write. Answers
name the kind of problem and nothing else; the log has the rest.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd_server.store.base import Store, StoreFullError
from qrowd_server.store.engine import HEAD, version
from qrowd_server.store.sessions import put_setting
from qrowd_server.web.server import server_of

log = logging.getLogger("qrowd_server.web")

SECONDS = 5.0  # between two looks at the store
PATIENCE = 4.0  # seconds that the store may take
LEAST_FREE = 8 * 2**20  # bytes beside a SQLite file: a small write may still succeed where an answer would not
WRITTEN = "ready"  # the setting that is written
State = Literal["ready", "disk", "store", "tables"]


class Readiness:
    """Whether the store answers, has the tables of this version, and can write. clock : seconds, never going back."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.store, self.clock = store, clock
        self._state: State = "ready"
        self._until = float("-inf")
        self._looking = asyncio.Lock()

    async def state(self) -> State:
        """As it was at the last look, or, where that is too long ago, now."""
        async with self._looking:
            if self.clock() >= self._until:
                await self._look()
        return self._state

    async def _look(self) -> None:
        problem, state = "", self._state
        try:
            async with asyncio.timeout(PATIENCE):
                state, problem = await self._try()
        except Exception as error:
            state = "disk" if isinstance(error, StoreFullError) else "store"
            problem = f"{type(error).__name__}: {error}"
        if state != self._state:
            level = logging.INFO if state == "ready" else logging.ERROR
            log.log(level, "the store is %s", "ready again" if state == "ready" else f"not ready: {problem}")
        self._state, self._until = state, self.clock() + SECONDS

    async def _try(self) -> tuple[State, str]:
        current = await self.store.read_async(version)
        if current != HEAD:
            return "tables", f"its tables have version {current}, and this qrowd needs {HEAD}"
        if self.store.dialect == "sqlite" and self.store.url.database:
            free = (await asyncio.to_thread(shutil.disk_usage, Path(self.store.url.database).parent)).free
            if free < LEAST_FREE:
                return "disk", f"{free} bytes are left on its disk"
        await self.store.write_async(lambda connection: put_setting(connection, WRITTEN, "1"))
        return "ready", ""


async def health(request: Request) -> Response:
    """The process lives."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """Answers can be stored, or the kind of problem."""
    state = request.app.state
    if not hasattr(state, "readiness"):
        server = server_of(request)
        state.readiness = Readiness(server.store, clock=server.monotonic)
    found = await state.readiness.state()
    if found == "ready":
        return JSONResponse({"status": "ready"})
    return JSONResponse({"status": "not ready", "problem": found}, 503)


ROUTES: list[BaseRoute] = [Route("/health", health), Route("/ready", ready)]
