"""Running an event loop: where one runs already, and so that Ctrl-C ends a job in order."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruptible(stop: Callable[[], object]) -> Iterator[None]:
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


def run_loop(work: Callable[[], object]) -> None:
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
