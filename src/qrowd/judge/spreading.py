"""Which server a question goes to, and when.

Each server has its own pace (`qrowd.judge.pace`), its own number of requests in flight, and its own failures. Where
several servers serve one model, a question takes the place that is free first, so that each server gets as many as it
answers. A server that fails gets fewer requests at a time, half as many after each failure and one more after each
answer, as TCP does it. After some failures in a row it is set aside for a while; its questions go to the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from math import inf

from qrowd.judge.exchange import Reply, Request
from qrowd.judge.pace import Clock, Pace

LEAST_FAILURES = 3  # in a row, before a server is set aside; as often as its requests at a time can be halved, if more
FIRST_ASIDE = 10.0  # seconds, doubled each time that it fails again
LONGEST_ASIDE = 300.0
DOWN_AFTER = 3  # times that a server which has answered is set aside with no answer between: it is down
MOST_NAMED = 10  # servers in a message


@dataclass
class Server:
    """A server as a job uses it. shared : whether it is one of several that serve a model."""

    endpoint: str
    pace: Pace
    clock: Clock
    concurrency: int
    shared: bool = False
    open: int = 0  # requests in flight
    answers: int = 0
    failures: int = 0  # attempts without an answer
    reached: bool = False  # whether anything has ever come from it
    window: float = inf  # requests that may be in flight, as far as its failures allow
    in_a_row: int = 0  # failures with no answer between
    asides: int = 0  # times in a row that it was set aside
    aside_until: float = -inf
    closed: str = ""  # why it is not asked any more
    last_error: str = ""

    @property
    def allowed(self) -> int:
        """How many requests may be in flight."""
        return max(1, int(min(self.concurrency, self.window)))

    @property
    def down(self) -> bool:
        """Whether it is not worth waiting for."""
        return bool(self.closed) or self.asides >= (DOWN_AFTER if self.reached else 1)

    @property
    def aside(self) -> bool:
        return self.clock.now() < self.aside_until

    def is_free(self) -> bool:
        """Whether a request may go out now."""
        return not (self.closed or self.aside or self.pace.remaining() > 0 or self.open >= self.allowed)

    def answered(self) -> None:
        self.answers += 1
        self.reached, self.asides, self.in_a_row = True, 0, 0
        self.window += 1

    def failed(self, error: str) -> None:
        """Ask it less; set it aside where that is not enough. A server without others beside it is asked as before."""
        self.last_error = error
        if not self.shared or self.aside:
            return
        most = max(LEAST_FAILURES, self.concurrency.bit_length())
        self.in_a_row += 1
        self.window = max(1.0, min(self.concurrency, self.window) / 2)
        if self.in_a_row >= most:
            self.in_a_row = most - 1  # then one more
            self.window = 1.0
            self.asides += 1
            wait = min(FIRST_ASIDE * 2.0 ** min(self.asides - 1, 10), LONGEST_ASIDE)
            self.aside_until = self.clock.now() + wait * self.pace.random.uniform(0.75, 1)

    def close(self, reason: str) -> None:
        """Ask it no more."""
        self.closed = self.closed or reason

    def state(self) -> str:
        """Why it is not asked now; empty where it is."""
        if self.closed:
            return self.closed
        return f"set aside: {self.last_error}" if self.aside or self.asides else ""


@dataclass
class Service:
    """The servers of one model, or the one server of a URL with all its models."""

    name: str
    servers: list[Server]
    given_up: int = 0  # requests since the last answer

    @property
    def several(self) -> bool:
        return self.servers[0].shared

    def message(self) -> str:
        """The line that names the servers when none is left."""
        lines = []
        for server in self.servers[:MOST_NAMED]:
            error = (server.closed or server.last_error).removesuffix(f" at {server.endpoint}")
            lines.append(f"{server.endpoint} ({error})")
        more = f" and {len(self.servers) - MOST_NAMED} more" if len(self.servers) > MOST_NAMED else ""
        return (
            f"{self.name}: none of its servers answers: {', '.join(lines)}{more}; the answers so far are kept: run the "
            "same command when this is mended, or with other servers"
        )


@dataclass
class Turn:
    """A request on its way through the servers.

    failed, limited : attempts that failed, and those that a rate limit refused. refused : servers that refused it, not
    because of their state. not_before : {server: when it may get this request}.
    """

    request: Request
    failed: int = 0
    limited: int = 0
    refused: set[str] = field(default_factory=set)
    not_before: dict[str, float] = field(default_factory=dict)
    reply: Reply | None = None


@dataclass
class _Waiter:
    service: Service
    turn: Turn
    place: asyncio.Future[Server | None]


@dataclass
class Places:
    """The places of all servers. Who waits first is served first.

    wait : waits so many seconds, or for a future, or until the job stops. halted : whether it has.
    """

    clock: Clock
    wait: Callable[[float, asyncio.Future[Server | None]], Awaitable[None]]
    halted: Callable[[], bool]
    waiters: list[_Waiter] = field(default_factory=list)

    async def take(self, service: Service, turn: Turn) -> Server | None:
        """A server with a free place, which is taken then; None where the job stops or no server may get the turn."""
        if self.halted():
            return None
        if not self.waiters and (server := self._free(service, turn)) is not None:
            server.open += 1
            return server
        loop = asyncio.get_running_loop()
        waiter = _Waiter(service, turn, loop.create_future())
        self.waiters.append(waiter)
        try:
            while not self.halted():
                self._assign()
                if not waiter.place.done():
                    if not self._possible(service, turn):
                        return None
                    await self.wait(self._seconds(service, turn), waiter.place)
                if waiter.place.done():
                    if (server := waiter.place.result()) is not None:
                        if self.halted():
                            self.leave(server)
                            return None
                        return server
                    waiter.place = loop.create_future()
            return None
        finally:
            if waiter in self.waiters:
                self.waiters.remove(waiter)

    def leave(self, server: Server) -> None:
        """Give a place back."""
        server.open -= 1
        if self.waiters:
            self._assign()

    def changed(self) -> None:
        """Let all that wait look again, as a server may get nothing any more."""
        for waiter in self.waiters:
            if not waiter.place.done():
                waiter.place.set_result(None)

    def _assign(self) -> None:
        for waiter in self.waiters:
            if not waiter.place.done() and (server := self._free(waiter.service, waiter.turn)) is not None:
                server.open += 1
                waiter.place.set_result(server)
        self.waiters = [one for one in self.waiters if not (one.place.done() and one.place.result() is not None)]

    def _free(self, service: Service, turn: Turn) -> Server | None:
        """The server with the smallest share of its places taken."""
        if not service.several:
            server = service.servers[0]
            return server if server.is_free() and self._open_to(server, turn) else None
        free = [server for server in service.servers if server.is_free() and self._open_to(server, turn)]
        return min(free, key=lambda server: server.open / server.allowed, default=None)

    def _open_to(self, server: Server, turn: Turn) -> bool:
        if server.endpoint in turn.refused:
            return False
        return not turn.not_before or turn.not_before.get(server.endpoint, -inf) <= self.clock.now()

    def _possible(self, service: Service, turn: Turn) -> bool:
        """Whether waiting makes sense: not for a server that is set aside where all others refused the request."""
        servers = [one for one in service.servers if not one.closed and one.endpoint not in turn.refused]
        return bool(servers) and not (turn.refused and all(one.aside for one in servers))

    def _seconds(self, service: Service, turn: Turn) -> float:
        """Seconds until a server may get the request; inf where only a place is missing."""
        now, waits = self.clock.now(), []
        for server in service.servers:
            if not server.closed and server.endpoint not in turn.refused:
                ready = turn.not_before.get(server.endpoint, -inf)
                if server.pace.remaining() > 0 and ready < server.pace.ready:  # they start one after another
                    ready = turn.not_before[server.endpoint] = server.pace.ready + server.pace.jitter()
                waits.append(max(ready, server.aside_until) - now)
        return min((wait for wait in waits if wait > 0), default=inf)


def services_of(
    endpoints: Mapping[tuple[str, str], tuple[str, ...]],
    server_of: Callable[[str], Server],
) -> dict[tuple[str, str], Service]:
    """{(endpoint, model): its service}. endpoints : {(endpoint, model): URLs of its servers, its own if it is one}."""
    servers: dict[str, Server] = {}
    single: dict[str, Service] = {}
    services = {}
    for (endpoint, name), urls in endpoints.items():
        several = urls != (endpoint,)
        for url in urls:
            servers.setdefault(url, server_of(url)).shared |= several
        if several:
            services[endpoint, name] = Service(name, [servers[url] for url in urls])
        else:
            service = single.setdefault(endpoint, Service(name, [servers[endpoint]]))
            services[endpoint, name] = service
    return services
