"""Requests are sent, each until it is answered, and every attempt is recorded before the next takes its place.

What has a complete reply in the record is not sent again, so a job that was killed, interrupted or stopped goes on when
it is started again.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random

from qrowd.errors import ArgumentError, QrowdError
from qrowd.judge.exchange import Model, Reply, Request
from qrowd.judge.pace import Clock, Pace, SystemClock
from qrowd.judge.prices import Prices, Tokens, expected_tokens, tokens_of
from qrowd.judge.record import Record, is_complete

TRIES = 6  # attempts at one request that fail, waits for a rate limit apart
UNREACHED_TRIES = 3  # of a server that has never been reached: it does not run, or the URL is wrong
RATE_LIMITED_TRIES = 50
LONGEST_REQUESTED_WAIT = 3600.0  # seconds; a server that asks for more stops the job
FAILURES_IN_A_ROW = 20  # requests of one endpoint given up with no answer between them: it is down, or all are wrong
FATAL = {401: "check the key", 402: "the account has no credit", 403: "check the key", 404: "check URL and model"}
QUOTA = "insufficient_quota"  # a 429 that no wait ends

#: Called with the requests that are finished, all requests, and the cost so far.
JobProgress = Callable[[int, int, float], object]
#: The reply to a request, from the record or from its model; None where the job has been stopped.
Ask = Callable[[Request], Awaitable[Reply | None]]


@dataclass(frozen=True)
class Answers:
    """What a job has: replies by `Request.key`, complete ones and last failures, without `raw`, in order of requests.

    reused : requests answered by the record. attempts, tokens, cost : of this job, failed attempts included; cost is
    None where a model has no price. unasked : requests without a reply. stopped : why, where the budget ended the job.
    """

    replies: Mapping[str, Reply]
    reused: int
    attempts: int
    tokens: Tokens
    cost: float | None
    unasked: int
    stopped: str | None = None


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

    concurrency : requests in flight per endpoint. budget : what the record may cost in all, in the currency of
    `prices`; the job stops before the next request would exceed it. again : keys of requests to be asked although the
    record has a complete reply. reserved : part of the budget that is spent elsewhere. rng : seed of jitter in waits.

    HTTP 408, 409, 429, 5xx, broken answers and connection errors are tried again after a wait that doubles, or that the
    server asks for; all requests to an endpoint share it. Ctrl-C stops sending, records the replies still in flight,
    then raises KeyboardInterrupt; a second one does not wait.

    Raises
    ------
    QrowdError
        The server refuses key, account, URL or model, or gives no answer at all; everything answered is in the record.
    ArgumentError
        A request has no model; there is a budget, and a model has no price.
    """
    job = _Job(list(requests), models, record, concurrency, budget, prices, frozenset(again), progress, reserved)
    pace_clock, random = clock or SystemClock(), Random(rng)
    answers: list[Answers] = []
    with _interruptible(job):
        _run(lambda: answers.append(asyncio.run(job.run(pace_clock, random))))
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
    with _interruptible(job):
        _run(lambda: answers.append(asyncio.run(job.run(pace_clock, random, work))))
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

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise ArgumentError(f"concurrency={self.concurrency}: expected 1 or more requests at a time")
        self.by_name = {(model.endpoint, model.name): model for model in self.models}
        for request in self.requests:
            self.check(request)
        self.spent_before = self.record.spent()

    def check(self, request: Request) -> None:
        if (request.endpoint, request.model) not in self.by_name:
            raise ArgumentError(f"models: none is {request.model!r} at {request.endpoint!r}, which a request asks")
        if self.budget is not None and (self.prices is None or self.prices.price(request) is None):
            raise ArgumentError(
                f"budget={self.budget:g}: {request.model!r} at {request.endpoint!r} has no price; add it to the "
                "file of prices"
            )

    async def run(self, clock: Clock, random: Random, work: Callable[[Ask], Awaitable[None]] | None = None) -> Answers:
        self.stop, self.loop = asyncio.Event(), asyncio.get_running_loop()
        if self.interrupted:
            self.stop.set()
        distinct = {request.key: request for request in self.requests}
        queues: dict[str, deque[Request]] = {}
        for key, request in distinct.items():
            reply = None if key in self.again else self.record.last(key)
            if reply is None:
                queues.setdefault(request.endpoint, deque()).append(request)
            else:
                self.replies[key] = replace(reply, raw="")
        self.reused = self.finished = len(self.replies)
        self.total = len(distinct)
        self._show()
        endpoints = {
            name: _Endpoint(self, queues.get(name, deque()), Pace(clock, random), clock, self.concurrency)
            for name, _ in self.by_name
        }
        try:
            async with asyncio.TaskGroup() as group:
                for endpoint in endpoints.values():
                    for _ in range(min(self.concurrency, len(endpoint.queue))):
                        group.create_task(endpoint.work())
                if work is not None:
                    await work(lambda request: self.answer(request, endpoints))
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
        )

    async def answer(self, request: Request, endpoints: Mapping[str, _Endpoint]) -> Reply | None:
        """The reply of the record, or else of the model."""
        self.check(request)
        key = request.key
        async with self.locks.setdefault(key, asyncio.Lock()):  # of two equal requests at once, one is sent
            if key not in self.replies:
                self.total += 1
                reply = self.record.last(key)
                if reply is None:
                    async with endpoints[request.endpoint].places:
                        await endpoints[request.endpoint].ask(request)
                else:
                    self.reused += 1
                    self.finish(request, reply)
        return self.replies.get(key)

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

    def note(self, request: Request, reply: Reply, reserved: float) -> None:
        """Record an attempt and count it; the caller does nothing else before."""
        self.reserved -= reserved
        tokens = tokens_of(request, reply)
        cost = None if self.prices is None else self.prices.cost(request, tokens)
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

    async def wait(self, seconds: float, clock: Clock) -> None:
        """Wait, but not longer than the job goes on."""
        assert self.stop is not None
        tasks = [asyncio.ensure_future(clock.sleep(seconds)), asyncio.ensure_future(self.stop.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    def _show(self) -> None:
        if self.progress is not None:
            self.progress(self.finished, self.total, self.cost)


@dataclass
class _Endpoint:
    """The requests of one endpoint, which share its pace."""

    job: _Job
    queue: deque[Request]
    pace: Pace
    clock: Clock
    concurrency: int
    failures: int = 0  # requests given up since the last answer
    reached: bool = False  # whether anything has ever come from it

    def __post_init__(self) -> None:
        self.places = asyncio.Semaphore(self.concurrency)

    async def work(self) -> None:
        """Take one request after another until none is left or the job stops."""
        while self.queue and not self.job.halted:
            await self.ask(self.queue.popleft())

    async def ask(self, request: Request) -> None:
        model = self.job.by_name[request.endpoint, request.model]
        failed, limited = 0, 0
        while await self.ready():
            reserved = self.job.affordable(request)
            if reserved is None:
                return
            try:
                reply = await model.ask(request)
            except QrowdError as error:  # such as a package that is missing
                self.job.reserved -= reserved
                return self.job.fail(str(error))
            except Exception as error:
                reply = Reply(error=f"{type(error).__name__} in the model")
            self.job.note(request, reply, reserved)
            if reply.retry_after and reply.retry_after <= LONGEST_REQUESTED_WAIT:
                self.pace.hold(reply.retry_after)
            if is_complete(reply):
                self.failures, self.reached = 0, True
                return self.job.finish(request, reply)
            if (reason := _reason_to_stop(reply)) is not None:
                return self.job.fail(f"{model.name} at {model.endpoint}: {reply.error}; {reason}")
            self.reached |= not _is_unreached(reply)
            if not self.reached and failed + 1 >= UNREACHED_TRIES:
                return self.job.fail(f"{model.name}: {reply.error}; does the server run, and is the URL right?")
            limited += reply.http_status == 429
            failed += reply.http_status != 429
            if not is_transient(reply) or failed >= TRIES or limited >= RATE_LIMITED_TRIES:
                return self.give_up(request, reply)
            wait = self.pace.backoff(failed + limited)
            if reply.http_status in (429, 503) or (reply.http_status is None and not reply.timed_out):
                self.pace.hold(wait)
            else:
                await self.job.wait(wait, self.clock)

    async def ready(self) -> bool:
        """Wait until a request may go out; False when the job stops."""
        while not self.job.halted and (remaining := self.pace.remaining()) > 0:
            await self.job.wait(remaining + self.pace.jitter(), self.clock)
        return not self.job.halted

    def give_up(self, request: Request, reply: Reply) -> None:
        self.failures += 1
        self.job.finish(request, reply)
        if self.failures >= FAILURES_IN_A_ROW:
            self.job.fail(
                f"{request.model} at {request.endpoint}: {self.failures} requests in a row had no answer, the last: "
                f"{reply.error}; run the same command when this is mended"
            )


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
def _interruptible(job: _Job) -> Iterator[None]:
    """The first Ctrl-C stops the job in order, the second as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        job.interrupt()

    before = signal.getsignal(signal.SIGINT) or signal.default_int_handler
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run(work: Callable[[], object]) -> None:
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
