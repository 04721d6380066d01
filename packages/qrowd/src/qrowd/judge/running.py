"""Requests are sent, each until it is answered, and every attempt is recorded before the next takes its place.

What has a complete reply in the record is not sent again, so a job that was killed, interrupted or stopped goes on when
it is started again.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random

from qrowd.errors import ArgumentError, QrowdError
from qrowd.judge.exchange import Model, Prices, Reply, Request, Status, Tokens, expected_tokens, tokens_of
from qrowd.judge.record import Record, is_complete

TRIES = 6  # attempts at one request that fail, rate limits apart
UNREACHED_TRIES = 3  # of a server that has never been reached: it does not run, or the URL is wrong
RATE_LIMITED_TRIES = 50
FIRST_WAIT = 1.0  # seconds, doubled with each failure
LONGEST_WAIT = 60.0
LONGEST_REQUESTED_WAIT = 3600.0  # seconds; a server that asks for more stops the job
FAILURES_IN_A_ROW = 20  # requests of one server given up with no answer between them: it is down, or all are wrong
FATAL = {401: "check the key", 402: "the account has no credit", 403: "check the key", 404: "check URL and model"}
QUOTA = "insufficient_quota"  # a 429 that no wait ends

#: Called with the requests that are finished, all requests, and the cost so far.
JobProgress = Callable[[int, int, float], object]
#: The reply to a request, from the record or from its model; None where the job has been stopped.
Ask = Callable[[Request], Awaitable[Reply | None]]


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

    def cost(self, request: Request, tokens: Tokens) -> float | None:
        """Cost of a request; None without a price."""
        return None if self.prices is None else self.prices.cost(request, tokens)


ASK_OPTIONS = AskOptions()


@dataclass(frozen=True)
class Answers:
    """What a job has: replies by `Request.key`, complete ones and last failures, without `raw`.

    cost : of this job, failed attempts included; None where a model has no price. stopped : why, where the budget ended
    the job.
    """

    replies: Mapping[str, Reply]
    cost: float | None
    stopped: str | None = None


def ask_all(
    requests: Iterable[Request],
    models: Sequence[Model],
    record: Record,
    options: AskOptions = ASK_OPTIONS,
    *,
    again: Collection[str] = (),
    progress: JobProgress | None = None,
    clock: Clock | None = None,
) -> Answers:
    """Ask every request of the model with its endpoint and name; as many at a time as each server may have.

    again : keys of requests to be asked although the record has a complete reply. The rest as for `ask_in_turn`.
    """
    distinct = {request.key: request for request in requests}
    queues: dict[str, deque[Request]] = {}
    served = {(model.endpoint, model.name) for model in models}
    for request in distinct.values():  # before anything is sent
        _check_model(request, served)
        queues.setdefault(request.endpoint, deque()).append(request)

    async def work(ask: Ask) -> None:
        async def take_turns(queue: deque[Request]) -> None:
            while queue and await ask(queue.popleft()) is not None:
                pass

        async with asyncio.TaskGroup() as group:
            for queue in queues.values():
                for _ in range(min(options.concurrency, len(queue))):
                    group.create_task(take_turns(queue))

    answers = ask_in_turn(
        work, models, record, options, again=again, total=len(distinct), progress=progress, clock=clock
    )
    return replace(answers, replies={key: answers.replies[key] for key in distinct if key in answers.replies})


def ask_in_turn(
    work: Callable[[Ask], Awaitable[None]],
    models: Sequence[Model],
    record: Record,
    options: AskOptions = ASK_OPTIONS,
    *,
    again: Collection[str] = (),
    total: int = 0,
    progress: JobProgress | None = None,
    clock: Clock | None = None,
) -> Answers:
    """Run `work(ask)`, which asks what the answers so far lead to; complete replies of the record are reused.

    HTTP 408, 409, 429, 5xx, broken answers and connection errors are tried again after a wait that doubles, or that the
    server asks for; all requests to a server share such a wait. Ctrl-C stops sending, records the replies still in
    flight, then raises KeyboardInterrupt; a second one does not wait. Once `ask` has returned None, because of the
    budget, an error or Ctrl-C, `work` should come to its end. total : requests that are known beforehand.

    Raises
    ------
    QrowdError
        The server refuses key, account, URL or model, or gives no answer at all. Everything answered is in the record.
    ArgumentError
        There is a budget, and a model has no price; a request has no model.
    """
    job = _Job(models, record, options, again, total, progress, clock or Clock())
    for model in models:  # before anything is done
        if options.budget is not None and options.cost(Request(model.endpoint, model.name, ()), Tokens()) is None:
            raise ArgumentError(
                f"budget={options.budget:g}: {model.name!r} at {model.endpoint!r} has no price; add it to the file of "
                "prices"
            )
    if progress is not None:
        progress(0, total, 0.0)
    with _interruptible(job.interrupt):
        _run_loop(lambda: job.run(work(job.answer)))
    cost = job.cost if job.priced and options.prices is not None else None
    return Answers(job.replies, cost, job.stopped)


@dataclass
class _Server:
    """A server during a job.

    slots : for the requests in flight. ready : when the next request may be sent. reached : whether anything has ever
    come from it. given_up : requests since the last answer.
    """

    slots: asyncio.Semaphore
    ready: float = 0.0
    reached: bool = False
    given_up: int = 0


class _Job:
    def __init__(
        self,
        models: Sequence[Model],
        record: Record,
        options: AskOptions,
        again: Collection[str],
        total: int,
        progress: JobProgress | None,
        clock: Clock,
    ) -> None:
        self.models = {(model.endpoint, model.name): model for model in models}
        self.record, self.options, self.progress, self.clock = record, options, progress, clock
        self.again, self.total, self.random = frozenset(again), total, Random()
        self.servers = {model.endpoint: _Server(asyncio.Semaphore(options.concurrency)) for model in models}
        self.replies: dict[str, Reply] = {}
        self.locks: dict[str, asyncio.Lock] = {}  # by key
        self.spent_before, self.cost, self.reserved, self.priced = record.spent(), 0.0, 0.0, True
        self.error: QrowdError | None = None
        self.stopped: str | None = None
        self.interrupted = False
        self.stop: asyncio.Event | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Awaitable[None]) -> None:
        """Run until the work is done or the job stops, and raise why it stopped."""
        try:
            asyncio.run(self._run(work))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        if self.interrupted:
            raise KeyboardInterrupt
        if self.error is not None:
            raise self.error

    async def _run(self, work: Awaitable[None]) -> None:
        self.stop, self.loop = asyncio.Event(), asyncio.get_running_loop()
        if self.interrupted:
            self.stop.set()
        try:
            await work
        finally:
            for model in self.models.values():
                if (close := getattr(model, "close", None)) is not None:
                    await close()

    # ---- one request

    async def answer(self, request: Request) -> Reply | None:
        """The reply of the record, or else of the model; None where the job stops before there is one."""
        _check_model(request, self.models)
        key = request.key
        async with self.locks.setdefault(key, asyncio.Lock()):  # of two equal requests at once, one is sent
            if key not in self.replies:
                reply = None if key in self.again else self.record.last(key)
                if reply is None:
                    await self.ask(request)
                else:
                    self.finish(request, reply)
        return self.replies.get(key)

    async def ask(self, request: Request) -> None:
        """Ask until there is an answer, or none is to be expected, or the job stops."""
        server = self.servers[request.endpoint]
        failed = limited = 0
        async with server.slots:
            while await self.may_send(server):
                reply = await self.attempt(request)
                if reply is None:
                    return
                if reply.retry_after and reply.retry_after <= LONGEST_REQUESTED_WAIT:
                    server.ready = max(server.ready, self.clock.now() + reply.retry_after)
                if is_complete(reply):
                    server.reached, server.given_up = True, 0
                    self.finish(request, reply)
                    return
                if (reason := _reason_to_stop(reply)) is not None:
                    self.fail(f"{request.model} at {request.endpoint}: {reply.error}; {reason}")
                    return
                server.reached |= not _is_unreached(reply)
                limited += reply.http_status == 429
                failed += reply.http_status != 429
                if not server.reached and failed >= UNREACHED_TRIES:
                    self.fail(f"{request.model}: {reply.error}; does the server run, and is the URL right?")
                    return
                if not is_transient(reply) or failed >= TRIES or limited >= RATE_LIMITED_TRIES:
                    self.give_up(server, request, reply)
                    return
                wait = self.backoff(failed + limited)
                if reply.http_status in (429, 503) or (reply.http_status is None and not reply.timed_out):
                    server.ready = max(server.ready, self.clock.now() + wait)
                else:
                    await self.wait(wait)

    async def may_send(self, server: _Server) -> bool:
        """Wait until the server may be asked; False where the job stops before."""
        while not self.halted and (seconds := server.ready - self.clock.now()) > 0:
            await self.wait(seconds)
        return not self.halted

    async def attempt(self, request: Request) -> Reply | None:
        """One attempt, recorded and counted; None where the job stops instead."""
        expected = self.options.cost(request, expected_tokens(request)) or 0.0
        spent, budget = self.spent_before + self.cost, self.options.budget
        if budget is not None and expected > 0 and spent + self.reserved + expected > budget:
            currency = self.options.prices.currency if self.options.prices else ""
            self.stopped = f"budget: {spent:g} of {budget:g} {currency} are spent; the next request may exceed it"
            self.halt()
            return None
        self.reserved += expected
        try:
            reply = await self.models[request.endpoint, request.model].ask(request)
        except QrowdError as error:  # such as a package that is missing
            self.fail(str(error))
            return None
        except Exception as error:
            reply = Reply(error=f"{type(error).__name__} in the model")
        finally:
            self.reserved -= expected
        cost = self.options.cost(request, tokens_of(request, reply))
        self.record.add(request, reply, cost=cost)
        self.cost += cost or 0.0
        self.priced &= cost is not None
        return reply

    def give_up(self, server: _Server, request: Request, reply: Reply) -> None:
        server.given_up += 1
        self.finish(request, reply)
        if server.given_up >= FAILURES_IN_A_ROW:
            self.fail(
                f"{request.model} at {request.endpoint}: {server.given_up} requests in a row had no answer, the last: "
                f"{reply.error}; run the same command when this is mended"
            )

    def finish(self, request: Request, reply: Reply) -> None:
        self.replies[request.key] = replace(reply, raw="")
        if self.progress is not None:
            finished = len(self.replies)
            self.progress(finished, max(finished, self.total), self.cost)

    # ---- waiting and stopping

    def backoff(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row: doubled each time, less up to a half by chance."""
        return min(FIRST_WAIT * 2.0 ** min(failures - 1, 30), LONGEST_WAIT) * self.random.uniform(0.5, 1)

    async def wait(self, seconds: float) -> None:
        """Wait so long, but not longer than the job goes on."""
        assert self.stop is not None
        tasks = [asyncio.ensure_future(self.stop.wait()), asyncio.ensure_future(self.clock.sleep(seconds))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

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


def _check_model(request: Request, models: Collection[tuple[str, str]]) -> None:
    if (request.endpoint, request.model) not in models:
        raise ArgumentError(f"models: none is {request.model!r} at {request.endpoint!r}, which a request asks")


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


@contextmanager
def _interruptible(stop: Callable[[], object]) -> Iterator[None]:
    """The first Ctrl-C calls `stop`, which ends a job in order; the second does what it usually does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        stop()

    before = signal.getsignal(signal.SIGINT) or signal.default_int_handler
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_loop(work: Callable[[], None]) -> None:
    """Run what starts an event loop, in a thread where one runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        work()
        return
    problems: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]
