"""Requests are sent until they are answered or given up, and every attempt is recorded before the next is made.

A request waits, is answered, or has failed; whether an answer can be read is another matter (`qrowd.judge.answers`).
What failed is tried again behind all requests that wait, after a wait in which its place serves others, and as often as
`tries` says. A job ends early where its server gives no answer at all. What has an answer in the record is not sent
again, so a job that was killed, interrupted or stopped goes on when it is started again.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from qrowd.errors import ArgumentError, QrowdError
from qrowd.judge.exchange import Model, Prices, Reply, Request, Status, Tokens, expected_tokens, tokens_of
from qrowd.judge.record import Record, is_complete

FIRST_WAIT = 1.0  # seconds, doubled with each failure
LONGEST_WAIT = 60.0
LONGEST_REQUESTED_WAIT = 3600.0  # seconds; a server that asks for more stops the job
UNREACHED_ROUNDS = 3  # without a connection to a server that was never reached: it does not run, or the URL is wrong
FAILURES_IN_A_ROW = 50  # requests asked for the first time, beyond those in flight: the server refuses all
OVERLOADED = (429, 502, 503, 504)
FATAL = {401: "check the key", 402: "the account has no credit"}  # no other request will fare better
ADVICE = {403: "check the key", 404: "check URL and model"}  # where no request is answered
QUOTA = "insufficient_quota"  # a 429 that no wait ends

#: Called with the requests that are finished, all requests, and the cost so far.
JobProgress = Callable[[int, int, float], object]
#: The reply to a request, from the record or from its model; None where the job has been stopped.
Ask = Callable[[Request], Awaitable[Reply | None]]


def tries(reply: Reply) -> int:
    """How many attempts at one request may end like this one before a job gives it up.

    A request that is wrong has 1; a broken answer, or none in time, 2, since the same is likely again. A server that is
    overloaded or not there may be so for as many rounds.
    """
    status = reply.http_status
    if reply.lasting or (status is not None and 300 <= status < 500 and status not in (408, 409, 425, 429)):
        return 1
    if reply.timed_out or (status is not None and status < 300):
        return 2
    if status == 429:
        return 50
    return 10 if _is_away(reply) else 4


class Clock:
    """What the time is and how to wait; tests bring their own."""

    def now(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True)
class AskOptions:
    """How models are asked.

    concurrency : requests in flight to each server. budget : what the record may cost in all, in the currency of
    `prices`; a job stops before the next request would exceed it. prices : of tokens. again : statuses of answers that
    are asked for again, such as ("unparsable",); errors and timeouts always are.

    Raises
    ------
    ArgumentError
        A concurrency below 1.
    """

    concurrency: int = 8
    budget: float | None = None
    prices: Prices | None = None
    again: Collection[Status] = ()

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise ArgumentError("expected 1 or more requests at a time", "concurrency", self.concurrency)

    @property
    def currency(self) -> str:
        """That of the prices; empty without any."""
        return self.prices.currency if self.prices else ""

    def cost(self, request: Request, tokens: Tokens) -> float | None:
        """Cost of a request; None without a price."""
        return None if self.prices is None else self.prices.cost(request, tokens)


ASK_OPTIONS = AskOptions()


@dataclass(frozen=True)
class Asked:
    """How a job ended.

    cost : of this job, failed attempts included; None where a model has no price. stopped : why it ended early; None
    where it did not. error : the same, where a server is the reason.
    """

    cost: float | None
    stopped: str | None = None
    error: QrowdError | None = None


def ask_all(
    requests: Iterable[Request],
    models: Sequence[Model],
    record: Record,
    options: AskOptions = ASK_OPTIONS,
    *,
    progress: JobProgress | None = None,
    clock: Clock | None = None,
) -> Asked:
    """Ask each request of the model with its endpoint and name, in this order, whatever the record holds.

    The replies are in the record. A server that refuses everything ends the job. The rest as for `ask_in_turn`.
    """
    distinct = list({request.key: request for request in requests}.values())
    job = _Job(models, record, options, len(distinct), progress, clock or Clock())
    for request in distinct:  # before anything is sent
        job.check(request)

    async def work() -> None:
        await asyncio.gather(*(job.answer(request, again=True) for request in distinct))

    return job.run(work)


def ask_in_turn(
    work: Callable[[Ask], Awaitable[None]],
    models: Sequence[Model],
    record: Record,
    options: AskOptions = ASK_OPTIONS,
    *,
    progress: JobProgress | None = None,
    clock: Clock | None = None,
) -> Asked:
    """Run `work(ask)`, which asks what the answers so far lead to; what the record answers is not sent.

    Ctrl-C stops sending, records the replies still in flight, then raises KeyboardInterrupt; a second one does not
    wait. Once `ask` has returned None, because of the budget, an error or Ctrl-C, `work` should come to its end.

    Raises
    ------
    QrowdError
        The server refuses key, account, URL or model, or gives no answer at all. Everything answered is in the record.
    ArgumentError
        There is a budget, and a model has no price; a request has no model.
    """
    job = _Job(models, record, options, 0, progress, clock or Clock())
    asked = job.run(lambda: work(job.answer))
    if asked.error is not None:
        raise asked.error
    return asked


@dataclass
class _Server:
    """A server during a job.

    slots : for the requests in flight. ready : when the next request may be sent. reached : whether anything has ever
    come from it. silent : rounds since the last answer in which it was overloaded or not there. failed : requests,
    asked for the first time, that failed since the last answer.
    """

    slots: asyncio.Semaphore
    ready: float = -math.inf
    reached: bool = False
    silent: int = 0
    failed: int = 0


class _Job:
    def __init__(
        self,
        models: Sequence[Model],
        record: Record,
        options: AskOptions,
        total: int,
        progress: JobProgress | None,
        clock: Clock,
    ) -> None:
        self.models = {(model.endpoint, model.name): model for model in models}
        self.record, self.options, self.clock = record, options, clock
        self.progress, self.total, self.finished = progress, total, 0
        self.random = Random()
        self.servers = {model.endpoint: _Server(asyncio.Semaphore(options.concurrency)) for model in models}
        self.tasks: dict[str, asyncio.Task[Reply | None]] = {}  # by key: of two equal requests, one is sent
        self.spent_before, self.cost, self.reserved, self.priced = record.spent(), 0.0, 0.0, options.prices is not None
        self.stopped: str | None = None
        self.error: QrowdError | None = None
        self.stop = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Callable[[], Awaitable[None]]) -> Asked:
        """Run until the work is done or the job stops."""
        for model in self.models.values():  # before anything is done
            if self.options.budget is not None and self.price(Request(model.endpoint, model.name, ())) is None:
                raise ArgumentError(
                    f"budget={self.options.budget:g}: {model.name!r} at {model.endpoint!r} has no price; add it to the "
                    "file of prices"
                )
        self.show_progress()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(self._run(work))
        else:
            self._run_in_thread(work)
        return Asked(self.cost if self.priced else None, self.stopped, self.error)

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        self.loop = asyncio.get_running_loop()
        working = asyncio.ensure_future(work())
        try:
            await asyncio.shield(working)
        except asyncio.CancelledError:  # by Ctrl-C
            self.stop.set()
            await working
            raise
        finally:
            for model in self.models.values():
                if (close := getattr(model, "close", None)) is not None:
                    await close()

    def _run_in_thread(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run beside a loop that runs already, as in a notebook."""
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(asyncio.run, self._run(work))
            try:
                running.result()
            except KeyboardInterrupt:
                if self.loop is None:
                    self.stop.set()  # nothing is asked once the loop begins
                else:
                    with suppress(RuntimeError):  # the loop has just ended
                        self.loop.call_soon_threadsafe(self.stop.set)
                raise

    # ---- one request

    def check(self, request: Request) -> None:
        if (request.endpoint, request.model) not in self.models:
            raise ArgumentError(f"models: none is {request.model!r} at {request.endpoint!r}, which a request asks")

    def answer(self, request: Request, *, again: bool = False) -> asyncio.Task[Reply | None]:
        """The reply of the record, or else of the model; None where the job stops before there is one.

        again : whether the model is asked although the record has an answer.
        """
        self.check(request)
        if request.key not in self.tasks:
            self.tasks[request.key] = asyncio.ensure_future(self.ask(request, again))
        return self.tasks[request.key]

    async def ask(self, request: Request, again: bool) -> Reply | None:
        """Ask until there is an answer, or none is to be expected, or the job stops."""
        server, left, failures = self.servers[request.endpoint], Fraction(1), 0
        earlier = self.record.latest(request.key)
        if earlier is not None and is_complete(earlier) and not again:
            return self.finish(earlier)
        while True:
            async with server.slots:
                while not self.stop.is_set() and (seconds := server.ready - self.clock.now()) > 0:
                    await self.wait(seconds)
                before = server.silent
                reply = None if self.stop.is_set() else await self.attempt(request)
            if reply is None:
                return None
            if reply.retry_after and reply.retry_after <= LONGEST_REQUESTED_WAIT:
                server.ready = max(server.ready, self.clock.now() + reply.retry_after)
            server.reached |= not _is_unreached(reply)
            if is_complete(reply):
                server.silent = server.failed = 0
                return self.finish(reply)
            failures, left = failures + 1, left - Fraction(1, tries(reply))
            self.note_failure(server, request, reply, before, first=earlier is None and failures == 1)
            if self.stop.is_set():
                return None
            if left <= 0:
                return self.finish(reply)
            await self.wait(self.backoff(failures))

    async def attempt(self, request: Request) -> Reply | None:
        """One attempt, recorded and counted; None where the job stops instead."""
        expected = self.price(request) or 0.0
        spent, budget = self.spent_before + self.cost, self.options.budget
        if budget is not None and expected > 0 and spent + self.reserved + expected > budget:
            words = f"budget: {spent:g} of {budget:g} {self.options.currency} are spent"
            self.halt(f"{words}; the next request may exceed it")
            return None
        self.reserved += expected
        try:
            reply = await self.models[request.endpoint, request.model].ask(request)
        except Exception as error:
            reply = Reply(error=f"{type(error).__name__} in the model", lasting=True)
        finally:
            self.reserved -= expected
        cost = self.options.cost(request, tokens_of(request, reply))
        self.record.add(request, reply, cost=cost)
        self.cost += cost or 0.0
        self.priced &= cost is not None
        return reply

    def price(self, request: Request) -> float | None:
        """What a request is expected to cost; None without a price."""
        return self.options.cost(request, expected_tokens(request))

    def note_failure(self, server: _Server, request: Request, reply: Reply, before: int, *, first: bool) -> None:
        """Hold a server back that is overloaded or not there; stop where no other request will fare better.

        before : `silent` when the request was sent: those in flight at once are one round. first : whether the request
        had not failed before; one that had says nothing new of its server.
        """
        reason = _reason_to_stop(reply)
        if _is_away(reply):
            if server.silent == before:
                server.silent += 1
                if before:
                    server.ready = max(server.ready, self.clock.now() + self.backoff(before))
            if not server.reached and server.silent >= UNREACHED_ROUNDS:
                reason = "does the server run, and is the URL right?"
            elif server.silent >= tries(reply):
                reason = f"no answer after {server.silent} waits"
            elif server.silent == UNREACHED_ROUNDS:
                logging.getLogger("qrowd").warning("%s gives no answer (%s); waiting", request.endpoint, reply.error)
        else:
            server.failed += first
            if server.failed >= FAILURES_IN_A_ROW + self.options.concurrency:
                advice = ADVICE.get(reply.http_status or 0, "the same command asks the others first")
                reason = f"{server.failed} requests in a row had no answer; {advice}"
        if reason is not None:
            stopped = f"{request.model} at {request.endpoint}: {reply.error}; {reason}"
            self.error = self.error or QrowdError(stopped)
            self.halt(stopped)

    def finish(self, reply: Reply) -> Reply:
        self.finished += 1
        self.show_progress()
        return replace(reply, raw="")

    def show_progress(self) -> None:
        if self.progress is not None:
            self.progress(self.finished, max(self.finished, self.total), self.cost)

    # ---- waiting and stopping

    def backoff(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row: doubled each time, less up to a half by chance."""
        return min(FIRST_WAIT * 2.0 ** min(failures - 1, 30), LONGEST_WAIT) * self.random.uniform(0.5, 1)

    async def wait(self, seconds: float) -> None:
        """Wait so long, but not longer than the job goes on."""
        tasks = [asyncio.ensure_future(self.stop.wait()), asyncio.ensure_future(self.clock.sleep(seconds))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()

    def halt(self, reason: str) -> None:
        self.stopped = self.stopped or reason
        self.stop.set()


def _is_away(reply: Reply) -> bool:
    """Whether the server is overloaded or not there, which says nothing of the request."""
    return reply.http_status in OVERLOADED or _is_unreached(reply)


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
