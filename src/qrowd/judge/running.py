"""Requests are sent, each until it is answered, and every attempt is recorded before the next takes its place.

What has a complete reply in the record is not sent again, so a job that was killed, interrupted or stopped goes on when
it is started again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from random import Random
from typing import Any

from qrowd.errors import ArgumentError, QrowdError
from qrowd.judge.event_loop import interruptible, run_loop
from qrowd.judge.exchange import Model, Reply, Request
from qrowd.judge.pace import Clock, Pace, SystemClock
from qrowd.judge.prices import Prices, Tokens, expected_tokens, tokens_of
from qrowd.judge.record import Record, is_complete
from qrowd.judge.servers import note_servers, other_endpoints, other_key, servers_of
from qrowd.judge.spreading import Places, Server, Service, Turn, services_of

TRIES = 6  # attempts at one request that fail, waits for a rate limit apart
UNREACHED_TRIES = 3  # of a server that has never been reached: it does not run, or the URL is wrong
RATE_LIMITED_TRIES = 50
LONGEST_REQUESTED_WAIT = 3600.0  # seconds; a server that asks for more stops the job
FAILURES_IN_A_ROW = 20  # requests of one service given up with no answer between them: it is down, or all are wrong
UNAVAILABLE = (502, 503)  # says a proxy before a server that does not run, or a server that starts
FATAL = {401: "check the key", 402: "the account has no credit", 403: "check the key", 404: "check URL and model"}
QUOTA = "insufficient_quota"  # a 429 that no wait ends

#: Called with the requests that are finished, all requests, and the cost so far.
JobProgress = Callable[[int, int, float], object]
#: The reply to a request, from the record or from its model; None where the job has been stopped.
Ask = Callable[[Request], Awaitable[Reply | None]]


@dataclass(frozen=True)
class ServerWork:
    """What one of several servers did in a job: answers, attempts without one, and why it was not asked in the end."""

    model: str
    endpoint: str
    answers: int
    failures: int
    state: str


@dataclass(frozen=True)
class Answers:
    """What a job has: replies by `Request.key`, complete ones and last failures, without `raw`, in order of requests.

    reused : requests answered by the record. attempts, tokens, cost : of this job, failed attempts included; cost is
    None where a model has no price. unasked : requests without a reply. stopped : why, where the budget ended the job.
    servers : of the models that several serve.
    """

    replies: Mapping[str, Reply]
    reused: int
    attempts: int
    tokens: Tokens
    cost: float | None
    unasked: int
    stopped: str | None = None
    servers: tuple[ServerWork, ...] = ()


def ask_all(
    requests: Iterable[Request],
    models: Sequence[Model],
    record: Record,
    *,
    concurrency: int = 8,
    budget: float | None = None,
    prices: Prices | None = None,
    again: Collection[str] = (),
    reserved: float = 0.0,
    progress: JobProgress | None = None,
    clock: Clock | None = None,
    rng: int | None = None,
) -> Answers:
    """Ask every request of the model with its endpoint and name; complete replies of the record are reused.

    concurrency : requests in flight per server. budget : what the record may cost in all, in the currency of
    `prices`; the job stops before the next request would exceed it. again : keys of requests to be asked although the
    record has a complete reply. reserved : part of the budget that is spent elsewhere. rng : seed of jitter in waits.

    HTTP 408, 409, 429, 5xx, broken answers and connection errors are tried again after a wait that doubles, or that the
    server asks for; all requests to a server share it. Where several servers serve a model, another one is asked at
    once, and a server that fails is set aside for a while (`qrowd.judge.spreading`). Ctrl-C stops sending, records the
    replies still in flight, then raises KeyboardInterrupt; a second one does not wait.

    Raises
    ------
    QrowdError
        The server refuses key, account, URL or model, or gives no answer at all; where several serve a model, all of
        them. Everything answered is in the record.
    ArgumentError
        A request has no model; there is a budget, and a model has no price.
    """
    job = _Job(list(requests), models, record, concurrency, budget, prices, frozenset(again), progress, reserved)
    pace_clock, random = clock or SystemClock(), Random(rng)
    answers: list[Answers] = []
    with interruptible(job.interrupt):
        run_loop(lambda: answers.append(asyncio.run(job.run(pace_clock, random))))
    return answers[0]


def ask_in_turn(
    work: Callable[[Ask], Awaitable[None]],
    models: Sequence[Model],
    record: Record,
    *,
    concurrency: int = 8,
    budget: float | None = None,
    prices: Prices | None = None,
    progress: JobProgress | None = None,
    clock: Clock | None = None,
    rng: int | None = None,
) -> Answers:
    """Run `work(ask)`, which asks what the answers so far lead to; otherwise as `ask_all`.

    Once `ask` has returned None, because of the budget, an error or Ctrl-C, `work` should come to its end.
    """
    job = _Job([], models, record, concurrency, budget, prices, frozenset(), progress)
    for model in models:  # before anything is done
        job.check(Request(model.endpoint, model.name, ()))
    pace_clock, random = clock or SystemClock(), Random(rng)
    answers: list[Answers] = []
    with interruptible(job.interrupt):
        run_loop(lambda: answers.append(asyncio.run(job.run(pace_clock, random, work))))
    return answers[0]


@dataclass
class _Job:
    requests: list[Request]
    models: Sequence[Model]
    record: Record
    concurrency: int
    budget: float | None
    prices: Prices | None
    again: frozenset[str]
    progress: JobProgress | None
    reserved: float = 0.0  # expected cost of the requests in flight, and of what is spent elsewhere
    replies: dict[str, Reply] = field(default_factory=dict, init=False)
    attempts: int = field(default=0, init=False)
    finished: int = field(default=0, init=False)
    total: int = field(default=0, init=False)
    reused: int = field(default=0, init=False)
    locks: dict[str, asyncio.Lock] = field(default_factory=dict, init=False)  # by key, of what is asked in turn
    tokens: Tokens = field(default_factory=Tokens, init=False)
    cost: float = field(default=0.0, init=False)
    priced: bool = field(default=True, init=False)
    error: QrowdError | None = field(default=None, init=False)
    stopped: str | None = field(default=None, init=False)
    stop: asyncio.Event | None = field(default=None, init=False)
    loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    interrupted: bool = field(default=False, init=False)
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise ArgumentError(f"concurrency={self.concurrency}: expected 1 or more requests at a time")
        self.by_name = {(model.endpoint, model.name): model for model in self.models}
        self.at_server = {(one.endpoint, one.name): one for model in self.models for one in servers_of(model)}
        note_servers(self.record, self.models)
        self.other_endpoints = {name: other_endpoints(self.record, model) for name, model in self.by_name.items()}
        for request in self.requests:
            self.check(request)
        self.spent_before = self.record.spent()

    def check(self, request: Request) -> None:
        if (request.endpoint, request.model) not in self.by_name:
            raise ArgumentError(f"models: none is {request.model!r} at {request.endpoint!r}, which a request asks")
        if self.budget is None:
            return
        for server in servers_of(self.by_name[request.endpoint, request.model]):
            if self.prices is None or self.prices.price(_to(server.endpoint, request)) is None:
                raise ArgumentError(
                    f"budget={self.budget:g}: {request.model!r} at {server.endpoint!r} has no price; add it to the "
                    "file of prices"
                )

    async def run(self, clock: Clock, random: Random, work: Callable[[Ask], Awaitable[None]] | None = None) -> Answers:
        self.stop, self.loop = asyncio.Event(), asyncio.get_running_loop()
        if self.interrupted:
            self.stop.set()
        services = services_of(
            {name: tuple(one.endpoint for one in servers_of(model)) for name, model in self.by_name.items()},
            lambda endpoint: Server(endpoint, Pace(clock, random), clock, self.concurrency),
        )
        self.places = Places(clock, self.wait, lambda: self.halted)
        distinct = {request.key: request for request in self.requests}
        queues: dict[int, deque[Request]] = {}
        for key, request in distinct.items():
            reply = None if key in self.again else self.recall(request)
            if reply is None:
                queues.setdefault(id(services[request.endpoint, request.model]), deque()).append(request)
            else:
                self.replies[key] = replace(reply, raw="")
        self.reused = self.finished = len(self.replies)
        self.total = len(distinct)
        self._show()
        try:
            async with asyncio.TaskGroup() as group:
                for service in {id(one): one for one in services.values()}.values():
                    queue = queues.get(id(service), deque())
                    for _ in range(min(self.concurrency * len(service.servers), len(queue))):
                        group.create_task(self.work(service, queue))
                if work is not None:
                    await work(lambda request: self.answer(request, services))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            for model in self.models:
                if (close := getattr(model, "close", None)) is not None:
                    await close()
        if self.interrupted:
            raise KeyboardInterrupt
        if self.error is not None:
            raise self.error
        return Answers(
            {key: self.replies[key] for key in distinct if key in self.replies} if work is None else self.replies,
            self.reused,
            self.attempts,
            self.tokens,
            self.cost if self.priced and self.prices is not None else None,
            self.total - len(self.replies),
            self.stopped,
            tuple(
                ServerWork(service.name, one.endpoint, one.answers, one.failures, one.state())
                for service in services.values()
                if service.several
                for one in service.servers
            ),
        )

    async def work(self, service: Service, queue: deque[Request]) -> None:
        """Take one request after another until none is left or the job stops."""
        while queue and not self.halted:
            await self.ask(service, queue.popleft())

    def recall(self, request: Request) -> Reply | None:
        """The reply of the record, also one to the same question at another server of the model."""
        reply = self.record.last(request.key)
        if reply is None:
            others = self.other_endpoints[request.endpoint, request.model]
            if (key := other_key(self.record, request, others)) is not None:
                self.record.share(request.key, key)
                reply = self.record.last(request.key)
        return reply

    async def answer(self, request: Request, services: Mapping[tuple[str, str], Service]) -> Reply | None:
        """The reply of the record, or else of the model."""
        self.check(request)
        key = request.key
        async with self.locks.setdefault(key, asyncio.Lock()):  # of two equal requests at once, one is sent
            if key not in self.replies:
                self.total += 1
                reply = self.recall(request)
                if reply is None:
                    await self.ask(services[request.endpoint, request.model], request)
                else:
                    self.reused += 1
                    self.finish(request, reply)
        return self.replies.get(key)

    async def ask(self, service: Service, request: Request) -> None:
        """Ask until there is an answer, or none is to be expected, or the job stops."""
        turn = Turn(request)
        while (server := await self.places.take(service, turn)) is not None:
            try:
                wait = await self.attempt(service, server, turn)
                if wait is None:
                    return
                if wait > 0 and not service.several:  # it keeps its place, so that the server is asked less
                    await self.wait(wait)
                elif wait > 0:
                    turn.not_before[server.endpoint] = server.clock.now() + wait
            finally:
                self.places.leave(server)
        if turn.reply is not None and not self.halted:
            self.give_up(service, request, turn.reply)

    async def attempt(self, service: Service, server: Server, turn: Turn) -> float | None:
        """One attempt; seconds until this server may be asked it again, None where no other attempt follows."""
        request = _to(server.endpoint, turn.request)
        reserved = self.affordable(request)
        if reserved is None:
            return None
        model = self.at_server[server.endpoint, request.model]
        try:
            reply = await model.ask(request)
        except QrowdError as error:  # such as a package that is missing
            self.reserved -= reserved
            self.fail(str(error))
            return None
        except Exception as error:
            reply = Reply(error=f"{type(error).__name__} in the model")
        if request is not turn.request:
            reply = replace(reply, endpoint=server.endpoint)
        self.note(turn.request, reply, reserved, request)
        if reply.retry_after and reply.retry_after <= LONGEST_REQUESTED_WAIT:
            server.pace.hold(reply.retry_after)
        if is_complete(reply):
            server.answered()
            service.given_up = 0
            for other in service.servers:
                if other.endpoint in turn.refused:  # without reason, as one has answered it
                    other.failed(turn.reply.error or "" if turn.reply else "")
            self.finish(turn.request, reply)
            return None
        server.failures += 1
        turn.reply = reply
        return self.failed(service, server, turn, reply)

    def failed(self, service: Service, server: Server, turn: Turn, reply: Reply) -> float | None:
        """What follows from an attempt without an answer; as `attempt`."""
        error = reply.error or "no answer"
        if (reason := _reason_to_stop(reply)) is not None:
            if not service.several:
                self.fail(f"{turn.request.model} at {server.endpoint}: {error}; {reason}")
                return None
            server.close(f"{error}; {reason}")
            self.lost(service)
            return 0.0
        unreached = _is_unreached(reply)
        server.reached |= not unreached
        if not service.several and not server.reached and turn.failed + 1 >= UNREACHED_TRIES:
            self.fail(f"{turn.request.model}: {error}; does the server run, and is the URL right?")
            return None
        n_servers = len(service.servers) if service.several else 1
        turn.limited += reply.http_status == 429
        # what has not reached one of several servers says nothing about the request
        turn.failed += reply.http_status != 429 and not (
            service.several and (unreached or reply.http_status in UNAVAILABLE)
        )
        if not is_transient(reply):
            if reply.lasting or not service.several:
                self.give_up(service, turn.request, reply)
                return None
            turn.refused.add(server.endpoint)
            return 0.0
        if reply.http_status != 429:
            server.failed(error)
        if server.down:
            self.lost(service)
        if turn.failed >= TRIES or turn.limited >= RATE_LIMITED_TRIES * n_servers:
            self.give_up(service, turn.request, reply)
            return None
        wait = server.pace.backoff(max(1, turn.failed + turn.limited))
        if reply.http_status in (429, 503) or (reply.http_status is None and not reply.timed_out):
            server.pace.hold(wait)
            return 0.0
        return wait

    def lost(self, service: Service) -> None:
        """End the job where no server of a model is left."""
        if service.several and all(server.down for server in service.servers):
            self.fail(service.message())
        self.places.changed()

    def give_up(self, service: Service, request: Request, reply: Reply) -> None:
        service.given_up += 1
        self.finish(request, reply)
        if service.given_up >= FAILURES_IN_A_ROW:
            self.fail(
                f"{request.model} at {request.endpoint}: {service.given_up} requests in a row had no answer, the last: "
                f"{reply.error}; run the same command when this is mended"
            )

    def affordable(self, request: Request) -> float | None:
        """Reserve what a request is expected to cost; None, and the job stops, where the budget does not allow it."""
        cost = 0.0 if self.prices is None else self.prices.cost(request, expected_tokens(request)) or 0.0
        spent = self.spent_before + self.cost
        if self.budget is not None and cost > 0 and spent + self.reserved + cost > self.budget:
            currency = self.prices.currency if self.prices else ""
            self.stopped = f"budget: {spent:g} of {self.budget:g} {currency} are spent; the next request may exceed it"
            self.halt()
            return None
        self.reserved += cost
        return cost

    def note(self, request: Request, reply: Reply, reserved: float, sent: Request) -> None:
        """Record an attempt and count it; the caller does nothing else before. sent : the request to the server."""
        self.reserved -= reserved
        tokens = tokens_of(request, reply)
        cost = None if self.prices is None else self.prices.cost(sent, tokens)
        self.record.add(request, reply, cost=cost)
        self.attempts, self.tokens, self.cost = self.attempts + 1, self.tokens + tokens, self.cost + (cost or 0.0)
        self.priced &= cost is not None

    def finish(self, request: Request, reply: Reply) -> None:
        self.replies[request.key] = replace(reply, raw="")
        self.finished += 1
        self._show()

    def fail(self, message: str) -> None:
        self.error = self.error or QrowdError(message)
        self.halt()

    def halt(self) -> None:
        if self.stop is not None:
            self.stop.set()

    def interrupt(self) -> None:
        """Stop sending; for a signal handler."""
        self.interrupted = True
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.halt)

    @property
    def halted(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    async def wait(self, seconds: float, event: asyncio.Future[Any] | None = None) -> None:
        """Wait so long, or for an event, but not longer than the job goes on."""
        assert self.stop is not None
        tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(self.stop.wait())]
        if isfinite(seconds):
            tasks.append(asyncio.ensure_future(self.places.clock.sleep(seconds)))
        try:
            await asyncio.wait([*tasks, *(() if event is None else (event,))], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    def _show(self) -> None:
        if self.progress is not None:
            self.progress(self.finished, self.total, self.cost)


def _to(endpoint: str, request: Request) -> Request:
    """The request as it is sent to a server; the request itself where it is for this one."""
    return request if request.endpoint == endpoint else replace(request, endpoint=endpoint)


def is_transient(reply: Reply) -> bool:
    """Whether the same request may be answered later. A 200 without an answer is a broken one."""
    status = reply.http_status
    if reply.lasting:
        return False
    return status is None or status < 300 or status in (408, 409, 425, 429) or status >= 500


def _is_unreached(reply: Reply) -> bool:
    """Whether no connection was made, so that the server does not know of the request."""
    return reply.http_status is None and reply.error is not None and reply.tokens_in == 0 and not reply.timed_out


def _reason_to_stop(reply: Reply) -> str | None:
    """Why no other request will fare better; None where one may."""
    if reply.http_status == 429 and QUOTA in reply.raw:
        return FATAL[402]
    if reply.retry_after is not None and reply.retry_after > LONGEST_REQUESTED_WAIT:
        return f"the server asks to wait {reply.retry_after:.0f} s; run the same command then"
    return FATAL.get(reply.http_status or 0)
